"""Parses the payment that a caller sends."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError
from x402.extensions.payment_identifier import PAYMENT_ID_MAX_LENGTH, PAYMENT_ID_MIN_LENGTH, PAYMENT_IDENTIFIER
from x402.schemas import PaymentPayload
from x402.schemas.v1 import PaymentPayloadV1

from framework.errors import ApiError, ErrorCode
from payments.chain import evm
from payments.chain.networks import NETWORKS, payment_network
from payments.models import Payment

MAX_BYTES = 8 * 1024
TOO_LONG = f"is longer than {MAX_BYTES} bytes"
# In `accepts[].extra` of a 402: a secret that only its reader can repeat. The chain shows all else of a payment.
QUOTE_TOKEN = "quote"  # noqa: S105 - the name of a field
MAX_TOKEN_LENGTH = 64
# The key of the payment in the `_meta` of an MCP message (x402, transport MCP).
PAYMENT_META = "x402/payment"
HASH = re.compile(r"0x[0-9a-fA-F]{64}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})+")
# A uint256 has at most 78 digits.
NUMBER = re.compile(r"[0-9]{1,78}")
IDENTIFIER = re.compile(rf"[a-zA-Z0-9_-]{{{PAYMENT_ID_MIN_LENGTH},{PAYMENT_ID_MAX_LENGTH}}}")
BY_NAME = {network.name: network.caip2 for network in NETWORKS.values()}


class InvalidPayment(ApiError):
    """A payment that cannot be parsed."""

    code = ErrorCode.INVALID_PAYMENT


@dataclass(frozen=True, slots=True)
class Authorization:
    """A signed authorization to move USDC (EIP-3009), parsed and not verified.

    `network` is a CAIP-2 name; `asset` is None where the form does not name one (version 1); `value` is in atomic
    units; times are Unix seconds; addresses are in lower case. `payment_identifier` is the payer's id for the payment,
    which is not signed; empty without one. `quote_token` is the secret of the 402 that it answers, which clients of
    version 2 repeat; empty without one.
    """

    form: Payment.Form
    scheme: str
    network: str
    asset: str | None
    payer: str
    to: str
    value: int
    valid_after: int
    valid_before: int
    nonce: bytes
    signature: bytes
    payment_identifier: str = ""
    quote_token: str = ""

    @property
    def digest(self) -> bytes:
        """The EIP-712 digest that the payer signs, for USDC on our network."""
        return evm.hash_transfer_authorization(
            payment_network(),
            sender=self.payer,
            to=self.to,
            value=self.value,
            valid_after=self.valid_after,
            valid_before=self.valid_before,
            nonce=self.nonce,
        )

    @property
    def quote_digest(self) -> str:
        """The SHA-256 of the secret of the 402; empty without one."""
        return hashlib.sha256(self.quote_token.encode()).hexdigest() if self.quote_token else ""

    @property
    def proof_key(self) -> str:
        """The key of the payment in the ledger: the token accepts each nonce of a payer once."""
        return f"3009:{payment_network().asset}:{self.payer}:0x{self.nonce.hex()}"

    @property
    def signature_digest(self) -> str:
        """The SHA-256 of digest and signature, in hexadecimal: a payer may sign several messages with one nonce."""
        return hashlib.sha256(self.digest + self.signature).hexdigest()

    def is_valid_at(self, moment: float) -> bool:
        """Whether the authorization's time window contains this moment, in Unix seconds."""
        return self.valid_after < moment < self.valid_before

    def is_signed(self) -> bool:
        """Whether the payer's own key has signed this for our network; False for a contract wallet's signature."""
        return evm.recover_address(self.digest, self.signature) == self.payer


@dataclass(frozen=True, slots=True)
class TransactionProof:
    """A transaction that the caller claims to have paid with: its hash in lower case."""

    tx_hash: str


Proof = Authorization | TransactionProof


def parse_proof(headers: Mapping[str, str]) -> Proof | None:
    """Return the payment of a request, None without one. `headers` must be case-insensitive.

    PAYMENT-SIGNATURE takes precedence over X-Payment. Call it for paid content only: on a free request a payment
    header means nothing. Raises InvalidPayment.
    """
    name = payment_header(headers)
    return Parser(name).parse(headers[name].strip()) if name else None


def parse_mcp_proof(meta: Mapping[str, Any]) -> Proof | None:
    """Return the payment in the `_meta` of an MCP message, None without one.

    A payment of version 2 or 1, or `{"transaction": "0x..."}` for one that was sent already. Raises InvalidPayment.
    """
    content = meta.get(PAYMENT_META)
    return None if content is None else Parser(PAYMENT_META).parse_content(content)


def parse_proof_field(content: Any, *, name: str) -> Proof:
    """Return the payment in a field of a JSON body, an object or the text of a header. Raises InvalidPayment."""
    return Parser(name, source=f"`{name}`").parse_content(content)


def payment_header(headers: Mapping[str, str]) -> str | None:
    """Return the name of the header that holds a payment, valid or not; None without one."""
    return next((name for name in ("PAYMENT-SIGNATURE", "X-Payment") if headers.get(name, "").strip()), None)


class Parser:
    """Parses one payment; its errors name the header or `_meta` key that holds it."""

    def __init__(self, name: str, *, source: str = "") -> None:
        self.name = name
        self.source = source or (f'`_meta["{name}"]`' if name == PAYMENT_META else f"The header {name}")

    def parse_content(self, content: Any) -> Proof:
        """Parse a JSON value: an object, or the text that a header holds."""
        if isinstance(content, str):
            return self.parse(content.strip())
        # The limit of a header: the payment is sent on to the facilitator, and its signature to the chain.
        if len(json.dumps(content)) > MAX_BYTES:
            raise self.invalid(TOO_LONG)
        return self.parse_json(content)

    def parse(self, text: str) -> Proof:
        if len(text) > MAX_BYTES:
            raise self.invalid(TOO_LONG)
        if HASH.fullmatch(text):
            return TransactionProof(text.lower())
        return self.parse_json(self.decode(text))

    def parse_json(self, content: Any) -> Proof:
        if not isinstance(content, dict):
            raise self.invalid("is not a JSON object")
        transaction = content.get("transaction")
        if isinstance(transaction, str) and HASH.fullmatch(transaction):
            return TransactionProof(transaction.lower())
        version = content.get("x402Version")
        try:
            if version == 2:
                v2 = PaymentPayload.model_validate(content)
                return self.authorization(
                    v2.payload,
                    form=Payment.Form.V2,
                    scheme=v2.accepted.scheme,
                    network=v2.accepted.network,
                    asset=v2.accepted.asset.lower(),
                    payment_identifier=self.payment_identifier(v2.extensions or {}),
                    quote_token=str((v2.accepted.extra or {}).get(QUOTE_TOKEN) or "")[:MAX_TOKEN_LENGTH],
                )
            if version == 1:
                # The same signature, with the network by its name.
                v1 = PaymentPayloadV1.model_validate(content)
                network = BY_NAME.get(v1.network, v1.network)
                return self.authorization(
                    v1.payload, form=Payment.Form.V1, scheme=v1.scheme, network=network, asset=None
                )
        except ValidationError as error:
            path = ".".join(str(step) for step in error.errors()[0]["loc"])
            raise self.invalid(f"is no payment of x402 version {version}: see `{path}`") from error
        raise self.invalid("holds neither a transaction nor a payment of x402 version 1 or 2")

    def decode(self, text: str) -> Any:
        try:
            if not text.startswith("{"):
                padded = text.translate(str.maketrans("-_", "+/")) + "=" * (-len(text) % 4)
                text = base64.b64decode(padded, validate=True).decode()
            return orjson.loads(text)
        except ValueError as error:
            raise self.invalid("is neither a transaction's hash nor JSON nor base64 of it") from error

    def payment_identifier(self, extensions: Mapping[str, Any]) -> str:
        """Return the id in the extension payment-identifier; empty where a client only echoes our declaration."""
        value: Any = extensions
        for step in (PAYMENT_IDENTIFIER, "info", "id"):
            if not isinstance(value, Mapping):
                raise self.invalid(f"has an `extensions.{PAYMENT_IDENTIFIER}` that cannot be read")
            value = value.get(step)
            if value is None:
                return ""
        if not isinstance(value, str) or not IDENTIFIER.fullmatch(value):
            raise self.invalid(
                f"has an `extensions.{PAYMENT_IDENTIFIER}.info.id` that is not"
                f" {PAYMENT_ID_MIN_LENGTH} to {PAYMENT_ID_MAX_LENGTH} letters, digits, hyphens and underscores"
            )
        return value

    def authorization(
        self,
        payload: Mapping[str, Any],
        *,
        form: Payment.Form,
        scheme: str,
        network: str,
        asset: str | None,
        payment_identifier: str = "",
        quote_token: str = "",
    ) -> Authorization:
        signed = payload.get("authorization")
        if not isinstance(signed, dict):
            raise self.invalid("holds no `payload.authorization` (EIP-3009), the one way to pay that is offered")
        return Authorization(
            form=form,
            scheme=scheme,
            network=network,
            asset=asset,
            payer=self.matching(ADDRESS, signed, "from").lower(),
            to=self.matching(ADDRESS, signed, "to").lower(),
            value=self.number(signed, "value"),
            valid_after=self.number(signed, "validAfter"),
            valid_before=self.number(signed, "validBefore"),
            nonce=bytes.fromhex(self.matching(HASH, signed, "nonce")[2:]),
            signature=bytes.fromhex(self.matching(BYTES, payload, "signature")[2:]),
            payment_identifier=payment_identifier,
            quote_token=quote_token,
        )

    def matching(self, pattern: re.Pattern[str], fields: Mapping[str, Any], name: str) -> str:
        """Return a field's text if it matches; an integer counts as its digits."""
        value = fields.get(name)
        text = str(value) if isinstance(value, str | int) else ""
        if not pattern.fullmatch(text):
            raise self.invalid(f"has a `{name}` that cannot be read")
        return text

    def number(self, fields: Mapping[str, Any], name: str) -> int:
        number = int(self.matching(NUMBER, fields, name))
        if number >= 2**256:
            raise self.invalid(f"has a `{name}` that cannot be read")
        return number

    def invalid(self, what: str) -> InvalidPayment:
        return InvalidPayment(f"{self.source} {what}.", param=self.name)
