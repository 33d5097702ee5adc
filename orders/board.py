"""The order board of a venue: pending orders, and today's completed and cancelled ones, with totals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, Sum, prefetch_related_objects

from accounts.models import Venue
from framework.db.sql_files import read_sql
from orders.models import Order, OrderingSettings, OrderItem, Orders, lines_in_order
from orders.models.orders import TOTAL_WITHOUT_TIP

# More orders do not fit a kitchen screen, and each has a cost in the browser at every change.
MAX_PENDING = 100
MAX_FINISHED = 20
# Events commit in no particular order, so a late one is not always the newest, but it is among the newest.
MAX_EVENTS = 100

# Orders change only together with an event, in the same transaction; settings change without one. By indexes: 0.1 ms.
STAMP = """
    SELECT md5(concat(
        (SELECT string_agg(last.id::text, '') FROM (
            SELECT id FROM accounts_event WHERE venue_id = %(venue)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s
        ) AS last),
        (SELECT concat_ws('.', prep_minutes, warn_minutes, late_minutes)
         FROM orders_orderingsettings WHERE venue_id = %(venue)s)
    ))
"""
# With the membership, instead of the two queries of accounts.tenancy.permissions.get_access.
MEMBER_STAMP = read_sql("orders", "member_stamp").format(stamp=STAMP)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the board: its first orders, and how many there are."""

    orders: list[Order]
    total: int

    @classmethod
    def read(cls, orders: Orders, limit: int) -> Self:
        """One query, and one to count if there are `limit` orders."""
        first = list(orders[:limit])
        return cls(first, len(first) if len(first) < limit else orders.count())

    @property
    def more(self) -> int:
        return self.total - len(self.orders)


@dataclass(frozen=True, slots=True)
class Board:
    """The three columns. `stamp` changes with what they show; `stations` are those with pending lines."""

    stamp: str
    settings: OrderingSettings
    stations: list[str]
    pending: Column
    completed: Column
    cancelled: Column
    newest: Order | None


def get_midnight(timezone: str, *, now: datetime) -> datetime:
    zone = ZoneInfo(timezone)
    return datetime.combine(now.astimezone(zone).date(), time(), zone)


def read_settings(venue: Venue) -> OrderingSettings:
    """Return the venue's settings, the defaults if it has none. One query."""
    return OrderingSettings.objects.filter(venue=venue).first() or OrderingSettings(venue=venue)


def read_stamp(venue: Venue, *, now: datetime) -> str:
    """Return a text that changes with each change of the venue's orders and settings, and each day. One query."""
    with connection.cursor() as cursor:
        cursor.execute(STAMP, {"venue": venue.pk, "limit": MAX_EVENTS})
        return _build_stamp(venue.timezone, cursor.fetchone()[0], now=now)


def read_member_stamp(user: int, venue: UUID, *, roles: Sequence[str], now: datetime) -> str | None:
    """Return the venue's stamp, or None if the user has none of these roles there. One query."""
    with connection.cursor() as cursor:
        cursor.execute(MEMBER_STAMP, {"venue": venue, "limit": MAX_EVENTS, "user": user, "roles": list(roles)})
        row = cursor.fetchone()
    return _build_stamp(*row, now=now) if row else None


def _build_stamp(timezone: str, digest: str, *, now: datetime) -> str:
    return f"{now.astimezone(ZoneInfo(timezone)).date()}.{digest}"


def read_board(venue: Venue, *, now: datetime, station: str = "") -> Board:
    """Return the board, with `station` only the pending orders that have a line of it.

    Seven queries, one for the lines if there are orders, and one for each full column.

    The stamp is read first: a change between the queries then leads to another read.
    """
    stamp = read_stamp(venue, now=now)
    settings = read_settings(venue)
    todo, *finished = _columns(venue, now=now)
    lines = OrderItem.objects.filter(order__in=todo).exclude(station="")
    stations = list(lines.order_by("station").values_list("station", flat=True).distinct())
    if station:
        todo = todo.filter(Exists(OrderItem.objects.filter(order=OuterRef("pk"), station=station)))
    todo = todo.with_due_at(settings.prep).order_by(F("due_at"), "id")
    orders = zip((todo, *finished), (MAX_PENDING, MAX_FINISHED, MAX_FINISHED), strict=True)
    pending, completed, cancelled = (Column.read(column, limit) for column, limit in orders)
    shown = [*pending.orders, *completed.orders, *cancelled.orders]
    prefetch_related_objects(shown, lines_in_order())
    newest = Order.objects.of(venue).newest_first().first()
    return Board(stamp, settings, stations, pending, completed, cancelled, newest=newest)


def _columns(venue: Venue, *, now: datetime) -> tuple[Orders, Orders, Orders]:
    """Return the pending orders of any day, and the orders completed and cancelled today."""
    orders, since = Order.objects.of(venue), get_midnight(venue.timezone, now=now)
    return (
        orders.filter(status=Order.Status.PENDING),
        orders.filter(completed_at__gte=since).order_by("-completed_at", "-id"),
        orders.filter(cancelled_at__gte=since).order_by("-cancelled_at", "-id"),
    )


def sum_orders(orders: Orders) -> dict[str, Any]:
    """Count these `orders`, also by status, and sum up the `revenue` of those not cancelled. One query.

    The revenue is None if no order has a price. Tips are not part of it.
    """
    status = Order.Status
    return orders.order_by().aggregate(
        **{state: Count("pk", filter=Q(status=state)) for state in status.values},
        orders=Count("pk"),
        revenue=Sum(TOTAL_WITHOUT_TIP, filter=~Q(status=status.CANCELLED)),
    )


def sum_today(venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Count the `pending` orders of any day and the `late` ones, and sum up those of `today` and of `a_week_before`.

    Four queries.
    """
    orders, settings = Order.objects.of(venue), read_settings(venue)
    late_since = now + settings.prep - timedelta(minutes=settings.late_minutes)
    pending = orders.filter(status=Order.Status.PENDING).with_due_at(settings.prep)
    day = get_midnight(venue.timezone, now=now).date()
    today, before = (orders.filter(business_date=each) for each in (day, day - timedelta(days=7)))
    counts = pending.aggregate(pending=Count("pk"), late=Count("pk", filter=Q(due_at__lte=late_since)))
    return counts | {"today": sum_orders(today), "a_week_before": sum_orders(before)}
