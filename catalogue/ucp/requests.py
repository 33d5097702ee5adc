"""The bodies of requests, as far as we read them: members that are not ours are ignored, as the protocol asks.

`CheckoutContent` is what a session stores of them.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from rest_framework import serializers

from catalogue.ucp.protocol import NotPossible, error_message
from framework.api.error_handler import flatten_detail
from framework.api.fields import EmailField, PhoneField, TextField
from framework.api.pagination.schema import format_datetime
from framework.api.query_params.declarations import DateTimeParam
from orders.menu.modifiers import nest, read_groups
from orders.models import Menu
from orders.ordering_page.basket import MAX_LINES, MAX_QUANTITY, BasketShape

MAX_PROBLEMS = 20
# In minor units.
MAX_TIP = 10**8
# Times outside are in no calendar in some time zones.
FIRST_TIME = datetime.min.replace(tzinfo=UTC) + timedelta(days=366)
LAST_TIME = datetime.max.replace(tzinfo=UTC) - timedelta(days=366)
# Written as `POST /orders` stores them, by which a guest is found again.
CONTACTS: Mapping[str, TextField] = {"phone_number": PhoneField(), "email": EmailField()}
Id = Annotated[str, Field(min_length=1, max_length=255)]
Text = Annotated[str, Field(max_length=500)]


class Body(BaseModel):
    """A part of a body."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Modification(Body):
    id: Id
    quantity: Annotated[int, Field(ge=1)] = 1


class Dish(Body):
    id: Id
    modifications: Annotated[list[Modification], Field(max_length=100)] = []
    note: Text = ""


class LineItem(Body):
    dish: Dish
    quantity: Annotated[int, Field(ge=1, le=MAX_QUANTITY)]


class Buyer(Body):
    first_name: Annotated[str, Field(max_length=100)] | None = None
    last_name: Annotated[str, Field(max_length=98)] | None = None
    email: Annotated[str, Field(max_length=254)] | None = None
    phone_number: Annotated[str, Field(max_length=40)] | None = None


class Method(Body):
    type: Literal["pickup", "delivery"] = "pickup"
    requested_fulfillment_time: datetime | None = None
    selected_option_id: Id | None = None
    notes: Text | None = None

    @field_validator("requested_fulfillment_time", mode="before")
    @classmethod
    def parse_time(cls, value: Any) -> Any:
        """Parse RFC 3339, and nothing else that pydantic takes for a moment."""
        if value is None:
            return None
        try:
            return read_time(value)
        except serializers.ValidationError as error:
            raise ValueError(str(error.detail[0])) from error  # type: ignore[index]


class Fulfillment(Body):
    methods: Annotated[list[Method], Field(max_length=1)] = []


class Tip(Body):
    selected_option_id: Id | None = None
    custom_amount: Annotated[int, Field(ge=0, le=MAX_TIP)] | None = None

    @model_validator(mode="after")
    def check_one(self) -> Self:
        if self.selected_option_id is not None and self.custom_amount is not None:
            raise ValueError("Send `selected_option_id` or `custom_amount`.")
        return self


class Establishment(Body):
    id: Id


class CheckoutRequest(Body):
    """The body of create and update."""

    food_establishment: Establishment | None = None
    line_items: Annotated[list[LineItem], Field(min_length=1, max_length=MAX_LINES)]
    buyer: Buyer | None = None
    fulfillment: Fulfillment | None = None
    tip: Tip | None = None


class Instrument(Body):
    id: Id
    handler_id: Id
    type: Id
    selected: bool | None = None
    credential: dict[str, Any] | None = None


class PaymentBody(Body):
    instruments: Annotated[list[Instrument], Field(min_length=1, max_length=10)]


class CompleteRequest(Body):
    """The body of complete."""

    payment: PaymentBody

    @property
    def instrument(self) -> Instrument | None:
        """The instrument that pays: the selected one, or the only one; None if that is not clear."""
        chosen = [each for each in self.payment.instruments if each.selected] or self.payment.instruments
        return chosen[0] if len(chosen) == 1 else None


class CheckoutContent(TypedDict, total=False):
    """What a session stores: the lines as `POST /orders` takes them, and the rest as it was sent.

    `requested_at` is the wanted time in RFC 3339, or None for as soon as possible; `asked_at` is the one that was sent
    as requested. `has_notes`: there are notes for the courier.
    """

    items: list[dict[str, Any]]
    buyer: dict[str, str]
    type: str
    asked_at: str | None
    requested_at: str | None
    has_notes: bool
    tip: dict[str, Any]
    instrument: dict[str, str]


def read_time(text: Any) -> datetime:
    """Parse RFC 3339. Raises ValidationError."""
    time: datetime = DateTimeParam().run_validation(text)
    if not FIRST_TIME <= time <= LAST_TIME:
        raise serializers.ValidationError("This moment is too far away.")
    return time


def parse(kind: type[Body], body: Mapping[str, Any]) -> Any:
    """Return the parsed body. Raises NotPossible, with a message for each problem and the status 400."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]
        raise invalid([(to_path(problem["loc"]), problem["msg"]) for problem in problems]) from error


def invalid(problems: Sequence[tuple[str, str]]) -> NotPossible:
    """Return the error for a body that cannot be read: a path and a text for each problem."""
    messages = [
        error_message("invalid_request", f"{path}: {text}", path=path, severity="unrecoverable")
        for path, text in problems
    ]
    return NotPossible(messages, status=400)


def to_path(location: Sequence[int | str]) -> str:
    """Return the JSONPath of a position in a body."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def read_lines(menu: Menu, lines: Sequence[LineItem]) -> list[dict[str, Any]]:
    """Return the lines as `POST /orders` takes them. One query. Raises NotPossible."""
    several = [
        f"$.line_items[{number}].dish.modifications[{nth}].quantity"
        for number, line in enumerate(lines)
        for nth, modification in enumerate(line.dish.modifications)
        if modification.quantity > 1
    ]
    if several:
        raise invalid([(path, "Each modification can be chosen once.") for path in several])
    groups = read_groups(menu.pk, sorted({line.dish.id for line in lines}))
    items = []
    for line in lines:
        item: dict[str, Any] = {"menu_item_id": line.dish.id, "quantity": line.quantity, "notes": line.dish.note}
        # Left out, the defaults of what must be chosen.
        if line.dish.modifications:
            item["modifiers"] = nest(groups, line.dish.id, [each.id for each in line.dish.modifications])
        items.append(item)
    shape = BasketShape(data={"items": items})
    if not shape.is_valid():
        found = [(problem.param or "", problem.message) for problem in flatten_detail(shape.errors)]
        raise invalid([(f"$.{param.replace('items', 'line_items', 1)}", text) for param, text in found][:MAX_PROBLEMS])
    return [dict(item) for item in shape.validated_data["items"]]


def merge(content: CheckoutContent, request: CheckoutRequest, *, items: list[dict[str, Any]]) -> CheckoutContent:
    """Return the content after a request: members that it leaves out stay as they are."""
    merged: CheckoutContent = {**content, "items": items}
    if request.buyer is not None:
        given = request.buyer.model_dump().items()
        buyer = {name: normalize_contact(name, value.strip()) for name, value in given if value}
        merged["buyer"] = {name: value for name, value in buyer.items() if value}
    if request.tip is not None:
        merged["tip"] = {name: value for name, value in request.tip.model_dump().items() if value is not None}
    if request.fulfillment is not None:
        method = request.fulfillment.methods[0] if request.fulfillment.methods else Method()
        merged["type"] = method.type
        merged["has_notes"] = bool(method.notes)
        asked = method.requested_fulfillment_time
        merged["asked_at"] = format_datetime(asked) if asked else None
        merged["requested_at"] = choose_time(content, merged["asked_at"], method.selected_option_id)
    return merged


def normalize_contact(name: str, value: str) -> str:
    """Return a member of the buyer as `POST /orders` stores it; one that it refuses as it is."""
    try:
        return str(CONTACTS[name].run_validation(value)) if name in CONTACTS else value
    except serializers.ValidationError:
        return value


def choose_time(content: CheckoutContent, asked: str | None, selected: str | None) -> str | None:
    """Return the time that is wanted: the selected option, unless only the requested time has changed.

    Platforms repeat the whole state, so an option of an earlier answer stands beside a new requested time.
    """
    has_changed = asked != content.get("asked_at")
    if selected is None or (has_changed and selected == content.get("requested_at")):
        return asked
    try:
        return format_datetime(read_time(selected))
    except serializers.ValidationError:
        # As soon as possible, or no option of ours.
        return asked
