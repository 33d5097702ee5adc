"""Paid tools when something fails, and what the ledger says of them. At the end ledger and chain are compared."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings, settings
from django.db import connection
from django.test import Client

from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.receipts import Receipt
from tests.framework.observability.test_metrics import counted
from tests.mcp.client import RECEIPT, call, paid, price_of, quoted, refusal_of, words_of
from tests.mcp.paying_client import AROUND, PRICE, again, is_content
from tests.payments.buyer import aged
from tests.payments.facilitators import refuses, says, serving, settles_and
from tests.payments.signing import client_of
from tests.security.live_product import stocked, the_one_payment
from tests.support.builders import staff as make_staff
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain", "_goods")]

State = Payment.State
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def _goods(ledger_matches_chain: None) -> None:
    """What is sold."""
    stocked()


def test_a_settlement_that_fails_gives_the_payment_error_and_never_the_content(
    client: Client, wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    with serving(refuses("insufficient_funds")) as facilitator:
        settings.FACILITATOR_URL = facilitator.url
        result = again(client, payment)
    assert price_of(result).error == (
        "payment_rejected: The facilitator has refused the payment. Nothing was charged."
    )
    assert result["structuredContent"][RECEIPT]["errorReason"] == "insufficient_funds"
    assert (refusal_of(result)["code"], refusal_of(result)["reason"]) == ("payment_rejected", "insufficient_funds")
    assert "Tivoli" not in json.dumps(result)
    assert RECEIPT not in result["_meta"]
    assert not Payment.objects.exists()


def test_a_wrong_signature_is_refused_with_the_price(client: Client, wallets: Mapping[str, Wallet]) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    payment["payload"]["authorization"]["value"] = "2001"
    result = again(client, payment)
    assert refusal_of(result)["reason"] == "invalid_signature"
    assert price_of(result).accepts[0].amount == "2000"
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_refunds_due_are_named(client: Client, wallets: Mapping[str, Wallet]) -> None:
    sent = transfer_usdc(wallets["free"], settings.PAY_TO, Decimal("0.001"))
    result = again(client, {"transaction": sent})
    assert refusal_of(result)["refund"] == the_one_payment().public_id
    assert the_one_payment().state == State.REFUND_DUE


@pytest.mark.exhaustive
def test_while_no_facilitator_is_there_nothing_is_charged_and_the_same_payment_is_good_later(
    client: Client, wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, payment = settings.FACILITATOR_URL, quoted(client, wallets["free"], AROUND, slug="noma")
    settings.FACILITATOR_URL = NOWHERE
    result = again(client, payment)
    assert words_of(result) == (
        "Payments cannot be settled for a moment. Nothing was charged: ask again with the same payment."
    )
    assert refusal_of(result)["code"] == "facilitator_unavailable"
    assert "structuredContent" not in result
    assert not Payment.objects.exists()
    settings.FACILITATOR_URL = real
    assert is_content(again(client, payment))


@pytest.mark.exhaustive
def test_lost_facilitator_response_is_looked_up_and_never_charged_twice(
    client: Client, settings: LazySettings
) -> None:
    wallet, real = fresh_wallet(usdc=Decimal(1)), settings.FACILITATOR_URL
    payment = quoted(client, wallet, AROUND, slug="noma")
    with serving(settles_and(says(500, {}))) as facilitator:
        settings.FACILITATOR_URL = facilitator.url
        result = again(client, payment)
    assert words_of(result) == (
        "Whether this payment has been settled is not known yet."
        " Ask again with the same payment: you will not be charged twice."
    )
    assert refusal_of(result)["code"] == "settlement_pending"
    settings.FACILITATOR_URL = real
    assert is_content(again(client, payment))
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


@pytest.mark.exhaustive
def test_when_the_database_goes_while_the_money_moves_the_same_payment_is_served_and_not_charged_twice(
    client: Client, settings: LazySettings
) -> None:
    wallet, real = fresh_wallet(usdc=Decimal(1)), settings.FACILITATOR_URL
    payment = quoted(client, wallet, AROUND, slug="noma")
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid

    def ends_the_session(_: bytes) -> tuple[int, bytes]:
        # In the server's thread this is another connection.
        with connection.cursor() as other:
            other.execute("SELECT pg_terminate_backend(%s)", [backend])
        connection.close()
        settled = {"success": True, "transaction": f"0x{'5a' * 32}", "network": "eip155:84532"}
        return 200, json.dumps({**settled, "payer": wallet.address}).encode()

    with serving(settles_and(ends_the_session)) as facilitator:
        settings.FACILITATOR_URL = facilitator.url
        try:
            result = again(client, payment)
        finally:
            connection.close()
    assert refusal_of(result)["code"] == "settlement_pending"
    settings.FACILITATOR_URL = real
    aged()
    assert is_content(again(client, payment))
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


@pytest.mark.exhaustive
def test_what_breaks_on_our_side_before_the_gate_charges_nothing_and_says_so(
    client: Client, wallets: Mapping[str, Wallet], caplog: pytest.LogCaptureFixture
) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE catalogue_landmark RENAME TO elsewhere")
    try:
        unpaid, result = call(client, AROUND, slug="noma"), again(client, payment)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO catalogue_landmark")
    assert words_of(unpaid) == "This failed on our side; nothing was charged."
    assert words_of(result) == (
        "This failed on our side. Repeat the call with the same payment: it is not charged twice."
    )
    assert refusal_of(result)["code"] == "internal_error"
    assert refusal_of(result)["request_id"] in {getattr(record, "request_id", "") for record in caplog.records}
    assert not Payment.objects.exists()
    assert is_content(again(client, payment))


@pytest.mark.exhaustive
def test_what_breaks_on_our_side_after_the_money_has_moved_is_served_by_the_same_payment_and_charged_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    payment = quoted(client, wallet, AROUND, slug="noma")

    def breaks(_: Receipt) -> Any:
        raise RuntimeError("no receipt can be written")

    with monkeypatch.context() as patched:
        patched.setattr(Receipt, "settled", property(breaks))
        result = again(client, payment)
    assert words_of(result) == (
        "This failed on our side. Repeat the call with the same payment: it is not charged twice."
    )
    assert refusal_of(result)["code"] == "internal_error"
    assert "Tivoli" not in json.dumps(result)
    # The money has moved, and nobody has been given anything.
    assert (the_one_payment().state, Decimal(1) - usdc_balance(wallet.address)) == (State.SETTLED, PRICE)
    assert is_content(again(client, payment))
    assert (the_one_payment().state, Decimal(1) - usdc_balance(wallet.address)) == (State.DELIVERED, PRICE)


# The ledger
@pytest.mark.exhaustive
def test_the_payer_sees_the_call_among_their_payments(client: Client, wallets: Mapping[str, Wallet]) -> None:
    paid(client, wallets["free"], AROUND, slug="noma", kinds=["park", "museum"])
    (body,) = client_of(wallets["free"]).get("/v1/payments").json()["data"]
    assert (body["channel"], body["resource"], body["state"]) == (
        "mcp",
        {
            "method": "tools/call",
            "url": f"mcp://tool/{AROUND}?kinds=%5B%22park%22%2C%22museum%22%5D&slug=noma",
        },
        "delivered",
    )


@pytest.mark.exhaustive
def test_staff_see_the_channel_and_metrics_count_by_channel(client: Client, wallets: Mapping[str, Wallet]) -> None:
    def body(channel: str) -> float:
        return counted("tablewire_payment_challenges_total", product="context", channel=channel)

    before = body("mcp"), body("rest")
    paid(client, wallets["free"], AROUND, slug="noma")
    assert (body("mcp") - before[0], body("rest") - before[1]) == (1, 0)
    staff = make_staff()
    shown = {
        channel: staff.get(f"/admin/payments/payment/?channel__exact={channel}").content.decode()
        for channel in ("mcp", "rest")
    }
    assert ["field-channel" in page for page in shown.values()] == [True, False]
    assert '<td class="field-channel">MCP</td>' in shown["mcp"]


@pytest.mark.exhaustive
def test_what_a_guest_says_to_book_stands_in_no_ledger_whatever_comes_with_it(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    payment = quoted(client, wallets["free"], AROUND, slug="noma")
    guest = {"name": "Ada Lovelace", "phone": "+45 12 34 56 78", "email": "ada@example.com"}
    wish: dict[str, Any] = {"offer_id": "off_01jd5k3v8rf8hb2m0c9t6w4y7z", "party_size": 2}
    assert "isError" in again(client, payment, "book_table", **wish, **guest)
    assert not Payment.objects.exists()
    assert is_content(again(client, payment))
    assert "Lovelace" not in str(Payment.objects.values())


def test_an_unknown_argument_is_refused_before_a_price_is_quoted(client: Client) -> None:
    result = call(client, AROUND, slug="noma", name="Ada Lovelace", phone="+45 12 34 56 78")
    assert refusal_of(result)["code"] == "invalid_request"
    assert not Payment.objects.exists()


def test_an_invalid_call_is_not_quoted_a_price(client: Client) -> None:
    result = call(client, AROUND, slug="nowhere")
    assert refusal_of(result)["code"] == "not_found"
    assert words_of(result).endswith("Find the slug with search_restaurants.")
