"""Identifies the caller of the data API and their tier: by session, signed challenge, API key, payment or address."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, cast
from uuid import UUID

from cachetools import TLRUCache, cached
from django.conf import settings
from django.db.models import Exists
from django.http import HttpRequest
from rest_framework.request import Request

from accounts.api_keys import authentication
from accounts.api_keys.authentication import CHALLENGE, Unauthorized, bearer_token
from accounts.api_keys.cache import api_key_cache
from accounts.models import Account, ApiKey
from accounts.oauth import access as oauth
from accounts.oauth.resources import Resource
from framework.api.rate_limits.client_ip import address_bucket, client_ip
from framework.errors import ApiError, ErrorCode, InvalidRequest
from payments.chain.networks import payment_network
from payments.chain.rpc import RpcUnavailable
from payments.identity import sessions, siwx
from payments.identity.siwx import verify_and_spend
from payments.models import Payment, Plan, Wallet
from payments.tiers import holdings, terms
from payments.tiers.definitions import FREE, Tier
from payments.tiers.terms import STANDARD, Terms
from payments.x402.proofs import Authorization, InvalidPayment, parse_mcp_proof, parse_proof

# A payment that is valid for longer than any settlement needs could be reused like a password.
MAX_PAYMENT_VALIDITY_S = 3600
# A settled payment shows for so long that a payer's signed payments are meant to be settled.
PAYER_KNOWN_FOR = timedelta(hours=1)


class IdentifiedBy(StrEnum):
    """The credential that identified a caller."""

    SESSION = "session"
    CHALLENGE = "challenge"
    KEY = "key"
    APP = "app"
    PAYMENT = "payment"
    ANONYMOUS = "anonymous"


class MalformedSignIn(ApiError):
    """The SIGN-IN-WITH-X header is malformed, or its challenge is not ours."""

    code = ErrorCode.INVALID_CREDENTIALS


class KeyWithoutDataAccess(Unauthorized):
    """The key was created by a member of some restaurants, and the data API is of the account as a whole."""

    code = ErrorCode.INSUFFICIENT_SCOPE


class WalletMismatch(InvalidRequest):
    """The session and the signed challenge are of different wallets."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller, the bucket of their rate limit and the terms that apply.

    `shared_bucket` is that of the network address. It is set for callers on the free tier without a plan, of which
    anybody can create many: a wallet, and an account of which no owner has confirmed an email address. `origin` is the
    account of the API key or the app, or the network address of any other caller, hashed.
    `wallet` is the wallet of the session or the challenge, or the linked wallet of the account with the highest
    tier; `wallets` are all of these, in lower case. `account` is the account of the API key or the app, and
    `account_terms` the terms of its plan, which apply to any wallet that pays. `challenge_wallet` has signed a
    challenge for this request.
    """

    bucket: str
    terms: Terms
    wallet: str | None = None
    wallets: frozenset[str] = frozenset()
    account: UUID | None = None
    identified_by: IdentifiedBy = IdentifiedBy.ANONYMOUS
    key: ApiKey | None = None
    account_terms: Terms | None = None
    challenge_wallet: str | None = None
    loaded_wallets: tuple[Wallet, ...] = ()
    origin: str = ""
    shared_bucket: str = ""

    @property
    def tier(self) -> Tier:
        return self.terms.tier

    @property
    def is_identified(self) -> bool:
        """Whether a wallet or an account is proven: then prices are quoted on its terms."""
        return self.wallet is not None or self.account is not None

    def terms_for(self, payer: str | None) -> Terms | None:
        """Return the terms for payments by this wallet, or by a payer that is not known yet; None if none apply.

        For a wallet that is not the caller's these are the terms of the account's plan.
        """
        if payer in self.wallets or (payer is None and self.is_identified):
            return self.terms
        return self.account_terms


# Callers by API key and address, for one second: changes of plans and holdings apply within a second, and at once
# where tiers are cached for less. Each request still verifies the key (accounts.api_keys.cache).
CALLER_TTL_S = 1.0
cached_callers: TLRUCache[tuple[UUID, str], Caller] = TLRUCache(
    10_000, ttu=lambda _key, _caller, now: now + min(CALLER_TTL_S, settings.TIER_CACHE_S)
)


def identify_caller(request: HttpRequest, *, meta: Mapping[str, Any] | None = None, now: datetime) -> Caller:
    """Identify the caller by session, API key, app, signed challenge, payment or address, in this order.

    `meta` holds the payment of an MCP message. Cost: one query for a session or a payment, two for a challenge, one to
    three a second for a key, four to six for an app; a trip to the chain for a tier that is not fresh and for the
    signature of a contract wallet. Raises Unauthorized and MalformedSignIn for a wrong, expired or used credential,
    WalletMismatch, and RpcUnavailable if a contract wallet cannot be asked.
    """
    if request.META.get("HTTP_AUTHORIZATION") == "":
        # The web server passes on a header that is not ASCII as an empty one.
        raise Unauthorized("The Authorization header is empty, or not written in ASCII.")
    token = bearer_token(request) or ""
    header = request.META.get("HTTP_SIGN_IN_WITH_X")
    # A malformed header is refused before any challenge is spent.
    try:
        sign_in = None if header is None else siwx.parse_header(header, now=now)
    except siwx.InvalidSignIn as refusal:
        raise MalformedSignIn(refusal.message, param=refusal.param, headers=CHALLENGE) from refusal
    if token.startswith("ws_"):
        return identify_by_session(request, token, sign_in, now=now)
    if token.startswith("rk_"):
        return identify_by_api_key(request, sign_in, now=now)
    if oauth.is_access_token(token):
        return identify_by_app(request, token, sign_in, now=now)
    # Any other token is a credential for another service; the free tier needs none.
    if sign_in is not None:
        wallet = holdings.find_wallet(verify_and_spend(sign_in), now=now)
        challenge = IdentifiedBy.CHALLENGE
        return wallet_caller(request, wallet, identified_by=challenge, challenge_wallet=wallet.address, now=now)
    return identify_by_payment(request, meta=meta, now=now) or anonymous_caller(request)


def anonymous_caller(request: HttpRequest) -> Caller:
    address = address_bucket(request)
    return Caller(bucket=address, terms=STANDARD, origin=address)


def identify_by_session(request: HttpRequest, token: str, sign_in: siwx.SignIn | None, *, now: datetime) -> Caller:
    """Return the wallet of the session. Raises Unauthorized, and WalletMismatch if another wallet has signed."""
    wallet = sessions.find_session(token, now=now).wallet
    if sign_in is not None and sign_in.address != wallet.address:
        raise WalletMismatch("The session and the signed challenge are of different wallets.", param=siwx.HEADER)
    challenge_wallet = verify_and_spend(sign_in) if sign_in else None
    return wallet_caller(
        request, wallet, identified_by=IdentifiedBy.SESSION, challenge_wallet=challenge_wallet, now=now
    )


def wallet_caller(
    request: HttpRequest,
    wallet: Wallet,
    *,
    identified_by: IdentifiedBy,
    challenge_wallet: str | None = None,
    now: datetime,
) -> Caller:
    """Return the caller for a wallet that was loaded `with_plan`; on the free tier if its holdings are unknown."""
    try:
        agreed = holdings.refresh_terms(wallet, now=now)
    except RpcUnavailable:
        agreed = STANDARD
    origin = address_bucket(request)
    return Caller(
        bucket=_hash_bucket(wallet.address),
        # Anybody can create wallets: those on the free tier have a limit together, too.
        shared_bucket="" if agreed.tier > FREE or agreed.plan else origin,
        terms=agreed,
        wallet=wallet.address,
        wallets=frozenset({wallet.address}),
        identified_by=identified_by,
        challenge_wallet=challenge_wallet,
        loaded_wallets=(wallet,),
        origin=origin,
    )


def identify_by_api_key(request: HttpRequest, sign_in: siwx.SignIn | None, *, now: datetime) -> Caller:
    """Return the account of an API key, on the best terms of its plan and its wallets.

    Raises Unauthorized, KeyWithoutDataAccess.

    A wallet that has signed a challenge for this request counts as one of them.
    """
    key = authentication.authenticate_request(request, now=now, find=api_key_cache.find_shared)
    if not key.has_data_access:
        raise KeyWithoutDataAccess(
            "This API key is for the management API only: a member who does not manage all restaurants of the account"
            " has created it."
        )
    api_key_cache.record_use(key, now=now, address=partial(client_ip, request))
    address = address_bucket(request)
    if sign_in is not None:
        wallet = verify_and_spend(sign_in)
        return account_caller(key.venue.account_id, key=key, address=address, challenge_wallet=wallet, now=now)
    return shared_account_caller(key, address=address, now=now)


def identify_by_app(request: HttpRequest, token: str, sign_in: siwx.SignIn | None, *, now: datetime) -> Caller:
    """Return the person of an app's access token, on the best terms of the account's plan and wallets.

    The person has a rate limit of their own: colleagues do not share it. Raises Unauthorized.
    """
    resource = Resource.MCP if request.path_info.startswith("/mcp") else Resource.DATA
    path = request.path_info.rstrip("/") if resource == Resource.MCP else "/v1"
    access = oauth.find_access(token, resource=resource, path=path, now=now)
    oauth.check_data_access(access, path=path)
    access.grant.record_use(now=now)
    challenge_wallet = verify_and_spend(sign_in) if sign_in else None
    address = address_bucket(request)
    caller = account_caller(access.grant.account_id, address=address, challenge_wallet=challenge_wallet, now=now)
    return replace(
        caller,
        bucket=_hash_bucket(f"subject {access.grant.account_id} {access.grant.user_id}"),
        identified_by=IdentifiedBy.APP,
    )


@cached(cached_callers, key=lambda key, address, now: (key.pk, address), lock=threading.Lock())
def shared_account_caller(key: ApiKey, *, address: str, now: datetime) -> Caller:
    return account_caller(key.venue.account_id, key=key, address=address, now=now)


def account_caller(
    account: UUID, *, address: str, key: ApiKey | None = None, challenge_wallet: str | None = None, now: datetime
) -> Caller:
    """Return the caller for an account, and its key if that is the credential, by its current wallets and plan.

    `address` is the bucket of the network address. One query, two without a linked wallet, another for
    `challenge_wallet` if it is not linked, another on the free tier without a plan, and the cost of
    `holdings.refresh_wallets`.
    """
    linked = list(Wallet.objects.with_plan(now).filter(account=account))
    plan = linked[0].account_plan if linked else Plan.objects.current(now).filter(account=account).first()
    if challenge_wallet and challenge_wallet not in {wallet.address for wallet in linked}:
        linked.append(holdings.find_wallet(challenge_wallet, now=now))
    account_terms = terms.apply_plans(plan, tier=FREE) if plan else None
    # By address within a tier, so that all requests choose the same wallet.
    wallets = sorted(
        holdings.refresh_wallets(linked, now=now),
        key=lambda wallet: (-terms.wallet_terms(wallet).tier.rank, wallet.address),
    )
    agreed = terms.best_terms([account_terms or STANDARD, *map(terms.wallet_terms, wallets)])
    # Anybody can sign up, as anybody can create wallets.
    is_known = agreed.tier > FREE or account_terms is not None or Account(pk=account).is_confirmed()
    return Caller(
        bucket=account_bucket(account),
        shared_bucket="" if is_known else address,
        terms=agreed,
        wallet=wallets[0].address if wallets else None,
        wallets=frozenset(wallet.address for wallet in wallets),
        account=account,
        identified_by=IdentifiedBy.KEY,
        key=key,
        account_terms=account_terms,
        challenge_wallet=challenge_wallet,
        loaded_wallets=tuple(wallets),
        origin=account_bucket(account),
    )


def identify_by_payment(request: HttpRequest, *, meta: Mapping[str, Any] | None, now: datetime) -> Caller | None:
    """Return the payer of the request's signed payment, if its tier is above free and known without the chain.

    A signature costs nothing until it is settled: the payer must have had a payment settled at this address within
    PAYER_KNOWN_FOR. A payment can be copied, so it grants the tier and its rate only, and no other terms of the
    payer's plan.
    """
    payment = read_signed_payment(request, meta=meta, now=now)
    if payment is None:
        return None
    # A payment in the ledger is public: it identifies nobody any more.
    spent = Payment.objects.filter(network=payment.network, proof_key=payment.proof_key)
    origin = address_bucket(request)
    earned = Payment.objects.filter(
        payer=payment.payer, origin=origin, state__in=Payment.EARNED, created_at__gt=now - PAYER_KNOWN_FOR
    )
    wallet = Wallet.objects.with_plan(now).filter(~Exists(spent), Exists(earned), pk=payment.payer).first()
    if wallet is None:
        return None
    agreed = terms.wallet_terms(wallet) if holdings.is_fresh(wallet, now=now) else terms.plan_terms(wallet)
    if agreed.tier == FREE:
        return None
    return Caller(
        # By address too: copies of the payment that others send must not use up the payer's limit.
        bucket=_hash_bucket(f"{wallet.address} {origin}"),
        terms=Terms(tier=agreed.tier, per_minute=agreed.per_minute),
        identified_by=IdentifiedBy.PAYMENT,
        origin=origin,
    )


def caller_of(request: HttpRequest | Request) -> Caller:
    """Return the caller that the middleware has identified (payments.rate_limits)."""
    return cast("Caller", request.caller)  # type: ignore[union-attr]


def caller_name(request: HttpRequest) -> str:
    """Return the caller's wallet or account; empty for anonymous callers, whose address may change."""
    caller = caller_of(request)
    return caller.wallet or str(caller.account or "")


def read_signed_payment(
    request: HttpRequest, *, meta: Mapping[str, Any] | None, now: datetime
) -> Authorization | None:
    """Return the payment of the request if it is signed by its payer and could pay us now. Without chain access."""
    try:
        payment = parse_proof(request.headers) if meta is None else parse_mcp_proof(meta)
    except InvalidPayment:
        # A free request ignores its payment header; a paid one refuses it later.
        return None
    if not isinstance(payment, Authorization):
        return None
    if (payment.network, payment.to) != (payment_network().caip2, settings.PAY_TO):
        return None
    now_s = int(now.timestamp())
    if not payment.valid_after <= now_s < payment.valid_before <= now_s + MAX_PAYMENT_VALIDITY_S:
        return None
    return payment if payment.is_signed() else None


def account_bucket(account: UUID) -> str:
    return _hash_bucket(f"account {account}")


def _hash_bucket(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]
