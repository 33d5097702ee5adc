"""Spending of wallets by day and by month, in a time zone."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Sum
from django.db.models.functions import TruncDay, TruncMonth

from payments.ledger import payment_history
from payments.models import Payment

UTC_ZONE = ZoneInfo("UTC")
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
    days = [month.first + timedelta(days=number) for number in range((month.next_first - month.first).days)]
    return _sum_by(TruncDay("created_at", tzinfo=month.zone), wallets, days, month, month)


def spending_by_month(wallets: Collection[str], last: Month) -> list[Spending]:
    """Return the spending of the MONTHS months up to `last`, newest first. One query, by the index of each payer."""
    months = [last.earlier(number) for number in range(MONTHS)]
    trunc = TruncMonth("created_at", tzinfo=last.zone)
    return _sum_by(trunc, wallets, [month.first for month in months], months[-1], last)


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
    trunc: TruncDay | TruncMonth, wallets: Collection[str], days: Collection[date], first: Month, last: Month
) -> list[Spending]:
    payments = Payment.objects.of(wallets).filter(
        state__in=Payment.EARNED, created_at__gte=first.since, created_at__lt=last.until
    )
    rows = payments.annotate(day=trunc).order_by().values("day").annotate(usdc=Sum("amount_usdc"), count=Count("pk"))
    found = {row["day"].date(): (row["usdc"], row["count"]) for row in rows}
    return [Spending(day, *found.get(day, NO_SPENDING)) for day in days]
