"""Reservations in the API: the request body, the schema of a record, and records written from rows.

Records are written without DRF's serializer, which takes several times as long (docs/decisions/0064). A test compares
both.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.models import RecordCount, Venue
from framework.api.fields import (
    ConstantField,
    DateField,
    EmailField,
    MetadataField,
    PhoneField,
    PublicIdField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    TextField,
    TimeField,
)
from framework.api.pagination.list_cursors import ListCursors, Position
from framework.api.pagination.page_number import Page
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.public_ids import encode
from reservations.booking.slot_states import DayState, SlotReason, SlotState
from reservations.booking.venue_time import FIRST_DAY, LAST_DAY
from reservations.models import Hold, Reservation
from reservations.models.holds import DEFAULT_MINUTES, MAX_MINUTES
from reservations.models.holds import PREFIX as HOLD_PREFIX
from reservations.models.reservations import PREFIX

# The columns in the order of the record, which has `object` after `id`.
COLUMNS = (
    *("id", "code", "status", "pending_reason", "customer_name", "customer_email", "customer_phone", "date", "time"),
    *("party_size", "special_requests", "starts_at", "ends_at", "tables", "area", "arrival", "metadata", "version"),
    *("created_at", "updated_at", "cancelled_at"),
)
# Columns that are not columns of the table.
SELECTED = {
    "metadata": "metadata::text",
    "area": "(SELECT name FROM reservations_area WHERE reservations_area.id = area_id) AS area",
}
ORDER = "ORDER BY starts_at, id"
# A change is visible at most so long after its `updated_at`: a task is ended after two minutes.
COMMIT_LAG = timedelta(minutes=3)
# Tallies do not count by day; one day has few reservations.
COUNT = "SELECT count(*) FROM reservations_reservation {where}"
SELECT_COLUMNS = ", ".join(SELECTED.get(column, column) for column in COLUMNS)
SELECT = f"SELECT {SELECT_COLUMNS} FROM reservations_reservation {{where}} {ORDER}"  # noqa: S608  # of constants
BY_IDS = f"""
SELECT {SELECT_COLUMNS} FROM reservations_reservation
WHERE id = ANY(%(ids)s::uuid[]) ORDER BY array_position(%(ids)s::uuid[], id)
"""  # noqa: S608  # of constants
# Uses the index only, as orders.order_json does.
SELECT_IDS = f"SELECT id FROM reservations_reservation {{where}} {ORDER} LIMIT %(limit)s OFFSET %(offset)s"  # noqa: S608  # of constants


class AreaField(TextField):
    """The name of an area of the venue."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_length=1, max_length=100, **options)


class HoldIdField(TextField):
    """The id of a hold."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_length=1, max_length=40, **options)


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
    area = AreaField(required=False, allow_null=True, help_text="The area to sit in, such as Terrace; null for any.")
    hold_id = HoldIdField(
        required=False,
        allow_null=True,
        help_text="The hold whose tables it gets, for this date, time, party, and `area` if it is sent.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("customer_email") and not attrs.get("customer_phone"):
            raise serializers.ValidationError({"customer_email": ["Enter an email address or a phone number."]})
        return attrs


class ReservationRecord(serializers.ModelSerializer[Reservation]):
    """A reservation. `date` and `time` are the venue's wall clock; moments are RFC 3339 in UTC."""

    id = PublicIdField("res")
    object = ConstantField("reservation")
    time = TimeField(read_only=True)
    area = serializers.CharField(source="area.name", allow_null=True, read_only=True, help_text="The chosen area.")
    metadata = MetadataField(read_only=True)

    class Meta:
        model = Reservation
        fields = ["id", "object", *COLUMNS[1:]]
        read_only_fields = fields


class ReservationChanges(StrictSerializer):
    """What is to be changed; what is not sent stays as it is. All of it is changed, or nothing."""

    customer_name = TextField(min_length=1, max_length=200, required=False)
    customer_email = EmailField(required=False, allow_null=True, help_text="This or the phone number is needed.")
    customer_phone = PhoneField(required=False, allow_null=True, help_text="International format with leading plus.")
    date = DateField(required=False, help_text="YYYY-MM-DD, by the venue's clock.")
    time = TimeField(required=False, help_text="24-hour HH:MM, by the venue's clock.")
    party_size = StrictIntegerField(min_value=1, max_value=500, required=False)
    area = AreaField(required=False, allow_null=True, help_text="The area to sit in; null for any.")
    tables = StrictListField(
        child=TextField(min_length=1, max_length=20),
        max_length=20,
        required=False,
        help_text="These tables, whatever the service hours and the pacing; an empty list frees the tables.",
    )
    special_requests = TextField(max_length=2000, required=False, allow_blank=True, lines=True)
    metadata = MetadataField(required=False, help_text="Replaces all of it.")
    status = StrictChoiceField(choices=Reservation.Status.choices, required=False)
    arrival = StrictChoiceField(choices=Reservation.Arrival.choices, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"non_field_errors": ["Send at least one field to change."]})
        # Without `tables` the days are those of a booking.
        if "tables" in attrs and "date" in attrs and not FIRST_DAY <= attrs["date"] <= LAST_DAY:
            message = f"With `tables` this must be a day from {FIRST_DAY.year} to {LAST_DAY.year}."
            raise serializers.ValidationError({"date": [message]})
        return attrs


class NewHold(StrictSerializer):
    """What is needed to hold a table."""

    date = DateField(help_text="YYYY-MM-DD, by the venue's clock.")
    time = TimeField(help_text="24-hour HH:MM, by the venue's clock.")
    party_size = StrictIntegerField(min_value=1, max_value=500, help_text="Number of guests.")
    area = AreaField(required=False, allow_null=True, help_text="The area to sit in, such as Terrace; null for any.")
    minutes = StrictIntegerField(
        min_value=1,
        max_value=MAX_MINUTES,
        required=False,
        default=DEFAULT_MINUTES,
        help_text="How long the table is held.",
    )


class HoldRecord(serializers.ModelSerializer[Hold]):
    """A table that is held until `expires_at`."""

    id = PublicIdField(HOLD_PREFIX)
    object = ConstantField("hold")
    time = TimeField(read_only=True)
    area = serializers.CharField(source="area.name", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Hold
        fields = [
            *("id", "object", "date", "time", "party_size", "area", "tables", "starts_at", "ends_at"),
            *("created_at", "expires_at"),
        ]
        read_only_fields = fields


class DepositAskedRecord(serializers.Serializer[Any]):
    """A deposit of the whole party."""

    amount = serializers.CharField(help_text="Decimal: 40.")
    currency = serializers.CharField(help_text="USDC.")


class TermsRecord(serializers.Serializer[Any]):
    """The cancellation terms of a time, for this party."""

    cancel_free_until = serializers.DateTimeField(help_text="The guest cancels free of charge until then.")
    deposit = DepositAskedRecord(
        allow_null=True, help_text="What guests pay who book by the data API or MCP; null: nothing."
    )
    text = serializers.CharField(help_text="In words.")


class SlotRecord(serializers.Serializer[Any]):
    """A time at which guests are seated, and what a reservation gets then."""

    time = TimeField(read_only=True)
    starts_at = serializers.DateTimeField(source="slot.starts_at")
    ends_at = serializers.DateTimeField(help_text="When the party leaves.")
    state = serializers.ChoiceField(choices=[(state.value, state.name) for state in SlotState])
    reason = serializers.ChoiceField(
        choices=[(reason.value, reason.name) for reason in SlotReason],
        allow_null=True,
        help_text="Why it is not free.",
    )
    period = serializers.CharField(help_text="The service period: Lunch, Dinner.")
    terms = TermsRecord(allow_null=True, help_text="Null if the venue states none.")


class DayRecord(serializers.Serializer[Any]):
    """The times of a day that are still to come."""

    date = serializers.DateField(source="day")
    state = serializers.ChoiceField(
        choices=[(state.value, state.name) for state in DayState],
        help_text="The best state of its times, in this order. Without any, `closed`, or `on_request`: any time can be"
        " requested, and the staff answer.",
    )
    message = serializers.CharField(help_text="For people: why it is closed or full; else empty.")
    slots = SlotRecord(many=True, source="choices")


@extend_schema_serializer(many=False)
class AvailabilityRecord(serializers.Serializer[Any]):
    """The days that were asked for, up to the last one that the venue accepts."""

    party_size = serializers.IntegerField()
    area = serializers.CharField(allow_null=True)
    timezone = serializers.CharField(help_text="Of `date` and `time`.")
    areas = serializers.ListField(child=serializers.CharField(), help_text="The areas that can be chosen.")
    days = DayRecord(many=True)


def to_json(reservation: Reservation) -> dict[str, Any]:
    values = {column: getattr(reservation, column) for column in COLUMNS}
    values["area"] = reservation.area.name if reservation.area else None
    return _serialize(list(values.values()))


def cursors_of(venue: Venue, filters: Mapping[str, str]) -> ListCursors:
    """Return the cursors of the venue's list of reservations with these filters."""
    return ListCursors(
        name="reservations",
        owner=venue.pk,
        filters=filters,
        sort_key="starts_at",
        commit_lag=COMMIT_LAG,
        read_records=read_records,
    )


def list_page(
    venue: Venue,
    page: Page,
    *,
    status: str | None = None,
    day: date | None = None,
    updated_since: datetime | None = None,
) -> tuple[int, list[dict[str, Any]], Position | None]:
    """Return the number of the venue's matching reservations, and the records of one page, earliest first.

    The third value is the position of the last one, None if none comes after the page. Two queries, three for later
    pages, one for a page past the end.
    """
    where = "WHERE venue_id = %(venue)s"
    where += " AND status = %(status)s" if status else ""
    where += " AND date = %(day)s" if day else ""
    where += " AND updated_at >= %(updated_since)s" if updated_since else ""
    # One more shows whether others come after the page: one may be made after the count.
    params: dict[str, Any] = {"venue": venue.pk, "status": status, "day": day, "updated_since": updated_since}
    params |= {"limit": page.limit + 1, "offset": page.offset}
    if day or updated_since:
        ((total,),) = prepared_statements.fetch_all(COUNT.format(where=where), params)
    else:
        total = RecordCount.objects.get_total(venue, RecordCount.RecordType.RESERVATION, status=status)
    if page.offset >= total:
        return total, [], None
    if page.offset:
        ids = [pk for (pk,) in prepared_statements.fetch_all(SELECT_IDS.format(where=where), params)]
        rows = prepared_statements.fetch_all(SELECT.format(where="WHERE id = ANY(%(ids)s)"), {"ids": ids})
    else:
        rows = prepared_statements.fetch_all(f"{SELECT.format(where=where)} LIMIT %(limit)s", params)
    total, shown = max(total, page.offset + len(rows)), rows[: page.limit]
    last = dict(zip(COLUMNS, shown[-1], strict=True)) if len(rows) > page.limit else None
    return total, [_serialize(row) for row in shown], (last["starts_at"], last["id"]) if last else None


def read_records(ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the records of the reservations with these ids, in this order. One query."""
    return [_serialize(row) for row in prepared_statements.fetch_all(BY_IDS, {"ids": ids})]


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
