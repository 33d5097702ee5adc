"""One snapshot for all files of an export, held by whoever is writing one of them."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection
from psycopg.conninfo import make_conninfo

from catalogue.models import Export

logger = logging.getLogger(__name__)

STATEMENT_TIMEOUT_S = 80
# Who loses the race for a fresh one finds the winner's at the next try.
TRIES = 10

BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# A transaction that began before the snapshot and commits after it has written rows that say the moment of its begin.
FRESH = """
SELECT pg_export_snapshot(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint, now(),
    least(now(), (SELECT min(xact_start) FROM pg_stat_activity WHERE backend_xid IS NOT NULL))
"""
SHARED = "SELECT pg_export_snapshot(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
ADD = "UPDATE catalogue_export SET snapshots = array_append(snapshots, %s) WHERE id = %s AND generation = %s"
LEAVE = "UPDATE catalogue_export SET snapshots = array_remove(snapshots, %s) WHERE id = %s"


class SnapshotRaceError(Exception):
    """Others were always faster; the next doorbell tries again."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A transaction that sees what all others of the same generation of an export see, under a name of its own.

    Transactions before `horizon` were all over when it was taken.
    """

    connection: "psycopg.Connection[Any]"
    name: str
    generation: int
    horizon: int


@contextmanager
def joined(export: Export) -> Iterator[Snapshot]:
    """Be in the snapshot of an export for a while; a fresh one where nobody holds it any more.

    On a connection of its own, so that the caller may write meanwhile. Raises SnapshotRaceError and database errors.
    """
    with closing(connection.copy()) as apart:
        apart.ensure_connection()
        raw = apart.connection
        assert raw is not None  # noqa: S101  # ensure_connection
        snapshot = _joined(export, raw)
        try:
            yield snapshot
        finally:
            with connection.cursor() as cursor:
                cursor.execute(LEAVE, [snapshot.name, export.pk])


def _joined(export: Export, raw: "psycopg.Connection[Any]") -> Snapshot:
    for _ in range(TRIES):
        export.refresh_from_db(fields=["generation", "snapshots", "status"])
        for name in reversed(export.snapshots):
            if _imported(raw, name):
                found = _added(export, raw)
                break
        else:
            found = _fresh(export, raw)
        if found is not None:
            return found
        raw.execute("ROLLBACK")
    raise SnapshotRaceError(f"Nobody could be joined in the snapshot of export {export.public_id}.")


def _begin(raw: "psycopg.Connection[Any]") -> None:
    raw.execute(BEGIN)


def _patient(raw: "psycopg.Connection[Any]") -> None:
    raw.execute(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s'")
    # What a part is waiting for may be a slow storage.
    raw.execute("SET LOCAL idle_in_transaction_session_timeout = 0")


def _imported(raw: "psycopg.Connection[Any]", name: str) -> bool:
    _begin(raw)
    try:
        raw.execute(psycopg.sql.SQL("SET TRANSACTION SNAPSHOT {}").format(name))
    except (psycopg.errors.UndefinedObject, psycopg.errors.InvalidParameterValue):
        raw.execute("ROLLBACK")
        return False
    return True


def _added(export: Export, raw: "psycopg.Connection[Any]") -> Snapshot | None:
    _patient(raw)
    name, horizon = raw.execute(SHARED).fetchone() or ("", 0)
    with connection.cursor() as cursor:
        cursor.execute(ADD, [name, export.pk, export.generation])
        return Snapshot(raw, name, export.generation, horizon) if cursor.rowcount else None


def _fresh(export: Export, raw: "psycopg.Connection[Any]") -> Snapshot | None:
    _begin(raw)
    _patient(raw)
    name, horizon, now, changes_from = raw.execute(FRESH).fetchone() or ("", 0, None, None)
    mine = Export.objects.filter(pk=export.pk, generation=export.generation)
    generation = export.generation + 1
    told = mine.update(generation=generation, snapshots=[name], snapshot_at=now, changes_from=changes_from)
    return Snapshot(raw, name, generation, horizon) if told else None


def conninfo() -> str:
    """How libpq finds our database."""
    given = connection.get_connection_params()
    ours = ("cursor_factory", "context", "prepare_threshold", "client_encoding", "row_factory", "autocommit")
    return make_conninfo(**{name: value for name, value in given.items() if name not in ours})
