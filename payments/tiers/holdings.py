"""The tier of a wallet, by its token holdings on the chain and how long they have lasted."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from payments.chain import reads
from payments.chain.rpc import RpcUnavailable
from payments.models import HoldingSnapshot, Payment, Wallet
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier, tier_for_holdings
from payments.tiers.terms import PendingTier, Terms

# How long a wallet keeps its last tier while the chain cannot be read.
TIER_RETENTION = timedelta(hours=24)


def find_wallet(address: str, *, now: datetime) -> Wallet:
    """Return the wallet of an address in lower case with its plan, or an unsaved one. One query."""
    return Wallet.objects.with_plan(now).filter(pk=address).first() or Wallet(address=address)


def load_terms(address: str, *, now: datetime) -> Terms:
    """Return the terms of an address by its holdings and its plan. One query more than `refresh_terms`."""
    return refresh_terms(find_wallet(address, now=now), now=now)


def refresh_terms(wallet: Wallet, *, now: datetime) -> Terms:
    """Return the terms of a wallet (loaded `with_plan`) by its current holdings.

    No query while its last reading is fresh, else as `refresh_wallet`. The terms of a plan apply without the chain.
    Anybody can create addresses, so an unknown address without holdings gets a row only if it has paid before, which
    takes one more query. Raises RpcUnavailable.
    """
    try:
        return terms.wallet_terms(refresh_wallet(wallet, now=now, saves_empty=not wallet._state.adding))
    except RpcUnavailable:
        agreed = terms.plan_terms(wallet)
        if agreed.plan is None:
            raise
        return agreed


def refresh_wallets(wallets: Sequence[Wallet], *, now: datetime) -> Sequence[Wallet]:
    """Refresh several wallets in place; while the chain is not available they keep their tiers as `keep_last_tier`.

    One trip to the chain for all that are not fresh, and a transaction for each of these.
    """
    due = [wallet for wallet in wallets if not is_fresh(wallet, now=now)]
    try:
        readings = read_holdings([wallet.address for wallet in due], now=now)
    except RpcUnavailable:
        for wallet in due:
            keep_last_tier(wallet, now=now)
        return wallets
    for wallet, reading in zip(due, readings, strict=True):
        record_reading(wallet, reading)
    return wallets


def load_wallet(address: str, *, now: datetime) -> Wallet:
    """Return the refreshed wallet of an address in lower case; it gets a row. See `refresh_wallet`."""
    return refresh_wallet(find_wallet(address, now=now), now=now)


def refresh_wallet(wallet: Wallet, *, now: datetime, saves_empty: bool = True) -> Wallet:
    """Refresh a wallet in place. Without `saves_empty` one on the free tier that has never paid is not saved.

    Nothing while the last reading is fresh, else one trip to the chain and a transaction of four statements. Raises
    RpcUnavailable if the chain is not available and there is no last tier to keep.
    """
    if is_fresh(wallet, now=now):
        return wallet
    try:
        [reading] = read_holdings([wallet.address], now=now)
    except RpcUnavailable:
        if not keep_last_tier(wallet, now=now):
            raise
        return wallet
    has_paid = Payment.objects.filter(payer=wallet.address, state__in=Payment.PAID)
    if saves_empty or reading.tier != FREE.name or has_paid.exists():
        record_reading(wallet, reading)
    return wallet


def keep_last_tier(wallet: Wallet, *, now: datetime) -> bool:
    """Keep the last tier of a wallet that cannot be read, for TIER_RETENTION; False if there is none. Not saved.

    A pending tier is dropped: it requires a reading.
    """
    wallet.pending_tier, wallet.pending_tier_at = "", None
    if wallet.read_at is not None and wallet.read_at > now - TIER_RETENTION:
        return True
    wallet.tier = FREE.name
    return False


def is_fresh(wallet: Wallet, *, now: datetime) -> bool:
    """Whether the last reading is younger than TIER_CACHE_S, and its pending tier is not due yet."""
    if wallet.read_at is None or wallet.read_at <= now - timedelta(seconds=settings.TIER_CACHE_S):
        return False
    return wallet.pending_tier_at is None or now < wallet.pending_tier_at


def read_holdings(addresses: Sequence[str], *, now: datetime) -> Sequence[HoldingSnapshot]:
    """Read the holdings of each address in one trip to the chain. Not saved. Raises RpcUnavailable."""
    return [
        HoldingSnapshot(
            wallet_id=address,
            read_at=now,
            tier=tier_for_holdings(holdings_usd=held.usd, staked=held.staked).name,
            holdings_usd=held.usd,
            staked=held.staked,
        )
        for address, held in zip(addresses, reads.read_holdings(addresses, now=now), strict=True)
    ]


@transaction.atomic
def record_reading(wallet: Wallet, reading: HoldingSnapshot) -> None:
    """Save a reading, and update the wallet, here and in its row, to the tier by all of its readings."""
    # The upsert locks the row: a concurrent reading waits here, and then includes this one.
    Wallet.objects.bulk_create(
        [Wallet(address=wallet.address, read_at=reading.read_at)],
        update_conflicts=True,
        unique_fields=["address"],
        update_fields=["read_at"],
    )
    HoldingSnapshot.objects.bulk_create([reading], ignore_conflicts=True)
    age = timedelta(seconds=settings.TIER_UPGRADE_AGE_S)
    snapshots = list(HoldingSnapshot.objects.in_effect_since(reading.read_at - age, address=wallet.address))
    tier, pending = evaluate_snapshots(snapshots, age=age)
    newest = snapshots[-1]
    values = {
        "tier": tier.name,
        "holdings_usd": newest.holdings_usd,
        "staked": newest.staked,
        "read_at": newest.read_at,
        "pending_tier": pending.tier.name if pending else "",
        "pending_tier_at": pending.at if pending else None,
    }
    Wallet.objects.filter(pk=wallet.address).update(**values)
    for name, value in values.items():
        setattr(wallet, name, value)


def evaluate_snapshots(snapshots: Sequence[HoldingSnapshot], *, age: timedelta) -> tuple[Tier, PendingTier | None]:
    """Return the tier by readings, oldest first, at the time of the last, and the next higher tier that is pending.

    The tier is the lowest of all readings from the newest one that is at least `age` old to the last. So a sale lowers
    the tier at once, and bought or borrowed tokens count after `age`.
    """
    until, lowest = snapshots[-1].read_at, TIERS[snapshots[-1].tier]
    lasting = []
    for snapshot in reversed(snapshots):
        lowest = min(lowest, TIERS[snapshot.tier])
        lasting.append(PendingTier(tier=lowest, at=snapshot.read_at + age))
    tier = next((each.tier for each in lasting if each.at <= until), FREE)
    higher = [each for each in lasting if each.tier > tier]
    return tier, higher[-1] if higher else None
