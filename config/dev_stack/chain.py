"""The node of the embedded development chain."""

from config.dev_stack.servers import package_dir
from config.dev_stack.wsgi_server import WsgiServer


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
