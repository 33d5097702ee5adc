"""The ladder of tiers for callers: what leads to each tier, and what it opens."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from payments.models import Product
from payments.tiers.definitions import TIERS, describe_requirements, describe_token

HOW = (
    "Hold the token in the wallet that pays, or stake it by `stake_function` of its contract from that wallet, with an"
    " amount in the token's smallest unit. Nothing is registered: the wallet is read when it pays or signs in, and has"
    " the tier after `applies_after_s` seconds."
)


def describe_ladder() -> Mapping[str, Any]:
    """The token, and each tier with its requirements, limit, rate and the products that it opens. One query."""
    from_tier: dict[str, list[str]] = {}
    for slug, tier in Product.objects.order_by("slug").values_list("slug", "from_tier"):
        from_tier.setdefault(tier, []).append(slug)
    return {
        # Null while there is no token: then all callers without a plan are on Free.
        "token": describe_token(),
        "how": HOW,
        "applies_after_s": int(settings.TIER_UPGRADE_AGE_S),
        "tiers": [
            {
                "tier": tier.name,
                "rate": tier.rate,
                "requests_per_minute": tier.per_minute,
                **describe_requirements(tier),
                "opens": from_tier.get(tier.name, []),
            }
            for tier in TIERS.values()
        ],
    }
