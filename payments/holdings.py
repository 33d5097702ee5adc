"""The tier of a wallet, by what it holds on the chain."""

from datetime import datetime, timedelta

from django.conf import settings

from payments import chain, terms
from payments.models import Payment, Wallet
from payments.rpc import RpcUnavailable
from payments.terms import Terms
from payments.tiers import FREE, TIERS, Tier, reached

# For so long the last tier outlives a chain that cannot be read.
KEPT = timedelta(hours=24)


def terms_of(address: str, *, now: datetime) -> Terms:
    """The terms of the wallet at this address, by its holding and its plan; see `tier_of`. One query more."""
    return terms.of_wallet(address, tier=tier_of(address, now=now), now=now)


def tier_of(address: str, *, now: datetime) -> Tier:
    """The tier of the wallet at this address; see `of`. A wallet costs nothing, so one that holds nothing gets no row.

    But for those that have paid before, which costs one query more.
    """
    wallet = Wallet.objects.filter(pk=address).first()
    if wallet is not None:
        return TIERS[current(wallet, now=now).tier]
    met = read(address, now=now)
    if met.tier != FREE.name or Payment.objects.filter(payer=address, state__in=Payment.PAID).exists():
        write(met)
    return TIERS[met.tier]


def of(address: str, *, now: datetime) -> Wallet:
    """The wallet at this address, in small letters; a row is made for it.

    One query while the last reading is believed (TIER_CACHE_S), else one trip to the chain and one statement more.
    While the chain is away the last reading is kept, for 24 hours. Raises RpcUnavailable when nothing is known.
    """
    return current(Wallet.objects.filter(pk=address).first() or Wallet(address=address), now=now)


def current(wallet: Wallet, *, now: datetime) -> Wallet:
    """The same wallet as it stands now; see `of`."""
    if is_believed(wallet, now=now):
        return wallet
    try:
        met = read(wallet.address, now=now)
    except RpcUnavailable:
        if wallet.read_at is None or wallet.read_at <= now - KEPT:
            raise
        return wallet
    write(met)
    return met


def is_believed(wallet: Wallet, *, now: datetime) -> bool:
    """Whether the last reading is fresh enough to need no other."""
    return wallet.read_at is not None and wallet.read_at > now - timedelta(seconds=settings.TIER_CACHE_S)


def read(address: str, *, now: datetime) -> Wallet:
    """What the address holds by the chain, not written down yet. Raises RpcUnavailable."""
    held = chain.holdings(address, now=now)
    return Wallet(
        address=address,
        tier=reached(holdings_usd=held.usd, staked=held.staked).name,
        holdings_usd=held.usd,
        staked=held.staked,
        read_at=now,
    )


def write(wallet: Wallet) -> None:
    """Write down what was read, in a new row or over an earlier reading."""
    # One INSERT .. ON CONFLICT: of two readings at once both succeed.
    Wallet.objects.bulk_create(
        [wallet],
        update_conflicts=True,
        unique_fields=["address"],
        update_fields=["tier", "holdings_usd", "staked", "read_at"],
    )
