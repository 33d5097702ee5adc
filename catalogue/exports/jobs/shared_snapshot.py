"""One snapshot for all files of an export, shared by the workers that write them.

PostgreSQL lets a transaction import the snapshot of another by its name while the other is open. Each worker holds the
snapshot in a transaction that reads nothing else, so it locks no table, and an error of a query does not lose it.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import psycopg
from django.db import Error, connection

from catalogue.models import Export

logger = logging.getLogger(__name__)

STATEMENT_TIMEOUT_S = 80
# A worker that loses the race for a fresh snapshot finds the winner's at the next try.
MAX_TRIES = 10
# A worker that is frozen or cut off holds back the vacuum for at most this long. A task takes two minutes at most, and
# a snapshot is kept for less than one minute afterwards.
IDLE_TIMEOUT_S = 180
# How often a kept snapshot is checked: the export may have ended.
CHECK_INTERVAL_S = 1.0

# The application name marks transactions that write nothing.
READER = "tablewire export"
BEGIN = f"""
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL application_name = '{READER}';
SET LOCAL TimeZone = 'UTC';
SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s';
SET LOCAL idle_in_transaction_session_timeout = '{IDLE_TIMEOUT_S}s';
SET LOCAL tcp_user_timeout = '{IDLE_TIMEOUT_S}s'
"""
# Rows carry the start time of their transaction, so a delta starts at the oldest open transaction. This has to be read
# before the snapshot is taken: a transaction that ends in between would be in neither. Transactions of other roles may
# be hidden; they may have been open for this long.
HIDDEN_AGE = "1 hour"
CHANGES_FROM = f"""
SELECT least(now(), (
    SELECT min(CASE WHEN query = '<insufficient privilege>' THEN now() - interval '{HIDDEN_AGE}' ELSE xact_start END)
    FROM pg_stat_activity
    WHERE datname = current_database() AND usesysid IS NOT NULL AND application_name <> '{READER}'
        AND coalesce(backend_type, 'client backend') = 'client backend'
))
"""  # noqa: S608  # constants only
# PostgreSQL reuses names after a crash, so the content of the snapshot is compared too.
EXPORT_SNAPSHOT = """
SELECT pg_export_snapshot(), left(md5(pg_current_snapshot()::text), 16),
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint, now()
"""
ADD = """
UPDATE catalogue_export SET snapshots = array_append(snapshots, %s)
WHERE id = %s AND generation = %s AND status = 'running'
"""
REMOVE = "UPDATE catalogue_export SET snapshots = array_remove(snapshots, %s) WHERE id = %s"


class SnapshotRaceError(Exception):
    """Other workers took each fresh snapshot first; the next task tries again."""


class ExportEndedError(Exception):
    """The export is not running any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A transaction in the snapshot of an export; `name` lets further connections join it while it is open.

    All transactions before `horizon` had ended when it was taken.
    """

    connection: "psycopg.Connection[Any]"
    export: UUID
    name: str
    digest: str
    generation: int
    horizon: int
    taken_at: datetime

    @property
    def label(self) -> str:
        """The entry in `Export.snapshots`."""
        return f"{self.name} {self.digest}"

    def is_needed(self) -> bool:
        """Whether the export still runs in this snapshot."""
        try:
            running = Export.objects.filter(pk=self.export, status=Export.Status.RUNNING, generation=self.generation)
            return running.filter(snapshots__contains=[self.label]).exists()
        except Error:
            return False

    def close(self) -> None:
        """End the transaction and remove its name; a name that stays is harmless, as each is tried before use."""
        self.connection.close()
        connection.close_if_unusable_or_obsolete()
        with suppress(Error), connection.cursor() as cursor:
            cursor.execute(REMOVE, [self.label, self.export])


@dataclass
class KeptSnapshots:
    """The snapshots that this process keeps open between two tasks, by export."""

    lock: Lock = field(default_factory=Lock)
    entries: dict[UUID, tuple[Snapshot, float]] = field(default_factory=dict)

    def add(self, holder: Snapshot, *, keep_s: float) -> None:
        """Keep a snapshot open for at most `keep_s`; a thread closes it, earlier if the export ends."""
        entry = (holder, monotonic() + keep_s)
        with self.lock:
            is_first = self.entries.setdefault(holder.export, entry) is entry
        if is_first:
            Thread(target=self._close_later, args=(entry,), name="snapshot of an export", daemon=True).start()
        else:
            holder.close()

    def pop(self, export: UUID) -> Snapshot | None:
        """Return the kept snapshot of an export; the caller has to close it."""
        with self.lock:
            entry = self.entries.pop(export, None)
        return entry and entry[0]

    def _close_later(self, entry: tuple[Snapshot, float]) -> None:
        holder, until = entry
        try:
            while monotonic() < until and holder.is_needed():
                sleep(min(CHECK_INTERVAL_S, max(0.0, until - monotonic())))
                with self.lock:
                    if self.entries.get(holder.export) is not entry:
                        return
            with self.lock:
                if self.entries.get(holder.export) is not entry:
                    return
                del self.entries[holder.export]
            holder.close()
        finally:
            connection.close()


kept_snapshots = KeptSnapshots()


@contextmanager
def join_snapshot(export: Export, *, keep_s: float = 0) -> Iterator[Snapshot]:
    """Open a transaction in the snapshot of a running export, or in a fresh one if no process holds it any more.

    It uses its own connections, so the caller may write. The process keeps the snapshot open for `keep_s` seconds
    afterwards. Raises SnapshotRaceError, ExportEndedError and database errors, with nothing left open.
    """
    holder = _pop_kept(export) or _join_or_take(export)
    try:
        with closing(_connect()) as raw:
            raw.execute(BEGIN)
            raw.execute(psycopg.sql.SQL("SET TRANSACTION SNAPSHOT {}").format(holder.name))
            yield replace(holder, connection=raw)
    finally:
        if keep_s and not holder.connection.closed:
            kept_snapshots.add(holder, keep_s=keep_s)
        else:
            holder.close()


def release(export: Export) -> None:
    """Close the kept snapshot of an export in this process; other processes close theirs within seconds."""
    holder = kept_snapshots.pop(export.pk)
    if holder is not None:
        holder.close()


def _connect() -> "psycopg.Connection[Any]":
    separate = connection.copy()
    separate.ensure_connection()
    assert separate.connection is not None  # noqa: S101  # ensure_connection
    raw: psycopg.Connection[Any] = separate.connection
    # Several statements in one string cannot be prepared.
    raw.prepare_threshold = None
    return raw


def _pop_kept(export: Export) -> Snapshot | None:
    holder = kept_snapshots.pop(export.pk)
    if holder is None:
        return None
    # The statement resets the idle timeout.
    with suppress(psycopg.Error):
        holder.connection.execute("SELECT")
        if holder.is_needed():
            return holder
    holder.close()
    return None


def _join_or_take(export: Export) -> Snapshot:
    for _ in range(MAX_TRIES):
        export.refresh_from_db(fields=["generation", "snapshots", "status"])
        if export.status != Export.Status.RUNNING:
            raise ExportEndedError
        raw = _connect()
        holder = None
        try:
            holder = _join(export, raw) or _take(export, raw)
        finally:
            if holder is None:
                raw.close()
        if holder is not None:
            return holder
    raise SnapshotRaceError(f"No snapshot of export {export.public_id} could be joined or taken.")


def _join(export: Export, raw: "psycopg.Connection[Any]") -> Snapshot | None:
    for label in reversed(export.snapshots):
        name, _, digest = label.partition(" ")
        raw.execute(BEGIN)
        try:
            raw.execute(psycopg.sql.SQL("SET TRANSACTION SNAPSHOT {}").format(name))
        except (psycopg.errors.UndefinedObject, psycopg.errors.InvalidParameterValue):
            raw.execute("ROLLBACK")
            continue
        holder = _export_snapshot(export, raw, generation=export.generation)
        if holder.digest == digest:
            with connection.cursor() as cursor:
                cursor.execute(ADD, [holder.label, export.pk, export.generation])
                if cursor.rowcount:
                    return holder
        raw.execute("ROLLBACK")
    return None


def _take(export: Export, raw: "psycopg.Connection[Any]") -> Snapshot | None:
    ((changes_from,),) = raw.execute(CHANGES_FROM)
    raw.execute(BEGIN)
    holder = _export_snapshot(export, raw, generation=export.generation + 1)
    running = Export.objects.filter(pk=export.pk, generation=export.generation, status=Export.Status.RUNNING)
    # Workers may have joined or left since the names were tried: the update requires the same names.
    is_recorded = running.filter(snapshots=export.snapshots).update(
        generation=holder.generation, snapshots=[holder.label], snapshot_at=holder.taken_at, changes_from=changes_from
    )
    if is_recorded and holder.generation > 1:
        logger.info("Export %s continues in a new snapshot, number %d.", export.public_id, holder.generation)
    return holder if is_recorded else None


def _export_snapshot(export: Export, raw: "psycopg.Connection[Any]", *, generation: int) -> Snapshot:
    ((name, digest, horizon, taken_at),) = raw.execute(EXPORT_SNAPSHOT)
    return Snapshot(
        connection=raw,
        export=export.pk,
        name=name,
        digest=digest,
        generation=generation,
        horizon=horizon,
        taken_at=taken_at,
    )
