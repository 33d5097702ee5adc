"""What a place was: its newest versions."""

from datetime import datetime
from typing import Any

from catalogue import history
from catalogue.models import Restaurant
from catalogue.places import Place


def newest(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """The newest versions, newest first; None where nothing has changed yet. Two queries."""
    entries = history.newest(restaurant.pk)
    return {"history": entries if history.has_changes(entries) else None}
