"""Resources: prices, vocabularies, the account of the caller, and restaurants."""

import re
from collections.abc import Sequence

from django.http import HttpRequest
from django.utils import timezone

from catalogue import responses
from catalogue.agent_discovery import x402_manifest
from catalogue.filters.param_types import SLUG
from catalogue.mcp import completion
from catalogue.places import RestaurantNotFound
from framework.api.renderers import JSONRenderer
from framework.mcp.resources import Resource
from payments.interface import MeRecord, caller_of, load_profile

# Other texts are not looked up.
SLUG_PATTERN = re.compile(f"(?=.{{1,120}}$){SLUG}")


def prices(_request: HttpRequest) -> bytes:
    """The price list of GET /.well-known/x402, at most a minute old."""
    return x402_manifest.price_list()


def markets(_request: HttpRequest) -> bytes:
    """The body of GET /v1/markets."""
    return responses.markets(now=timezone.now()).body


def cuisines(_request: HttpRequest) -> bytes:
    """The body of GET /v1/cuisines."""
    return responses.cuisines({}, now=timezone.now()).body


def attributes(_request: HttpRequest) -> bytes:
    """The body of GET /v1/attributes."""
    return responses.attributes(now=timezone.now()).body


def account(request: HttpRequest) -> bytes:
    """The body of GET /v1/me."""
    profile = load_profile(caller_of(request), usage=request.usage, now=timezone.now())  # type: ignore[attr-defined]
    return JSONRenderer().render(MeRecord(profile).data)


def restaurant(_request: HttpRequest, *, slug: str) -> bytes:
    """The body of GET /v1/restaurants/{slug}, which is free. Raises RestaurantNotFound, Renamed and Gone."""
    if not SLUG_PATTERN.fullmatch(slug):
        raise RestaurantNotFound
    return responses.restaurant(slug, {"fields": ("core",)}, now=timezone.now()).body


RESOURCES: Sequence[Resource] = (
    Resource(
        uri="restaurants://prices",
        name="prices",
        title="What is sold, and for how much",
        description=(
            "Each product with its prices in USDC by tier, from which tier it is sold, and the tools that give it; how"
            " a tier is reached; the network, asset and receiver of payments. The price that a tool tells counts."
        ),
        read=prices,
        is_public=True,
    ),
    Resource(
        uri="restaurants://markets",
        name="markets",
        title="Markets",
        description="The cities that are covered, with the slugs that the argument `market` takes, and their zones.",
        read=markets,
        is_public=True,
    ),
    Resource(
        uri="restaurants://cuisines",
        name="cuisines",
        title="Cuisines",
        description="The slugs that the argument `cuisine` takes, with their labels.",
        read=cuisines,
        is_public=True,
    ),
    Resource(
        uri="restaurants://attributes",
        name="attributes",
        title="Amenities and diets",
        description="The keys that the arguments `attributes` and `diet` take, with their labels.",
        read=attributes,
        is_public=True,
    ),
    Resource(
        uri="restaurants://account",
        name="account",
        title="Your account",
        description="Who you are to us: your tier, its limit and what is left of it, your prices, and the next tier.",
        read=account,
    ),
    Resource(
        uri="restaurants://restaurant/{slug}",
        name="restaurant",
        title="A restaurant",
        description="The free record of one restaurant, as get_restaurant gives it. A former slug says the new one.",
        read=restaurant,
        is_public=True,
        completers={"slug": completion.complete_slug},
    ),
)
