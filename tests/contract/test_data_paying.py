"""Seed 001 on paid fields: one test for each of its statements, on a real chain with a real facilitator."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from x402.http import x402HTTPClientSync
from x402.http.utils import decode_payment_required_header, decode_payment_response_header

from catalogue import insights
from catalogue.models import Export, Restaurant
from catalogue.reviews import aggregates
from payments.chain import evm, rpc
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from tests.catalogue import builders
from tests.catalogue.exports.export_builders import keep_in
from tests.payments.buyer import client_of, is_quote_of, signed_by, tampered
from tests.payments.signing import client_of as session_of
from tests.support.wallets import transfer_usdc, usdc_balance

# A payment is written down before it is settled, in a transaction of its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

RECORD = "/v1/restaurants/kodbyens-fiskebar"


@pytest.fixture(autouse=True)
def _fiskebar(prices: None) -> None:
    """A restaurant with reviews, an insight and a park."""
    place = builders.restaurant(slug="kodbyens-fiskebar", name="Kødbyens Fiskebar")
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    for number in range(6):
        builders.review(place, stars=5, text=f"The oysters were superb, visit {number}.")
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])
    insights.refresh(now=timezone.now(), max_reviews=100)


def pay(client: Client, path: str, wallet: Wallet) -> Any:
    """Ask, settle what the challenge asks for, and ask again with the proof."""
    asked = client.get(path)
    if asked.status_code != 402:
        return asked
    headers, _ = x402HTTPClientSync(client_of(wallet)).handle_402_response(dict(asked.headers), asked.content, path)
    return client.get(path, headers=headers)


# Rules and the payment flow
@pytest.mark.parametrize("fields", ["reviews", "ai_insight", "context", "core,reviews"])
def test_a_request_for_a_paid_field_without_payment_answers_402(client: Client, fields: str) -> None:
    assert client.get(f"{RECORD}?fields={fields}").status_code == 402


def test_the_402_carries_the_header_x402_with_asset_amount_pay_to_and_network(client: Client, settings: Any) -> None:
    challenge = json.loads(client.get(f"{RECORD}?fields=reviews")["x402"])
    assert challenge["asset"] == "USDC"
    assert is_quote_of("0.004", challenge["amount"])
    assert challenge["pay_to"].lower() == settings.PAY_TO
    assert challenge["network"] == payment_network().name


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_paid_fields_are_paid_for_per_call(client: Client, wallets: Mapping[str, Wallet]) -> None:
    before = usdc_balance(wallets["free"].address)
    for _ in range(2):
        assert pay(client, f"{RECORD}?fields=context", wallets["free"]).status_code == 200
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.004")


def test_a_request_whose_fields_are_all_free_answers_200_with_no_payment_and_no_key(client: Client) -> None:
    assert client.get(f"{RECORD}?fields=core").status_code == 200


@pytest.mark.exhaustive
def test_bulk_reads_from_premium_pay_each_product_once_for_each_record_that_has_it(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    builders.restaurant(slug="noma")
    second = builders.restaurant(slug="geranium")
    builders.review(second, stars=4, text="Quiet and kind.")
    with transaction.atomic():
        aggregates.update_restaurants([second.pk])
    path = "/v1/restaurants?slugs=kodbyens-fiskebar,noma,geranium&fields=core,reviews,ai_insight"
    premium = session_of(wallets["premium"])
    # Two have reviews (0.002 each) and one has an insight (0.006).
    asked = premium.get(path)
    assert (asked.status_code, json.loads(asked["x402"])["amount"]) == (402, "0.01")
    before = usdc_balance(wallets["premium"].address)
    served = pay(premium, path, wallets["premium"])
    assert served.status_code == 200
    assert before - usdc_balance(wallets["premium"].address) == Decimal("0.01")
    records = served.json()["data"]
    assert [record["slug"] for record in records] == ["kodbyens-fiskebar", "noma", "geranium"]
    assert [record["reviews"] and record["reviews"]["summary"]["count"] for record in records] == [6, None, 1]
    assert "oysters" in records[0]["ai_insight"]
    assert [record["ai_insight_reason"] for record in records] == [None, "too_few_reviews", "too_few_reviews"]
    assert premium.get("/v1/restaurants?slugs=noma&fields=core,reviews").status_code == 200


# Resources and their fields
@pytest.mark.exhaustive
def test_ai_insight_is_generated_text_from_the_premium_tier(client: Client, wallets: Mapping[str, Wallet]) -> None:
    path = f"{RECORD}?fields=ai_insight"
    assert pay(client, path, wallets["pro"]).status_code == 403
    served = pay(client, path, wallets["premium"])
    assert served.status_code == 200
    assert "oysters" in served.json()["ai_insight"]


@pytest.mark.exhaustive
def test_reviews_come_with_their_star_distribution(client: Client, wallets: Mapping[str, Wallet]) -> None:
    served = pay(client, f"{RECORD}?fields=reviews", wallets["pro"]).json()
    assert served["reviews"]["summary"]["distribution"] == {"5": 6, "4": 0, "3": 0, "2": 0, "1": 0}


@pytest.mark.exhaustive
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
    assert [way["asset"].lower() for way in asked["accepts"]] == [payment_network().asset]


# Through the x402 standard, as the seed words it
@pytest.mark.exhaustive
def test_paid_fields_are_paid_for_through_the_x402_standard(client: Client, wallets: Mapping[str, Wallet]) -> None:
    asked = client.get(f"{RECORD}?fields=reviews")
    body = decode_payment_required_header(asked["PAYMENT-REQUIRED"])
    assert body.x402_version == 2
    served = pay(client, f"{RECORD}?fields=reviews", wallets["pro"])
    assert decode_payment_response_header(served["PAYMENT-RESPONSE"]).success


def test_the_amount_is_a_decimal_as_text_and_pay_to_an_address(client: Client) -> None:
    challenge = json.loads(client.get(f"{RECORD}?fields=reviews")["x402"])
    assert isinstance(challenge["amount"], str)
    assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", challenge["amount"])
    assert re.fullmatch("0x[0-9a-fA-F]{40}", challenge["pay_to"])


@pytest.mark.parametrize("proof", ["", " ", "0x" + "5a" * 32])
def test_a_paid_field_without_valid_payment_answers_402_with_the_challenge(client: Client, proof: str) -> None:
    refused = client.get(f"{RECORD}?fields=reviews", headers={"X-Payment": proof})
    assert refused.status_code == 402
    assert {"asset", "amount", "pay_to", "network"} <= json.loads(refused["x402"]).keys()


@pytest.mark.exhaustive
@pytest.mark.parametrize("change", ["value", "to", "validBefore"])
def test_a_payment_that_is_not_what_was_signed_answers_402_with_the_challenge(
    client: Client, wallets: Mapping[str, Wallet], change: str
) -> None:
    path = f"{RECORD}?fields=context"
    headers = signed_by(wallets["free"])
    words: dict[str, Any] = {"value": "1", "to": wallets["pro"].address, "validBefore": "99"}
    refused = client.get(path, headers=tampered(headers, **{change: words[change]}))
    assert refused.status_code == 402
    assert {"asset", "amount", "pay_to", "network"} <= json.loads(refused["x402"]).keys()
    assert client.get(path, headers=headers).status_code == 200


def test_core_is_free_beside_paid_fields_and_only_these_cost(client: Client) -> None:
    alone, beside = (client.get(f"{RECORD}?fields={fields}") for fields in ("reviews", "core,reviews"))
    assert is_quote_of("0.004", json.loads(alone["x402"])["amount"])
    assert is_quote_of("0.004", json.loads(beside["x402"])["amount"])
    both = client.get(f"{RECORD}?fields=context,reviews")
    assert is_quote_of("0.006", json.loads(both["x402"])["amount"])


@pytest.mark.exhaustive
def test_a_paid_call_costs_usdc_and_none_of_the_token(
    client: Client, wallets: Mapping[str, Wallet], settings: Any
) -> None:
    pro = wallets["pro"]
    balance = {"to": settings.TOKEN_ADDRESS, "data": evm.encode_call("balanceOf(address)", pro.address)}
    before = (rpc.call("eth_call", balance, "latest"), usdc_balance(pro.address))
    assert pay(client, f"{RECORD}?fields=reviews", pro).status_code == 200
    assert rpc.call("eth_call", balance, "latest") == before[0]
    assert before[1] - usdc_balance(pro.address) == Decimal("0.004")


# What each tier may have
GROUPS = ("context", "reviews", "photos", "ai_insight", "history")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "may_buy"),
    [
        ("free", {"context"}),
        ("pro", {"context", "reviews", "photos"}),
        ("premium", set(GROUPS)),
        ("enterprise", set(GROUPS)),
    ],
)
def test_a_tier_adds_data_free_core_pro_reviews_and_photos_premium_insights_and_history(
    client: Client, wallets: Mapping[str, Wallet], name: str, may_buy: set[str]
) -> None:
    builders.photo(Restaurant.objects.get(slug="kodbyens-fiskebar"))
    got = {}
    for number, group in enumerate(GROUPS):
        client.defaults["REMOTE_ADDR"] = f"198.51.100.{number}"
        got[group] = pay(client, f"{RECORD}?fields={group}", wallets[name]).status_code
    assert got == {group: 200 if group in may_buy else 403 for group in GROUPS}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "amount"), [("free", "0.002"), ("pro", "0.0015"), ("premium", "0.001"), ("enterprise", "0.0005")]
)
def test_consumption_is_charged_at_the_rate_of_the_tier_standard_discounted_best_committed(
    wallets: Mapping[str, Wallet], name: str, amount: str
) -> None:
    path, caller, before = f"{RECORD}?fields=context", session_of(wallets[name]), usdc_balance(wallets[name].address)
    assert json.loads(caller.get(path)["x402"])["amount"] == amount
    assert pay(caller, path, wallets[name]).status_code == 200
    assert before - usdc_balance(wallets[name].address) == Decimal(amount)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "status"), [("free", 403), ("pro", 403), ("premium", 200), ("enterprise", 200)])
def test_bulk_requires_at_least_premium(wallets: Mapping[str, Wallet], name: str, status: int) -> None:
    caller = session_of(wallets[name])
    assert caller.get("/v1/restaurants", {"slugs": "kodbyens-fiskebar"}).status_code == status


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "status", "queue"),
    [("free", 403, None), ("pro", 403, None), ("premium", 403, None), ("enterprise", 202, "dedicated")],
)
def test_bulk_export_requires_enterprise_and_is_queued_with_its_priority(
    wallets: Mapping[str, Wallet], settings: Any, tmp_path: Path, name: str, status: int, queue: str | None
) -> None:
    keep_in(settings, tmp_path / "exports")
    caller = session_of(wallets[name])
    wanted: dict[str, Any] = {"data": {"dataset": "restaurants"}, "content_type": "application/json"}
    answer = caller.post("/v1/exports", **wanted)
    if status == 202:
        assert answer.status_code == 402
        answer = caller.post("/v1/exports", **wanted, headers=signed_by(wallets[name], value=500_000))
    assert answer.status_code == status
    assert list(Export.objects.values_list("queue", flat=True)) == ([queue] if queue else [])


@pytest.mark.exhaustive
def test_insights_tell_a_summary_the_best_time_and_dishes(client: Client, wallets: Mapping[str, Wallet]) -> None:
    found = pay(client, f"{RECORD}/insight", wallets["premium"])
    assert found.status_code == 200
    body = json.dumps(found.json())
    assert "oysters" in found.json()["ai_insight"]
    assert all(f'"{name}"' in body for name in ("best_time", "dishes"))


def test_context_tells_landmarks_museums_and_parks_around_a_place(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    builders.landmark("Glyptoteket", kind="museum", market="copenhagen")
    builders.landmark("Axeltorv", kind="landmark", market="copenhagen")
    found = pay(client, f"{RECORD}?fields=context", wallets["free"]).json()["context"]["entries"]
    assert {entry["kind"] for entry in found} == {"park", "museum", "landmark"}
