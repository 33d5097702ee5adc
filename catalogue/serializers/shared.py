"""Records that several serializers share."""

from typing import Any

from rest_framework import serializers

from catalogue.models import Landmark
from framework.api.fields import TimeField
from framework.public_ids import pattern

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
PHONE = r"^\+[1-9][0-9]{6,14}$"
PLACE_KINDS = [*Landmark.Kind.values, "restaurant"]


class LocationRecord(serializers.Serializer[Any]):
    """Where it is, in degrees."""

    lat = serializers.FloatField(min_value=-85, max_value=85)
    lng = serializers.FloatField(min_value=-180, max_value=180)


class OfferRecord(serializers.Serializer[Any]):
    """The next discount that can be booked; date and time are on the restaurant's clock."""

    percent = serializers.IntegerField(min_value=1, max_value=90)
    time = TimeField()
    id = serializers.RegexField(pattern("fo"), help_text="Book it at /v1/flow/offers/{id}/bookings.")
    date = serializers.DateField()
    seats_left = serializers.IntegerField(min_value=1)


class AttributionRecord(serializers.Serializer[Any]):
    """A source, its licence, and the line that is to be shown with it."""

    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    text = serializers.CharField()
    license = serializers.CharField(help_text="SPDX identifier.")
