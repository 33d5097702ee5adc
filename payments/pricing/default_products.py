"""The default products, prices and tier terms of a new installation."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from payments.models import Price, Product, TierTerms
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRO, TIERS, Tier


@dataclass(frozen=True, slots=True)
class DefaultProduct:
    """A default product, with its prices in USDC from the standard to the committed rate."""

    name: str
    description: str
    from_tier: Tier
    prices: tuple[str, str, str, str]


PRODUCTS: Mapping[str, DefaultProduct] = {
    "reviews": DefaultProduct(
        name="Reviews",
        description="How guests rated a restaurant, the newest reviews and the owner's replies",
        from_tier=PRO,
        prices=("0.004", "0.003", "0.002", "0.001"),
    ),
    "photos": DefaultProduct(
        name="Photos",
        description="Photos of a restaurant with their authors and licences",
        from_tier=PRO,
        prices=("0.003", "0.002", "0.0015", "0.001"),
    ),
    "history": DefaultProduct(
        name="History",
        description="What a restaurant was: its versions, the record at a moment, the feed of all changes",
        from_tier=PREMIUM,
        prices=("0.01", "0.008", "0.006", "0.003"),
    ),
    "context": DefaultProduct(
        name="Neighborhood context",
        description="Landmarks, museums and parks around a restaurant",
        from_tier=FREE,
        prices=("0.002", "0.0015", "0.001", "0.0005"),
    ),
    "ai_insight": DefaultProduct(
        name="Insight",
        description="A generated summary, the best time to go and dishes to try, each with its sources",
        from_tier=PREMIUM,
        prices=("0.01", "0.008", "0.006", "0.003"),
    ),
    # Each is one set of files, for any filter. No price is above what official x402 clients pay by default.
    "export_restaurants": DefaultProduct(
        name="Export of restaurants",
        description="All restaurants, or those of a filter, as files",
        from_tier=ENTERPRISE,
        prices=("0.9", "0.8", "0.7", "0.5"),
    ),
    "export_reviews": DefaultProduct(
        name="Export of reviews",
        description="The reviews of all restaurants, or of those of a filter, as files",
        from_tier=ENTERPRISE,
        prices=("1", "0.95", "0.9", "0.8"),
    ),
    "export_photos": DefaultProduct(
        name="Export of photos",
        description="The photos of all restaurants with their authors and licences, as files",
        from_tier=ENTERPRISE,
        prices=("0.6", "0.5", "0.4", "0.3"),
    ),
    "export_landmarks": DefaultProduct(
        name="Export of landmarks",
        description="All landmarks, or those of a market, as files",
        from_tier=ENTERPRISE,
        prices=("0.3", "0.25", "0.2", "0.1"),
    ),
    "export_history": DefaultProduct(
        name="Export of history",
        description="The versions that restaurants have had, as files",
        from_tier=ENTERPRISE,
        prices=("1", "0.95", "0.9", "0.8"),
    ),
}


# Seed 001, "States and transitions": support, the queue of jobs, the service-level agreement.
TIER_TERMS: Mapping[Tier, tuple[str, str, str]] = {
    FREE: ("docs and community", "standard", ""),
    PRO: ("e-mail", "elevated", ""),
    PREMIUM: ("priority", "priority", ""),
    ENTERPRISE: ("dedicated", "dedicated", "by contract"),
}


@transaction.atomic
def create_missing() -> None:
    """Create missing products, prices and tier terms; existing ones do not change."""
    now = timezone.now()
    for tier, (support, priority, sla) in TIER_TERMS.items():
        TierTerms.objects.get_or_create(
            tier=tier.name, defaults={"support": support, "priority": priority, "sla": sla}
        )
    for slug, default in PRODUCTS.items():
        product, _ = Product.objects.get_or_create(
            slug=slug,
            defaults={"name": default.name, "description": default.description, "from_tier": default.from_tier.name},
        )
        existing = set(product.prices.values_list("rate", flat=True))
        Price.objects.bulk_create(
            Price(product=product, rate=tier.rate, amount_usdc=Decimal(amount), valid_from=now)
            for tier, amount in zip(TIERS.values(), default.prices, strict=True)
            if tier.rate not in existing
        )
