"""The payment of an export: it queues the export, is refunded if the export fails, and is earned again on a restart.

The purchase of a payment names its export, so a settled payment is applied by the request that brought it, by the same
request repeated, or by the cleanup task after a crash.
"""

import hashlib
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from catalogue.models import Export
from catalogue.models.exports import PREFIX
from framework.errors import ApiError
from framework.public_ids import decode
from payments.interface import (
    CLAIM_TIMEOUT,
    OPEN_STATES,
    Purchase,
    cancel_refund_due,
    mark_refund_due,
    record_delivery,
)
from payments.models import Payment

logger = logging.getLogger(__name__)

Status, State = Export.Status, Payment.State
# What is sold as which product; menus are free, as in a record.
PRODUCTS = {str(dataset): f"export_{dataset}" for dataset in Export.Dataset.values if dataset != Export.Dataset.MENUS}
# An unpaid order is cancelled after this time.
PAYMENT_TIMEOUT = timedelta(hours=1)
NOT_PAID = "It was not paid for within an hour."
CANCELLED = "The export was cancelled before it was finished."
PAID_TOO_LATE = "The export was cancelled before its payment had arrived."
PAID_TWICE = "The export was paid for by another payment already."
BATCH_SIZE = 100


class PaymentRefunded(ApiError):
    """The payment of the export was refunded."""


def purchase_key(export: Export) -> str:
    """Return the key by which the ledger knows payments for this export (Payment.purchase)."""
    return hashlib.sha256(f"export\n{export.public_id}".encode()).hexdigest()


def purchase_export(export: Export, requested: Purchase) -> Purchase:
    """Return the purchase of this export; the challenge shows the URL of the request."""
    return replace(requested, url=f"{requested.url}#{export.public_id}", key=purchase_key(export))


def find_export(payment: Payment) -> Export | None:
    """Return the export that a payment is for, in any state; None if it buys something else. One query."""
    key = decode(PREFIX, payment.resource.rpartition("#")[2])
    export = Export.objects.filter(pk=key).first() if key else None
    return export if export is not None and purchase_key(export) == payment.purchase else None


def list_pending(export: Export) -> QuerySet[Payment]:
    """Return the payments for an export that are being settled, or are settled and not answered."""
    is_open, arrived = Q(state__in=OPEN_STATES), Q(state=State.SETTLED, delivered_at=None)
    return Payment.objects.filter(is_open | arrived, purchase=purchase_key(export)).order_by("created_at")


def queue_export(export: Export, payment: UUID) -> bool:
    """Queue the export for a settled payment; False if another payment has bought it or it has ended.

    One conditional UPDATE, so one of two payments wins, and a repetition changes nothing.
    """
    unpaid = Export.objects.filter(pk=export.pk, status=Status.AWAITING_PAYMENT)
    is_queued = unpaid.update(status=Status.QUEUED, payment=payment)
    export.refresh_from_db()
    return bool(is_queued) or export.payment_id == payment


def refund_unused(export: Export, payment: UUID) -> str:
    """Mark a payment as refund due that queue_export did not accept; return the reason."""
    message = PAID_TOO_LATE if export.payment_id is None and export.status == Status.CANCELLED else PAID_TWICE
    mark_refund_due(payment, reason=Payment.RefundReason.NOT_DELIVERED, message=message, by="exports")
    return message


def _read_payment_id(export: Export) -> UUID | None:
    return Export.objects.values_list("payment", flat=True).get(pk=export.pk)


def refund_export(export: Export, *, message: str, actor: str) -> bool:
    """Mark the payment of an export as refund due; False without a payment, or if it is refund due already.

    Call it in the transaction that ends the export, after its row is updated.
    """
    payment = _read_payment_id(export)
    if payment is None:
        return False
    return mark_refund_due(payment, reason=Payment.RefundReason.FAILED_JOB, message=message, by=actor)


def cancel_export_refund(export: Export, *, actor: str) -> None:
    """Earn the payment of a failed export again, in the transaction that restarts it.

    Raises PaymentRefunded if it was refunded, or is refund due for another reason.
    """
    payment = _read_payment_id(export)
    if payment is None or cancel_refund_due(payment, reason=Payment.RefundReason.FAILED_JOB, by=actor):
        return
    if not Payment.objects.filter(pk=payment, state__in=Payment.EARNED).exists():
        raise PaymentRefunded("The payment for this export was refunded, or is refund due for another reason.")


def reconcile(*, now: datetime) -> None:
    """Finish what crashed requests and late payments left: queue exports, refund payments, cancel unpaid orders.

    Any number may run at once. Four queries, and four per export found.
    """
    # Settled payments that no request is processing any more.
    arrived = Payment.objects.filter(
        state=State.SETTLED,
        delivered_at=None,
        settled_at__lt=now - CLAIM_TIMEOUT,
        products__overlap=list(PRODUCTS.values()),
    )
    for payment in arrived.order_by("settled_at")[:BATCH_SIZE]:
        export = find_export(payment)
        if export is None:
            continue
        if queue_export(export, payment.pk):
            # Otherwise it would be refund due after a day, as unanswered (payments.ledger.reconcile).
            record_delivery(payment.pk, now=now)
        else:
            refund_unused(export, payment.pk)
    # Exports that have ended without files, with a payment that was settled later.
    ended = Export.objects.filter(status__in=[Status.FAILED, Status.CANCELLED], payment__state__in=Payment.EARNED)
    for export in ended.filter(Q(payment__block__isnull=False) | Q(payment__error=""))[:BATCH_SIZE]:
        refund_export(export, message=export.error or CANCELLED, actor="exports")
    cancel_unpaid(now=now)


@transaction.atomic
def cancel_unpaid(*, now: datetime) -> int:
    """Cancel the orders that are unpaid for an hour and have no pending payment; return their number."""
    expired = Export.objects.filter(status=Status.AWAITING_PAYMENT, created_at__lt=now - PAYMENT_TIMEOUT)
    unpaid = [export.pk for export in expired.order_by("pk")[:BATCH_SIZE] if not list_pending(export).exists()]
    cancellable = Export.objects.filter(pk__in=unpaid, status=Status.AWAITING_PAYMENT)
    return cancellable.update(status=Status.CANCELLED, error=NOT_PAID, finished_at=now)
