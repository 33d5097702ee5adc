"""The field group `history`: the newest versions of a restaurant."""

from datetime import datetime
from typing import Any

from catalogue import history
from catalogue.models import Restaurant
from catalogue.places import Place


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the newest versions; None if nothing has changed yet. Two queries."""
    entries = history.list_newest_versions(restaurant.pk)
    return {"history": entries if history.has_changes(entries) else None}
