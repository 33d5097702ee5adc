"""Who calls the data API, and on which tier: a session, a signed challenge, a key, a payment, or nobody."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, cast
from uuid import UUID

from cachetools import TLRUCache
from django.conf import settings
from django.db.models import Exists
from django.http import HttpRequest
from rest_framework.request import Request

from accounts.api_keys import authentication
from accounts.api_keys.authentication import CHALLENGE, Unauthorized
from accounts.api_keys.cache import api_key_cache
from accounts.models import ApiKey
from framework.api.rate_limits.client_ip import address_bucket, client_ip
from framework.errors import ApiError, ErrorCode, InvalidRequest
from payments import x402
from payments.chain.networks import payment_network
from payments.chain.rpc import RpcUnavailable
from payments.identity import challenge_verification, queries, sessions, siwx
from payments.models import Payment, Wallet
from payments.tiers import holdings, terms
from payments.tiers.definitions import FREE, Tier
from payments.tiers.terms import STANDARD, Terms

# An authorization that is good for longer than any payment needs would be a password, not a payment.
LONGEST_PAYMENT_S = 3600


class By(StrEnum):
    """What a caller is recognised by."""

    SESSION = "session"
    CHALLENGE = "challenge"
    KEY = "key"
    PAYMENT = "payment"
    NOBODY = "nobody"


class UnreadableSignIn(ApiError):
    """The signed challenge cannot be read, or is none of ours: like any wrong credential it lets nobody in."""

    code = ErrorCode.INVALID_CREDENTIALS


class TwoWallets(InvalidRequest):
    """The session is of one wallet, and another has signed the challenge."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who calls: `bucket` is what their rate counts on, `terms` what they are served on.

    `wallet` is the address that they have proven, by a session, a signed challenge, or as the best of those that are
    linked to the account of their key; `wallets` are all of these, in small letters. `account` is that of their key.
    `by_account` is what the plan of that account says, which they lend to whichever wallet pays. `proven` has signed
    a challenge for this very request. `known` is what was read of their wallets.
    """

    bucket: str
    terms: Terms
    wallet: str | None = None
    wallets: frozenset[str] = frozenset()
    account: UUID | None = None
    by: By = By.NOBODY
    key: ApiKey | None = None
    by_account: Terms | None = None
    proven: str | None = None
    known: tuple[Wallet, ...] = ()

    @property
    def tier(self) -> Tier:
        """Their tier."""
        return self.terms.tier

    @property
    def is_known(self) -> bool:
        """Whether they have proven who they are: then they are quoted what their terms say."""
        return self.wallet is not None or self.account is not None

    def terms_for(self, payer: str | None) -> Terms | None:
        """Which of their terms hold for payments of this wallet, None where none do.

        The best for one of theirs, or before it is known who pays; for any other those of their account's plan.
        """
        if payer in self.wallets or (payer is None and self.is_known):
            return self.terms
        return self.by_account


# The callers behind keys, looked up once a second: what staff agree on and what a wallet holds shows within a second,
# and at once where a tier is not cached for so long. Each call still checks the key (accounts.api_keys.cache).
CALLER_TTL_S = 1.0
cached_callers: TLRUCache[UUID, Caller] = TLRUCache(
    10_000, ttu=lambda _key, _caller, now: now + min(CALLER_TTL_S, settings.TIER_CACHE_S)
)
callers_lock = threading.Lock()


def identify(request: HttpRequest, *, meta: Mapping[str, Any] | None = None, now: datetime) -> Caller:
    """The caller behind a request: a wallet by its session or by a challenge that it has signed for this request, an
    account by its key, else a known wallet by its payment, else the address, free. `meta` is where the payment of a
    message of MCP stands; its headers hold none.

    One query for a session or a signed payment, two for a challenge, of which one writes, and for a key one a second
    beside those of the key cache; else none. A tier that is not believed any more costs a trip to the chain, and so
    does the signature of a contract wallet. Raises Unauthorized and UnreadableSignIn for a wrong, ended or used
    credential, TwoWallets, and RpcUnavailable where a contract cannot be asked.
    """
    if request.META.get("HTTP_AUTHORIZATION") == "":
        # What the web server leaves of a credential that is not ASCII.
        raise Unauthorized("The Authorization header is empty, or not written in ASCII.")
    token = bearer(request) or ""
    header = request.META.get("HTTP_SIGN_IN_WITH_X")
    # What cannot be read is refused before anything is spent.
    sign_in = None if header is None else signed_by(header, now=now)
    if token.startswith("ws_"):
        return of_session(request, token, sign_in, now=now)
    if token.startswith("rk_"):
        return of_key(request, sign_in, now=now)
    # Whatever else stands there is a credential of others, and the free tier needs none.
    if sign_in is not None:
        wallet = holdings.find(challenge_verification.prove(sign_in), now=now)
        return of_wallet(request, wallet, by=By.CHALLENGE, proven=wallet.address, now=now)
    return of_payment(request, meta=meta, now=now) or anonymous(request)


def signed_by(header: str, *, now: datetime) -> siwx.SignIn:
    """The signed challenge in this header. Raises UnreadableSignIn."""
    try:
        return siwx.of_header(header, now=now)
    except siwx.WrongSignIn as refusal:
        raise UnreadableSignIn(refusal.message, param=refusal.param, headers=CHALLENGE) from refusal


def anonymous(request: HttpRequest) -> Caller:
    """The address on the free tier."""
    return Caller(bucket=address_bucket(request), terms=STANDARD)


def of_session(request: HttpRequest, token: str, sign_in: siwx.SignIn | None, *, now: datetime) -> Caller:
    """The wallet that opened the session. Raises Unauthorized, and TwoWallets where another has signed."""
    wallet = sessions.of_token(token, now=now).wallet
    if sign_in is None:
        return of_wallet(request, wallet, by=By.SESSION, now=now)
    if sign_in.address != wallet.address:
        raise TwoWallets("The session and the signed challenge are of different wallets.", param=siwx.HEADER)
    return of_wallet(request, wallet, by=By.SESSION, proven=challenge_verification.prove(sign_in), now=now)


def of_wallet(request: HttpRequest, wallet: Wallet, *, by: By, proven: str | None = None, now: datetime) -> Caller:
    """A wallet that was found `with_plan`; on the free tier while nothing is known of what it holds."""
    try:
        agreed = holdings.terms_now(wallet, now=now)
    except RpcUnavailable:
        agreed = STANDARD
    return Caller(
        # Wallets cost nothing: those on the free tier share what their address has.
        bucket=wallet_bucket(wallet) if agreed.tier > FREE else address_bucket(request),
        terms=agreed,
        wallet=wallet.address,
        wallets=frozenset({wallet.address}),
        by=by,
        proven=proven,
        known=(wallet,),
    )


def of_key(request: HttpRequest, sign_in: siwx.SignIn | None, *, now: datetime) -> Caller:
    """The account of an API key, on the best terms among those of its plan and of its wallets.

    A wallet that has signed for this request counts as one of them. Raises Unauthorized.
    """
    key = authentication.authenticate_request(request, now=now, find=api_key_cache.find_shared)
    api_key_cache.record_use(key, now=now, address=partial(client_ip, request))
    if sign_in is not None:
        return of_account(key, proven=challenge_verification.prove(sign_in), now=now)
    with callers_lock:
        caller = cached_callers.get(key.pk)
    if caller is None:
        caller = of_account(key, now=now)
        with callers_lock:
            cached_callers[key.pk] = caller
    return caller


def of_account(key: ApiKey, *, proven: str | None = None, now: datetime) -> Caller:
    """The account of the key, by its wallets and its plan as they stand now.

    One query, another for a wallet that has `proven` itself, and what `holdings.current_of_each` costs.
    """
    account = key.venue.account_id
    linked, plan = queries.of_account(account, now=now)
    if proven and proven not in {wallet.address for wallet in linked}:
        linked.append(holdings.find(proven, now=now))
    by_account = terms.by_plan(plan, tier=FREE) if plan else None
    # Of equals the one whose address comes first, so that no two requests differ.
    wallets = sorted(
        holdings.current_of_each(linked, now=now),
        key=lambda wallet: (-terms.of_wallet(wallet).tier.rank, wallet.address),
    )
    return Caller(
        bucket=account_bucket(account),
        terms=terms.best([by_account or STANDARD, *map(terms.of_wallet, wallets)]),
        wallet=wallets[0].address if wallets else None,
        wallets=frozenset(wallet.address for wallet in wallets),
        account=account,
        by=By.KEY,
        key=key,
        by_account=by_account,
        proven=proven,
        known=tuple(wallets),
    )


def of_payment(request: HttpRequest, *, meta: Mapping[str, Any] | None, now: datetime) -> Caller | None:
    """The tier of who has signed the payment that came along, where that is above free and known without the chain.

    Anybody may hold a copy of a payment, so it gives tier and rate, and nothing else of what its payer has agreed on.
    """
    payment = payment_of(request, meta=meta, now=now)
    wallet = payer_of(payment, now=now) if payment else None
    if wallet is None:
        return None
    believed = holdings.is_believed(wallet, now=now)
    agreed = terms.of_wallet(wallet) if believed else terms.without_holding(wallet)
    if agreed.tier == FREE:
        return None
    told = Terms(tier=agreed.tier, per_minute=agreed.per_minute)
    return Caller(bucket=payment_bucket(wallet, request), terms=told, by=By.PAYMENT)


def caller_of(request: HttpRequest | Request) -> Caller:
    """The caller whom the doorway has found (payments.rate_limits)."""
    return cast("Caller", request.caller)  # type: ignore[union-attr]


def name_of(request: HttpRequest) -> str:
    """Who calls, in a word: a wallet, an account, or no word for nobody, whose address may change."""
    caller = caller_of(request)
    return caller.wallet or str(caller.account or "")


def bearer(request: HttpRequest | Request) -> str | None:
    """What stands behind `Authorization: Bearer`, None without it."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def payment_of(request: HttpRequest, *, meta: Mapping[str, Any] | None, now: datetime) -> x402.Authorization | None:
    """The payment that came along, where it could pay us now and its payer has signed it, told without the chain."""
    try:
        payment = x402.parse_proof(request.headers) if meta is None else x402.parse_mcp_proof(meta)
    except x402.InvalidPayment:
        # On a free request a payment header means nothing; the others will refuse it themselves.
        return None
    if not isinstance(payment, x402.Authorization):
        return None
    if (payment.network, payment.to) != (payment_network().caip2, settings.PAY_TO):
        return None
    moment = int(now.timestamp())
    if not payment.valid_after <= moment < payment.valid_before <= moment + LONGEST_PAYMENT_S:
        return None
    return payment if payment.is_signed() else None


def payer_of(payment: x402.Authorization, *, now: datetime) -> Wallet | None:
    """What is known of its payer, with its plan; None also when it is in the ledger, where everybody can read it."""
    spent = Payment.objects.filter(network=payment.network, proof_key=payment.proof_key)
    return Wallet.objects.with_plan(now).filter(~Exists(spent), pk=payment.payer).first()


def wallet_bucket(wallet: Wallet) -> str:
    """The bucket of a wallet that has proven itself, wherever it calls from."""
    return hashlib.sha256(wallet.address.encode()).hexdigest()[:32]


def account_bucket(account: UUID) -> str:
    """The bucket of all keys of an account."""
    return hashlib.sha256(f"account {account}".encode()).hexdigest()[:32]


def payment_bucket(wallet: Wallet, request: HttpRequest) -> str:
    """The bucket of a payment that came from this address: its payer does not bear what others do with a copy."""
    return hashlib.sha256(f"{wallet.address} {address_bucket(request)}".encode()).hexdigest()[:32]
