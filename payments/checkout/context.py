"""The context of one checkout: purchase, prices and caller, and the errors that name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.conf import settings

from framework.errors import ApiError, ErrorCode
from payments.chain.networks import payment_network
from payments.identity.caller import Caller
from payments.models import Payment, Wallet
from payments.pricing.price_list import PriceList, Quote
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS
from payments.tiers.terms import STANDARD, Terms
from payments.x402.challenges import PaymentRequired
from payments.x402.purchase import Purchase

Required = TypeVar("Required", bound=PaymentRequired)


class TierRequired(ApiError):
    """The wallet that pays has a tier to which this is not sold."""

    code = ErrorCode.TIER_REQUIRED


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
        price = (
            f"This costs {self.quote.amount.normalize():f} {payment_network().asset_name}: ask again with a payment."
        )
        if self.prices.from_tier == FREE:
            return price
        return (
            f"{price} It is sold from the {self.prices.from_tier.name} tier on, which the wallet that pays must have."
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

    def build_payment_error(self, kind: type[Required], message: str, **rest: Any) -> Required:
        """Return a 402 with a fresh challenge."""
        return kind(message, quote=self.quote, purchase=self.purchase, **rest)

    def build_tier_error(self, terms: Terms, *, refund: str | None = None) -> TierRequired:
        """Return the 403 for a payer with these terms; `refund` is the public id of a payment to be refunded."""
        required = self.prices.from_tier.name
        charged = "A refund of what you have sent is due." if refund else "Nothing was charged."
        upgrade_message, upgrade = describe_upgrade(terms)
        return TierRequired(
            f"This is sold from the {required} tier on, and the wallet that pays is {terms.tier.name}. {charged}"
            f"{upgrade_message}",
            extra={
                "tier": terms.tier.name,
                "tier_required": required,
                **upgrade,
                **({"refund": refund} if refund else {}),
            },
            headers={"Cache-Control": "no-store"},
        )

    def new_payment(self, **values: Any) -> Payment:
        return Payment(
            purchase=self.purchase.key,
            method=self.purchase.method,
            channel=self.purchase.channel,
            resource=self.purchase.url,
            products=list(self.prices.products),
            network=payment_network().caip2,
            asset=payment_network().asset,
            pay_to=settings.PAY_TO,
            attempts=1,
            created_at=self.now,
            **values,
        )


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
