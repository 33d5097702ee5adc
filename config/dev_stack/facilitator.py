"""The embedded facilitator, which settles payments on the embedded chain."""

from dataclasses import dataclass

from config.dev_stack.chain import Chain
from config.dev_stack.servers import package_dir
from config.dev_stack.wsgi_server import WsgiServer


@dataclass(kw_only=True)
class Facilitator(WsgiServer):
    """The facilitator of `chain`; it stores nothing.

    It asks the chain when it is asked itself: neither waits for the other's start.
    """

    name = "facilitator"
    factory = "payments.devchain.facilitator:application"
    # Each waits for the chain most of its time.
    threads = 8
    chain: Chain

    def prepare(self) -> None:
        """Make sure that what it is made of is installed."""
        package_dir("web3", "x402[evm]")

    def variables(self) -> dict[str, str]:
        """Where the chain is, and the secret of which its key is derived."""
        return {"RPC_URL": self.chain.url, "DEVCHAIN_SECRET": self.chain.password}
