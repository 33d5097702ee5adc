"""Reads what a caller sends as payment."""

import base64
import binascii
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

from framework.errors import Code, Refusal
from payments.chain import evm
from payments.chain.networks import NETWORKS, ours
from payments.models import Payment

MOST_BYTES = 8 * 1024
# Where a message of MCP has it, in its `_meta` (x402, transport MCP).
PAYMENT_META = "x402/payment"
HASH = re.compile(r"0x[0-9a-fA-F]{64}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})+")
# As a uint256 has at most.
NUMBER = re.compile(r"[0-9]{1,78}")
IDENTIFIER = re.compile(rf"[a-zA-Z0-9_-]{{{PAYMENT_ID_MIN_LENGTH},{PAYMENT_ID_MAX_LENGTH}}}")
BY_NAME = {network.name: network.caip2 for network in NETWORKS.values()}


class InvalidPayment(Refusal):
    """A payment header that cannot be read."""

    code = Code.INVALID_PAYMENT


@dataclass(frozen=True, slots=True)
class Authorization:
    """A signed authorization to move USDC (EIP-3009), not settled yet. What it says is not checked here.

    `network` is a CAIP-2 name; `asset` is None where the form does not name one (version 1); `value` is in the
    asset's smallest unit; times are Unix seconds; addresses are in small letters. `payment_identifier` is what the
    caller calls the payment, which nobody has signed; empty where it has no name.
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

    @property
    def digest(self) -> bytes:
        """What the payer signs of it, for USDC on our network."""
        return evm.transfer_digest(
            ours(),
            sender=self.payer,
            to=self.to,
            value=self.value,
            valid_after=self.valid_after,
            valid_before=self.valid_before,
            nonce=self.nonce,
        )

    @property
    def proof_key(self) -> str:
        """What it is known by in the ledger: the token takes each nonce of a payer once."""
        return f"3009:{ours().asset}:{self.payer}:0x{self.nonce.hex()}"

    @property
    def deed(self) -> str:
        """What tells this from all else that the payer may sign with the same nonce: SHA-256, in hexadecimal."""
        return hashlib.sha256(self.digest + self.signature).hexdigest()

    def is_valid_at(self, moment: float) -> bool:
        """Whether the token would take it at that moment, in Unix seconds, as far as its times go."""
        return self.valid_after < moment < self.valid_before

    def is_signed(self) -> bool:
        """Whether the payer's own key has signed this, on our network. A contract wallet's signature is no key's."""
        return evm.recover(self.digest, self.signature) == self.payer


@dataclass(frozen=True, slots=True)
class Sent:
    """A transaction that the caller says to have paid with: its hash in small letters."""

    tx_hash: str


Proof = Authorization | Sent


def proof(headers: Mapping[str, str]) -> Proof | None:
    """The payment that came with a request, None where there is none. `headers` are found in any case.

    PAYMENT-SIGNATURE counts before X-Payment. Call it for what is to be paid only: on a free request a payment header
    means nothing. Raises InvalidPayment.
    """
    name = header_of(headers)
    return Reader(name).read(headers[name].strip()) if name else None


def proof_in(meta: Mapping[str, Any]) -> Proof | None:
    """The payment that came with a message of MCP, in its `_meta`; None where there is none.

    A payment of version 2 or 1, or `{"transaction": "0x..."}` for one that was sent already. Raises InvalidPayment.
    """
    content = meta.get(PAYMENT_META)
    if content is None:
        return None
    reader = Reader(PAYMENT_META)
    if isinstance(content, str):
        return reader.read(content.strip())
    # As long as a header may be: it goes on to the facilitator, and the signature to the chain.
    if len(json.dumps(content)) > MOST_BYTES:
        raise reader.too_long()
    return reader.of_json(content)


def header_of(headers: Mapping[str, str]) -> str | None:
    """The name of the header that a payment came in, whatever it holds; None where none came."""
    return next((name for name in ("PAYMENT-SIGNATURE", "X-Payment") if headers.get(name, "").strip()), None)


class Reader:
    """Reads one payment, and names where it stood where it cannot be read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.called = f'`_meta["{name}"]`' if name == PAYMENT_META else f"The header {name}"

    def read(self, text: str) -> Proof:
        """A transaction's hash, or JSON, or JSON in base64."""
        if len(text) > MOST_BYTES:
            raise self.too_long()
        if HASH.fullmatch(text):
            return Sent(text.lower())
        return self.of_json(self.content(text))

    def of_json(self, content: Any) -> Proof:
        """A payment in JSON that was read."""
        if not isinstance(content, dict):
            raise self.invalid("is not a JSON object")
        told = content.get("transaction")
        if isinstance(told, str) and HASH.fullmatch(told):
            return Sent(told.lower())
        version = content.get("x402Version")
        try:
            if version == 2:
                return self.version_2(PaymentPayload.model_validate(content))
            if version == 1:
                return self.version_1(PaymentPayloadV1.model_validate(content))
        except ValidationError as error:
            where = ".".join(str(step) for step in error.errors()[0]["loc"])
            raise self.invalid(f"is no payment of x402 version {version}: see `{where}`") from error
        raise self.invalid("holds neither a transaction nor a payment of x402 version 1 or 2")

    def content(self, text: str) -> Any:
        """The JSON."""
        if not text.startswith("{"):
            padded = text.translate(str.maketrans("-_", "+/")) + "=" * (-len(text) % 4)
            try:
                text = base64.b64decode(padded, validate=True).decode()
            except (binascii.Error, ValueError) as error:
                raise self.invalid("is neither a transaction's hash nor JSON nor base64 of it") from error
        try:
            content = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise self.invalid("is neither a transaction's hash nor JSON nor base64 of it") from error
        return content

    def version_2(self, payload: PaymentPayload) -> Authorization:
        """A payment of version 2, which names what it accepts."""
        accepted = payload.accepted
        return self.authorization(
            payload.payload,
            form=Payment.Form.V2,
            scheme=accepted.scheme,
            network=accepted.network,
            asset=accepted.asset.lower(),
            payment_identifier=self.payment_identifier(payload.extensions or {}),
        )

    def version_1(self, payload: PaymentPayloadV1) -> Authorization:
        """A payment of version 1: the same signature, a network by its name."""
        network = BY_NAME.get(payload.network, payload.network)
        return self.authorization(
            payload.payload, form=Payment.Form.V1, scheme=payload.scheme, network=network, asset=None
        )

    def payment_identifier(self, extensions: Mapping[str, Any]) -> str:
        """The name of the payment, by the extension payment-identifier; clients send back what we said without one."""
        told: Any = extensions
        for step in (PAYMENT_IDENTIFIER, "info", "id"):
            if not isinstance(told, Mapping):
                raise self.invalid(f"has an `extensions.{PAYMENT_IDENTIFIER}` that cannot be read")
            told = told.get(step)
            if told is None:
                return ""
        if not isinstance(told, str) or not IDENTIFIER.fullmatch(told):
            raise self.invalid(
                f"has an `extensions.{PAYMENT_IDENTIFIER}.info.id` that is not"
                f" {PAYMENT_ID_MIN_LENGTH} to {PAYMENT_ID_MAX_LENGTH} letters, digits, hyphens and underscores"
            )
        return told

    def authorization(
        self,
        payload: Mapping[str, Any],
        *,
        form: Payment.Form,
        scheme: str,
        network: str,
        asset: str | None,
        payment_identifier: str = "",
    ) -> Authorization:
        """What was signed, and the signature."""
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
        )

    def matching(self, pattern: re.Pattern[str], fields: Mapping[str, Any], name: str) -> str:
        """A field's text; a whole number counts as its digits."""
        value = fields.get(name)
        text = str(value) if isinstance(value, str | int) else ""
        if not pattern.fullmatch(text):
            raise self.invalid(f"has a `{name}` that cannot be read")
        return text

    def number(self, fields: Mapping[str, Any], name: str) -> int:
        """A field that holds a uint256."""
        number = int(self.matching(NUMBER, fields, name))
        if number >= 2**256:
            raise self.invalid(f"has a `{name}` that cannot be read")
        return number

    def too_long(self) -> InvalidPayment:
        """The refusal of what is not read."""
        return self.invalid(f"is longer than {MOST_BYTES} bytes")

    def invalid(self, what: str) -> InvalidPayment:
        """The refusal, with the name of what was read."""
        return InvalidPayment(f"{self.called} {what}.", param=self.name)
