"""What is being sold to whom: the one that all refusals speak of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from config.api import ids
from config.api.refusal import Code, Refusal
from payments.callers import Caller
from payments.models import Payment
from payments.networks import ours
from payments.prices import PriceList, Quote
from payments.purchases import Purchase
from payments.tiers import FREE, Tier
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
    def rate(self) -> str:
        """The rate that is quoted: of the caller's tier where the wallet is proven, else the standard one."""
        return self.caller.tier.rate if self.caller.wallet else FREE.rate

    @property
    def quote(self) -> Quote:
        """What it costs this caller."""
        return self.prices.quote(self.rate)

    @property
    def terms(self) -> str:
        """What has to be done, in words."""
        price = f"This costs {self.quote.amount.normalize():f} {ours().asset_name}: repeat the request with a payment."
        if self.prices.from_tier == FREE:
            return price
        return (
            f"{price} It is sold from the {self.prices.from_tier.name} tier on, which the wallet that pays must have."
        )

    def acceptable(self, payer: str, tier: Tier) -> frozenset[Decimal]:
        """The amounts with which this payer, of this tier, pays for it: of the own rate or the standard one.

        The rate of a session is for payments by its own wallet.
        """
        quoted = {self.rate} if self.caller.wallet == payer else set()
        return self.prices.acceptable({FREE.rate, tier.rate} | quoted)

    def is_in(self, row: Payment) -> bool:
        """Whether this is what the payment is for: the same request, and nothing in its answer that came later."""
        return row.purchase == self.purchase.key and set(self.prices.products) <= set(row.products)

    def refused(self, kind: type[Required], message: str, **rest: Any) -> Required:
        """A 402 with a fresh challenge."""
        return kind(message, quote=self.quote, purchase=self.purchase, **rest)

    def not_sold_to(self, tier: Tier, *, refund: str | None = None) -> TierRequired:
        """The 403 for a payer of this tier."""
        needed = self.prices.from_tier.name
        extra: Mapping[str, Any] = {"tier": tier.name, "tier_required": needed}
        charged = "What you have sent is owed back to you." if refund else "Nothing was charged."
        return TierRequired(
            f"This is sold from the {needed} tier on, and the wallet that pays is {tier.name}. {charged}",
            extra={**extra, **({"refund": refund} if refund else {})},
            headers={"Cache-Control": "no-store"},
        )

    def line(self, **values: Any) -> Payment:
        """A new line of the ledger for this purchase, not written yet."""
        return Payment(
            purchase=self.purchase.key,
            resource=self.purchase.url,
            products=list(self.prices.products),
            created_at=self.now,
            **values,
        )


def public_id(row: Payment) -> str:
    """What a payment is called outside."""
    return ids.encode(PREFIX, row.pk)
