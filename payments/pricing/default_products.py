"""The default products, prices and tier terms of a new installation."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from framework.data_files import read_toml
from payments.models import Price, Product, TierTerms
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRO, TIERS, Tier

# The name, description, minimum tier and prices of each slug.
PRODUCTS: Mapping[str, Mapping[str, Any]] = read_toml(Path(__file__).with_name("default_products.toml"))
# Seed 001, "States and transitions": support, the queue of jobs, the service-level agreement.
TIER_TERMS: Mapping[Tier, tuple[str, str, str]] = {
    FREE: ("docs and community", "standard", ""),
    PRO: ("e-mail", "elevated", ""),
    PREMIUM: ("priority", "priority", ""),
    ENTERPRISE: ("dedicated", "dedicated", "by contract"),
}


@transaction.atomic
def create_missing() -> None:
    """Create missing products, prices and tier terms; existing ones do not change. Four statements."""
    now = timezone.now()
    TierTerms.objects.bulk_create(
        [
            TierTerms(tier=tier.name, support=support, priority=priority, sla=sla)
            for tier, (support, priority, sla) in TIER_TERMS.items()
        ],
        ignore_conflicts=True,
    )
    Product.objects.bulk_create(
        [
            Product(
                slug=slug, name=default["name"], description=default["description"], from_tier=default["from_tier"]
            )
            for slug, default in PRODUCTS.items()
        ],
        ignore_conflicts=True,
    )
    existing = set(Price.objects.values_list("product_id", "rate"))
    Price.objects.bulk_create(
        Price(product_id=slug, rate=tier.rate, amount_usdc=Decimal(amount), valid_from=now)
        for slug, default in PRODUCTS.items()
        for tier, amount in zip(TIERS.values(), default["prices"], strict=True)
        if (slug, tier.rate) not in existing
    )
