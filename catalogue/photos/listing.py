"""A photo as callers see it, and the list of those of a restaurant."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from catalogue import attribution as catalogue_attribution
from catalogue.photos.thumbnails import SIZES, measures
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import Paged
from framework.api.urls import public_url
from framework.db import prepared_statements
from framework.public_ids import encode

ROWS = """
SELECT id, kind, caption, alt, author, license, review_id, source_id, width, height, created_at
FROM catalogue_photo
WHERE restaurant_id = %(restaurant)s AND NOT is_hidden {condition}
ORDER BY created_at DESC, id DESC LIMIT %(most)s
"""
OF_KIND = "AND kind = %(kind)s"
AFTER = "AND (created_at, id) < (%(at)s, %(id)s)"
COUNT = "SELECT count(*) FROM catalogue_photo WHERE restaurant_id = %(restaurant)s AND NOT is_hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoPage(Paged):
    """A page of photos, and the lines that are to be shown with them."""

    rows: list[dict[str, Any]]
    attribution: list[dict[str, Any]]


def address(photo: UUID, size: str) -> str:
    """Where the bytes of a size are."""
    return public_url(path(photo, size))


def path(photo: UUID, size: str) -> str:
    """The same, on our own host."""
    return f"/photos/{encode('ph', photo)}/{size}.webp"


def brief(photo: UUID) -> dict[str, Any]:
    """What a review says of its photo."""
    return {"id": encode("ph", photo), "url": address(photo, "large"), "small_url": address(photo, "small")}


def count(restaurant: UUID) -> int:
    """How many photos of a restaurant are shown. One query."""
    ((number,),) = prepared_statements.rows(COUNT, {"restaurant": restaurant})
    return int(number)


def page(
    restaurant: UUID, *, kind: str | None = None, limit: int = 20, cursor: str | None = None, now: datetime
) -> PhotoPage:
    """The photos of a restaurant, newest first. One query. Raises BadCursor."""
    question = pagination_cursor.fingerprint("photos", restaurant, kind, limit)
    place = pagination_cursor.read(cursor, question=question, now=now) if cursor else None
    as_of = place.as_of if place else now
    conditions, wanted = [], {"restaurant": restaurant, "most": limit + 1}
    if kind:
        conditions.append(OF_KIND)
        wanted["kind"] = kind
    if place:
        conditions.append(AFTER)
        wanted |= {"at": datetime.fromisoformat(str(place.after[0])), "id": UUID(str(place.after[1]))}
    found = prepared_statements.rows(ROWS.format(condition=" ".join(conditions)), wanted)
    shown = found[:limit]
    after = None
    if len(found) > limit:
        pk, *_, created_at = shown[-1]
        after = pagination_cursor.write([created_at.isoformat(), str(pk)], as_of=as_of, question=question)
    lines = catalogue_attribution.lines({row[7] for row in shown})
    told = {line["source"]: line["text"] for line in lines}
    return PhotoPage(
        limit=limit,
        next_cursor=after,
        as_of=as_of,
        rows=[_record(told[row[7]], *row) for row in shown],
        attribution=lines,
    )


def _record(
    line: str,
    pk: UUID,
    kind: str,
    caption: str | None,
    alt: str,
    author: str | None,
    its_license: str,
    review: UUID | None,
    source: str,
    width: int,
    height: int,
    created_at: datetime,
) -> dict[str, Any]:
    sizes = []
    for name in SIZES:
        wide, high = measures(name, width=width, height=height)
        sizes.append({"name": name, "url": address(pk, name), "width": wide, "height": high})
    return {
        "id": encode("ph", pk),
        "url": address(pk, "large"),
        "sizes": sizes,
        "width": width,
        "height": height,
        "kind": kind,
        "caption": caption,
        "alt": alt,
        "author": author,
        "license": its_license,
        "review_id": encode("rev", review) if review else None,
        "source": source,
        "attribution": ", ".join(part for part in (author, line) if part),
        "created_at": created_at.replace(microsecond=0),
    }
