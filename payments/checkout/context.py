"""What is being sold to whom: the one that all refusals speak of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from framework import public_ids
from framework.errors import Code, Refusal
from payments.chain.networks import ours
from payments.identity.caller import Caller
from payments.models import Payment, Wallet
from payments.pricing.price_list import PriceList, Quote
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS
from payments.tiers.terms import STANDARD, Terms
from payments.x402 import PaymentRequired
from payments.x402.purchase import Purchase
from payments.x402.receipts import PREFIX

Required = TypeVar("Required", bound=PaymentRequired)


class TierRequired(Refusal):
    """The wallet that pays is of a tier to which this is not sold."""

    code = Code.TIER_REQUIRED


@dataclass(frozen=True, slots=True)
class Sale:
    """A purchase, its prices, who wants it, and who has signed the payment for it (None: nobody yet)."""

    purchase: Purchase
    prices: PriceList
    caller: Caller
    now: datetime
    payer: str | None = None

    @property
    def quote(self) -> Quote:
        """What it costs: on the caller's terms where these hold for who pays, else the standard price.

        Every payer may pay that. What the payer's own terms say is not told: the payment may be a copy.
        """
        agreed = self.prices.quote(self.caller.terms_for(self.payer) or STANDARD)
        # A plan gives away what its tier is sold (gate.is_given); all else has a price for them too.
        return agreed if agreed.amount else self.prices.quote(STANDARD)

    @property
    def asking(self) -> str:
        """What has to be done, in words."""
        price = f"This costs {self.quote.amount.normalize():f} {ours().asset_name}: ask again with a payment."
        if self.prices.from_tier == FREE:
            return price
        return (
            f"{price} It is sold from the {self.prices.from_tier.name} tier on, which the wallet that pays must have."
        )

    def holding(self, payer: str, theirs: Terms) -> Sequence[Terms]:
        """All terms that hold for this payer: their own, and those that the caller lends them."""
        lent = self.caller.terms_for(payer)
        return [theirs] if lent is None else [theirs, lent]

    def terms_for(self, payer: str, theirs: Terms) -> Terms:
        """The best terms that hold for this payer."""
        return terms.best(self.holding(payer, theirs))

    def acceptable(self, payer: str, theirs: Terms) -> frozenset[Decimal]:
        """The amounts with which this payer pays for it: on any terms that hold for them, or those of a lower tier.

        These were quoted, maybe, before the tier rose or a plan began.
        """
        best = self.terms_for(payer, theirs)
        lower = [terms.plain(tier) for tier in TIERS.values() if tier < best.tier]
        return self.prices.acceptable([STANDARD, *lower, *self.holding(payer, theirs)])

    def could_be_acceptable(self, payer: Wallet) -> frozenset[Decimal]:
        """The amounts with which this payer, found `with_plan`, may pay, as far as is told without the chain."""
        agreed = self.holding(payer.address, terms.without_holding(payer))
        return self.prices.acceptable([*map(terms.plain, TIERS.values()), *agreed])

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
            door=self.purchase.door,
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
    return public_ids.encode(PREFIX, row.pk)
