"""The embedded development chain: where its contracts are."""

# Unmodified x402 clients know USDC on Base Sepolia by this address.
USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
UTILITY_TOKEN = "0x7ab1e00000000000000000000000000000000001"  # noqa: S105 - an address
PRICE_FEED = "0x7ab1e00000000000000000000000000000000002"
