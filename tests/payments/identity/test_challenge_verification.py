"""Signed challenges on any request, each good once, and wallets that are contracts."""

import asyncio
import base64
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from eth_account import Account
from pytest_django import Settings
from x402 import x402Client, x402ClientSync
from x402.extensions.sign_in_with_x import CreateSIWxClientExtensionOptions, create_siwx_client_extension
from x402.http import x402HTTPClient
from x402.http.utils import decode_payment_required_header, encode_payment_signature_header
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

from payments import retention
from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, SpentChallenge, Wallet, WalletSession
from payments.pricing import default_products
from tests.catalogue import builders
from tests.payments.signing import CHALLENGE, SESSION, client_of, header_of, sign_in, signature_of
from tests.payments.transfers import contract_wallet
from tests.support.live_server import NOWHERE
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db

ME = "/v1/me"
MARKETS = "/v1/markets"
REPEATS = "0x" + 39 * "0" + "4"


def outcome(response: Any) -> tuple[int, str | None, str | None]:
    """The status, and of a refusal its code and parameter."""
    error = response.json().get("error", {})
    return response.status_code, error.get("code"), error.get("param")


def remaining(response: Any) -> int:
    return int(response["X-RateLimit-Remaining"])


def changed(header: Mapping[str, str], **fields: str) -> dict[str, str]:
    """The same header with other fields."""
    content = json.loads(base64.b64decode(header["sign-in-with-x"])) | fields
    return {"sign-in-with-x": base64.b64encode(json.dumps(content).encode()).decode()}


# On any request
@pytest.mark.parametrize(("name", "limit"), [("free", "10"), ("pro", "120"), ("enterprise", "6000")])
def test_a_signed_challenge_makes_any_request_one_of_its_wallet(
    client: Client, wallets: Mapping[str, Key], name: str, limit: str
) -> None:
    response = client.get(MARKETS, headers=header_of(wallets[name]))
    assert (response.status_code, response["X-Tier"], response["X-RateLimit-Limit"]) == (200, name, limit)


def test_a_signed_challenge_gets_the_prices_of_the_tier(client: Client, wallets: Mapping[str, Key]) -> None:
    default_products.create_missing()
    me = client.get(ME, headers=header_of(wallets["pro"])).json()
    assert (me["identified_by"], me["wallet"], me["wallets"]) == (
        "challenge",
        to_checksum_address(wallets["pro"].address),
        [to_checksum_address(wallets["pro"].address)],
    )
    assert me["prices"]["rate"] == "discounted"


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_wallet_that_signs_in_by_the_extension_of_a_402_is_quoted_and_pays_the_price_of_its_tier(
    client: Client, wallets: Mapping[str, Key], settings: Settings
) -> None:
    default_products.create_missing()
    builders.restaurant(slug="noma")
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    path, account = "/v1/restaurants/noma?fields=context", Account.from_key(wallets["pro"].private_key)
    official = register_exact_evm_client(x402Client(), EthAccountSigner(account))
    official.register_extension(create_siwx_client_extension(CreateSIWxClientExtensionOptions(signers=[account])))

    def answer(response: Any) -> dict[str, str]:
        headers, _ = asyncio.run(
            x402HTTPClient(official).handle_402_response(
                dict(response.headers), response.content, settings.PUBLIC_BASE_URL + path
            )
        )
        return headers

    sign_in = answer(client.get(path))
    assert list(sign_in) == ["sign-in-with-x"]
    quoted = client.get(path, headers=sign_in)
    assert (quoted.status_code, quoted["X-Tier"]) == (402, "pro")
    assert json.loads(quoted["x402"])["amount"] == "0.0015"
    # The challenge of the first 402 is spent.
    assert outcome(client.get(path, headers=sign_in)) == (401, "invalid_credentials", None)
    payment = encode_payment_signature_header(
        register_exact_evm_client(x402ClientSync(), EthAccountSigner(account)).create_payment_payload(
            decode_payment_required_header(quoted["PAYMENT-REQUIRED"])
        )
    )
    paid = client.get(path, headers={"PAYMENT-SIGNATURE": payment})
    assert (paid.status_code, Payment.objects.get().amount_usdc) == (200, Decimal("0.001500"))


def test_a_session_and_a_challenge_of_a_wallet_count_together(wallets: Mapping[str, Key], client: Client) -> None:
    api = client_of(wallets["pro"])
    assert [
        remaining(api.get(MARKETS)),
        remaining(client.get(MARKETS, headers=header_of(wallets["pro"]))),
        remaining(api.get(MARKETS, headers=header_of(wallets["pro"]))),
    ] == [119, 118, 117]


@pytest.mark.parametrize("again", ["get", "head"])
def test_a_header_is_good_for_one_request_and_its_replay_counts_on_the_address(
    client: Client, wallets: Mapping[str, Key], again: str
) -> None:
    header = header_of(wallets["pro"])
    assert client.head(MARKETS, headers=header)["X-Tier"] == "pro"
    replayed = getattr(client, again)(MARKETS, headers=header)
    assert (replayed.status_code, replayed["X-Tier"], remaining(replayed)) == (401, "free", 9)
    assert replayed["WWW-Authenticate"].startswith("Bearer")


def test_a_challenge_never_serves_a_request_and_a_session(client: Client, wallets: Mapping[str, Key]) -> None:
    header = header_of(wallets["pro"])
    assert client.get(MARKETS, headers=header).status_code == 200
    assert outcome(client.post(SESSION, headers=header)) == (401, "invalid_credentials", None)
    other = header_of(wallets["pro"])
    assert client.post(SESSION, headers=other).status_code == 201
    assert outcome(client.get(MARKETS, headers=other)) == (401, "invalid_credentials", None)
    assert (WalletSession.objects.count(), SpentChallenge.objects.count()) == (1, 2)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_ten_who_come_at_once_with_one_challenge_exactly_one_is_served(wallets: Mapping[str, Key]) -> None:
    header = header_of(wallets["pro"])

    def come(number: int) -> int:
        try:
            caller = Client(REMOTE_ADDR=f"192.0.2.{number}")
            asked = caller.get(MARKETS, headers=header) if number % 2 else caller.post(SESSION, headers=header)
            return int(asked.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as threads:
        answers = sorted(threads.map(come, range(10)))
    assert answers[0] in (200, 201)
    assert answers[1:] == [401] * 9
    assert SpentChallenge.objects.count() == 1


def test_a_forged_signature_is_refused_and_spends_its_challenge(client: Client, wallets: Mapping[str, Key]) -> None:
    header = header_of(wallets["enterprise"])
    forged = changed(header, signature="0x" + 64 * "11" + "1b")
    assert outcome(client.get(MARKETS, headers=forged)) == (401, "invalid_credentials", None)
    assert outcome(client.get(MARKETS, headers=header)) == (401, "invalid_credentials", None)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"domain": "evil.example"}, "SIGN-IN-WITH-X.domain"),
        ({"uri": "https://evil.example/v1/markets"}, "SIGN-IN-WITH-X.uri"),
        ({"nonce": 64 * "0"}, "SIGN-IN-WITH-X.nonce"),
        ({"signature": "0x1"}, "SIGN-IN-WITH-X.signature"),
        ({"signature": "0x11" + 16 * "6492"}, "SIGN-IN-WITH-X.signature"),
    ],
)
def test_what_was_not_made_from_a_challenge_of_ours_is_refused_by_the_field_and_spends_nothing(
    client: Client, wallets: Mapping[str, Key], fields: dict[str, str], param: str
) -> None:
    header = header_of(wallets["pro"])
    assert outcome(client.get(MARKETS, headers=changed(header, **fields))) == (401, "invalid_credentials", param)
    assert not SpentChallenge.objects.exists()
    assert client.get(MARKETS, headers=header)["X-Tier"] == "pro"


def test_a_header_is_good_for_five_minutes(client: Client, wallets: Mapping[str, Key]) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        header = header_of(wallets["pro"])
        clock.shift(timedelta(minutes=5, seconds=1))
        late = client.get(MARKETS, headers=header)
    assert outcome(late) == (401, "invalid_credentials", "SIGN-IN-WITH-X.nonce")


def test_bad_headers_use_up_what_their_address_has(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [client.get(MARKETS, headers={"sign-in-with-x": "junk"}) for _ in range(11)]
        assert [(answer.status_code, remaining(answer)) for answer in answers] == [
            *((401, left) for left in range(9, -1, -1)),
            (401, 0),
        ]
        assert client.get(MARKETS).status_code == 429


def test_a_spent_challenge_is_forgotten_only_when_no_clock_of_ours_would_take_it(
    client: Client, wallets: Mapping[str, Key]
) -> None:
    made = datetime.now(UTC)
    client.get(MARKETS, headers=header_of(wallets["free"]))
    retention.purge_expired(now=made + timedelta(minutes=5, seconds=59))
    assert SpentChallenge.objects.count() == 1
    retention.purge_expired(now=made + timedelta(minutes=6, seconds=2))
    assert not SpentChallenge.objects.exists()


# Beside a session
def test_a_session_and_a_challenge_of_two_wallets_are_refused_and_spend_nothing(wallets: Mapping[str, Key]) -> None:
    header = header_of(wallets["enterprise"])
    api = client_of(wallets["free"])
    spent = SpentChallenge.objects.count()
    assert outcome(api.get(MARKETS, headers=header)) == (400, "invalid_request", "SIGN-IN-WITH-X")
    assert SpentChallenge.objects.count() == spent


@pytest.mark.parametrize("token", ["ws_" + 43 * "A", "rk_live_x"])
def test_beside_a_wrong_token_a_challenge_is_not_spent(client: Client, wallets: Mapping[str, Key], token: str) -> None:
    headers = {**header_of(wallets["pro"]), "authorization": f"Bearer {token}"}
    assert client.get(MARKETS, headers=headers).status_code == 401
    assert not SpentChallenge.objects.exists()


def test_signing_in_itself_does_not_spend_the_header_twice(client: Client, wallets: Mapping[str, Key]) -> None:
    header = header_of(wallets["pro"])
    assert client.get(CHALLENGE, headers=header).status_code == 200
    assert client.get(MARKETS, headers=header).status_code == 200


# What it costs
def test_a_believed_wallet_costs_two_queries_and_no_trip(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    Wallet.objects.create(address=wallets["pro"].address, tier="pro", read_at=datetime.now(UTC))
    header = header_of(wallets["pro"])
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/v1/nothing", headers=header)["X-Tier"] == "pro"
    assert len(queries) == 2


def test_a_wallet_that_holds_nothing_leaves_no_row(client: Client, wallets: Mapping[str, Key]) -> None:
    assert client.get(MARKETS, headers=header_of(wallets["free"]))["X-Tier"] == "free"
    assert not Wallet.objects.exists()


def test_while_the_chain_is_away_a_wallet_has_its_last_tier_for_a_day_and_then_the_free_one(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    client.get(MARKETS, headers=header_of(wallets["pro"]))
    settings.RPC_URL = f"http://{NOWHERE}"
    assert client.get(MARKETS, headers=header_of(wallets["pro"]))["X-Tier"] == "pro"
    Wallet.objects.update(read_at=datetime.now(UTC) - timedelta(hours=25))
    late = client.get(MARKETS, headers=header_of(wallets["pro"]))
    stranger = client.get(MARKETS, headers=header_of(wallets["enterprise"]))
    assert [(late.status_code, late["X-Tier"]), (stranger.status_code, stranger["X-Tier"])] == [(200, "free")] * 2


# Contract wallets
def owned_by(owner: Key) -> bytes:
    """A contract whose signatures are those of one key: it recovers the signer, as wallets of one owner do."""
    return bytes.fromhex(
        # hash, v, r, s to where ecrecover reads them; ask it; the word of ERC-1271 times whether it is the owner.
        "600435600052" + "60a43560001a602052" + "606435604052" + "608435606052"
        "602060006080600060015afa50" + "60005173" + owner.address[2:] + "14"
        "631626ba7e60e01b02" + "60005260206000f3"
    )


def word(content: str, *, size: int = 32) -> bytes:
    """A contract that answers so many bytes of this word, whatever it is asked."""
    return bytes.fromhex(f"7f{content:0<64}60005260{size:02x}6000f3")


def posted(client: Client, contract: str, owner: Key, *, signature: str | None = None) -> Any:
    """The answer to a contract that signs in by the key of its owner."""
    text = client.get(CHALLENGE, {"address": contract}).json()["message"]
    body = {"message": text, "signature": signature or signature_of(owner, text)}
    return client.post(SESSION, body, content_type="application/json")


@pytest.mark.exhaustive
def test_a_contract_wallet_signs_in_by_its_own_judgement(client: Client) -> None:
    owner, stranger = fresh_wallet(), fresh_wallet()
    contract = contract_wallet(owner, usdc=Decimal(0), code=owned_by(owner))
    opened = posted(client, contract, owner)
    assert (opened.status_code, opened.json()["wallet"]) == (201, to_checksum_address(contract))
    assert outcome(posted(client, contract, stranger)) == (401, "invalid_credentials", None)
    me = client.get(ME, headers=header_of(owner, of=contract))
    assert (me.status_code, me.json()["wallet"]) == (200, to_checksum_address(contract))
    assert outcome(client.get(ME, headers=header_of(stranger, of=contract)))[0] == 401


@pytest.mark.parametrize("digits", [2, 192, 4_096])
def test_a_contract_wallet_may_sign_at_any_length(client: Client, digits: int) -> None:
    owner = fresh_wallet()
    contract = contract_wallet(owner, usdc=Decimal(0))
    assert posted(client, contract, owner, signature="0x" + digits * "1").status_code == 201


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(bytes.fromhex("60006000fd"), id="reverts"),
        pytest.param(bytes.fromhex("5b600056"), id="eats all gas"),
        pytest.param(bytes.fromhex("fe"), id="breaks"),
        pytest.param(bytes.fromhex("00"), id="says nothing"),
        pytest.param(word("ff" * 32), id="junk"),
        pytest.param(word("1626ba7e", size=4), id="too short"),
        pytest.param(word("1626ba7e" + 28 * "01"), id="more than the word"),
        pytest.param(word(31 * "00" + "01"), id="yes"),
    ],
)
def test_a_contract_that_does_not_agree_in_so_many_words_opens_nothing(client: Client, code: bytes) -> None:
    owner = fresh_wallet()
    contract = contract_wallet(owner, usdc=Decimal(0), code=code)
    assert outcome(posted(client, contract, owner)) == (401, "invalid_credentials", None)
    assert outcome(client.get(MARKETS, headers=header_of(owner, of=contract)))[0] == 401
    assert not WalletSession.objects.exists()


def test_the_contract_that_repeats_what_it_is_asked_is_nobodys_wallet(client: Client) -> None:
    assert outcome(posted(client, REPEATS, fresh_wallet()))[0] == 401


def test_while_the_chain_is_away_a_contract_cannot_be_asked(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    contract = contract_wallet(fresh_wallet(), usdc=Decimal(0))
    there = settings.RPC_URL
    settings.RPC_URL = f"http://{NOWHERE}"
    assert outcome(posted(client, contract, wallets["free"])) == (503, "service_unavailable", None)
    away = client.get(MARKETS, headers=header_of(wallets["free"], of=contract))
    assert (away.status_code, away["Retry-After"], away["X-Tier"]) == (503, "5", "free")
    settings.RPC_URL = there
    assert posted(client, contract, wallets["free"]).status_code == 201


def test_the_signature_of_a_key_is_judged_without_the_chain(
    settings: Settings, client: Client, wallets: Mapping[str, Key]
) -> None:
    sign_in(client, wallets["pro"])
    settings.RPC_URL = f"http://{NOWHERE}"
    assert sign_in(client, wallets["pro"]).status_code == 201
