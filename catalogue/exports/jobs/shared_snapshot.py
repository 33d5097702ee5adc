"""One snapshot for all files of an export, shared by whoever is writing one of them.

PostgreSQL lets a transaction see what another sees, by a name, as long as the other is open. Each worker holds the
snapshot in a transaction that reads nothing else, so it locks no table, and a reading that breaks does not lose it.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import psycopg
from django.db import Error, connection

from catalogue.models import Export

logger = logging.getLogger(__name__)

STATEMENT_TIMEOUT_S = 80
# Who loses the race for a fresh one finds the winner's at the next try.
TRIES = 10
# A worker that is frozen, or cut off, holds back the vacuum no longer than that. A task has two minutes at most, and
# a snapshot is kept for less than one after it.
IDLE_S = 180
# So often what is kept is looked at: whether anybody may still want it.
LOOK_S = 1.0

# By the name of the application it is known that a transaction writes nothing.
READER = "tablewire export"
BEGIN = f"""
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL application_name = '{READER}';
SET LOCAL TimeZone = 'UTC';
SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s';
SET LOCAL idle_in_transaction_session_timeout = '{IDLE_S}s';
SET LOCAL tcp_user_timeout = '{IDLE_S}s'
"""
# Rows say the moment at which their transaction began. It has to be asked before there is a snapshot: what ends in
# between would be in neither. Whose transactions may not be seen may have had one open for so long.
UNSEEN = "1 hour"
CHANGES_FROM = f"""
SELECT least(now(), (
    SELECT min(CASE WHEN query = '<insufficient privilege>' THEN now() - interval '{UNSEEN}' ELSE xact_start END)
    FROM pg_stat_activity
    WHERE datname = current_database() AND usesysid IS NOT NULL AND application_name <> '{READER}'
        AND coalesce(backend_type, 'client backend') = 'client backend'
))
"""  # noqa: S608  # no word of a caller
# A name is given anew after a crash of PostgreSQL, so what is seen under it is compared too.
EXPORTED = """
SELECT pg_export_snapshot(), left(md5(pg_current_snapshot()::text), 16),
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint, now()
"""
ADD = """
UPDATE catalogue_export SET snapshots = array_append(snapshots, %s)
WHERE id = %s AND generation = %s AND status = 'running'
"""
LEAVE = "UPDATE catalogue_export SET snapshots = array_remove(snapshots, %s) WHERE id = %s"


class SnapshotRaceError(Exception):
    """Others were always faster; the next doorbell tries again."""


class EndedError(Exception):
    """The export is not running any more: nobody wants its snapshot."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A transaction that sees what all others of the same generation of an export see; `name` is good for one more.

    Transactions before `horizon` were all over when it was taken.
    """

    connection: "psycopg.Connection[Any]"
    name: str
    generation: int
    horizon: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What keeps a snapshot: an open transaction, and the name by which others find it."""

    raw: "psycopg.Connection[Any]"
    export: UUID
    name: str
    sign: str
    generation: int
    horizon: int

    @property
    def told(self) -> str:
        """What others read on the export's row."""
        return f"{self.name} {self.sign}"

    def let_go(self) -> None:
        """End the transaction. Its name goes too, unless the database is away: names are tried before they count."""
        self.raw.close()
        connection.close_if_unusable_or_obsolete()
        with suppress(Error), connection.cursor() as cursor:
            cursor.execute(LEAVE, [self.told, self.export])


@dataclass
class Keeping:
    """The snapshots that this process keeps between two tasks, by their exports."""

    lock: Lock = field(default_factory=Lock)
    held: dict[UUID, tuple[Hold, float]] = field(default_factory=dict)

    def keep(self, hold: Hold, *, for_s: float) -> None:
        """Hold it for so long at most. A thread ends that, and earlier when the export has ended."""
        entry = (hold, monotonic() + for_s)
        with self.lock:
            is_first = self.held.setdefault(hold.export, entry) is entry
        if is_first:
            Thread(target=self._watch, args=(entry,), name="snapshot of an export", daemon=True).start()
        else:
            hold.let_go()

    def take(self, export: UUID) -> Hold | None:
        """What is kept of an export, which the caller has to care for now."""
        with self.lock:
            entry = self.held.pop(export, None)
        return entry and entry[0]

    def _watch(self, entry: tuple[Hold, float]) -> None:
        hold, until = entry
        try:
            while monotonic() < until and _is_wanted(hold):
                sleep(min(LOOK_S, max(0.0, until - monotonic())))
                with self.lock:
                    if self.held.get(hold.export) is not entry:
                        return
            with self.lock:
                if self.held.get(hold.export) is not entry:
                    return
                del self.held[hold.export]
            hold.let_go()
        finally:
            connection.close()


keeping = Keeping()


@contextmanager
def joined(export: Export, *, kept_s: float = 0) -> Iterator[Snapshot]:
    """Be in the snapshot of a running export for a while; a fresh one where nobody holds it any more.

    On connections of its own, so that the caller may write meanwhile. This process keeps it for `kept_s` seconds then,
    for its next task or somebody else's. Raises SnapshotRaceError, EndedError and database errors, with nothing open.
    """
    hold = _kept(export) or _held(export)
    try:
        with closing(_connection()) as raw:
            raw.execute(BEGIN)
            raw.execute(psycopg.sql.SQL("SET TRANSACTION SNAPSHOT {}").format(hold.name))
            yield Snapshot(connection=raw, name=hold.name, generation=hold.generation, horizon=hold.horizon)
    finally:
        if kept_s and not hold.raw.closed:
            keeping.keep(hold, for_s=kept_s)
        else:
            hold.let_go()


def let_go(export: Export) -> None:
    """Hold the snapshot of an export no longer; other processes find out for themselves."""
    hold = keeping.take(export.pk)
    if hold is not None:
        hold.let_go()


def _is_wanted(hold: Hold) -> bool:
    try:
        return Export.objects.filter(
            pk=hold.export, status=Export.Status.RUNNING, generation=hold.generation, snapshots__contains=[hold.told]
        ).exists()
    except Error:
        return False


def _connection() -> "psycopg.Connection[Any]":
    apart = connection.copy()
    apart.ensure_connection()
    assert apart.connection is not None  # noqa: S101  # ensure_connection
    raw: psycopg.Connection[Any] = apart.connection
    # Several statements at once cannot be prepared.
    raw.prepare_threshold = None
    return raw


def _kept(export: Export) -> Hold | None:
    """What this process has kept, if it is still good."""
    hold = keeping.take(export.pk)
    if hold is None:
        return None
    try:
        # PostgreSQL counts how long nothing was asked.
        hold.raw.execute("SELECT")
    except psycopg.Error:
        hold.let_go()
        return None
    if _is_wanted(hold):
        return hold
    hold.let_go()
    return None


def _held(export: Export) -> Hold:
    for _ in range(TRIES):
        export.refresh_from_db(fields=["generation", "snapshots", "status"])
        if export.status != Export.Status.RUNNING:
            raise EndedError
        raw = _connection()
        found = None
        try:
            found = _shared(export, raw) or _fresh(export, raw)
        finally:
            if found is None:
                raw.close()
        if found is not None:
            return found
    raise SnapshotRaceError(f"Nobody could be joined in the snapshot of export {export.public_id}.")


def _shared(export: Export, raw: "psycopg.Connection[Any]") -> Hold | None:
    for told in reversed(export.snapshots):
        name, _, sign = told.partition(" ")
        raw.execute(BEGIN)
        try:
            raw.execute(psycopg.sql.SQL("SET TRANSACTION SNAPSHOT {}").format(name))
        except (psycopg.errors.UndefinedObject, psycopg.errors.InvalidParameterValue):
            raw.execute("ROLLBACK")
            continue
        hold, _moment = _exported(export, raw, generation=export.generation)
        if hold.sign == sign and _changed(ADD, [hold.told, export.pk, export.generation]):
            return hold
        raw.execute("ROLLBACK")
    return None


def _fresh(export: Export, raw: "psycopg.Connection[Any]") -> Hold | None:
    (changes_from,) = raw.execute(CHANGES_FROM).fetchone() or (None,)
    raw.execute(BEGIN)
    hold, moment = _exported(export, raw, generation=export.generation + 1)
    mine = Export.objects.filter(pk=export.pk, generation=export.generation, status=Export.Status.RUNNING)
    # Others may have come or gone meanwhile; who has taken the names for dead may only be wrong of the same names.
    told = mine.filter(snapshots=export.snapshots).update(
        generation=hold.generation, snapshots=[hold.told], snapshot_at=moment, changes_from=changes_from
    )
    if told and hold.generation > 1:
        logger.info("Export %s goes on in a snapshot of its own, the %d.", export.public_id, hold.generation)
    return hold if told else None


def _exported(export: Export, raw: "psycopg.Connection[Any]", *, generation: int) -> tuple[Hold, Any]:
    name, sign, horizon, moment = raw.execute(EXPORTED).fetchone() or ("", "", 0, None)
    hold = Hold(raw=raw, export=export.pk, name=name, sign=sign, generation=generation, horizon=horizon)
    return hold, moment


def _changed(statement: str, parameters: list[Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        count: int = cursor.rowcount
    return count > 0
