"""The products and prices of a fresh installation."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from payments.models import Price, Product, TierTerms
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRO, TIERS, Tier


@dataclass(frozen=True, slots=True)
class Offer:
    """A product to begin with, and its prices in USDC from the standard rate to the committed one."""

    name: str
    description: str
    from_tier: Tier
    prices: tuple[str, str, str, str]


OFFERS: Mapping[str, Offer] = {
    "reviews": Offer(
        name="Reviews",
        description="How guests rated a restaurant, the newest reviews and the owner's replies",
        from_tier=PRO,
        prices=("0.004", "0.003", "0.002", "0.001"),
    ),
    "photos": Offer(
        name="Photos",
        description="Photos of a restaurant with their authors and licences",
        from_tier=PRO,
        prices=("0.003", "0.002", "0.0015", "0.001"),
    ),
    "history": Offer(
        name="History",
        description="What a restaurant was: its versions, the record at a moment, the feed of all changes",
        from_tier=PREMIUM,
        prices=("0.01", "0.008", "0.006", "0.003"),
    ),
    "context": Offer(
        name="Neighborhood context",
        description="Landmarks, museums and parks around a restaurant",
        from_tier=FREE,
        prices=("0.002", "0.0015", "0.001", "0.0005"),
    ),
    "ai_insight": Offer(
        name="Insight",
        description="A generated summary, the best time to go and dishes to try, each with its sources",
        from_tier=PREMIUM,
        prices=("0.01", "0.008", "0.006", "0.003"),
    ),
    # Each is one file set, whatever its filter leaves; none is above what official clients pay unasked.
    "export_restaurants": Offer(
        name="Export of restaurants",
        description="All restaurants, or those of a filter, as files",
        from_tier=ENTERPRISE,
        prices=("0.9", "0.8", "0.7", "0.5"),
    ),
    "export_reviews": Offer(
        name="Export of reviews",
        description="The reviews of all restaurants, or of those of a filter, as files",
        from_tier=ENTERPRISE,
        prices=("1", "0.95", "0.9", "0.8"),
    ),
    "export_photos": Offer(
        name="Export of photos",
        description="The photos of all restaurants with their authors and licences, as files",
        from_tier=ENTERPRISE,
        prices=("0.6", "0.5", "0.4", "0.3"),
    ),
    "export_landmarks": Offer(
        name="Export of landmarks",
        description="All landmarks, or those of a market, as files",
        from_tier=ENTERPRISE,
        prices=("0.3", "0.25", "0.2", "0.1"),
    ),
    "export_history": Offer(
        name="Export of history",
        description="The versions that restaurants have had, as files",
        from_tier=ENTERPRISE,
        prices=("1", "0.95", "0.9", "0.8"),
    ),
}


# Seed 001, "States and transitions": support, the queue of jobs, the service-level agreement.
PROMISES: Mapping[Tier, tuple[str, str, str]] = {
    FREE: ("docs and community", "standard", ""),
    PRO: ("e-mail", "elevated", ""),
    PREMIUM: ("priority", "priority", ""),
    ENTERPRISE: ("dedicated", "dedicated", "by contract"),
}


@transaction.atomic
def load() -> None:
    """Create the products and prices that are missing; what staff have changed stays."""
    now = timezone.now()
    for tier, (support, priority, sla) in PROMISES.items():
        TierTerms.objects.get_or_create(
            tier=tier.name, defaults={"support": support, "priority": priority, "sla": sla}
        )
    for slug, offer in OFFERS.items():
        product, _ = Product.objects.get_or_create(
            slug=slug,
            defaults={"name": offer.name, "description": offer.description, "from_tier": offer.from_tier.name},
        )
        priced = set(product.prices.values_list("rate", flat=True))
        Price.objects.bulk_create(
            Price(product=product, rate=tier.rate, amount_usdc=Decimal(amount), valid_from=now)
            for tier, amount in zip(TIERS.values(), offer.prices, strict=True)
            if tier.rate not in priced
        )
