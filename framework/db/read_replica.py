"""Routes reads that may be a few seconds old to a replica, while it is reachable and not too far behind."""

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
from psycopg.errors import OperationalError as PsycopgOperationalError
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction, SerializationFailure

from framework.db import prepared_statements
from framework.errors import ApiError
from framework.resilience.circuit_breaker import CircuitBreaker

REPLICA = "replica"
CHECK_INTERVAL_S = 1.0
# A replica that does not answer for so long counts as frozen; the reads that wait for it are aborted.
TIMEOUT_S = 1.0

# Positions in the write-ahead log, in bytes. A commit waits for the flushed position.
PRIMARY_POSITION = "SELECT pg_current_wal_flush_lsn() - '0/0'"
# A replica that was promoted to primary has no lag.
REPLICA_POSITION = """
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END - '0/0'
"""

FALLBACKS = Counter(
    "tablewire_replica_fallbacks",
    "Reads that the primary answered in place of the replica.",
    ["reason"],
    # Collected through the shared directory (framework.observability.prometheus_multiprocess).
    registry=None,
)

Read = TypeVar("Read")
logger = logging.getLogger("tablewire.replicas")


class LagMonitor(threading.Thread):
    """Checks once a second whether the replica has replayed what the primary had written `max_lag_s` ago.

    So it needs no synchronized clocks and no special privileges, and detects a broken connection as well as a slow
    disk. While the primary does not answer, nothing is written, and the replica stays in use.
    """

    def __init__(self, *, max_lag_s: int) -> None:
        super().__init__(name="replica", daemon=True)
        self.max_lag_s = max_lag_s
        # Why the replica is not used; None while it is. Unknown before the first check.
        self.reason: str | None = "unknown"
        self.positions: deque[tuple[float, int]] = deque(maxlen=4 * (max_lag_s + 1))
        self.in_use: set[BaseDatabaseWrapper] = set()
        self.breaker = CircuitBreaker("the replica", fallback="the primary answers all reads")

    def run(self) -> None:
        while True:
            self.check()
            time.sleep(CHECK_INTERVAL_S)

    def check(self) -> None:
        """Update `reason`."""
        with suppress(DatabaseError, InterfaceError):
            self.positions.append((time.monotonic(), query_number(DEFAULT_DB_ALIAS, PRIMARY_POSITION)))
        try:
            is_behind = query_number(REPLICA, REPLICA_POSITION) < self.required_position()
        except (DatabaseError, InterfaceError) as error:
            self.record_outage(error)
        else:
            self.breaker.record_success()
            if is_behind and self.reason != "behind":
                logger.warning("the replica: more than %d s behind, so it is not used", self.max_lag_s)
            elif self.reason == "behind" and not is_behind:
                logger.warning("the replica: has caught up")
            self.reason = "behind" if is_behind else None

    def required_position(self) -> int:
        """The primary's position `max_lag_s` ago; the latest known one if the monitor has not run for so long."""
        limit = time.monotonic() - self.max_lag_s
        old = [position for at, position in self.positions if at <= limit]
        return old[-1] if old else max((position for _, position in self.positions), default=0)

    def record_outage(self, error: Exception) -> None:
        """Stop using the replica, and abort the reads that wait for it."""
        self.reason = "away"
        self.breaker.record_failure(error)
        for database in list(self.in_use):
            shut_down_socket(database)


def query_number(alias: str, statement: str) -> int:
    """The number that a statement returns, within TIMEOUT_S. Raises the errors of django.db."""
    database = connections[alias]
    deadline = threading.Timer(TIMEOUT_S, shut_down_socket, [database])
    deadline.daemon = True
    try:
        database.ensure_connection()
        deadline.start()
        with database.cursor() as cursor:
            cursor.execute(statement)
            (value,) = cursor.fetchone()
            return int(value)
    except (DatabaseError, InterfaceError):
        database.close()
        raise
    finally:
        deadline.cancel()


def shut_down_socket(database: BaseDatabaseWrapper) -> None:
    """Shut down the socket of a connection that another thread may be waiting on; that thread gets an error."""
    with (
        suppress(PsycopgOperationalError, OSError, AttributeError),
        socket.socket(fileno=os.dup(database.connection.fileno())) as line,
    ):
        line.shutdown(socket.SHUT_RDWR)


class _Shared:
    """The monitor of this process. It starts with the first read: a thread does not survive a fork."""

    lock = threading.Lock()
    monitor: LagMonitor | None = None


def lag_monitor() -> LagMonitor | None:
    """The monitor of the replica; None without one in the settings."""
    if REPLICA not in settings.DATABASES:
        return None
    if _Shared.monitor is None:
        with _Shared.lock:
            if _Shared.monitor is None:
                monitor = LagMonitor(max_lag_s=settings.REPLICA_MAX_LAG_S)
                monitor.start()
                _Shared.monitor = monitor
    return _Shared.monitor


def read_from_replica(read: Callable[[], Read]) -> Read:
    """The result of `read`, whose queries go to the replica and may be a few seconds old.

    For responses that shared caches may keep for longer than that, and that neither sell nor decide anything. If the
    replica is unavailable, behind or fails, `read` runs again on the primary; so it does after an ApiError, because a
    missing row may only be late. In a transaction it runs on the primary. Raises what `read` raises on the primary.
    """
    monitor = lag_monitor()
    if monitor is None:
        return read()
    primary: Any = connections[DEFAULT_DB_ALIAS]
    if primary.in_atomic_block:
        return read()
    if monitor.reason is not None:
        FALLBACKS.labels(monitor.reason).inc()
        return read()
    replica: Any = connections[REPLICA]
    replica.close_if_unusable_or_obsolete()
    monitor.in_use.add(replica)
    use_database(replica)
    try:
        return read()
    except ApiError:
        reason = "refused"
    except (DatabaseError, InterfaceError) as error:
        reason = fallback_reason(error, monitor)
    finally:
        use_database(primary)
        monitor.in_use.discard(replica)
    FALLBACKS.labels(reason).inc()
    return read()


def use_database(database: Any) -> None:
    """Use this database in this thread, for the ORM, cursors and prepared statements."""
    connections[DEFAULT_DB_ALIAS] = database
    prepared_statements.use_database(database)


def fallback_reason(error: Exception, monitor: LagMonitor) -> str:
    """The label of the fallback. Raises the error again if the primary would take too long, too."""
    cause = error.__cause__
    if isinstance(cause, QueryCanceled):
        # A statement timeout would occur on the primary, too.
        raise error
    if isinstance(cause, SerializationFailure):
        # The rows were removed by replay.
        return "conflict"
    if isinstance(cause, ReadOnlySqlTransaction):
        logger.error("a read tried to write on the replica; it runs on the primary: %s", error)
        return "writes"
    if isinstance(error, InterfaceError) or isinstance(cause, PsycopgOperationalError):
        monitor.reason = "away"
        monitor.breaker.record_failure(error)
        return "away"
    # For example a migration that the replica has not replayed yet. A bug fails on the primary, too.
    return "error"
