"""The field groups of the newest reviews, photos and versions of a restaurant. A group without content is None."""

from datetime import UTC, datetime, timedelta
from typing import Any

from catalogue import history, photos
from catalogue.models import Restaurant
from catalogue.places import Place
from catalogue.reviews import listing
from catalogue.reviews.listing import Order, ReviewQuery
from framework.api.urls import public_url

MAX_REVIEWS = 3
MAX_PHOTOS = 10
# The URL of the next page, and with it the ETag of the paid response, is the same for this long.
CURSOR_PERIOD = timedelta(minutes=30)


def read_reviews(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest reviews, a summary of all, and the URL of the next page."""
    page = listing.list_reviews(restaurant, ReviewQuery(sort=Order.NEWEST, limit=MAX_REVIEWS), now=cursor_time(now))
    if not page.rows:
        return {"reviews": None}
    path = f"/v1/restaurants/{restaurant.slug}/reviews?sort=newest&limit={MAX_REVIEWS}&cursor={page.next_cursor}"
    after = public_url(path) if page.has_more else None
    return {"reviews": {"summary": page.summary, "items": page.values, "next": after}}


def read_photos(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest photos, their total and the URL of the next page. At most two queries."""
    page = photos.list_photos(restaurant.pk, limit=MAX_PHOTOS, now=cursor_time(now))
    if not page.rows:
        return {"photos": None}
    count = photos.count_photos(restaurant.pk) if page.has_more else len(page.rows)
    path = f"/v1/restaurants/{restaurant.slug}/photos?limit={MAX_PHOTOS}&cursor={page.next_cursor}"
    return {"photos": {"count": count, "items": page.rows, "next": public_url(path) if page.has_more else None}}


def read_history(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest versions. Two queries."""
    entries = history.list_newest_versions(restaurant.pk)
    return {"history": entries if history.has_changes(entries) else None}


def cursor_time(now: datetime) -> datetime:
    """Return the start of the current half hour: a cursor of that moment is valid for at least half an hour."""
    period_s = CURSOR_PERIOD.total_seconds()
    return datetime.fromtimestamp(now.timestamp() // period_s * period_s, UTC)
