"""What wallets have spent, by the day and by the month of a zone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.db.models import Count, Sum
from django.db.models.functions import TruncDay, TruncMonth

from payments.ledger import payment_history
from payments.models import Payment
from payments.models.payments import Payments

MONTHS = 12
# From one page of the ledger to the next while it is written to a file.
AT_ONCE = 500
NOTHING = (Decimal(0), 0)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was paid in a day or a month, without what goes back; `day` is its first."""

    day: date
    usdc: Decimal
    payments: int


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the calendar in a zone."""

    first: date
    zone: ZoneInfo

    @classmethod
    def of(cls, now: datetime, zone: ZoneInfo) -> "Month":
        """The month that it is."""
        return cls(now.astimezone(zone).date().replace(day=1), zone)

    @property
    def following(self) -> date:
        """The first day of the next one."""
        return (self.first + timedelta(days=31)).replace(day=1)

    @property
    def since(self) -> datetime:
        """Its first moment."""
        return datetime.combine(self.first, time.min, tzinfo=self.zone)

    @property
    def until(self) -> datetime:
        """The first moment after it."""
        return datetime.combine(self.following, time.min, tzinfo=self.zone)

    def earlier(self, months: int) -> "Month":
        """The month so many before."""
        whole = self.first.year * 12 + self.first.month - 1 - months
        return Month(date(whole // 12, whole % 12 + 1, 1), self.zone)


def by_day(wallets: Collection[str], month: Month) -> list[Spent]:
    """Each day of a month. One query, by the index of each payer."""
    taken = Payment.objects.of(wallets).filter(
        state__in=Payment.EARNED, created_at__gte=month.since, created_at__lt=month.until
    )
    found = _summed(taken, TruncDay("created_at", tzinfo=month.zone))
    days = [month.first + timedelta(days=number) for number in range((month.following - month.first).days)]
    return [Spent(day, *found.get(day, NOTHING)) for day in days]


def by_month(wallets: Collection[str], last: Month) -> list[Spent]:
    """The twelve months that end with this one, the newest first. One query, by the index of each payer."""
    first = last.earlier(MONTHS - 1)
    taken = Payment.objects.of(wallets).filter(
        state__in=Payment.EARNED, created_at__gte=first.since, created_at__lt=last.until
    )
    found = _summed(taken, TruncMonth("created_at", tzinfo=last.zone))
    return [Spent(day, *found.get(day, NOTHING)) for day in (last.earlier(number).first for number in range(MONTHS))]


def lines(
    wallets: Collection[str],
    *,
    state: str | None = None,
    product: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    now: datetime,
) -> Iterator[Payment]:
    """Every payment of these wallets, newest first, page by page: nothing is held open between two of them."""
    cursor = None
    while True:
        found = payment_history.list_payments(
            wallets,
            limit=AT_ONCE,
            now=now,
            state=state,
            product=product,
            since=since,
            until=until,
            cursor=cursor,
        )
        yield from found.rows
        cursor = found.next_cursor
        if cursor is None:
            return


def _summed(payments: Payments, day: TruncDay | TruncMonth) -> Mapping[date, tuple[Decimal, int]]:
    rows = payments.annotate(day=day).order_by().values("day").annotate(usdc=Sum("amount_usdc"), count=Count("pk"))
    return {row["day"].date(): (row["usdc"], row["count"]) for row in rows}
