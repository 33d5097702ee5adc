"""Sales reports of a venue: its orders by day, hour, weekday and dish.

Only completed orders are sales. An order counts on its business date and in the hour in which it was placed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Aggregate, Count, F, Func, IntegerField, Min, Q, Sum, Window
from django.db.models.functions import Coalesce, ExtractHour

from accounts.models import Venue
from framework.db.sql_files import read_sql
from orders.models import Order, Orders
from orders.models.orders import TOTAL_WITHOUT_TIP

# The amounts of a report by name: expressions of Order. What is added here is on the page and in the files.
AMOUNTS = {"total": TOTAL_WITHOUT_TIP, "net": F("subtotal"), "tax": F("tax"), "tips": F("tip")}
DISHES = read_sql("orders", "sum_dishes")
ALL_RANKS = 2**31 - 1
MAX_CHANNELS = 10


class SumOfGroups(Func):
    """The sum of an aggregate over all groups, for a window: Django's own Sum takes no aggregate."""

    function = "SUM"
    output_field = IntegerField()
    window_compatible = True


@dataclass(frozen=True, slots=True)
class Period:
    """Business dates from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]

    @property
    def previous(self) -> "Period":
        """The period of the same length that ends on the day before."""
        last = self.first - timedelta(days=1)
        return Period(last - (self.last - self.first), last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums of orders. `orders` are the completed ones, of which `priced` have amounts in the venue's currency."""

    orders: int = 0
    priced: int = 0
    cancelled: int = 0
    pending: int = 0
    amounts: Mapping[str, Decimal] = field(default_factory=lambda: dict.fromkeys(AMOUNTS, Decimal(0)))

    @property
    def placed(self) -> int:
        return self.orders + self.cancelled + self.pending

    @property
    def total(self) -> Decimal:
        return self.amounts["total"]

    @property
    def unpriced(self) -> int:
        return self.orders - self.priced

    @property
    def sales(self) -> Decimal | None:
        """The total of the completed orders; None if all of them are without amounts."""
        return None if self.orders and not self.priced else self.total

    @property
    def average(self) -> Decimal | None:
        """The average total of the priced orders; None if there are none."""
        return self.total / self.priced if self.priced else None

    @property
    def cancelled_percent(self) -> Decimal:
        """The share of the placed orders that was cancelled, 0 if there are none."""
        return Decimal(100 * self.cancelled) / max(self.placed, 1)


@dataclass(frozen=True, slots=True)
class Dish:
    """A sold dish. `amount` is None if no order with it has prices; the ranks start at 1."""

    name: str
    menu_item_id: str
    quantity: int
    amount: Decimal | None
    by_quantity: int
    by_amount: int


def get_first_date(venue: Venue) -> date | None:
    """Return the business date of the venue's first order; None without orders. One query, by index."""
    first: date | None = Order.objects.of(venue).aggregate(first=Min("business_date"))["first"]
    return first


def sum_by_day(venue: Venue, period: Period) -> dict[date, Sums]:
    """Return the sums of each day of the period. One query."""
    found = _sum_by("business_date", venue, _orders_of(venue, period))
    return {day: found.get(day, Sums()) for day in period.days}


def sum_by_hour(venue: Venue, period: Period) -> dict[int, Sums]:
    """Return the sums of the 24 hours of the venue's clock. One query."""
    hour = ExtractHour("created_at", tzinfo=ZoneInfo(venue.timezone))
    found = _sum_by("hour", venue, _orders_of(venue, period).annotate(hour=hour))
    return {hour: found.get(hour, Sums()) for hour in range(24)}


def sum_by_weekday(days: Mapping[date, Sums]) -> dict[int, tuple[Sums, int]]:
    """Return the sums of each weekday that is among the days, from Monday (0), and how many of it there are."""
    weekdays: dict[int, list[Sums]] = {}
    for day, sums in days.items():
        weekdays.setdefault(day.weekday(), []).append(sums)
    return {weekday: (add(parts), len(parts)) for weekday, parts in sorted(weekdays.items())}


def list_dishes(venue: Venue, period: Period, *, ranks: int = ALL_RANKS) -> Iterator[Dish]:
    """Return the dishes among the first `ranks` by quantity or by amount, in the order of quantities. One query.

    The database has answered when this returns, so that a file does not fail after its beginning.
    """
    cursor = connection.cursor()
    values: dict[str, Any] = {"venue": venue.pk, "currency": venue.currency, "ranks": ranks}
    cursor.execute(DISHES, values | {"first": period.first, "last": period.last})
    return (Dish(*row) for row in cursor)


def count_channels(venue: Venue, period: Period) -> list[tuple[str, int, int]]:
    """Return name, number and rounded percentage of the completed orders of each channel, most first. One query.

    A channel is a free label of integrations: the first ten are returned. The name is empty for orders without one.
    """
    orders = _orders_of(venue, period).filter(status=Order.Status.COMPLETED)
    counted: Any = orders.values("channel").annotate(count=Count("pk"), total=Window(SumOfGroups(Count("pk"))))
    rows = counted.order_by("-count", "channel")[:MAX_CHANNELS]
    return [(row["channel"] or "", row["count"], round(100 * row["count"] / row["total"])) for row in rows]


def add(parts: Iterable[Sums]) -> Sums:
    parts = list(parts)
    return Sums(
        orders=sum(each.orders for each in parts),
        priced=sum(each.priced for each in parts),
        cancelled=sum(each.cancelled for each in parts),
        pending=sum(each.pending for each in parts),
        amounts={name: sum((each.amounts[name] for each in parts), Decimal(0)) for name in AMOUNTS},
    )


def _orders_of(venue: Venue, period: Period) -> Orders:
    return Order.objects.of(venue).filter(business_date__range=(period.first, period.last)).order_by()


def _sum_by(key: str, venue: Venue, orders: Orders) -> dict[Any, Sums]:
    completed = Q(status=Order.Status.COMPLETED)
    # The currency of a venue can change while its menu has no dishes.
    priced = completed & Q(total__isnull=False, currency=venue.currency)
    aggregates: dict[str, Aggregate | Coalesce] = {
        "orders": Count("pk", filter=completed),
        "priced": Count("pk", filter=priced),
        "cancelled": Count("pk", filter=Q(status=Order.Status.CANCELLED)),
        "pending": Count("pk", filter=Q(status=Order.Status.PENDING)),
        **{f"sum_{name}": Coalesce(Sum(column, filter=priced), Decimal(0)) for name, column in AMOUNTS.items()},
    }
    found = {}
    for row in orders.values(key).annotate(**aggregates):
        place = row.pop(key)
        amounts = {name: row.pop(f"sum_{name}") for name in AMOUNTS}
        found[place] = Sums(**row, amounts=amounts)
    return found
