"""Pictures of a place and of what is eaten there."""

from datetime import datetime
from typing import Any

from catalogue import photos
from catalogue.field_groups.reviews import steady
from catalogue.models import Restaurant
from catalogue.places import Place
from framework.api.urls import public_url

NEWEST = 10


def newest(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """The newest photos, how many there are, and where the others are; None where there is none. Two queries."""
    page = photos.page(restaurant.pk, limit=NEWEST, now=steady(now))
    if not page.rows:
        return {"photos": None}
    count = photos.count(restaurant.pk) if page.has_more else len(page.rows)
    path = f"/v1/restaurants/{restaurant.slug}/photos?limit={NEWEST}&cursor={page.next_cursor}"
    return {"photos": {"count": count, "items": page.rows, "next": public_url(path) if page.has_more else None}}
