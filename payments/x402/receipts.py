"""Says with an answer that it is paid, and notes that it was made."""

import logging
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
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
    """A payment that has arrived and buys this answer: `transaction` is its hash, `amount` in whole USDC."""

    payment: UUID
    payer: str
    transaction: str
    network: str
    amount: Decimal

    @property
    def token(self) -> str:
        """The payment's id, signed: who shows it as X-Receipt is served again."""
        return SIGNER.sign(public_ids.encode(PREFIX, self.payment))

    @property
    def settled(self) -> SettleResponse:
        """The settlement, as version 2 words it."""
        network = NETWORKS[self.network]
        return SettleResponse(
            success=True,
            payer=self.payer,
            transaction=self.transaction,
            network=network.caip2,
            amount=str(network.atomic(self.amount)),
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a paid answer, which no shared cache may keep."""
        settled = self.settled
        version_1 = settled.model_copy(update={"network": NETWORKS[self.network].name, "amount": None})
        return {
            "PAYMENT-RESPONSE": encode_payment_response_header(settled),
            "X-PAYMENT-RESPONSE": encode_payment_response_header(version_1),
            "X-Receipt": self.token,
            "Cache-Control": "private, no-store",
        }


def receipt_of(row: Payment) -> Receipt:
    """The receipt of a payment that has arrived."""
    return Receipt(
        payment=row.pk,
        payer=row.payer,
        transaction=row.tx_hash or "",
        network=row.network,
        amount=row.amount_usdc,
    )


def deliver(receipt: Receipt) -> None:
    """Note that the answer was made. What is not marked may be asked for again for a day instead of ten minutes."""
    try:
        transitions.deliver(receipt.payment, now=timezone.now())
    except DatabaseError:
        logger.warning("delivery is not noted: %s", public_ids.encode(PREFIX, receipt.payment), exc_info=True)


def is_receipt(token: str | None, payment: UUID) -> bool:
    """Whether this token was given out with an answer to this payment."""
    try:
        return token is not None and SIGNER.unsign(token) == public_ids.encode(PREFIX, payment)
    except BadSignature:
        return False


class Paid(Response):
    """A paid answer: it carries its receipts, and counts as delivered once the server is done with it."""

    def __init__(self, data: Any, receipt: Receipt, **rest: Any) -> None:
        super().__init__(data, headers={**(rest.pop("headers", None) or {}), **receipt.headers}, **rest)
        self.receipt = receipt

    def close(self) -> None:
        """Called by the server when the answer was made and handed on; whether the caller got it, nobody can know."""
        deliver(self.receipt)
        super().close()
