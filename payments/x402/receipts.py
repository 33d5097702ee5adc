"""Receipts of paid answers: their headers, and the record of the delivery."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.db import Error as DatabaseError
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.response import Response
from x402.http.utils import encode_payment_response_header
from x402.schemas import SettleResponse

from framework import public_ids
from framework.signed_tokens import BadSignature, TokenSigner
from payments.chain.evm import to_checksum_address
from payments.chain.networks import NETWORKS
from payments.ledger import transitions
from payments.models import Payment
from payments.x402 import offer_receipt
from payments.x402.purchase import EXPORT_MARK, shorten_url

logger = logging.getLogger("tablewire.payments")

PREFIX = "pay"
SIGNER = TokenSigner("payments.receipt")
STATEMENT_HEADER = "Receipt-Statement"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of a payment that buys an answer, as the ledger has it.

    `transaction` is its hash, `amount` in whole USDC, `resource` the address that the ledger shows, `request` the key
    of the purchase (payments.x402.purchase).
    """

    payment: UUID
    payer: str
    transaction: str
    network: str
    amount: Decimal
    asset: str
    pay_to: str
    method: str
    resource: str
    request: str
    settled_at: datetime
    form: str = Payment.Form.V2

    @classmethod
    def for_payment(cls, payment: Payment) -> Self:
        return cls(
            payment=payment.pk,
            payer=payment.payer,
            transaction=payment.tx_hash or "",
            network=payment.network,
            amount=payment.amount_usdc,
            asset=payment.asset,
            pay_to=payment.pay_to,
            method=payment.method,
            resource=payment.resource,
            request=payment.purchase,
            # Settled payments have it, by a constraint of the table.
            settled_at=payment.settled_at or payment.created_at,
            form=payment.form,
        )

    @property
    def token(self) -> str:
        """The payment's id, signed: a caller that sends it as X-Receipt is served again."""
        return SIGNER.sign(public_ids.encode(PREFIX, self.payment))

    @property
    def settled(self) -> SettleResponse:
        """The settlement, as version 2 writes it, with the signed receipt: the same one however often it is served."""
        network = NETWORKS[self.network]
        signed = offer_receipt.sign_receipt(
            network=network.caip2,
            resource=shorten_url(self.resource),
            payer=self.payer,
            issued_at=int(self.settled_at.timestamp()),
            transaction=self.transaction,
        )
        return SettleResponse(
            success=True,
            payer=self.payer,
            transaction=self.transaction,
            network=network.caip2,
            amount=str(network.to_atomic(self.amount)),
            extensions=signed or None,
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a paid answer, which no shared cache may store.

        The signed receipt is in that of version 2, and in that of version 1 if that is how it was paid.
        """
        settled = self.settled
        extensions = offer_receipt.without_schemas(settled.extensions)
        version_2 = settled.model_copy(update={"extensions": extensions})
        version_1 = version_2.model_copy(update={"network": NETWORKS[self.network].name, "amount": None})
        if self.form != Payment.Form.V1:
            version_1 = version_1.model_copy(update={"extensions": None})
        return {
            "PAYMENT-RESPONSE": encode_payment_response_header(version_2),
            "X-PAYMENT-RESPONSE": encode_payment_response_header(version_1),
            "X-Receipt": self.token,
            "Cache-Control": "private, no-store",
        }

    def attach_statement(
        self,
        response: HttpResponse,
        content: bytes,
        *,
        at: datetime,
        version: int | None = None,
        sources: Sequence[str] = (),
    ) -> None:
        """Set the header with the statement about this body of the response."""
        if statement := self.sign_statement(content, at=at, version=version, sources=sources):
            response[STATEMENT_HEADER] = statement

    def sign_statement(
        self, body: bytes, *, at: datetime, version: int | None = None, sources: Sequence[str] = ()
    ) -> str | None:
        """Return the signed statement about an answer (docs/receipts.md); None where it could not be signed.

        `body` is the answer before any compression; `at` the moment whose data it shows, and
        `version` that of the restaurant whose record it shows.
        """
        network = NETWORKS[self.network]
        is_rest = self.resource.startswith("http")
        return offer_receipt.sign_statement(
            {
                "payment": public_ids.encode(PREFIX, self.payment),
                "method": self.method,
                # The arguments of a tool call are in it: a message has room for them.
                "url": shorten_url(self.resource) if is_rest else self.resource.partition(EXPORT_MARK)[0],
                "request": self.request,
                "sha256": hashlib.sha256(body).hexdigest(),
                "at": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
                "restaurantVersion": version,
                "issuedAt": int(timezone.now().timestamp()),
                "amount": str(network.to_atomic(self.amount)),
                "asset": to_checksum_address(self.asset),
                "network": network.caip2,
                "payTo": to_checksum_address(self.pay_to),
                "payer": self.payer,
                "transaction": self.transaction,
                "sources": list(sources),
            }
        )


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
    """A paid answer: it carries its receipts, and counts as delivered when the server closes it.

    `at` is the moment whose data it shows, by default now, `version` that of the restaurant, and `sources` the keys of
    the sources of these data.
    """

    def __init__(
        self,
        data: Any,
        receipt: Receipt,
        *,
        at: datetime | None = None,
        version: int | None = None,
        sources: Sequence[str] = (),
        **rest: Any,
    ) -> None:
        super().__init__(data, headers={**(rest.pop("headers", None) or {}), **receipt.headers}, **rest)
        self.receipt, self.at, self.version, self.sources = receipt, at or timezone.now(), version, sources

    @property
    def rendered_content(self) -> bytes:  # type: ignore[override]  # the stubs of Django say text
        """The body, about which its statement is made."""
        content: bytes = super().rendered_content
        self.receipt.attach_statement(self, content, at=self.at, version=self.version, sources=self.sources)
        return content

    def close(self) -> None:
        # The server has sent the answer; whether it reached the caller is not known.
        mark_delivered(self.receipt)
        super().close()
