"""Spending of wallets by day and by month, in a time zone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Sum
from django.db.models.functions import TruncDay, TruncMonth

from payments.ledger import payment_history
from payments.models import Payment

MONTHS = 12
CHUNK_SIZE = 500
NO_SPENDING = (Decimal(0), 0)


@dataclass(frozen=True, slots=True)
class Spending:
    """Spending in a day or a month, without refunds; `day` is its first day."""

    day: date
    usdc: Decimal
    payments: int


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in a time zone."""

    first: date
    zone: ZoneInfo

    @classmethod
    def of(cls, now: datetime, zone: ZoneInfo) -> "Month":
        return cls(now.astimezone(zone).date().replace(day=1), zone)

    @property
    def next_first(self) -> date:
        return (self.first + timedelta(days=31)).replace(day=1)

    @property
    def since(self) -> datetime:
        return datetime.combine(self.first, time.min, tzinfo=self.zone)

    @property
    def until(self) -> datetime:
        return datetime.combine(self.next_first, time.min, tzinfo=self.zone)

    def earlier(self, months: int) -> "Month":
        number = self.first.year * 12 + self.first.month - 1 - months
        return Month(date(number // 12, number % 12 + 1, 1), self.zone)


def spending_by_day(wallets: Collection[str], month: Month) -> list[Spending]:
    """Return the spending of each day of a month. One query, by the index of each payer."""
    found = _sum_by(TruncDay("created_at", tzinfo=month.zone), wallets, month.since, month.until)
    days = [month.first + timedelta(days=number) for number in range((month.next_first - month.first).days)]
    return [Spending(day, *found.get(day, NO_SPENDING)) for day in days]


def spending_by_month(wallets: Collection[str], last: Month) -> list[Spending]:
    """Return the spending of the MONTHS months up to `last`, newest first. One query, by the index of each payer."""
    since = last.earlier(MONTHS - 1).since
    found = _sum_by(TruncMonth("created_at", tzinfo=last.zone), wallets, since, last.until)
    return [
        Spending(day, *found.get(day, NO_SPENDING)) for day in (last.earlier(number).first for number in range(MONTHS))
    ]


def iterate_payments(wallets: Collection[str], *, now: datetime, **filters: Any) -> Iterator[Payment]:
    """Yield all payments of these wallets, newest first, filtered as by `payment_history.list_payments`.

    No transaction or cursor stays open between two pages.
    """
    cursor = None
    while True:
        found = payment_history.list_payments(wallets, limit=CHUNK_SIZE, now=now, cursor=cursor, **filters)
        yield from found.rows
        cursor = found.next_cursor
        if cursor is None:
            return


def _sum_by(
    day: TruncDay | TruncMonth, wallets: Collection[str], since: datetime, until: datetime
) -> Mapping[date, tuple[Decimal, int]]:
    payments = Payment.objects.of(wallets).filter(
        state__in=Payment.EARNED, created_at__gte=since, created_at__lt=until
    )
    rows = payments.annotate(day=day).order_by().values("day").annotate(usdc=Sum("amount_usdc"), count=Count("pk"))
    return {row["day"].date(): (row["usdc"], row["count"]) for row in rows}
