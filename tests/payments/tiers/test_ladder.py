"""What to hold or stake for a tier, where, and what it opens, is told wherever a tier is asked for."""

import pytest
from django.conf import LazySettings
from django.test import Client

from catalogue.agent_discovery import x402_manifest
from payments.chain.evm import to_checksum_address
from tests.catalogue import builders
from tests.mcp.client import call, price_of, refusal_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("prices")]
TIERS = {"free": "0", "pro": "100", "premium": "1000", "enterprise": None}


def test_the_tiers_say_what_leads_to_them_and_what_they_open(client: Client, settings: LazySettings) -> None:
    ladder = client.get("/v1/tiers").json()
    assert ladder["token"] == {
        "address": to_checksum_address(settings.TOKEN_ADDRESS),
        "network": "eip155:84532",
        "network_name": "base-sepolia",
        "chain_id": 84532,
        "stake_function": "stake(uint256)",
    }
    assert {tier["tier"]: tier["from_usd"] for tier in ladder["tiers"]} == TIERS
    assert [tier["from_stake"] for tier in ladder["tiers"]] == [None, None, 5000, 50_000]
    opens = {tier["tier"]: tier["opens"] for tier in ladder["tiers"]}
    assert (opens["free"], opens["pro"], opens["premium"]) == (
        ["context"],
        ["photos", "reviews"],
        ["ai_insight", "history"],
    )
    assert len(opens["enterprise"]) == 5
    assert ladder["applies_after_s"] == settings.TIER_UPGRADE_AGE_S
    assert "stake_function" in ladder["how"]


def test_the_x402_document_has_the_same_ladder(client: Client) -> None:
    x402_manifest.cached_document.clear()
    ladder, manifest = client.get("/v1/tiers").json(), client.get("/.well-known/x402").json()
    assert [tier["opens"] for tier in manifest["tiers"]] == [tier["opens"] for tier in ladder["tiers"]]
    assert (manifest["token"], manifest["how"]) == (ladder["token"], ladder["how"])


def test_a_price_says_how_its_tier_is_reached(client: Client, settings: LazySettings) -> None:
    place = builders.restaurant(slug="noma")
    builders.review(place, "Superb.", stars=5)
    token = to_checksum_address(settings.TOKEN_ADDRESS)
    asked = client.get("/v1/restaurants/noma/reviews").json()
    assert (asked["tier_required"], asked["from_usd"], asked["from_stake"]) == ("pro", "100", None)
    assert asked["token"]["address"] == token
    assert asked["tiers"].endswith("/v1/tiers")
    ways = f"It takes holding 100 USD worth of the token {token} on eip155:84532."
    assert asked["detail"].endswith(ways)
    result = call(client, "list_reviews", slug="noma")
    assert str(price_of(result).error).endswith(ways)
    assert refusal_of(result)["token"]["stake_function"] == "stake(uint256)"


def test_what_every_tier_may_buy_names_none(client: Client) -> None:
    builders.landmark("Tivoli", kind="park", market="copenhagen")
    builders.restaurant(slug="noma")
    asked = client.get("/v1/restaurants/noma/context").json()
    assert asked["tier_required"] is None
    assert not {"token", "from_usd", "tiers"} & set(asked)
