"""Paid tools: all that the gate promises over REST, promised over MCP. At the end ledger and chain are compared.

Prices are of a fresh installation: what lies around a restaurant costs 0.002 USDC, its reviews 0.004 from Pro on.
"""

import base64
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from x402.http.utils import decode_payment_required_header
from x402.mcp.types import MCPToolResult
from x402.mcp.utils import extract_payment_required_from_result, extract_payment_response_from_meta
from x402.schemas import PaymentRequired

from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from tests.catalogue import builders
from tests.mcp.client import (
    RECEIPT,
    TOKEN,
    Era,
    call,
    content_of,
    paid,
    payment_for,
    post,
    price_of,
    quoted,
    refusal_of,
    words_of,
)
from tests.mcp.paying_client import AROUND, PRICE, again, is_content
from tests.payments.signing import client_of
from tests.payments.tiers.test_plans import agreed_with
from tests.security.live_product import stocked, the_one_payment
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain", "_goods")]

State = Payment.State
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def _goods(ledger_matches_chain: None) -> None:
    """What is sold."""
    stocked()


def version_1(payment: Any) -> Any:
    """The same payment as version 1 of x402 words it."""
    return {"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": payment["payload"]}


# What is told, and what is given
@pytest.mark.parametrize("era", ["2025-11-25", "2025-06-18", "2025-03-26", "2026-07-28"])
def test_an_unpaid_call_gets_an_x402_challenge(client: Client, era: Era) -> None:
    result = call(client, AROUND, era=era, slug="noma")
    asked = price_of(result)
    assert (asked.x402_version, asked.error) == (
        2,
        "payment_required: This costs 0.002 USDC: ask again with a payment.",
    )
    assert asked.resource is not None
    assert (asked.resource.url, asked.resource.mime_type) == (f"mcp://tool/{AROUND}", "application/json")
    (accepted,) = asked.accepts
    assert (accepted.scheme, accepted.amount, accepted.pay_to) == (
        "exact",
        "2000",
        to_checksum_address(settings.PAY_TO),
    )
    content = refusal_of(result)
    assert (content["code"], content["request_id"][:4]) == ("payment_required", "req_")
    # As the official client reads it, from either place.
    for structured in (result["structuredContent"], None):
        read = MCPToolResult(result["content"], is_error=True, structured_content=structured)
        assert extract_payment_required_from_result(read) == asked
    assert RECEIPT not in result["structuredContent"]
    assert not Payment.objects.exists()


def test_a_price_says_from_which_tier_it_is_sold(client: Client) -> None:
    builders.review(builders.restaurant(slug="alchemist"), "Fine.")
    result = call(client, "list_reviews", slug="alchemist")
    assert refusal_of(result)["tier_required"] == "pro"
    assert price_of(result).accepts[0].amount == "4000"


@pytest.mark.exhaustive
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_paid_call_gives_what_rest_gives_with_a_receipt_and_one_line_of_the_ledger(
    client: Client, wallets: Mapping[str, Wallet], era: Era
) -> None:
    wallet = wallets["free"]
    before = usdc_balance(wallet.address)
    result = paid(client, wallet, AROUND, era=era, slug="noma", limit=5)
    assert json.loads(words_of(result)) == result["structuredContent"]
    rest = client.get("/v1/restaurants/noma/context?limit=5", headers=header(quoted_at_rest(client, wallet)))
    assert rest.status_code == 200
    assert content_of(result) == rest.json()
    assert before - usdc_balance(wallet.address) == 2 * PRICE
    row = Payment.objects.get(channel="mcp")
    assert (row.method, row.resource, row.products, row.payer) == (
        "tools/call",
        f"mcp://tool/{AROUND}?limit=5&slug=noma",
        ["context"],
        wallet.address,
    )
    assert (row.state, row.form, row.tier) == (State.DELIVERED, "v2", "free")
    receipt = extract_payment_response_from_meta(MCPToolResult([], meta=result["_meta"]))
    assert receipt is not None
    assert (receipt.success, receipt.transaction, receipt.payer) == (True, row.tx_hash, wallet.address)
    assert (receipt.network, receipt.amount) == ("eip155:84532", "2000")


def quoted_at_rest(client: Client, wallet: Wallet) -> Any:
    """The payment for the same at REST."""
    content = client.get("/v1/restaurants/noma/context?limit=5")
    asked = decode_payment_required_header(content["PAYMENT-REQUIRED"])
    assert isinstance(asked, PaymentRequired)
    return payment_for(wallet, asked)


def header(payment: Any) -> dict[str, str]:
    """The header of this payment."""
    return {"payment-signature": json.dumps(payment)}


@pytest.mark.exhaustive
def test_a_payment_may_be_an_object_or_text_of_either_version(client: Client) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    asked = price_of(call(client, AROUND, slug="noma"))
    forms: list[Callable[[Any], Any]] = [
        lambda payment: payment,
        version_1,
        json.dumps,
        lambda payment: json.dumps(version_1(payment)),
        lambda payment: base64.b64encode(json.dumps(payment).encode()).decode(),
    ]
    for written in forms:
        assert is_content(again(client, written(payment_for(wallet, asked))))
    assert Decimal(1) - usdc_balance(wallet.address) == len(forms) * PRICE
    assert sorted(Payment.objects.values_list("form", flat=True)) == ["v1", "v1", "v2", "v2", "v2"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_object", [True, False])
def test_a_transaction_pays_once_and_its_receipt_reads_the_answer_again(
    client: Client, wallets: Mapping[str, Wallet], is_object: bool
) -> None:
    sent = transfer_usdc(wallets["free"], settings.PAY_TO, PRICE)
    payment = {"transaction": sent} if is_object else sent
    proven = client_of(wallets["free"])
    first = again(proven, payment)
    assert is_content(first)
    # The hash stands on the chain for everybody.
    stranger = Client(REMOTE_ADDR="192.0.2.7")
    used = refusal_of(again(stranger, payment))
    assert used["code"] == "payment_rejected"
    assert used["message"].startswith("Everybody can read this payment on the chain. Prove that it is yours")
    second = again(client, payment, token=first["_meta"][TOKEN])
    assert second["structuredContent"] == first["structuredContent"]
    assert is_content(again(proven, payment))
    assert the_one_payment().tx_hash == sent


def test_a_transaction_of_exactly_the_price_needs_the_session_of_its_sender(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    assert price_of(call(client, AROUND, slug="noma")).accepts[0].amount == "2000"
    payment = {"transaction": transfer_usdc(wallets["free"], settings.PAY_TO, PRICE)}
    assert refusal_of(again(client, payment))["reason"] == "unproven_sender"
    assert is_content(again(client_of(wallets["free"]), payment))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("payment", "why"),
    [
        ({}, "holds neither a transaction nor a payment of x402 version 1 or 2."),
        ("", "is neither a transaction's hash nor JSON nor base64 of it."),
        ("junk", "is neither a transaction's hash nor JSON nor base64 of it."),
        (7, "is not a JSON object."),
        (True, "is not a JSON object."),
        ([], "is not a JSON object."),
        ({"x402Version": 2}, "is no payment of x402 version 2: see `payload`."),
        ({"x402Version": 2, "more": "x" * 9_000}, "is longer than 8192 bytes."),
        ({"transaction": "0x12"}, "holds neither a transaction nor a payment of x402 version 1 or 2."),
    ],
)
def test_a_payment_that_cannot_be_read_is_named_and_buys_nothing(client: Client, payment: Any, why: str) -> None:
    result = again(client, payment)
    assert words_of(result) == (
        f'`_meta["{PAYMENT_META}"]` {why} Nothing was charged.'
        " Call without it to be told the price, and send what the wallet signs."
    )
    assert (refusal_of(result)["code"], refusal_of(result)["param"]) == ("invalid_payment", PAYMENT_META)
    assert "structuredContent" not in result
    assert not Payment.objects.exists()


def test_no_payment_at_all_is_null(client: Client) -> None:
    content = post(client, "tools/call", {"name": AROUND, "arguments": {"slug": "noma"}}, meta={PAYMENT_META: None})
    assert content["RateLimit-Policy"] == '"challenges";q=120;w=60'
    result = content.json()["result"]
    assert price_of(result).accepts[0].amount == "2000"
    assert RECEIPT not in result["structuredContent"]


def test_where_nothing_is_sold_nothing_is_asked_for_and_a_payment_stays_unused(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    builders.restaurant(slug="lonely", latitude=54.9, longitude=9.8)
    free = again(client, payment, slug="lonely")
    assert free["structuredContent"]["entries"] == []
    assert RECEIPT not in free.get("_meta", {})
    assert not Payment.objects.exists()
    assert is_content(again(client, payment))


def test_the_price_is_that_of_the_callers_terms_as_at_rest(wallets: Mapping[str, Wallet]) -> None:
    agreed_with(wallets["pro"])
    client = client_of(wallets["pro"])
    asked = price_of(call(client, AROUND, slug="noma"))
    rest = client.get("/v1/restaurants/noma/context").json()
    assert asked.accepts[0].amount == rest["accepts"][0]["maxAmountRequired"] == "400"


def test_a_payer_of_too_low_a_tier_is_refused_and_not_charged(client: Client, wallets: Mapping[str, Wallet]) -> None:
    builders.review(builders.restaurant(slug="alchemist"), "Fine.")
    result = paid(client, wallets["free"], "list_reviews", slug="alchemist")
    assert words_of(result) == (
        "This is sold from the pro tier on, and the wallet that pays is free. Nothing was charged."
        f" It takes holding 100 USD worth of the token {to_checksum_address(settings.TOKEN_ADDRESS)} on eip155:84532."
    )
    content = refusal_of(result)
    assert (content["code"], content["tier"], content["tier_required"]) == ("tier_required", "free", "pro")
    assert not Payment.objects.exists()


# One payment buys one answer
@pytest.mark.exhaustive
def test_the_same_call_with_the_same_payment_is_served_again_and_charged_once(client: Client) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    arguments: dict[str, Any] = {"slug": "noma", "limit": 5, "kinds": ["park"]}
    payment = quoted(client, wallet, AROUND, **arguments)
    first = again(client, payment, **arguments)
    # In another order it is the same object.
    second = again(client, payment, **dict(reversed(arguments.items())))
    assert is_content(first)
    assert second["structuredContent"] == first["structuredContent"]
    assert second["_meta"][RECEIPT] == first["_meta"][RECEIPT]
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


@pytest.mark.exhaustive
def test_what_means_the_same_is_one_purchase(client: Client) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    payment = quoted(client, wallet, AROUND, slug="noma", limit=5)
    content: list[dict[str, Any]] = [{"limit": 5}, {"limit": 5.0}, {"limit": 5, "kinds": None}]
    for arguments in content:
        assert is_content(again(client, payment, slug="noma", **arguments))
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
    assert the_one_payment().resource == f"mcp://tool/{AROUND}?limit=5&slug=noma"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (AROUND, {"slug": "geranium"}),
        # What is left out is not what is written down, as at REST: a client repeats the call that was quoted.
        (AROUND, {"slug": "noma", "limit": 20}),
        ("buy_parts", {"slug": "noma", "fields": ["context"]}),
    ],
)
def test_for_other_arguments_or_another_tool_the_payment_is_used_already(
    client: Client, wallets: Mapping[str, Wallet], tool: str, arguments: dict[str, Any]
) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    assert is_content(again(client, payment))
    result = again(client, payment, tool, **arguments)
    assert price_of(result).accepts[0].amount == "2000"
    assert refusal_of(result)["code"] == "payment_already_used"
    assert result["structuredContent"][RECEIPT] == {
        "success": False,
        "errorReason": "payment_already_used",
        "transaction": "",
        "network": "eip155:84532",
    }
    assert the_one_payment().resource == f"mcp://tool/{AROUND}?slug=noma"


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_mcp_first", [True, False])
def test_one_payment_buys_at_rest_or_at_mcp(client: Client, wallets: Mapping[str, Wallet], is_mcp_first: bool) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")

    def at_rest() -> tuple[int, Any]:
        answer = client.get("/v1/restaurants/noma/context", headers=header(payment))
        return answer.status_code, answer.json().get("error")

    if is_mcp_first:
        assert is_content(again(client, payment))
        assert at_rest() == (402, "payment_already_used")
    else:
        assert at_rest() == (200, None)
        assert refusal_of(again(client, payment))["code"] == "payment_already_used"
    assert the_one_payment().channel == ("mcp" if is_mcp_first else "rest")


@pytest.mark.exhaustive
def test_a_payment_identifier_names_one_payment_over_both_doors(client: Client) -> None:
    wallet, name = fresh_wallet(usdc=Decimal(1)), "pay_7d5d747be160e280504c099d984bcfe0"
    asked = price_of(call(client, AROUND, slug="noma"))
    first = again(client, payment_for(wallet, asked, identifier=name))
    second = again(client, payment_for(wallet, asked, identifier=name))
    assert second["_meta"][RECEIPT] == first["_meta"][RECEIPT]
    other = again(client, payment_for(wallet, asked, identifier=name), slug="geranium")
    assert refusal_of(other)["code"] == "payment_identifier_reused"
    assert "pay under a new identifier" in words_of(other)
    rest = client.get("/v1/restaurants/noma/context", headers=header(payment_for(wallet, asked, identifier=name)))
    assert (rest.status_code, rest.json()["error"]["code"]) == (409, "payment_identifier_reused")
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


@pytest.mark.exhaustive
def test_20_copies_of_a_paid_call_at_once_are_charged_once(client: Client) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    payment = quoted(client, wallet, AROUND, slug="noma")

    def one(number: int) -> Any:
        try:
            return again(Client(REMOTE_ADDR=f"192.0.2.{number + 1}"), payment)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        results = list(threads.map(one, range(20)))
    served = [result for result in results if "isError" not in result]
    assert len({result["_meta"][RECEIPT]["transaction"] for result in served}) == 1
    # Who came while the first was being settled may be told to come again.
    others = {refusal_of(result)["code"] for result in results if "isError" in result}
    assert others <= {"settlement_pending"}
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
