"""The field group `reviews`: a summary of all reviews, and the newest ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

from catalogue.models import Restaurant
from catalogue.places import Place
from catalogue.reviews import listing
from catalogue.reviews.listing import Order, ReviewQuery
from framework.api.urls import public_url

NEWEST = 3
# The URL of the next page, and with it the ETag of the paid response, is the same for this long.
CURSOR_PERIOD = timedelta(minutes=30)


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest reviews, a summary of all, and the URL of the next page; None without reviews."""
    page = listing.list_reviews(restaurant, ReviewQuery(sort=Order.NEWEST, limit=NEWEST), now=cursor_time(now))
    if not page.rows:
        return {"reviews": None}
    path = f"/v1/restaurants/{restaurant.slug}/reviews?sort=newest&limit={NEWEST}&cursor={page.next_cursor}"
    after = public_url(path) if page.has_more else None
    return {"reviews": {"summary": page.summary, "items": page.values, "next": after}}


def cursor_time(now: datetime) -> datetime:
    """Return the start of the current half hour: a cursor of that moment is valid for at least half an hour."""
    return datetime.fromtimestamp(
        now.timestamp() // CURSOR_PERIOD.total_seconds() * CURSOR_PERIOD.total_seconds(), UTC
    )
