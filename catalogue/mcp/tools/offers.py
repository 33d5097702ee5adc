"""Tools for offers, and for the tables that are booked at them."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers

from accounts import idempotency
from catalogue import responses
from catalogue.filters.offers import OfferParams
from catalogue.mcp.tools.search import MARKET, MARKET_WORDS, SHORT
from catalogue.offers import idempotent_booking
from catalogue.offers.idempotent_booking import RestaurantTime
from catalogue.serializers import SLUG
from catalogue.serializers.offers import FlowBookingRecord, NewFlowBooking
from framework.api.error_handler import flatten_detail, invalid_request
from framework.api.fields import DateField, StrictIntegerField, TextField, TimeField
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp import schemas
from framework.mcp.responses import Result
from framework.mcp.schemas import Schema
from framework.mcp.tools import Call, Tool, Values, is_blank
from payments.identity.caller import caller_name, caller_of

# What goes with a restaurant; the others are of a search.
OF_RESTAURANT = ("slug", "date", "party_size", "limit", "cursor")
# Of the restaurant of an offer the schema tells what one chooses by.
CHOSEN_BY = ("slug", "name", "cuisine", "rating", "distance_m", "walking_minutes")
SLUG_SCHEMA: Schema = {"type": "string", "pattern": SLUG, "maxLength": 120}


class Sought(OfferParams):
    """What list_offers is told: the parameters of a search, or a restaurant and what goes with it."""

    slug = TextField(required=False, max_length=120, pattern=SLUG)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The values. What does not go with `slug` is not judged by itself."""
        strangers = [name for name in data if name not in OF_RESTAURANT] if "slug" in data else []
        words = "does not go with `slug`: leave it out, or leave `slug` out and search around a place."
        wrong = {name: [f"`{name}` {words}"] for name in strangers}
        return along(wrong, super().to_internal_value, {name: data[name] for name in data if name not in wrong})


def along(wrong: Mapping[str, Any], read: Callable[[Any], dict[str, Any]], told: Mapping[str, Any]) -> dict[str, Any]:
    """What is read of `told`. Raises ValidationError with what is wrong with that, and with what was so before."""
    try:
        values = read(told)
    except serializers.ValidationError as error:
        raise serializers.ValidationError({**dict(error.detail), **wrong}) from error  # type: ignore[arg-type]
    if wrong:
        raise serializers.ValidationError(dict(wrong))
    return values


def list_offers(call: Call, asked: Values) -> Result:
    """A page of offers, of one restaurant or of all."""
    slug = asked.pop("slug", None)
    if slug is None:
        return Result(responses.offers(asked, now=call.now).body)
    return Result(responses.restaurant_offers(slug, asked, now=call.now).body)


def offered() -> Schema:
    """The schema of a page of offers. In that of one restaurant each has its slug, and there was no place to find."""
    only = {
        **SHORT,
        "FlowOfferAnswer": ("data", "pagination", "attribution"),
        "FlowOfferRecord": ("id", "restaurant", "date", "time", "percent", "party_size", "seats_left", "status"),
        "FlowPlaceRecord": CHOSEN_BY,
    }
    page = schemas.result("FlowOfferAnswer", only=only)
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
    takes={
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
    presets={"limit": 10},
    beside={"slug": SLUG_SCHEMA, "market": MARKET},
    reads=Sought,
    gives=offered,
    run=list_offers,
)


MOMENT = ("slug", "date", "time")
# Of a booking the schema tells what a guest has to know.
BOOKED = (
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


# As all other tools word it.
EMPTY = "This is empty; leave it out or give it a value."
WHOLE = "This must be a whole number from 1 to 500."


class Wished(NewFlowBooking):
    """What book_table is told: an offer or a moment, and of the guest what is known. The person may add the rest."""

    id = TextField(required=False, max_length=40)
    slug = TextField(required=False, max_length=120, pattern=SLUG)
    date = DateField(required=False)
    time = TimeField(required=False)
    party_size = StrictIntegerField(
        min_value=1,
        max_value=500,
        error_messages=dict.fromkeys(("type", "min_value", "max_value"), WHOLE),
    )
    customer_name = TextField(min_length=1, max_length=200, required=False)
    idempotency_key = TextField(
        required=False,
        pattern=idempotency.KEY_PATTERN,
        hint="This must be 1 to 255 visible ASCII characters.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The values. All that is wrong is told at once."""
        texts = [name for name, field in self.fields.items() if isinstance(field, TextField) and not field.allow_blank]
        empty = {name: [EMPTY] for name in texts if is_blank(data.get(name))}
        told = {name: value for name, value in data.items() if name not in empty}
        return along({**empty, **unclear(told)}, super().to_internal_value, told)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The person may add how the guest is reached."""
        return attrs


def unclear(told: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is wrong with how the table is named: by an offer, or by a restaurant, a day and a time."""
    given = [name for name in MOMENT if name in told]
    if "id" in told and given:
        return {given[0]: ["This does not go with `offer_id`: leave one of them out."]}
    if "id" not in told and len(given) < len(MOMENT):
        missing = "id" if not given else next(name for name in MOMENT if name not in told)
        return {missing: ["Give `offer_id`, as list_offers has it, or `slug`, `date` and `time`."]}
    return {}


GUEST = tuple(NewFlowBooking().fields)
NAME, EMAIL, PHONE = "customer_name", "customer_email", "customer_phone"
# The question to the person, and its form; that an address or a number is enough a form cannot say.
ASKED = "guest"
WHO = "Who is coming? The restaurant needs a name, and an email address or a phone number."
FORM: Mapping[str, Schema] = {
    NAME: {"type": "string", "title": "Name", "minLength": 1, "maxLength": 200},
    EMAIL: {"type": "string", "title": "E-mail address", "format": "email"},
    PHONE: {"type": "string", "title": "Phone number", "description": "With the country's: +45 12 34 56 78"},
}


def book_table(call: Call, asked: Values) -> Result:
    """The booking."""
    at = asked["id"] if "id" in asked else RestaurantTime(*(asked[name] for name in MOMENT))
    told = {name: asked[name] for name in GUEST if asked.get(name) is not None}
    if lacking := lacks(told):
        # With a state the table may be booked already, and its last seats be this guest's.
        if call.asker.state is None:
            idempotent_booking.check_request(at, party_size=asked["party_size"], now=call.now)
        told = answered(call, told, lacking=lacking)
    wish = idempotent_booking.BookingRequest(at=at, guest=judged(told))
    # What comes to here counts as a try (catalogue.mcp.middleware).
    call.request.has_tried = True  # type: ignore[attr-defined]
    booked = idempotent_booking.book_once(
        wish,
        key=asked.get("idempotency_key"),
        caller=caller_name(call.request),
        address=caller_of(call.request).bucket,
        operation=f"tools/call {call.tool}",
        now=call.now,
    )
    return Result(JSONRenderer().render(FlowBookingRecord(booked).data))


def lacks(told: Values) -> dict[str, str]:
    """What is not known of the guest yet, with how it is asked for."""
    lacking = {} if NAME in told else {NAME: f"`{NAME}`"}
    return lacking if EMAIL in told or PHONE in told else {**lacking, EMAIL: f"`{EMAIL}` or `{PHONE}`"}


def answered(call: Call, told: Values, *, lacking: Mapping[str, str]) -> Values:
    """The guest with what the person behind the call has answered.

    Raises Asked and Declined, and InvalidRequest where the client shows no forms.
    """
    if not call.asker.can_ask:
        wanted = " and ".join(lacking.values())
        raise InvalidRequest(
            f"Nothing was booked: ask the guest, and call again with {wanted}.", param=next(iter(lacking))
        )
    content = call.asker.ask(ASKED, WHO, form_with(told))
    # What is left empty in a form may come as an empty text.
    guest = {**told, **{name: content[name] for name in FORM if content.get(name) not in (None, "")}}
    try:
        judged(guest)
    except serializers.ValidationError as error:
        wrong = invalid_request(list(flatten_detail(error.detail)))
        raise call.asker.again(ASKED, f"{wrong.message} {WHO}", form_with({**told, **texts(content)})) from error
    return guest


def texts(content: Mapping[str, Any]) -> Values:
    """What was typed."""
    return {name: value for name, value in content.items() if isinstance(value, str) and value}


def form_with(known: Values) -> Schema:
    """The form, in which stands what is known."""
    preset = {name: {"default": known[name]} if name in known else {} for name in FORM}
    properties = {name: {**schema, **preset[name]} for name, schema in FORM.items()}
    return {"type": "object", "properties": properties, "required": [NAME]}


def judged(told: Values) -> Values:
    """The guest as REST reads it. Raises ValidationError."""
    form = NewFlowBooking(data=told)
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
    takes={
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
    needs=["party_size"],
    known_as={"offer_id": "id"},
    beside={
        "slug": SLUG_SCHEMA,
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "pattern": TimeField().pattern},
        "idempotency_key": idempotency.SCHEMA,
    },
    reads=Wished,
    gives=lambda: schemas.result("FlowBookingRecord", only={"FlowBookingRecord": BOOKED}),
    run=book_table,
    is_read_only=False,
)
