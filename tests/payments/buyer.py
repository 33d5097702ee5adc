"""Calls the checkout with payments that the official client has signed."""

import base64
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any, TypeVar

import pytest
from django.db import connection
from django.test import RequestFactory
from django.utils import timezone
from django.utils.datastructures import CaseInsensitiveMapping
from eth_account import Account
from x402 import x402ClientSync
from x402.http import x402HTTPClientSync
from x402.http.utils import encode_payment_signature_header
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.schemas import PaymentRequired

from framework.api.error_handler import error_response
from framework.errors import ApiError
from payments import checkout
from payments.chain import evm
from payments.checkout.context import Sale
from payments.checkout.signed_authorization import new_claim, to_payload
from payments.devchain.wallets import Wallet
from payments.identity.caller import Caller
from payments.models import Payment
from payments.pricing import price_list
from payments.tiers import terms
from payments.tiers.definitions import FREE, Tier
from payments.tiers.terms import STANDARD
from payments.x402 import facilitator_client
from payments.x402.challenges import build_requirement, build_resource
from payments.x402.proofs import Authorization, parse_proof
from payments.x402.purchase import Purchase
from payments.x402.receipts import Receipt
from tests.payments.transfers import authorize

Found = TypeVar("Found")
ANONYMOUS = Caller(bucket="anonymous", terms=STANDARD, origin="home")
STRANGER = Caller(bucket="stranger", terms=STANDARD, origin="elsewhere")
CONTEXT = ("context",)
REVIEWS = ("reviews",)


def proven(wallet: Wallet, tier: Tier) -> Caller:
    """A caller with a session of this wallet."""
    return Caller(
        bucket=wallet.name,
        terms=terms.tier_terms(tier),
        wallet=wallet.address,
        wallets=frozenset({wallet.address}),
        origin=wallet.name,
    )


def purchase_for(slug: str = "noma", fields: str = "context") -> Purchase:
    """What a request for these fields of a restaurant buys."""
    return Purchase.for_request(RequestFactory().get(f"/v1/restaurants/{slug}?fields={fields}"))


def buy(
    headers: Mapping[str, str],
    purchase: Purchase | None = None,
    *,
    products: Sequence[str] = CONTEXT,
    caller: Caller = ANONYMOUS,
    receipt_token: str | None = None,
    now: datetime | None = None,
) -> Receipt:
    """Ask with these payment headers, as a view does when the answer is ready."""
    return checkout.collect(
        purchase or purchase_for(),
        products=products,
        caller=caller,
        proof=parse_proof(CaseInsensitiveMapping(headers)),
        receipt_token=receipt_token,
        now=now or timezone.now(),
    )


def refused(headers: Mapping[str, str], *args: Any, **rest: Any) -> ApiError:
    """The refusal of the same."""
    with pytest.raises(ApiError) as caught:
        buy(headers, *args, **rest)
    return caught.value


def reason(refusal: ApiError) -> Any:
    """The `reason` in the body of a 402."""
    assert refusal.body_override is not None
    return refusal.body_override.get("reason")


def quoted(purchase: Purchase | None = None, **rest: Any) -> Decimal:
    """The amount of a plain transfer that the `x402` header asks this caller for."""
    return Decimal(json.loads(refused({}, purchase, **rest).headers["x402"])["amount"])


def is_quote_of(price: str, amount: str) -> bool:
    """Whether this is an amount that names a quote of this price (payments/x402/quotes.py)."""
    return Decimal(price) < Decimal(amount) <= Decimal(price) + Decimal("0.000999")


def client_of(wallet: Wallet) -> x402ClientSync:
    """The official client with the key of this wallet."""
    client = x402ClientSync()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(wallet.private_key)))
    return client


def paid_by(
    wallet: Wallet,
    purchase: Purchase | None = None,
    *,
    products: Sequence[str] = CONTEXT,
    caller: Caller = ANONYMOUS,
    version: int = 2,
) -> Mapping[str, str]:
    """The header that pays what a request without payment is asked for."""
    response = error_response(refused({}, purchase, products=products, caller=caller), RequestFactory().get("/"))
    read = dict(response.headers) if version == 2 else {}
    headers, _ = x402HTTPClientSync(client_of(wallet)).handle_402_response(read, response.content, purchase_for().url)
    return headers


def signed_by(wallet: Wallet, *, value: int = 2000, **asked_for: Any) -> dict[str, str]:
    """The header that pays so many millionths, signed for a requirement that differs from ours in what is named."""
    required = build_requirement(value).model_copy(update=asked_for)
    client = client_of(wallet)
    # By default it refuses to sign much of this.
    client.set_spend_controls(False)
    payload = client.create_payment_payload(PaymentRequired(accepts=[required]))
    return {"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}


def read(headers: Mapping[str, str]) -> Any:
    """The JSON of the payment in this header."""
    (text,) = headers.values()
    return json.loads(text if text.startswith("{") else base64.b64decode(text))


def tampered(headers: Mapping[str, str], *, accepted: Mapping[str, Any] | None = None, **authorization: Any) -> Any:
    """The same payment with other words than those that were signed."""
    payment = read(headers)
    payment["accepted"].update(accepted or {})
    payment["payload"]["authorization"].update(authorization)
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


def with_quote(headers: Mapping[str, str]) -> Any:
    """The same payment with the secret of a 402, which lets its payer repeat it from any address."""
    return tampered(headers, accepted={"extra": {"name": "USDC", "version": "2", "quote": secrets.token_urlsafe(16)}})


def resigned(
    wallet: Wallet, headers: Mapping[str, str], *, value: int, to: str | None = None, valid_after: int = 0
) -> dict[str, str]:
    """Another payment with the nonce of this one, signed as well."""
    payment = read(headers)
    authorization = payment["payload"]["authorization"]
    authorization.update({"value": str(value), "to": to or authorization["to"], "validAfter": str(valid_after)})
    *_, v, r, s = authorize(
        wallet,
        to=authorization["to"].lower(),
        value=value,
        nonce=bytes.fromhex(authorization["nonce"][2:]),
        valid_after=valid_after,
        valid_before=int(authorization["validBefore"]),
    )
    assert isinstance(v, int)
    payment["payload"]["signature"] = "0x" + (evm.encode_word(r) + evm.encode_word(s) + bytes([v])).hex()
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


def abandoned(headers: Mapping[str, str], *, ago: timedelta = timedelta(seconds=20)) -> Payment:
    """The line of a process that claimed this payment and died before it asked the facilitator."""
    signed = parse_proof(CaseInsensitiveMapping(headers))
    assert isinstance(signed, Authorization)
    then = timezone.now() - ago
    sale = Sale(
        purchase=purchase_for(),
        prices=price_list.load_price_list(CONTEXT, now=timezone.now()),
        caller=ANONYMOUS,
        now=timezone.now(),
    )
    row = new_claim(sale, signed, tier=FREE, account=None)
    row.created_at = row.claimed_at = then
    row.save(force_insert=True)
    return row


def settled_by_third_party(headers: Mapping[str, str]) -> str:
    """Have the payment settled past us, and return the transaction."""
    signed = parse_proof(headers)
    assert isinstance(signed, Authorization)
    outcome = facilitator_client.settle(
        payload=to_payload(signed),
        requirement=build_requirement(signed.value),
        resource=build_resource(purchase_for()),
        payer=signed.payer,
    )
    assert isinstance(outcome, facilitator_client.Settled)
    return str(outcome.transaction)


def aged(by: timedelta = timedelta(seconds=20)) -> None:
    """All that is open was claimed and made a while ago."""
    then = timezone.now() - by
    Payment.objects.update(claimed_at=then, created_at=then)


def at_once(times: int, call: Callable[[], Found]) -> list[Found | ApiError]:
    """What each of so many threads gets, a refusal among it, when all of them call at the same moment."""
    ready = Barrier(times)

    def run(_: int) -> Found | ApiError:
        ready.wait()
        try:
            return call()
        except ApiError as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(run, range(times)))
