"""Tools for offers and their bookings."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers

from accounts import idempotency
from catalogue import responses
from catalogue.filters.offers import OfferParams
from catalogue.mcp.tools.search import MARKET, MARKET_WORDS, SHORT
from catalogue.offers import idempotent_booking
from catalogue.offers.idempotent_booking import RestaurantTime
from catalogue.serializers.offers import FlowBookingRecord, NewFlowBooking
from catalogue.serializers.shared import SLUG
from framework.api.error_handler import flatten_detail, invalid_request
from framework.api.fields import DateField, StrictIntegerField, TextField, TimeField
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp import schemas
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import Tool, ToolCall, Values, is_blank
from payments.interface import caller_name, caller_of

# Arguments that can be combined with `slug`; the others belong to a search.
SLUG_ARGUMENTS = ("slug", "date", "party_size", "limit", "cursor")
# The members of the restaurant of an offer in the schema.
PLACE_MEMBERS = ("slug", "name", "cuisine", "rating", "distance_m", "walking_minutes")
SLUG_SCHEMA: Schema = {"type": "string", "pattern": SLUG, "maxLength": 120}


class OfferSearch(OfferParams):
    """The arguments of list_offers: those of a search, or a restaurant with SLUG_ARGUMENTS."""

    slug = TextField(required=False, max_length=120, pattern=SLUG)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        excluded = [name for name in data if name not in SLUG_ARGUMENTS] if "slug" in data else []
        text = "does not go with `slug`: leave it out, or leave `slug` out and search around a place."
        errors = {name: [f"`{name}` {text}"] for name in excluded}
        rest = {name: data[name] for name in data if name not in errors}
        return _validate_with(errors, super().to_internal_value, rest)


def _validate_with(
    errors: Mapping[str, Any], validate: Callable[[Any], dict[str, Any]], data: Mapping[str, Any]
) -> dict[str, Any]:
    """Validate the data. Raises ValidationError with its errors and those that were found before."""
    try:
        values = validate(data)
    except serializers.ValidationError as error:
        raise serializers.ValidationError({**dict(error.detail), **errors}) from error  # type: ignore[arg-type]
    if errors:
        raise serializers.ValidationError(dict(errors))
    return values


def list_offers(call: ToolCall, values: Values) -> ToolResult:
    """Return a page of offers, of one restaurant or of a search."""
    slug = values.pop("slug", None)
    if slug is None:
        return ToolResult(responses.offers(values, now=call.now).body)
    return ToolResult(responses.restaurant_offers(slug, values, now=call.now).body)


def _offers_schema() -> Schema:
    """The schema of a page of offers. `restaurant` is a slug in a page of one restaurant, else an object."""
    only = {
        **SHORT,
        "FlowOfferAnswer": ("data", "pagination", "attribution"),
        "FlowOfferRecord": ("id", "restaurant", "date", "time", "percent", "party_size", "seats_left", "status"),
        "FlowPlaceRecord": PLACE_MEMBERS,
    }
    page = schemas.result_schema("FlowOfferAnswer", only=only)
    page["properties"]["data"]["items"]["properties"]["restaurant"]["type"] = ["string", "object"]
    return page


LIST_OFFERS = Tool(
    name="list_offers",
    title="Find offers",
    description=(
        "Finds discounts at a time of day that can be booked: of one restaurant by `slug`, or around a place, in a"
        " market or everywhere. Free; at most 50 on a page. The `id` of an offer is what book_table takes, and"
        " `seats_left` how many guests it still has room for."
    ),
    operation="search_offers",
    arguments={
        "slug": "Of this restaurant alone, also those that are sold out; goes with date, party_size, limit, cursor.",
        "near": "Around a place by name, as in search_restaurants.",
        "ll": "Or around a point: latitude,longitude.",
        "radius": "Metres around it; 1500 when left out.",
        "market": MARKET_WORDS,
        "date": "One day, on the restaurants' calendar; the next 14 days when left out.",
        "time": "From this time of the day on: 18:30.",
        "party_size": "Guests: offers that take so many.",
        "percent_min": "Lowest percentage.",
        "limit": "Offers on a page.",
        "cursor": "`next_cursor` of the page before, with the same arguments.",
    },
    defaults={"limit": 10},
    own_schemas={"slug": SLUG_SCHEMA, "market": MARKET},
    serializer=OfferSearch,
    output=_offers_schema,
    run=list_offers,
)


TIME_SLOT = ("slug", "date", "time")
# The members of a booking in the schema.
BOOKING_MEMBERS = (
    "id",
    "status",
    "restaurant",
    "date",
    "time",
    "party_size",
    "percent",
    "terms",
    "reservation_code",
    "manage_token",
    "manage_url",
)


# The same texts as in framework.mcp.tools.
EMPTY = "This is empty; leave it out or give it a value."
PARTY_SIZE_RANGE = "This must be a whole number from 1 to 500."


class BookingArguments(NewFlowBooking):
    """The arguments of book_table: an offer or a time slot, and the known data of the guest (the user may add it)."""

    id = TextField(required=False, max_length=40)
    slug = TextField(required=False, max_length=120, pattern=SLUG)
    date = DateField(required=False)
    time = TimeField(required=False)
    party_size = StrictIntegerField(
        min_value=1,
        max_value=500,
        error_messages=dict.fromkeys(("type", "min_value", "max_value"), PARTY_SIZE_RANGE),
    )
    customer_name = TextField(min_length=1, max_length=200, required=False)
    idempotency_key = TextField(
        required=False,
        pattern=idempotency.KEY_PATTERN,
        hint="This must be 1 to 255 visible ASCII characters.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        texts = [name for name, field in self.fields.items() if isinstance(field, TextField) and not field.allow_blank]
        empty = {name: [EMPTY] for name in texts if is_blank(data.get(name))}
        rest = {name: value for name, value in data.items() if name not in empty}
        return _validate_with({**empty, **_check_slot(rest)}, super().to_internal_value, rest)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # Unlike at REST, the contact may be missing: it is asked for.
        return attrs


def _check_slot(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Check that there is either an offer, or a restaurant, a day and a time."""
    given = [name for name in TIME_SLOT if name in data]
    if "id" in data and given:
        return {given[0]: ["This does not go with `offer_id`: leave one of them out."]}
    if "id" not in data and len(given) < len(TIME_SLOT):
        missing = "id" if not given else next(name for name in TIME_SLOT if name not in data)
        return {missing: ["Give `offer_id`, as list_offers has it, or `slug`, `date` and `time`."]}
    return {}


GUEST_FIELDS = tuple(NewFlowBooking().fields)
NAME, EMAIL, PHONE = "customer_name", "customer_email", "customer_phone"
# The elicitation. A form cannot say that either an address or a number is enough.
QUESTION_KEY = "guest"
QUESTION = "Who is coming? The restaurant needs a name, and an email address or a phone number."
FORM: Mapping[str, Schema] = {
    NAME: {"type": "string", "title": "Name", "minLength": 1, "maxLength": 200},
    EMAIL: {"type": "string", "title": "E-mail address", "format": "email"},
    PHONE: {"type": "string", "title": "Phone number", "description": "With the country's: +45 12 34 56 78"},
}


def book_table(call: ToolCall, values: Values) -> ToolResult:
    """Book a table, after asking the user for missing data of the guest."""
    slot = values["id"] if "id" in values else RestaurantTime(*(values[name] for name in TIME_SLOT))
    guest = {name: values[name] for name in GUEST_FIELDS if values.get(name) is not None}
    missing = {} if NAME in guest else {NAME: f"`{NAME}`"}
    if EMAIL not in guest and PHONE not in guest:
        missing[EMAIL] = f"`{EMAIL}` or `{PHONE}`"
    if missing:
        # A call with a state may be the repetition of one that booked the last seats.
        if call.elicitation.state is None:
            idempotent_booking.check_request(slot, party_size=values["party_size"], now=call.now)
        guest = _ask_for_guest(call, guest, missing=missing)
    wish = idempotent_booking.BookingRequest(at=slot, guest=_validate_guest(guest))
    # From here on the call counts against the limit of bookings (catalogue.mcp.middleware).
    call.request.has_tried = True  # type: ignore[attr-defined]
    booked = idempotent_booking.book_once(
        wish,
        key=values.get("idempotency_key"),
        caller=caller_name(call.request),
        address=caller_of(call.request).bucket,
        operation=f"tools/call {call.tool}",
        now=call.now,
    )
    return ToolResult(JSONRenderer().render(FlowBookingRecord(booked).data))


def _ask_for_guest(call: ToolCall, guest: Values, *, missing: Mapping[str, str]) -> Values:
    """The guest with the answers of the user.

    Raises InputRequired and ElicitationDeclined, and InvalidRequest if the client does not support forms.
    """
    if not call.elicitation.is_supported:
        arguments = " and ".join(missing.values())
        raise InvalidRequest(
            f"Nothing was booked: ask the guest, and call again with {arguments}.", param=next(iter(missing))
        )
    content = call.elicitation.ask(QUESTION_KEY, QUESTION, _guest_form(guest))
    # Clients may send empty strings for empty fields.
    completed = {**guest, **{name: content[name] for name in FORM if content.get(name) not in (None, "")}}
    try:
        _validate_guest(completed)
    except serializers.ValidationError as error:
        refusal = invalid_request(list(flatten_detail(error.detail)))
        typed = {name: value for name, value in content.items() if isinstance(value, str) and value}
        raise call.elicitation.input_required(
            QUESTION_KEY, f"{refusal.message} {QUESTION}", _guest_form({**guest, **typed})
        ) from error
    return completed


def _guest_form(defaults: Values) -> Schema:
    properties = {
        name: {**schema, "default": defaults[name]} if name in defaults else schema for name, schema in FORM.items()
    }
    return {"type": "object", "properties": properties, "required": [NAME]}


def _validate_guest(guest: Values) -> Values:
    """Validate the guest as REST does. Raises ValidationError."""
    form = NewFlowBooking(data=guest)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


BOOK_TABLE = Tool(
    name="book_table",
    title="Book a table",
    description=(
        "Books a table at an offer in the restaurant's own book: confirmed at once, or nothing is stored; free."
        " Needs the guest's name and an email address or phone number: ask for them, never invent them."
        " The same call again is the same booking; its `manage_token` is the guest's secret, by which it is cancelled."
    ),
    operation="book_offer",
    arguments={
        "offer_id": "`id` of an offer, as list_offers gives it.",
        "slug": "Or the restaurant, with `date` and `time`: books the highest discount that takes the party.",
        "date": "On the restaurant's calendar: 2026-11-21.",
        "time": "On the restaurant's clock: 19:30.",
        "party_size": "Guests.",
        NAME: "Who is coming.",
        EMAIL: "This or the phone number is needed.",
        PHONE: "International, with a leading plus.",
        "special_requests": "A wish, in the guest's words.",
        "idempotency_key": (
            "A text that nobody guesses, new for each booking, such as a UUID: sent again within 24 hours it books"
            " nothing more. A new one books one more table, also at the same time."
        ),
    },
    required=["party_size"],
    aliases={"offer_id": "id"},
    own_schemas={
        "slug": SLUG_SCHEMA,
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "pattern": TimeField().pattern},
        "idempotency_key": idempotency.SCHEMA,
    },
    serializer=BookingArguments,
    output=lambda: schemas.result_schema("FlowBookingRecord", only={"FlowBookingRecord": BOOKING_MEMBERS}),
    run=book_table,
    is_read_only=False,
)
