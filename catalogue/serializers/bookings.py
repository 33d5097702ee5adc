"""Availability of a restaurant's tables, and the tables that are booked there."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import FlowRule
from catalogue.serializers.offers import FlowBookingRecord, NewFlowBooking
from catalogue.serializers.shared import SLUG, page_of
from framework.api.fields import DateField, StrictIntegerField, StrictSerializer, TextField, TimeField
from framework.public_ids import pattern
from reservations.serializers import AreaField, AvailabilityRecord


@extend_schema_serializer(many=False)
class RestaurantAvailabilityRecord(AvailabilityRecord):
    """What a booking gets at each time: only a `free` time is booked."""

    restaurant = serializers.RegexField(SLUG, help_text="Its slug.")


class NewTableBooking(NewFlowBooking):
    """What is needed to book a free table."""

    date = DateField(help_text="YYYY-MM-DD, by the restaurant's clock.")
    time = TimeField(help_text="24-hour HH:MM, by the restaurant's clock.")
    party_size = StrictIntegerField(min_value=1, max_value=500, help_text="Number of guests.")
    area = AreaField(required=False, allow_null=True, help_text="The area to sit in, of `areas` of the availability.")


class BookingChanges(StrictSerializer):
    """What is to be changed; what is not sent stays as it is."""

    date = DateField(required=False, help_text="YYYY-MM-DD, by the restaurant's clock.")
    time = TimeField(required=False, help_text="24-hour HH:MM, by the restaurant's clock.")
    party_size = StrictIntegerField(min_value=1, max_value=500, required=False, help_text="Number of guests.")
    area = AreaField(required=False, allow_null=True, help_text="The area to sit in; null for any.")
    special_requests = TextField(max_length=2000, required=False, allow_blank=True, lines=True, help_text="Free text.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"non_field_errors": ["Send at least one field to change."]})
        return attrs


class BookingRecord(FlowBookingRecord):
    """A booked table. What an offer adds is null without one. Date and time are on the restaurant's clock."""

    offer = serializers.RegexField(pattern("fo"), source="slot.public_id", allow_null=True, default=None)
    restaurant = serializers.RegexField(SLUG, source="restaurant.slug", help_text="Its slug.")
    area = serializers.CharField(source="reservation.area.name", allow_null=True, default=None)
    special_requests = serializers.CharField(source="reservation.special_requests", allow_blank=True)
    percent = serializers.IntegerField(source="slot.percent", min_value=1, max_value=90, allow_null=True, default=None)
    applies_to = serializers.ChoiceField(
        choices=FlowRule.AppliesTo.values, source="slot.applies_to", allow_null=True, default=None
    )
    terms = serializers.CharField(source="slot.terms", allow_blank=True, allow_null=True, default=None)


BookingPage = page_of(BookingRecord, name="BookingPage", description="A page of your bookings, the latest first.")
