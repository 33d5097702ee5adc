"""The photos of a restaurant in pages, and the URLs of their thumbnails."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from catalogue import attribution as catalogue_attribution
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import PageInfo
from framework.api.urls import public_url
from framework.db import prepared_statements
from framework.images.thumbnails import SIZES, thumbnail_dimensions
from framework.public_ids import encode

ROWS = """
SELECT id, kind, caption, alt, author, license, review_id, source_id, width, height, created_at
FROM catalogue_photo
WHERE restaurant_id = %(restaurant)s AND NOT is_hidden {condition}
ORDER BY created_at DESC, id DESC LIMIT %(limit)s
"""
OF_KIND = "AND kind = %(kind)s"
AFTER = "AND (created_at, id) < (%(created_at)s, %(id)s)"
COUNT = "SELECT count(*) FROM catalogue_photo WHERE restaurant_id = %(restaurant)s AND NOT is_hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoPage(PageInfo):
    """A page of photos, and the attribution lines that must be shown with them."""

    rows: list[dict[str, Any]]
    attribution: list[dict[str, Any]]


def thumbnail_path(photo: UUID, size: str) -> str:
    return f"/photos/{encode('ph', photo)}/{size}.webp"


def thumbnail_url(photo: UUID, size: str) -> str:
    return public_url(thumbnail_path(photo, size))


def photo_links(photo: UUID) -> dict[str, Any]:
    """Serialize a photo within its review."""
    return {
        "id": encode("ph", photo),
        "url": thumbnail_url(photo, "large"),
        "small_url": thumbnail_url(photo, "small"),
    }


def count_photos(restaurant: UUID) -> int:
    """Count the photos of a restaurant that are not hidden. One query."""
    ((count,),) = prepared_statements.fetch_all(COUNT, {"restaurant": restaurant})
    return int(count)


def list_photos(
    restaurant: UUID, *, kind: str | None = None, limit: int = 20, cursor: str | None = None, now: datetime
) -> PhotoPage:
    """Return a page of the photos of a restaurant, newest first. One query. Raises InvalidCursor."""
    question = pagination_cursor.fingerprint("photos", restaurant, kind, limit)
    position = pagination_cursor.decode_cursor(cursor, question=question, now=now) if cursor else None
    as_of = position.as_of if position else now
    conditions, values = [], {"restaurant": restaurant, "limit": limit + 1}
    if kind:
        conditions.append(OF_KIND)
        values["kind"] = kind
    if position:
        conditions.append(AFTER)
        created_at, pk = position.after
        values |= {"created_at": datetime.fromisoformat(str(created_at)), "id": UUID(str(pk))}
    found = prepared_statements.fetch_all(ROWS.format(condition=" ".join(conditions)), values)
    rows = found[:limit]
    next_cursor = None
    if len(found) > limit:
        pk, *_, created_at = rows[-1]
        next_cursor = pagination_cursor.encode_cursor(
            [created_at.isoformat(), str(pk)], as_of=as_of, question=question
        )
    attribution = catalogue_attribution.attribution_lines({row[7] for row in rows})
    text_by_source = {line["source"]: line["text"] for line in attribution}
    return PhotoPage(
        limit=limit,
        next_cursor=next_cursor,
        as_of=as_of,
        rows=[_serialize(text_by_source[row[7]], *row) for row in rows],
        attribution=attribution,
    )


def _serialize(
    source_text: str,
    pk: UUID,
    kind: str,
    caption: str | None,
    alt: str,
    author: str | None,
    license_id: str,
    review: UUID | None,
    source: str,
    width: int,
    height: int,
    created_at: datetime,
) -> dict[str, Any]:
    sizes = []
    for name in SIZES:
        size_width, size_height = thumbnail_dimensions(name, width=width, height=height)
        sizes.append({"name": name, "url": thumbnail_url(pk, name), "width": size_width, "height": size_height})
    return {
        "id": encode("ph", pk),
        "url": thumbnail_url(pk, "large"),
        "sizes": sizes,
        "width": width,
        "height": height,
        "kind": kind,
        "caption": caption,
        "alt": alt,
        "author": author,
        "license": license_id,
        "review_id": encode("rev", review) if review else None,
        "source": source,
        "attribution": ", ".join(part for part in (author, source_text) if part),
        "created_at": created_at.replace(microsecond=0),
    }
