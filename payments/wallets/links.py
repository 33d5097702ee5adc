"""Wallets that are linked to an account, so that its keys have what they lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.api_keys.authentication import MissingCredentials
from accounts.api_keys.permissions import InsufficientScope
from accounts.models import Account, all_scopes
from framework.errors import InvalidRequest, NotFound
from payments.chain.rpc import RpcUnavailable
from payments.identity.caller import Caller
from payments.models import Wallet
from payments.tiers import holdings

# All of them are read in one trip to the chain, of which nodes bound the size.
MOST = 10


class TooManyWallets(InvalidRequest):
    """The account has as many wallets as it may have."""


class WalletTaken(InvalidRequest):
    """The wallet is linked to another account, which keeps it."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A wallet of an account; `is_new` where it was not linked to it before."""

    wallet: Wallet
    is_new: bool


def of(caller: Caller) -> Sequence[Wallet]:
    """The wallets that are linked to the account of the caller's key, or the one that they have proven; best first.

    Raises MissingCredentials where they are nobody.
    """
    if not caller.is_known:
        raise MissingCredentials("Send an API key of your account or the token of a wallet session.")
    return [wallet for wallet in caller.known if caller.account in (None, wallet.account_id)]


def account_of(caller: Caller) -> UUID:
    """The account whose links this caller may change. Raises MissingCredentials and InsufficientScope.

    The wallets of an account speak for it, so a key that was issued for less has no say in which they are.
    """
    if caller.key is None:
        raise MissingCredentials("Send an API key of the account: `Authorization: Bearer <API_KEY>`.")
    for scope in all_scopes():
        if scope not in caller.key.scopes:
            raise InsufficientScope(scope)
    return caller.key.venue.account_id


def link(address: str, *, account: UUID, now: datetime) -> Linked:
    """Link a wallet that has proven itself; it leaves the account that it was linked to.

    One UPDATE moves it, so of two accounts at once the last has it and never both. The account's row is locked
    meanwhile, so that its wallets are counted true. Then its holding is read, for a trip to the chain where it is not
    believed; while the chain is away it is linked all the same. Raises TooManyWallets.
    """
    is_new = attach(address, account=account, takes_over=True)
    return Linked(wallet=as_read(address, now=now), is_new=is_new)


@transaction.atomic
def attach(address: str, *, account: UUID, takes_over: bool) -> bool:
    """Link a wallet that has proven itself; whether it was not linked to this account before. Four statements.

    One that is linked to another account moves where it `takes_over`, and stays there otherwise, by the condition of
    the UPDATE. Raises TooManyWallets and WalletTaken.
    """
    Account.objects.select_for_update(no_key=True).get(pk=account)
    theirs = set(Wallet.objects.filter(account=account).values_list("address", flat=True))
    if len(theirs - {address}) >= MOST:
        raise TooManyWallets(f"An account has at most {MOST} wallets: unlink one of them first.")
    Wallet.objects.bulk_create([Wallet(address=address)], ignore_conflicts=True)
    mine = Wallet.objects.filter(pk=address)
    if not takes_over:
        mine = mine.filter(Q(account=None) | Q(account=account))
    if not mine.update(account=account):
        raise WalletTaken("This wallet is linked to another account. It has to be unlinked there first.")
    return address not in theirs


def as_read(address: str, *, now: datetime) -> Wallet:
    """The wallet as it stands now, or as it was last read."""
    wallet = holdings.find(address, now=now)
    try:
        return holdings.current(wallet, now=now)
    except RpcUnavailable:
        return wallet


def unlink(address: str, *, caller: Caller) -> None:
    """End the link of this wallet: a key of its account may do so, and the wallet itself. One statement.

    Raises NotFound for what is not linked, or not to them, and what `account_of` raises.
    """
    theirs = Wallet.objects.filter(pk=address, account__isnull=False)
    itself = caller.proven if caller.key else caller.wallet
    if address != itself:
        theirs = theirs.filter(account=account_of(caller)) if caller.key or itself is None else theirs.none()
    if not theirs.update(account=None):
        raise NotFound("There is no such linked wallet.")


def detach(address: str, *, account: UUID) -> None:
    """End the link of one of the account's wallets. One statement. Raises NotFound for what is not linked to it."""
    if not Wallet.objects.filter(pk=address, account=account).update(account=None):
        raise NotFound("There is no such linked wallet.")
