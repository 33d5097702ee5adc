"""The three ways in which a payment is asked for, sent and receipted; against the official codecs."""

import base64
import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import RequestFactory
from django.utils import timezone
from eth_account import Account
from x402.extensions.sign_in_with_x import SIGN_IN_WITH_X, SIWxExtension, build_siwx_schema
from x402.http.utils import (
    decode_payment_required_header,
    decode_payment_response_header,
    encode_payment_signature_header,
)
from x402.schemas import PaymentPayload
from x402.schemas import PaymentRequired as RequiredV2
from x402.schemas.v1 import PaymentPayloadV1, PaymentRequiredV1

from framework.api.error_handler import error_body
from framework.public_ids import new_id
from payments.chain import evm
from payments.chain.networks import BASE_SEPOLIA
from payments.models import Payment
from payments.pricing.price_list import Quote
from payments.tiers.definitions import FREE, PRO, describe_token
from payments.x402.challenges import PaymentRejected, PaymentRequired
from payments.x402.proofs import Authorization, InvalidPayment, TransactionProof, parse_proof
from payments.x402.purchase import Purchase
from payments.x402.receipts import PaidResponse, Receipt, is_receipt_token

PAY_TO = "0x209693bc6afc0c5328ba36faf03c514ef312287c"
PAYER = "0x857b06519e91e3a54538791bdbb0e22373e36b66"
HASH = "0x" + "5a" * 32
SIGNED: dict[str, Any] = {
    "signature": "0x" + "11" * 65,
    "authorization": {
        "from": evm.to_checksum_address(PAYER),
        "to": evm.to_checksum_address(PAY_TO),
        "value": "2000",
        "validAfter": "0",
        "validBefore": "1800000060",
        "nonce": "0x" + "22" * 32,
    },
}
ACCEPTED = {
    "scheme": "exact",
    "network": "eip155:84532",
    "asset": evm.to_checksum_address(BASE_SEPOLIA.asset),
    "amount": "2000",
    "payTo": evm.to_checksum_address(PAY_TO),
    "maxTimeoutSeconds": 60,
    "extra": {"name": "USDC", "version": "2"},
}
V2: dict[str, Any] = {"x402Version": 2, "payload": SIGNED, "accepted": ACCEPTED}
V1: dict[str, Any] = {"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": SIGNED}


@pytest.fixture(autouse=True)
def _our_address(settings: LazySettings) -> None:
    settings.PAY_TO = PAY_TO
    settings.PAYMENT_NETWORK = "eip155:84532"
    settings.PUBLIC_BASE_URL = "https://api.example.com"


def quote(tier: Any = FREE) -> Quote:
    """A price of 0.002 USDC."""
    return Quote(products=("context",), amount=Decimal("0.002000"), from_tier=tier, description="Neighborhood context")


def purchase(url: str = "/v1/restaurants/noma?fields=context") -> Purchase:
    """What a GET of this address buys."""
    return Purchase.for_request(RequestFactory().get(url))


def in_base64(content: Any) -> str:
    """JSON in base64."""
    return base64.b64encode(json.dumps(content).encode()).decode()


# Challenges
def test_the_seeds_header_names_asset_amount_receiver_and_network() -> None:
    refusal = PaymentRequired("Pay.", quote=quote(), purchase=purchase())
    assert refusal.status == 402
    assert json.loads(refusal.headers["x402"]) == {
        "asset": "USDC",
        "amount": "0.002",
        "pay_to": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "network": "base-sepolia",
        "caip2": "eip155:84532",
        "asset_address": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "decimals": 6,
        "expires_in": 60,
    }
    assert " " not in refusal.headers["x402"]


def test_the_header_of_version_2_is_what_official_clients_read() -> None:
    refusal = PaymentRequired("Pay.", quote=quote(), purchase=purchase())
    read = decode_payment_required_header(refusal.headers["PAYMENT-REQUIRED"])
    assert isinstance(read, RequiredV2)
    assert read.error == "payment_required"
    assert read.resource is not None
    assert read.resource.model_dump(exclude_none=True) == {
        "url": "https://api.example.com/v1/restaurants/noma?fields=context",
        "description": "Neighborhood context",
        "mimeType": "application/json",
    }
    (accepted,) = [each.model_dump() for each in read.accepts]
    # Random for each quote; decision 0081 says what it proves.
    assert len(accepted["extra"].pop("quote")) >= 22
    assert accepted == {**ACCEPTED, "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}


def test_the_402_declares_sign_in_with_x_as_the_library_does() -> None:
    read = decode_payment_required_header(
        PaymentRequired("Pay.", quote=quote(), purchase=purchase()).headers["PAYMENT-REQUIRED"]
    )
    assert isinstance(read, RequiredV2)
    assert read.extensions is not None
    declared = read.extensions[SIGN_IN_WITH_X]
    extension = SIWxExtension.model_validate(declared)
    assert set(declared) == {"info", "supportedChains", "schema"}
    # The whole schema is a kilobyte in a header, and no client reads it; an MCP message has it.
    assert declared["schema"] == {"type": "object"}
    whole = PaymentRequired("Pay.", quote=quote(), purchase=purchase()).required.extensions
    assert whole is not None
    assert whole[SIGN_IN_WITH_X]["schema"] == build_siwx_schema()
    assert declared["supportedChains"] == [{"chainId": "eip155:84532", "type": "eip191"}]
    assert (extension.info.domain, extension.info.uri) == (
        "api.example.com",
        "https://api.example.com/v1/auth/session",
    )
    assert extension.info.issued_at is not None
    assert extension.info.expiration_time is not None
    lifetime = datetime.fromisoformat(extension.info.expiration_time) - datetime.fromisoformat(
        extension.info.issued_at
    )
    assert lifetime == timedelta(minutes=5)
    # Each 402 has a challenge of its own.
    again = PaymentRequired("Pay.", quote=quote(), purchase=purchase()).required.extensions
    assert again is not None
    assert again[SIGN_IN_WITH_X]["info"]["nonce"] != extension.info.nonce


def test_the_body_is_what_clients_of_version_1_read() -> None:
    refusal = PaymentRejected("Too little.", quote=quote(PRO), purchase=purchase(), reason="wrong_amount")
    content = error_body(refusal, request_id="req_1")
    (accepts,) = PaymentRequiredV1.model_validate(content).accepts
    assert (accepts.network, accepts.max_amount_required) == ("base-sepolia", "2000")
    assert accepts.resource == "https://api.example.com/v1/restaurants/noma?fields=context"
    assert accepts.output_schema == {"input": {"type": "http", "method": "GET", "discoverable": True}, "output": None}
    assert set(content["extensions"]) == {"offer-receipt"}
    assert {name: value for name, value in content.items() if name not in ("accepts", "extensions")} == {
        "x402Version": 1,
        "error": "payment_rejected",
        "title": "Payment rejected",
        "status": 402,
        "detail": "Too little.",
        "tier_required": "pro",
        "from_usd": "100",
        "from_stake": None,
        "token": describe_token(),
        "tiers": "https://api.example.com/v1/tiers",
        "reason": "wrong_amount",
        "request_id": "req_1",
    }


def test_a_refused_payment_is_an_unsuccessful_settlement_to_clients_of_version_2() -> None:
    refusal = PaymentRejected("Too little.", quote=quote(), purchase=purchase(), reason="wrong_amount", refund="pay_1")
    settlement = decode_payment_response_header(refusal.headers["PAYMENT-RESPONSE"])
    assert settlement.model_dump(exclude_none=True) == {
        "success": False,
        "errorReason": "wrong_amount",
        "transaction": "",
        "network": "eip155:84532",
        "extra": {"refund": "pay_1"},
    }
    assert "PAYMENT-RESPONSE" not in PaymentRequired("Pay.", quote=quote(), purchase=purchase()).headers


def test_free_tier_products_require_no_tier() -> None:
    refusal = PaymentRequired("Pay.", quote=quote(), purchase=purchase())
    assert refusal.body_override is not None
    assert refusal.body_override["tier_required"] is None
    assert "reason" not in refusal.body_override


def test_no_cache_keeps_a_402() -> None:
    headers = PaymentRequired("Pay.", quote=quote(), purchase=purchase()).headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["Vary"] == "Authorization, SIGN-IN-WITH-X, X-Payment, PAYMENT-SIGNATURE"


@pytest.mark.parametrize("length", [10, 1000, 20_000])
def test_the_headers_of_a_402_stay_below_4_kb(length: int) -> None:
    refusal = PaymentRequired("Pay.", quote=quote(), purchase=purchase(f"/v1/restaurants/noma?q={'é' * length}"))
    assert sum(len(name) + len(value) + 4 for name, value in refusal.headers.items()) < 4096
    assert all(value.isascii() for value in refusal.headers.values())


def test_the_header_of_version_2_takes_less_than_three_kilobytes() -> None:
    every = Quote(
        products=("context", "reviews", "photos", "ai_insight"),
        amount=Decimal("0.019000"),
        from_tier=PRO,
        description="Neighborhood context, Reviews, Photos, Insight",
    )
    asked_for = purchase("/v1/restaurants/noma?fields=core,context,reviews,photos,ai_insight")
    headers = PaymentRequired("Pay.", quote=every, purchase=asked_for).headers
    assert len(headers["PAYMENT-REQUIRED"]) < 2700
    assert len(headers["x402"]) < 300


# Proofs
def test_a_request_without_payment_has_no_proof() -> None:
    assert parse_proof({}) is None
    assert parse_proof({"X-Payment": " "}) is None


def test_a_transaction_hash_is_a_proof() -> None:
    assert parse_proof({"X-Payment": HASH.upper().replace("X", "x")}) == TransactionProof(HASH)


@pytest.mark.parametrize("encode", [json.dumps, in_base64])
def test_a_settlement_response_is_the_transaction_that_it_holds(encode: Any) -> None:
    settled = {"success": True, "transaction": HASH, "network": "base-sepolia", "payer": PAYER}
    assert parse_proof({"X-Payment": encode(settled)}) == TransactionProof(HASH)


@pytest.mark.parametrize("encode", [json.dumps, in_base64])
@pytest.mark.parametrize(
    ("header", "payload", "form", "asset"),
    [
        ("PAYMENT-SIGNATURE", V2, Payment.Form.V2, BASE_SEPOLIA.asset),
        ("X-Payment", V2, Payment.Form.V2, BASE_SEPOLIA.asset),
        ("X-Payment", V1, Payment.Form.V1, None),
    ],
)
def test_both_versions_become_one_authorization(
    header: str, payload: Any, form: Payment.Form, asset: str | None, encode: Any
) -> None:
    assert parse_proof({header: encode(payload)}) == Authorization(
        form=form,
        scheme="exact",
        network="eip155:84532",
        asset=asset,
        payer=PAYER,
        to=PAY_TO,
        value=2000,
        valid_after=0,
        valid_before=1_800_000_060,
        nonce=bytes.fromhex("22" * 32),
        signature=bytes.fromhex("11" * 65),
    )


def test_the_official_codec_writes_what_we_read() -> None:
    for payload in (PaymentPayload.model_validate(V2), PaymentPayloadV1.model_validate(V1)):
        found = parse_proof({"X-Payment": encode_payment_signature_header(payload)})
        assert isinstance(found, Authorization)
        assert found.value == 2000


def test_url_safe_and_unpadded_base64_is_parsed() -> None:
    text = in_base64({**V2, "note": "?>~?>~"}).replace("+", "-").replace("/", "_").rstrip("=")
    assert isinstance(parse_proof({"X-Payment": text}), Authorization)


def test_payment_signature_counts_before_x_payment() -> None:
    found = parse_proof({"X-Payment": HASH, "PAYMENT-SIGNATURE": in_base64(V2)})
    assert isinstance(found, Authorization)


def changed(**signed: Any) -> dict[str, Any]:
    """A payment of version 2 with other fields signed."""
    return {**V2, "payload": {**SIGNED, "authorization": {**SIGNED["authorization"], **signed}}}


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "text",
    [
        "paid",
        HASH[:-1],
        "null",
        "{",
        "[]",
        "e30=",
        "=",
        "é",
        in_base64([]),
        "[" * 8000,
        in_base64({"transaction": "0x12"}),
        in_base64({**V2, "x402Version": 3}),
        in_base64({**V2, "x402Version": None}),
        in_base64({**V2, "accepted": None}),
        in_base64({**V2, "payload": {"permit2Authorization": {}, "signature": "0x11"}}),
        in_base64({**V2, "payload": {**SIGNED, "signature": "0x"}}),
        in_base64({**V1, "network": 84532}),
        in_base64(changed(to="0x12")),
        in_base64(changed(value="-1")),
        in_base64(changed(value="٣")),
        in_base64(changed(value=None)),
        in_base64(changed(value=2.5)),
        in_base64(changed(value=str(2**256))),
        in_base64(changed(nonce="0x00")),
        in_base64(changed(validBefore="9" * 79)),
    ],
)
@pytest.mark.parametrize("header", ["PAYMENT-SIGNATURE", "X-Payment"])
def test_anything_else_is_refused_and_names_the_header(header: str, text: str) -> None:
    with pytest.raises(InvalidPayment) as caught:
        parse_proof({header: text})
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, "invalid_payment", header)
    assert header in caught.value.message


def test_a_header_of_more_than_8_kb_is_refused_unparsed() -> None:
    with pytest.raises(InvalidPayment, match="longer than 8192 bytes"):
        parse_proof({"X-Payment": in_base64({**V2, "note": "x" * 8192})})


# Purchases
def test_a_purchase_is_the_same_however_it_is_written() -> None:
    one = purchase("/v1/restaurants/noma/?b=2&a=1")
    assert one.key == purchase("/v1/restaurants/noma?a=1&b=2").key
    head = Purchase.for_request(RequestFactory().head("/v1/restaurants/noma?a=1&b=2"))
    assert (head.method, head.key) == ("GET", one.key)


@pytest.mark.parametrize(
    "other",
    [
        RequestFactory().get("/v1/restaurants/geranium?a=1"),
        RequestFactory().get("/v1/restaurants/noma?a=2"),
        RequestFactory().get("/v1/restaurants/noma?a=1&a=1"),
        RequestFactory().get("/v1/restaurants/noma?a=1&b="),
        RequestFactory().post("/v1/restaurants/noma?a=1"),
        RequestFactory().generic("GET", "/v1/restaurants/noma?a=1", b"{}"),
    ],
)
def test_another_request_is_another_purchase(other: Any) -> None:
    assert Purchase.for_request(other).key != purchase("/v1/restaurants/noma?a=1").key


# Receipts
def receipt_of(amount: Decimal) -> Receipt:
    """The receipt of a payment of so many USDC for a record."""
    bought = purchase()
    return Receipt(
        payment=new_id(),
        payer=PAYER,
        transaction=HASH,
        network="eip155:84532",
        amount=amount,
        asset=BASE_SEPOLIA.asset,
        pay_to=PAY_TO,
        method=bought.method,
        resource=bought.url,
        request=bought.key,
        settled_at=timezone.now(),
    )


def test_a_receipt_is_written_in_both_versions_and_not_stored_by_shared_caches() -> None:
    receipt = receipt_of(Decimal("0.002"))
    answer = PaidResponse({"name": "Noma"}, receipt)
    v2 = decode_payment_response_header(answer["PAYMENT-RESPONSE"])
    # Signed (test_offer_receipt.py).
    assert set(v2.extensions or {}) == {"offer-receipt"}
    assert v2.model_dump(exclude_none=True, exclude={"extensions"}) == {
        "success": True,
        "payer": PAYER,
        "transaction": HASH,
        "network": "eip155:84532",
        "amount": "2000",
    }
    v1 = decode_payment_response_header(answer["X-PAYMENT-RESPONSE"])
    assert v1.model_dump(exclude_none=True) == {
        "success": True,
        "payer": PAYER,
        "transaction": HASH,
        "network": "base-sepolia",
    }
    assert answer["Cache-Control"] == "private, no-store"


def test_a_receipts_token_is_good_for_its_payment_only() -> None:
    receipt = receipt_of(Decimal(1))
    assert is_receipt_token(receipt.token, receipt.payment)
    assert not is_receipt_token(receipt.token, new_id())
    assert not is_receipt_token(None, receipt.payment)
    name, _, signature = receipt.token.partition(":")
    for forged in (name, f"{name}:", f"{name}:{signature[:-1]}", "", "é:é"):
        assert not is_receipt_token(forged, receipt.payment)


# Signatures
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"value": "2001"}, False),
        ({"to": PAYER}, False),
        ({"validBefore": "1800000061"}, False),
        ({"from": PAY_TO}, False),
        ({"nonce": "0x" + "33" * 32}, False),
    ],
)
def test_an_authorization_is_signed_by_its_payer_or_not(change: dict[str, str], expected: bool) -> None:
    payer = Account.create()
    authorization = SIGNED["authorization"] | {"from": payer.address}
    typed = {"name": "USDC", "version": "2", "chainId": 84532, "verifyingContract": BASE_SEPOLIA.asset}
    fields = [
        "from:address",
        "to:address",
        "value:uint256",
        "validAfter:uint256",
        "validBefore:uint256",
        "nonce:bytes32",
    ]
    types = [dict(zip(("name", "type"), field.split(":"), strict=True)) for field in fields]
    made = Account.sign_typed_data(payer.key, typed, {"TransferWithAuthorization": types}, numbers(authorization))
    payload = {"signature": "0x" + made.signature.hex().removeprefix("0x"), "authorization": authorization | change}
    found = parse_proof({"PAYMENT-SIGNATURE": json.dumps({**V2, "payload": payload})})
    assert isinstance(found, Authorization)
    assert found.is_signed() is expected


def numbers(fields: dict[str, str]) -> dict[str, Any]:
    """The fields of an authorization as they are signed: numbers as numbers, bytes as bytes."""
    whole = {name: int(fields[name]) for name in ("value", "validAfter", "validBefore")}
    return fields | whole | {"nonce": bytes.fromhex(fields["nonce"][2:])}
