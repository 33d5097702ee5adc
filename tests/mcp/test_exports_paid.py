"""Exports that a tool orders and x402 pays for: the same purchase as over REST."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from x402.mcp.types import MCPToolResult
from x402.mcp.utils import extract_payment_response_from_meta

from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS
from tests.mcp.client import RECEIPT, TOKEN, call, paid, price_of, quoted, refusal_of, words_of
from tests.payments import buyer as payments_buyer
from tests.payments.signing import client_of
from tests.support.wallets import usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

PRICE = Decimal("0.5")
TOOL = "start_export"
WANTED: dict[str, Any] = {"dataset": "restaurants"}


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def key(wallets: Mapping[str, Key]) -> Key:
    return wallets["enterprise"]


@pytest.fixture
def buyer(ledger_matches_chain: None, key: Key) -> Client:
    return client_of(key)


def again(client: Client, payment: Any, **arguments: Any) -> Any:
    return call(client, TOOL, meta={PAYMENT_META: payment}, **(arguments or WANTED))


def test_an_unpaid_call_tells_the_price_and_begins_nothing(buyer: Client) -> None:
    asked = price_of(call(buyer, TOOL, **WANTED))
    assert (asked.accepts[0].amount, asked.resource and asked.resource.url) == ("500000", "mcp://tool/start_export")
    assert not Export.objects.exists()


@pytest.mark.exhaustive
def test_the_official_client_buys_one_and_a_repeat_of_its_call_shows_it(buyer: Client, key: Key) -> None:
    before = usdc_balance(key.address)
    payment = quoted(buyer, key, TOOL, **WANTED)
    first, repeated = again(buyer, payment), again(buyer, payment)
    export = Export.objects.get()
    for result in (first, repeated):
        assert result["structuredContent"]["id"] == export.public_id
        receipt = extract_payment_response_from_meta(MCPToolResult(content=[], meta=result["_meta"]))
        assert receipt is not None
        assert receipt.success
        assert {RECEIPT, TOKEN} <= set(result["_meta"])
    row = Payment.objects.get()
    assert (row.channel, row.state, export.payment, export.status) == ("mcp", "delivered", row, "queued")
    assert before - usdc_balance(key.address) == PRICE
    # Over REST the same order shows what is under way, and charges nothing.
    assert export_builders.post(buyer).json()["id"] == export.public_id
    assert RECEIPT not in call(buyer, TOOL, **WANTED).get("_meta", {})
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_a_payment_for_one_export_buys_no_other_nor_that_one_again_when_it_was_cancelled(
    buyer: Client, key: Key
) -> None:
    payment = quoted(buyer, key, TOOL, **WANTED)
    started = again(buyer, payment)["structuredContent"]["id"]
    assert refusal_of(again(buyer, payment, dataset="reviews"))["code"] == "payment_already_used"
    buyer.delete(f"{EXPORTS}/{started}")
    refused = refusal_of(again(buyer, payment))
    assert (refused["code"], refused["reason"]) == ("payment_already_used", "refund_due")
    assert refused["refund"] == Payment.objects.get().public_id
    assert Export.objects.get().status == "cancelled"


def test_without_a_wallet_or_the_tier_nothing_is_charged(buyer: Client, key: Key, wallets: Mapping[str, Key]) -> None:
    payment = quoted(buyer, key, TOOL, **WANTED)
    stranger = again(Client(), payment)
    assert refusal_of(stranger)["code"] == "missing_credentials"
    assert "your person has to connect this client" in words_of(stranger)
    assert refusal_of(again(client_of(wallets["premium"]), payment))["code"] == "tier_required"
    assert not Payment.objects.exists()
    assert not Export.objects.exists()


def test_what_a_plan_gives_has_no_price_and_no_receipt(buyer: Client, key: Key) -> None:
    export_builders.grant_free_plan(key)
    result = call(buyer, TOOL, **WANTED)
    assert (result["structuredContent"]["status"], RECEIPT in result.get("_meta", {})) == ("queued", False)
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_an_export_paid_in_rest_is_visible_in_mcp(buyer: Client, key: Key) -> None:
    asked = export_builders.post(buyer)
    headers = payments_buyer.signed_by(key, value=500_000)
    assert asked.status_code == 402
    ordered = buyer.post(EXPORTS, WANTED, content_type="application/json", headers=headers)
    assert ordered.status_code == 202
    found = call(buyer, "get_export", export_id=ordered.json()["id"])
    assert found["structuredContent"]["status"] == "queued"
    assert paid(buyer, key, TOOL, dataset="reviews")["structuredContent"]["status"] == "queued"
