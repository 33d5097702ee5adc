"""`manage.py pay`: buy an answer with a demo wallet, in any of the three forms, and show each step."""

import json
import re
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from x402.extensions.payment_identifier import append_payment_identifier_to_extensions, is_valid_payment_id
from x402.http.utils import (
    decode_payment_required_header,
    decode_payment_response_header,
    encode_payment_signature_header,
)

from framework.cli.arguments import count
from framework.state_directory import read_up_record
from payments.chain.evm import encode_call
from payments.devchain.client import DevchainClient, TransactionRefused
from payments.devchain.wallets import Wallet

TIMEOUT_S = 30.0
FORMS = ("v2", "v1", "tx")
# With these errors the payment may still succeed: the same payment is sent again.
RETRYABLE_CODES = {"settlement_pending", "facilitator_unavailable", "transaction_not_found"}


def json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no JSON: {error}") from error


class Command(BaseCommand):
    """Send a request, pay the price of its 402 with a demo wallet, repeat it, and print the response."""

    help = "Request a paid address with a demo wallet of `manage.py up`: 402, payment, 200, transaction."
    # The command uses HTTP only, as any client does.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", metavar="URL", help="an address below the data API, or its path")
        parser.add_argument("--wallet", default="pro", help="name of the demo wallet that pays (default pro)")
        parser.add_argument(
            "--form", choices=FORMS, default="v2", help="x402 version 2 or 1, or a plain transfer and its hash"
        )
        parser.add_argument("--sign-in", action="store_true", help="sign in first, for the price of the wallet's tier")
        parser.add_argument(
            "--body", metavar="JSON", type=json_value, help="POST this, to order an export for instance"
        )
        parser.add_argument("--identifier", metavar="ID", help="payment identifier (16 to 128 letters; form v2)")
        parser.add_argument("--receipt", metavar="TOKEN", help="X-Receipt of an earlier answer, with --transaction")
        parser.add_argument("--transaction", metavar="HASH", help="an earlier transfer: nothing is paid")
        parser.add_argument(
            "--timeout",
            type=count,
            default=30,
            metavar="S",
            help="for how many seconds a pending payment is sent again (default 30)",
        )
        parser.add_argument(
            "--state-dir", type=Path, default=settings.STATE_DIR, help="of the `manage.py up` that runs"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        up = read_up_record(options["state_dir"])
        if up is None:
            raise CommandError(f"Nothing runs in {options['state_dir']}: run `manage.py up` first.")
        identifier = options["identifier"]
        if identifier and (options["form"] != "v2" or not is_valid_payment_id(identifier)):
            raise CommandError("--identifier is 16 to 128 letters, digits, - and _, and goes with --form v2.")
        wallet = self.find_wallet(up, options["wallet"])
        url = urljoin(up["base_url"], options["url"])
        if not have_same_origin(url, up["base_url"]):
            raise CommandError(f"{url} is not below {up['base_url']}: proofs are sent to no other host.")
        console = Console(highlight=False, quiet=options["json"], soft_wrap=True)
        try:
            with httpx.Client(timeout=TIMEOUT_S, follow_redirects=True) as client:
                chain = DevchainClient(url=up["chain"]["rpc_url"], secret="")
                purchase = Purchase(client, url, wallet, chain, console, options)
                if options["sign_in"]:
                    purchase.sign_in(up["base_url"])
                result = purchase.run()
        except httpx.HTTPError as error:
            if options["json"]:
                self.stdout.write(json.dumps({"status": None, "error": str(error)}))
            raise CommandError(f"{url} does not answer: {error}") from error
        except TransactionRefused as error:
            raise CommandError(f"The chain has refused the transfer: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            console.print_json(json.dumps(result["body"]))
        if result["status"] not in (httpx.codes.OK, httpx.codes.ACCEPTED):
            raise CommandError(f"{result['status']}: {error_message(result['body'])}")

    def find_wallet(self, up: Mapping[str, Any], name: str) -> Wallet:
        wallets = {wallet["name"]: wallet for wallet in up.get("wallets") or ()}
        if not wallets:
            raise CommandError(
                "This Tablewire uses a chain of yours and has no demo wallets: pay with an x402 client."
            )
        if name not in wallets:
            raise CommandError(f"There is no wallet {name!r}. There are {', '.join(wallets)}.")
        return Wallet(name=name, address=wallets[name]["address"], private_key=wallets[name]["private_key"])


@dataclass
class Purchase:
    """One purchase with the options of the command; each step is printed to `console`."""

    client: httpx.Client
    url: str
    wallet: Wallet
    chain: DevchainClient
    console: Console
    options: Mapping[str, Any]
    session: dict[str, str] = field(default_factory=dict)

    def print(self, text: str) -> None:
        self.console.print(text, markup=False)

    def sign_in(self, base_url: str) -> None:
        """Open a session with the wallet (GET /v1/auth/challenge, POST /v1/auth/session)."""
        from eth_account import Account
        from eth_account.messages import encode_defunct

        challenge = self.client.get(f"{base_url}/v1/auth/challenge", params={"address": self.wallet.address})
        message = challenge.raise_for_status().json()["message"]
        signed = Account.sign_message(encode_defunct(text=message), self.wallet.private_key)
        body = {"message": message, "signature": f"0x{bytes(signed.signature).hex()}"}
        session = self.client.post(f"{base_url}/v1/auth/session", json=body).raise_for_status().json()
        self.print(f"signed in as {session['wallet']}, tier {session['tier']}")
        self.session = {"Authorization": f"Bearer {session['token']}"}

    def run(self) -> dict[str, Any]:
        """Buy, and return {status, challenge, transaction, receipt, body}.

        A response other than 402 to the request without payment is the result: the answer is free, or an error.
        """
        if transaction := self.options["transaction"]:
            return self.build_result(self.send_until_settled({"X-Payment": transaction}), None)
        unpaid = self.send({})
        if unpaid.status_code != httpx.codes.PAYMENT_REQUIRED:
            return self.build_result(unpaid, None)
        challenge = json.loads(unpaid.headers["x402"])
        (accepted,) = decode_body(unpaid)["accepts"]
        signed_amount = Decimal(accepted["maxAmountRequired"]).scaleb(-challenge["decimals"]).normalize()
        # A plain transfer names its quote by an amount of its own, a few millionths above the price.
        amount = challenge["amount"] if self.options["form"] == "tx" else f"{signed_amount:f}"
        self.print(f"    price: {amount} {challenge['asset']} on {challenge['network']} to {challenge['pay_to']}")
        if tier := decode_body(unpaid).get("tier_required"):
            self.print(f"    sold from tier {tier} on")
        payment = self.transfer(challenge) if self.options["form"] == "tx" else self.sign(unpaid)
        return self.build_result(self.send_until_settled(payment), challenge)

    def send(self, payment: Mapping[str, str]) -> httpx.Response:
        body, receipt = self.options["body"], self.options["receipt"]
        method = "GET" if body is None else "POST"
        if not payment:
            self.print(f"{method} {self.url}")
        headers = {**self.session, **payment, **({"X-Receipt": receipt} if receipt else {})}
        response = self.client.request(method, self.url, headers=headers, json=body)
        self.print(f"{response.status_code} {response.reason_phrase}")
        return response

    def send_until_settled(self, payment: Mapping[str, str]) -> httpx.Response:
        """Send the request with the payment, and again while the payment is pending: it is charged once."""
        deadline = time.monotonic() + self.options["timeout"]
        while True:
            response = self.send(payment)
            retry_after_s, code = float(response.headers.get("Retry-After", 2)), error_code(response)
            if code not in RETRYABLE_CODES or time.monotonic() + retry_after_s > deadline:
                return response
            self.print(f"    {code}: the same payment again in {retry_after_s:.0f} s")
            time.sleep(retry_after_s)

    def sign(self, unpaid: httpx.Response) -> dict[str, str]:
        """Return the headers that pay a 402, made by the official x402 client."""
        try:
            from eth_account import Account
            from x402 import x402ClientSync
            from x402.http import x402HTTPClientSync
            from x402.mechanisms.evm.exact import register_exact_evm_client
        except ImportError as error:
            raise CommandError("Signing needs the dependency group `embedded`: uv sync --group embedded") from error
        signer = x402ClientSync()
        register_exact_evm_client(signer, Account.from_key(self.wallet.private_key))
        if identifier := self.options["identifier"]:
            required = decode_payment_required_header(unpaid.headers["PAYMENT-REQUIRED"])
            append_payment_identifier_to_extensions(getattr(required, "extensions", None) or {}, identifier)
            payload = signer.create_payment_payload(required)
            headers = {"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}
        else:
            # Without the headers the client reads version 1 from the body.
            v2_headers = dict(unpaid.headers) if self.options["form"] == "v2" else {}
            client = x402HTTPClientSync(signer)
            headers, _ = client.handle_402_response(v2_headers, unpaid.content, str(unpaid.url))
        self.print(f"    signed by {self.wallet.name}, {self.wallet.address}")
        return headers

    def transfer(self, challenge: Mapping[str, Any]) -> dict[str, str]:
        """Pay by a plain transfer, whose hash is the payment; the wallet pays the gas."""
        amount = int(Decimal(challenge["amount"]).scaleb(challenge["decimals"]))
        data = encode_call("transfer(address,uint256)", challenge["pay_to"], amount)
        tx_hash = self.chain.send_transaction(self.wallet, challenge["asset_address"], data)
        self.print(f"    transferred by {self.wallet.name}, {self.wallet.address}")
        return {"X-Payment": tx_hash}

    def build_result(self, response: httpx.Response, challenge: Any) -> dict[str, Any]:
        header, receipt = response.headers.get("PAYMENT-RESPONSE"), response.headers.get("X-Receipt")
        transaction = decode_payment_response_header(header).transaction if header else None
        if transaction:
            self.print(f"    transaction {transaction}")
        if self.options["form"] == "tx" and receipt:
            self.print(f"    receipt {receipt}")
        return {
            "status": response.status_code,
            "challenge": challenge,
            "transaction": transaction,
            "receipt": receipt,
            "body": decode_body(response),
        }


def have_same_origin(*urls: str) -> bool:
    """Whether the URLs have one scheme, host and port. Raises CommandError for an invalid URL."""
    try:
        return len({(url.scheme, url.host, url.port) for url in map(httpx.URL, urls)}) == 1
    except httpx.InvalidURL as error:
        raise CommandError(f"{urls[0]} is no address: {error}") from error


def decode_body(response: httpx.Response) -> Any:
    """Return the JSON of a response; its text if it is no JSON, as from a proxy."""
    try:
        return response.json()
    except ValueError:
        return response.text


def error_code(response: httpx.Response) -> str:
    """Return the code of an error response, else ""."""
    body = decode_body(response)
    error = body.get("error") if isinstance(body, dict) and response.is_error else None
    return str(error.get("code", "") if isinstance(error, dict) else error or "")


def error_message(body: Any) -> str:
    """Return the message of an error body; an HTML page, as from a proxy, becomes one line of text."""
    if isinstance(body, dict):
        error = body.get("error")
        return str(error.get("message") if isinstance(error, dict) else body.get("detail") or error)
    return " ".join(re.sub(r"<[^>]*>", " ", str(body)).split())[:200]
