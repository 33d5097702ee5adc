"""The networks that payments run on, and the USDC of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

LOOPBACK = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")


@dataclass(frozen=True, slots=True)
class Network:
    """A chain (CAIP-2 name, x402 version 1 name, chain id) and its USDC.

    `domain_name` and `domain_version` belong to the token's EIP-712 domain. Addresses are in lower case.
    """

    caip2: str
    name: str
    chain_id: int
    asset: str
    asset_name: str = "USDC"
    decimals: int = 6
    domain_name: str = "USDC"
    domain_version: str = "2"

    def to_atomic(self, amount: Decimal) -> int:
        """Return an amount in the smallest unit. Raises ValueError for more decimals than the asset has."""
        numerator, denominator = amount.as_integer_ratio()
        scaled: int = numerator * 10**self.decimals
        whole, rest = divmod(scaled, denominator)
        if rest:
            raise ValueError(f"{amount} has more than {self.decimals} decimals")
        return whole

    def to_decimal(self, atomic: int) -> Decimal:
        """Return an amount in whole units, exactly: Decimal.scaleb would round to 28 digits."""
        return Decimal(f"{atomic}e-{self.decimals}")


# Circle, "USDC contract addresses"; the domains from the contracts' own name() and version().
BASE = Network(
    caip2="eip155:8453",
    name="base",
    chain_id=8453,
    asset="0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    domain_name="USD Coin",
)
BASE_SEPOLIA = Network(
    caip2="eip155:84532", name="base-sepolia", chain_id=84532, asset="0x036cbd53842c5426634e7929541ec2318f3dcf7e"
)
NETWORKS: Mapping[str, Network] = {network.caip2: network for network in (BASE, BASE_SEPOLIA)}

# Block explorers, by network.
EXPLORERS: Mapping[str, str] = {BASE.caip2: "https://basescan.org", BASE_SEPOLIA.caip2: "https://sepolia.basescan.org"}


def get_explorer_url(caip2: str) -> str | None:
    """Return the block explorer of a network; None where it has none, as the development chain."""
    return None if settings.RPC_URL.startswith(LOOPBACK) else EXPLORERS.get(caip2)


def payment_network() -> Network:
    return NETWORKS[settings.PAYMENT_NETWORK]
