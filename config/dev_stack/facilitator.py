"""The embedded facilitator, which settles payments on the embedded chain."""

from dataclasses import dataclass

from config.dev_stack.chain import Chain
from config.dev_stack.servers import package_dir
from config.dev_stack.wsgi_server import WsgiServer


@dataclass(kw_only=True)
class Facilitator(WsgiServer):
    """The facilitator of `chain`; it stores nothing, and calls the chain only to answer a request.

    So neither has to wait for the other's start.
    """

    name = "facilitator"
    factory = "payments.devchain.facilitator:application"
    # A request mostly waits for the chain.
    threads = 8
    chain: Chain

    def prepare(self) -> None:
        """Check that its packages are installed."""
        package_dir("web3", "x402[evm]")

    def variables(self) -> dict[str, str]:
        """The URL of the chain, and the secret from which its key is derived."""
        return {"RPC_URL": self.chain.url, "DEVCHAIN_SECRET": self.chain.password}
