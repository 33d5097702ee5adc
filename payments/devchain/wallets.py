"""The wallets of a development chain: their keys derive from its secret."""

from dataclasses import dataclass

from coincurve import PrivateKey

from payments.chain.evm import keccak

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
# The wallets that settle payments, receive them, and fund others.
FACILITATOR = "facilitator"
MERCHANT = "merchant"
FAUCET = "faucet"
# The demo wallets, each named after the tier of its holdings (payments/tiers/definitions.py).
DEMO = ("free", "pro", "premium", "enterprise")


@dataclass(frozen=True, slots=True)
class Wallet:
    """A key and its lower-case address. `private_key` is 0x and 64 hexadecimal digits."""

    name: str
    address: str
    private_key: str


def derive_wallet(secret: str, name: str) -> Wallet:
    """Return the wallet of this name on the chain with this secret."""
    number = int.from_bytes(keccak(f"{secret}/{name}".encode())) % (ORDER - 1) + 1
    return from_key(name, number.to_bytes(32))


def from_key(name: str, key: bytes) -> Wallet:
    """Return the wallet of a private key of 32 bytes."""
    public = PrivateKey(key).public_key.format(compressed=False)
    return Wallet(name=name, address="0x" + keccak(public[1:])[-20:].hex(), private_key="0x" + key.hex())


def derive_demo_wallets(secret: str) -> tuple[Wallet, ...]:
    return tuple(derive_wallet(secret, name) for name in DEMO)
