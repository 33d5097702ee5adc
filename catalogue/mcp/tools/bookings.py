"""Tools for free tables, and for the bookings that were made."""

from typing import Any

from catalogue.bookings import tables
from catalogue.bookings.owners import owners_of, require_owners
from catalogue.bookings.venues import check_availability as check_tables
from catalogue.filters.bookings import AvailabilityParams, BookingListParams
from catalogue.mcp.tools.declarations import declare
from catalogue.models import FlowBooking
from catalogue.offers.booking import cancel_booking as cancel
from catalogue.serializers.bookings import BookingChanges, BookingPage, BookingRecord, RestaurantAvailabilityRecord
from framework.api.fields import StrictSerializer, TextField
from framework.api.renderers import JSONRenderer
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import ToolCall, Values
from framework.public_ids import pattern

TOKEN_SCHEMA: Schema = {"type": "string", "maxLength": 200}


class BookingArguments(StrictSerializer):
    """The arguments that name a booking and prove that it is the caller's."""

    id = TextField(pattern=pattern("fb"), hint="This is no id of a booking, which begins with `fb_`.")
    manage_token = TextField(max_length=200, required=False)


class ChangeArguments(BookingArguments, BookingChanges):
    """The arguments of change_booking."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        super().validate({name: attrs[name] for name in attrs if name not in ("id", "manage_token")})
        return attrs


def check_availability(call: ToolCall, values: Values) -> ToolResult:
    record = RestaurantAvailabilityRecord(check_tables(values.pop("slug"), values, now=call.now)).data
    return ToolResult(JSONRenderer().render(record))


def _find(call: ToolCall, values: Values) -> FlowBooking:
    token = values.pop("manage_token", "")
    return tables.find_booking(values.pop("id"), token=token, owners=owners_of(call.request))


def _result(booked: FlowBooking) -> ToolResult:
    return ToolResult(JSONRenderer().render(BookingRecord(booked).data))


def get_booking(call: ToolCall, values: Values) -> ToolResult:
    return _result(_find(call, values))


def change_booking(call: ToolCall, values: Values) -> ToolResult:
    booking = _find(call, values)
    return _result(tables.reload(tables.change_booking(booking, values, now=call.now)))


def cancel_booking(call: ToolCall, values: Values) -> ToolResult:
    return _result(tables.reload(cancel(_find(call, values), now=call.now)))


def list_my_bookings(call: ToolCall, values: Values) -> ToolResult:
    owners = require_owners(call.request)
    return ToolResult(JSONRenderer().render(BookingPage(tables.list_bookings(owners, **values, now=call.now)).data))


BOOKING_SCHEMAS = {"manage_token": TOKEN_SCHEMA}
CHECK_AVAILABILITY = declare("check_availability", check_availability, serializer=AvailabilityParams)
GET_BOOKING = declare("get_booking", get_booking, serializer=BookingArguments, own_schemas=BOOKING_SCHEMAS)
CHANGE_BOOKING = declare("change_booking", change_booking, serializer=ChangeArguments, own_schemas=BOOKING_SCHEMAS)
CANCEL_BOOKING = declare("cancel_booking", cancel_booking, serializer=BookingArguments, own_schemas=BOOKING_SCHEMAS)
LIST_MY_BOOKINGS = declare("list_my_bookings", list_my_bookings, serializer=BookingListParams)
