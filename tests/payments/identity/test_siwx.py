"""Messages of EIP-4361: what is offered for signing, and what is accepted of what comes back."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from pytest_django import Settings
from x402.extensions.sign_in_with_x import SIWxPayload, encode_siwx_header

from payments.chain.evm import to_checksum_address
from payments.identity import siwx

NOW = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
ACCOUNT = Account.from_key("0x" + 32 * "11")
SIGNATURE = "0x" + 65 * "11"


@pytest.fixture(autouse=True)
def _ours(settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "https://api.example.com"
    settings.PAYMENT_NETWORK = "eip155:84532"
    settings.SECRET_KEY = "a key of these tests"


def message(at: datetime = NOW) -> str:
    return siwx.format_message({**siwx.create_challenge(now=at), "address": ACCOUNT.address})


def refused(text: str, *, now: datetime = NOW, signature: str = SIGNATURE) -> str | None:
    """The parameter by which the message is refused."""
    with pytest.raises(siwx.InvalidSignIn) as caught:
        siwx.parse_message(text, signature, now=now)
    assert (caught.value.code, caught.value.status) == ("invalid_request", 400)
    return caught.value.param


# The challenge
def test_the_message_is_that_of_the_standard() -> None:
    challenge = siwx.create_challenge(now=NOW)
    assert siwx.format_message({**challenge, "address": ACCOUNT.address}) == (
        "api.example.com wants you to sign in with your Ethereum account:\n"
        f"{ACCOUNT.address}\n"
        "\n"
        "Sign in to prove that this wallet is yours. This moves nothing and costs nothing.\n"
        "\n"
        "URI: https://api.example.com/v1/auth/session\n"
        "Version: 1\n"
        "Chain ID: 84532\n"
        f"Nonce: {challenge['nonce']}\n"
        "Issued At: 2026-11-21T18:00:00Z\n"
        "Expiration Time: 2026-11-21T18:05:00Z"
    )


def test_no_two_challenges_are_the_same() -> None:
    assert len({siwx.create_challenge(now=NOW)["nonce"] for _ in range(100)}) == 100


def test_what_was_offered_is_accepted() -> None:
    text = message()
    sign_in = siwx.parse_message(text, SIGNATURE, now=NOW)
    assert (sign_in.text, sign_in.address, sign_in.signature) == (text, ACCOUNT.address.lower(), SIGNATURE)


# What is held against it
@pytest.mark.parametrize(
    ("old", "new", "param"),
    [
        ("api.example.com wants", "evil.example wants", "message.domain"),
        ("api.example.com wants", "https://api.example.com.evil.example wants", "message.domain"),
        ("URI: https://api.example.com/", "URI: https://evil.example/", "message.uri"),
        ("URI: https://api.example.com/", "URI: http://api.example.com/", "message.uri"),
        ("Version: 1", "Version: 2", "message.version"),
        ("Chain ID: 84532", "Chain ID: 8453", "message.chainId"),
        ("Nonce: ", "Nonce: 0", "message.nonce"),
        ("Issued At: 2026-11-21T18:00:00Z", "Issued At: 2026-11-21T18:01:01Z", "message.issuedAt"),
        ("Expiration Time: 2026-11-21T18:05", "Expiration Time: 2026-11-21T18:00", "message.expirationTime"),
        ("18:05:00Z", "18:05:00Z\nNot Before: 2026-11-21T18:02:00Z", "message.notBefore"),
        ("Issued At: 2026-11-21T", "Issued At: 2026-13-21T", "message"),
        ("Issued At: 2026-11-21T18:00:00Z\n", "", "message"),
        ("Version: 1\nChain ID: 84532", "Chain ID: 84532\nVersion: 1", "message"),
        (" wants you to", " wants you  to", "message"),
        ("\n\nURI", "\nURI", "message"),
        ("18:05:00Z", "18:05:00Z\n", "message"),
        ("18:05:00Z", "18:05:00Z\nMore: of it", "message"),
        ("18:05:00Z", "18:05:00Z" + "\nResources:" + "\n- https://example.com/" * 200, "message"),
    ],
)
def test_a_message_that_is_not_ours_is_refused_by_the_field(old: str, new: str, param: str) -> None:
    text = message()
    assert old in text
    assert refused(text.replace(old, new)) == param


def test_an_address_with_wrong_capitals_is_refused_and_one_in_small_letters_is_not() -> None:
    text = message()
    assert refused(text.replace(ACCOUNT.address, ACCOUNT.address.replace("E", "e", 1))) == "message.address"
    siwx.parse_message(text.replace(ACCOUNT.address, ACCOUNT.address.lower()), SIGNATURE, now=NOW)


def test_a_challenge_is_good_for_five_minutes() -> None:
    text = message()
    siwx.parse_message(text, SIGNATURE, now=NOW + timedelta(minutes=4, seconds=59))
    assert refused(text, now=NOW + timedelta(minutes=5)) == "message.nonce"


def test_a_later_expiry_in_the_message_makes_the_challenge_last_no_longer() -> None:
    text = message().replace("Time: 2026-11-21T18:05", "Time: 2027-11-21T18:05")
    assert refused(text, now=NOW + timedelta(minutes=5)) == "message.nonce"


def test_a_challenge_of_another_installation_is_refused(settings: Settings) -> None:
    text = message()
    settings.SECRET_KEY = "another key"
    assert refused(text) == "message.nonce"


def test_a_challenge_whose_moment_was_changed_is_refused() -> None:
    text = message(NOW - timedelta(hours=1))
    old = siwx.create_challenge(now=NOW - timedelta(hours=1))["nonce"][24:32]
    assert refused(text.replace(old, siwx.create_challenge(now=NOW)["nonce"][24:32])) == "message.nonce"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("Issued At: 2026-11-21T18:00:00Z", "Issued At: 2026-11-21T18:00:59.123456789Z"),
        lambda text: text.replace("Issued At: 2026-11-21T18:00:00Z", "Issued At: 2026-11-21T19:00:00+01:00"),
        lambda text: text.replace("\nExpiration Time: 2026-11-21T18:05:00Z", ""),
        lambda text: text.replace(siwx.STATEMENT + "\n", ""),
        lambda text: text.replace(siwx.STATEMENT, "Words of a wallet's own."),
        lambda text: text.replace("api.example.com wants", "https://api.example.com wants"),
        lambda text: text + "\nNot Before: 2026-11-21T18:00:00Z\nRequest ID: 7\nResources:\n- https://example.com/a",
    ],
)
def test_what_the_standard_leaves_to_wallets_is_accepted(change: Callable[[str], str]) -> None:
    changed = change(message())
    assert changed != message()
    assert siwx.parse_message(changed, SIGNATURE, now=NOW).address == ACCOUNT.address.lower()


@pytest.mark.parametrize("signature", ["", "0x", SIGNATURE[:-1], SIGNATURE[2:], SIGNATURE + "\n", "0x" + 4_098 * "1"])
def test_what_cannot_be_a_signature_is_refused(signature: str) -> None:
    assert refused(message(), signature=signature) == "signature"


def test_a_signature_for_a_contract_that_is_not_on_the_chain_yet_is_refused_as_such() -> None:
    undeployed = SIGNATURE + 16 * "6492"
    with pytest.raises(siwx.InvalidSignIn, match="not on the chain yet") as caught:
        siwx.parse_message(message(), undeployed, now=NOW)
    assert caught.value.param == "signature"


def test_a_signature_of_many_owners_is_read() -> None:
    long = "0x" + 4_096 * "1"
    assert siwx.parse_message(message(), long, now=NOW).signature == long


# The header of x402
def fields(**changes: Any) -> dict[str, Any]:
    """The JSON of the header, as the official client fills it in."""
    challenge = siwx.create_challenge(now=NOW)
    payload = SIWxPayload(
        domain=challenge["domain"],
        address=ACCOUNT.address,
        statement=challenge["statement"],
        uri=challenge["uri"],
        version=challenge["version"],
        chainId=f"eip155:{challenge['chainId']}",
        type="eip191",
        nonce=challenge["nonce"],
        issuedAt="2026-11-21T18:00:00Z",
        expirationTime="2026-11-21T18:05:00Z",
        signature=SIGNATURE,
    )
    made: dict[str, Any] = json.loads(base64.b64decode(encode_siwx_header(payload)))
    return {name: value for name, value in (made | changes).items() if value is not ...}


def header(**changes: Any) -> str:
    return base64.b64encode(json.dumps(fields(**changes)).encode()).decode()


def test_the_header_of_the_official_client_is_read_as_the_message_that_it_signed() -> None:
    sent = fields()
    expected = message()
    sign_in = siwx.parse_header(header(nonce=sent["nonce"]), now=NOW)
    nonce = expected.split("Nonce: ")[1].split("\n")[0]
    assert sign_in.text == expected.replace(nonce, sent["nonce"])
    assert sign_in.signature == SIGNATURE


def test_the_optional_fields_of_the_header_are_part_of_the_message() -> None:
    sent = header(
        statement=...,
        notBefore="2026-11-21T17:59:00Z",
        requestId="7",
        resources=["https://a.example", "https://b.example"],
    )
    lines = siwx.parse_header(sent, now=NOW).text.split("\n")
    assert lines[1:4] == [ACCOUNT.address, "", ""]
    assert lines[-5:] == [
        "Not Before: 2026-11-21T17:59:00Z",
        "Request ID: 7",
        "Resources:",
        "- https://a.example",
        "- https://b.example",
    ]


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"domain": "evil.example"}, "SIGN-IN-WITH-X.domain"),
        ({"signature": "0x0"}, "SIGN-IN-WITH-X.signature"),
        ({"chainId": "eip155:1"}, "SIGN-IN-WITH-X.chainId"),
        ({"chainId": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "type": "ed25519"}, "SIGN-IN-WITH-X.chainId"),
        ({"statement": "one line\nURI: https://evil.example"}, "SIGN-IN-WITH-X"),
        ({"nonce": 12345678}, "SIGN-IN-WITH-X"),
        ({"nonce": ...}, "SIGN-IN-WITH-X"),
        ({"resources": "https://a.example"}, "SIGN-IN-WITH-X"),
        ({"resources": [7, {}]}, "SIGN-IN-WITH-X"),
        ({"statement": "x" * 9_000}, "SIGN-IN-WITH-X"),
    ],
)
def test_a_header_that_is_not_ours_is_refused_by_the_field(changes: dict[str, Any], param: str) -> None:
    with pytest.raises(siwx.InvalidSignIn) as caught:
        siwx.parse_header(header(**changes), now=NOW)
    assert caught.value.param == param


@pytest.mark.parametrize(
    "sent", ["", "?", "e30", base64.b64encode(b"[]").decode(), base64.b64encode(b"\xff").decode()]
)
def test_a_header_that_is_not_base64_of_an_object_is_refused(sent: str) -> None:
    with pytest.raises(siwx.InvalidSignIn):
        siwx.parse_header(sent, now=NOW)


def test_the_signature_of_a_wallet_is_of_the_text_that_is_offered() -> None:
    text = message()
    signature = Account.sign_message(encode_defunct(text=text), ACCOUNT.key).signature
    assert Account.recover_message(encode_defunct(text=text), signature=signature) == to_checksum_address(
        ACCOUNT.address
    )
