"""PostgreSQL on connections that do not wait for ever for a frozen server, with errors that repeat no rows.

A server that is stopped (SIGSTOP, a suspended machine, a disk that hangs) keeps its connections open, and its kernel
acknowledges whatever comes: no timeout of TCP ends the wait, and those of statements are kept by the server itself. So
who has waited for longer than a statement of a caller may take asks the server, on a line of its own, whether it is
there at all. A statement that just takes long is waited for.
"""

import select
import socket
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout
from psycopg.pq import ConnStatus
from psycopg.pq.abc import PGconn

from framework.resilience.circuit_breaker import CircuitBreaker

# A second more than a statement of a caller may take (STATEMENT_TIMEOUT_MS), and what an answer to a greeting may.
RESPONSE_TIMEOUT_S = 6.0
PROBE_TIMEOUT_S = 2.0
# "Do you speak TLS?", to which any PostgreSQL answers with a letter before it wants to know who asks.
SSL_REQUEST = bytes.fromhex("00000008 04d2162f")

Found = TypeVar("Found")


@cache
def breaker_of(alias: str) -> CircuitBreaker:
    """The circuit breaker of one database: the primary and the replica fail separately."""
    return CircuitBreaker(f"the database {alias!r}", fallback="requests are refused")


class Connection(psycopg.Connection[Any]):
    """A connection that gives up when the server does not even greet. `alias` is the name in DATABASES."""

    alias = DEFAULT_DB_ALIAS

    def wait(self, gen: PQGen[Found], interval: float = 0.1, timeout: float | None = None) -> Found:
        """Wait as psycopg does. Raises OperationalError, the connection closed, where the server is frozen."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        while True:
            try:
                return super().wait(gen, interval, RESPONSE_TIMEOUT_S)
            except _WaitTimeout:
                if answers_probe(self.pgconn):
                    continue
                self.pgconn.finish()
                frozen = psycopg.OperationalError("the server is connected and does not answer")
                breaker_of(self.alias).record_failure(frozen)
                raise frozen from None


def answers_probe(server: PGconn) -> bool:
    """Whether the server of this connection answers on a new line, within GREETING_S."""
    try:
        with open_socket(server) as line:
            line.sendall(SSL_REQUEST)
            return line.recv(1) != b""
    except OSError:
        return False


def is_idle(server: PGconn) -> bool:
    """Whether this connection is open and nothing waits there to be read."""
    if server.status != ConnStatus.OK:
        return False
    waits = select.poll()
    waits.register(server.socket, select.POLLIN)
    return not waits.poll(0)


def open_socket(server: PGconn) -> socket.socket:
    """A new line to the address of this connection. Raises OSError."""
    host, port = server.host.decode(), int(server.port)
    if host.startswith("/"):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(PROBE_TIMEOUT_S)
        line.connect(f"{host}/.s.PGSQL.{port}")
        return line
    return socket.create_connection((server.hostaddr.decode() or host, port), timeout=PROBE_TIMEOUT_S)


class RedactingErrorWrapper(DatabaseErrorWrapper):
    """Makes the database's errors Django's, without the detail in which the server repeats whole rows.

    Whoever logs the error would log a guest's name. The detail stays where it is asked for: `__cause__.diag`.
    """

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Hand on what was raised."""
        if isinstance(error, psycopg.Error) and error.diag.message_detail:
            error.args = (error.diag.message_primary,)
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, on such connections and with such errors."""

    @cached_property
    def wrap_database_errors(self) -> RedactingErrorWrapper:
        """Around each statement."""
        return RedactingErrorWrapper(self)

    def is_usable(self) -> bool:
        """Whether it may be asked. One that failed is asked for a 1, as Django does.

        To one that rests nothing has come, neither the server's last word nor its end: a look instead of a trip. One
        that was cut off without a word fails at its first statement, and its caller is told to come back.
        """
        if self.connection is not None and not self.errors_occurred and is_idle(self.connection.pgconn):
            return True
        return super().is_usable()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect. While the server is frozen one caller a second tries, and the others are refused at once."""
        breaker = breaker_of(self.alias)
        if not breaker.allow_request():
            raise psycopg.OperationalError("the server did not answer a moment ago")
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout as error:
            breaker.record_failure(error)
            raise
        breaker.record_success()
        # It is made by psycopg.connect, which cannot be told to make another kind.
        connection.__class__ = Connection
        connection.alias = self.alias
        return connection  # type: ignore[no-any-return]
