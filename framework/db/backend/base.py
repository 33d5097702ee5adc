"""PostgreSQL connections that detect a frozen server, with errors that do not contain row values.

A frozen server (SIGSTOP, a suspended machine, a disk that hangs) keeps its connections open, and its kernel
acknowledges packets: no TCP timeout ends the wait, and statement timeouts are enforced by the server itself. After
RESPONSE_TIMEOUT_S without a response, a connection therefore probes the server on a new socket. If the server answers
the probe, the statement is only slow, and the wait continues.
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

# One second more than the default STATEMENT_TIMEOUT_MS; and the timeout of the probe.
RESPONSE_TIMEOUT_S = 6.0
PROBE_TIMEOUT_S = 2.0
# SSLRequest, which PostgreSQL answers with one byte before authentication.
SSL_REQUEST = bytes.fromhex("00000008 04d2162f")

Result = TypeVar("Result")


@cache
def breaker_of(alias: str) -> CircuitBreaker:
    """The circuit breaker of one database: the primary and the replica fail separately."""
    return CircuitBreaker(f"the database {alias!r}", fallback="requests are refused")


class Connection(psycopg.Connection[Any]):
    """A connection that fails when the server is frozen. `alias` is the name in DATABASES."""

    alias = DEFAULT_DB_ALIAS

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        """Wait as psycopg does. Closes the connection and raises OperationalError if the server is frozen."""
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
    """Whether the server answers on a new socket within PROBE_TIMEOUT_S."""
    try:
        with open_socket(server) as sock:
            sock.sendall(SSL_REQUEST)
            return sock.recv(1) != b""
    except OSError:
        return False


def is_idle(server: PGconn) -> bool:
    """Whether this connection is open and has no unread data."""
    if server.status != ConnStatus.OK:
        return False
    poll = select.poll()
    poll.register(server.socket, select.POLLIN)
    return not poll.poll(0)


def open_socket(server: PGconn) -> socket.socket:
    """A new socket to the server of this connection. Raises OSError."""
    host, port = server.host.decode(), int(server.port)
    if host.startswith("/"):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PROBE_TIMEOUT_S)
        sock.connect(f"{host}/.s.PGSQL.{port}")
        return sock
    return socket.create_connection((server.hostaddr.decode() or host, port), timeout=PROBE_TIMEOUT_S)


class RedactingErrorWrapper(DatabaseErrorWrapper):
    """Converts errors to Django's without PostgreSQL's DETAIL, which contains row values such as a guest's name.

    The detail remains available in `__cause__.diag`.
    """

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, psycopg.Error) and error.diag.message_detail:
            error.args = (error.diag.message_primary,)
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper with these connections and errors."""

    @cached_property
    def wrap_database_errors(self) -> RedactingErrorWrapper:
        return RedactingErrorWrapper(self)

    def is_usable(self) -> bool:
        """Whether the connection works. After an error it is checked with a query, as Django does.

        Otherwise an idle socket is enough, without a round trip: the server has sent neither an error nor the end of
        the connection. A connection that was lost silently fails at its first statement, with 503.
        """
        if self.connection is not None and not self.errors_occurred and is_idle(self.connection.pgconn):
            return True
        return super().is_usable()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect. While the server is frozen, one caller per second tries; the others fail immediately."""
        breaker = breaker_of(self.alias)
        if not breaker.allow_request():
            raise psycopg.OperationalError("the server did not answer a moment ago")
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout as error:
            breaker.record_failure(error)
            raise
        breaker.record_success()
        # Django calls psycopg.connect, which has no option for another class.
        connection.__class__ = Connection
        connection.alias = self.alias
        return connection  # type: ignore[no-any-return]
