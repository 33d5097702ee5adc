"""The day of a venue's orders: what is to be made, what was made, what was cancelled, and what it came to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, Q, Sum, prefetch_related_objects

from accounts.models import Venue
from orders.models import Order, Orders, lines_in_order

# A screen in a kitchen: more than these cannot be looked at, and each costs the browser at every change.
MOST_WAITING = 100
MOST_PAST = 20
# Events carry the moment of the call, and are committed in no order: one that comes late is still among the last.
LAST_EVENTS = 100

# All orders and lines of a venue change with an event, in the same transaction. Index-only: 0.1 ms.
LAST = """
    SELECT coalesce(md5(string_agg(last.id::text, '')), '')
    FROM (
        SELECT id FROM accounts_event WHERE venue_id = %(venue)s ORDER BY created_at DESC, id DESC LIMIT %(last)s
    ) AS last
"""
# The same for somebody who works there: in place of the two queries of accounts.tenancy.permissions.access.
LAST_FOR = f"""
    SELECT venue.timezone, ({LAST})
    FROM accounts_venue AS venue
    JOIN accounts_account AS account ON account.id = venue.account_id AND account.closed_at IS NULL
    JOIN accounts_membership AS part ON part.account_id = account.id
    WHERE venue.id = %(venue)s AND part.user_id = %(user)s AND part.role = ANY(%(roles)s) AND (
        NOT EXISTS (SELECT FROM accounts_membership_venues AS its WHERE its.membership_id = part.id)
        OR EXISTS (
            SELECT FROM accounts_membership_venues AS its
            WHERE its.membership_id = part.id AND its.venue_id = venue.id
        )
    )
"""  # noqa: S608  # of constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A part of the board: the orders that are shown, and how many there are in all."""

    orders: list[Order]
    total: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return max(0, self.total - len(self.orders))


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All three columns as they are now. `stamp` is another as soon as anything has changed."""

    stamp: str
    waiting: Column
    completed: Column
    cancelled: Column
    newest: Order | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """How many orders of which status, and what those that were not cancelled come to; None where none is priced."""

    pending: int
    completed: int
    cancelled: int
    revenue: Decimal | None

    @property
    def total(self) -> int:
        """All of them."""
        return self.pending + self.completed + self.cancelled


def midnight(timezone: str, *, now: datetime) -> datetime:
    """When the day has begun that it is in this zone."""
    zone = ZoneInfo(timezone)
    return datetime.combine(now.astimezone(zone).date(), time(), zone)


def stamp(venue: Venue, *, now: datetime) -> str:
    """A text that is another after each change of an order of the venue, and on each of its days. One query."""
    with connection.cursor() as cursor:
        cursor.execute(LAST, {"venue": venue.pk, "last": LAST_EVENTS})
        return stamped(venue.timezone, cursor.fetchone()[0], now=now)


def stamp_for(user: int, venue: UUID, *, roles: Sequence[str], now: datetime) -> str | None:
    """The venue's stamp, None where this person has none of these roles there. One query."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_FOR, {"venue": venue, "last": LAST_EVENTS, "user": user, "roles": list(roles)})
        found = cursor.fetchone()
    return stamped(*found, now=now) if found else None


def stamped(timezone: str, last: str, *, now: datetime) -> str:
    """The day at the venue, and a digest of its last events."""
    return f"{now.astimezone(ZoneInfo(timezone)).date()}.{last}"


def board(venue: Venue, *, now: datetime) -> Board:
    """What the board shows. Six queries, and one of all lines where there are orders.

    The stamp is read first: what changes between the queries is then read again, never missed.
    """
    seen = stamp(venue, now=now)
    since = midnight(venue.timezone, now=now)
    mine = Order.objects.of(venue)
    waiting, completed, cancelled = mine.waiting(), mine.completed_since(since), mine.cancelled_since(since)
    shown = [list(waiting[:MOST_WAITING]), list(completed[:MOST_PAST]), list(cancelled[:MOST_PAST])]
    newest = mine.newest_first().first()
    totals = numbers(waiting, completed, cancelled)
    prefetch_related_objects([order for orders in shown for order in orders], lines_in_order())
    columns = [Column(orders=orders, total=total) for orders, total in zip(shown, totals, strict=True)]
    return Board(stamp=seen, waiting=columns[0], completed=columns[1], cancelled=columns[2], newest=newest)


def numbers(*found: Orders) -> list[int]:
    """How many each of these questions finds, in one query, each by its own index."""
    asked = [one.order_by().values("venue").annotate(number=Count("pk")).values_list("number") for one in found]
    compiled = [one.query.sql_with_params() for one in asked]
    with connection.cursor() as cursor:
        selects = ", ".join(f"({sql})" for sql, _ in compiled)
        cursor.execute(f"SELECT {selects}", [param for _, params in compiled for param in params])
        return [number or 0 for number in cursor.fetchone()]


def sums(orders: Orders) -> Sums:
    """What these orders come to. One query."""
    has = Order.Status
    counted = orders.order_by().aggregate(
        pending=Count("pk", filter=Q(status=has.PENDING)),
        completed=Count("pk", filter=Q(status=has.COMPLETED)),
        cancelled=Count("pk", filter=Q(status=has.CANCELLED)),
        revenue=Sum("total", filter=~Q(status=has.CANCELLED)),
    )
    return Sums(**counted)


def of_today(venue: Venue, *, now: datetime) -> Sums:
    """The orders that were placed on the day that it is at the venue."""
    return sums(Order.objects.of(venue).filter(business_date=midnight(venue.timezone, now=now).date()))
