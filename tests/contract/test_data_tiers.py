"""Seed 001 on access tiers: one test for each of its statements."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from payments.chain import reads
from payments.devchain.wallets import Wallet
from payments.models import Plan
from payments.pricing import default_products
from payments.tiers.definitions import TIERS
from tests.payments.signing import client_of, sign_in
from tests.payments.transfers import send
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = pytest.mark.django_db

ME = "/v1/me"
WEI = 10**18


@pytest.fixture(autouse=True)
def _priced() -> None:
    default_products.create_missing()


def me(caller: Client) -> dict[str, Any]:
    found: dict[str, Any] = caller.get(ME).json()
    return found


def tier_by(*, tokens: str = "0", staked: int = 0, settings: Settings) -> str:
    """The tier that a new wallet gets by holding and staking so many tokens, at 2 USD each."""
    wallet = fresh_wallet(tokens=Decimal(tokens) + staked)
    if staked:
        send(wallet, settings.TOKEN_ADDRESS, "stake(uint256)", staked * WEI)
    return str(sign_in(Client(), wallet).json()["tier"])


# Reached by
def test_the_free_tier_is_the_default_and_anonymous(client: Client) -> None:
    assert (me(client)["tier"], me(client)["wallet"]) == ("free", None)


@pytest.mark.parametrize(("tokens", "tier"), [("49.999999999999999999", "free"), ("50", "pro"), ("499.99", "pro")])
def test_pro_is_reached_by_holding_at_least_100_usd_worth_of_the_token(
    settings: Settings, tokens: str, tier: str
) -> None:
    assert tier_by(tokens=tokens, settings=settings) == tier


@pytest.mark.parametrize(("tokens", "tier"), [("499.999999999999999999", "pro"), ("500", "premium")])
def test_premium_is_reached_by_holding_at_least_1000_usd_worth_of_the_token(
    settings: Settings, tokens: str, tier: str
) -> None:
    assert tier_by(tokens=tokens, settings=settings) == tier


def test_premium_is_reached_by_staking_too_whatever_the_token_is_worth(settings: Settings) -> None:
    settings.TOKEN_PRICE_FEED = ""
    assert tier_by(staked=settings.PREMIUM_STAKE, settings=settings) == "premium"
    assert tier_by(staked=settings.PREMIUM_STAKE - 1, settings=settings) == "free"


def test_enterprise_is_reached_by_staking_and_not_by_holding(settings: Settings) -> None:
    assert tier_by(staked=settings.ENTERPRISE_STAKE, settings=settings) == "enterprise"
    assert tier_by(tokens="1000000", settings=settings) == "premium"


def test_higher_tiers_are_obtained_by_holding_the_token_not_by_signing_a_contract(settings: Settings) -> None:
    wallet = fresh_wallet(tokens=Decimal(50))
    assert client_of(wallet).get("/v1/markets")["X-Tier"] == "pro"


def test_the_token_is_never_spent_on_calls(wallets: Mapping[str, Wallet]) -> None:
    pro = wallets["pro"]
    now = datetime.now(UTC)
    before = (reads.read_holdings({pro.address: None}, now=now)[0].now, usdc_balance(pro.address))
    api = client_of(pro)
    assert [api.get("/v1/markets").status_code for _ in range(5)] == [200] * 5
    assert (reads.read_holdings({pro.address: None}, now=now)[0].now, usdc_balance(pro.address)) == before


# What a tier gives
@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "rate"), [("pro", 120), ("premium", 600)])
def test_a_tier_has_its_rate_of_requests_per_minute(
    settings: Settings, wallets: Mapping[str, Wallet], name: str, rate: int
) -> None:
    settings.TIER_CACHE_S = 600
    api = client_of(wallets[name])
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [api.get("/v1/nothing").status_code for _ in range(rate + 1)]
    assert answers == [404] * rate + [429]


def test_enterprise_has_a_capacity_of_its_own(wallets: Mapping[str, Wallet]) -> None:
    limits = me(client_of(wallets["enterprise"]))["limits"]
    assert limits["requests"] > max(tier.per_minute for name, tier in TIERS.items() if name != "enterprise")
    assert limits["used"] == 1


def test_the_tier_sets_the_rate_that_is_paid(client: Client, wallets: Mapping[str, Wallet]) -> None:
    lists = [me(client), *(me(client_of(wallets[name])) for name in ("pro", "premium", "enterprise"))]
    assert [found["prices"]["rate"] for found in lists] == ["standard", "discounted", "best", "committed"]
    for product in range(3):
        amounts = [Decimal(found["prices"]["products"][product]["amount"]) for found in lists]
        assert amounts == sorted(amounts, reverse=True)
        assert len(set(amounts)) == 4


def test_reviews_require_at_least_pro_and_insights_at_least_premium(client: Client) -> None:
    minimum = {priced["product"]: priced["from_tier"] for priced in me(client)["prices"]["products"]}
    assert (minimum["reviews"], minimum["ai_insight"]) == ("pro", "premium")


def test_photos_require_at_least_pro_and_full_history_at_least_premium(client: Client) -> None:
    minimum = {priced["product"]: priced["from_tier"] for priced in me(client)["prices"]["products"]}
    assert (minimum["photos"], minimum["history"]) == ("pro", "premium")


@pytest.mark.parametrize(
    ("name", "support", "priority"),
    [
        ("free", "docs and community", "standard"),
        ("pro", "e-mail", "elevated"),
        ("premium", "priority", "priority"),
        ("enterprise", "dedicated", "dedicated"),
    ],
)
def test_each_tier_has_its_support_and_priority(
    wallets: Mapping[str, Wallet], name: str, support: str, priority: str
) -> None:
    found = me(client_of(wallets[name]))
    assert (found["tier"], found["support"], found["priority"]) == (name, support, priority)


@pytest.mark.exhaustive
def test_only_enterprise_has_a_service_level_agreement(wallets: Mapping[str, Wallet]) -> None:
    assert [me(client_of(wallets[name]))["sla"] for name in TIERS] == [None, None, None, "by contract"]


# Custom terms, and what a wallet proves
def test_enterprise_is_reached_by_custom_terms_too(settings: Settings) -> None:
    wallet = fresh_wallet()
    assert sign_in(Client(), wallet).json()["tier"] == "free"
    Plan.objects.create(name="By contract", wallet_id=wallet.address, valid_from=datetime.now(UTC), per_minute=9000)
    found = me(client_of(wallet))
    assert (found["tier"], found["limits"]["requests"]) == ("enterprise", 9000)
    assert found["prices"]["rate"] == "committed"


def test_dedicated_capacity_is_not_shared(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TIER_CACHE_S = 600
    enterprise, anybody = client_of(wallets["enterprise"]), Client()
    with time_machine.travel(datetime.now(UTC), tick=False):
        assert [anybody.get("/v1/nothing").status_code for _ in range(11)][-1] == 429
        assert enterprise.get("/v1/markets").status_code == 200


def test_holding_the_token_raises_the_rate_limit(settings: Settings) -> None:
    holder, other = fresh_wallet(tokens=Decimal(50)), fresh_wallet()
    limits = [me(client_of(wallet))["limits"]["requests"] for wallet in (other, holder)]
    assert limits == [10, 120]


@pytest.mark.exhaustive
def test_every_answer_says_on_which_tier_it_was_given(client: Client, wallets: Mapping[str, Wallet]) -> None:
    assert client.get("/v1/markets")["X-Tier"] == "free"
    for name in TIERS:
        assert client_of(wallets[name]).get("/v1/markets")["X-Tier"] == name
