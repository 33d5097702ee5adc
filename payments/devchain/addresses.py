"""The development network: its id, and the addresses of its contracts."""

CHAIN_ID = 84532
NETWORK = "eip155:84532"
# The addresses at which x402 clients expect USDC on Base Sepolia, and facilitators Multicall3 on every chain.
USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11"
UTILITY_TOKEN = "0x7ab1e00000000000000000000000000000000001"  # noqa: S105 - an address
PRICE_FEED = "0x7ab1e00000000000000000000000000000000002"
