"""The field group `photos` of a restaurant record."""

from datetime import datetime
from typing import Any

from catalogue import photos
from catalogue.field_groups.reviews import cursor_time
from catalogue.models import Restaurant
from catalogue.places import Place
from framework.api.urls import public_url

LIMIT = 10


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest photos, their total and the URL of the next page; None without photos. At most two queries."""
    page = photos.list_photos(restaurant.pk, limit=LIMIT, now=cursor_time(now))
    if not page.rows:
        return {"photos": None}
    count = photos.count_photos(restaurant.pk) if page.has_more else len(page.rows)
    path = f"/v1/restaurants/{restaurant.slug}/photos?limit={LIMIT}&cursor={page.next_cursor}"
    return {"photos": {"count": count, "items": page.rows, "next": public_url(path) if page.has_more else None}}
