"""The representation of an export for its owner."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Prefetch

from catalogue.exports.downloads import signed_urls
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart
from catalogue.models.exports import PREFIX
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import CursorPage
from framework.errors import NotFound
from framework.public_ids import encode
from payments.models.payments import PREFIX as PAYMENT


class ExportNotFound(NotFound):
    """No such export, or one of another wallet."""


@dataclass(frozen=True, slots=True)
class ExportDetails:
    """An export with its progress from 0 to 1, and with files and manifest once it has succeeded.

    `since_export` and `payment` are public ids, `removed` counts the removed ids.
    """

    export: Export
    since_export: str | None
    payment: str | None
    progress: float
    removed: int | None
    files: "Sequence[FileDetails]"
    manifest_url: str | None


@dataclass(frozen=True, slots=True)
class FileDetails:
    """A file with its signed `url`."""

    name: str
    kind: str
    bytes: int
    rows: int
    sha256: str
    url: str


def list_page(wallets: Collection[str], *, limit: int, cursor: str | None, now: datetime) -> CursorPage[ExportDetails]:
    """Return a page of the exports of these wallets, newest first. Two queries. Raises InvalidCursor."""
    fingerprint = pagination_cursor.fingerprint(*sorted(wallets))
    # Keys are ordered by creation time.
    found = Export.objects.filter(wallet__in=wallets).order_by("-pk")
    as_of = now
    if cursor is not None:
        before = pagination_cursor.decode_cursor(cursor, question=fingerprint, now=now)
        found, as_of = found.filter(pk__lt=UUID(str(before.after[0]))), before.as_of
    exports = list(found[: limit + 1])
    next_cursor = None
    if len(exports) > limit:
        exports.pop()
        next_cursor = pagination_cursor.encode_cursor([str(exports[-1].pk)], as_of=as_of, question=fingerprint)
    return CursorPage(rows=represent_exports(exports, now=now), limit=limit, next_cursor=next_cursor, as_of=as_of)


def find_export(wallets: Collection[str], public_id: str, *, with_parts: bool = False) -> Export:
    """Return the export of one of these wallets; with its payment and parts it takes two queries.

    Raises ExportNotFound for unknown, malformed and other wallets' ids alike.
    """
    exports = Export.objects.filter(wallet__in=wallets).known_as(public_id)
    if with_parts:
        parts = Prefetch("parts", ExportPart.objects.order_by("seq"))
        exports = exports.select_related("payment", "since_export").prefetch_related(parts)
    export = exports.first()
    if export is None:
        raise ExportNotFound("There is no such export.")
    return export


def list_newest(wallets: Collection[str], *, limit: int, before: UUID | None) -> list[Export]:
    """Return the newest exports of several wallets before this key, with payment and parts. Two queries."""
    found = Export.objects.filter(wallet__in=wallets).order_by("-pk")
    if before is not None:
        found = found.filter(pk__lt=before)
    columns = ExportPart.objects.only("export", "kind", "state", "rows")
    return list(found.select_related("payment").prefetch_related(Prefetch("parts", columns))[:limit])


def represent_export(export: Export, *, now: datetime) -> ExportDetails:
    return represent_exports([export], now=now)[0]


def represent_exports(exports: Sequence[Export], *, now: datetime) -> list[ExportDetails]:
    """Return exports with fresh links. One query for all."""
    by_export: dict[UUID, list[ExportPart]] = defaultdict(list)
    for part in ExportPart.objects.filter(export__in=exports).order_by("seq"):
        by_export[part.export_id].append(part)
    return [_represent(export, by_export[export.pk], now=now) for export in exports]


def _represent(export: Export, parts: Sequence[ExportPart], *, now: datetime) -> ExportDetails:
    has_files = export.status == Export.Status.SUCCEEDED and signed_urls.is_available(export, now=now)
    removed = [part.rows or 0 for part in parts if part.kind == ExportPart.Kind.REMOVED]
    return ExportDetails(
        export=export,
        since_export=encode(PREFIX, export.since_export_id) if export.since_export_id else None,
        payment=encode(PAYMENT, export.payment_id) if export.payment_id else None,
        progress=calculate_progress(export, parts),
        removed=sum(removed) if export.rows is not None else None,
        files=[_represent_file(export, part, now=now) for part in parts] if has_files else [],
        manifest_url=signed_urls.sign_url(export, manifest.NAME, now=now) if has_files else None,
    )


def _represent_file(export: Export, part: ExportPart, *, now: datetime) -> FileDetails:
    name = manifest.file_name(export, part)
    return FileDetails(
        name=name,
        kind=part.kind,
        bytes=part.bytes or 0,
        rows=part.rows or 0,
        sha256=part.sha256,
        url=signed_urls.sign_url(export, name, now=now),
    )


def calculate_progress(export: Export, parts: Sequence[ExportPart]) -> float:
    """Return the share of an export that is written, from 0 to 1.

    It counts parts, which are of equal size; a written part of an earlier snapshot counts. Only a restart goes back to
    0.
    """
    if export.status in (Export.Status.SUCCEEDED, Export.Status.EXPIRED):
        return 1.0
    # Below 1 until the manifest is written too.
    return min(round(count_written(parts) / len(parts), 3), 0.999) if parts else 0.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows per second, and the estimated remaining time."""

    rows_per_second: float
    remaining: timedelta


def calculate_pace(export: Export, parts: Sequence[ExportPart], *, now: datetime) -> Pace | None:
    """Return the pace of a running export since its start; None before its first part is written."""
    # A later snapshot changes `snapshot_at`, while earlier parts count.
    started_at = export.snapshot_at if export.generation <= 1 else export.created_at
    rows = sum(part.rows or 0 for part in parts if part.kind == ExportPart.Kind.ROWS)
    if export.status != Export.Status.RUNNING or started_at is None or started_at >= now or not rows:
        return None
    speed = rows / (now - started_at).total_seconds()
    return Pace(rows_per_second=speed, remaining=timedelta(seconds=max(0, (export.rows_total or 0) - rows) / speed))


def count_written(parts: Sequence[ExportPart]) -> int:
    """Return the number of parts that have a file."""
    return sum(part.rows is not None for part in parts)
