"""Settlements that have not ended: the errors that say so, and the question to the chain."""

from django.utils import timezone

from framework.errors import ApiError, ErrorCode
from payments.chain.rpc import RpcUnavailable
from payments.ledger import reconcile, transitions
from payments.ledger.reconcile import AuthorizationStatus
from payments.models import Payment


class FacilitatorUnavailable(ApiError):
    """Payments cannot be settled for a moment; nothing was charged."""

    code = ErrorCode.FACILITATOR_UNAVAILABLE

    def __init__(self) -> None:
        super().__init__(
            "Payments cannot be settled for a moment. Nothing was charged: ask again with the same payment.",
            headers={"Retry-After": "5", "Cache-Control": "no-store"},
        )


class SettlementPending(ApiError):
    """Whether the money has moved is not known. Never a 402: clients would sign again, and pay twice."""

    code = ErrorCode.SETTLEMENT_PENDING

    def __init__(self, *, retry_after_s: int = 2) -> None:
        super().__init__(
            "Whether this payment has been settled is not known yet."
            " Ask again with the same payment: you will not be charged twice.",
            headers={"Retry-After": str(retry_after_s), "Cache-Control": "no-store"},
        )


def is_abandoned(payment: Payment) -> bool:
    """Whether no request is settling this open payment any more: its outcome is unknown or its claim timed out."""
    return payment.state == Payment.State.UNKNOWN or payment.claimed_at < timezone.now() - transitions.CLAIM_TIMEOUT


def check_chain(payment: Payment) -> AuthorizationStatus:
    """Return what the chain shows of the payment. Raises SettlementPending while the chain cannot be read."""
    try:
        return reconcile.check_chain(payment, now=timezone.now())
    except RpcUnavailable as error:
        transitions.mark_unknown(payment, reason=error.message)
        raise SettlementPending from error
