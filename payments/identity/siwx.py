"""Sign-in with a wallet (EIP-4361): creates challenges, and parses and verifies signed messages.

A challenge is not stored: its nonce contains its time and a keyed hash. The primary key of SpentChallenge guarantees
that each is used once.
"""

import base64
import binascii
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from x402.extensions.sign_in_with_x import SIGN_IN_WITH_X, DeclareSIWxOptions, declare_siwx_extension

from accounts.api_keys.authentication import Unauthorized
from framework.api.json_parser import MalformedBody, parse
from framework.api.urls import public_url
from framework.errors import InvalidRequest
from framework.signed_tokens import KeyedHash
from payments.chain import evm, reads
from payments.chain.networks import payment_network
from payments.models import SpentChallenge

CHALLENGE_LIFETIME = timedelta(minutes=5)
# A wallet's clock may be this far ahead of ours.
CLOCK_SKEW = timedelta(minutes=1)
STATEMENT = "Sign in to prove that this wallet is yours. This moves nothing and costs nothing."
PATH = "/v1/auth/session"
HEADER = "SIGN-IN-WITH-X"
MAX_MESSAGE_LENGTH = 4_000
# In hexadecimal digits. The signature of a key has 130; that of a contract wallet can be longer.
MAX_SIGNATURE_LENGTH = 4_096
NONCE_HASH = KeyedHash("payments.identity.siwx")
SIGNATURE = rf"^0x(?:[0-9a-fA-F]{{2}}){{1,{MAX_SIGNATURE_LENGTH // 2}}}$"
# ERC-6492: the signature of a contract that is not deployed yet ends with it.
ERC6492_SUFFIX = 16 * "6492"

# EIP-4361, "ABNF Message Format": these lines in this order. Times as RFC 3339 writes them.
MOMENT = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)"
MESSAGE = re.compile(
    r"(?:https?://)?(?P<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:\n"
    r"(?P<address>0x[0-9a-fA-F]{40})\n"
    r"\n"
    r"(?:(?P<statement>[^\n]+)\n)?"
    r"\n"
    r"URI: (?P<uri>\S+)\n"
    r"Version: (?P<version>\d+)\n"
    r"Chain ID: (?P<chainId>\d{1,20})\n"
    r"Nonce: (?P<nonce>[0-9A-Za-z]{8,})\n"
    rf"Issued At: (?P<issuedAt>{MOMENT})"
    rf"(?:\nExpiration Time: (?P<expirationTime>{MOMENT}))?"
    rf"(?:\nNot Before: (?P<notBefore>{MOMENT}))?"
    r"(?:\nRequest ID: (?P<requestId>\S*))?"
    r"(?:\nResources:(?P<resources>(?:\n- \S+)*))?",
    re.ASCII,
)

# The names of these lines, by field.
LABELS = {
    "uri": "URI",
    "version": "Version",
    "chainId": "Chain ID",
    "nonce": "Nonce",
    "issuedAt": "Issued At",
    "expirationTime": "Expiration Time",
    "notBefore": "Not Before",
    "requestId": "Request ID",
}


class InvalidSignIn(InvalidRequest):
    """The message is not one of our challenges, or it has expired."""


class InvalidSignature(Unauthorized):
    """The wallet has not signed this message."""


class ChallengeAlreadyUsed(Unauthorized):
    """The challenge was used before."""


def create_challenge(*, now: datetime) -> dict[str, Any]:
    """Create a challenge, valid once and for CHALLENGE_LIFETIME: the fields of its message, but for the address.

    The nonce has 64 digits: 24 random ones, 8 of the time in seconds, and 32 of their keyed hash.
    """
    body = f"{secrets.token_hex(12)}{int(now.timestamp()):08x}"
    return {
        "domain": urlsplit(public_url("")).netloc,
        "uri": public_url(PATH),
        "version": "1",
        "chainId": payment_network().chain_id,
        "nonce": body + NONCE_HASH.hexdigest(body)[:32],
        "issuedAt": format_time(now),
        "expirationTime": format_time(now + CHALLENGE_LIFETIME),
        "statement": STATEMENT,
    }


def declare_extension(*, now: datetime) -> dict[str, Any]:
    """Create the extension `sign-in-with-x` of a 402: a challenge that x402 clients sign and send in HEADER."""
    options = DeclareSIWxOptions(statement=STATEMENT, network=payment_network().caip2)
    declared: dict[str, Any] = declare_siwx_extension(options)[SIGN_IN_WITH_X]
    # The library's own server adds these fields to each 402, and removes its options and what is null.
    del declared["_options"]
    declared["supportedChains"] = [
        {name: value for name, value in chain.items() if value is not None} for chain in declared["supportedChains"]
    ]
    declared["info"] |= {name: value for name, value in create_challenge(now=now).items() if name != "chainId"}
    return declared


def format_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_message(fields: Mapping[str, Any]) -> str:
    """Format the message of EIP-4361 with these fields; optional ones may be missing."""
    statement, resources = fields.get("statement"), fields.get("resources")
    lines = [
        f"{fields['domain']} wants you to sign in with your Ethereum account:",
        fields["address"],
        "",
        *([] if statement is None else [statement]),
        "",
        *(f"{label}: {fields[name]}" for name, label in LABELS.items() if fields.get(name) is not None),
        *([] if resources is None else ["Resources:", *(f"- {resource}" for resource in resources)]),
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A valid message of our challenge, with its signature, which is not verified yet."""

    text: str
    address: str
    nonce: str
    signature: str

    @property
    def expires_at(self) -> datetime:
        return nonce_time(self.nonce) + CHALLENGE_LIFETIME + CLOCK_SKEW


def parse_message(message: str, signature: str, *, now: datetime) -> SignIn:
    """Parse and check a message of EIP-4361. Raises InvalidSignIn."""
    return check_message(message, signature, source="message", now=now)


def parse_header(header: str, *, now: datetime) -> SignIn:
    """Parse and check x402's header SIGN-IN-WITH-X, base64 of the message's fields in JSON. Raises InvalidSignIn."""
    try:
        if len(header) > 2 * MAX_MESSAGE_LENGTH:
            raise ValueError
        fields = parse(base64.b64decode(header.strip(), validate=True))
    except (ValueError, binascii.Error, MalformedBody) as error:
        raise InvalidSignIn(f"`{HEADER}` must be base64 of a JSON object.", param=HEADER) from error
    fields = {name: value for name, value in fields.items() if value is not None}
    texts = {name: value for name, value in fields.items() if name != "resources"}
    resources = fields.get("resources", [])
    if not isinstance(resources, list) or not all(isinstance(text, str) for text in [*texts.values(), *resources]):
        raise InvalidSignIn(f"`{HEADER}`: all fields are text, and `resources` is a list of it.", param=HEADER)
    missing = {"domain", "address", "uri", "version", "chainId", "nonce", "issuedAt", "signature"} - texts.keys()
    if missing:
        raise InvalidSignIn(f"`{HEADER}` lacks {', '.join(sorted(missing))}.", param=HEADER)
    kind, _, number = texts["chainId"].partition(":")
    if kind != "eip155" or texts.get("type", "eip191") != "eip191":
        raise InvalidSignIn(f"`{HEADER}`: only wallets of EVM chains can sign in here.", param=f"{HEADER}.chainId")
    return check_message(format_message({**fields, "chainId": number}), texts["signature"], source=HEADER, now=now)


def check_message(text: str, signature: str, *, source: str, now: datetime) -> SignIn:
    """Compare a message with our challenge; `source` is its name in errors. Raises InvalidSignIn."""
    found = MESSAGE.fullmatch(text) if len(text) <= MAX_MESSAGE_LENGTH else None
    if found is None:
        raise InvalidSignIn(
            "The message is not one of EIP-4361. Ask GET /v1/auth/challenge?address=0x... for the text to sign.",
            param=source,
        )
    check_signature(signature, param="signature" if source == "message" else f"{source}.signature")
    address, nonce, expected = found["address"], found["nonce"], create_challenge(now=now)
    domain = expected["domain"]
    created_at = nonce_time(nonce) if NONCE_HASH.matches(nonce[:32], nonce[32:], length=32) else None
    issued_at, expires_at, not_before = (
        parse_time(found[name], source=source) for name in ("issuedAt", "expirationTime", "notBefore")
    )
    rules = [
        ("address", address in (evm.to_checksum_address(address), address.lower()), "has wrong capitals (EIP-55)"),
        ("domain", found["domain"] == domain, f"must be {domain}: it was made for another service"),
        ("uri", urlsplit(found["uri"])[:2] == urlsplit(expected["uri"])[:2], f"must be {expected['uri']}"),
        ("version", found["version"] == expected["version"], f"must be {expected['version']}"),
        ("chainId", found["chainId"] == str(expected["chainId"]), f"must be {expected['chainId']}"),
        ("nonce", created_at, "is not one of ours"),
        ("nonce", created_at and now < created_at + CHALLENGE_LIFETIME, "is too old; ask for another challenge"),
        ("issuedAt", issued_at is not None and issued_at <= now + CLOCK_SKEW, "must be a moment that has come"),
        ("expirationTime", expires_at is None or expires_at > now, "must be a moment to come"),
        ("notBefore", not_before is None or not_before <= now + CLOCK_SKEW, "must be a moment that has come"),
    ]
    for field, is_valid, error in rules:
        if not is_valid:
            raise InvalidSignIn(f"`{field}` of the message {error}.", param=f"{source}.{field}")
    return SignIn(text=text, address=address.lower(), nonce=nonce, signature=signature)


def check_signature(signature: str, *, param: str) -> None:
    """Check the format of a signature. Raises InvalidSignIn."""
    if not re.fullmatch(SIGNATURE, signature):
        raise InvalidSignIn(
            f"`signature` must be 0x and an even number of hexadecimal digits, {MAX_SIGNATURE_LENGTH} at most.",
            param=param,
        )
    if signature.endswith(ERC6492_SUFFIX):
        raise InvalidSignIn(
            "This is the signature of a contract wallet that is not on the chain yet (ERC-6492): deploy it first.",
            param=param,
        )


def nonce_time(nonce: str) -> datetime:
    """Return the time in a nonce, which is not verified."""
    return datetime.fromtimestamp(int(nonce[24:32], 16), tz=UTC)


def parse_time(text: str | None, *, source: str) -> datetime | None:
    """Parse a time of RFC 3339; None stays None. Raises InvalidSignIn if there is no such day or hour."""
    try:
        # Python parses up to microseconds.
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper())) if text else None
    except ValueError as error:
        raise InvalidSignIn(f"There is no such moment as {text}.", param=source) from error


def verify_and_spend(sign_in: SignIn) -> str:
    """Return the address that has signed, in lower case. The challenge is spent even if the signature is wrong.

    One statement, and a trip to the chain for the signature of a contract wallet. Issuing challenges is rate limited,
    which also limits these trips. Raises ChallengeAlreadyUsed, InvalidSignature and RpcUnavailable.
    """
    spend_challenge(sign_in)
    verify_signature(sign_in)
    return sign_in.address


def spend_challenge(sign_in: SignIn) -> None:
    """Mark the challenge as used. One statement; one of several concurrent calls succeeds.

    Raises ChallengeAlreadyUsed.
    """
    if not SpentChallenge.objects.spend(sign_in.nonce, expires_at=sign_in.expires_at):
        raise ChallengeAlreadyUsed("This challenge was used before. Each is good once: ask for another.")


def verify_signature(sign_in: SignIn) -> None:
    """Verify the signature of the key, or else of the contract. Raises InvalidSignature and RpcUnavailable."""
    digest, signature = evm.hash_message(sign_in.text), bytes.fromhex(sign_in.signature[2:])
    if evm.recover_address(digest, signature) == sign_in.address:
        return
    if not reads.is_contract_signature(sign_in.address, digest, signature):
        raise InvalidSignature("The signature is not of this wallet on this message.")
