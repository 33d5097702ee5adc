"""What a worker does for an export, one step at a time: begin it, write one of its parts, finish it.

A part is held by a lease on the database's clock, and each claim of it has a token. Whoever was late, or frozen and
thought dead, finds another token there and changes nothing.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any

import psycopg
from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, Error, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from catalogue.exports import datasets, formats
from catalogue.exports.datasets.base import parameters
from catalogue.exports.formats import Reading
from catalogue.exports.jobs import events, partitioning, shared_snapshot
from catalogue.exports.jobs.shared_snapshot import EndedError, Snapshot, SnapshotRaceError
from catalogue.exports.requests import payment_state
from catalogue.exports.storage import files, manifest
from catalogue.models import Export, ExportPart
from framework.db.locks import AdvisoryLock
from framework.db.retry import retry_on_disconnect

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
# Held by the one worker that begins an export.
START_LOCK = AdvisoryLock("export start")
# A task goes on with parts for so long, then enqueues the next: it may be one of a queue that goes before.
GOES_ON_S = 20
# Looks at what an earlier snapshot has written are cheap, and lost with this one: a task goes on longer with them.
LOOKS_ON_S = 40
# Each sweep tries the manifest again, until the export has become that old.
PATIENCE = timedelta(days=1)
KEPT = timedelta(days=7)

# By the clock of the database, as it is for who claims one.
OF_NOBODY = Q(lease_until=None) | Q(lease_until__lt=Now())
CLAIM = """
UPDATE catalogue_exportpart
SET state = 'taken', token = token + 1, tries = tries + 1, lease_until = now() + %(lease)s
WHERE id = (
    SELECT part.id FROM catalogue_exportpart AS part JOIN catalogue_export AS export ON export.id = part.export_id
    WHERE part.export_id = %(export)s AND export.status = 'running'
        AND (part.state <> 'done' OR part.generation < export.generation OR part.horizon IS NULL)
        AND part.tries < %(most_tries)s AND (part.lease_until IS NULL OR part.lease_until < now())
    ORDER BY part.file <> '', part.seq LIMIT 1 FOR UPDATE OF part SKIP LOCKED
)
RETURNING *
"""


class LeaseLostError(Exception):
    """Somebody else holds the part by now, or nobody wants it any more."""


def step(export: Export, *, rows_a_part: int = ROWS_A_PART, goes_on_s: float = GOES_ON_S, kept_s: float = 0) -> int:
    """Do the next thing there is to do for an export; how many tasks to enqueue afterwards.

    Call it outside of a transaction. Any number may run at once. This process keeps the snapshot for `kept_s` seconds
    after it. What breaks is written on the export's row.
    """
    if export.status == Export.Status.QUEUED:
        return min(begin(export, now=timezone.now(), rows_a_part=rows_a_part), ABREAST)
    if export.status != Export.Status.RUNNING:
        return 0
    began = monotonic()
    part = claim(export)
    if part is not None:
        try:
            with shared_snapshot.joined(export, kept_s=kept_s) as snapshot:
                while part is not None:
                    had = part.file
                    if not done(export, part, snapshot):
                        return 0
                    stood = had and part.file == had
                    if monotonic() - began >= (max(goes_on_s, LOOKS_ON_S) if stood else goes_on_s):
                        return 1
                    part = None
                    part = claim(export)
        except (SnapshotRaceError, psycopg.Error, Error) as error:
            logger.warning("Export %s waits for its snapshot: %s", export.public_id, error)
            if part is not None:
                write_state(partial(lay_down, part))
            return 0
        except EndedError:
            return 0
    finish(export, now=timezone.now())
    return 0


def done(export: Export, part: ExportPart, snapshot: Snapshot) -> bool:
    """Make a claimed part count. False where it could not be: then it rests, and why is told on the export's row."""
    try:
        if not stands(export, part, snapshot):
            write(export, part, snapshot)
    except LeaseLostError:
        logger.info("%s of export %s is in other hands", part, export.public_id)
        export.refresh_from_db(fields=["status"])
        return export.status == Export.Status.RUNNING
    except Exception as error:  # noqa: BLE001  # whatever it is, it may not be tried for ever without a word
        write_state(partial(give_back, export, part, error, now=timezone.now()))
        return False
    return True


def write_state(write: Callable[[], None]) -> None:
    """Write the state of an export or a part, also across a restart of PostgreSQL."""
    if not retry_on_disconnect(write):
        logger.warning("The database is away: the claimed part is free again when its lease of %s ends.", LEASE)


def begin(export: Export, *, now: datetime, rows_a_part: int = ROWS_A_PART) -> int:
    """Split the keys of a queued export into parts; how many, 0 where another worker is at it.

    A delta has one more, of what is gone. What breaks is written on the export's row, and tried again for a day.
    """
    mine = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
    try:
        with transaction.atomic():
            if not START_LOCK.try_acquire(export.pk):
                return 0
            bounds, total = partitioning.split(export, rows_a_part=rows_a_part)
            # Not earlier, so that nobody who cancels it has to wait. Whoever still holds a snapshot of an earlier
            # beginning is not to be joined.
            running = {"status": Export.Status.RUNNING, "snapshots": [], "error": ""}
            if not mine.update(**running, rows_total=total, snapshot_at=now):
                return 0
            ranges = zip([None, *bounds], [*bounds, None], strict=True)
            parts = [ExportPart(export=export, seq=seq, lo=lo, hi=hi) for seq, (lo, hi) in enumerate(ranges, start=1)]
            if export.since_export_id is not None and datasets.of(export).removed is not None:
                parts.append(ExportPart(export=export, seq=len(parts) + 1, kind=ExportPart.Kind.REMOVED))
            ExportPart.objects.bulk_create(parts)
    except DatabaseError as error:
        words = "The database did not count its rows through."
        logger.warning("Export %s: %s", export.public_id, words, exc_info=error)
        write_state(partial(not_begun, export, words, now=now))
        return 0
    return len(parts)


def not_begun(export: Export, words: str, *, now: datetime) -> None:
    """Say why an export is not begun yet; after a day it has failed."""
    queued = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
    if now - export.asked_at > PATIENCE:
        fail(export, words, now=now, was=Export.Status.QUEUED)
    else:
        queued.update(error=f"{words} It is tried again.")


def claim(export: Export) -> ExportPart | None:
    """Take a part that nobody holds, as one more try of it. None where all are done, held or resting."""
    found: Any = ExportPart.objects.raw(CLAIM, {"export": export.pk, "lease": LEASE, "most_tries": MOST_TRIES})
    return next(iter(found), None)


def lay_down(part: ExportPart) -> None:
    """Let others have a claimed part at once, as if nobody had taken it."""
    held(part).update(state=ExportPart.State.WAITING, lease_until=None, tries=F("tries") - 1)


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
    if not part.file or part.horizon is None or part.kind == ExportPart.Kind.REMOVED:
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
        kind=part.kind,
    )
    with files.draft(place) as draft:
        count = formats.writer(export)(reading, draft)
        sources = sources_of(reading)
        hold(part)
        draft.keep(place)
    written = held(part).update(
        state=ExportPart.State.DONE,
        lease_until=None,
        # One whose file was gone goes on counting: it has been here before.
        tries=part.tries if part.rows is not None and not part.file else 0,
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
    former, part.file = part.file, name
    if former:
        with suppress(OSError):
            # Of an earlier generation; what stays is the sweeper's.
            files.storage().delete(f"{export.public_id}/{former}")


def sources_of(reading: Reading) -> list[str]:
    """The keys of the sources in a part."""
    if reading.is_of_removed:
        return []
    every = reading.dataset.select(f"DISTINCT unnest({reading.dataset.sources}) AS key", ordered=False)
    found = psycopg.ClientCursor(reading.connection).execute(every.encode(), reading.parameters).fetchall()
    return sorted(key for (key,) in found)


def give_back(export: Export, part: ExportPart, error: Exception, *, now: datetime) -> None:
    """Let the part rest before its next try and say why; after the last one the export has failed."""
    reason = "of an error of ours"
    if isinstance(error, OSError):
        reason = "the storage did not take it"
    elif isinstance(error, SoftTimeLimitExceeded):
        reason = "it took too long"
    elif isinstance(error, (Error, psycopg.Error)):
        reason = "the database did not read it through"
    words = f"Part {part.seq} could not be written: {reason}."
    logger.warning("Export %s: %s", export.public_id, words, exc_info=error)
    if part.tries >= MOST_TRIES:
        fail(export, f"{words} It was tried {part.tries} times.", now=now)
        return
    if held(part).update(state=ExportPart.State.WAITING, lease_until=Now() + PAUSE):
        Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING).update(error=f"{words} It is tried again.")


def counts(part: ExportPart, export: Export) -> bool:
    """Whether a part is written, and of the snapshot of its export."""
    return part.state == part.State.DONE and part.generation == export.generation and part.horizon is not None


def finish(export: Export, *, now: datetime) -> None:
    """Write the manifest and call the export done, if its parts are; or failed, if one has no tries left.

    Parts whose files are not in the storage, as they were written, have to be written anew.
    """
    export.refresh_from_db()
    parts = list(export.parts.order_by("seq"))
    undone = [part.pk for part in parts if not counts(part, export)]
    if undone or not parts:
        part = export.parts.filter(OF_NOBODY, pk__in=undone, tries__gte=MOST_TRIES).order_by("seq").first()
        if part is not None:
            fail(export, f"Part {part.seq} could not be written: its worker ended {part.tries} times.", now=now)
        return
    running = Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING, generation=export.generation)
    content = manifest.render(export, parts)
    try:
        if lost := files.lost(export, parts):
            write_anew(export, lost, now=now)
            return
        sha256 = keep_manifest(export, content)
    except OSError as error:
        words = "The manifest could not be written: the storage did not take it."
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
            snapshots=[],
        ):
            events.tell(export, actor="system", now=now)
    shared_snapshot.let_go(export)


def write_anew(export: Export, lost: Sequence[ExportPart], *, now: datetime) -> None:
    """Let parts be written again whose files are gone; one that has lost as many as it has tries fails the export."""
    for part in lost:
        if part.tries >= MOST_TRIES:
            words = f"Part {part.seq} was written {part.tries + 1} times, and each time its file was gone."
            fail(export, words, now=now)
            return
    words = f"{len(lost)} of its files are gone: they are written anew."
    logger.warning("Export %s: %s", export.public_id, words)
    with transaction.atomic():
        for part in lost:
            same = export.parts.filter(pk=part.pk, token=part.token, generation=part.generation, file=part.file)
            same.update(state=ExportPart.State.WAITING, file="")
        Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING).update(error=words)


def keep_manifest(export: Export, content: bytes) -> str:
    """Store the manifest; its SHA-256. Two workers that do it at once store the same. Raises OSError."""
    sha256 = manifest.digest(content)
    place = files.path_of_manifest(export, sha256)
    if not files.storage().exists(place):
        with files.draft(place) as draft:
            draft.write(content)
            draft.keep(place)
    return sha256


def fail(export: Export, words: str, *, now: datetime, was: str = Export.Status.RUNNING) -> None:
    """Call a running export failed. What was written of it is removed by the sweeper, who can tell what is whose."""
    mine = Export.objects.filter(pk=export.pk, status=was)
    with transaction.atomic():
        has_failed = mine.update(status=Export.Status.FAILED, error=words[:500], finished_at=now, snapshots=[])
        if has_failed:
            payment_state.owe_back(export, words=words, actor="system")
            events.tell(export, actor="system", now=now)
    if has_failed:
        logger.error("Export %s has failed: %s", export.public_id, words)
        shared_snapshot.let_go(export)
