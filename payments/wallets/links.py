"""Links wallets to an account, so that its API keys have their terms."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.api_keys.authentication import MissingCredentials
from accounts.api_keys.permissions import InsufficientScope
from accounts.models import Account
from accounts.models.api_keys import default_scopes
from framework.errors import InvalidRequest, NotFound
from payments.chain.rpc import RpcUnavailable
from payments.identity.caller import Caller
from payments.models import Wallet
from payments.tiers import holdings

# All wallets are read in one trip to the chain; nodes limit the size of a batch.
MAX_WALLETS = 10
HAS_NO_LIMIT = Q(account=None) | Q(account__billing__monthly_limit_usdc=None)


class TooManyWallets(InvalidRequest):
    """The account has MAX_WALLETS wallets."""


class WalletLinkedElsewhere(InvalidRequest):
    """The wallet is linked to another account."""


class AccountHasLimit(InvalidRequest):
    """The wallet's account has a spending limit: the wallet itself could leave it to pay more."""

    def __init__(self) -> None:
        super().__init__(
            "The account of this wallet has a spending limit: unlink the wallet with an API key of that account, or on"
            " its dashboard."
        )


def list_wallets(caller: Caller) -> Sequence[Wallet]:
    """Return the wallets of the caller's account, or the proven wallet; best first. Raises MissingCredentials."""
    if not caller.is_identified:
        raise MissingCredentials("Send an API key of your account or the token of a wallet session.")
    return [wallet for wallet in caller.loaded_wallets if caller.account in (None, wallet.account_id)]


def authorize_account(caller: Caller) -> UUID:
    """Return the account whose links the caller may change. Raises MissingCredentials and InsufficientScope.

    Wallets can sign in for the account, so the key must have at least the scopes that keys have by default.
    """
    if caller.key is None:
        raise MissingCredentials("Send an API key of the account: `Authorization: Bearer <API_KEY>`.")
    for scope in default_scopes():
        if scope not in caller.key.scopes:
            raise InsufficientScope(scope)
    return caller.key.venue.account_id


def link_wallet(address: str, *, account: UUID, now: datetime) -> tuple[Wallet, bool]:
    """Link a proven wallet to this account, also if it is linked to another one, and read its holdings.

    Return the wallet, and whether it was not linked to this account before. The holdings are read after the
    transaction, unless they are fresh. Raises TooManyWallets.
    """
    is_new = attach_wallet(address, account=account, can_move=True)
    return refresh_if_available(address, now=now), is_new


@transaction.atomic
def attach_wallet(address: str, *, account: UUID, can_move: bool) -> bool:
    """Link a proven wallet; return whether it was not linked to this account before. Four statements.

    The account's row is locked, so that concurrent calls respect MAX_WALLETS. A wallet of another account moves if
    `can_move` and that account has no spending limit: one UPDATE, so that of two accounts the last one has it. Raises
    TooManyWallets, WalletLinkedElsewhere and AccountHasLimit.
    """
    Account.objects.select_for_update(no_key=True).get(pk=account)
    linked = set(Wallet.objects.filter(account=account).values_list("address", flat=True))
    if len(linked - {address}) >= MAX_WALLETS:
        raise TooManyWallets(f"An account has at most {MAX_WALLETS} wallets: unlink one of them first.")
    Wallet.objects.bulk_create([Wallet(address=address)], ignore_conflicts=True)
    others = HAS_NO_LIMIT if can_move else Q(account=None)
    if not Wallet.objects.filter(others | Q(account=account), pk=address).update(account=account):
        if can_move:
            raise AccountHasLimit
        raise WalletLinkedElsewhere("This wallet is linked to another account. It has to be unlinked there first.")
    return address not in linked


def refresh_if_available(address: str, *, now: datetime) -> Wallet:
    """Return the refreshed wallet, or the last reading while the chain is not available."""
    wallet = holdings.find_wallet(address, now=now)
    try:
        return holdings.refresh_wallet(wallet, now=now)
    except RpcUnavailable:
        return wallet


def unlink_wallet(address: str, *, caller: Caller) -> None:
    """Unlink a wallet; a key of its account may do so, and the wallet itself if the account has no spending limit.

    One statement. Raises NotFound if it is not linked to the caller's account, AccountHasLimit, and as
    `authorize_account`.
    """
    # The wallet of a key's or an app's caller is one of the account's, and has proven nothing.
    proven = caller.challenge_wallet if caller.account else caller.wallet
    linked = Wallet.objects.filter(pk=address, account__isnull=False)
    if address == proven:
        allowed = linked.filter(HAS_NO_LIMIT)
    else:
        allowed = linked.filter(account=authorize_account(caller)) if caller.key or proven is None else linked.none()
    if not allowed.update(account=None):
        if address == proven and linked.exists():
            raise AccountHasLimit
        raise NotFound("There is no such linked wallet.")


def detach_wallet(address: str, *, account: UUID) -> None:
    """Unlink a wallet of this account. One statement. Raises NotFound."""
    if not Wallet.objects.filter(pk=address, account=account).update(account=None):
        raise NotFound("There is no such linked wallet.")
