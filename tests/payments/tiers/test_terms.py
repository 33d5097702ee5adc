"""Tiers are strict: what is asked in which order, what is never charged, and what each tier is promised."""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.test import Client
from x402.http import x402HTTPClientSync

from catalogue.models import Restaurant
from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, Price, Product, TierTerms
from payments.pricing import default_products
from payments.tiers import terms
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRIORITIES, PRO, TIERS, Tier
from tests.catalogue import builders
from tests.payments.buyer import client_of as paying
from tests.payments.buyer import paid_by, signed_by
from tests.payments.signing import client_of
from tests.support.wallets import usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

RECORD = "/v1/restaurants/noma"
REVIEWS = f"{RECORD}?fields=reviews"


@pytest.fixture(autouse=True)
def noma(prices: None) -> Restaurant:
    """A restaurant with something to sell."""
    place = builders.restaurant(slug="noma", name="Noma")
    for number in range(6):
        builders.review(place, text=f"The oysters were superb, visit {number}.")
    builders.insight(place)
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    return place


def charged(key: Key, before: Decimal) -> Decimal:
    """What this wallet has paid since, of which the ledger knows."""
    assert Payment.objects.exists() == (usdc_balance(key.address) < before)
    return before - usdc_balance(key.address)


def amount(answer: Any) -> str:
    """The price in a 402, in millionths."""
    assert answer.status_code == 402
    return str(answer.json()["accepts"][0]["maxAmountRequired"])


def pay(api: Client, path: str, key: Key) -> Any:
    """Ask, sign what is asked for, and ask again."""
    body = api.get(path)
    headers, _ = x402HTTPClientSync(paying(key)).handle_402_response(dict(body.headers), body.content, path)
    return api.get(path, headers=headers)


# In this order
def test_429_comes_before_anything_and_costs_nothing(client: Client, wallets: Mapping[str, Key]) -> None:
    before = usdc_balance(wallets["free"].address)
    for _ in range(FREE.per_minute):
        client.get("/v1/markets")
    for path in (f"{RECORD}?fields=context", f"{RECORD}?fields=nonsense", "/v1/restaurants/nowhere?fields=context"):
        answer = client.get(path, headers=signed_by(wallets["free"]))
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert charged(wallets["free"], before) == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{RECORD}?fields=nonsense", 400),
        (f"{RECORD}?fields=context&nonsense=1", 400),
        ("/v1/restaurants/nowhere?fields=context", 404),
        ("/v1/restaurants/nowhere?fields=reviews", 404),
        (REVIEWS, 403),
    ],
)
def test_400_403_and_404_never_charge(client: Client, wallets: Mapping[str, Key], path: str, status: int) -> None:
    before = usdc_balance(wallets["free"].address)
    assert client.get(path, headers=signed_by(wallets["free"], value=4000)).status_code == status
    assert charged(wallets["free"], before) == 0


@pytest.mark.parametrize(
    ("group", "standard", "tier_required"),
    [("context", "2000", None), ("reviews", "4000", "pro"), ("ai_insight", "10000", "premium")],
)
def test_without_payment_and_wallet_it_is_402_at_the_standard_price_and_says_the_tier(
    client: Client, group: str, standard: str, tier_required: str | None
) -> None:
    answer = client.get(f"{RECORD}?fields={group}")
    assert amount(answer) == standard
    assert answer.json()["tier_required"] == tier_required


def test_a_payment_reveals_its_payer_and_too_low_a_tier_is_403_before_anything_is_settled(
    client: Client, wallets: Mapping[str, Key]
) -> None:
    before = usdc_balance(wallets["pro"].address)
    answer = pay(client, f"{RECORD}?fields=ai_insight", wallets["pro"])
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "tier_required")
    assert (error["tier"], error["tier_required"]) == ("pro", "premium")
    assert error["message"].endswith(
        f" Nothing was charged. It takes holding 1000 USD worth or staking 5000 of the token"
        f" {to_checksum_address(project.TOKEN_ADDRESS)} on eip155:84532, whose contract stakes by stake(uint256)."
    )
    assert charged(wallets["pro"], before) == 0


@pytest.mark.parametrize(
    ("name", "quoted"), [("free", "4000"), ("pro", "3000"), ("premium", "2000"), ("enterprise", "1000")]
)
def test_a_proven_wallet_is_quoted_the_price_of_its_tier_and_still_asked_to_pay(
    wallets: Mapping[str, Key], name: str, quoted: str
) -> None:
    answer = client_of(wallets[name]).get(REVIEWS)
    assert amount(answer) == quoted
    # Also to whom it is not sold: a paid field without payment is 402, without exception.
    assert answer.json()["tier_required"] == "pro"


def test_a_proven_wallet_of_too_low_a_tier_is_403_with_its_payment(wallets: Mapping[str, Key]) -> None:
    before = usdc_balance(wallets["free"].address)
    answer = pay(client_of(wallets["free"]), REVIEWS, wallets["free"])
    assert (answer.status_code, answer.json()["error"]["tier"]) == (403, "free")
    assert charged(wallets["free"], before) == 0


def test_a_proven_wallet_lends_its_tier_to_no_other(wallets: Mapping[str, Key]) -> None:
    before = usdc_balance(wallets["free"].address)
    answer = pay(client_of(wallets["premium"]), REVIEWS, wallets["free"])
    assert (answer.status_code, answer.json()["error"]["tier"]) == (403, "free")
    assert charged(wallets["free"], before) == 0


def test_the_dearest_tier_of_several_groups_is_asked_for(client: Client, wallets: Mapping[str, Key]) -> None:
    before = usdc_balance(wallets["pro"].address)
    answer = pay(client, f"{RECORD}?fields=context,reviews,ai_insight", wallets["pro"])
    assert (answer.status_code, answer.json()["error"]["tier_required"]) == (403, "premium")
    assert charged(wallets["pro"], before) == 0


# What is sold to whom
@pytest.mark.exhaustive
@pytest.mark.parametrize("opened", [FREE, PRO, PREMIUM, ENTERPRISE])
def test_a_group_is_sold_from_the_tier_to_which_staff_open_it_and_to_none_below(
    client: Client, wallets: Mapping[str, Key], opened: Tier
) -> None:
    Product.objects.filter(pk="reviews").update(from_tier=opened.name)
    before = {name: usdc_balance(wallets[name].address) for name in TIERS}
    statuses = {name: pay(client, REVIEWS, wallets[name]).status_code for name in TIERS}
    assert statuses == {name: 403 if tier < opened else 200 for name, tier in TIERS.items()}
    spent = {name: before[name] - usdc_balance(wallets[name].address) for name in TIERS}
    assert spent == {name: Decimal(0) if tier < opened else Decimal("0.004") for name, tier in TIERS.items()}


def test_a_group_without_a_price_is_not_sold(client: Client, wallets: Mapping[str, Key]) -> None:
    Price.objects.filter(product="reviews").delete()
    before = usdc_balance(wallets["premium"].address)
    for answer in (client.get(REVIEWS), client.get(REVIEWS, headers=signed_by(wallets["premium"], value=4000))):
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "service_unavailable")
    assert charged(wallets["premium"], before) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "lower"), [("pro", 4000), ("premium", 3000), ("enterprise", 2000)])
def test_the_price_of_a_lower_tier_may_be_paid_as_it_was_quoted_before_the_tier_rose(
    client: Client, wallets: Mapping[str, Key], name: str, lower: int
) -> None:
    assert client.get(REVIEWS, headers=signed_by(wallets[name], value=lower)).status_code == 200
    assert Payment.objects.get().amount_usdc == Decimal(lower) / 10**6


@pytest.mark.parametrize(("name", "higher"), [("pro", 2000), ("premium", 1000)])
def test_the_price_of_a_higher_tier_is_too_little(
    client: Client, wallets: Mapping[str, Key], name: str, higher: int
) -> None:
    before = usdc_balance(wallets[name].address)
    answer = client.get(REVIEWS, headers=signed_by(wallets[name], value=higher))
    assert (answer.status_code, answer.json()["reason"]) == (402, "wrong_amount")
    assert charged(wallets[name], before) == 0


def test_the_default_client_of_a_pro_wallet_is_served_at_the_standard_price(
    client: Client, wallets: Mapping[str, Key]
) -> None:
    headers = paid_by(wallets["pro"], products=("reviews",))
    assert client.get(REVIEWS, headers=headers).status_code == 200
    assert Payment.objects.get().amount_usdc == Decimal("0.004")


# What is promised
@pytest.mark.exhaustive
def test_support_priority_and_agreement_of_each_tier_are_rows_that_me_shows(wallets: Mapping[str, Key]) -> None:
    TierTerms.objects.filter(pk="pro").update(support="e-mail, within a day")
    found = {name: client_of(wallets[name]).get("/v1/me").json() for name in TIERS}
    assert {name: (me["support"], me["priority"]) for name, me in found.items()} == {
        "free": ("docs and community", "standard"),
        "pro": ("e-mail, within a day", "elevated"),
        "premium": ("priority", "priority"),
        "enterprise": ("dedicated", "dedicated"),
    }


def test_jobs_go_to_the_queue_that_staff_have_promised_to_the_tier() -> None:
    assert [terms.job_queue(tier) for tier in TIERS.values()] == list(PRIORITIES)
    TierTerms.objects.filter(pk="enterprise").update(priority="elevated")
    assert terms.job_queue(ENTERPRISE) == "elevated"
    TierTerms.objects.all().delete()
    assert [terms.job_queue(tier) for tier in TIERS.values()] == list(PRIORITIES)


def test_the_page_on_tiers_says_what_a_fresh_installation_promises() -> None:
    page = (Path(project.BASE_DIR) / "docs" / "tiers.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", page, re.MULTILINE)
    ]
    output = {row[0]: row[1:] for row in rows if row[0].lower() in TIERS}

    def reached(tier: Tier) -> str:
        ways = [f"holding {tier.from_usd} USD worth of the token"] if tier.from_usd else []
        ways += [f"staking {tier.from_stake:,} tokens"] if tier.from_stake else []
        return " or ".join(ways) or "nothing"

    assert output == {
        tier.name.capitalize(): [
            reached(tier) + (", or a plan" if tier is ENTERPRISE else ""),
            tier.rate,
            f"{tier.per_minute:,}" + (", or by plan" if tier is ENTERPRISE else ""),
            *(text or "none" for text in default_products.TIER_TERMS[tier]),
        ]
        for tier in TIERS.values()
    }
