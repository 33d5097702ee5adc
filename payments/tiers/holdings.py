"""The tier of a wallet, by what it holds on the chain and for how long it has held it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from payments.chain import reads
from payments.chain.rpc import RpcUnavailable
from payments.identity.queries import of_address
from payments.models import HoldingSnapshot, Payment, Wallet
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier, reached
from payments.tiers.terms import Rise, Terms

# For so long the last tier outlives a chain that cannot be read.
KEPT = timedelta(hours=24)


def find(address: str, *, now: datetime) -> Wallet:
    """The wallet at this address in small letters, with its plan; one without a row where none is known. One query."""
    return of_address(address, now=now) or Wallet(address=address)


def terms_of(address: str, *, now: datetime) -> Terms:
    """The terms of the wallet at this address, by its holding and its plan; see `terms_now`. One query more."""
    return terms_now(find(address, now=now), now=now)


def terms_now(wallet: Wallet, *, now: datetime) -> Terms:
    """The terms of a wallet that was found `with_plan`, by its holding now.

    No query while its last reading is believed, else as `current`. What a plan gives holds without the chain. A wallet
    costs nothing to make, so one that holds nothing gets no row, but for those that have paid before, which costs one
    query more. Raises RpcUnavailable.
    """
    try:
        return terms.of_wallet(current(wallet, now=now, is_remembered=not is_stranger(wallet)))
    except RpcUnavailable:
        agreed = terms.without_holding(wallet)
        if agreed.plan is None:
            raise
        return agreed


def current_of_each(wallets: Sequence[Wallet], *, now: datetime) -> Sequence[Wallet]:
    """The same wallets as they stand now, those that nothing is known of on the free tier while the chain is away.

    One trip to the chain for all whose last readings are not believed, and a transaction for each of them.
    """
    due = [wallet for wallet in wallets if not is_believed(wallet, now=now)]
    try:
        readings = read([wallet.address for wallet in due], now=now)
    except RpcUnavailable:
        for wallet in due:
            keep(wallet, now=now)
        return wallets
    for wallet, reading in zip(due, readings, strict=True):
        write(wallet, reading)
    return wallets


def of(address: str, *, now: datetime) -> Wallet:
    """The wallet at this address, in small letters, as it stands now; a row is made for it. See `current`."""
    return current(find(address, now=now), now=now)


def current(wallet: Wallet, *, now: datetime, is_remembered: bool = True) -> Wallet:
    """The same wallet as it stands now; what is not `is_remembered` gets a row only where there is a reason for one.

    Nothing while the last reading is believed, else one trip to the chain and a transaction of four statements. Raises
    RpcUnavailable while the chain is away and there is nothing to `keep`.
    """
    if is_believed(wallet, now=now):
        return wallet
    try:
        [reading] = read([wallet.address], now=now)
    except RpcUnavailable:
        if not keep(wallet, now=now):
            raise
        return wallet
    if is_remembered or reading.tier != FREE.name or has_paid(wallet.address):
        write(wallet, reading)
    return wallet


def keep(wallet: Wallet, *, now: datetime) -> bool:
    """Have a wallet that cannot be read keep its last tier, for 24 hours; False where there is none to keep.

    Nothing rises unseen, so it is promised nothing. Its row stays as it is.
    """
    wallet.rising_tier, wallet.rises_at = "", None
    if wallet.read_at is not None and wallet.read_at > now - KEPT:
        return True
    wallet.tier = FREE.name
    return False


def is_believed(wallet: Wallet, *, now: datetime) -> bool:
    """Whether the last reading is fresh enough to need no other: not beyond the moment at which its tier may rise."""
    if wallet.read_at is None or wallet.read_at <= now - timedelta(seconds=settings.TIER_CACHE_S):
        return False
    return wallet.rises_at is None or now < wallet.rises_at


def is_stranger(wallet: Wallet) -> bool:
    """Whether it has no row."""
    return wallet._state.adding


def has_paid(address: str) -> bool:
    """Whether the ledger has a payment of this address. One query."""
    return Payment.objects.filter(payer=address, state__in=Payment.PAID).exists()


def read(addresses: Sequence[str], *, now: datetime) -> Sequence[HoldingSnapshot]:
    """What each address holds by the chain, for one trip to it, not written down yet. Raises RpcUnavailable."""
    return [
        HoldingSnapshot(
            wallet_id=address,
            read_at=now,
            tier=reached(holdings_usd=held.usd, staked=held.staked).name,
            holdings_usd=held.usd,
            staked=held.staked,
        )
        for address, held in zip(addresses, reads.read_holdings(addresses, now=now), strict=True)
    ]


@transaction.atomic
def write(wallet: Wallet, reading: HoldingSnapshot) -> None:
    """Write a reading down, and set the wallet to what all of its readings lead to, here and in its row."""
    # Of two readings at once the second waits here for the first, and then sees it.
    Wallet.objects.bulk_create(
        [Wallet(address=wallet.address, read_at=reading.read_at)],
        update_conflicts=True,
        unique_fields=["address"],
        update_fields=["read_at"],
    )
    HoldingSnapshot.objects.bulk_create([reading], ignore_conflicts=True)
    age = timedelta(seconds=settings.TIER_UPGRADE_AGE_S)
    seen = list(HoldingSnapshot.objects.in_effect_since(reading.read_at - age, address=wallet.address))
    tier, rise = standing(seen, age=age)
    newest = seen[-1]
    stands = {
        "tier": tier.name,
        "holdings_usd": newest.holdings_usd,
        "staked": newest.staked,
        "read_at": newest.read_at,
        "rising_tier": rise.tier.name if rise else "",
        "rises_at": rise.at if rise else None,
    }
    Wallet.objects.filter(pk=wallet.address).update(**stands)
    for name, value in stands.items():
        setattr(wallet, name, value)


def standing(seen: Sequence[HoldingSnapshot], *, age: timedelta) -> tuple[Tier, Rise | None]:
    """What readings lead to, the oldest of them first, at the moment of the last; and what rises next if that stays.

    A tier counts that every reading has shown from the newest of those that are `age` old until the last. So what is
    sold is lost at once, and what is bought or lent has to stay.
    """
    until, least = seen[-1].read_at, TIERS[seen[-1].tier]
    lasting = []
    for each in reversed(seen):
        least = min(least, TIERS[each.tier])
        lasting.append(Rise(tier=least, at=each.read_at + age))
    counted = next((rise.tier for rise in lasting if rise.at <= until), FREE)
    higher = [rise for rise in lasting if rise.tier > counted]
    return counted, higher[-1] if higher else None
