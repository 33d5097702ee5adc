"""Receipts of paid answers: their headers, and the record of the delivery."""

import logging
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.db import Error as DatabaseError
from django.utils import timezone
from rest_framework.response import Response
from x402.http.utils import encode_payment_response_header
from x402.schemas import SettleResponse

from framework import public_ids
from framework.signed_tokens import BadSignature, TokenSigner
from payments.chain.networks import NETWORKS
from payments.ledger import transitions
from payments.models import Payment

logger = logging.getLogger("tablewire.payments")

PREFIX = "pay"
SIGNER = TokenSigner("payments.receipt")


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of a payment that buys an answer: `transaction` is its hash, `amount` in whole USDC."""

    payment: UUID
    payer: str
    transaction: str
    network: str
    amount: Decimal

    @classmethod
    def for_payment(cls, payment: Payment) -> Self:
        return cls(
            payment=payment.pk,
            payer=payment.payer,
            transaction=payment.tx_hash or "",
            network=payment.network,
            amount=payment.amount_usdc,
        )

    @property
    def token(self) -> str:
        """The payment's id, signed: a caller that sends it as X-Receipt is served again."""
        return SIGNER.sign(public_ids.encode(PREFIX, self.payment))

    @property
    def settled(self) -> SettleResponse:
        """The settlement, as version 2 writes it."""
        network = NETWORKS[self.network]
        return SettleResponse(
            success=True,
            payer=self.payer,
            transaction=self.transaction,
            network=network.caip2,
            amount=str(network.to_atomic(self.amount)),
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a paid answer, which no shared cache may store."""
        settled = self.settled
        version_1 = settled.model_copy(update={"network": NETWORKS[self.network].name, "amount": None})
        return {
            "PAYMENT-RESPONSE": encode_payment_response_header(settled),
            "X-PAYMENT-RESPONSE": encode_payment_response_header(version_1),
            "X-Receipt": self.token,
            "Cache-Control": "private, no-store",
        }


def mark_delivered(receipt: Receipt) -> None:
    """Record that the answer was delivered. Without this record it is served again for a day, not ten minutes."""
    try:
        transitions.mark_delivered(receipt.payment, now=timezone.now())
    except DatabaseError:
        logger.warning("delivery is not recorded: %s", public_ids.encode(PREFIX, receipt.payment), exc_info=True)


def read_receipt_token(token: str | None) -> UUID | None:
    """The payment of a receipt token; None if the token is not ours."""
    try:
        return public_ids.decode(PREFIX, SIGNER.unsign(token)) if token else None
    except BadSignature:
        return None


def is_receipt_token(token: str | None, payment: UUID) -> bool:
    return read_receipt_token(token) == payment


class PaidResponse(Response):
    """A paid answer: it carries its receipts, and counts as delivered when the server closes it."""

    def __init__(self, data: Any, receipt: Receipt, **rest: Any) -> None:
        super().__init__(data, headers={**(rest.pop("headers", None) or {}), **receipt.headers}, **rest)
        self.receipt = receipt

    def close(self) -> None:
        # The server has sent the answer; whether it reached the caller is not known.
        mark_delivered(self.receipt)
        super().close()
