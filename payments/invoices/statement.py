"""What an invoice states: the ledger's lines of a month, in UTC, and their sums.

A payment counts in the month in which its money arrived, a refund in the month in which the chain confirmed it: both
moments never change. A payment is its account's (Payment.account_id), also if its wallet is unlinked before the
invoice is opened. Money of venues (deposits and orders of guests) is no revenue of ours, and on no invoice.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncMonth

from accounts.models import Account
from payments.models import Billing, Invoice, Payment, Refund, Wallet, shorten_address
from payments.models.payments import PREFIX
from payments.reports.spending import UTC_ZONE, Month

# A request that began before the end of a month has written its payment by then.
FINAL_AFTER = timedelta(hours=1)
# A month with more payments states them by day, product and price; with more such groups, by product of the month. An
# invoice has at most about twice as many lines: refunds are limited by themselves.
MAX_LINES = 1_000
MONTHS = 36


@dataclass(frozen=True, slots=True)
class Line:
    """A payment, or several of a day or the month; a refund has a negative amount."""

    at: date
    reference: str
    text: str
    wallet: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class MonthSum:
    """A month with its sums; `refunded` is not negative."""

    month: Month
    is_final: bool
    payments: int
    charged: Decimal
    refunded: Decimal

    @property
    def total(self) -> Decimal:
        return self.charged - self.refunded


@dataclass(frozen=True, slots=True)
class Statement:
    """An invoice, or the preliminary statement of a month that has not ended. `network` is a CAIP-2 name."""

    number: str
    month: Month
    is_final: bool
    name: str
    address: str
    wallets: tuple[str, ...]
    lines: tuple[Line, ...]
    # Lines sum several payments or refunds.
    is_summed: bool
    charged: Decimal
    refunded: Decimal


def get_number(account: Account, month: Month) -> str:
    """Return the number of an account's invoice for a month, which is always the same."""
    return f"{month.first:%Y-%m}-{account.pk.hex[-12:].upper()}"


def is_final(month: Month, *, now: datetime) -> bool:
    return now >= month.until + FINAL_AFTER


def list_months(account: Account, *, now: datetime) -> list[MonthSum]:
    """Return the months with payments or refunds, newest first, of the last MONTHS. Four queries."""
    linked = set(_list_linked(account))
    invoices = {invoice.month: set(invoice.wallets) for invoice in Invoice.objects.filter(account=account)}
    wallets = linked.union(*invoices.values())
    first = Month.of(now, UTC_ZONE).earlier(MONTHS - 1)
    found: dict[date, list[tuple[int, Decimal, Decimal]]] = defaultdict(list)
    paid = (
        _charges(account, wallets)
        .filter(settled_at__gte=first.since)
        .annotate(month=TruncMonth("settled_at", tzinfo=UTC))
    )
    columns = ("month", "payer", "account_id")
    for row in paid.values(*columns).annotate(sum=Sum("amount_usdc"), count=Count("pk")).order_by():
        if row["account_id"] or row["payer"] in invoices.get(row["month"].date(), linked):
            found[row["month"].date()].append((row["count"], row["sum"], Decimal(0)))
    back = (
        _refunds(account, wallets)
        .filter(confirmed_at__gte=first.since)
        .annotate(month=TruncMonth("confirmed_at", tzinfo=UTC))
    )
    for refund in back.values("month", "to", "payment__account_id").annotate(sum=Sum("amount_usdc")).order_by():
        if refund["payment__account_id"] or refund["to"] in invoices.get(refund["month"].date(), linked):
            found[refund["month"].date()].append((0, Decimal(0), refund["sum"]))
    return [
        MonthSum(
            month := Month(day, UTC_ZONE),
            is_final(month, now=now),
            sum(count for count, _, _ in found[day]),
            sum((charged for _, charged, _ in found[day]), Decimal(0)),
            sum((refunded for _, _, refunded in found[day]), Decimal(0)),
        )
        for day in sorted(found, reverse=True)
    ]


def load_statement(account: Account, month: Month, *, now: datetime) -> Statement | None:
    """Return the statement of a month; None if it has no lines. At most twelve queries.

    The first call after the month has become final stores whose invoice it is, so that later changes of name,
    address and links do not change it.
    """
    invoice = Invoice.objects.filter(account=account, month=month.first).first()
    if invoice is None:
        billing = Billing.objects.filter(pk=account.pk).first()
        invoice = Invoice(
            account=account,
            month=month.first,
            name=account.name,
            address=billing.address if billing else "",
            wallets=_list_linked(account),
            created_at=now,
        )
    lines = list_lines(account, invoice.wallets, month)
    if not lines:
        return None
    if invoice._state.adding and is_final(month, now=now):
        defaults = {name: getattr(invoice, name) for name in ("name", "address", "wallets", "created_at")}
        invoice, is_new = Invoice.objects.get_or_create(account=account, month=month.first, defaults=defaults)
        if not is_new:
            lines = list_lines(account, invoice.wallets, month)
    payers = _charges(account, invoice.wallets).filter(settled_at__gte=month.since, settled_at__lt=month.until)
    return Statement(
        number=get_number(account, month),
        month=month,
        is_final=not invoice._state.adding,
        name=invoice.name,
        address=invoice.address,
        wallets=tuple(sorted({*invoice.wallets, *payers.values_list("payer", flat=True).distinct()})),
        lines=tuple(lines),
        is_summed=any(not line.reference.startswith(f"{PREFIX}_") for line in lines),
        charged=sum((line.amount for line in lines if line.amount > 0), Decimal(0)),
        refunded=-sum((line.amount for line in lines if line.amount < 0), Decimal(0)),
    )


def list_lines(account: Account, wallets: Collection[str], month: Month) -> list[Line]:
    """Return the lines of a month, the oldest first: each payment, or groups if there are more than MAX_LINES.

    Then the refunds, in the same way. Two queries, and at most three more for groups.
    """
    paid = _charges(account, wallets).filter(settled_at__gte=month.since, settled_at__lt=month.until)
    refunds = _refunds(account, wallets).filter(confirmed_at__gte=month.since, confirmed_at__lt=month.until)
    return _list_payments(paid, month) + _list_refunds(refunds, month)


def _list_payments(paid: QuerySet[Payment], month: Month) -> list[Line]:
    payments = list(paid.order_by("settled_at", "pk")[: MAX_LINES + 1])
    if len(payments) <= MAX_LINES:
        return [
            Line(
                payment.settled_at.astimezone(UTC).date(),  # type: ignore[union-attr]  # the filter excludes None
                payment.public_id,
                " + ".join(payment.products),
                shorten_address(payment.payer),
                payment.amount_usdc,
            )
            for payment in payments
        ]
    columns = ("day", "products", "amount_usdc", "payer")
    groups = paid.annotate(day=TruncDay("settled_at", tzinfo=UTC)).values(*columns)
    rows = list(groups.annotate(count=Count("pk")).order_by(*columns)[: MAX_LINES + 1])
    if len(rows) <= MAX_LINES:
        return [
            Line(
                row["day"].date(),
                f"{row['count']} times {row['amount_usdc'].normalize():f}",
                " + ".join(row["products"]),
                shorten_address(row["payer"]),
                row["count"] * row["amount_usdc"],
            )
            for row in rows
        ]
    # Such as plain transfers, of which each has an amount of its own.
    sums = paid.values("products", "payer").annotate(count=Count("pk"), sum=Sum("amount_usdc"))
    return [
        Line(
            month.first,
            f"{row['count']} payments of the month",
            " + ".join(row["products"]),
            shorten_address(row["payer"]),
            row["sum"],
        )
        for row in sums.order_by("products", "payer")
    ]


def _list_refunds(refunds: QuerySet[Refund], month: Month) -> list[Line]:
    rows = list(refunds.select_related("payment").order_by("confirmed_at", "pk")[: MAX_LINES + 1])
    if len(rows) <= MAX_LINES:
        return [
            Line(
                refund.confirmed_at.astimezone(UTC).date(),  # type: ignore[union-attr]  # the filter excludes None
                refund.payment.public_id,
                f"Refund: {' + '.join(refund.payment.products)}",
                shorten_address(refund.to),
                -refund.amount_usdc,
            )
            for refund in rows
        ]
    sums = refunds.values("payment__products", "to").annotate(count=Count("pk"), sum=Sum("amount_usdc"))
    return [
        Line(
            month.first,
            f"{row['count']} refunds of the month",
            f"Refund: {' + '.join(row['payment__products'])}",
            shorten_address(row["to"]),
            -row["sum"],
        )
        for row in sums.order_by("payment__products", "to")
    ]


def _list_linked(account: Account) -> list[str]:
    return list(Wallet.objects.filter(account=account).order_by("address").values_list("address", flat=True))


def _charges(account: Account, wallets: Collection[str]) -> QuerySet[Payment]:
    """Payments for the account, and those for no account (earlier than the link, or the column) by these wallets."""
    its = Q(account_id=account.pk) | Q(account_id=None, payer__in=wallets)
    arrived = Payment.objects.filter(its, state__in=Payment.PAID, settled_at__isnull=False)
    return arrived.exclude(products__overlap=list(Payment.OF_VENUES))


def _refunds(account: Account, wallets: Collection[str]) -> QuerySet[Refund]:
    its = Q(payment__account_id=account.pk) | Q(payment__account_id=None, to__in=wallets)
    confirmed = Refund.objects.filter(its, confirmed_at__isnull=False)
    return confirmed.exclude(payment__products__overlap=list(Payment.OF_VENUES))
