"""The embedded development chain: its node, and where its contracts are."""

from config.dev_stack.servers import package_dir
from config.dev_stack.wsgi_server import WsgiServer

CHAIN_ID = 84532
NETWORK = "eip155:84532"
# The addresses at which x402 clients expect USDC on Base Sepolia, and facilitators Multicall3 on every chain.
USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11"
UTILITY_TOKEN = "0x7ab1e00000000000000000000000000000000001"  # noqa: S105 - an address
PRICE_FEED = "0x7ab1e00000000000000000000000000000000002"


class Chain(WsgiServer):
    """The node, with its transactions in `home`; the keys of its wallets are derived from `password`."""

    name = "chain"
    factory = "payments.devchain.node:application"
    # The node handles one request at a time.
    threads = 1

    def prepare(self) -> None:
        """Create the directory; the node removes a transaction that a kill cut off."""
        package_dir("pyrevm", "pyrevm")
        self.home.mkdir(mode=0o700, exist_ok=True)

    def variables(self) -> dict[str, str]:
        """The directory of its transactions, and its secret."""
        return {"DEVCHAIN_HOME": str(self.home), "DEVCHAIN_SECRET": self.password}
