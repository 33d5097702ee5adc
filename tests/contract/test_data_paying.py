"""Seed 001 on paid fields: one test for each of its statements, on a real chain with a real facilitator."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from x402.http import x402HTTPClientSync

from catalogue import insights, recount
from payments.devchain.wallets import Wallet
from payments.networks import ours
from tests.catalogue import make
from tests.payments.buying import client_of
from tests.wallets import transfer_usdc, usdc_balance

# A payment is written down before it is settled, in a transaction of its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("books")]

RECORD = "/v1/restaurants/kodbyens-fiskebar"


@pytest.fixture(autouse=True)
def _fiskebar(prices: None) -> None:
    """A restaurant with reviews, an insight and a park."""
    place = make.restaurant(slug="kodbyens-fiskebar", name="Kødbyens Fiskebar")
    make.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    for number in range(6):
        make.review(place, stars=5, text=f"The oysters were superb, visit {number}.")
    with transaction.atomic():
        recount.restaurants([place.pk])
    insights.refresh(now=timezone.now(), at_most=100)


def pay(client: Client, path: str, wallet: Wallet) -> Any:
    """Ask, settle what the challenge asks for, and ask again with the proof."""
    asked = client.get(path)
    headers, _ = x402HTTPClientSync(client_of(wallet)).handle_402_response(dict(asked.headers), asked.content, path)
    return client.get(path, headers=headers)


# Rules and the payment flow ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("fields", ["reviews", "ai_insight", "context", "core,reviews"])
def test_a_request_for_a_paid_field_without_payment_answers_402(client: Client, fields: str) -> None:
    assert client.get(f"{RECORD}?fields={fields}").status_code == 402


def test_the_402_carries_the_header_x402_with_asset_amount_pay_to_and_network(client: Client, settings: Any) -> None:
    challenge = json.loads(client.get(f"{RECORD}?fields=reviews")["x402"])
    assert challenge["asset"] == "USDC"
    assert challenge["amount"] == "0.004"
    assert challenge["pay_to"].lower() == settings.PAY_TO
    assert challenge["network"] == ours().name


def test_after_settlement_the_full_record_with_the_paid_fields_is_returned(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    served = pay(client, f"{RECORD}?fields=core,reviews", wallets["pro"])
    assert served.status_code == 200
    assert served.json()["name"] == "Kødbyens Fiskebar"
    assert served.json()["reviews"]["summary"]["count"] == 6


def test_the_caller_repeats_the_request_with_the_header_x_payment_holding_the_settlement_proof(
    client: Client, wallets: Mapping[str, Wallet], settings: Any
) -> None:
    path = f"{RECORD}?fields=context"
    challenge = json.loads(client.get(path)["x402"])
    proof = transfer_usdc(wallets["free"], challenge["pay_to"], Decimal(challenge["amount"]))
    served = client.get(path, headers={"X-Payment": proof})
    assert served.status_code == 200
    assert [entry["name"] for entry in served.json()["context"]["entries"]] == ["Tivoli Gardens"]


def test_paid_fields_are_paid_for_per_call(client: Client, wallets: Mapping[str, Wallet]) -> None:
    before = usdc_balance(wallets["free"].address)
    for _ in range(2):
        assert pay(client, f"{RECORD}?fields=context", wallets["free"]).status_code == 200
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.004")


def test_a_request_whose_fields_are_all_free_answers_200_with_no_payment_and_no_key(client: Client) -> None:
    assert client.get(f"{RECORD}?fields=core").status_code == 200


# Resources and their fields ----------------------------------------------------------------------------------------
def test_ai_insight_is_generated_text_from_the_premium_tier(client: Client, wallets: Mapping[str, Wallet]) -> None:
    path = f"{RECORD}?fields=ai_insight"
    assert pay(client, path, wallets["pro"]).status_code == 403
    served = pay(client, path, wallets["premium"])
    assert served.status_code == 200
    assert "oysters" in served.json()["ai_insight"]


def test_reviews_come_with_their_star_distribution(client: Client, wallets: Mapping[str, Wallet]) -> None:
    served = pay(client, f"{RECORD}?fields=reviews", wallets["pro"]).json()
    assert served["reviews"]["summary"]["distribution"] == {"5": 6, "4": 0, "3": 0, "2": 0, "1": 0}


def test_full_history_is_sold_from_the_premium_tier(client: Client, wallets: Mapping[str, Wallet]) -> None:
    for path in (f"{RECORD}/history", f"{RECORD}?fields=history", "/v1/changes"):
        assert client.get(path).status_code == 402
    refused = pay(client, f"{RECORD}/history", wallets["pro"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tier_required")
    versions = pay(client, f"{RECORD}/history", wallets["premium"]).json()["data"]
    assert (versions[-1]["change"], versions[-1]["version"]) == ("created", 1)
    assert "/rating" in [operation["path"] for operation in versions[0]["patch"]]


def test_consumption_is_always_paid_in_usdc(client: Client, wallets: Mapping[str, Wallet]) -> None:
    asked = client.get(f"{RECORD}?fields=reviews").json()
    assert [way["asset"].lower() for way in asked["accepts"]] == [ours().asset]
