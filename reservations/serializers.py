"""Reservations in the API: the request body, the schema of a record, and records written from rows.

Records are written without DRF's serializer, which takes several times as long (docs/decisions/0064). A test compares
both.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

import orjson
from rest_framework import serializers

from accounts.models import RecordCount, Venue
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
from framework.api.pagination.page_number import Page
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.public_ids import encode
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# The columns in the order of the record, which has `object` after `id`.
COLUMNS = (
    *("id", "code", "status", "pending_reason", "customer_name", "customer_email", "customer_phone", "date", "time"),
    *("party_size", "special_requests", "starts_at", "ends_at", "tables", "metadata", "version"),
    *("created_at", "updated_at", "cancelled_at"),
)
ORDER = "ORDER BY starts_at, id"
# Tallies do not count by day; one day has few reservations.
COUNT = "SELECT count(*) FROM reservations_reservation {where}"
SELECT_COLUMNS = ", ".join(COLUMNS).replace("metadata", "metadata::text")
SELECT = f"SELECT {SELECT_COLUMNS} FROM reservations_reservation {{where}} {ORDER}"  # noqa: S608  # of constants
# Uses the index only, as orders.order_json does.
SELECT_IDS = f"SELECT id FROM reservations_reservation {{where}} {ORDER} LIMIT %(limit)s OFFSET %(offset)s"  # noqa: S608  # of constants


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
        fields = ["id", "object", *COLUMNS[1:]]
        read_only_fields = fields


def to_json(reservation: Reservation) -> dict[str, Any]:
    return _serialize([getattr(reservation, column) for column in COLUMNS])


def list_page(
    venue: Venue, page: Page, *, status: str | None = None, day: date | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of the venue's matching reservations and the records of one page, earliest first.

    Two queries, three for later pages, one for a page past the end.
    """
    where = "WHERE venue_id = %(venue)s"
    where += " AND status = %(status)s" if status else ""
    where += " AND date = %(day)s" if day else ""
    params = {"venue": venue.pk, "status": status, "day": day, "limit": page.limit, "offset": page.offset}
    if day:
        ((total,),) = prepared_statements.fetch_all(COUNT.format(where=where), params)
    else:
        total = RecordCount.objects.get_total(venue, RecordCount.RecordType.RESERVATION, status=status)
    if page.offset >= total:
        return total, []
    if page.offset:
        ids = [pk for (pk,) in prepared_statements.fetch_all(SELECT_IDS.format(where=where), params)]
        rows = prepared_statements.fetch_all(SELECT.format(where="WHERE id = ANY(%(ids)s)"), {"ids": ids})
    else:
        rows = prepared_statements.fetch_all(f"{SELECT.format(where=where)} LIMIT %(limit)s", params)
    return total, [_serialize(row) for row in rows]


def _serialize(row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip(COLUMNS, row, strict=True))
    values["id"] = encode(PREFIX, values["id"])
    values["date"] = values["date"].isoformat()
    values["time"] = values["time"].isoformat("minutes")
    values["tables"] = list(values["tables"])
    if isinstance(values["metadata"], str):
        values["metadata"] = orjson.loads(values["metadata"])
    for column in ("starts_at", "ends_at", "created_at", "updated_at", "cancelled_at"):
        values[column] = values[column] and format_datetime(values[column])
    return {"id": values["id"], "object": "reservation", **values}
