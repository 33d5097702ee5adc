"""The checkout: `collect` takes the payment for one answer and returns its receipt, or raises why it did not."""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.conf import settings
from django.db import connection

from framework.errors import ServiceUnavailable
from payments.checkout import admission, signed_authorization, transaction_proof
from payments.checkout.context import Sale
from payments.identity.caller import Caller
from payments.models import Payment
from payments.observability import counters
from payments.pricing import price_list
from payments.pricing.price_list import PriceList
from payments.x402.challenges import PaymentRequired
from payments.x402.proofs import Authorization, Proof, TransactionProof
from payments.x402.purchase import Purchase
from payments.x402.receipts import Receipt


class PaymentsNotConfigured(ServiceUnavailable):
    """This installation takes no payments."""


def is_free_by_plan(products: Sequence[str], *, caller: Caller, now: datetime) -> bool:
    """Whether these products cost the caller nothing, by a plan with the factor 0: call this before `collect`.

    The ledger does not record them. A plan gives away only what its tier is sold. No query for a caller without such
    a plan, one otherwise. Raises NotSold.
    """
    if caller.terms.factor or not caller.is_identified:
        return False
    prices = price_list.load_price_list(products, now=now)
    return caller.tier >= prices.from_tier and not prices.quote(caller.terms).amount


def check_authorization(
    purchase: Purchase, signed: Authorization, *, prices: PriceList, caller: Caller, now: datetime
) -> None:
    """Raise what `collect` would raise for this authorization before it claims it. Nothing is written or charged.

    For callers that do something irreversible before they collect. Whether the payer has the money is not checked.
    One query; a request to the chain for a wallet whose holdings are not cached or which is a contract.
    """
    sale = Sale(purchase=purchase, prices=prices, caller=caller, now=now, payer=signed.payer)
    admission.verify(sale, signed)
    admission.admit(sale, signed)


def collect(
    purchase: Purchase,
    *,
    products: Sequence[str],
    caller: Caller,
    proof: Proof | None,
    receipt_token: str | None,
    prices: PriceList | None = None,
    check_claim: Callable[[Payment], None] | None = None,
    now: datetime,
) -> Receipt:
    """Take the payment for these products, once, and return its receipt.

    `prices` are those of the price list if none are given. `check_claim` is called with the payment in the transaction
    that claims an authorization, and raises an ApiError if it must not be settled.

    Call it when the answer is ready, so that nothing is settled for an error, and outside of any transaction: the
    claim must be visible to other requests before the network is used. An authorization costs two writes and one
    request to the facilitator, a transaction that was sent already one write and two requests to the chain.
    receipts.PaidResponse writes once more when the answer is closed; a tier that is not cached costs a request and a
    write.

    Raises PaymentRequired (402) and its kinds, TierRequired (403), PaymentIdentifierReused (409), SettlementPending,
    FacilitatorUnavailable and others of ServiceUnavailable (503). With any of them nothing was charged, except if
    SettlementPending says that this is not known yet, or if `refund` names a payment for which a refund is due.
    """
    with counters.count_refusals(products, channel=purchase.channel, has_proof=proof is not None):
        if not settings.PAY_TO:
            raise PaymentsNotConfigured("This installation takes no payments: PAY_TO is not set.")
        payer = proof.payer if isinstance(proof, Authorization) else None
        prices = prices or price_list.load_price_list(products, now=now)
        sale = Sale(
            purchase=purchase,
            prices=prices,
            caller=caller,
            now=now,
            payer=payer,
            receipt_token=receipt_token,
            quote_digest=proof.quote_digest if isinstance(proof, Authorization) else "",
            check_claim=check_claim,
        )
        if proof is None:
            raise sale.build_payment_error(PaymentRequired, sale.price_message)
        if connection.in_atomic_block:
            raise RuntimeError("collect() must not run inside a transaction")
        if isinstance(proof, TransactionProof):
            return transaction_proof.collect(sale, proof)
        return signed_authorization.collect(sale, proof)
