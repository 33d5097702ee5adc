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

from framework.resilience.circuit_breaker import Outage

# A second more than a statement of a caller may take (STATEMENT_TIMEOUT_MS), and what an answer to a greeting may.
PATIENCE_S = 6.0
GREETING_S = 2.0
# "Do you speak TLS?", to which any PostgreSQL answers with a letter before it wants to know who asks.
GREETING = bytes.fromhex("00000008 04d2162f")

Found = TypeVar("Found")


@cache
def outage_of(alias: str) -> Outage:
    """What this process knows of a database: a replica that is frozen is no word on the primary."""
    return Outage(f"the database {alias!r}", meanwhile="callers are told to come back")


class Connection(psycopg.Connection[Any]):
    """A connection that gives up when the server does not even greet. `alias` is the name in DATABASES."""

    alias = DEFAULT_DB_ALIAS

    def wait(self, gen: PQGen[Found], interval: float = 0.1, timeout: float | None = None) -> Found:
        """Wait as psycopg does. Raises OperationalError, the connection closed, where the server is frozen."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        while True:
            try:
                return super().wait(gen, interval, PATIENCE_S)
            except _WaitTimeout:
                if greets(self.pgconn):
                    continue
                self.pgconn.finish()
                frozen = psycopg.OperationalError("the server is connected and does not answer")
                outage_of(self.alias).begins(frozen)
                raise frozen from None


def greets(server: PGconn) -> bool:
    """Whether the server of this connection answers on a new line, within GREETING_S."""
    try:
        with reached(server) as line:
            line.sendall(GREETING)
            return line.recv(1) != b""
    except OSError:
        return False


def rests(server: PGconn) -> bool:
    """Whether this connection is open and nothing waits there to be read."""
    if server.status != ConnStatus.OK:
        return False
    waits = select.poll()
    waits.register(server.socket, select.POLLIN)
    return not waits.poll(0)


def reached(server: PGconn) -> socket.socket:
    """A new line to the address of this connection. Raises OSError."""
    host, port = server.host.decode(), int(server.port)
    if host.startswith("/"):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(GREETING_S)
        line.connect(f"{host}/.s.PGSQL.{port}")
        return line
    return socket.create_connection((server.hostaddr.decode() or host, port), timeout=GREETING_S)


class Reworded(DatabaseErrorWrapper):
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
    def wrap_database_errors(self) -> Reworded:
        """Around each statement."""
        return Reworded(self)

    def is_usable(self) -> bool:
        """Whether it may be asked. One that failed is asked for a 1, as Django does.

        To one that rests nothing has come, neither the server's last word nor its end: a look instead of a trip. One
        that was cut off without a word fails at its first statement, and its caller is told to come back.
        """
        if self.connection is not None and not self.errors_occurred and rests(self.connection.pgconn):
            return True
        return super().is_usable()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect. While the server is frozen one caller a second tries, and the others are refused at once."""
        outage = outage_of(self.alias)
        if not outage.may_ask():
            raise psycopg.OperationalError("the server did not answer a moment ago")
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout as error:
            outage.begins(error)
            raise
        outage.ends()
        # It is made by psycopg.connect, which cannot be told to make another kind.
        connection.__class__ = Connection
        connection.alias = self.alias
        return connection  # type: ignore[no-any-return]
