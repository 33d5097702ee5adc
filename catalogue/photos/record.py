"""A photo as callers see it, and the list of those of a restaurant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from catalogue.models import Photo, Restaurant
from catalogue.photos.sizes import SIZES, measures
from config.api import cursors
from config.api.addresses import public_url
from config.api.cursors import Paged
from config.api.ids import encode


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoPage(Paged):
    """A page of photos, and the lines that are to be shown with them."""

    rows: list[dict[str, Any]]
    attribution: list[dict[str, Any]]


def address(photo: Photo, size: str) -> str:
    """Where the bytes of a size are."""
    return public_url(path(photo, size))


def path(photo: Photo, size: str) -> str:
    """The same, on our own host."""
    return f"/photos/{encode('ph', photo.pk)}/{size}.webp"


def show(photo: Photo) -> dict[str, Any]:
    """The record of a photo whose source is loaded."""
    sizes = []
    for name in SIZES:
        width, height = measures(photo, name)
        sizes.append({"name": name, "url": address(photo, name), "width": width, "height": height})
    return {
        "id": encode("ph", photo.pk),
        "url": address(photo, "large"),
        "sizes": sizes,
        "width": photo.width,
        "height": photo.height,
        "kind": photo.kind,
        "caption": photo.caption,
        "alt": photo.alt,
        "author": photo.author,
        "license": photo.license,
        "review_id": encode("rev", photo.review_id) if photo.review_id else None,
        "source": photo.source_id,
        "attribution": ", ".join(part for part in (photo.author, photo.source.attribution) if part),
        "created_at": photo.created_at.replace(microsecond=0),
    }


def brief(photo: Photo) -> dict[str, Any]:
    """What a review says of its photo."""
    return {"id": encode("ph", photo.pk), "url": address(photo, "large"), "small_url": address(photo, "small")}


def attributions(photos: Iterable[Photo]) -> list[dict[str, Any]]:
    """The lines that are to be shown with photos whose sources are loaded, each once."""
    sources = {photo.source_id: photo.source for photo in photos}
    return [
        {"source": key, "text": source.attribution, "license": source.license}
        for key, source in sorted(sources.items())
    ]


def of_reviews(reviews: list[UUID]) -> Mapping[UUID, list[dict[str, Any]]]:
    """The photos of these reviews in the order of their making. One query, none without reviews."""
    found: dict[UUID, list[dict[str, Any]]] = {}
    if reviews:
        shown = Photo.objects.filter(review__in=reviews, is_hidden=False).order_by("created_at", "id")
        for photo in shown:
            found.setdefault(photo.review_id, []).append(brief(photo))  # type: ignore[arg-type]  # they have one
    return found


def page(
    restaurant: Restaurant, *, kind: str | None = None, limit: int = 20, cursor: str | None = None, now: datetime
) -> PhotoPage:
    """The photos of a restaurant, newest first. One query. Raises BadCursor."""
    question = cursors.fingerprint("photos", restaurant.pk, kind, limit)
    place = cursors.read(cursor, question=question, now=now) if cursor else None
    as_of = place.as_of if place else now
    rows = Photo.objects.filter(restaurant=restaurant, is_hidden=False).select_related("source")
    if kind:
        rows = rows.filter(kind=kind)
    if place:
        at, pk = datetime.fromisoformat(str(place.after[0])), UUID(str(place.after[1]))
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk), created_at__lte=at)
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    shown = found[:limit]
    after = None
    if len(found) > limit:
        last = shown[-1]
        after = cursors.write([last.created_at.isoformat(), str(last.pk)], as_of=as_of, question=question)
    return PhotoPage(
        limit=limit,
        next_cursor=after,
        as_of=as_of,
        rows=[show(photo) for photo in shown],
        attribution=attributions(shown),
    )
