"""GET /v1/me: what a caller has."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.models import Plan, Price, Product, Wallet
from payments.pricing import default_products
from tests.payments.buyer import REVIEWS, paid_by
from tests.payments.signing import client_of, header_of
from tests.payments.test_rate_limits import paid_before
from tests.payments.transfers import send
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db

ME = "/v1/me"
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
TOKEN = {
    "address": to_checksum_address(settings.TOKEN_ADDRESS),
    "network": "eip155:84532",
    "network_name": "base-sepolia",
    "chain_id": 84532,
    "stake_function": "stake(uint256)",
}


@pytest.fixture(autouse=True)
def _priced() -> None:
    default_products.create_missing()


def test_an_anonymous_caller_sees_the_free_tier(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        response = client.get(ME)
    assert (response.status_code, response["Cache-Control"]) == (200, "private, no-store")
    assert response.json() == {
        "identified_by": "anonymous",
        "account": None,
        "wallet": None,
        "wallets": [],
        "tier": "free",
        "next_tier": {"tier": "pro", "holdings_usd": "100", "staked": None},
        "token": TOKEN,
        "pending_tier": None,
        "pending_tier_at": None,
        "holdings_usd": None,
        "staked": None,
        "read_at": None,
        "plan": None,
        "limits": {"requests": 10, "window_s": 60, "used": 1, "resets_at": int(response["X-RateLimit-Reset"])},
        "prices": {
            "rate": "standard",
            "asset": "USDC",
            "products": [
                {"product": "ai_insight", "amount": "0.01", "from_tier": "premium"},
                {"product": "context", "amount": "0.002", "from_tier": "free"},
                {"product": "export_history", "amount": "1", "from_tier": "enterprise"},
                {"product": "export_landmarks", "amount": "0.3", "from_tier": "enterprise"},
                {"product": "export_photos", "amount": "0.6", "from_tier": "enterprise"},
                {"product": "export_restaurants", "amount": "0.9", "from_tier": "enterprise"},
                {"product": "export_reviews", "amount": "1", "from_tier": "enterprise"},
                {"product": "history", "amount": "0.01", "from_tier": "premium"},
                {"product": "photos", "amount": "0.003", "from_tier": "pro"},
                {"product": "reviews", "amount": "0.004", "from_tier": "pro"},
            ],
        },
        "support": "docs and community",
        "priority": "standard",
        "sla": None,
    }


def test_a_wallet_sees_its_holdings_its_prices_and_what_leads_further(wallets: Mapping[str, Key]) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        api = client_of(wallets["pro"])
        api.get(ME)
        response = api.get(ME)
        now = datetime.now(UTC)
    assert response.json() == {
        "identified_by": "session",
        "account": None,
        "wallet": to_checksum_address(wallets["pro"].address),
        "wallets": [to_checksum_address(wallets["pro"].address)],
        "tier": "pro",
        "next_tier": {"tier": "premium", "holdings_usd": "1000", "staked": "5000"},
        "token": TOKEN,
        "pending_tier": None,
        "pending_tier_at": None,
        "holdings_usd": "250",
        "staked": "0",
        "read_at": now.strftime(MOMENT),
        "plan": None,
        "limits": {"requests": 120, "window_s": 60, "used": 2, "resets_at": int(response["X-RateLimit-Reset"])},
        "prices": {
            "rate": "discounted",
            "asset": "USDC",
            "products": [
                {"product": "ai_insight", "amount": "0.008", "from_tier": "premium"},
                {"product": "context", "amount": "0.0015", "from_tier": "free"},
                {"product": "export_history", "amount": "0.95", "from_tier": "enterprise"},
                {"product": "export_landmarks", "amount": "0.25", "from_tier": "enterprise"},
                {"product": "export_photos", "amount": "0.5", "from_tier": "enterprise"},
                {"product": "export_restaurants", "amount": "0.8", "from_tier": "enterprise"},
                {"product": "export_reviews", "amount": "0.95", "from_tier": "enterprise"},
                {"product": "history", "amount": "0.008", "from_tier": "premium"},
                {"product": "photos", "amount": "0.002", "from_tier": "pro"},
                {"product": "reviews", "amount": "0.003", "from_tier": "pro"},
            ],
        },
        "support": "e-mail",
        "priority": "elevated",
        "sla": None,
    }


@pytest.mark.parametrize(
    ("name", "above", "support", "priority", "sla"),
    [
        ("premium", {"tier": "enterprise", "holdings_usd": None, "staked": "50000"}, "priority", "priority", None),
        ("enterprise", None, "dedicated", "dedicated", "by contract"),
    ],
)
def test_the_higher_tiers_see_what_they_have(
    wallets: Mapping[str, Key], name: str, above: dict[str, str] | None, support: str, priority: str, sla: str | None
) -> None:
    me = client_of(wallets[name]).get(ME).json()
    assert (me["tier"], me["next_tier"]) == (name, above)
    assert (me["support"], me["priority"], me["sla"]) == (support, priority, sla)


def test_a_product_without_a_price_at_the_rate_is_shown_without_one(client: Client) -> None:
    Product.objects.create(slug="videos", name="Videos", description="Videos of guests", from_tier="pro")
    Price.objects.create(
        product_id="reviews",
        rate="standard",
        amount_usdc=Decimal(9),
        valid_from=datetime.now(UTC) + timedelta(days=1),
    )
    products = {priced["product"]: priced["amount"] for priced in client.get(ME).json()["prices"]["products"]}
    assert products == {
        "ai_insight": "0.01",
        "context": "0.002",
        "export_history": "1",
        "export_landmarks": "0.3",
        "export_photos": "0.6",
        "export_restaurants": "0.9",
        "export_reviews": "1",
        "history": "0.01",
        "photos": "0.003",
        "reviews": "0.004",
        "videos": None,
    }


@pytest.mark.parametrize("question", ["?wallet=0x00", "?x="])
def test_me_reads_no_parameter(client: Client, question: str) -> None:
    assert client.get(ME + question).status_code == 400


def test_the_profile_of_a_wallet_costs_four_queries(settings: Settings, wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["pro"])
    settings.TIER_CACHE_S = 600
    with CaptureQueriesContext(connection) as queries:
        api.get(ME)
    assert len(queries) == 4


def test_a_wallet_sees_its_pending_tier(settings: Settings, wallets: Mapping[str, Key]) -> None:
    settings.TIER_CACHE_S = 600
    api = client_of(wallets["pro"])
    pending_tier_at = datetime.now(UTC) + timedelta(minutes=9)
    Wallet.objects.update(pending_tier="premium", pending_tier_at=pending_tier_at)
    me = api.get(ME).json()
    assert (me["tier"], me["pending_tier"], me["pending_tier_at"]) == (
        "pro",
        "premium",
        pending_tier_at.strftime(MOMENT),
    )


def test_a_wallet_with_a_plan_sees_it_and_its_own_agreement(settings: Settings, wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["free"])
    Plan.objects.create(
        name="Contract 7",
        wallet_id=wallets["free"].address,
        tier="premium",
        per_minute=900,
        price_factor=Decimal("0.8"),
        sla="99.9 % a month",
        valid_from=datetime.now(UTC) - timedelta(days=1),
    )
    me = api.get(ME).json()
    assert me["plan"] == {"name": "Contract 7", "tier": "premium", "price_factor": "0.8", "valid_until": None}
    assert (me["tier"], me["limits"]["requests"], me["sla"]) == ("premium", 900, "99.9 % a month")
    assert me["prices"]["products"][-1] == {"product": "reviews", "amount": "0.0016", "from_tier": "pro"}


def test_who_comes_with_a_payment_alone_sees_the_tier_and_nothing_of_the_wallet(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S = 600
    Wallet.objects.create(address=wallets["pro"].address, tier="pro", read_at=datetime.now(UTC))
    paid_before(wallets["pro"])
    me = client.get(ME, headers=paid_by(wallets["pro"], products=REVIEWS)).json()
    assert (me["identified_by"], me["tier"], me["wallet"], me["wallets"], me["account"]) == (
        "payment",
        "pro",
        None,
        [],
        None,
    )


def test_a_copied_payment_tells_nothing_of_what_its_payer_has_agreed_on(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S = 600
    wallet = Wallet.objects.create(
        address=wallets["free"].address,
        read_at=datetime.now(UTC),
        pending_tier="enterprise",
        pending_tier_at=datetime.now(UTC) + timedelta(minutes=9),
    )
    Plan.objects.create(
        name="Contract 7",
        wallet=wallet,
        tier="premium",
        per_minute=900,
        price_factor=Decimal("0.8"),
        sla="99.9 % a month",
        valid_from=datetime.now(UTC) - timedelta(days=1),
    )
    paid_before(wallets["free"])
    me = client.get(ME, headers=paid_by(wallets["free"], products=REVIEWS)).json()
    assert (me["identified_by"], me["tier"], me["limits"]["requests"]) == ("payment", "premium", 900)
    assert (me["plan"], me["sla"], me["pending_tier"], me["wallet"], me["holdings_usd"]) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert me["prices"]["products"][-1] == {"product": "reviews", "amount": "0.002", "from_tier": "pro"}


def test_a_wallet_of_more_tokens_than_are_worth_counting_is_served(settings: Settings) -> None:
    settings.TIER_CACHE_S = 0
    key = fresh_wallet(tokens=Decimal(10) ** 50)
    send(key, settings.TOKEN_ADDRESS, "stake(uint256)", 10**67)
    api = client_of(key)
    me = api.get(ME).json()
    assert (me["tier"], me["holdings_usd"], me["staked"]) == ("enterprise", str(10**23), str(10**41))
    assert api.get(ME).status_code == 200
    assert Client().get(ME, headers=header_of(key)).json()["tier"] == "enterprise"
