"""The facilitator that is asked in the place of another: only where that one has surely sent nothing."""

from collections.abc import Mapping
from decimal import Decimal
from threading import Event

import httpx
import pytest
from django.conf import LazySettings

from payments.checkout.context import FacilitatorUnavailable, SettlementPending
from payments.devchain.wallets import Wallet
from payments.facilitator_server import error_codes
from payments.models import Payment
from payments.x402 import facilitator_client
from payments.x402.challenges import PaymentRejected
from tests.payments.buyer import buy, paid_by, reason, refused
from tests.payments.facilitators import hangs_up, never_answers, refuses, says, serving, settles_and
from tests.support.wallets import usdc_balance

State = Payment.State
PRICE = Decimal("0.002")
NOWHERE = "http://127.0.0.1:1"
HASH = "0x" + "5a" * 32
TOKEN = "a-token-that-nobody-else-has"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


# Only after nothing was sent
@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [NOWHERE, "http://nobody.invalid", "https://127.0.0.1:{port}"])
def test_the_fallback_settles_if_the_first_is_not_reached(
    wallets: Mapping[str, Wallet], settings: LazySettings, first: str
) -> None:
    real, before = settings.FACILITATOR_URL, usdc_balance(wallets["free"].address)
    with serving(says(200, {})) as server:
        settings.FACILITATOR_URL = first.format(port=server.server_port)
        settings.FACILITATOR_FALLBACK_URL = real
        receipt = buy(paid_by(wallets["free"]))
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.facilitator) == (State.SETTLED, receipt.transaction, real)
    assert before - usdc_balance(wallets["free"].address) == PRICE


@pytest.mark.exhaustive
@pytest.mark.parametrize("status", [301, 401, 404, 429])
def test_the_fallback_settles_if_the_first_has_not_processed_the_payment(
    wallets: Mapping[str, Wallet], settings: LazySettings, status: int
) -> None:
    settings.FACILITATOR_FALLBACK_URL = real = settings.FACILITATOR_URL
    with serving(says(status, {"error": "no"})) as server:
        settings.FACILITATOR_URL = server.url
        buy(paid_by(wallets["free"]))
        assert len(server.asked) == 1
    assert (Payment.objects.get().state, Payment.objects.get().facilitator) == (State.SETTLED, real)


@pytest.mark.sample(2)
@pytest.mark.parametrize("why", sorted(error_codes.RETRYABLE))
def test_the_fallback_settles_after_a_temporary_error_of_the_first(
    wallets: Mapping[str, Wallet], settings: LazySettings, why: str
) -> None:
    settings.FACILITATOR_FALLBACK_URL = settings.FACILITATOR_URL
    with serving(refuses(why)) as server:
        settings.FACILITATOR_URL = server.url
        buy(paid_by(wallets["free"]))
    assert Payment.objects.get().state == State.SETTLED


@pytest.mark.parametrize("why", sorted(error_codes.RETRYABLE))
def test_a_temporary_error_is_503_and_leaves_no_trace(
    wallets: Mapping[str, Wallet], settings: LazySettings, why: str
) -> None:
    with serving(refuses(why)) as server:
        settings.FACILITATOR_URL = server.url
        refusal = refused(paid_by(wallets["free"]))
    assert isinstance(refusal, FacilitatorUnavailable)
    assert Payment.objects.count() == 0


def test_a_temporary_error_that_names_a_transaction_is_pending(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    with serving(says(200, {})) as second, serving(settles_and(refuses(error_codes.BUSY, HASH))) as first:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = first.url, second.url
        assert buy(paid_by(wallets["free"])).transaction not in ("", HASH)
        assert second.asked == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "fault",
    [hangs_up, says(500, {}), says(200, b"<html>"), refuses(error_codes.PENDING), refuses("transaction_failed")],
)
@pytest.mark.parametrize("has_settled", [True, False])
def test_the_fallback_is_not_asked_after_an_unknown_outcome(
    wallets: Mapping[str, Wallet], settings: LazySettings, fault: object, has_settled: bool
) -> None:
    script = settles_and(fault) if has_settled else fault  # type: ignore[arg-type]
    real, headers = settings.FACILITATOR_URL, paid_by(wallets["free"])
    with serving(says(200, {})) as second, serving(script) as first:  # type: ignore[arg-type]
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = first.url, second.url
        assert isinstance(refused(headers), SettlementPending)
        assert (len(first.asked), len(second.asked)) == (1, 0)
    assert Payment.objects.get().state == State.UNKNOWN
    settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = real, ""
    buy(headers)


@pytest.mark.exhaustive
def test_the_fallback_is_not_asked_if_the_first_is_slow(
    wallets: Mapping[str, Wallet], settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facilitator_client, "TIMEOUT", httpx.Timeout(0.2))
    real, headers, over = settings.FACILITATOR_URL, paid_by(wallets["free"]), Event()
    with serving(says(200, {})) as second, serving(never_answers(over)) as first:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = first.url, second.url
        assert isinstance(refused(headers), SettlementPending)
        over.set()
        assert second.asked == []
    monkeypatch.undo()
    settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = real, ""
    buy(headers)


def test_the_fallback_is_not_asked_if_the_first_has_refused(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    with serving(says(200, {})) as second, serving(refuses("invalid_exact_evm_insufficient_balance")) as first:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = first.url, second.url
        refusal = refused(paid_by(wallets["free"]))
        assert second.asked == []
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == "invalid_exact_evm_insufficient_balance"
    assert Payment.objects.count() == 0


def test_an_unknown_outcome_of_the_fallback_is_recorded_with_its_name(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.FACILITATOR_URL, paid_by(wallets["free"])
    with serving(hangs_up) as second:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = NOWHERE, f"{second.url}/v2?key={TOKEN}"
        assert isinstance(refused(headers), SettlementPending)
        assert (Payment.objects.get().state, Payment.objects.get().facilitator) == (State.UNKNOWN, second.url)
    settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = real, ""
    buy(headers)
    assert (Payment.objects.get().state, Payment.objects.get().facilitator) == (State.SETTLED, real)


def test_the_fallback_is_not_asked_without_enough_time(
    wallets: Mapping[str, Wallet], settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facilitator_client, "MIN_TIME_LEFT_S", (0.2, facilitator_client.TOTAL_S))
    with serving(says(200, {})) as second:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = NOWHERE, second.url
        assert isinstance(refused(paid_by(wallets["free"])), FacilitatorUnavailable)
        assert second.asked == []


# While both are away
@pytest.mark.exhaustive
def test_with_both_breakers_open_paid_fields_are_refused_at_once_and_prices_quoted(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real = settings.FACILITATOR_URL
    settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = NOWHERE, "http://127.0.0.1:2"
    payments = [paid_by(wallets["free"]) for _ in range(facilitator_client.FAILURE_THRESHOLD + 1)]
    for headers in payments[:-1]:
        assert isinstance(refused(headers), FacilitatorUnavailable)
    assert isinstance(refused(payments[-1]), FacilitatorUnavailable)
    # Neither of them was asked once more.
    assert {one.failures for one in facilitator_client.breakers.values()} == {facilitator_client.FAILURE_THRESHOLD}
    assert "PAYMENT-REQUIRED" in refused({}).headers
    assert Payment.objects.count() == 0
    settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = real, ""
    assert buy(payments[-1]).amount == PRICE


@pytest.mark.exhaustive
def test_with_the_first_breaker_open_the_fallback_settles_at_once(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.FACILITATOR_FALLBACK_URL, settings.FACILITATOR_URL = settings.FACILITATOR_URL, NOWHERE
    for _ in range(facilitator_client.FAILURE_THRESHOLD + 1):
        buy(paid_by(wallets["free"]))
    assert facilitator_client.breakers[NOWHERE].failures == facilitator_client.FAILURE_THRESHOLD


# Tokens
def test_each_facilitator_gets_only_its_own_token(
    wallets: Mapping[str, Wallet],
    settings: LazySettings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.FACILITATOR_TOKEN, settings.FACILITATOR_FALLBACK_TOKEN = TOKEN, f"{TOKEN}-2"
    with serving(hangs_up) as second, serving(says(401, {"error": TOKEN})) as first:
        settings.FACILITATOR_URL, settings.FACILITATOR_FALLBACK_URL = first.url, second.url
        refusal = refused(paid_by(wallets["free"]))
        assert (first.shown, second.shown) == ([f"Bearer {TOKEN}"], [f"Bearer {TOKEN}-2"])
    assert "not settled" in caplog.text
    row = Payment.objects.get()
    assert TOKEN not in f"{caplog.text} {refusal} {refusal.headers} {row.facilitator} {row.error}"


def test_without_a_token_no_authorization_header_is_sent(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    with serving(settles_and(hangs_up)) as server:
        settings.FACILITATOR_URL, real = server.url, settings.FACILITATOR_URL
        headers = paid_by(wallets["free"])
        refused(headers)
        assert server.shown == [None]
    settings.FACILITATOR_URL = real
    buy(headers)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://user:secret@facilitator.example.com:8443/secret?key=secret", "https://facilitator.example.com:8443"),
        ("http://127.0.0.1:4021/", "http://127.0.0.1:4021"),
    ],
)
def test_the_ledger_names_a_facilitator_without_its_credentials(url: str, name: str) -> None:
    assert facilitator_client.public_url(url) == name
