"""Builders: rows and bodies that are right, but for what a test says of them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from accounts.models import Account, ApiKey, EventType, User, Venue, WebhookEndpoint
from accounts.models.api_keys import CreatedApiKey, all_scopes
from accounts.webhooks import endpoints, outbox
from orders import commands as orders_commands
from orders.models import Menu, MenuItem, ModifierGroup, Order
from reservations.booking import commands as booking_commands
from reservations.booking import holds
from reservations.models import Combination, Hold, Reservation, ServicePeriod, Table


def venue(name: str = "Osteria", *, timezone: str = "Europe/Rome", **fields: Any) -> Venue:
    """A venue of an account of its own."""
    return Venue.objects.create(account=Account.objects.create(name=name), name=name, timezone=timezone, **fields)


def client(venue: Venue, *, allowance: int = 1000, **options: Any) -> Client:
    """A caller with a key of the venue, used a moment ago; `options` are those of the test client."""
    return client_with(key(venue, allowance=allowance).text, **options)


def key(venue: Venue, **fields: Any) -> CreatedApiKey:
    """A key of the venue with all scopes, used a moment ago, so that the next call does not write that down."""
    issued = ApiKey.create(venue, **({"name": "test", "scopes": all_scopes()} | fields))
    issued.row.record_use(now=timezone.now(), address="127.0.0.1")
    return issued


def client_with(key: str, **options: Any) -> Client:
    """A caller who sends this key."""
    return Client(headers={"authorization": f"Bearer {key}"}, **options)


def staff() -> Client:
    """A superuser who has signed in to the back office."""
    client = Client()
    client.force_login(User.objects.create_superuser("staff@example.com"))
    return client


def messages_of(response: Any) -> list[str]:
    """What the back office said in this answer."""
    return [str(message) for message in get_messages(response.wsgi_request)]


def order_body(**changes: Any) -> dict[str, Any]:
    """What `POST /orders` needs and no more."""
    return {
        "customer_id": "cust_123",
        "items": [{"menu_item_id": "margherita", "quantity": 2}],
        "payment_method": "card",
    } | changes


def menu(venue: Venue, **prices: str) -> Menu:
    """A published menu of one category, with an item for each name at this price and 10 % tax."""
    menu = Menu.objects.create(venue=venue, is_published=True)
    menu.categories.create(name="Dishes")
    for ref, price in ({"margherita": "9.50"} | prices).items():
        dish(menu, ref, price)
    return menu


def dish(menu: Menu, ref: str, price: str = "9.50", **fields: Any) -> MenuItem:
    """One more item, in the menu's first category unless `category` is another."""
    return menu.items.create(
        **{"ref": ref, "name": ref.title(), "price": Decimal(price), "tax_percent": Decimal(10)}
        | {"category": menu.categories.earliest("position", "id")}
        | fields
    )


def modifier_group(menu: Menu, ref: str, prices: Mapping[str, str], *dishes: MenuItem, **fields: Any) -> ModifierGroup:
    """A group of the menu with a modifier for each name at this price, asked for these dishes."""
    group = menu.modifier_groups.create(**{"ref": ref, "name": ref.title()} | fields)
    for position, (name, price) in enumerate(prices.items()):
        group.modifiers.create(menu=menu, ref=name, name=name.title(), price_delta=Decimal(price), position=position)
    for dish in dishes:
        group.item_modifier_groups.create(menu=menu, item=dish, position=dish.item_modifier_groups.count())
    return group


def reservation_body(**changes: Any) -> dict[str, Any]:
    """What `POST /reservations` needs and no more, for a day in a month."""
    return {
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
        "date": (timezone.now() + timedelta(days=30)).date().isoformat(),
        "time": "19:30",
        "party_size": 4,
    } | changes


def order(
    venue: Venue,
    *,
    status: str = "pending",
    now: datetime | None = None,
    items: Sequence[Mapping[str, Any]] = ({"menu_item_id": "margherita", "quantity": 2},),
    **fields: Any,
) -> Order:
    """An order of the venue that has come to this status."""
    now = now or timezone.now()
    payload = orders_commands.place_order(
        venue, now=now, actor="system", items=items, **({"customer_id": "cust_123", "payment_method": "card"} | fields)
    )
    order = Order.objects.with_items().with_public_id(payload["id"]).get()
    order.venue = venue
    orders_commands.change_status(order, status, now=now, actor="system")
    return order


def reservation(
    venue: Venue,
    *,
    status: str = "pending",
    starts_at: datetime = datetime(2031, 5, 3, 17, 30, tzinfo=UTC),
    party_size: int = 4,
    **fields: Any,
) -> Reservation:
    """A reservation of the venue that has come to this status; like those of the staff it may be of the past."""
    now = timezone.now()
    at_venue = starts_at.astimezone(ZoneInfo(venue.timezone))
    reservation = Reservation(
        venue=venue,
        date=at_venue.date(),
        time=at_venue.time(),
        party_size=party_size,
        **({"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"} | fields),
    )
    booking_commands.create_by_staff(reservation, now=now, actor="system")
    booking_commands.set_status(reservation, status, now=now, actor="system")
    return reservation


def table(venue: Venue, name: str = "T1", *, seats_max: int = 4, **fields: Any) -> Table:
    """A table of the venue."""
    return Table.objects.create(venue=venue, name=name, seats_max=seats_max, **fields)


def combination(venue: Venue, *tables: Table, seats_min: int, seats_max: int, **fields: Any) -> Combination:
    """Tables of the venue that are pushed together."""
    name = fields.pop("name", "+".join(table.name for table in tables))
    made = Combination.objects.create(venue=venue, name=name, seats_min=seats_min, seats_max=seats_max, **fields)
    made.tables.set(tables)
    return made


def period(
    venue: Venue,
    name: str = "Dinner",
    *,
    first: str = "18:00",
    last: str = "22:00",
    weekdays: Sequence[int] = range(7),
    **fields: Any,
) -> ServicePeriod:
    """A service period of the venue, every day if nothing else is said."""
    return ServicePeriod.objects.create(
        venue=venue,
        name=name,
        weekdays=list(weekdays),
        first_seating=time.fromisoformat(first),
        last_seating=time.fromisoformat(last),
        **fields,
    )


def floor(venue: Venue, *, tables: int = 8) -> None:
    """Tables for four, open for dinner; none is added where there are some."""
    if not venue.tables.exists():
        for number in range(1, tables + 1):
            table(venue, f"T{number}")
        period(venue)


def hold(venue: Venue, **fields: Any) -> Hold:
    """A table that is held for ten minutes, in a month."""
    floor(venue)
    values: dict[str, Any] = {
        "owner": "test",
        "day": (timezone.now() + timedelta(days=30)).date(),
        "at": time(19, 30),
        "party_size": 4,
        "now": timezone.now(),
    }
    return holds.create(venue, **(values | fields))


def problems_of(response: Any) -> list[tuple[str, str]]:
    """Parameter and message of all that is wrong with a refused request; the first is the headline."""
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_request"
    found = [(problem["param"], problem["message"]) for problem in error["details"]]
    param, message = found[0]
    # The headline says which parameter it speaks of, where its words do not.
    assert (error["param"], error["message"]) in ((param, f"`{param}`: {message}"), (param, message))
    return found


def webhook(venue: Venue, **fields: Any) -> WebhookEndpoint:
    """A webhook endpoint of the venue, for all events, that was sent a test event."""
    endpoint, _secret = endpoints.create(venue, **({"url": "https://hooks.example.com/"} | fields))
    endpoints.send_test_event(endpoint, actor="system", now=timezone.now())
    return endpoint


def event(venue: Venue, *, times: int = 1, now: datetime | None = None) -> None:
    """Something happens at the venue."""
    for _ in range(times):
        outbox.record_event(
            venue,
            EventType.ORDER_CREATED,
            record={"id": "ord_1"},
            subject=None,
            actor="system",
            now=now or timezone.now(),
        )
