"""The orders of the demo, planned in memory and inserted at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Max

from accounts.demo.rows import (
    EVENT_COLUMNS,
    IS_DEMO,
    PROGRAM,
    STAFF,
    demo_id,
    event_row,
    insert,
    insert_objects,
    random_of,
)
from accounts.models import Event, EventType, Venue
from framework.data_files import read_toml
from framework.db.sql_files import read_sql
from orders.commands import set_lines, set_totals
from orders.demo.menu import CARD
from orders.models import MenuItem, Order, OrderNumber
from orders.order_json import serialize_order

DATA = read_toml(Path(__file__).with_name("orders.toml"))
HISTORY = DATA["history"]
PENDING, COMPLETED, CANCELLED = Order.Status.PENDING, Order.Status.COMPLETED, Order.Status.CANCELLED
# Random lines of an order, and portions of a dish: the more often a number is listed, the likelier it is.
LINE_COUNTS = (1, 2, 2, 2, 3, 3, 4)
QUANTITIES = (1, 1, 1, 2, 2)
NOTE_SHARE, DELIVERY_SHARE, PROGRAM_SHARE = 0.25, 0.4, 0.7
# Minutes until an order is completed.
PREPARATION_MIN = (12, 35)
# What the kitchen has done with pending orders of an age in minutes.
STAGES_BY_AGE_MIN = ((10, Order.Stage.READY), (3, Order.Stage.ACCEPTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When an order is placed and got `status`, or `stage` if it is pending; `name` is unique in the venue."""

    name: str
    placed_at: datetime
    status: Order.Status
    changed_at: datetime
    stage: Order.Stage = Order.Stage.RECEIVED


@dataclass(frozen=True, slots=True)
class Dishes:
    """What can be ordered: the items of the published menu, or without one the ids of the demo's, without prices."""

    choices: Mapping[str, MenuItem | None]
    baskets: Sequence[Sequence[str]]

    @classmethod
    def load(cls, venue: Venue) -> "Dishes":
        items = MenuItem.objects.filter(menu__venue=venue, menu__is_published=True, is_available=True).order_by("ref")
        choices: dict[str, MenuItem | None] = {item.ref: item for item in items}
        choices = choices or dict.fromkeys(ref for dishes in CARD.values() for ref in dishes)
        return cls(choices, [basket for basket in DATA["baskets"] if choices.keys() >= set(basket)])

    def choose(self, rng: Random) -> Sequence[str]:
        """The ids of the dishes of an order."""
        if self.baskets:
            return rng.choice(self.baskets)
        return rng.sample(sorted(self.choices), k=min(rng.choice(LINE_COUNTS), len(self.choices)))


def replace_orders(venue: Venue, *, now: datetime) -> int:
    """Remove the demo's orders that nobody has changed, add those of today and of the past; return their number.

    Call it in a transaction that has locked the venue. Orders that people have changed keep their place.
    """
    dishes = Dishes.load(venue)
    drafts = [(plan, build_order(venue, plan, dishes, rng)) for plan, rng in list_plans(venue, now=now)]
    days = {order.business_date for _, order in drafts}
    lock_numbers(venue, days)
    delete_orders(venue, is_changed_too=False)
    changed = set(Order.objects.of(venue).filter(IS_DEMO).values_list("pk", flat=True))
    drafts = [(plan, order) for plan, order in drafts if order.pk not in changed]
    assign_numbers(venue, [order for _, order in drafts])
    events = [event for plan, order in drafts for event in build_events(plan, order)]
    insert_objects([order for _, order in drafts])
    insert_objects([line for _, order in drafts for line in order.items.all()])
    insert(Event, EVENT_COLUMNS, events)
    update_numbers(venue)
    return len(drafts)


def remove_orders(venue: Venue) -> int:
    """Remove the demo's orders, also those that people have changed; return their number."""
    lock_numbers(venue, set())
    removed = delete_orders(venue, is_changed_too=True)
    update_numbers(venue)
    return removed


def list_plans(venue: Venue, *, now: datetime) -> Iterator[tuple[Plan, Random]]:
    """Yield the orders in the order of their times, each with the generator of its choices."""
    zone = ZoneInfo(venue.timezone)
    today = now.astimezone(zone).date()
    for back in range(HISTORY["days"], 0, -1):
        day = today - timedelta(days=back)
        rng = random_of(venue.pk, "orders", day)
        for plan in plan_past_day(rng, day, zone):
            yield plan, rng
    rng = random_of(venue.pk, "orders", today)
    for row in sorted(DATA["today"], key=lambda row: -row["age_min"]):
        age = timedelta(minutes=row["age_min"], seconds=rng.randrange(60))
        placed_at = now.replace(microsecond=0) - age
        ends = {COMPLETED: row.get("completed_after_min"), CANCELLED: row.get("cancelled_after_min")}
        status, after_min = next(((status, after) for status, after in ends.items() if after), (PENDING, 0))
        stage = next(
            (stage for minutes, stage in STAGES_BY_AGE_MIN if row["age_min"] >= minutes), Order.Stage.RECEIVED
        )
        # A stage is reached in half of the time that has passed.
        changed_at = placed_at + (timedelta(minutes=after_min) if after_min else age / 2)
        yield (
            Plan(name=f"order {placed_at}", placed_at=placed_at, status=status, changed_at=changed_at, stage=stage),
            rng,
        )


def plan_past_day(rng: Random, day: date, zone: ZoneInfo) -> list[Plan]:
    """The orders of a past day: more at dinner, and more on weekends."""
    plans = []
    for number in range(HISTORY["orders"][day.weekday()] + rng.randint(-HISTORY["spread"], HISTORY["spread"])):
        service = HISTORY["dinner" if rng.random() < HISTORY["dinner_share"] else "lunch"]
        opening = datetime.combine(day, service["from"], zone)
        placed_at = opening + timedelta(minutes=rng.randrange(service["minutes"]), seconds=rng.randrange(60))
        status = CANCELLED if rng.random() < HISTORY["cancelled_share"] else COMPLETED
        changed_at = placed_at + timedelta(minutes=rng.randint(*PREPARATION_MIN))
        name = f"order {day} {number}"
        plans.append(Plan(name=name, placed_at=placed_at, status=status, changed_at=changed_at))
    return sorted(plans, key=lambda plan: plan.placed_at)


def build_order(venue: Venue, plan: Plan, dishes: Dishes, rng: Random) -> Order:
    """Return an unsaved pending order with its lines, without a number."""
    chosen = dishes.choose(rng)
    items = [dishes.choices[ref] for ref in chosen]
    lines = [
        {
            "menu_item_id": ref,
            "quantity": rng.choice(QUANTITIES),
            "notes": rng.choice(DATA["notes"].get(ref, [""])) if rng.random() < NOTE_SHARE else "",
        }
        for ref in chosen
    ]
    order = Order(
        id=demo_id(venue.pk, plan.name, at=plan.placed_at),
        venue=venue,
        business_date=plan.placed_at.astimezone(ZoneInfo(venue.timezone)).date(),
        customer_id=rng.choice(DATA["customers"]),
        delivery_address=rng.choice(DATA["addresses"]) if rng.random() < DELIVERY_SHARE else None,
        payment_method=rng.choice(venue.payment_methods or DATA["payment_methods"]),
        currency=venue.currency,
        cancelled_because=rng.choice(DATA["reasons"]) if plan.status == CANCELLED else "",
        created_at=plan.placed_at,
        updated_at=plan.placed_at,
    )
    set_lines(order, lines, items)
    set_totals(order)
    return order


def build_events(plan: Plan, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the order's events, and give the order its final status."""
    build = partial(event_row, order.venue_id, subject=order.pk)
    actor = PROGRAM if random_of(order.venue_id, order.pk).random() < PROGRAM_SHARE else STAFF
    yield build(EventType.ORDER_CREATED, actor=actor, record=serialize_order(order), version=1, at=plan.placed_at)
    if plan.status == PENDING and plan.stage != Order.Stage.RECEIVED:
        order.kitchen_stage, order.version, order.updated_at = plan.stage, 2, plan.changed_at
        setattr(order, f"{plan.stage}_at", plan.changed_at)
        kind = EventType.ORDER_STAGE_CHANGED
        yield build(kind, actor=STAFF, record=serialize_order(order), version=2, at=plan.changed_at)
    if plan.status != PENDING:
        order.status, order.version, order.updated_at = plan.status, 2, plan.changed_at
        setattr(order, f"{plan.status}_at", plan.changed_at)
        kind = EventType(f"order.{plan.status}")
        yield build(kind, actor=STAFF, record=serialize_order(order), version=2, at=plan.changed_at)


def delete_orders(venue: Venue, *, is_changed_too: bool) -> int:
    values: dict[str, Any] = {"venue": venue.pk, "is_changed_too": is_changed_too}
    with connection.cursor() as cursor:
        cursor.execute(read_sql("orders", "delete_demo_orders"), values)
        ((deleted,),) = cursor.fetchall()
    return int(deleted)


def lock_numbers(venue: Venue, days: Iterable[date]) -> None:
    """Lock the number counters of the venue, also those of these days: other orders wait.

    As place_order does, before the counts of orders by status are changed.
    """
    missing = [OrderNumber(venue=venue, business_date=day, last=0) for day in sorted(days)]
    OrderNumber.objects.bulk_create(missing, ignore_conflicts=True)
    list(OrderNumber.objects.select_for_update().filter(venue=venue).order_by("business_date").values_list("pk"))


def assign_numbers(venue: Venue, orders: Sequence[Order]) -> None:
    """Give the orders, which are in the order of their times, the free numbers of their days from 1."""
    days = {order.business_date for order in orders}
    taken = set(Order.objects.of(venue).filter(business_date__in=days).values_list("business_date", "number"))
    last = dict.fromkeys(days, 0)
    for order in orders:
        day = order.business_date
        last[day] = next(number for number in count(last[day] + 1) if (day, number) not in taken)
        order.number = last[day]


def update_numbers(venue: Venue) -> None:
    """Set the counters of the venue to the highest numbers, and delete those of days without orders."""
    highest = dict(Order.objects.of(venue).values_list("business_date").annotate(Max("number")).order_by())
    counters = list(OrderNumber.objects.filter(venue=venue))
    for counter in counters:
        counter.last = highest.get(counter.business_date, 0)
    OrderNumber.objects.bulk_update([counter for counter in counters if counter.last], ["last"])
    OrderNumber.objects.filter(venue=venue, pk__in=[counter.pk for counter in counters if not counter.last]).delete()
