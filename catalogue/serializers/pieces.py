"""What several records of the catalogue are made of."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from catalogue.models import Landmark
from config.api.fields import ClockTime
from config.api.ids import pattern

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
PHONE = r"^\+[1-9][0-9]{6,14}$"
PLACE_KINDS = [*Landmark.Kind.values, "restaurant"]


class Moment(serializers.DateTimeField):
    """A moment to the second, in the zone that it is given in."""

    def to_representation(self, value: Any) -> Any:
        """Return it for the renderer, which writes RFC 3339."""
        return value.replace(microsecond=0) if isinstance(value, datetime) else value


class LocationRecord(serializers.Serializer[Any]):
    """Where it is, in degrees."""

    lat = serializers.FloatField(min_value=-85, max_value=85)
    lng = serializers.FloatField(min_value=-180, max_value=180)


class OfferRecord(serializers.Serializer[Any]):
    """The next discount that can be booked; date and time are on the restaurant's clock."""

    percent = serializers.IntegerField(min_value=1, max_value=90)
    time = ClockTime()
    id = serializers.RegexField(pattern("fo"), help_text="Book it at /v1/flow/offers/{id}/bookings.")
    date = serializers.DateField()
    seats_left = serializers.IntegerField(min_value=1)


class AttributionRecord(serializers.Serializer[Any]):
    """A source, its licence, and the line that is to be shown with it."""

    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    text = serializers.CharField()
    license = serializers.CharField(help_text="SPDX identifier.")


class ListingRecord(serializers.Serializer[Any]):
    """Where a page stands in its list."""

    limit = serializers.IntegerField(min_value=1, help_text="Rows on a page, at most.")
    next_cursor = serializers.CharField(allow_null=True, help_text="Give it as `cursor` for the next page.")
    has_more = serializers.BooleanField()
    as_of = Moment(help_text="The moment of which all pages of this list speak.")
