"""Availability of a restaurant's tables, and the tables that are booked there."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import Deposit, FlowRule
from catalogue.serializers.offers import FlowBookingRecord, NewFlowBooking
from catalogue.serializers.shared import SLUG, page_of
from framework.api.fields import ConstantField, DateField, StrictIntegerField, StrictSerializer, TextField, TimeField
from framework.public_ids import pattern
from reservations.booking.terms import describe_agreed, format_amount
from reservations.models import AgreedTerms
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


class AgreedTermsRecord(serializers.Serializer[Any]):
    """The cancellation terms that a booking was made on."""

    free_until = serializers.DateTimeField(help_text="The guest cancels free of charge until then.")
    text = serializers.SerializerMethodField(help_text="The terms in words, and what became of the deposit.")

    def get_text(self, agreed: AgreedTerms) -> str:
        return describe_agreed(agreed.reservation, agreed, now=timezone.now())


class DepositRecord(serializers.Serializer[Deposit]):
    """The deposit that was paid for a booking."""

    amount = serializers.SerializerMethodField(help_text="Decimal: 40.")
    currency = ConstantField("USDC")
    status = serializers.ChoiceField(
        choices=Deposit.Status.choices,
        help_text="`kept`: the guest has cancelled too late, or has not come.",
    )
    payment = serializers.RegexField(pattern("pay"), source="payment.public_id", help_text="The payment's id.")

    def get_amount(self, deposit: Deposit) -> str:
        return format_amount(deposit.amount_usdc)


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
    terms = serializers.CharField(
        source="slot.terms", allow_blank=True, allow_null=True, default=None, help_text="Of the offer."
    )
    cancellation = AgreedTermsRecord(
        source="reservation.agreed_terms",
        allow_null=True,
        default=None,
        help_text="Null if the venue states no terms.",
    )
    deposit = DepositRecord(allow_null=True, default=None, help_text="Null if none was paid.")


BookingPage = page_of(BookingRecord, name="BookingPage", description="A page of your bookings, the latest first.")
