"""How a settlement may end, and what is written and answered then: with facilitators that fail as a script says.

After each test what we have received on the chain is the sum of the ledger.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from threading import Event

import httpx
import pytest
from django.conf import LazySettings
from django.db import connection
from eth_account import Account

from payments.chain import evm
from payments.chain.networks import payment_network
from payments.checkout.context import FacilitatorUnavailable, SettlementPending
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.tiers.definitions import FREE
from payments.x402 import facilitator_client
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected
from payments.x402.proofs import Authorization, parse_proof
from tests.payments.buyer import aged, buy, paid_by, proven, purchase_for, reason, refused, settled_by_third_party
from tests.payments.facilitators import cuts_short, hangs_up, never_answers, refuses, says, serving, settles_and
from tests.support.wallets import fresh_wallet, send, usdc_balance

State = Payment.State
PRICE = Decimal("0.002")
HASH = "0x" + "5a" * 32
NOWHERE = "http://127.0.0.1:1"
SETTLED = {"success": True, "payer": "", "transaction": HASH, "network": "eip155:84532"}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


# Nothing was sent
@pytest.mark.parametrize("url", [NOWHERE, "http://nobody.invalid", "https://127.0.0.1:{port}"])
def test_a_facilitator_that_is_not_reached_leaves_no_trace(
    wallets: Mapping[str, Wallet], settings: LazySettings, url: str
) -> None:
    headers = paid_by(wallets["free"])
    with serving(says(200, {})) as server:
        settings.FACILITATOR_URL = url.format(port=server.server_port)
        refusal = refused(headers)
    assert isinstance(refusal, FacilitatorUnavailable)
    assert (refusal.status, refusal.code) == (503, "facilitator_unavailable")
    assert refusal.headers["Retry-After"] == "5"
    assert Payment.objects.count() == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("status", [301, 401, 403, 404, 405, 413, 429])
def test_a_facilitator_that_does_not_process_the_payment_leaves_no_trace(
    wallets: Mapping[str, Wallet], settings: LazySettings, status: int
) -> None:
    with serving(says(status, {"error": "no"})) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(paid_by(wallets["free"])), FacilitatorUnavailable)
    assert Payment.objects.count() == 0


@pytest.mark.parametrize("why", ["invalid_exact_evm_insufficient_balance", "insufficient_funds"])
def test_a_rejected_payment_leaves_no_trace_and_a_fresh_challenge(
    wallets: Mapping[str, Wallet], settings: LazySettings, why: str
) -> None:
    with serving(refuses(why)) as server:
        settings.FACILITATOR_URL = server.url
        refusal = refused(paid_by(wallets["free"]))
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == why
    assert "PAYMENT-REQUIRED" in refusal.headers
    assert Payment.objects.count() == 0


# The outcome is not known
FAULTS = {
    "hangs up": hangs_up,
    "cuts short": cuts_short,
    "500": says(500, {"error": "internal_error"}),
    "502 of a proxy": says(502, b"<html>"),
    "408": says(408, b""),
    "no JSON": says(200, b"<html>"),
    "no settlement": says(200, {"ok": True}),
    "empty": says(200, b""),
    "endless": says(200, b" " * (facilitator_client.MAX_BYTES + 1)),
    "pending": refuses("settlement_pending", HASH),
    "failed to send": refuses("transaction_failed"),
    "an unknown reason": refuses("unexpected_settle_error"),
    "settled without a transaction": says(200, {**SETTLED, "transaction": ""}),
    "settled for another payer": says(200, {**SETTLED, "payer": "0x" + "12" * 20}),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("has_settled", [True, False])
def test_an_unknown_outcome_is_503_and_the_same_header_is_charged_once(
    wallets: Mapping[str, Wallet], settings: LazySettings, fault: str, has_settled: bool
) -> None:
    real, before = settings.FACILITATOR_URL, usdc_balance(wallets["free"].address)
    headers = paid_by(wallets["free"])
    with serving(settles_and(FAULTS[fault]) if has_settled else FAULTS[fault]) as server:
        settings.FACILITATOR_URL = server.url
        refusal = refused(headers)
        assert len(server.asked) == 1
    assert isinstance(refusal, SettlementPending)
    assert (refusal.status, refusal.headers["Retry-After"]) == (503, "2")
    assert "you will not be charged twice" in refusal.message
    assert (Payment.objects.get().state, Payment.objects.get().error != "") == (State.UNKNOWN, True)
    settings.FACILITATOR_URL = real
    receipt = buy(headers)
    assert before - usdc_balance(wallets["free"].address) == PRICE
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.attempts, row.error) == (State.SETTLED, receipt.transaction, 2, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("has_settled", [True, False])
def test_a_facilitator_that_does_not_answer_is_timed_out(
    wallets: Mapping[str, Wallet],
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
    has_settled: bool,
) -> None:
    monkeypatch.setattr(facilitator_client, "TIMEOUT", httpx.Timeout(0.2))
    real, headers = settings.FACILITATOR_URL, paid_by(wallets["free"])
    over = Event()
    never = never_answers(over)
    with serving(settles_and(never) if has_settled else never) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), SettlementPending)
        over.set()
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.UNKNOWN, "ReadTimeout")
    settings.FACILITATOR_URL = real
    monkeypatch.undo()
    buy(headers)
    assert Payment.objects.get().state == State.SETTLED


def test_an_unknown_payment_stays_unknown_while_the_facilitator_is_unavailable(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    headers = paid_by(wallets["free"])
    with serving(hangs_up) as server:
        settings.FACILITATOR_URL = server.url
        refused(headers)
    # Nothing is sent now, but it may have been before.
    settings.FACILITATOR_URL = NOWHERE
    assert isinstance(refused(headers), SettlementPending)
    with serving(refuses("invalid_exact_evm_insufficient_balance")) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), SettlementPending)
    assert (Payment.objects.get().state, Payment.objects.get().attempts) == (State.UNKNOWN, 3)


def test_an_unknown_payment_stays_unknown_while_the_chain_is_unavailable(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.RPC_URL, paid_by(wallets["free"])
    with serving(hangs_up) as server:
        settings.FACILITATOR_URL = server.url
        refused(headers)
        settings.RPC_URL = NOWHERE
        assert isinstance(refused(headers), SettlementPending)
        assert len(server.asked) == 1
    assert Payment.objects.get().state == State.UNKNOWN
    settings.RPC_URL = real


def test_a_rejection_is_not_final_while_the_chain_is_unavailable(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.TIER_CACHE_S = 600
    buy(paid_by(wallets["free"]))
    real, headers = settings.RPC_URL, paid_by(wallets["free"])
    with serving(refuses("invalid_exact_evm_nonce_already_used")) as server:
        settings.FACILITATOR_URL, settings.RPC_URL = server.url, NOWHERE
        assert isinstance(refused(headers), SettlementPending)
    settings.RPC_URL = real
    assert Payment.objects.filter(state=State.UNKNOWN).count() == 1


@pytest.mark.exhaustive
def test_a_database_failure_after_settling_is_503_and_the_same_header_is_charged_once(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, before = settings.FACILITATOR_URL, usdc_balance(wallets["free"].address)
    headers = paid_by(wallets["free"])
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid

    def ends_the_session(_: bytes) -> tuple[int, bytes]:
        # In the server's thread this is another connection.
        with connection.cursor() as other:
            other.execute("SELECT pg_terminate_backend(%s)", [backend])
        connection.close()
        return 200, json.dumps({**SETTLED, "payer": wallets["free"].address}).encode()

    with serving(settles_and(ends_the_session)) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), SettlementPending)
    settings.FACILITATOR_URL = real
    connection.close()
    assert (Payment.objects.get().state, Payment.objects.get().tx_hash) == (State.CLAIMED, None)
    aged()
    buy(headers)
    assert before - usdc_balance(wallets["free"].address) == PRICE


# Somebody else was first
def test_an_authorization_sent_by_a_third_party_counts_as_paid_once(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    transaction = settled_by_third_party(headers)
    assert buy(headers, caller=proven(wallets["free"], FREE)).transaction == transaction
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.block is not None) == (State.SETTLED, transaction, True)
    refusal = refused(headers, purchase_for("geranium"), caller=proven(wallets["free"], FREE))
    assert isinstance(refusal, PaymentAlreadyUsed)


def test_an_authorization_sent_during_settlement_counts_as_paid(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    with serving(settles_and(refuses("transaction_failed", HASH))) as server:
        settings.FACILITATOR_URL = server.url
        receipt = buy(paid_by(wallets["free"]))
    assert receipt.transaction not in ("", HASH)
    assert Payment.objects.get().state == State.SETTLED


def test_the_transaction_of_an_authorization_is_no_second_payment(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    transaction = settled_by_third_party(headers)
    assert reason(refused({"X-Payment": transaction}, purchase_for("geranium"))) == "not_a_payment"
    receipt = buy(headers, caller=proven(wallets["free"], FREE))
    assert isinstance(refused({"X-Payment": receipt.transaction}, purchase_for("geranium")), PaymentAlreadyUsed)


def cancelled(wallet: Wallet, headers: Mapping[str, str]) -> None:
    """The wallet takes the authorization back."""
    signed = parse_proof(headers)
    assert isinstance(signed, Authorization)
    domain = {
        "name": payment_network().domain_name,
        "version": payment_network().domain_version,
        "chainId": payment_network().chain_id,
        "verifyingContract": evm.to_checksum_address(payment_network().asset),
    }
    types = {"CancelAuthorization": [{"name": "authorizer", "type": "address"}, {"name": "nonce", "type": "bytes32"}]}
    message = {"authorizer": evm.to_checksum_address(signed.payer), "nonce": signed.nonce}
    signature = Account.sign_typed_data(wallet.private_key, domain, types, message)
    call = evm.encode_call(
        "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)",
        signed.payer,
        signed.nonce,
        signature.v,
        signature.r.to_bytes(32),
        signature.s.to_bytes(32),
    )
    send(wallet, to=payment_network().asset, data=call)


def test_a_cancelled_authorization_buys_nothing() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    headers = paid_by(wallet)
    cancelled(wallet, headers)
    assert reason(refused(headers)) == "used"
    payer = proven(wallet, FREE)
    for refusal in (refused(headers, caller=payer), refused(headers, caller=payer)):
        assert isinstance(refusal, PaymentRejected)
        assert (reason(refusal), Payment.objects.get().state) == ("expired", State.EXPIRED)
    assert usdc_balance(wallet.address) == Decimal(1)
