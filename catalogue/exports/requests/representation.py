"""What the owner of an export is shown of it."""

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
from framework.api.pagination.cursor import Listing
from framework.errors import NotFound
from framework.public_ids import encode
from payments.models.payments import PREFIX as PAYMENT


class NoSuchExport(NotFound):
    """An export that nobody ordered, or another wallet."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An export as its owner sees it: `progress` from 0 to 1; files and manifest once it has succeeded.

    `since_export` and `payment` are public ids, `removed` counts the ids in files of that kind.
    """

    export: Export
    since_export: str | None
    payment: str | None
    progress: float
    removed: int | None
    files: "Sequence[ShownFile]"
    manifest_url: str | None


@dataclass(frozen=True, slots=True)
class ShownFile:
    """One of the files; `url` is a signed link."""

    name: str
    kind: str
    bytes: int
    rows: int
    sha256: str
    url: str


def page(wallet: str, *, limit: int, cursor: str | None, now: datetime) -> Listing[Shown]:
    """A page of a wallet's exports, newest first. Two queries. Raises InvalidCursor."""
    question = pagination_cursor.fingerprint(wallet)
    # The keys are in the order of their making.
    found = Export.objects.of(wallet).order_by("-pk")
    as_of = now
    if cursor is not None:
        before = pagination_cursor.decode_cursor(cursor, question=question, now=now)
        found, as_of = found.filter(pk__lt=UUID(str(before.after[0]))), before.as_of
    exports = list(found[: limit + 1])
    next_cursor = None
    if len(exports) > limit:
        exports.pop()
        next_cursor = pagination_cursor.encode_cursor([str(exports[-1].pk)], as_of=as_of, question=question)
    return Listing(rows=show_all(exports, now=now), limit=limit, next_cursor=next_cursor, as_of=as_of)


def find(wallet: str, public_id: str) -> Export:
    """The wallet's export. Raises NoSuchExport for an unknown, a malformed and another wallet's id alike."""
    export = Export.objects.of(wallet).known_as(public_id).first()
    if export is None:
        raise NoSuchExport("There is no such export.")
    return export


def newest(wallets: Collection[str], *, limit: int, before: UUID | None) -> list[Export]:
    """The newest exports of several wallets, older than the one of this key, with payment and parts. Two queries."""
    found = Export.objects.filter(wallet__in=wallets).order_by("-pk")
    if before is not None:
        found = found.filter(pk__lt=before)
    told = ExportPart.objects.only("export", "kind", "state", "rows")
    return list(found.select_related("payment").prefetch_related(Prefetch("parts", told))[:limit])


def find_among(wallets: Collection[str], public_id: str) -> Export:
    """The export of one of these wallets, with its payment and parts. Two queries.

    Raises NoSuchExport for an unknown, a malformed and another wallet's id alike.
    """
    mine = Export.objects.filter(wallet__in=wallets).select_related("payment", "since_export")
    export = mine.prefetch_related(Prefetch("parts", ExportPart.objects.order_by("seq"))).known_as(public_id).first()
    if export is None:
        raise NoSuchExport("There is no such export.")
    return export


def show(export: Export, *, now: datetime) -> Shown:
    """One export. One query."""
    return show_all([export], now=now)[0]


def show_all(exports: Sequence[Export], *, now: datetime) -> list[Shown]:
    """Exports with fresh links. One query for all of them."""
    by_export: dict[UUID, list[ExportPart]] = {export.pk: [] for export in exports}
    for part in ExportPart.objects.filter(export__in=exports).order_by("seq"):
        by_export[part.export_id].append(part)
    return [_shown(export, by_export[export.pk], now=now) for export in exports]


def _shown(export: Export, parts: Sequence[ExportPart], *, now: datetime) -> Shown:
    files: tuple[ShownFile, ...] = ()
    is_here = export.status == Export.Status.SUCCEEDED and signed_urls.is_kept(export, now=now)
    if is_here:
        files = tuple(_file(export, part, now=now) for part in parts)
    gone = [part.rows or 0 for part in parts if part.kind == ExportPart.Kind.REMOVED]
    return Shown(
        export=export,
        since_export=encode(PREFIX, export.since_export_id) if export.since_export_id else None,
        payment=encode(PAYMENT, export.payment_id) if export.payment_id else None,
        progress=progress(export, parts),
        removed=sum(gone) if export.rows is not None else None,
        files=files,
        manifest_url=signed_urls.link(export, manifest.NAME, now=now) if is_here else None,
    )


def _file(export: Export, part: ExportPart, *, now: datetime) -> ShownFile:
    name = manifest.file_name(export, part)
    return ShownFile(
        name=name,
        kind=part.kind,
        bytes=part.bytes or 0,
        rows=part.rows or 0,
        sha256=part.sha256,
        url=signed_urls.link(export, name, now=now),
    )


def progress(export: Export, parts: Sequence[ExportPart]) -> float:
    """How much of an export is written, from 0 to 1.

    By parts, which are of one size, as a part that was written once stays written: one of an earlier snapshot is
    looked at again, or takes the place of what it was. Only an export that is begun anew goes back to 0.
    """
    if export.status in (Export.Status.SUCCEEDED, Export.Status.EXPIRED):
        return 1.0
    # Below 1 until the manifest stands too.
    return min(round(written(parts) / len(parts), 3), 0.999) if parts else 0.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast an export is written, in rows a second, and how long the rest takes if that stays so."""

    rows_a_second: float
    left: timedelta


def pace(export: Export, parts: Sequence[ExportPart], *, now: datetime) -> Pace | None:
    """The pace of an export that runs, since it began; None before its first part is written."""
    # A later snapshot is of a later moment, and the parts of the first count on.
    begun = export.snapshot_at if export.generation <= 1 else export.created_at
    rows = sum(part.rows or 0 for part in parts if part.kind == ExportPart.Kind.ROWS)
    if export.status != Export.Status.RUNNING or begun is None or begun >= now or not rows:
        return None
    speed = rows / (now - begun).total_seconds()
    return Pace(rows_a_second=speed, left=timedelta(seconds=max(0, (export.rows_total or 0) - rows) / speed))


def written(parts: Sequence[ExportPart]) -> int:
    """How many parts have a file."""
    return sum(part.rows is not None for part in parts)
