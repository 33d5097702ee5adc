"""Offers, and the tables that are booked at them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import FlowRule
from catalogue.offers import Status
from catalogue.serializers.search import PlaceRecord
from catalogue.serializers.shared import COUNTRY, PHONE, SLUG, AttributionRecord, LocationRecord, page_of
from framework.api.fields import (
    EmailField,
    PhoneField,
    StrictBooleanField,
    StrictIntegerField,
    StrictSerializer,
    TextField,
    TimeField,
)
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from framework.public_ids import pattern
from reservations.models import Reservation
from reservations.self_service import links

# What the reservation of a booking can be: one that waits is never booked at an offer.
BOOKED = [Reservation.Status.CONFIRMED.value, Reservation.Status.CANCELLED.value]


class PartyRecord(serializers.Serializer[Any]):
    """How many guests a party may be, at least and at most."""

    min = serializers.IntegerField(min_value=1, source="party_min")
    max = serializers.IntegerField(min_value=1, source="party_max")


class FlowSlotRecord(serializers.Serializer[Any]):
    """A discount at one moment. Date and time are on the restaurant's clock."""

    id = serializers.RegexField(pattern("fo"))
    restaurant = serializers.RegexField(SLUG, help_text="Its slug.")
    date = serializers.DateField()
    time = TimeField()
    timezone = serializers.CharField(help_text="IANA name of the clock.")
    percent = serializers.IntegerField(min_value=1, max_value=90)
    applies_to = serializers.ChoiceField(choices=FlowRule.AppliesTo.values, help_text="`total` is with the drinks.")
    party_size = PartyRecord(source="*")
    seats_left = serializers.IntegerField(min_value=0, help_text="Guests that can still be booked.")
    book_before = DateTimeField(help_text="Until when it can be booked.")
    terms = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=Status.choices, help_text="Only what is `available` can be booked.")


FlowSlotAnswer = page_of(
    FlowSlotRecord, name="FlowSlotAnswer", description="A page of a restaurant's offers.", has_attribution=True
)


class FlowPlaceRecord(serializers.Serializer[Any]):
    """The restaurant of an offer, in short. What is not known is null, distances without a reference point, too."""

    slug = serializers.RegexField(SLUG, source="place.slug")
    name = serializers.CharField(source="place.name")
    neighborhood = serializers.CharField(allow_null=True, source="place.neighborhood")
    market = serializers.RegexField(SLUG, source="place.market")
    city = serializers.CharField(source="place.city", help_text="The name of the market.")
    country = serializers.RegexField(COUNTRY, source="place.country", help_text="ISO 3166-1.")
    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, source="place.rating")
    review_count = serializers.IntegerField(min_value=0, source="place.review_count")
    price_level = serializers.IntegerField(allow_null=True, min_value=1, max_value=4, source="place.price_level")
    cuisine = serializers.CharField(allow_null=True, source="place.cuisine")
    cuisines = serializers.ListField(child=serializers.RegexField(SLUG), source="place.cuisines")
    phone = serializers.RegexField(PHONE, allow_null=True, source="place.phone")
    location = LocationRecord(allow_null=True, source="place.location")
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="In a straight line.")
    walking_distance_m = serializers.IntegerField(
        allow_null=True, min_value=0, source="walk.distance_m", default=None, help_text="Estimated."
    )
    walking_minutes = serializers.IntegerField(allow_null=True, min_value=0, source="walk.minutes", default=None)


class FlowOfferRecord(FlowSlotRecord):
    """An offer that can be booked now, with its restaurant."""

    restaurant = FlowPlaceRecord(source="*")  # type: ignore[assignment]  # here it is more than its slug

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name, field in fields.items():
            if name != "restaurant":
                field.source = "offer" if field.source == "*" else f"offer.{name}"
        return fields


class FlowQueryRecord(serializers.Serializer[Any]):
    """What the parameters were taken to mean."""

    near = serializers.CharField(allow_null=True)
    resolved = PlaceRecord(allow_null=True)
    alternatives = PlaceRecord(many=True, help_text="What else `near` could have meant, likeliest first.")


class SourceLineRecord(AttributionRecord):
    """A source, its licence, and the line that is to be shown with it."""

    source = serializers.CharField(source="key")
    text = serializers.CharField(source="attribution")


@extend_schema_serializer(many=False)
class FlowOfferAnswer(serializers.Serializer[Any]):
    """A page of offers of all restaurants."""

    data = FlowOfferRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
    query = FlowQueryRecord(source="*")
    attribution = SourceLineRecord(many=True, help_text="Show these lines with the data.")


class NewFlowBooking(StrictSerializer):
    """What is needed to book a table at an offer."""

    party_size = StrictIntegerField(
        min_value=1, max_value=500, help_text="Number of guests, within the offer's `party_size`."
    )
    customer_name = TextField(min_length=1, max_length=200, help_text="Who is coming.")
    customer_email = EmailField(required=False, allow_null=True, help_text="This or the phone number is needed.")
    customer_phone = PhoneField(required=False, allow_null=True, help_text="International format with leading plus.")
    special_requests = TextField(
        max_length=2000, required=False, default="", allow_blank=True, lines=True, help_text="Free text."
    )
    additional_table = StrictBooleanField(
        required=False,
        default=False,
        help_text="True for one more table at a time at which this guest has one at this restaurant; else 409.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("customer_email") and not attrs.get("customer_phone"):
            raise serializers.ValidationError({"customer_email": ["Enter an email address or a phone number."]})
        return attrs


class ManageToken(serializers.CharField):
    """The token of a reservation's guest."""

    def to_representation(self, value: Any) -> str:
        return links.token_of(value)


class ManageUrl(serializers.URLField):
    """The page of a reservation's guest."""

    def to_representation(self, value: Any) -> str:
        return links.url_of(value)


class FlowBookingRecord(serializers.Serializer[Any]):
    """A table that was booked at an offer. Date and time are on the restaurant's clock."""

    # Date, time and party are those of the reservation, which may have been moved.
    id = serializers.RegexField(pattern("fb"), source="public_id")
    status = serializers.ChoiceField(choices=BOOKED, source="reservation.status")
    offer = serializers.RegexField(pattern("fo"), source="slot.public_id")
    restaurant = serializers.RegexField(SLUG, source="slot.restaurant.slug", help_text="Its slug.")
    date = serializers.DateField(source="reservation.date")
    time = TimeField(source="reservation.time")
    timezone = serializers.CharField(source="reservation.venue.timezone", help_text="IANA name of the clock.")
    party_size = serializers.IntegerField(source="reservation.party_size", min_value=1)
    percent = serializers.IntegerField(source="slot.percent", min_value=1, max_value=90)
    applies_to = serializers.ChoiceField(choices=FlowRule.AppliesTo.values, source="slot.applies_to")
    terms = serializers.CharField(source="slot.terms", allow_blank=True)
    customer_name = serializers.CharField(source="reservation.customer_name")
    manage_token = ManageToken(
        source="reservation", help_text="Send it as `X-Manage-Token` to see or cancel the booking."
    )
    manage_url = ManageUrl(source="reservation", help_text="The guest's own page, where it can be cancelled, too.")
    reservation_code = serializers.CharField(
        source="reservation.code", help_text="The code for the restaurant: K7QX2M."
    )
    created_at = DateTimeField()
    cancelled_at = DateTimeField(source="reservation.cancelled_at", allow_null=True)
