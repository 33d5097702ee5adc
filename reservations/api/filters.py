"""Query parameters of the reservation list."""

import re
from datetime import date
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from framework.api.filters import OneOf
from framework.errors import InvalidRequest
from reservations.models import Reservation


@extend_schema_field(OpenApiTypes.DATE)
class DayFilter(filters.CharFilter):
    """Filters by one day, written YYYY-MM-DD."""

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        day = parse_day(value, param=str(self.field_name))
        return qs if day is None else qs.filter(**{str(self.field_name): day})


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
    """Filters by date and status."""

    date = DayFilter(label="Only this day, by the venue's clock")
    status = OneOf(choices=Reservation.Status.choices, label="Only reservations of this status")

    class Meta:
        model = Reservation
        fields: list[str] = []
