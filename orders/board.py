"""The order board of a venue: pending orders, and today's completed and cancelled ones, with totals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, Q, Sum, prefetch_related_objects

from accounts.models import Venue
from framework.db.sql_files import read_sql
from orders.models import Order, Orders, lines_in_order

# More orders do not fit a kitchen screen, and each has a cost in the browser at every change.
MAX_PENDING = 100
MAX_FINISHED = 20
# Events commit in no particular order, so a late one is not always the newest, but it is among the newest.
MAX_EVENTS = 100

# Orders change only together with an event, in the same transaction. Index-only: 0.1 ms.
STAMP = """
    SELECT coalesce(md5(string_agg(last.id::text, '')), '')
    FROM (
        SELECT id FROM accounts_event WHERE venue_id = %(venue)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s
    ) AS last
"""
# With the membership, instead of the two queries of accounts.tenancy.permissions.get_access.
MEMBER_STAMP = read_sql("orders", "member_stamp").format(stamp=STAMP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the board: its first orders, and their total number."""

    orders: list[Order]
    total: int

    @property
    def more(self) -> int:
        """The number of orders that are not shown."""
        return max(0, self.total - len(self.orders))


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The three columns. `stamp` changes with each change of an order."""

    stamp: str
    pending: Column
    completed: Column
    cancelled: Column
    newest: Order | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTotals:
    """The number of orders by status, and the revenue of those not cancelled; None if no order has a price."""

    pending: int
    completed: int
    cancelled: int
    revenue: Decimal | None

    @property
    def total(self) -> int:
        return self.pending + self.completed + self.cancelled


def get_midnight(timezone: str, *, now: datetime) -> datetime:
    """Return the start of the current day in this time zone."""
    zone = ZoneInfo(timezone)
    return datetime.combine(now.astimezone(zone).date(), time(), zone)


def read_stamp(venue: Venue, *, now: datetime) -> str:
    """Return a text that changes with each change of an order of the venue, and each day. One query."""
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


def read_board(venue: Venue, *, now: datetime) -> Board:
    """Return the board. Six queries, and one for the lines if there are orders.

    The stamp is read first: a change between the queries then leads to another read.
    """
    stamp = read_stamp(venue, now=now)
    since = get_midnight(venue.timezone, now=now)
    orders = Order.objects.of(venue)
    pending, completed, cancelled = orders.pending(), orders.completed_since(since), orders.cancelled_since(since)
    shown = [list(pending[:MAX_PENDING]), list(completed[:MAX_FINISHED]), list(cancelled[:MAX_FINISHED])]
    newest = orders.newest_first().first()
    totals = count_each(pending, completed, cancelled)
    prefetch_related_objects([order for column in shown for order in column], lines_in_order())
    columns = [Column(orders=column, total=total) for column, total in zip(shown, totals, strict=True)]
    return Board(stamp=stamp, pending=columns[0], completed=columns[1], cancelled=columns[2], newest=newest)


def count_each(*querysets: Orders) -> list[int]:
    """Return the number of rows of each queryset, in one query in which each uses its own index."""
    counts = [rows.order_by().values("venue").annotate(number=Count("pk")).values_list("number") for rows in querysets]
    compiled = [count.query.sql_with_params() for count in counts]
    with connection.cursor() as cursor:
        selects = ", ".join(f"({sql})" for sql, _ in compiled)
        cursor.execute(f"SELECT {selects}", [param for _, params in compiled for param in params])
        return [number or 0 for number in cursor.fetchone()]


def sum_orders(orders: Orders) -> OrderTotals:
    """Return the totals of these orders. One query."""
    status = Order.Status
    totals = orders.order_by().aggregate(
        pending=Count("pk", filter=Q(status=status.PENDING)),
        completed=Count("pk", filter=Q(status=status.COMPLETED)),
        cancelled=Count("pk", filter=Q(status=status.CANCELLED)),
        revenue=Sum("total", filter=~Q(status=status.CANCELLED)),
    )
    return OrderTotals(**totals)


def sum_today(venue: Venue, *, now: datetime) -> OrderTotals:
    """Return the totals of the orders placed on the current day at the venue."""
    return sum_orders(Order.objects.of(venue).filter(business_date=get_midnight(venue.timezone, now=now).date()))
