"""What guests wrote: a summary of all, and the newest."""

from datetime import UTC, datetime, timedelta
from typing import Any

from catalogue.models import Restaurant
from catalogue.places import Place
from catalogue.reviews import listing
from catalogue.reviews.listing import Order, ReviewQuery
from framework.api.urls import public_url

NEWEST = 3
# The address of the second part stays the same for so long, and with it the ETag of what was paid for.
STEADY = timedelta(minutes=30)


def newest(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """The newest reviews below a summary of all, and where the others are; None where nobody wrote any."""
    page = listing.list_reviews(restaurant, ReviewQuery(sort=Order.NEWEST, limit=NEWEST), now=steady(now))
    if not page.rows:
        return {"reviews": None}
    path = f"/v1/restaurants/{restaurant.slug}/reviews?sort=newest&limit={NEWEST}&cursor={page.next_cursor}"
    after = public_url(path) if page.has_more else None
    return {"reviews": {"summary": page.summary, "items": page.values, "next": after}}


def steady(now: datetime) -> datetime:
    """The last half hour that has begun: cursors that were written then are good for half an hour at least."""
    return datetime.fromtimestamp(now.timestamp() // STEADY.total_seconds() * STEADY.total_seconds(), UTC)
