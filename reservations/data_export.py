"""The reservations of an account in its data export."""

from collections.abc import Iterator
from typing import Any

from accounts import data_export
from accounts.models import Account
from reservations.models import Reservation
from reservations.serializers import to_json


def reservations_of(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the API records of its reservations, with the id of their venue."""
    rows = Reservation.objects.filter(venue__account=account).select_related("venue")
    for reservation in data_export.by_key(rows):
        yield {"venue": reservation.venue.public_id, **to_json(reservation)}
