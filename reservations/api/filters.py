"""Query parameters of the reservation list."""

import re
from datetime import date

from django_filters import rest_framework as filters

from framework.api.filters import StrictChoiceFilter
from framework.errors import InvalidRequest
from reservations.models import Reservation


def parse_day(value: str | None, *, param: str) -> date | None:
    """Parse the day; None if it is empty. Raises InvalidRequest."""
    if not value:
        return None
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError as error:
        raise InvalidRequest(f"`{param}` must be a day of the calendar written YYYY-MM-DD.", param=param) from error


class ReservationFilter(filters.FilterSet):
    """Documents the parameters, which the view parses."""

    date = filters.DateFilter(label="Only this day, by the venue's clock")
    status = StrictChoiceFilter(choices=Reservation.Status.choices, label="Only reservations of this status")

    class Meta:
        model = Reservation
        fields: list[str] = []
