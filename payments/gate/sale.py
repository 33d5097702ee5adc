"""What is being sold to whom: the one that all refusals speak of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from config.api import ids
from config.api.refusal import Code, Refusal
from payments import terms
from payments.callers import Caller
from payments.models import Payment, Wallet
from payments.networks import ours
from payments.prices import PriceList, Quote
from payments.purchases import Purchase
from payments.terms import STANDARD, Terms
from payments.tiers import FREE, TIERS
from payments.wire import PaymentRequired
from payments.wire.receipts import PREFIX

Required = TypeVar("Required", bound=PaymentRequired)


class TierRequired(Refusal):
    """The wallet that pays is of a tier to which this is not sold."""

    code = Code.TIER_REQUIRED


@dataclass(frozen=True, slots=True)
class Sale:
    """A purchase, its prices, and who wants it."""

    purchase: Purchase
    prices: PriceList
    caller: Caller
    now: datetime

    @property
    def quote(self) -> Quote:
        """What it costs this caller: by their own terms once it is proven who they are, else the standard price."""
        return self.prices.quote(self.caller.terms if self.caller.is_known else STANDARD)

    @property
    def asking(self) -> str:
        """What has to be done, in words."""
        price = f"This costs {self.quote.amount.normalize():f} {ours().asset_name}: repeat the request with a payment."
        if self.prices.from_tier == FREE:
            return price
        return (
            f"{price} It is sold from the {self.prices.from_tier.name} tier on, which the wallet that pays must have."
        )

    def terms_for(self, payer: str, theirs: Terms) -> Terms:
        """On what terms this payer buys: theirs, or the caller's where these are better and hold for the payer."""
        vouched = self.caller.vouches_for(payer)
        return max(theirs, self.caller.terms, key=lambda each: each.tier) if vouched else theirs

    def acceptable(self, payer: str, theirs: Terms) -> frozenset[Decimal]:
        """The amounts with which this payer pays for it: by the payer's terms, the caller's, or those of a lower tier.

        The terms of a caller are for payments by a wallet that they vouch for. Those of a lower tier were
        quoted, maybe, before the tier rose or a plan began.
        """
        best = self.terms_for(payer, theirs)
        lower = {terms.plain(tier) for tier in TIERS.values() if tier < best.tier}
        quoted = {self.caller.terms} if self.caller.vouches_for(payer) else set()
        return self.prices.acceptable({STANDARD, theirs} | quoted | lower)

    def could_be_acceptable(self, payer: Wallet) -> frozenset[Decimal]:
        """The amounts with which this payer, found `with_plan`, may pay, as far as is told without the chain."""
        agreed = {terms.without_holding(payer), self.caller.terms}
        return self.prices.acceptable({terms.plain(tier) for tier in TIERS.values()} | agreed)

    def is_in(self, row: Payment) -> bool:
        """Whether this is what the payment is for: the same request, and nothing in its answer that came later."""
        return row.purchase == self.purchase.key and set(self.prices.products) <= set(row.products)

    def refused(self, kind: type[Required], message: str, **rest: Any) -> Required:
        """A 402 with a fresh challenge."""
        return kind(message, quote=self.quote, purchase=self.purchase, **rest)

    def not_sold_to(self, terms: Terms, *, refund: str | None = None) -> TierRequired:
        """The 403 for a payer on these terms."""
        needed = self.prices.from_tier.name
        charged = "What you have sent is owed back to you." if refund else "Nothing was charged."
        coming, rises = rising(terms)
        return TierRequired(
            f"This is sold from the {needed} tier on, and the wallet that pays is {terms.tier.name}. {charged}"
            f"{coming}",
            extra={
                "tier": terms.tier.name,
                "tier_required": needed,
                **rises,
                **({"refund": refund} if refund else {}),
            },
            headers={"Cache-Control": "no-store"},
        )

    def line(self, **values: Any) -> Payment:
        """A new line of the ledger for this purchase, not written yet."""
        return Payment(
            purchase=self.purchase.key,
            method=self.purchase.method,
            resource=self.purchase.url,
            products=list(self.prices.products),
            created_at=self.now,
            **values,
        )


def rising(terms: Terms) -> tuple[str, Mapping[str, str]]:
    """What to say of a tier that is on its way: a sentence to add to a message, and members for its body."""
    if terms.rise is None:
        return "", {}
    # Whole seconds, and not one too early.
    at = f"{terms.rise.at + timedelta(microseconds=999_999):%Y-%m-%dT%H:%M:%SZ}"
    return (
        f" By what it holds it is {terms.rise.tier.name} from {at} on, if that stays.",
        {"rising_tier": terms.rise.tier.name, "tier_rises_at": at},
    )


def public_id(row: Payment) -> str:
    """What a payment is called outside."""
    return ids.encode(PREFIX, row.pk)
