"""`manage.py facilitator`: a facilitator of our own, which settles for us alone."""

import argparse
import ipaddress
import json
import os
import re
import sys
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from framework.cli.arguments import port_number
from framework.http_client import NO_PROXY_TO_LOOPBACK
from payments.chain.networks import payment_network
from payments.facilitator_server import policy

GWEI = 10**9
THREADS = 16
# As long as an answer may take: who stops it waits for what is under way.
ENDS_WITHIN_S = 10
LOCAL = "localhost"


def address(text: str) -> str:
    """Read an address of the chain."""
    if not re.fullmatch("0x[0-9a-fA-F]{40}", text):
        raise argparse.ArgumentTypeError("must be 0x and 40 hexadecimal digits")
    return text.lower()


def gwei(text: str) -> int:
    """Read a price of gas in gwei, as wei."""
    try:
        wei = Decimal(text) * GWEI
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("must be a number") from error
    if not wei.is_finite() or wei < 1:
        raise argparse.ArgumentTypeError("must be more than 0")
    return int(wei)


def gas(text: str) -> int:
    """Read an amount of gas."""
    if not text.isdecimal() or not 21_000 <= int(text) <= 30_000_000:
        raise argparse.ArgumentTypeError("must be from 21000 to 30000000")
    return int(text)


class Command(BaseCommand):
    """Check the words and the files, then become the server."""

    help = "Serve a facilitator that settles payments to us, in our asset, with a key that holds gas only."
    # It needs no database.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default 127.0.0.1)")
        parser.add_argument("--port", type=port_number, default=4021, help="(default 4021)")
        parser.add_argument("--rpc-url", default=settings.RPC_URL, help="a node of the chain (default RPC_URL)")
        parser.add_argument(
            "--key-file", type=Path, required=True, help="private key that pays the gas, in a file of mode 600"
        )
        parser.add_argument(
            "--token-file", type=Path, help="what callers show, one a line; may be left out on a loopback address"
        )
        parser.add_argument(
            "--pay-to", type=address, action="append", help="who is paid; may be repeated (default PAY_TO)"
        )
        parser.add_argument(
            "--asset", type=address, action="append", help="what is paid with (default the network's USDC)"
        )
        parser.add_argument(
            "--max-gas-price-gwei", type=gwei, default=5 * GWEI, metavar="GWEI", help="send nothing above (default 5)"
        )
        parser.add_argument("--max-gas", type=gas, default=300_000, help="of one settlement (default 300000)")

    def handle(self, *args: object, **options: Any) -> None:
        """Serve until a signal ends it; what is under way by then is answered first."""
        if options["token_file"] is None and not is_loopback(options["host"]):
            raise CommandError(f"Whoever reaches {options['host']} could spend our gas: name a --token-file.")
        # It is not told: it may hold a key.
        if not is_address(options["rpc_url"]):
            raise CommandError("--rpc-url (RPC_URL) is no address that begins with http:// or https://.")
        pay_to = options["pay_to"] or [settings.PAY_TO]
        if not all(pay_to):
            raise CommandError("Nobody is named to be paid: set PAY_TO or name --pay-to.")
        words = {
            "network": payment_network().caip2,
            "rpc_url": options["rpc_url"],
            "key_file": str(options["key_file"].absolute()),
            "token_file": str(options["token_file"].absolute()) if options["token_file"] else "",
            "pay_to": pay_to,
            "assets": options["asset"] or [payment_network().asset],
            "max_gas_price": options["max_gas_price_gwei"],
            "max_gas": options["max_gas"],
        }
        try:
            policy.load_policy(words)
        except policy.UnsafeFile as error:
            raise CommandError(str(error)) from error
        if find_spec("web3") is None:
            raise CommandError("The facilitator needs the dependency group `embedded`: uv sync --group embedded")
        self.stderr.write(self._of_the_node(options["rpc_url"]))
        serve(options["host"], options["port"], words)

    def _of_the_node(self, rpc_url: str) -> str:
        """A line on the node that is used. Raises CommandError when it is of another chain."""
        # Neither its address nor what httpx says of it is told: it may hold a key.
        try:
            with httpx.Client(mounts=NO_PROXY_TO_LOOPBACK, timeout=5) as client:
                asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
                found = int(client.post(rpc_url, json=asked).json()["result"], 16)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            return f"The node does not answer yet ({type(error).__name__}); nothing is settled before it does."
        if found != payment_network().chain_id:
            raise CommandError(
                f"The node is of chain {found}; {payment_network().caip2} is {payment_network().chain_id}."
            )
        return f"Settling on {payment_network().caip2}."


def is_address(url: str) -> bool:
    """Whether a node could be asked there."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parts.scheme in ("http", "https") and bool(parts.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOCAL


def serve(host: str, port: int, words: dict[str, Any]) -> None:
    """Become the server: signals reach it without anybody between."""
    command = [
        *(sys.executable, "-m", "granian", "payments.facilitator_server.server:application", "--factory"),
        *("--interface", "wsgi", "--http", "1", "--no-ws", "--host", host, "--port", str(port)),
        *("--workers", "1", "--runtime-mode", "st", "--blocking-threads", str(THREADS)),
        *("--workers-kill-timeout", str(ENDS_WITHIN_S)),
    ]
    os.chdir(settings.BASE_DIR)
    os.execve(sys.executable, command, {**os.environ, policy.POLICY: json.dumps(words)})  # noqa: S606 - our own words
