"""Tools for offers and their bookings."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from rest_framework import serializers

from accounts import idempotency
from catalogue import responses
from catalogue.bookings import deposits
from catalogue.bookings.owners import owner_of
from catalogue.bookings.tables import PaidDeposit
from catalogue.filters.offers import OfferParams
from catalogue.mcp.paywall import paid_result, receipt_token
from catalogue.mcp.tools.declarations import SLUG_HINT, declare, result_schema
from catalogue.models import FlowBooking
from catalogue.offers import idempotent_booking
from catalogue.offers.idempotent_booking import Attempt, BookingRequest, RestaurantTime
from catalogue.serializers.bookings import BookingRecord
from catalogue.serializers.offers import NewFlowBooking
from catalogue.serializers.shared import SLUG
from framework import timezones
from framework.api.error_handler import flatten_detail, invalid_request
from framework.api.fields import DateField, StrictIntegerField, TextField, TimeField
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp import schemas
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import ToolCall, Values
from payments.interface import Purchase, caller_name, caller_of, parse_mcp_proof
from reservations.booking.terms import DepositRequired, Terms
from reservations.serializers import AreaField

# Arguments that can be combined with `slug`; the others belong to a search.
SLUG_ARGUMENTS = ("slug", "date", "party_size", "limit", "cursor")
# An empty page says how many offers there are without each of these.
FILTERS = ("party_size", "time", "date", "percent_min", "cuisine", "diet", "radius")
MAX_COUNTED = 50
# The members of a restaurant by which an agent chooses an offer; those of an offer that its restaurant has instead.
PLACE = (
    *("slug", "name", "neighborhood", "market", "city", "country", "cuisine", "rating", "review_count", "price_level"),
    *("phone", "distance_m", "walking_minutes", "timezone"),
)
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
    slug = values.pop("slug", None)
    read = responses.offers if slug is None else partial(responses.restaurant_offers, slug)
    page = _compact(orjson.loads(read(values, now=call.now).body))
    if not page["data"] and "cursor" not in values and (without := _without(values, read, now=call.now)):
        page["without"] = without
    return ToolResult(orjson.dumps(page))


def _compact(page: dict[str, Any]) -> dict[str, Any]:
    """A page of offers with each restaurant once, in a list of its own, and moments by the restaurant's clock.

    Ten offers of two restaurants take 40 % fewer tokens than at REST.
    """
    places: dict[str, dict[str, Any]] = {}
    for offer in page["data"]:
        place, zone = offer["restaurant"], offer.pop("timezone")
        if isinstance(place, dict):
            # A search finds only what can be booked.
            del offer["status"]
        else:
            place = {"slug": place}
        offer["restaurant"] = place["slug"]
        book_before = datetime.fromisoformat(offer["book_before"])
        offer["book_before"] = book_before.astimezone(timezones.zone(zone)).isoformat()
        place["timezone"] = zone
        places[place["slug"]] = {name: place[name] for name in PLACE if name in place}
    return {"data": page["data"], "restaurants": list(places.values()), **page}


def _without(
    values: Mapping[str, Any], read: Callable[..., responses.Content], *, now: datetime
) -> list[dict[str, Any]]:
    """How many offers there would be without each filter that emptied a page, as WithoutRecord; up to MAX_COUNTED.

    A search for each.
    """
    found = []
    for name in [name for name in FILTERS if name in values]:
        rest = {other: value for other, value in values.items() if other != name} | {"limit": MAX_COUNTED}
        page = orjson.loads(read(rest, now=now).body)
        if page["data"]:
            relation = "gte" if page["pagination"]["has_more"] else "eq"
            total = {"value": len(page["data"]), "relation": relation}
            found.append({"parameter": name, "value": None, "total": total})
    return found


def _offers_schema() -> Schema:
    """The schema of a page of offers. A page of one restaurant has no `query`, and says of it but slug and zone."""
    page, own = result_schema("list_offers"), schemas.result_schema("FlowSlotAnswer")
    found = page["properties"]["data"]["items"]["properties"]
    place = {**found["restaurant"]["properties"], "timezone": found["timezone"]}
    offers = own["properties"]["data"]
    del offers["items"]["properties"]["timezone"]
    page["properties"] = {
        "data": offers,
        "restaurants": {
            "type": "array",
            "items": {"type": "object", "properties": {name: place[name] for name in PLACE}},
        },
        **{name: schema for name, schema in page["properties"].items() if name != "data"},
        "without": schemas.result_schema("QueryRecord")["properties"]["without"],
    }
    page["required"] = ["data", "restaurants", *(name for name in page["required"] if name in own["required"][1:])]
    return page


LIST_OFFERS = declare(
    "list_offers", list_offers, serializer=OfferSearch, output=_offers_schema, own_schemas={"slug": SLUG_SCHEMA}
)

TIME_SLOT = ("slug", "date", "time")
# The same text as in framework.mcp.tools.
PARTY_SIZE_RANGE = "This must be a whole number from 1 to 500."


class BookingArguments(NewFlowBooking):
    """The arguments of book_table: an offer or a time slot, and the known data of the guest (the user may add it)."""

    id = TextField(required=False, max_length=40)
    slug = TextField(required=False, max_length=120, pattern=SLUG, hint=f"This must be {SLUG_HINT}")
    date = DateField(required=False)
    time = TimeField(required=False)
    party_size = StrictIntegerField(
        min_value=1,
        max_value=500,
        error_messages=dict.fromkeys(("type", "min_value", "max_value"), PARTY_SIZE_RANGE),
    )
    customer_name = TextField(min_length=1, max_length=200, required=False)
    area = AreaField(required=False)
    idempotency_key = TextField(
        required=False,
        pattern=idempotency.KEY_PATTERN,
        hint="This must be 1 to 255 visible ASCII characters.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        return _validate_with(_check_slot(data), super().to_internal_value, data)

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
WHO_IS_COMING = "Who is coming? The restaurant needs a name, and an email address or a phone number."
CONFIRM_GUEST = "Book it for this guest?"
FORM: Mapping[str, Schema] = {
    NAME: {"type": "string", "title": "Name", "minLength": 1, "maxLength": 200},
    EMAIL: {"type": "string", "title": "Email address", "format": "email"},
    PHONE: {"type": "string", "title": "Phone number", "description": "With the country's: +45 12 34 56 78"},
}


def book_table(call: ToolCall, values: Values) -> ToolResult:
    """Book a table. A user whose client shows forms confirms it, and adds missing data of the guest."""
    slot = values["id"] if "id" in values else RestaurantTime(*(values[name] for name in TIME_SLOT))
    guest = {name: values[name] for name in GUEST_FIELDS if values.get(name) is not None}
    missing = {} if NAME in guest else {NAME: f"`{NAME}`"}
    if EMAIL not in guest and PHONE not in guest:
        missing[EMAIL] = f"`{EMAIL}` or `{PHONE}`"
    if missing or call.elicitation.is_supported:
        # A repeated call asks nobody again.
        if not missing and (repeated := idempotent_booking.find_booked(_attempt(call, values, slot, guest))):
            return _booking_result(repeated)
        # A call with a state may be the repetition of one that booked the last seats.
        if call.elicitation.state is None:
            # The call counts as a request, as check_availability does (catalogue.mcp.middleware).
            call.request.has_looked = True  # type: ignore[attr-defined]
            idempotent_booking.check_request(
                slot, party_size=values["party_size"], area=values.get("area"), now=call.now
            )
        if not call.elicitation.is_supported:
            arguments = " and ".join(missing.values())
            raise InvalidRequest(
                f"Nothing was booked: ask the guest, and call again with {arguments}.", param=next(iter(missing))
            )
        table = idempotent_booking.describe_table(slot, party_size=values["party_size"], now=call.now)
        guest = _ask_for_guest(call, guest, question=f"{table} {WHO_IS_COMING if missing else CONFIRM_GUEST}")
    attempt = _attempt(call, values, slot, guest)

    def count_try() -> None:
        # The call counts against the limit of bookings (catalogue.mcp.middleware).
        call.request.has_tried = True  # type: ignore[attr-defined]

    book = partial(idempotent_booking.book_once, attempt, on_try=count_try, now=call.now)
    try:
        return _booking_result(book())
    except DepositRequired as required:
        paid = _pay_deposit(call, attempt, required.terms)
        booked = deposits.book_paid(paid, lambda paid: book(paid=paid))
        return paid_result(_booking_result(booked).body or b"", paid.receipt, at=call.now)


def _pay_deposit(call: ToolCall, attempt: Attempt, asked: Terms) -> PaidDeposit:
    """Take the deposit of the table that the attempt is for. Raises what deposits.pay raises."""
    when, guest = attempt.request.at, attempt.request.guest
    if not isinstance(when, RestaurantTime):
        raise TypeError("an offer takes no deposit")
    table = deposits.Table(
        slug=when.slug,
        day=when.day,
        at=when.at,
        party_size=guest["party_size"],
        customer_email=guest.get("customer_email"),
        customer_phone=guest.get("customer_phone"),
        area=attempt.request.area,
        additional_table=bool(guest.get("additional_table")),
    )
    presented = deposits.Presented(
        caller=caller_of(call.request),
        # The arguments may lack the guest, who is in the answer to the form.
        purchase=deposits.purchase_of(Purchase.for_tool_call(call.tool, call.arguments), attempt.request.digest.hex()),
        proof=parse_mcp_proof(call.meta),
        receipt_token=receipt_token(call),
    )
    return deposits.pay(table, asked, presented, now=call.now)


def _attempt(call: ToolCall, values: Values, slot: str | RestaurantTime, guest: Values) -> Attempt:
    """The attempt to book for this guest. Raises ValidationError."""
    return Attempt(
        request=BookingRequest(
            at=slot, guest=_validate_guest(guest), area=values.get("area"), owner=owner_of(call.request)
        ),
        key=values.get("idempotency_key"),
        caller=caller_name(call.request),
        address=caller_of(call.request).bucket,
        operation=f"tools/call {call.tool}",
        question=call.elicitation.question_id,
    )


def _booking_result(booked: FlowBooking) -> ToolResult:
    return ToolResult(JSONRenderer().render(BookingRecord(booked).data))


def _ask_for_guest(call: ToolCall, guest: Values, *, question: str) -> Values:
    """The guest with the answers of the user. Raises InputRequired and ElicitationDeclined."""
    content = call.elicitation.ask(QUESTION_KEY, question, _guest_form(guest))
    # Clients may send empty strings for empty fields.
    completed = {**guest, **{name: content[name] for name in FORM if content.get(name) not in (None, "")}}
    try:
        _validate_guest(completed)
    except serializers.ValidationError as error:
        refusal = invalid_request(list(flatten_detail(error.detail)))
        typed = {name: value for name, value in content.items() if isinstance(value, str) and value}
        raise call.elicitation.input_required(
            QUESTION_KEY, f"{refusal.message} {question}", _guest_form({**guest, **typed})
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


BOOK_TABLE = declare(
    "book_table",
    book_table,
    serializer=BookingArguments,
    own_schemas={
        "slug": SLUG_SCHEMA,
        "time": {"type": "string", "pattern": TimeField().pattern},
        "area": {"type": "string", "maxLength": 100},
        "idempotency_key": idempotency.SCHEMA,
    },
)
