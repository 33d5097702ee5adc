"""The shapes of a reservation on the wire."""

from typing import Any

from rest_framework import serializers

from framework.api.fields import (
    ConstantField,
    DateField,
    EmailField,
    MetadataField,
    PhoneField,
    PublicIdField,
    StrictIntegerField,
    StrictSerializer,
    TextField,
    TimeField,
)
from reservations.models import Reservation


class NewReservation(StrictSerializer):
    """What is needed to reserve a table."""

    customer_name = TextField(min_length=1, max_length=200, help_text="Who is coming.")
    customer_email = EmailField(required=False, allow_null=True, help_text="This or the phone number is needed.")
    customer_phone = PhoneField(required=False, allow_null=True, help_text="International format with leading plus.")
    date = DateField(help_text="YYYY-MM-DD, by the venue's clock.")
    time = TimeField(help_text="24-hour HH:MM, by the venue's clock.")
    party_size = StrictIntegerField(min_value=1, max_value=500, help_text="Number of guests.")
    special_requests = TextField(
        max_length=2000, required=False, default="", allow_blank=True, lines=True, help_text="Free text."
    )
    metadata = MetadataField(required=False, help_text="Your own notes on the reservation.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for a way to reach the guest."""
        if not attrs.get("customer_email") and not attrs.get("customer_phone"):
            raise serializers.ValidationError({"customer_email": ["Enter an email address or a phone number."]})
        return attrs


class ReservationRecord(serializers.ModelSerializer[Reservation]):
    """A reservation. `date` and `time` are the venue's wall clock; moments are RFC 3339 in UTC."""

    id = PublicIdField("res")
    object = ConstantField("reservation")
    time = TimeField(read_only=True)
    metadata = MetadataField(read_only=True)

    class Meta:
        model = Reservation
        fields = [
            "id",
            "object",
            "code",
            "status",
            "pending_reason",
            "customer_name",
            "customer_email",
            "customer_phone",
            "date",
            "time",
            "party_size",
            "special_requests",
            "starts_at",
            "ends_at",
            "tables",
            "metadata",
            "version",
            "created_at",
            "updated_at",
            "cancelled_at",
        ]
        read_only_fields = fields
