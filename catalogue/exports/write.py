"""What a worker does for an export, one step at a time: begin it, write one of its parts, finish it.

A part is held by a lease on the database's clock, and each try of it has a number. Whoever was late, or killed and
thought dead, finds another number there and changes nothing.
"""

import logging
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import psycopg
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from catalogue.exports import datasets, files, formats, manifest, snapshots, telling
from catalogue.exports.datasets.dataset import parameters
from catalogue.exports.formats import Reading
from catalogue.exports.snapshots import STATEMENT_TIMEOUT_S, Snapshot
from catalogue.models import Export, ExportPart

logger = logging.getLogger(__name__)

# Some 4 MB compressed: a file is answered in one piece, which is in memory until its reader has it.
ROWS_A_PART = 50_000
# So many parts of one export are written at once, where there are as many workers.
ABREAST = 4
LEASE = timedelta(seconds=60)
RENEW_AFTER_S = 15
MOST_TRIES = 5
# What broke is given this long to heal.
PAUSE = timedelta(seconds=20)
# A task goes on with parts for so long, then rings for the next: it may be one of a queue that goes before.
GOES_ON_S = 20
# Each sweep tries the manifest again, until the export has become that old.
PATIENCE = timedelta(days=1)
KEPT = timedelta(days=7)

SPLIT = """
WITH
counted AS (
    SELECT {key} AS id, row_number() OVER (ORDER BY {key}) AS nth FROM {rows} WHERE {wanted}
),
total AS (SELECT count(*) AS rows FROM counted),
bounds AS (
    SELECT counted.id, counted.nth / %(rows_a_part)s AS nth
    FROM counted, total WHERE counted.nth %% %(rows_a_part)s = 0 AND counted.nth < total.rows
),
made AS (
    INSERT INTO catalogue_exportpart
        (export_id, seq, kind, lo, hi, state, token, tries, generation, file, sha256, sources)
    SELECT %(export)s, seq, 'rows', before.id::text, upto.id::text, 'waiting', 0, 0, 0, '', '', '{{}}'
    FROM generate_series(1, (SELECT count(*) FROM bounds) + 1) AS seq
    LEFT JOIN bounds AS before ON before.nth = seq - 1
    LEFT JOIN bounds AS upto ON upto.nth = seq
)
UPDATE catalogue_export SET rows_total = (SELECT rows FROM total) WHERE id = %(export)s
"""

CLAIM = """
UPDATE catalogue_exportpart
SET state = 'taken', token = token + 1, tries = tries + 1, lease_until = now() + %(lease)s
WHERE id = (
    SELECT part.id FROM catalogue_exportpart AS part JOIN catalogue_export AS export ON export.id = part.export_id
    WHERE part.export_id = %(export)s AND export.status = 'running'
        AND (part.state <> 'done' OR part.generation < export.generation)
        AND part.tries < %(most_tries)s AND (part.lease_until IS NULL OR part.lease_until < now())
    ORDER BY part.seq LIMIT 1 FOR UPDATE OF part SKIP LOCKED
)
RETURNING *
"""


class LeaseLostError(Exception):
    """Somebody else holds the part by now, or nobody wants it any more."""


def step(export: Export, *, rows_a_part: int = ROWS_A_PART, goes_on_s: float = GOES_ON_S) -> int:
    """Do the next thing there is to do for an export; how many workers should be rung for afterwards.

    Call it outside of a transaction. Any number may run at once. What breaks is written on the export's row.
    """
    if export.status == Export.Status.QUEUED:
        return min(begin(export, now=timezone.now(), rows_a_part=rows_a_part), ABREAST)
    if export.status != Export.Status.RUNNING:
        return 0
    until = monotonic() + goes_on_s
    part = claim(export)
    if part is None:
        finish(export, now=timezone.now())
        return 0
    with snapshots.joined(export) as snapshot:
        while part is not None:
            try:
                if not stands(export, part, snapshot):
                    write(export, part, snapshot)
            except LeaseLostError:
                logger.info("%s of export %s is in other hands", part, export.public_id)
                return 0
            except (OSError, DatabaseError, psycopg.Error) as error:
                give_back(export, part, error, now=timezone.now())
                return 0
            part = claim(export) if monotonic() < until else None
    return 1


def begin(export: Export, *, now: datetime, rows_a_part: int = ROWS_A_PART) -> int:
    """Fix the moment of a queued export and split its keys into parts; how many, 0 where another worker was first."""
    with transaction.atomic(), connection.cursor() as cursor:
        mine = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
        if not mine.update(status=Export.Status.RUNNING, snapshot_at=now):
            return 0
        export.refresh_from_db()
        dataset = datasets.of(export)
        split = SPLIT.format(key=dataset.key, rows=dataset.rows, wanted=dataset.wanted)
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_TIMEOUT_S}s"])
        cursor.execute(split, parameters(export) | {"export": export.pk, "rows_a_part": rows_a_part})
        return export.parts.count()


def claim(export: Export) -> ExportPart | None:
    """Take a part that nobody holds, as one more try of it. None where all are done, held or resting."""
    found: Any = ExportPart.objects.raw(CLAIM, {"export": export.pk, "lease": LEASE, "most_tries": MOST_TRIES})
    return next(iter(found), None)


def held(part: ExportPart) -> "QuerySet[ExportPart]":
    """The row of a part as long as this claim of it counts."""
    return ExportPart.objects.filter(
        pk=part.pk, token=part.token, state=ExportPart.State.TAKEN, export__status=Export.Status.RUNNING
    )


def hold(part: ExportPart) -> None:
    """Renew the lease. Raises LeaseLostError."""
    if not held(part).update(lease_until=Now() + LEASE):
        raise LeaseLostError


def stands(export: Export, part: ExportPart, snapshot: Snapshot) -> bool:
    """Whether a claimed part was written before, of an earlier snapshot, and says what this one would say too.

    It is, if no row of it has come since and none has gone: then it counts again as it is.
    """
    if not part.file or part.horizon is None:
        return False
    dataset = datasets.of(export)
    changed = " OR ".join(f"age({version}) <= age(%(horizon)s::xid)" for version in dataset.versions)
    look = dataset.select(f"count(*), coalesce(bool_or({changed}), false)", ordered=False)
    asked = parameters(export, part) | {"horizon": str(part.horizon % 2**32)}
    found = psycopg.ClientCursor(snapshot.connection).execute(look.encode(), asked).fetchone()
    if found != (part.rows, False):
        return False
    kept = held(part).update(state=ExportPart.State.DONE, lease_until=None, tries=0, generation=snapshot.generation)
    if not kept:
        raise LeaseLostError
    return True


def write(export: Export, part: ExportPart, snapshot: Snapshot, *, renew_after_s: float = RENEW_AFTER_S) -> None:
    """Stream the rows of a claimed part into its file, then say on its row what is in it.

    Raises LeaseLostError, OSError of the storage, and DatabaseError or psycopg.Error of the reading; the file is
    gone then.
    """
    name = files.name_of(export, part)
    place = f"{export.public_id}/{name}"
    renewed = monotonic()

    def beat() -> None:
        nonlocal renewed
        if monotonic() - renewed >= renew_after_s:
            hold(part)
            renewed = monotonic()

    reading = Reading(
        dataset=datasets.of(export),
        parameters=parameters(export, part),
        connection=snapshot.connection,
        snapshot=snapshot.name,
        beat=beat,
    )
    with files.draft(place) as draft:
        count = formats.writer(export)(reading, draft)
        sources = sources_of(reading)
        hold(part)
        draft.keep(place)
    written = held(part).update(
        state=ExportPart.State.DONE,
        lease_until=None,
        tries=0,
        generation=snapshot.generation,
        horizon=snapshot.horizon,
        file=name,
        rows=count,
        bytes=draft.size,
        sha256=draft.sha256,
        sources=sources,
    )
    if not written:
        files.storage().delete(place)
        raise LeaseLostError


def sources_of(reading: Reading) -> list[str]:
    """The keys of the sources in a part."""
    every = reading.dataset.select(f"DISTINCT unnest({reading.dataset.sources}) AS key", ordered=False)
    found = psycopg.ClientCursor(reading.connection).execute(every.encode(), reading.parameters).fetchall()
    return sorted(key for (key,) in found)


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
    export.refresh_from_db()
    parts = list(export.parts.order_by("seq"))
    for part in parts:
        if part.state != ExportPart.State.DONE or part.generation != export.generation:
            if part.tries >= MOST_TRIES and (part.lease_until is None or part.lease_until < now):
                words = f"Part {part.seq} could not be written: its worker ended {part.tries} times."
                fail(export, words, now=now)
            return
    running = Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING, generation=export.generation)
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
    with transaction.atomic():
        if running.update(
            status=Export.Status.SUCCEEDED,
            rows=manifest.rows(parts, ExportPart.Kind.ROWS),
            manifest_sha256=sha256,
            error="",
            finished_at=now,
            expires_at=now + KEPT,
        ):
            telling.tell(export, actor="system", now=now)


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
    with transaction.atomic():
        has_failed = running.update(status=Export.Status.FAILED, error=words[:500], finished_at=now)
        if has_failed:
            telling.tell(export, actor="system", now=now)
    if has_failed:
        logger.error("Export %s has failed: %s", export.public_id, words)
        files.remove_all(export.public_id)
