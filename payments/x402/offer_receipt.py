"""The x402 extension `offer-receipt`, version 1: signed offers in a 402, a signed receipt in a paid answer.

Signed by EIP-712 or as a JWS (RECEIPT_FORMAT). Beside it a statement of our own, always a JWS, about the content of
the answer, for which the extension has no fields. The specification is
https://github.com/x402-foundation/x402/blob/main/specs/extensions/extension-offer-and-receipt.md

A payment is worth more than its receipt: where signing fails, the 402 or the answer goes out without.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from x402.schemas import PaymentRequirements

from payments.chain.evm import encode_word, keccak
from payments.observability import counters
from payments.x402.signing_keys import SigningKey, encode_base64url, get_signing_key

logger = logging.getLogger("tablewire.payments")

OFFER_RECEIPT = "offer-receipt"
VERSION = 1
EIP712 = "eip712"
STATEMENT_TYPE = "tablewire-statement+jwt"
# An offer is signed once in this time, and valid for so long from its start: at most as long as a price is honoured.
OFFER_INTERVAL_S, OFFER_VALIDITY_S = 30, 60
# Of this process, about 1 KB each.
MAX_CACHED_OFFERS = 4_096


@dataclass(frozen=True, slots=True)
class Artifact:
    """What the extension signs: the name of its EIP-712 domain, and its type there, whose fields are its payload."""

    name: str
    type_name: str
    fields: tuple[tuple[str, str], ...]

    def hash(self, payload: Mapping[str, Any]) -> bytes:
        """Return what EIP-712 signs of this payload."""
        words = (
            _hash_text(payload[name]) if kind == "string" else encode_word(payload[name]) for name, kind in self.fields
        )
        return keccak(b"\x19\x01" + _hash_domain(self.name) + keccak(_hash_type(self) + b"".join(words)))


OFFER = Artifact(
    "x402 offer",
    "Offer",
    (
        ("version", "uint256"),
        ("resourceUrl", "string"),
        ("scheme", "string"),
        ("network", "string"),
        ("asset", "string"),
        ("payTo", "string"),
        ("amount", "string"),
        ("validUntil", "uint256"),
    ),
)
RECEIPT = Artifact(
    "x402 receipt",
    "Receipt",
    (
        ("version", "uint256"),
        ("network", "string"),
        ("resourceUrl", "string"),
        ("payer", "string"),
        ("issuedAt", "uint256"),
        ("transaction", "string"),
    ),
)
DOMAIN_TYPE = keccak(b"EIP712Domain(string name,string version,uint256 chainId)")


# Most texts are the same in every offer: the network, the asset, the receiver.
@lru_cache(maxsize=1_024)
def _hash_text(text: str) -> bytes:
    return keccak(text.encode())


@lru_cache(maxsize=2)
def _hash_domain(name: str) -> bytes:
    # The specification fixes the chain id, whatever network is paid on.
    return keccak(DOMAIN_TYPE + _hash_text(name) + _hash_text("1") + encode_word(1))


@lru_cache(maxsize=2)
def _hash_type(artifact: Artifact) -> bytes:
    fields = ",".join(f"{kind} {name}" for name, kind in artifact.fields)
    return keccak(f"{artifact.type_name}({fields})".encode())


def sign_artifact(artifact: Artifact, payload: Mapping[str, Any], *, key: SigningKey, form: str) -> dict[str, Any]:
    """Return an offer or receipt as the extension writes it: `format`, `signature` and, for EIP-712, `payload`."""
    if form == EIP712:
        signature = key.sign(artifact.hash(payload))
        recoverable = signature[:64] + bytes([27 + signature[64]])
        return {"format": EIP712, "payload": dict(payload), "signature": f"0x{recoverable.hex()}"}
    return {"format": "jws", "signature": sign_jws(payload, key=key)}


def sign_jws(payload: Mapping[str, Any], *, key: SigningKey, type_name: str | None = None) -> str:
    """Return the compact JWS (ES256K) of a payload. `type_name` tells what is signed from what the extension signs.

    By libsecp256k1, which signs in 0.04 ms; the libraries for JWS take OpenSSL's implementation, and 1 to 5 ms.
    """
    header = {"alg": "ES256K", "kid": key.kid, **({"typ": type_name} if type_name else {})}
    parts = (orjson.dumps(header), orjson.dumps(payload, option=orjson.OPT_SORT_KEYS))
    signed = ".".join(map(encode_base64url, parts))
    return f"{signed}.{encode_base64url(key.sign(hashlib.sha256(signed.encode()).digest())[:64])}"


def sign_or_log(what: str, sign: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `sign` returns; an empty dict, an error in the log and a count where it fails."""
    try:
        return sign()
    except Exception:
        logger.exception("not signed: %s", what)
        counters.UNSIGNED.labels(what).inc()
        return {}


def declare_offers(resource: str, accepts: Sequence[PaymentRequirements], *, now: float) -> dict[str, Any]:
    """Return the extension of a 402, with an offer for each entry of `accepts`; `now` in Unix seconds.

    An offer is valid for 30 to 60 seconds. Equal ones of half a minute are signed once, 0.1 ms each.
    """
    valid_until = int(now) // OFFER_INTERVAL_S * OFFER_INTERVAL_S + OFFER_VALIDITY_S

    def declare() -> dict[str, Any]:
        key = get_signing_key()
        offers = [
            {
                **_sign_offer(
                    *(resource, each.scheme, each.network, each.asset, each.pay_to, each.amount, valid_until),
                    key=key,
                    kid=key.kid,
                    form=settings.RECEIPT_FORMAT,
                ),
                "acceptIndex": index,
            }
            for index, each in enumerate(accepts)
        ]
        return {OFFER_RECEIPT: {"info": {"offers": offers}, "schema": build_schema("offers")}}

    return sign_or_log("offer", declare)


@lru_cache(maxsize=MAX_CACHED_OFFERS)
def _sign_offer(
    resource: str,
    scheme: str,
    network: str,
    asset: str,
    pay_to: str,
    amount: str,
    valid_until: int,
    *,
    key: SigningKey,
    kid: str,
    form: str,
) -> dict[str, Any]:
    """Return the signed offer. `kid` is that of the key: it is signed, and so a part of what is cached."""
    values = (VERSION, resource, scheme, network, asset, pay_to, amount, valid_until)
    payload = {name: value for (name, _), value in zip(OFFER.fields, values, strict=True)}
    return sign_artifact(OFFER, payload, key=key, form=form)


def sign_receipt(*, network: str, resource: str, payer: str, issued_at: int, transaction: str) -> dict[str, Any]:
    """Return the extension of a paid answer. `issued_at` in Unix seconds; equal values give an equal receipt."""
    payload = {
        "version": VERSION,
        "network": network,
        "resourceUrl": resource,
        "payer": payer,
        "issuedAt": issued_at,
        "transaction": transaction,
    }

    def declare() -> dict[str, Any]:
        receipt = sign_artifact(RECEIPT, payload, key=get_signing_key(), form=settings.RECEIPT_FORMAT)
        return {OFFER_RECEIPT: {"info": {"receipt": receipt}, "schema": build_schema("receipt")}}

    return sign_or_log("receipt", declare)


def sign_statement(content: Mapping[str, Any]) -> str | None:
    """Return the statement about an answer as a compact JWS; None where it could not be signed."""
    payload = {"version": VERSION, **content}
    signed = sign_or_log(
        "statement", lambda: {"jws": sign_jws(payload, key=get_signing_key(), type_name=STATEMENT_TYPE)}
    )
    return signed.get("jws")


def build_schema(member: str) -> dict[str, Any]:
    """Return the JSON Schema that the extension has beside its values: of `offers`, or of a `receipt`."""
    return _build_schema(member, settings.RECEIPT_FORMAT)


@lru_cache(maxsize=4)
def _build_schema(member: str, form: str) -> dict[str, Any]:
    artifact = OFFER if member == "offers" else RECEIPT
    optional = ("validUntil", "transaction")
    types = {"uint256": "integer", "string": "string"}
    payload = {
        "type": "object",
        "properties": {name: {"type": types[kind]} for name, kind in artifact.fields},
        "required": [name for name, _ in artifact.fields if name not in optional],
    }
    properties = {
        "format": {"type": "string", "const": form},
        **({"acceptIndex": {"type": "integer"}} if artifact is OFFER else {}),
        **({"payload": payload} if form == EIP712 else {}),
        "signature": {"type": "string"},
    }
    required = [name for name in properties if name != "acceptIndex"]
    signed = {"type": "object", "properties": properties, "required": required}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {member: {"type": "array", "items": signed} if artifact is OFFER else signed},
        "required": [member],
    }


def without_schemas(extensions: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return extensions without the schema of this one, for a header: proxies refuse long ones."""
    if not extensions or OFFER_RECEIPT not in extensions:
        return dict(extensions) if extensions else None
    return {**extensions, OFFER_RECEIPT: {"info": extensions[OFFER_RECEIPT]["info"]}}
