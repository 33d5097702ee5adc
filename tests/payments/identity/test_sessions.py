"""Signing in over HTTP: from the challenge to a session, and to its end."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as our
from django.db import connection
from django.test import Client
from pytest_django import Settings

from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.identity import sessions
from payments.models import Wallet, WalletSession
from tests.payments.signing import CHALLENGE, SESSION, client_of, sign_in, signature_of, signed_challenge
from tests.support.live_server import NOWHERE

pytestmark = pytest.mark.django_db

ME = "/v1/me"


def post(client: Client, body: Mapping[str, Any]) -> Any:
    return client.post(SESSION, body, content_type="application/json")


def refusal(response: Any) -> tuple[int, str, str | None]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]


# The challenge
def test_a_challenge_has_the_fields_of_the_standard(client: Client) -> None:
    with time_machine.travel(datetime(2026, 11, 21, 18, 0, 0, 700_000, tzinfo=UTC), tick=False):
        response = client.get(CHALLENGE)
    challenge = response.json()
    assert re.fullmatch("[0-9a-f]{64}", challenge.pop("nonce"))
    assert challenge == {
        "domain": our.PUBLIC_BASE_URL.split("//")[1],
        "uri": f"{our.PUBLIC_BASE_URL}/v1/auth/session",
        "version": "1",
        "chainId": 84532,
        "issuedAt": "2026-11-21T18:00:00Z",
        "expirationTime": "2026-11-21T18:05:00Z",
        "statement": "Sign in to prove that this wallet is yours. This moves nothing and costs nothing.",
        "message": None,
    }
    assert response["Cache-Control"] == "private, no-store"


def test_with_an_address_the_challenge_holds_the_text_to_sign(client: Client, wallets: Mapping[str, Key]) -> None:
    challenge = client.get(CHALLENGE, {"address": wallets["pro"].address}).json()
    lines = challenge["message"].split("\n")
    assert lines[0] == f"{challenge['domain']} wants you to sign in with your Ethereum account:"
    assert lines[1] == to_checksum_address(wallets["pro"].address)
    assert lines[-3:] == [
        f"Nonce: {challenge['nonce']}",
        f"Issued At: {challenge['issuedAt']}",
        f"Expiration Time: {challenge['expirationTime']}",
    ]


@pytest.mark.parametrize("question", ["address=0x12", "address=", "addres=0x00", "address=0x00&address=0x00"])
def test_a_parameter_that_is_not_understood_is_refused(client: Client, question: str) -> None:
    assert client.get(f"{CHALLENGE}?{question}").status_code == 400


# A session
@pytest.mark.parametrize(
    ("name", "usd"), [("free", "0"), ("pro", "250"), ("premium", "2000"), ("enterprise", "120000")]
)
def test_a_signed_challenge_opens_a_session_on_the_tier_of_the_wallet(
    client: Client, wallets: Mapping[str, Key], name: str, usd: str
) -> None:
    response = sign_in(client, wallets[name])
    opened = response.json()
    assert response.status_code == 201
    assert response["Cache-Control"] == "private, no-store"
    assert re.fullmatch("ws_[A-Za-z0-9_-]{43}", opened.pop("token"))
    assert opened == {
        "token_type": "Bearer",
        "expires_in": 43200,
        "wallet": to_checksum_address(wallets[name].address),
        "tier": name,
        "holdings_usd": usd,
    }


def test_only_the_digest_of_a_token_is_stored(client: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(client, wallets["pro"])
    token = post(client, body).json()["token"]
    session = WalletSession.objects.get()
    assert session.digest == hashlib.sha256(token.encode()).hexdigest()
    assert session.nonce == body["message"].split("Nonce: ")[1].split("\n")[0]
    assert (session.wallet_id, session.expires_at - session.created_at) == (
        wallets["pro"].address,
        timedelta(hours=12),
    )


def test_the_header_of_x402_opens_a_session_too(client: Client, wallets: Mapping[str, Key]) -> None:
    challenge = client.get(CHALLENGE, {"address": wallets["pro"].address}).json()
    text = challenge.pop("message")
    fields = challenge | {
        "address": to_checksum_address(wallets["pro"].address),
        "chainId": f"eip155:{challenge['chainId']}",
        "type": "eip191",
        "signature": signature_of(wallets["pro"], text),
    }
    header = base64.b64encode(json.dumps(fields).encode()).decode()
    response = client.post(SESSION, headers={"sign-in-with-x": header})
    assert (response.status_code, response.json()["tier"]) == (201, "pro")


def test_a_session_lives_for_twelve_hours(wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["free"])
    expires_at = WalletSession.objects.get().expires_at
    with time_machine.travel(expires_at - timedelta(seconds=1), tick=False):
        assert api.get(ME).json()["wallet"] == to_checksum_address(wallets["free"].address)
    with time_machine.travel(expires_at, tick=False):
        assert refusal(api.get(ME)) == (401, "invalid_credentials", None)


def test_a_clock_that_jumps_ends_no_session_for_good_and_extends_none(wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["free"])
    expires_at = WalletSession.objects.get().expires_at
    for moment, status in (
        (expires_at - timedelta(days=2), 200),
        (expires_at + timedelta(hours=1), 401),
        (expires_at - timedelta(hours=1), 200),
    ):
        with time_machine.travel(moment, tick=False):
            assert api.get(ME).status_code == status
    assert WalletSession.objects.get().expires_at == expires_at


def test_sessions_are_forgotten_a_day_after_their_end(wallets: Mapping[str, Key]) -> None:
    client_of(wallets["free"])
    expires_at = WalletSession.objects.get().expires_at
    client_of(wallets["pro"])
    assert sessions.purge_expired_sessions(expires_at + timedelta(days=1)) == 0
    WalletSession.objects.filter(wallet=wallets["pro"].address).update(expires_at=expires_at + timedelta(hours=1))
    assert sessions.purge_expired_sessions(expires_at + timedelta(days=1, seconds=1)) == 1
    assert WalletSession.objects.get().wallet_id == wallets["pro"].address


def test_a_session_that_was_closed_is_good_no_more(wallets: Mapping[str, Key]) -> None:
    api, other = client_of(wallets["pro"]), client_of(wallets["pro"])
    closed = api.delete(SESSION)
    assert (closed.status_code, closed.content) == (204, b"")
    assert refusal(api.get(ME)) == (401, "invalid_credentials", None)
    assert refusal(api.delete(SESSION)) == (401, "invalid_credentials", None)
    assert other.get(ME)["X-Tier"] == "pro"


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        (None, "missing_credentials"),
        ("Bearer ws_" + 43 * "x", "invalid_credentials"),
        ("Bearer rk_live_key", "invalid_credentials"),
        ("Bearer ", "invalid_credentials"),
    ],
)
def test_only_a_session_can_be_closed(client: Client, authorization: str | None, code: str) -> None:
    response = client.delete(SESSION, headers={"authorization": authorization} if authorization else {})
    assert refusal(response) == (401, code, None)
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_an_expired_token_does_not_prevent_a_new_sign_in(wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["pro"])
    api.delete(SESSION)
    assert sign_in(api, wallets["pro"]).status_code == 201


# What opens none
def test_a_challenge_opens_one_session(client: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(client, wallets["pro"])
    assert post(client, body).status_code == 201
    assert refusal(post(client, body)) == (401, "invalid_credentials", None)
    assert WalletSession.objects.count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_eight_who_come_with_one_signed_challenge_exactly_one_gets_a_session(wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(Client(), wallets["pro"])

    def come(_: int) -> int:
        try:
            return int(post(Client(), body).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(come, range(8))) == [201] + [401] * 7
    assert WalletSession.objects.count() == 1


def test_an_expired_challenge_opens_none(client: Client, wallets: Mapping[str, Key]) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        body = signed_challenge(client, wallets["free"])
        clock.shift(timedelta(minutes=5, seconds=1))
        assert refusal(post(client, body)) == (400, "invalid_request", "message.nonce")


def test_a_message_for_another_domain_opens_none(client: Client, wallets: Mapping[str, Key]) -> None:
    text = signed_challenge(client, wallets["pro"])["message"].replace(
        our.PUBLIC_BASE_URL.split("//")[1], "evil.example", 1
    )
    body = {"message": text, "signature": signature_of(wallets["pro"], text)}
    assert refusal(post(client, body)) == (400, "invalid_request", "message.domain")


def test_a_message_that_was_changed_after_it_was_signed_opens_none(client: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(client, wallets["free"])
    rich = body["message"].replace(
        to_checksum_address(wallets["free"].address), to_checksum_address(wallets["enterprise"].address)
    )
    assert refusal(post(client, body | {"message": rich})) == (401, "invalid_credentials", None)
    assert refusal(post(client, body | {"message": body["message"].replace("nothing.", "much.")}))[0] == 401
    assert not WalletSession.objects.exists()
    assert post(client, body).status_code == 201


def test_the_signature_of_another_wallet_opens_none(client: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(client, wallets["enterprise"])
    forged = body | {"signature": signature_of(wallets["free"], body["message"])}
    assert refusal(post(client, forged)) == (401, "invalid_credentials", None)


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"signature": "0x0"}, "signature"),
        ({"signature": None}, "signature"),
        ({"message": "Let me in"}, "message"),
        ({"message": 7}, "message"),
        ({"wallet": "0x00"}, "wallet"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_by_its_parameter(
    client: Client, wallets: Mapping[str, Key], change: dict[str, Any], param: str
) -> None:
    assert refusal(post(client, signed_challenge(client, wallets["pro"]) | change)) == (400, "invalid_request", param)


# The chain away
def test_a_stranger_who_signs_in_while_the_chain_is_away_may_come_back_with_the_same_challenge(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    body, there = signed_challenge(client, wallets["pro"]), settings.RPC_URL
    settings.RPC_URL = f"http://{NOWHERE}"
    away = post(client, body)
    assert (*refusal(away), away["Retry-After"]) == (503, "service_unavailable", None, "5")
    settings.RPC_URL = there
    assert post(client, body).status_code == 201


def test_a_session_keeps_the_last_tier_while_the_chain_is_away(settings: Settings, wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["pro"])
    settings.RPC_URL = f"http://{NOWHERE}"
    assert api.get(ME)["X-Tier"] == "pro"
    Wallet.objects.update(read_at=datetime.now(UTC) - timedelta(hours=25))
    late = api.get(ME)
    assert (late.status_code, late["X-Tier"], late["X-RateLimit-Limit"]) == (200, "free", "10")
