"""Reads that may be some seconds old, from a replica of the database where there is one that keeps up."""

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from prometheus_client import Counter
from psycopg.errors import OperationalError as Lost
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction, SerializationFailure

from framework.db import prepared_statements
from framework.errors import ApiError
from framework.resilience.circuit_breaker import CircuitBreaker

REPLICA = "replica"
CHECK_INTERVAL_S = 1.0
# A replica that says nothing for so long is taken for frozen, and whoever waits for it is freed.
TIMEOUT_S = 1.0

# In bytes of the log of transactions from its beginning. What has been flushed is what a commit waits for.
PRIMARY_POSITION = "SELECT pg_current_wal_flush_lsn() - '0/0'"
# One that was made the primary meanwhile is not late.
REPLICA_POSITION = """
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END - '0/0'
"""

FALLBACKS = Counter(
    "tablewire_replica_fallbacks",
    "Reads that the primary has answered in the replica's place.",
    ["reason"],
    # Seen through the folder in which the processes count together (framework.observability.prometheus_multiprocess).
    registry=None,
)

Read = TypeVar("Read")
logger = logging.getLogger("tablewire.replicas")


class LagMonitor(threading.Thread):
    """Looks once a second whether the replica has what the primary had written `most_lag_s` ago.

    So it needs no clock of theirs, no right that plain users lack, and tells of a cut cable as of a slow disk. While
    the primary does not answer nothing is written either, and the replica goes on with what it has.
    """

    def __init__(self, *, most_lag_s: int) -> None:
        super().__init__(name="replica", daemon=True)
        self.most_lag_s = most_lag_s
        # Why the replica is not asked; nobody has looked yet.
        self.reason: str | None = "unknown"
        self.written: deque[tuple[float, int]] = deque(maxlen=4 * (most_lag_s + 1))
        self.asked: set[BaseDatabaseWrapper] = set()
        self.breaker = CircuitBreaker("the replica", fallback="the primary answers all reads")

    def run(self) -> None:
        """Look until the process ends."""
        while True:
            self.look()
            time.sleep(CHECK_INTERVAL_S)

    def look(self) -> None:
        """Find out whether the replica may be asked."""
        with suppress(DatabaseError, InterfaceError):
            self.written.append((time.monotonic(), query_number(DEFAULT_DB_ALIAS, PRIMARY_POSITION)))
        try:
            late = query_number(REPLICA, REPLICA_POSITION) < self.wanted()
        except (DatabaseError, InterfaceError) as error:
            self.is_away(error)
        else:
            self.breaker.record_success()
            if late and self.reason != "behind":
                logger.warning("the replica: more than %d s behind, so it is not asked", self.most_lag_s)
            elif self.reason == "behind" and not late:
                logger.warning("the replica: has caught up")
            self.reason = "behind" if late else None

    def wanted(self) -> int:
        """How far it must be: where the primary was then or, for who has not looked for so long, is."""
        then = time.monotonic() - self.most_lag_s
        old = [position for at, position in self.written if at <= then]
        return old[-1] if old else max((position for _, position in self.written), default=0)

    def is_away(self, error: Exception) -> None:
        """It cannot be asked: who waits for it need not wait any longer."""
        self.reason = "away"
        self.breaker.record_failure(error)
        for database in list(self.asked):
            shut_down_socket(database)


def query_number(alias: str, statement: str) -> int:
    """The number that a statement gives; a server that keeps silent is cut off. Raises the errors of django.db."""
    database = connections[alias]
    deadline = threading.Timer(TIMEOUT_S, shut_down_socket, [database])
    deadline.daemon = True
    try:
        database.ensure_connection()
        deadline.start()
        with database.cursor() as cursor:
            cursor.execute(statement)
            (found,) = cursor.fetchone()
            return int(found)
    except (DatabaseError, InterfaceError):
        database.close()
        raise
    finally:
        deadline.cancel()


def shut_down_socket(database: BaseDatabaseWrapper) -> None:
    """End a connection that another thread may be waiting on: to that one the server has gone."""
    with suppress(Lost, OSError, AttributeError), socket.socket(fileno=os.dup(database.connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class _Watched:
    """The watch of this process, which begins with the first read: a thread does not survive a fork."""

    lock = threading.Lock()
    watch: LagMonitor | None = None


def lag_monitor() -> LagMonitor | None:
    """The watch over the replica; None where the settings name none."""
    if REPLICA not in settings.DATABASES:
        return None
    if _Watched.watch is None:
        with _Watched.lock:
            if _Watched.watch is None:
                begun = LagMonitor(most_lag_s=settings.REPLICA_MAX_LAG_S)
                begun.start()
                _Watched.watch = begun
    return _Watched.watch


def read_from_replica(read: Callable[[], Read]) -> Read:
    """What `read` returns, of the database as it was a few seconds ago at most.

    For what shared caches may keep for longer than that, and neither sells nor decides anything. All that `read` asks,
    by whatever way of Django, is asked of the replica. Where that is away, behind, or cannot say, all is asked of the
    primary anew; so is what was refused, as what is not there may only be late. In a transaction the primary is asked.
    Raises what `read` raises on the primary.
    """
    over = lag_monitor()
    if over is None:
        return read()
    primary: Any = connections[DEFAULT_DB_ALIAS]
    if primary.in_atomic_block:
        return read()
    if over.reason is not None:
        FALLBACKS.labels(over.reason).inc()
        return read()
    replica: Any = connections[REPLICA]
    replica.close_if_unusable_or_obsolete()
    over.asked.add(replica)
    use_database(replica)
    try:
        return read()
    except ApiError:
        reason = "refused"
    except (DatabaseError, InterfaceError) as error:
        reason = fallback_reason(error, over)
    finally:
        use_database(primary)
        over.asked.discard(replica)
    FALLBACKS.labels(reason).inc()
    return read()


def use_database(database: Any) -> None:
    """Have the ORM, cursors and prepared reads of this thread ask that server instead of the other one."""
    connections[DEFAULT_DB_ALIAS] = database
    prepared_statements.use_database(database)


def fallback_reason(error: Exception, over: LagMonitor) -> str:
    """Why the primary is to answer, in a word. Raises the error again where that would take too long too."""
    cause = error.__cause__
    if isinstance(cause, QueryCanceled):
        # A statement that takes too long takes as long there.
        raise error
    if isinstance(cause, SerializationFailure):
        # What it was reading had to be replayed away.
        return "conflict"
    if isinstance(cause, ReadOnlySqlTransaction):
        logger.error("the replica was asked to write, and the primary will: %s", error)
        return "writes"
    if isinstance(error, InterfaceError) or isinstance(cause, Lost):
        over.reason = "away"
        over.breaker.record_failure(error)
        return "away"
    # A migration, say, that has not come there yet. What is wrong with us the primary will find too.
    return "error"
