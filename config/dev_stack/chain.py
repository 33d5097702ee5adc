"""The node of the embedded development chain."""

from config.dev_stack.servers import package_dir
from config.dev_stack.wsgi_server import WsgiServer


class Chain(WsgiServer):
    """The node, with its transactions in `home`; the keys of its wallets derive from its `password`."""

    name = "chain"
    factory = "payments.devchain.node:application"
    # It does one thing at a time.
    threads = 1

    def prepare(self) -> None:
        """Make the directory. What a kill has left of a last transaction, the node removes."""
        package_dir("pyrevm", "pyrevm")
        self.home.mkdir(mode=0o700, exist_ok=True)

    def variables(self) -> dict[str, str]:
        """Where its transactions are, and its secret."""
        return {"DEVCHAIN_HOME": str(self.home), "DEVCHAIN_SECRET": self.password}
