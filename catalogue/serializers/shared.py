"""Records that several serializers share."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import Landmark
from catalogue.search.geocoding.resolved_place import OTHER_KINDS
from framework.api.fields import TimeField
from framework.api.pagination.schema import CursorPageRecord
from framework.public_ids import pattern

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
COUNTRY = r"^[A-Z]{2}$"
PHONE = r"^\+[1-9][0-9]{6,14}$"
PLACE_KINDS = [*Landmark.Kind.values, *OTHER_KINDS]


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


def attribution_lines() -> Any:
    """Return the field of the attribution lines of a response."""
    return AttributionRecord(many=True, help_text="Show these lines with the data.")


def page_of(
    record: type[serializers.Serializer[Any]], *, name: str, description: str, has_attribution: bool = False
) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a Listing of these records, as the OpenAPI document names and describes it."""
    fields = {"data": record(many=True, source="rows"), "pagination": CursorPageRecord(source="*")}
    if has_attribution:
        fields["attribution"] = attribution_lines()
    page: type[serializers.Serializer[Any]] = extend_schema_serializer(many=False)(
        type(name, (serializers.Serializer,), {"__doc__": description, **fields})
    )
    return page
