"""The wallets of a development chain: their keys are derived from its secret, so none is known anywhere else."""

from dataclasses import dataclass
from decimal import Decimal

from coincurve import PrivateKey

from payments.chain.evm import keccak

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
# Who settles, who is paid, and who gives ether to new wallets.
FACILITATOR = "facilitator"
MERCHANT = "merchant"
FAUCET = "faucet"


@dataclass(frozen=True, slots=True)
class Wallet:
    """A key and its address (in small letters); `private_key` is 0x and 64 hexadecimal digits."""

    name: str
    address: str
    private_key: str


@dataclass(frozen=True, slots=True)
class Holding:
    """What a demo wallet begins with, in whole tokens."""

    usdc: Decimal = Decimal(1000)
    ether: Decimal = Decimal(10)
    tokens: Decimal = Decimal(0)
    staked: Decimal = Decimal(0)


TOKEN_PRICE_USD = Decimal(2)
# By the name of the wallet, which is also the tier that it has by this (payments/tiers/definitions.py, ENTERPRISE_STAKE).
DEMO = {
    "free": Holding(),
    "pro": Holding(tokens=Decimal(125)),
    "premium": Holding(tokens=Decimal(1000)),
    "enterprise": Holding(staked=Decimal(60_000)),
}


def derive(secret: str, name: str) -> Wallet:
    """The wallet of this name on the chain with this secret."""
    number = int.from_bytes(keccak(f"{secret}/{name}".encode())) % (ORDER - 1) + 1
    return from_key(name, number.to_bytes(32))


def from_key(name: str, key: bytes) -> Wallet:
    """The wallet of a private key of 32 bytes."""
    public = PrivateKey(key).public_key.format(compressed=False)
    return Wallet(name=name, address="0x" + keccak(public[1:])[-20:].hex(), private_key="0x" + key.hex())


def demo(secret: str) -> tuple[Wallet, ...]:
    """The four wallets for trying things out, one of each tier."""
    return tuple(derive(secret, name) for name in DEMO)
