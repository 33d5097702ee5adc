"""Who calls the data API, and on which tier."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.conf import settings
from django.db.models import Exists
from django.http import HttpRequest
from rest_framework.request import Request

from config.api.limits import address_bucket
from payments import holdings, sessions, terms, wire
from payments.models import Payment, Wallet
from payments.networks import ours
from payments.rpc import RpcUnavailable
from payments.terms import STANDARD, Terms
from payments.tiers import FREE, Tier

# An authorization that is good for longer than any payment needs would be a password, not a payment.
LONGEST_PAYMENT_S = 3600


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who calls: `bucket` is what their rate counts on, `terms` what they are served on.

    `wallet` is the address that they have proven, by a session, a signed challenge, or as the first of those that are
    linked to the account of their key; `wallets` are all of these. `account` is that of their key.
    """

    bucket: str
    terms: Terms
    wallet: str | None = None
    wallets: frozenset[str] = frozenset()
    account: int | None = None

    @property
    def tier(self) -> Tier:
        """Their tier."""
        return self.terms.tier

    @property
    def is_known(self) -> bool:
        """Whether they have proven who they are: then they are quoted what their terms say."""
        return self.wallet is not None or self.account is not None

    def vouches_for(self, payer: str) -> bool:
        """Whether their terms hold for payments of this wallet: their own, or any if their account has a plan."""
        return payer in self.wallets or (self.account is not None and self.terms.plan is not None)


def identify(request: HttpRequest, *, now: datetime) -> Caller:
    """The caller behind a request: a wallet by its session, else a known one by its payment, else the address, free.

    One query for a session, one for a signed payment, none otherwise; a session whose tier is not believed any more
    costs a trip to the chain. Raises accounts.authentication.Unauthorized for the token of no session.
    """
    token = bearer(request)
    # Whatever else stands there is a credential of others, and the free tier needs none.
    if token is not None and token.startswith("ws_"):
        return of_session(request, token, now=now)
    payment = payment_of(request, now=now)
    wallet = payer_of(payment, now=now) if payment else None
    if wallet is not None and holdings.is_believed(wallet, now=now):
        agreed = terms.of_wallet(wallet)
        if agreed.tier > FREE:
            return Caller(bucket=payment_bucket(wallet, request), terms=agreed)
    return anonymous(request)


def anonymous(request: HttpRequest) -> Caller:
    """The address on the free tier."""
    return Caller(bucket=address_bucket(request), terms=STANDARD)


def of_session(request: HttpRequest, token: str, *, now: datetime) -> Caller:
    """The wallet that opened the session; on the free tier while nothing is known of what it holds."""
    wallet = sessions.of_token(token, now=now).wallet
    try:
        agreed = holdings.terms_now(wallet, now=now)
    except RpcUnavailable:
        agreed = STANDARD
    # Wallets cost nothing: those on the free tier share what their address has.
    bucket = wallet_bucket(wallet) if agreed.tier > FREE else address_bucket(request)
    return Caller(bucket=bucket, terms=agreed, wallet=wallet.address, wallets=frozenset({wallet.address}))


def caller_of(request: HttpRequest | Request) -> Caller:
    """The caller whom the doorway has found (payments.limits)."""
    return cast("Caller", request.caller)  # type: ignore[union-attr]


def bearer(request: HttpRequest | Request) -> str | None:
    """What stands behind `Authorization: Bearer`, None without it."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def payment_of(request: HttpRequest, *, now: datetime) -> wire.Authorization | None:
    """The payment that came along, where it could pay us now and its payer has signed it, told without the chain."""
    try:
        payment = wire.proof(request.headers)
    except wire.InvalidPayment:
        # On a free request a payment header means nothing; the others will refuse it themselves.
        return None
    if not isinstance(payment, wire.Authorization):
        return None
    if (payment.network, payment.to) != (ours().caip2, settings.PAY_TO):
        return None
    moment = int(now.timestamp())
    if not payment.valid_after <= moment < payment.valid_before <= moment + LONGEST_PAYMENT_S:
        return None
    return payment if payment.is_signed() else None


def payer_of(payment: wire.Authorization, *, now: datetime) -> Wallet | None:
    """What is known of its payer, with its plan; None also when it is in the ledger, where everybody can read it."""
    spent = Payment.objects.filter(network=payment.network, proof_key=payment.proof_key)
    return Wallet.objects.with_plan(now).filter(~Exists(spent), pk=payment.payer).first()


def wallet_bucket(wallet: Wallet) -> str:
    """The bucket of a wallet that has proven itself, wherever it calls from."""
    return hashlib.sha256(wallet.address.encode()).hexdigest()[:32]


def payment_bucket(wallet: Wallet, request: HttpRequest) -> str:
    """The bucket of a payment that came from this address: its payer does not bear what others do with a copy."""
    return hashlib.sha256(f"{wallet.address} {address_bucket(request)}".encode()).hexdigest()[:32]
