"""Signed offers, receipts and statements: against the specification's types, by libraries that are not ours."""

import hashlib
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from eth_account import Account
from eth_account.messages import encode_typed_data
from joserfc import jws
from joserfc.jwk import ECKey
from x402.http.utils import decode_payment_required_header
from x402.schemas import PaymentRequired as RequiredV2

from config import checks, environment
from framework.api.renderers import JSONRenderer
from framework.public_ids import new_id
from payments.models import Payment
from payments.observability import counters
from payments.x402 import signing_keys
from payments.x402.challenges import PaymentRequired
from payments.x402.receipts import PaidResponse, Receipt
from tests.payments.receipts import VERIFIER, program, read_header, verify
from tests.payments.x402.test_wire_format import HASH, PAY_TO, PAYER, purchase, quote

JSON_TYPE = "application/json"
KEY, OTHER = "1" * 64, "2" * 64
ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
KID = "did:web:api.example.com#key-19e7e376"
NOW = datetime(2026, 11, 28, 6, 30, 5, 250_000, tzinfo=UTC)
FORMATS = ("eip712", "jws")
OFFER = {
    "Offer": [
        {"name": name, "type": "uint256" if name in ("version", "validUntil") else "string"}
        for name in ("version", "resourceUrl", "scheme", "network", "asset", "payTo", "amount", "validUntil")
    ]
}


@pytest.fixture(autouse=True)
def _ours(settings: LazySettings) -> None:
    settings.PAY_TO = PAY_TO
    settings.PAYMENT_NETWORK = "eip155:84532"
    settings.PUBLIC_BASE_URL = "https://api.example.com"
    settings.RECEIPT_KEYS = (KEY,)
    settings.RECEIPT_FORMAT = "eip712"


def receipt(**changes: Any) -> Receipt:
    """The receipt of 0.002 USDC for a record."""
    values = {
        "payment": new_id(),
        "payer": PAYER,
        "transaction": HASH,
        "network": "eip155:84532",
        "amount": Decimal("0.002"),
        "asset": "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
        "pay_to": PAY_TO,
        "method": "GET",
        "resource": purchase().url,
        "request": purchase().key,
        "settled_at": NOW,
    }
    return Receipt(**{**values, **changes})


def answer(given: Receipt | None = None, body: bytes = b'{"name":"Noma"}', **rest: Any) -> Any:
    """A paid answer, rendered."""
    response: Any = PaidResponse(body, given or receipt(), **rest)
    response.accepted_renderer, response.accepted_media_type, response.renderer_context = JSONRenderer(), JSON_TYPE, {}
    return response.render()


def offers_of(refusal: PaymentRequired) -> Any:
    """The offers in the header of a 402."""
    read = decode_payment_required_header(refusal.headers["PAYMENT-REQUIRED"])
    assert isinstance(read, RequiredV2)
    assert read.extensions is not None
    return read.extensions["offer-receipt"]["info"]["offers"]


def ask(url: str = "/v1/restaurants/noma?fields=context") -> PaymentRequired:
    return PaymentRequired("Pay.", quote=quote(), purchase=purchase(url))


def read_jws(text: str) -> tuple[dict[str, Any], Any]:
    """The header and the payload of a JWS that the published key has signed, by a library for JWS."""
    header = json.loads(VERIFIER.decode(text.split(".")[0]))
    document = signing_keys.build_did_document()
    (jwk,) = [method["publicKeyJwk"] for method in document["verificationMethod"] if method["id"] == header["kid"]]
    read = jws.deserialize_compact(text, ECKey.import_key(jwk), algorithms=["ES256K"])
    return header, json.loads(read.payload)


# Offers
@time_machine.travel(NOW, tick=False)
def test_a_402_has_an_offer_that_signs_what_it_accepts_as_the_specification_types_it() -> None:
    refusal = ask()
    (offer,) = offers_of(refusal)
    assert offer == {
        "format": "eip712",
        "payload": {
            "version": 1,
            "resourceUrl": "https://api.example.com/v1/restaurants/noma?fields=context",
            "scheme": "exact",
            "network": "eip155:84532",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
            "amount": "2000",
            "validUntil": int(NOW.timestamp()) + 55,
        },
        "signature": offer["signature"],
        "acceptIndex": 0,
    }
    message = encode_typed_data({"name": "x402 offer", "version": "1", "chainId": 1}, OFFER, offer["payload"])
    assert Account.recover_message(message, signature=offer["signature"]) == ADDRESS
    # Version 1 has them in the body, with the schema that the header has no room for.
    assert refusal.body_override is not None
    in_body = refusal.body_override["extensions"]["offer-receipt"]
    assert in_body["info"]["offers"] == [offer]
    assert in_body["schema"]["properties"]["offers"]["items"]["required"] == ["format", "payload", "signature"]


@time_machine.travel(NOW, tick=False)
def test_an_offer_as_a_jws_names_the_key_that_signed_it(settings: LazySettings) -> None:
    settings.RECEIPT_FORMAT = "jws"
    (offer,) = offers_of(ask())
    assert set(offer) == {"format", "signature", "acceptIndex"}
    header, payload = read_jws(offer["signature"])
    assert header == {"alg": "ES256K", "kid": KID}
    assert (payload["amount"], payload["validUntil"]) == ("2000", int(NOW.timestamp()) + 55)


@pytest.mark.parametrize(("second", "left"), [(0, 60), (29, 31), (30, 60), (59, 31)])
def test_an_offer_is_valid_for_half_a_minute_to_one_and_signed_once_for_equal_terms(second: int, left: int) -> None:
    with time_machine.travel(NOW.replace(second=second, microsecond=0), tick=False):
        (offer,), (equal,), (other,) = offers_of(ask()), offers_of(ask()), offers_of(ask("/v1/restaurants/geranium"))
        assert offer["payload"]["validUntil"] - datetime.now(UTC).timestamp() == left
        assert offer == equal
        assert offer["signature"] != other["signature"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("length", [10, 206, 1000])
def test_the_headers_of_402_and_of_paid_answer_stay_below_4_kb(settings: LazySettings, form: str, length: int) -> None:
    settings.RECEIPT_FORMAT = form
    url = "/v1/restaurants/noma?q=".ljust(length, "x")
    # The headers that the data API sets besides.
    others = 700
    assert sum(len(name) + len(value) + 4 for name, value in ask(url).headers.items()) < 4096 - others
    headers = answer(receipt(resource=purchase(url).url), sources=["demo", "osm", "tablewire"]).headers
    assert sum(len(name) + len(value) + 4 for name, value in headers.items()) < 4096 - others


# Receipts
@pytest.mark.parametrize("form", FORMATS)
def test_a_receipt_says_who_paid_for_what_and_when_and_is_the_same_each_time(
    settings: LazySettings, form: str
) -> None:
    settings.RECEIPT_FORMAT = form
    given = receipt()
    first, again = answer(given), answer(given, b'{"name":"Noma 2.0"}')
    assert first["PAYMENT-RESPONSE"] == again["PAYMENT-RESPONSE"]
    signed = read_header(first["PAYMENT-RESPONSE"])["extensions"]["offer-receipt"]["info"]["receipt"]
    payload = signed["payload"] if form == "eip712" else read_jws(signed["signature"])[1]
    assert payload == {
        "version": 1,
        "network": "eip155:84532",
        "resourceUrl": "https://api.example.com/v1/restaurants/noma?fields=context",
        "payer": PAYER,
        "issuedAt": int(NOW.timestamp()),
        "transaction": HASH,
    }
    assert verify(first)["transaction"] == HASH
    assert "extensions" not in read_header(first["X-PAYMENT-RESPONSE"])


def test_who_paid_by_version_1_gets_the_receipt_in_its_header_too() -> None:
    response = answer(receipt(form=Payment.Form.V1))
    in_v1, in_v2 = (read_header(response[name]) for name in ("X-PAYMENT-RESPONSE", "PAYMENT-RESPONSE"))
    assert in_v1["network"] == "base-sepolia"
    assert in_v1["extensions"] == in_v2["extensions"]


@pytest.mark.parametrize(
    ("ledger", "named"),
    [
        ("mcp://tool/get_reviews?slug=noma", "mcp://tool/get_reviews"),
        ("https://api.example.com/v1/exports#ex_1", "https://api.example.com/v1/exports"),
        (f"https://api.example.com/v1/restaurants?slugs={'a' * 300}", "https://api.example.com/v1/restaurants"),
    ],
)
def test_a_receipt_names_the_address_that_its_offer_named(ledger: str, named: str) -> None:
    settled = receipt(resource=ledger).settled
    assert settled.extensions is not None
    assert settled.extensions["offer-receipt"]["info"]["receipt"]["payload"]["resourceUrl"] == named


# Statements
@time_machine.travel(NOW + timedelta(seconds=2), tick=False)
def test_a_statement_says_what_was_answered_to_which_request_for_which_payment() -> None:
    body = b'{"name":"Noma","id":1}'
    response = answer(given := receipt(), body, at=NOW, version=7, sources=["demo", "osm"])
    header, said = read_jws(response["Receipt-Statement"])
    assert header == {"alg": "ES256K", "kid": KID, "typ": "tablewire-statement+jwt"}
    assert said == {
        "version": 1,
        "payment": given.token.partition(":")[0],
        "method": "GET",
        "url": "https://api.example.com/v1/restaurants/noma?fields=context",
        "request": purchase().key,
        "sha256": hashlib.sha256(body).hexdigest(),
        "at": "2026-11-28T06:30:05.250000Z",
        "restaurantVersion": 7,
        "issuedAt": int(NOW.timestamp()) + 2,
        "amount": "2000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "network": "eip155:84532",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "payer": PAYER,
        "transaction": HASH,
        "sources": ["demo", "osm"],
    }
    assert verify(response) == said


def test_a_statement_is_no_receipt_and_a_receipt_no_statement(settings: LazySettings) -> None:
    settings.RECEIPT_FORMAT = "jws"
    response = answer()
    settled = read_header(response["PAYMENT-RESPONSE"])
    signed = settled["extensions"]["offer-receipt"]["info"]["receipt"]
    swapped = signed["signature"]
    signed["signature"] = response["Receipt-Statement"]
    document = signing_keys.build_did_document()
    for other in (response["Receipt-Statement"], swapped):
        with pytest.raises(ValueError, match="a JWS of another kind"):
            VERIFIER.verify("https://api.example.com", settled, other, response.content, document)


# Keys
def test_after_a_rotation_the_new_key_signs_and_the_old_public_key_stays_published(settings: LazySettings) -> None:
    before = answer()
    out = StringIO()
    call_command("receipt_keys", stdout=out)
    name, _, value = out.getvalue().strip().partition("=")
    new, former = value.split(",")
    assert (name, len(new)) == ("RECEIPT_KEYS", 64)
    assert former == signing_keys.get_signing_key().public.format().hex()
    settings.RECEIPT_KEYS = (new, former)
    after = answer()
    assert verify(before)["sha256"] == verify(after)["sha256"]
    kids = [read_jws(each["Receipt-Statement"])[0]["kid"] for each in (before, after)]
    assert kids[0] == KID != kids[1]
    # Not by a key that is no longer published.
    settings.RECEIPT_KEYS = (new,)
    with pytest.raises(ValueError, match="signed by another key"):
        verify(before)


def test_without_keys_one_is_derived_from_the_secret_key_and_outlives_it_as_a_fallback(settings: LazySettings) -> None:
    settings.RECEIPT_KEYS = ()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "first", []
    before = answer()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "second", ["first"]
    assert verify(before)
    assert len(signing_keys.get_keys()) == 2
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(ValueError, match="signed by another key"):
        verify(before)


def test_the_did_document_has_each_key_as_a_jwk_and_as_an_address(client: Client, settings: LazySettings) -> None:
    settings.RECEIPT_KEYS = (KEY, OTHER)
    response = client.get("/.well-known/did.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/did+json")
    document = response.json()
    assert document["id"] == "did:web:api.example.com"
    assert [method["id"] for method in document["verificationMethod"]] == document["assertionMethod"]
    jwk, address = document["verificationMethod"][:2]
    assert (jwk["id"], address["id"]) == (KID, f"{KID}-address")
    assert jwk["publicKeyJwk"] | {"x": "", "y": ""} == {
        "kty": "EC",
        "crv": "secp256k1",
        "alg": "ES256K",
        "use": "sig",
        "x": "",
        "y": "",
    }
    assert address["blockchainAccountId"] == f"eip155:1:{ADDRESS}"
    assert KEY not in response.content.decode()
    assert client.post("/.well-known/did.json").status_code == 405
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8137"
    assert signing_keys.get_did() == "did:web:127.0.0.1%3A8137"


@pytest.mark.parametrize("value", ["1" * 63, "0" * 64, "f" * 64, "02" + "f" * 64, "secret", f"02{'1' * 64},{KEY}"])
def test_keys_that_are_none_stop_the_start_and_are_not_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RECEIPT_KEYS", value)
    with pytest.raises(environment.WrongValue) as caught:
        environment.secp256k1_keys("RECEIPT_KEYS")
    assert "RECEIPT_KEYS" in str(caught.value)
    assert value not in str(caught.value)


def test_keys_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    public = signing_keys.get_signing_key().public.format().hex()
    monkeypatch.setenv("RECEIPT_KEYS", f"0x{OTHER.upper()}, {public}")
    assert environment.secp256k1_keys("RECEIPT_KEYS") == (OTHER, public)
    monkeypatch.delenv("RECEIPT_KEYS")
    assert environment.secp256k1_keys("RECEIPT_KEYS") == ()


def test_check_warns_of_a_derived_key_and_of_the_key_of_the_money(settings: LazySettings) -> None:
    def warned() -> list[str | None]:
        return [each.id for each in checks.warn_of_receipt_keys(app_configs=None)]

    assert warned() == []
    settings.PAY_TO = ADDRESS.lower()
    assert warned() == ["tablewire.W007"]
    settings.RECEIPT_KEYS = ()
    assert warned() == ["tablewire.W006"]
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8000"
    assert warned() == []


# Failures
def test_what_cannot_be_signed_goes_out_without_and_is_counted(settings: LazySettings) -> None:
    settings.RECEIPT_KEYS = ("0" * 64,)
    kinds = ("offer", "receipt", "statement")

    def counted() -> list[float]:
        names = [{"kind": kind} for kind in kinds]
        return [counters.registry.get_sample_value("tablewire_payment_unsigned_total", name) or 0 for name in names]

    before = counted()
    refusal, response = ask(), answer()
    assert [after - count for after, count in zip(counted(), before, strict=True)] == [1, 1, 1]
    read = decode_payment_required_header(refusal.headers["PAYMENT-REQUIRED"])
    assert isinstance(read, RequiredV2)
    assert "offer-receipt" not in (read.extensions or {})
    assert response.content == b'{"name":"Noma"}'
    assert read_header(response["PAYMENT-RESPONSE"])["success"] is True
    assert "Receipt-Statement" not in response


# The verifier
def test_the_verifier_has_at_most_80_lines_and_nothing_of_ours() -> None:
    assert sum(1 for line in program().splitlines() if line.strip()) <= 80
    assert not any(name in program() for name in ("django", "payments.", "framework"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_of_10_000_flipped_bits_in_receipts_and_statements_none_is_accepted(settings: LazySettings, form: str) -> None:
    settings.RECEIPT_FORMAT = form
    response = answer(at=NOW, sources=["demo"])
    header, statement, body = response["PAYMENT-RESPONSE"], response["Receipt-Statement"], response.content
    signed = read_header(header)["extensions"]["offer-receipt"]["info"]["receipt"]
    inner = json.dumps(signed, separators=(",", ":"))
    document, draw = signing_keys.build_did_document(), random.Random(form)

    def check(header: bytes, inner: bytes | None, statement: bytes, body: bytes) -> None:
        settled = json.loads(VERIFIER.decode(header.decode("latin-1"), b"+/"))
        if inner is not None:
            settled["extensions"]["offer-receipt"]["info"]["receipt"] = json.loads(inner)
        VERIFIER.verify("https://api.example.com", settled, statement.decode("latin-1"), body, document)

    parts: list[Any] = [header.encode(), inner.encode(), statement.encode(), body]
    check(*parts)
    check(parts[0], None, *parts[2:])
    accepted = []
    # The header of the settlement, the receipt in it, the statement: each bit once, and then at random.
    for part, tries in ((0, 1_000), (1, 2_000), (2, 2_000)):
        bits = 8 * len(parts[part])
        for bit in draw.sample(range(bits), min(tries, bits)) + draw.choices(range(bits), k=max(0, tries - bits)):
            flipped = bytearray(parts[part])
            flipped[bit // 8] ^= 1 << bit % 8
            given = [*parts]
            given[part] = bytes(flipped)
            if part == 0:
                given[1] = None
            if passes(partial(check, *given)):
                accepted.append((part, bit))
    assert accepted == []


def passes(check: Callable[[], None]) -> bool:
    """Whether the check raises nothing."""
    try:
        check()
    except Exception:  # noqa: BLE001 - whatever it raises, it refuses
        return False
    return True
