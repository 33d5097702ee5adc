"""What a checkout session costs and what stands in its way, by the rules of the ordering page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.db.models import Q

from accounts.models import Venue
from catalogue.models import Listing
from catalogue.ucp import handlers
from catalogue.ucp.protocol import Message, NotPossible, error_message, not_found, warning_message
from catalogue.ucp.requests import CheckoutContent
from framework.api.error_handler import flatten_detail
from framework.api.pagination.schema import format_datetime
from framework.errors import ApiError, InvalidRequest, Problem
from framework.public_ids import decode
from orders import capacity
from orders.menu.selection import select
from orders.models import CheckoutSession, Fulfilment, Menu, MenuItem, Order, OrderSlot
from orders.models.menus import name_allergens
from orders.ordering_page import basket, links, online_orders
from orders.ordering_page.checkout import TIP_PERCENTS, list_fulfilments
from orders.ordering_page.hours import Hours, load_hours
from orders.pricing import convert_to_usdc, get_decimals, round_amount
from orders.serializers import NewContact

ASAP = "asap"
# Later times that are offered where the wanted one cannot be had.
MAX_ALTERNATIVES = 8
METHOD = "$.fulfillment.methods[0]"
TIME = f"{METHOD}.requested_fulfillment_time"
LINE = re.compile(r"items\[(\d+)\]\.?(.*)")
# Members of the buyer by the parameter of the API that they set.
BUYER = {"name": "first_name", "phone": "phone_number", "email": "email"}


def find_establishment(identifier: str) -> tuple[Venue, Menu]:
    """Return the venue of an establishment, and its menu; `identifier` is its id, or the slug of its restaurant.

    Two queries. Raises NotPossible for a venue that takes no orders of guests for pick-up.
    """
    rows = Venue.objects.select_related("account", "ordering_settings")
    key = decode("ven", identifier)
    listed = Listing.objects.filter(restaurant__slug=identifier, is_active=True).values("venue")
    venue = rows.filter(Q(pk=key) if key else Q(pk__in=listed)).first()
    settings = online_orders.find_settings(venue) if venue else None
    path = "$.food_establishment.id"
    if venue is None or settings is None:
        content = "No establishment with this id takes orders of agents."
        raise NotPossible([error_message("not_found", content, path=path, severity="unrecoverable")])
    menu = Menu.objects.filter(venue=venue, is_published=True).first()
    if menu is None or Fulfilment.PICKUP not in list_fulfilments(settings):
        content = "This establishment takes no orders for pick-up."
        message = error_message("location_closed", content, path=path, severity="unrecoverable")
        raise NotPossible([message], continue_url=links.page_url(venue))
    menu.venue = venue
    return venue, menu


def find_session(public_id: str, *, agent: str) -> CheckoutSession:
    """Return the session of an agent, with its venue. One query. Raises NotPossible."""
    session = CheckoutSession.objects.with_venue().with_public_id(public_id).filter(agent=agent).first()
    if session is None:
        raise not_found()
    return session


@dataclass(kw_only=True)
class Assessment:
    """A session without an order at this moment: its prices, its times, and the messages that it leads to.

    About ten queries; two for one that is over, which has no messages, and whose dishes may be on no menu any more.
    """

    session: CheckoutSession
    menu: Menu
    now: datetime
    messages: list[Message] = field(default_factory=list)

    @classmethod
    def of(cls, session: CheckoutSession, *, now: datetime) -> "Assessment":
        """Assess a session. Raises NotPossible if it is open and its venue takes no orders any more."""
        if session.is_over(now):
            menu = Menu.objects.filter(venue=session.venue, is_published=True).first() or Menu(venue=session.venue)
            menu.venue = session.venue
            return cls(session=session, menu=menu, now=now)
        venue, menu = find_establishment(session.venue.public_id)
        session.venue = venue
        assessment = cls(session=session, menu=menu, now=now)
        assessment.messages += assessment.list_messages()
        return assessment

    @property
    def venue(self) -> Venue:
        return self.session.venue

    @property
    def content(self) -> CheckoutContent:
        return cast(CheckoutContent, self.session.content)

    @cached_property
    def quote(self) -> basket.Quote:
        return basket.calculate_quote(self.menu, self.content["items"], fulfilment=Fulfilment.PICKUP)

    @property
    def order(self) -> Order:
        """The priced order, which is not stored, without the tip."""
        return self.quote.order

    @cached_property
    def hours(self) -> dict[str, Hours]:
        return load_hours(self.venue, now=self.now)

    @cached_property
    def times(self) -> tuple[datetime | None, list[datetime]]:
        """The earliest time, None if the order cannot be begun now, and the later ones."""
        soonest, later = basket.list_times(self.venue, self.quote, self.hours, now=self.now)
        return soonest[Fulfilment.PICKUP], later

    @cached_property
    def requested_at(self) -> datetime | None:
        text = self.content.get("requested_at")
        return datetime.fromisoformat(text) if text else None

    @property
    def is_pickup(self) -> bool:
        return self.content.get("type", Fulfilment.PICKUP) == Fulfilment.PICKUP

    @property
    def is_ready(self) -> bool:
        """Whether nothing stands in the way of an order."""
        return not any(message["type"] == "error" for message in self.messages)

    @cached_property
    def tip(self) -> Decimal:
        """The chosen tip in the currency of the venue; 0 without one."""
        tip = self.content.get("tip", {})
        currency = self.venue.currency
        if custom := tip.get("custom_amount"):
            return Decimal(custom).scaleb(-get_decimals(currency))
        percent = {name_tip(percent): percent for percent in TIP_PERCENTS}.get(tip.get("selected_option_id", ""), 0)
        return round_amount((self.order.total or Decimal(0)) * percent / 100, currency)

    @property
    def has_excessive_tip(self) -> bool:
        """Whether the tip is more than the order: nobody stands behind what an agent sends."""
        return self.tip > (self.order.total or Decimal(0))

    @property
    def total(self) -> Decimal | None:
        """The total with the tip; None if a dish has no price."""
        return None if self.order.total is None else self.order.total + self.tip

    @cached_property
    def usdc(self) -> Decimal | None:
        """The total in USDC; None where it cannot be paid so."""
        price = online_orders.find_usdc_price(self.venue.ordering_settings)
        return convert_to_usdc(self.total, price=price) if price is not None and self.total else None

    def list_messages(self) -> Iterator[Message]:
        yield from self.list_establishment_messages()
        yield from self.list_time_messages()
        at = self.requested_at or self.now
        try:
            label = handlers.choose_label(self.venue, None)
            select(self.venue, items=self.content["items"], payment_method=label, at=at)
        except InvalidRequest as refusal:
            yield from self.explain(refusal)
        yield from self.list_buyer_messages()
        selected = self.content.get("tip", {}).get("selected_option_id")
        if selected is not None and selected not in map(name_tip, TIP_PERCENTS):
            yield error_message("invalid_request", "There is no such tip.", path="$.tip.selected_option_id")
        if self.has_excessive_tip:
            yield error_message("invalid_request", "The tip is more than the order costs.", path="$.tip.custom_amount")
        yield from self.list_warnings()

    def list_establishment_messages(self) -> Iterator[Message]:
        settings = self.venue.ordering_settings
        try:
            online_orders.check_open(settings, Hours(), requested_at=None, now=self.now)
            online_orders.check_waiting(self.venue, settings, now=self.now)
        except ApiError as refusal:
            yield from self.explain(refusal)

    def list_time_messages(self) -> Iterator[Message]:
        if not self.is_pickup:
            content = "This establishment does not deliver. Choose pickup."
            yield error_message("address_undeliverable", content, path=METHOD)
        elif self.requested_at is None:
            at = self.now.astimezone(ZoneInfo(self.venue.timezone))
            is_for_dishes = self.hours[Fulfilment.PICKUP].is_open(self.now) and not self.quote.is_served(at)
            # A dish that is not served now has a message of its own.
            if self.times[0] is None and not is_for_dishes:
                content = "The order cannot be begun now."
                if self.times[1]:
                    content += f" The next time is {format_datetime(self.times[1][0])}: request it."
                yield error_message("location_closed", content, path="$.food_establishment")
        elif not self.can_be_had(self.requested_at):
            is_open = self.hours[Fulfilment.PICKUP].is_open(self.requested_at)
            code = "slot_unavailable" if is_open else "location_closed"
            yield error_message(code, "The order cannot be ready at this time. Choose one of the options.", path=TIME)

    def can_be_had(self, wanted: datetime) -> bool:
        """Whether the kitchen can have the order ready then, as orders.capacity promises it. At most one query."""
        terms = self.quote.terms
        if not self.now < wanted <= self.now + capacity.HORIZON or not self.hours[Fulfilment.PICKUP].is_open(wanted):
            return False
        if terms.prep_minutes is None:
            return True
        earliest = self.now + timedelta(minutes=self.quote.prep_minutes)
        if wanted < earliest.replace(second=0, microsecond=0):
            return False
        if terms.orders_per_slot is None:
            return True
        slot = OrderSlot.objects.filter(venue=self.venue, starts_at=capacity.floor_to_slot(wanted, terms)).first()
        return slot is None or slot.orders < terms.orders_per_slot

    def list_buyer_messages(self) -> Iterator[Message]:
        contact = self.contact
        for name in ("name", "phone"):
            if name not in contact:
                path = f"$.buyer.{BUYER[name]}"
                yield error_message("missing", "The establishment needs a name and a phone number.", path=path)
        shape = NewContact(data=contact)
        if not shape.is_valid():
            for problem in flatten_detail(shape.errors):
                path = f"$.buyer.{BUYER.get(problem.param or '', '')}".rstrip(".")
                yield error_message("invalid_request", problem.message, path=path)

    @property
    def contact(self) -> dict[str, str]:
        """Whom to call, as `POST /orders` takes it."""
        buyer = self.content.get("buyer", {})
        name = " ".join(filter(None, (buyer.get("first_name"), buyer.get("last_name")))).strip()
        found = {"name": name, "phone": buyer.get("phone_number"), "email": buyer.get("email")}
        return {key: value for key, value in found.items() if value}

    def list_warnings(self) -> Iterator[Message]:
        refs = [line.menu_item_id for line in self.order.items.all()]
        dishes = MenuItem.objects.filter(menu=self.menu, ref__in=refs).exclude(allergens=[])
        allergens = {dish.ref: name_allergens(dish.allergens) for dish in dishes}
        for number, ref in enumerate(refs):
            if ref in allergens:
                content = f"Contains: {allergens[ref]}"
                yield warning_message("allergens", content, path=f"$.line_items[{number}]", is_disclosure=True)
        if self.content.get("has_notes"):
            content = "There is no courier to read these notes. Notes for the kitchen belong to a dish."
            yield warning_message("notes_ignored", content, path=METHOD)

    def explain(self, refusal: ApiError) -> Iterator[Message]:
        """Yield messages that say why an order was refused."""
        match refusal:
            case online_orders.PagePaused():
                content = "The establishment takes no online orders at the moment."
                yield error_message("location_closed", content, path="$.food_establishment")
            case online_orders.TooManyWaiting():
                content = "Many orders wait in the kitchen. Try again in a few minutes."
                yield error_message("location_closed", content, path="$.food_establishment")
            case capacity.SlotUnavailable() | online_orders.OutsideOpeningHours():
                content = "The kitchen cannot take the order for this time. Choose another one."
                yield error_message("slot_unavailable", content, path=TIME)
            case online_orders.TooManyOrders():
                yield error_message("too_many_orders", refusal.message, path="$.buyer.phone_number")
            case _ if refusal.details:
                yield from map(self.describe_problem, refusal.details)
            case _:
                yield error_message("invalid_request", refusal.message)

    def describe_problem(self, problem: Problem) -> Message:
        """Return the message about a parameter of `POST /orders`."""
        param = problem.param or ""
        found = LINE.match(param)
        if found is None:
            paths = {"items": "$.line_items", capacity.PARAM: TIME, "payment_method": "$.payment", "tip": "$.tip"}
            code = "out_of_stock" if param == "items" else "invalid_request"
            for name, member in BUYER.items():
                paths[f"fulfilment.contact.{name}"] = f"$.buyer.{member}"
            return error_message(code, problem.message, path=paths.get(param))
        number, rest = int(found[1]), found[2]
        path = f"$.line_items[{number}]"
        if rest.startswith("menu_item_id"):
            item = self.quote.items.get(self.content["items"][number]["menu_item_id"])
            at = (self.requested_at or self.now).astimezone(ZoneInfo(self.venue.timezone))
            code = "out_of_stock" if item is not None and item.is_sold_out(at) else "item_unavailable"
            return error_message(code, problem.message, path=f"{path}.dish")
        if rest.startswith("quantity"):
            return error_message("out_of_stock", problem.message, path=f"{path}.quantity")
        if rest.startswith("modifiers"):
            return error_message("invalid_modification", problem.message, path=f"{path}.dish.modifications")
        return error_message("invalid_request", problem.message, path=f"{path}.dish.note")

    def list_options(self) -> tuple[list[dict[str, Any]], str | None]:
        """Return the options of the pick-up, and the id of the selected one; None if another one has to be chosen."""
        if self.venue.ordering_settings.is_paused(now=self.now):
            return [], None
        earliest, later = self.times
        if self.requested_at is None and earliest is not None:
            return [self.describe_option(ASAP, "As soon as possible", earliest)], ASAP
        if self.requested_at is not None and self.can_be_had(self.requested_at):
            option = self.describe_later(self.requested_at)
            return [option], option["id"]
        wanted = self.requested_at or self.now
        nearest = sorted(later, key=lambda at: abs(at - wanted))[:MAX_ALTERNATIVES]
        return [self.describe_later(at) for at in sorted(nearest)], None

    def describe_later(self, at: datetime) -> dict[str, Any]:
        local = at.astimezone(ZoneInfo(self.venue.timezone))
        return self.describe_option(format_datetime(at), f"{local:%A %H:%M}", at)

    def describe_option(self, key: str, title: str, at: datetime) -> dict[str, Any]:
        latest = at + timedelta(minutes=self.quote.terms.slot_minutes)
        return {
            "id": key,
            "title": title,
            "earliest_fulfillment_time": format_datetime(at),
            "latest_fulfillment_time": format_datetime(latest),
            "totals": [{"type": "total", "amount": 0}],
        }

    def record_shown(self) -> None:
        """Store what the agent is told now; the order costs that, or is not placed. No query if nothing changed."""
        shown = (self.order.total, self.usdc)
        if (self.session.shown_total, self.session.shown_usdc) != shown:
            self.session.shown_total, self.session.shown_usdc = shown
            self.session.save(update_fields=["shown_total", "shown_usdc"])

    def has_changed_price(self) -> bool:
        """Whether the order costs something else than the agent was told."""
        return (self.session.shown_total, self.session.shown_usdc) != (self.order.total, self.usdc)


def name_tip(percent: int) -> str:
    return f"tip_{percent}"


def list_tip_options() -> Sequence[dict[str, Any]]:
    return [{"id": name_tip(percent), "unit": "percentage", "amount": percent} for percent in TIP_PERCENTS]
