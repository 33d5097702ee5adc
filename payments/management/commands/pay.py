"""`manage.py pay`: buy one answer with a demo wallet, and show each step."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from x402.http.utils import decode_payment_response_header

from config.stack import read_up

TIMEOUT_S = 30.0


class Command(BaseCommand):
    """Ask, be told the price, sign with the wallet, ask again, show the answer."""

    help = "Ask for a paid address with a demo wallet of `manage.py up`: 402, signature, 200, transaction."
    # It asks over HTTP only, as any client would.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("url", metavar="URL", help="an address below the data API, or its path")
        parser.add_argument("--wallet", default="pro", help="name of the demo wallet that pays (default pro)")
        parser.add_argument(
            "--state-dir", type=Path, default=settings.STATE_DIR, help="of the `manage.py up` that runs"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        """Buy; fail when the answer in the end is not what was paid for."""
        up = read_up(options["state_dir"])
        if up is None:
            raise CommandError(f"Nothing runs in {options['state_dir']}: run `manage.py up` first.")
        wallet = self._wallet(up, options["wallet"])
        url = urljoin(up["base_url"], options["url"])
        steps = Console(highlight=False, quiet=options["json"], soft_wrap=True)
        try:
            with httpx.Client(timeout=TIMEOUT_S, follow_redirects=True) as client:
                told = buy(client, url, wallet, steps)
        except httpx.HTTPError as error:
            raise CommandError(f"{url} does not answer: {error}") from error
        except httpx.InvalidURL as error:
            raise CommandError(f"{url} is no address: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(told))
        else:
            steps.print_json(json.dumps(told["body"]))
        if told["status"] != httpx.codes.OK:
            raise CommandError(f"{told['status']}: {reason(told['body'])}")

    def _wallet(self, up: Mapping[str, Any], name: str) -> Mapping[str, str]:
        wallets: dict[str, Mapping[str, str]] = {wallet["name"]: wallet for wallet in up.get("wallets") or ()}
        if not wallets:
            raise CommandError(
                "This Tablewire uses a chain of yours and has no demo wallets: pay with an x402 client."
            )
        if name not in wallets:
            raise CommandError(f"There is no wallet {name!r}. There are {', '.join(wallets)}.")
        return wallets[name]


def buy(client: httpx.Client, url: str, wallet: Mapping[str, str], steps: Console) -> dict[str, Any]:
    """Go through the steps; return {status, challenge, transaction, body}, what was not reached being None.

    What is asked for is free, or is refused before a price is told: that answer is the last.
    """
    steps.print(f"GET {url}", markup=False)
    asked = client.get(url)
    steps.print(f"{asked.status_code} {asked.reason_phrase}", markup=False)
    if asked.status_code != httpx.codes.PAYMENT_REQUIRED:
        return {"status": asked.status_code, "challenge": None, "transaction": None, "body": content(asked)}
    challenge = json.loads(asked.headers["x402"])
    price = f"{challenge['amount']} {challenge['asset']} on {challenge['network']} to {challenge['pay_to']}"
    steps.print(f"    price: {price}", markup=False)
    payment = sign(asked, wallet["private_key"])
    steps.print(f"    signed by {wallet['name']}, {wallet['address']}", markup=False)
    paid = client.get(asked.url, headers=payment)
    steps.print(f"{paid.status_code} {paid.reason_phrase}", markup=False)
    transaction = receipt(paid)
    if transaction:
        steps.print(f"    transaction {transaction}", markup=False)
    return {
        "status": paid.status_code,
        "challenge": challenge,
        "transaction": transaction,
        "body": content(paid),
    }


def sign(asked: httpx.Response, private_key: str) -> dict[str, str]:
    """The headers that pay what a 402 asks for, made by the official client."""
    try:
        from eth_account import Account
        from x402 import x402ClientSync
        from x402.http import x402HTTPClientSync
        from x402.mechanisms.evm.exact import register_exact_evm_client
    except ImportError as error:
        raise CommandError("Signing needs the dependency group `embedded`: uv sync --group embedded") from error
    client = x402ClientSync()
    register_exact_evm_client(client, Account.from_key(private_key))
    headers, _ = x402HTTPClientSync(client).handle_402_response(dict(asked.headers), asked.content, str(asked.url))
    return headers


def receipt(paid: httpx.Response) -> str | None:
    """The transaction that the receipt names."""
    header = paid.headers.get("PAYMENT-RESPONSE")
    return decode_payment_response_header(header).transaction if header else None


def content(response: httpx.Response) -> Any:
    """The JSON of an answer; its text where somebody else has answered."""
    try:
        return response.json()
    except ValueError:
        return response.text


def reason(body: Any) -> str:
    """Why it was not sold."""
    if isinstance(body, dict):
        refusal = body.get("error")
        said = refusal.get("message") if isinstance(refusal, dict) else body.get("detail") or refusal
        return str(said)
    return str(body)
