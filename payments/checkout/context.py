"""The context of one checkout: purchase, prices and caller, and the errors that name them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.conf import settings

from framework.errors import ApiError, ErrorCode
from payments.chain.networks import payment_network
from payments.chain.reads import Transfer
from payments.identity.caller import Caller
from payments.models import Payment, Wallet
from payments.pricing.price_list import PriceList, Quote
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier, describe_ways
from payments.tiers.terms import STANDARD, Terms
from payments.x402 import quotes
from payments.x402.challenges import PaymentRejected, PaymentRequired, describe_required
from payments.x402.purchase import Purchase
from payments.x402.receipts import is_receipt_token

Required = TypeVar("Required", bound=PaymentRequired)


class TierRequired(ApiError):
    """The wallet that pays has a tier to which this is not sold.

    The error says how the required tier is reached, and when, if the wallet's holding leads to it already.
    """

    code = ErrorCode.TIER_REQUIRED

    def __init__(self, message: str, *, terms: Terms, required: Tier, refund: str | None = None) -> None:
        note, upgrade = describe_upgrade(terms)
        names = {"tier": terms.tier.name, "tier_required": required.name}
        extra = {**names, **describe_required(required), **upgrade}
        super().__init__(
            f"{message}{note}{describe_ways(required)}",
            extra={**extra, **({"refund": refund} if refund else {})},
            headers={"Cache-Control": "no-store"},
        )


class PaymentIdentifierReused(ApiError):
    """The payer has given this identifier to another payment, which does not buy this purchase."""

    code = ErrorCode.PAYMENT_IDENTIFIER_REUSED

    def __init__(self, message: str, *, refund: str | None = None) -> None:
        super().__init__(
            f"{message} Nothing was charged for this one: pay under a new identifier.",
            extra={"refund": refund} if refund else {},
            headers={"Cache-Control": "no-store"},
        )


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


@dataclass(frozen=True, slots=True)
class Sale:
    """A purchase, its prices, the caller, and the wallet that has signed the payment (None: no payment yet)."""

    purchase: Purchase
    prices: PriceList
    caller: Caller
    now: datetime
    payer: str | None = None
    # The X-Receipt of an earlier answer.
    receipt_token: str | None = None
    # Of the 402 that the payment answers.
    quote_digest: str = ""
    check_claim: Callable[[Payment], None] | None = None

    @property
    def quote(self) -> Quote:
        """The price: on the caller's terms if these apply to the payer, else the standard price.

        Every payer may pay the standard price. The price by the payer's own terms is not disclosed: the payment may
        be a copy that another caller presents.
        """
        quote = self.prices.quote(self.caller.terms_for(self.payer) or STANDARD)
        # A plan with the factor 0 gives away what its tier is sold (checkout.is_free_by_plan); all else keeps a price.
        return quote if quote.amount else self.prices.quote(STANDARD)

    @property
    def price_message(self) -> str:
        if self.prices.is_fixed:
            return f"{self.prices.description} Ask again with a payment of this amount."
        price = (
            f"This costs {self.quote.amount.normalize():f} {payment_network().asset_name}: ask again with a payment."
        )
        if self.prices.from_tier == FREE:
            return price
        return (
            f"{price} It is sold from the {self.prices.from_tier.name} tier on, which the wallet that pays must have."
            f"{describe_ways(self.prices.from_tier)}"
        )

    def applicable_terms(self, payer: str, payer_terms: Terms) -> Sequence[Terms]:
        """All terms that apply to this payer: their own, and the caller's if the payer is one of their wallets."""
        callers = self.caller.terms_for(payer)
        return [payer_terms] if callers is None else [payer_terms, callers]

    def best_terms(self, payer: str, payer_terms: Terms) -> Terms:
        return terms.best_terms(self.applicable_terms(payer, payer_terms))

    def acceptable_amounts(self, payer: str, payer_terms: Terms) -> frozenset[Decimal]:
        """The amounts that this payer may pay: by any terms that apply to them, or by a lower tier.

        A lower tier's price may have been quoted before the tier changed or a plan began.
        """
        best = self.best_terms(payer, payer_terms)
        lower = [terms.tier_terms(tier) for tier in TIERS.values() if tier < best.tier]
        return self.prices.acceptable([STANDARD, *lower, *self.applicable_terms(payer, payer_terms)])

    def possible_amounts(self, wallet: Wallet) -> frozenset[Decimal]:
        """The amounts that this wallet, loaded `with_plan`, might pay, as far as is known without the chain."""
        applicable = self.applicable_terms(wallet.address, terms.plan_terms(wallet))
        return self.prices.acceptable([*map(terms.tier_terms, TIERS.values()), *applicable])

    def is_covered_by(self, payment: Payment) -> bool:
        """Whether the payment is for this request, and for every product that its answer contains now."""
        return payment.purchase == self.purchase.key and set(self.prices.products) <= set(payment.products)

    def is_owner(self, payment: Payment) -> bool:
        """Whether the caller may read what this payment has bought, which the chain shows to everybody.

        Its proven sender may, the holder of its receipt or of the secret of the 402 that it answers, and who presented
        it first.
        """
        return (
            payment.payer in self.caller.wallets
            or (payment.origin != "" and payment.origin == self.caller.origin)
            or (payment.quote_digest != "" and payment.quote_digest == self.quote_digest)
            or is_receipt_token(self.receipt_token, payment.pk)
        )

    def is_quoted(self, transfer: Transfer) -> bool:
        """Whether this caller was quoted this amount for this purchase. A request to Valkey."""
        amount = payment_network().to_atomic(transfer.amount)
        return quotes.is_quoted(
            amount, origin=self.caller.origin, purchase=self.purchase.key, mined_at=transfer.mined_at
        )

    @property
    def has_own_amount(self) -> bool:
        """Whether the caller is quoted an amount that nobody else is quoted, which identifies a plain transfer."""
        is_unproven = not self.caller.wallets and self.purchase.channel == Payment.Channel.REST
        return is_unproven and (self.prices.is_for_anyone or not self.prices.is_fixed)

    def build_payment_error(self, kind: type[Required], message: str, **rest: Any) -> Required:
        """Return a 402 with a fresh challenge. A caller without a proven wallet is quoted an amount of their own."""
        quote, plain_amount = self.quote, None
        if self.has_own_amount:
            plain_amount = quotes.quote_amount(
                payment_network().to_atomic(quote.amount),
                origin=self.caller.origin,
                purchase=self.purchase.key,
                now=self.now,
            )
        return kind(message, quote=quote, purchase=self.purchase, plain_amount=plain_amount, **rest)

    def release_quote(self) -> None:
        """Free the amount that was quoted for a plain transfer: the purchase was paid in another way."""
        if self.has_own_amount:
            price = payment_network().to_atomic(self.quote.amount)
            quotes.release_amount(price, origin=self.caller.origin, purchase=self.purchase.key)

    def build_unproven_error(self, *, refund: str | None = None) -> PaymentRejected:
        """Return the 402 for money whose sender the caller has not proven to be; `refund` names its payment."""
        return self.build_payment_error(
            PaymentRejected,
            "Everybody can read this payment on the chain. Prove that it is yours: sign in with the wallet that sent"
            " it (GET /v1/auth/challenge) and ask again. What buys nothing is refunded to its sender.",
            reason="unproven_sender",
            refund=refund,
        )

    def build_tier_error(self, terms: Terms, *, refund: str | None = None) -> TierRequired:
        """Return the 403 for a payer with these terms; `refund` is the public id of a payment to be refunded."""
        required = self.prices.from_tier
        charged = "A refund of what you have sent is due." if refund else "Nothing was charged."
        return TierRequired(
            f"This is sold from the {required.name} tier on, and the wallet that pays is {terms.tier.name}. {charged}",
            terms=terms,
            required=required,
            refund=refund,
        )

    def new_payment(self, **values: Any) -> Payment:
        defaults = {
            "purchase": self.purchase.key,
            "method": self.purchase.method,
            "channel": self.purchase.channel,
            "resource": self.purchase.url,
            "products": list(self.prices.products),
            "network": payment_network().caip2,
            "asset": payment_network().asset,
            "pay_to": settings.PAY_TO,
            "attempts": 1,
            "created_at": self.now,
            "origin": self.caller.origin,
        }
        return Payment(**defaults | values)


def describe_upgrade(terms: Terms) -> tuple[str, Mapping[str, str]]:
    """Return a sentence and error members about the tier that the payer's holding leads to; both empty without one."""
    if terms.pending_tier is None:
        return "", {}
    # Whole seconds, rounded up: at the named moment the tier applies.
    at = f"{terms.pending_tier.at + timedelta(microseconds=999_999):%Y-%m-%dT%H:%M:%SZ}"
    return (
        f" By what it holds it is {terms.pending_tier.tier.name} from {at} on, if that stays.",
        {"pending_tier": terms.pending_tier.tier.name, "pending_tier_at": at},
    )
