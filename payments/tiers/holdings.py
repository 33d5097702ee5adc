"""The tier of a wallet, by its token holdings on the chain and how long they have lasted."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from payments.chain import reads, rpc
from payments.chain.reads import Holdings
from payments.chain.rpc import RpcUnavailable
from payments.models import HoldingSnapshot, Payment, Wallet
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier, tier_for_holdings
from payments.tiers.terms import PendingTier, Terms

logger = logging.getLogger("tablewire.payments")

# For readings that are older than this one request more asks for the latest block, from which the node searches as far
# back as it does in one call. TIER_UPGRADE_AGE_S is less than that.
LOG_SEARCH = timedelta(hours=4)
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
        readings = read_holdings(due, now=now)
    except RpcUnavailable:
        for wallet in due:
            keep_last_tier(wallet, now=now)
        return wallets
    for wallet, (reading, block) in zip(due, readings, strict=True):
        record_reading(wallet, reading, block=block)
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
        [(reading, block)] = read_holdings([wallet], now=now)
    except RpcUnavailable:
        if not keep_last_tier(wallet, now=now):
            raise
        return wallet
    has_paid = Payment.objects.filter(payer=wallet.address, state__in=Payment.PAID)
    if saves_empty or reading.tier != FREE.name or has_paid.exists():
        record_reading(wallet, reading, block=block)
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


def read_holdings(wallets: Sequence[Wallet], *, now: datetime) -> Sequence[tuple[HoldingSnapshot, int | None]]:
    """Read the holdings of each wallet, and the latest block, in one request to the chain. Not saved.

    For wallets that were read before this includes all transfers since then; of the last five hours only, and with one
    request more, if that was longer ago. Raises RpcUnavailable.
    """
    try:
        readings = reads.read_holdings(find_start_blocks(wallets, now=now), now=now)
    except rpc.RpcError as error:
        logger.error("no holdings are read, because the node refuses to: %s", error.reason)
        raise
    return [
        (
            HoldingSnapshot(
                wallet_id=wallet.address,
                read_at=now,
                tier=tier_of(reading.now).name,
                lowest_tier=min(map(tier_of, reading.moments)).name,
                holdings_usd=reading.now.usd,
                staked=reading.now.staked,
            ),
            reading.block,
        )
        for wallet, reading in zip(wallets, readings, strict=True)
    ]


def tier_of(held: Holdings) -> Tier:
    return tier_for_holdings(holdings_usd=held.usd, staked=held.staked)


def find_start_blocks(wallets: Sequence[Wallet], *, now: datetime) -> dict[str, int | None]:
    """Return the block of each wallet's last reading, but not one that the node may refuse to search from.

    None where there is none, and where tiers need no age. Raises RpcUnavailable.
    """
    starts = {wallet.address: wallet.read_block if settings.TIER_UPGRADE_AGE_S else None for wallet in wallets}
    read_at = [wallet.read_at for wallet in wallets if starts[wallet.address] is not None and wallet.read_at]
    if not read_at or min(read_at) > now - LOG_SEARCH:
        return starts
    earliest = reads.read_latest_block_number() - reads.LOG_WINDOW_BLOCKS
    return {address: None if block is None else max(block, earliest) for address, block in starts.items()}


@transaction.atomic
def record_reading(wallet: Wallet, reading: HoldingSnapshot, *, block: int | None = None) -> None:
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
        "read_block": block,
        "pending_tier": pending.tier.name if pending else "",
        "pending_tier_at": pending.at if pending else None,
    }
    Wallet.objects.filter(pk=wallet.address).update(**values)
    for name, value in values.items():
        setattr(wallet, name, value)


def evaluate_snapshots(snapshots: Sequence[HoldingSnapshot], *, age: timedelta) -> tuple[Tier, PendingTier | None]:
    """Return the tier by readings, oldest first, at the time of the last, and the next higher tier that is pending.

    The tier is the lowest that was held from the newest reading that is at least `age` old to the last, between
    readings too. So a sale lowers the tier at once, and bought or borrowed tokens count after `age`.
    """
    until, lowest = snapshots[-1].read_at, TIERS[snapshots[-1].tier]
    lasting = []
    for snapshot in reversed(snapshots):
        lasting.append(PendingTier(tier=min(lowest, TIERS[snapshot.tier]), at=snapshot.read_at + age))
        lowest = min(lowest, TIERS[snapshot.tier], TIERS[snapshot.lowest_tier or snapshot.tier])
    tier = next((each.tier for each in lasting if each.at <= until), FREE)
    higher = [each for each in lasting if each.tier > tier]
    return tier, higher[-1] if higher else None
