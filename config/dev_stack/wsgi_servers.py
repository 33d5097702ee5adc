"""Servers of the stack that are WSGI applications, each in its own granian process: the chain and the facilitator."""

import sys
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from config.dev_stack.processes import Child
from config.dev_stack.servers import HOST, Server, fetch, package_dir

ROOT = Path(__file__).resolve().parents[2]


class WsgiServer(Server):
    """A WSGI application that the function `factory` returns, with `threads` for requests; it answers GET /livez."""

    factory: ClassVar[str]
    threads: ClassVar[int]

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """The application's environment variables, which may be secret: other users cannot read them."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def make_child(self) -> Child:
        command = [
            *(sys.executable, "-m", "granian", self.factory, "--factory", "--interface", "wsgi"),
            *("--http", "1", "--no-ws", "--host", HOST, "--port", str(self.port), "--runtime-mode", "st"),
            *("--workers", "1", "--blocking-threads", str(self.threads), "--workers-kill-timeout", "5"),
        ]
        return Child(name=self.name, command=command, env=self.env() | self.variables(), cwd=ROOT, log=self.log)

    def is_ready(self) -> bool:
        return is_alive(self.port)


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
        return {"DEVCHAIN_HOME": str(self.home), "DEVCHAIN_SECRET": self.password}


@dataclass(kw_only=True)
class Facilitator(WsgiServer):
    """The facilitator of `chain`, with its journal in `home`. Neither waits for the other's start."""

    name = "facilitator"
    factory = "payments.devchain.facilitator:application"
    # A request mostly waits for the chain.
    threads = 8
    chain: Chain

    def prepare(self) -> None:
        package_dir("web3", "x402[evm]")
        self.home.mkdir(mode=0o700, exist_ok=True)

    def variables(self) -> dict[str, str]:
        journal = str(self.home / "journal")
        return {
            "RPC_URL": self.chain.url,
            "DEVCHAIN_SECRET": self.chain.password,
            "DEVCHAIN_FACILITATOR_JOURNAL": journal,
        }


def is_alive(port: int, *, timeout_s: float = 1) -> bool:
    """Whether a web server on this port of 127.0.0.1 answers GET /livez."""
    try:
        return fetch(f"http://{HOST}:{port}/livez", timeout_s=timeout_s)[0] == 200
    except OSError:
        return False
