"""Signing in with a wallet: the challenge of EIP-4361, and what comes back of it.

The challenge is kept nowhere: its nonce carries the moment of its making and our signature. That it proves a wallet
once is the promise of the key of SpentChallenge (payments.identity.challenge_verification).
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

from framework.api.json_parser import MalformedBody, parse
from framework.api.urls import public_url
from framework.errors import InvalidRequest
from framework.signed_tokens import KeyedHash
from payments.chain import evm
from payments.chain.networks import payment_network

CHALLENGE_LASTS = timedelta(minutes=5)
# How far ahead of ours a wallet's clock may be.
CLOCK_SKEW = timedelta(minutes=1)
STATEMENT = "Sign in to prove that this wallet is yours. This moves nothing and costs nothing."
PATH = "/v1/auth/session"
HEADER = "SIGN-IN-WITH-X"
LONGEST_MESSAGE = 4_000
# In hexadecimal digits. A key's signature has 130; a contract wallet's has what its owners need.
LONGEST_SIGNATURE = 4_096
NONCE_HASH = KeyedHash("payments.identity.siwx")
SIGNATURE = rf"^0x(?:[0-9a-fA-F]{{2}}){{1,{LONGEST_SIGNATURE // 2}}}$"
# ERC-6492: what ends so is for a contract that is not on the chain yet.
UNDEPLOYED = 16 * "6492"

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


class WrongSignIn(InvalidRequest):
    """A message that was not made from a challenge of ours, or not in time."""


# The challenge
@dataclass(frozen=True, slots=True)
class Challenge:
    """What a wallet is to sign, field by field as EIP-4361 names them."""

    domain: str
    uri: str
    version: str
    chain_id: int
    nonce: str
    issued_at: datetime
    expiration_time: datetime
    statement: str

    def message(self, address: str) -> str:
        """The text to sign with the wallet at this address."""
        return text_of(
            {
                "domain": self.domain,
                "address": evm.to_checksum_address(address),
                "statement": self.statement,
                "uri": self.uri,
                "version": self.version,
                "chainId": str(self.chain_id),
                "nonce": self.nonce,
                "issuedAt": written(self.issued_at),
                "expirationTime": written(self.expiration_time),
            }
        )


def challenge(*, now: datetime) -> Challenge:
    """A fresh challenge, good once and for five minutes."""
    return Challenge(
        domain=urlsplit(public_url("")).netloc,
        uri=public_url(PATH),
        version="1",
        chain_id=payment_network().chain_id,
        nonce=signed_nonce(f"{secrets.token_hex(12)}{int(now.timestamp()):08x}"),
        issued_at=now.replace(microsecond=0),
        expiration_time=now.replace(microsecond=0) + CHALLENGE_LASTS,
        statement=STATEMENT,
    )


def signed_nonce(body: str) -> str:
    """24 random letters, eight of the second in which it was made, and 32 that only we can make: 64 in all."""
    return body + NONCE_HASH.hexdigest(body)[:32]


def written(moment: datetime) -> str:
    """A moment in UTC, to the second, by RFC 3339."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def text_of(fields: Mapping[str, Any]) -> str:
    """The message of EIP-4361 with these fields; of the optional ones those that are given."""
    optional = {
        "Expiration Time": fields.get("expirationTime"),
        "Not Before": fields.get("notBefore"),
        "Request ID": fields.get("requestId"),
    }
    resources = fields.get("resources")
    statement = fields.get("statement")
    lines = [
        f"{fields['domain']} wants you to sign in with your Ethereum account:",
        fields["address"],
        "",
        *([statement] if statement is not None else []),
        "",
        f"URI: {fields['uri']}",
        f"Version: {fields['version']}",
        f"Chain ID: {fields['chainId']}",
        f"Nonce: {fields['nonce']}",
        f"Issued At: {fields['issuedAt']}",
        *(f"{name}: {value}" for name, value in optional.items() if value is not None),
        *(["Resources:", *(f"- {resource}" for resource in resources)] if resources is not None else []),
    ]
    return "\n".join(lines)


# What comes back
@dataclass(frozen=True, slots=True)
class SignIn:
    """A message that was made from our challenge in time, and its signature, which is not judged yet."""

    text: str
    address: str
    nonce: str
    signature: str

    @property
    def expires_at(self) -> datetime:
        """From when on the challenge is too old by the clock of any of our machines."""
        return second_of(self.nonce) + CHALLENGE_LASTS + CLOCK_SKEW


def of_message(message: str, signature: str, *, now: datetime) -> SignIn:
    """Read and check a message of EIP-4361. Raises WrongSignIn."""
    return checked(message, signature, source="message", now=now)


def of_header(header: str, *, now: datetime) -> SignIn:
    """Read and check x402's header SIGN-IN-WITH-X, base64 of the message's fields in JSON. Raises WrongSignIn."""
    try:
        if len(header) > 2 * LONGEST_MESSAGE:
            raise ValueError
        fields = parse(base64.b64decode(header.strip(), validate=True))
    except (ValueError, binascii.Error, MalformedBody) as error:
        raise WrongSignIn(f"`{HEADER}` must be base64 of a JSON object.", param=HEADER) from error
    given = {name: value for name, value in fields.items() if value is not None}
    words = {name: value for name, value in given.items() if name != "resources"}
    resources = given.get("resources", [])
    if not isinstance(resources, list) or not all(isinstance(text, str) for text in [*words.values(), *resources]):
        raise WrongSignIn(f"`{HEADER}`: all fields are text, and `resources` is a list of it.", param=HEADER)
    missing = {"domain", "address", "uri", "version", "chainId", "nonce", "issuedAt", "signature"} - words.keys()
    if missing:
        raise WrongSignIn(f"`{HEADER}` lacks {', '.join(sorted(missing))}.", param=HEADER)
    kind, _, number = words["chainId"].partition(":")
    if kind != "eip155" or words.get("type", "eip191") != "eip191":
        raise WrongSignIn(f"`{HEADER}`: only wallets of EVM chains can sign in here.", param=f"{HEADER}.chainId")
    return checked(text_of({**given, "chainId": number}), words["signature"], source=HEADER, now=now)


def checked(text: str, signature: str, *, source: str, now: datetime) -> SignIn:
    """Hold a message against the challenge that it says to come from; `source` names it in a refusal."""
    found = MESSAGE.fullmatch(text) if len(text) <= LONGEST_MESSAGE else None
    if found is None:
        raise WrongSignIn(
            "The message is not one of EIP-4361. Ask GET /v1/auth/challenge?address=0x... for the text to sign.",
            param=source,
        )
    check_signature(signature, param="signature" if source == "message" else f"{source}.signature")
    address, ours_is, made_at = found["address"], challenge(now=now), made(found["nonce"])
    issued_at, expires_at, not_before = (
        moment(found[name], source=source) for name in ("issuedAt", "expirationTime", "notBefore")
    )
    rules = [
        ("address", address in (evm.to_checksum_address(address), address.lower()), "has wrong capitals (EIP-55)"),
        ("domain", found["domain"] == ours_is.domain, f"must be {ours_is.domain}: it is for somebody else"),
        ("uri", urlsplit(found["uri"])[:2] == urlsplit(ours_is.uri)[:2], f"must be {ours_is.uri}"),
        ("version", found["version"] == ours_is.version, f"must be {ours_is.version}"),
        ("chainId", found["chainId"] == str(ours_is.chain_id), f"must be {ours_is.chain_id}"),
        ("nonce", made_at is not None, "is not one of ours"),
        ("nonce", made_at is not None and now < made_at + CHALLENGE_LASTS, "is too old; ask for another challenge"),
        ("issuedAt", issued_at is not None and issued_at <= now + CLOCK_SKEW, "must be a moment that has come"),
        ("expirationTime", expires_at is None or expires_at > now, "must be a moment to come"),
        ("notBefore", not_before is None or not_before <= now + CLOCK_SKEW, "must be a moment that has come"),
    ]
    for field, holds, words in rules:
        if not holds:
            raise WrongSignIn(f"`{field}` of the message {words}.", param=f"{source}.{field}")
    return SignIn(text=text, address=address.lower(), nonce=found["nonce"], signature=signature)


def check_signature(signature: str, *, param: str) -> None:
    """Refuse what no wallet on the chain could have made. Raises WrongSignIn."""
    if not re.fullmatch(SIGNATURE, signature):
        raise WrongSignIn(
            f"`signature` must be 0x and an even number of hexadecimal digits, {LONGEST_SIGNATURE} at most.",
            param=param,
        )
    if signature.endswith(UNDEPLOYED):
        raise WrongSignIn(
            "This is the signature of a contract wallet that is not on the chain yet (ERC-6492): deploy it first.",
            param=param,
        )


def made(nonce: str) -> datetime | None:
    """When this nonce of ours was made; None for another's."""
    return second_of(nonce) if NONCE_HASH.matches(nonce[:32], nonce[32:], length=32) else None


def second_of(nonce: str) -> datetime:
    """The second that is written in a nonce of ours."""
    return datetime.fromtimestamp(int(nonce[24:32], 16), tz=UTC)


def moment(text: str | None, *, source: str) -> datetime | None:
    """The moment that RFC 3339 writes so, None without one. Raises WrongSignIn for one that no calendar has."""
    try:
        # Python reads up to microseconds.
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper())) if text else None
    except ValueError as error:
        raise WrongSignIn(f"There is no such moment as {text}.", param=source) from error
