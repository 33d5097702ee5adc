"""The field group `menu`: the published menu of a restaurant that has joined, with prices. It is free."""

from datetime import datetime
from typing import Any

from accounts.models import Venue
from catalogue.models import Restaurant
from catalogue.places import Place
from framework.db.read_snapshot import read_snapshot
from orders.menu.documents import serialize_published_menu


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the menu; None without a venue or a published menu. One query, five more for a menu."""
    with read_snapshot():
        venue = Venue.objects.filter(
            listing__restaurant=restaurant.pk, listing__is_active=True, menu__is_published=True
        ).first()
        return {"menu": serialize_published_menu(venue, now=now) if venue else None}
