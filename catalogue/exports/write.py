"""What a worker does for an export, one step at a time: begin it, write one of its parts, finish it.

A part is held by a lease on the database's clock, and each try of it has a number. Whoever was late, or killed and
thought dead, finds another number there and changes nothing.
"""

import logging
from contextlib import closing
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import psycopg
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from catalogue.exports import files, manifest, rows
from catalogue.models import Export, ExportPart

logger = logging.getLogger(__name__)

# Some 1.5 MB compressed: a file is answered in one piece, which is in memory until its reader has it.
ROWS_A_PART = 10_000
# So many parts of one export are written at once, where there are as many workers.
ABREAST = 4
LEASE = timedelta(seconds=60)
RENEW_AFTER_S = 15
MOST_TRIES = 5
# What broke is given this long to heal.
PAUSE = timedelta(seconds=20)
# Each sweep tries the manifest again, until the export has become that old.
PATIENCE = timedelta(days=1)
KEPT = timedelta(days=7)

SPLIT = f"""
WITH
counted AS (
    SELECT restaurant.id, row_number() OVER (ORDER BY restaurant.id) AS nth
    FROM catalogue_restaurant AS restaurant WHERE {rows.MATCHES}
),
total AS (SELECT count(*) AS rows FROM counted),
bounds AS (
    SELECT counted.id, counted.nth / %(rows_a_part)s AS nth
    FROM counted, total WHERE counted.nth %% %(rows_a_part)s = 0 AND counted.nth < total.rows
),
made AS (
    INSERT INTO catalogue_exportpart (export_id, seq, lo, hi, state, tries, sha256, sources)
    SELECT %(export)s, seq, before.id, upto.id, 'waiting', 0, '', '{{}}'
    FROM generate_series(1, (SELECT count(*) FROM bounds) + 1) AS seq
    LEFT JOIN bounds AS before ON before.nth = seq - 1
    LEFT JOIN bounds AS upto ON upto.nth = seq
)
UPDATE catalogue_export SET rows_total = (SELECT rows FROM total) WHERE id = %(export)s
"""  # noqa: S608  # of constants

CLAIM = """
UPDATE catalogue_exportpart SET state = 'taken', tries = tries + 1, lease_until = now() + %(lease)s
WHERE id = (
    SELECT part.id FROM catalogue_exportpart AS part JOIN catalogue_export AS export ON export.id = part.export_id
    WHERE part.export_id = %(export)s AND export.status = 'running' AND part.state <> 'done'
        AND part.tries < %(most_tries)s AND (part.lease_until IS NULL OR part.lease_until < now())
    ORDER BY part.seq LIMIT 1 FOR UPDATE OF part SKIP LOCKED
)
RETURNING *
"""


class LeaseLostError(Exception):
    """Somebody else holds the part by now, or nobody wants it any more."""


def step(export: Export, *, rows_a_part: int = ROWS_A_PART) -> int:
    """Do the next thing there is to do for an export; how many workers should be rung for afterwards.

    Call it outside of a transaction. Any number may run at once. What breaks is written on the export's row.
    """
    if export.status == Export.Status.QUEUED:
        return min(begin(export, now=timezone.now(), rows_a_part=rows_a_part), ABREAST)
    if export.status != Export.Status.RUNNING:
        return 0
    part = claim(export)
    if part is None:
        finish(export, now=timezone.now())
        return 0
    try:
        write(export, part)
    except LeaseLostError:
        logger.info("%s of export %s is in other hands", part, export.public_id)
        return 0
    except (OSError, DatabaseError, psycopg.Error) as error:
        give_back(export, part, error, now=timezone.now())
        return 0
    return 1


def begin(export: Export, *, now: datetime, rows_a_part: int = ROWS_A_PART) -> int:
    """Fix the moment of a queued export and split its keys into parts; how many, 0 where another worker was first."""
    with transaction.atomic(), connection.cursor() as cursor:
        mine = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
        if not mine.update(status=Export.Status.RUNNING, snapshot_at=now):
            return 0
        export.refresh_from_db()
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{rows.STATEMENT_TIMEOUT_S}s"])
        cursor.execute(SPLIT, rows.parameters(export) | {"export": export.pk, "rows_a_part": rows_a_part})
        return export.parts.count()


def claim(export: Export) -> ExportPart | None:
    """Take a part that nobody holds, as one more try of it. None where all are done, held or resting."""
    found: Any = ExportPart.objects.raw(CLAIM, {"export": export.pk, "lease": LEASE, "most_tries": MOST_TRIES})
    return next(iter(found), None)


def held(part: ExportPart) -> "QuerySet[ExportPart]":
    """The row of a part as long as this try of it counts."""
    return ExportPart.objects.filter(
        pk=part.pk, tries=part.tries, state=ExportPart.State.TAKEN, export__status=Export.Status.RUNNING
    )


def hold(part: ExportPart) -> None:
    """Renew the lease. Raises LeaseLostError."""
    if not held(part).update(lease_until=Now() + LEASE):
        raise LeaseLostError


def write(export: Export, part: ExportPart, *, renew_after_s: float = RENEW_AFTER_S) -> None:
    """Stream the rows of a claimed part into its file, then say on its row what is in it. Memory stays as it is.

    Raises LeaseLostError, OSError of the storage, and DatabaseError or psycopg.Error of the reading; the file is
    gone then.
    """
    place = files.path_of(export, part)
    count, sources, renewed = 0, set[str](), monotonic()
    with files.draft(place) as draft, closing(rows.read(export, part)) as found:
        zipped = files.Zipped(draft)
        for row in found:
            zipped.write(row.line)
            sources |= row.sources
            count += 1
            if monotonic() - renewed >= renew_after_s:
                hold(part)
                renewed = monotonic()
        zipped.close()
        hold(part)
        draft.keep(place)
    written = held(part).update(
        state=ExportPart.State.DONE,
        lease_until=None,
        rows=count,
        bytes=draft.size,
        sha256=draft.sha256,
        sources=sorted(sources),
    )
    if not written:
        files.storage().delete(place)
        raise LeaseLostError


def give_back(export: Export, part: ExportPart, error: Exception, *, now: datetime) -> None:
    """Let the part rest before its next try and say why; after the last one the export has failed."""
    told = error.strerror if isinstance(error, OSError) else None
    reason = told or "the database did not read it through"
    words = f"Part {part.seq} could not be written: {reason}."
    logger.warning("Export %s: %s", export.public_id, words, exc_info=error)
    if part.tries >= MOST_TRIES:
        fail(export, f"{words} It was tried {part.tries} times.", now=now)
        return
    if held(part).update(state=ExportPart.State.WAITING, lease_until=Now() + PAUSE):
        Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING).update(error=f"{words} It is tried again.")


def finish(export: Export, *, now: datetime) -> None:
    """Write the manifest and call the export done, if its parts are; or failed, if one has no tries left."""
    parts = list(export.parts.order_by("seq"))
    for part in parts:
        if part.state != ExportPart.State.DONE:
            if part.tries >= MOST_TRIES and (part.lease_until is None or part.lease_until < now):
                words = f"Part {part.seq} could not be written: its worker ended {part.tries} times."
                fail(export, words, now=now)
            return
    running = Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING)
    content = manifest.render(export, parts)
    try:
        sha256 = keep_manifest(export, content)
    except OSError as error:
        words = f"The manifest could not be written: {error.strerror}."
        logger.warning("Export %s: %s", export.public_id, words, exc_info=error)
        if export.snapshot_at and now - export.snapshot_at > PATIENCE:
            fail(export, words, now=now)
        else:
            running.update(error=f"{words} It is tried again.")
        return
    running.update(
        status=Export.Status.SUCCEEDED,
        rows=sum(part.rows or 0 for part in parts),
        manifest_sha256=sha256,
        error="",
        finished_at=now,
        expires_at=now + KEPT,
    )


def keep_manifest(export: Export, content: bytes) -> str:
    """Store the manifest; its SHA-256. Two workers that do it at once store the same. Raises OSError."""
    sha256 = manifest.digest(content)
    place = files.path_of_manifest(export, sha256)
    if not files.storage().exists(place):
        with files.draft(place) as draft:
            draft.write(content)
            draft.keep(place)
    return sha256


def fail(export: Export, words: str, *, now: datetime) -> None:
    """Call a running export failed, and remove what was written of it."""
    running = Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING)
    if running.update(status=Export.Status.FAILED, error=words[:500], finished_at=now):
        logger.error("Export %s has failed: %s", export.public_id, words)
        files.remove_all(export.public_id)
