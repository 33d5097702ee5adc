"""What the money of an export does: it queues the export, is owed back where nothing comes of it, and comes again.

A payment names the export that it is for by its purchase, so whoever finds one that has arrived can go on with it: the
request that brought it, the same request repeated, or the sweeper after both have died.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from catalogue.models import Export
from catalogue.models.exports import PREFIX
from framework.errors import ApiError
from framework.public_ids import decode
from payments.ledger import transitions
from payments.models import Payment
from payments.x402.purchase import Purchase

logger = logging.getLogger(__name__)

Status, State = Export.Status, Payment.State
PRODUCTS = {str(dataset): f"export_{dataset}" for dataset in Export.Dataset.values}
# An order that nobody has paid by then is given up.
MOST_UNPAID = timedelta(hours=1)
UNPAID = "It was not paid for within an hour."
CANCELLED = "The export was cancelled before it was finished."
TOO_LATE = "The export was cancelled before its payment had arrived."
TWICE = "The export was paid for by another payment already."
AT_ONCE = 100


class MoneyGone(ApiError):
    """What was paid for the export is not ours any more."""


def key_of(export: Export) -> str:
    """What a payment for this export is told by in the ledger (Payment.purchase)."""
    return hashlib.sha256(f"export\n{export.public_id}".encode()).hexdigest()


def purchase_of(export: Export, asked: Purchase) -> Purchase:
    """What a payment for this export buys; a challenge speaks of what was asked for, as before there was an export."""
    url = f"{asked.url}#{export.public_id}"
    return replace(asked, url=url, key=key_of(export), advertised_url=asked.advertised_url or asked.url)


def export_of(payment: Payment) -> Export | None:
    """The export that a payment is for, whatever became of both; None for what buys something else. One query."""
    key = decode(PREFIX, payment.resource.rpartition("#")[2])
    export = Export.objects.filter(pk=key).first() if key else None
    return export if export is not None and key_of(export) == payment.purchase else None


def coming(export: Export) -> QuerySet[Payment]:
    """The payments for an export that are being settled, or have arrived and were not answered. Few are in these."""
    is_open, arrived = Q(state__in=transitions.OPEN), Q(state=State.SETTLED, delivered_at=None)
    return Payment.objects.filter(is_open | arrived, purchase=key_of(export)).order_by("created_at")


def queue(export: Export, payment: UUID) -> bool:
    """Queue the export for money that has arrived for it; False where it is not to be had with that any more.

    One conditional UPDATE, so of two payments one buys it, and to say it twice changes nothing.
    """
    waiting = Export.objects.filter(pk=export.pk, status=Status.AWAITING_PAYMENT)
    queued = waiting.update(status=Status.QUEUED, payment=payment)
    export.refresh_from_db()
    return bool(queued) or export.payment_id == payment


def owe_unbought(export: Export, payment: UUID) -> str:
    """Owe money back that has bought nothing, as `queue` said; why, in words."""
    words = TOO_LATE if export.payment_id is None and export.status == Status.CANCELLED else TWICE
    transitions.mark_refund_due(payment, reason=Payment.RefundReason.NOT_DELIVERED, message=words, by="exports")
    return words


def payment_of(export: Export) -> UUID | None:
    """What has paid for it, as its row says now. One query."""
    return Export.objects.only("payment").get(pk=export.pk).payment_id


def owe_back(export: Export, *, words: str, actor: str) -> bool:
    """Owe back what was paid for an export that has come to nothing; False where nothing was paid, or it is owed.

    Call it in the transaction that ends the export, after its row says so: the row tells what has paid for it.
    """
    payment = payment_of(export)
    if payment is None:
        return False
    return transitions.mark_refund_due(payment, reason=Payment.RefundReason.FAILED_JOB, message=words, by=actor)


def take_again(export: Export, *, actor: str) -> None:
    """Have what was paid for a failed export again, before it is begun anew, in the same transaction.

    Raises MoneyGone where it was sent back, or is owed for another reason.
    """
    payment = payment_of(export)
    if payment is None or transitions.cancel_refund_due(payment, reason=Payment.RefundReason.FAILED_JOB, by=actor):
        return
    if not Payment.objects.filter(pk=payment, state__in=Payment.EARNED).exists():
        raise MoneyGone("What was paid for this export was sent back, or is owed back for another reason.")


def put_right(*, now: datetime) -> None:
    """Go on where a request has died, or its payment came later: queue what is paid, owe back what bought nothing.

    Orders that nobody pays end after an hour. Any number may do it at once. Four queries, and four for each export
    that it finds.
    """
    for payment in left(now=now):
        export = export_of(payment)
        if export is None:
            continue
        if queue(export, payment.pk):
            # Else it would be owed back after a day, as what nobody has answered (payments.ledger.reconcile).
            transitions.mark_delivered(payment.pk, now=now)
        else:
            owe_unbought(export, payment.pk)
    for export in fruitless():
        owe_back(export, words=export.error or CANCELLED, actor="exports")
    give_up_unpaid(now=now)


def left(*, now: datetime) -> Sequence[Payment]:
    """Money for exports that has arrived, and that no request is doing anything with any more."""
    arrived = Payment.objects.filter(
        state=State.SETTLED,
        delivered_at=None,
        settled_at__lt=now - transitions.CLAIM_TIMEOUT,
        products__overlap=list(PRODUCTS.values()),
    )
    return list(arrived.order_by("settled_at")[:AT_ONCE])


def fruitless() -> Sequence[Export]:
    """Exports that have come to nothing, with money that the chain has only shown since."""
    ended = Export.objects.filter(status__in=[Status.FAILED, Status.CANCELLED], payment__state__in=Payment.EARNED)
    return list(ended.filter(Q(payment__block__isnull=False) | Q(payment__error=""))[:AT_ONCE])


@transaction.atomic
def give_up_unpaid(*, now: datetime) -> int:
    """Cancel the orders that nobody has paid for an hour, and that no payment is coming for; how many."""
    old = Export.objects.filter(status=Status.AWAITING_PAYMENT, created_at__lt=now - MOST_UNPAID)
    unpaid = [export.pk for export in old.order_by("pk")[:AT_ONCE] if not coming(export).exists()]
    mine = Export.objects.filter(pk__in=unpaid, status=Status.AWAITING_PAYMENT)
    return mine.update(status=Status.CANCELLED, error=UNPAID, finished_at=now)
