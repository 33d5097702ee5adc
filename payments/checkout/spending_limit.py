"""The monthly spending limit of an account: refuses a payment before it is settled, and mails the owners.

The claim in the ledger is the reservation. It is inserted first; then the account's row is locked, and the month's
payments are summed: concurrent claims see each other, and one that would exceed the limit is rolled back. So a
released, expired or refunded payment needs no correction. A payer without a limit costs nothing: the limit is loaded
with the wallet (Wallets.with_plan).
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, Sum

from accounts import mail_outbox
from accounts.models import Account, Membership, User
from framework.api.urls import public_url
from framework.errors import ApiError, ErrorCode
from payments.formatting import format_amount
from payments.ledger import transitions
from payments.models import Billing, Payment
from payments.reports.spending import UTC_ZONE, Month

MAIL = "payments/mail/spending_limit"
REFUSAL_MAIL = "payments/mail/payment_refused"


class SpendingLimitReached(ApiError):
    """The payment would exceed the monthly limit of its account."""

    code = ErrorCode.SPENDING_LIMIT_REACHED

    def __init__(self, *, limit: Decimal, spent: Decimal, resets_at: datetime) -> None:
        left = format_amount(max(limit - spent, Decimal(0)))
        super().__init__(
            f"This would exceed the spending limit of the account that the wallet is linked to: {format_amount(limit)}"
            f" USDC a month, of which {left} are left. Nothing was charged. Its owners and managers"
            " change the limit on the dashboard (Data service, Spending).",
            extra={
                "limit_usdc": format_amount(limit),
                "spent_usdc": format_amount(spent),
                "resets_at": f"{resets_at:%Y-%m-%dT%H:%M:%SZ}",
            },
            headers={"Cache-Control": "no-store"},
        )


def reserve(payment: Payment, *, account: UUID) -> None:
    """Check that this payment, which was just inserted, is within the account's limit; mail a threshold it reaches.

    Call it in the transaction of the insert. Two queries, and more for the payment that reaches a threshold. Raises
    SpendingLimitReached.
    """
    billing = Billing.objects.select_for_update(no_key=True).filter(pk=account).first()
    if billing is None or billing.monthly_limit_usdc is None:
        return
    month = Month.of(payment.created_at, UTC_ZONE)
    spent, limit = sum_spent(account, month), billing.monthly_limit_usdc
    if spent > limit:
        raise SpendingLimitReached(limit=limit, spent=spent - payment.amount_usdc, resets_at=month.until)
    reached = [percent for percent in billing.alert_percents if spent * 100 >= limit * percent]
    if reached and not billing.is_alerted(max(reached), month.first):
        send_alert(account, max(reached), month=month.first, spent=spent, now=payment.created_at)


@transaction.atomic
def alert_refusal(account: UUID, refusal: SpendingLimitReached, *, amount: Decimal, now: datetime) -> None:
    """Mail that a payment of this amount was refused, if 100 % is a threshold and was not mailed. Once a month."""
    month = Month.of(now, UTC_ZONE).first
    limited = Billing.objects.filter(
        ~Q(refusal_alerted_month=month),
        ~Q(alerted_month=month, alerted_percent__gte=100),
        pk=account,
        monthly_limit_usdc__isnull=False,
        alert_percents__contains=[100],
    )
    if limited.update(refusal_alerted_month=month):
        context = {"spent": refusal.extra["spent_usdc"], "amount": format_amount(amount)}
        mail_owners(REFUSAL_MAIL, account, context, now=now)


@transaction.atomic
def send_alert(account: UUID, percent: int, *, month: date, spent: Decimal, now: datetime) -> bool:
    """Enqueue a mail to each owner about a threshold; False if it or a higher one was mailed in this month."""
    is_sent = Q(alerted_month=month, alerted_percent__gte=percent)
    limited = Billing.objects.filter(~is_sent, pk=account, monthly_limit_usdc__isnull=False)
    if not limited.update(alerted_month=month, alerted_percent=percent):
        return False
    mail_owners(MAIL, account, {"spent": format_amount(spent), "percent": percent}, now=now)
    return True


def mail_owners(mail: str, account: UUID, context: dict[str, Any], *, now: datetime) -> None:
    context |= {
        "account": Account.objects.get(pk=account),
        "limit": format_amount(Billing.objects.values_list("monthly_limit_usdc", flat=True).get(pk=account)),
        "page": public_url("/dashboard"),
    }
    owners = User.objects.filter(is_active=True, memberships__account=account, memberships__role=Membership.Role.OWNER)
    for address in owners.values_list("email", flat=True).distinct():
        mail_outbox.enqueue(mail, context, address=address, now=now, topic=f"limit {account.hex}")


def sum_spent(account: UUID, month: Month) -> Decimal:
    """Return what was paid for the account in a month, with payments that are being settled. One query.

    Payments by wallets that were unlinked since count, earlier ones of wallets that were linked since do not; nor do
    payments that are refunded, or whose refund is due.
    """
    payments = Payment.objects.filter(
        account_id=account,
        state__in=(*transitions.OPEN, *Payment.EARNED),
        created_at__gte=month.since,
        created_at__lt=month.until,
    )
    return payments.aggregate(sum=Sum("amount_usdc"))["sum"] or Decimal(0)
