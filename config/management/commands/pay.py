"""`manage.py pay`: buy an answer with a demo wallet, in any of the three forms, and show each step."""

import json
import re
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from payments.chain.evm import call_data
from payments.devchain.faucet import DevelopmentChain, TransactionRefused
from payments.devchain.wallets import Wallet

TIMEOUT_S = 30.0
FORMS = ("v2", "v1", "tx")
GOOD = (httpx.codes.OK, httpx.codes.ACCEPTED)
# What is not known yet, or not on the chain yet, is asked for again with the same payment.
AGAIN = {"settlement_pending", "facilitator_unavailable", "transaction_not_found"}


class Command(BaseCommand):
    """Ask, be told the price, pay with the wallet, ask again, show the answer."""

    help = "Ask for a paid address with a demo wallet of `manage.py up`: 402, payment, 200, transaction."
    # It asks over HTTP only, as any client would.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", metavar="URL", help="an address below the data API, or its path")
        parser.add_argument("--wallet", default="pro", help="name of the demo wallet that pays (default pro)")
        parser.add_argument(
            "--form", choices=FORMS, default="v2", help="x402 version 2 or 1, or a plain transfer and its hash"
        )
        parser.add_argument(
            "--sign-in", action="store_true", help="prove the wallet first: its tier's price is quoted"
        )
        parser.add_argument("--body", metavar="JSON", type=as_json, help="POST this, to order an export for instance")
        parser.add_argument("--identifier", metavar="ID", help="name the payment (16 to 128 letters; form v2)")
        parser.add_argument("--receipt", metavar="TOKEN", help="X-Receipt of an earlier answer, with --transaction")
        parser.add_argument("--transaction", metavar="HASH", help="a transfer that was made before: nothing is paid")
        parser.add_argument(
            "--timeout",
            type=count,
            default=30,
            metavar="S",
            help="seconds to ask again while it is pending (default 30)",
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
        wallet = self._wallet(up, options["wallet"])
        url = urljoin(up["base_url"], options["url"])
        if origin(url) != origin(up["base_url"]):
            raise CommandError(f"{url} is not below {up['base_url']}: its proofs are for nobody else to see.")
        steps = Console(highlight=False, quiet=options["json"], soft_wrap=True)
        try:
            with httpx.Client(timeout=TIMEOUT_S, follow_redirects=True) as client:
                purchase = Purchase(
                    client=client,
                    url=url,
                    wallet=wallet,
                    chain=DevelopmentChain(url=up["chain"]["rpc_url"], secret=""),
                    steps=steps,
                    form=options["form"],
                    identifier=identifier,
                    timeout_s=options["timeout"],
                    receipt=options["receipt"],
                    earlier=options["transaction"],
                    body=options["body"],
                )
                if options["sign_in"]:
                    purchase.sign_in(up["base_url"])
                answer_data = purchase.make()
        except httpx.HTTPError as error:
            if options["json"]:
                self.stdout.write(json.dumps({"status": None, "error": str(error)}))
            raise CommandError(f"{url} does not answer: {error}") from error
        except TransactionRefused as error:
            raise CommandError(f"The chain has refused the transfer: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(answer_data))
        else:
            steps.print_json(json.dumps(answer_data["body"]))
        if answer_data["status"] not in GOOD:
            raise CommandError(f"{answer_data['status']}: {reason(answer_data['body'])}")

    def _wallet(self, up: Mapping[str, Any], name: str) -> Wallet:
        wallets: dict[str, Mapping[str, str]] = {wallet["name"]: wallet for wallet in up.get("wallets") or ()}
        if not wallets:
            raise CommandError(
                "This Tablewire uses a chain of yours and has no demo wallets: pay with an x402 client."
            )
        if name not in wallets:
            raise CommandError(f"There is no wallet {name!r}. There are {', '.join(wallets)}.")
        found = wallets[name]
        return Wallet(name=name, address=found["address"], private_key=found["private_key"])


@dataclass(kw_only=True)
class Purchase:
    """One purchase, step by step; each step is told."""

    client: httpx.Client
    url: str
    wallet: Wallet
    chain: DevelopmentChain
    steps: Console
    form: str
    identifier: str | None
    timeout_s: int
    receipt: str | None
    earlier: str | None
    body: Any = None
    session: dict[str, str] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Tell a step."""
        self.steps.print(text, markup=False)

    def sign_in(self, base_url: str) -> None:
        """Open a session with the wallet (GET /v1/auth/challenge, POST /v1/auth/session)."""
        challenge = self.client.get(f"{base_url}/v1/auth/challenge", params={"address": self.wallet.address})
        challenge.raise_for_status()
        message = challenge.json()["message"]
        signature = signed_text(message, self.wallet.private_key)
        opened = self.client.post(
            f"{base_url}/v1/auth/session", json={"message": message, "signature": signature}
        ).raise_for_status()
        session = opened.json()
        self.say(f"signed in as {session['wallet']}, tier {session['tier']}")
        self.session = {"Authorization": f"Bearer {session['token']}"}

    def make(self) -> dict[str, Any]:
        """Go through the steps; return {status, challenge, transaction, receipt, body}, None for what was not reached.

        What is asked for is free, or is refused before a price is told: that answer is the last.
        """
        if self.earlier:
            return self.to_result(self.until_known({"X-Payment": self.earlier}), None)
        asked = self.ask({})
        if asked.status_code != httpx.codes.PAYMENT_REQUIRED:
            return self.to_result(asked, None)
        challenge = json.loads(asked.headers["x402"])
        price = f"{challenge['amount']} {challenge['asset']} on {challenge['network']} to {challenge['pay_to']}"
        self.say(f"    price: {price}")
        if needed := content(asked).get("tier_required"):
            self.say(f"    sold from tier {needed} on")
        payment = self.transfer(asked) if self.form == "tx" else self.sign(asked)
        return self.to_result(self.until_known(payment), challenge)

    def ask(self, payment: Mapping[str, str]) -> httpx.Response:
        """One request, with these headers."""
        method = "GET" if self.body is None else "POST"
        if not payment:
            self.say(f"{method} {self.url}")
        headers = {**self.session, **payment, **({"X-Receipt": self.receipt} if self.receipt else {})}
        answer = self.client.request(method, self.url, headers=headers, json=self.body)
        self.say(f"{answer.status_code} {answer.reason_phrase}")
        return answer

    def until_known(self, payment: Mapping[str, str]) -> httpx.Response:
        """The answer to the payment; while it is pending, the same payment again: it is charged once."""
        until = time.monotonic() + self.timeout_s
        while True:
            paid = self.ask(payment)
            rest_s = float(paid.headers.get("Retry-After", 2))
            if code(paid) not in AGAIN or time.monotonic() + rest_s > until:
                return paid
            self.say(f"    {code(paid)}: the same payment again in {rest_s:.0f} s")
            time.sleep(rest_s)

    def sign(self, asked: httpx.Response) -> dict[str, str]:
        """The headers that pay what a 402 asks for, made by the official client."""
        try:
            from eth_account import Account
            from x402 import x402ClientSync
            from x402.http import x402HTTPClientSync
            from x402.mechanisms.evm.exact import register_exact_evm_client
        except ImportError as error:
            raise CommandError("Signing needs the dependency group `embedded`: uv sync --group embedded") from error
        signer = x402ClientSync()
        register_exact_evm_client(signer, Account.from_key(self.wallet.private_key))
        client = x402HTTPClientSync(signer)
        # Without our headers it finds version 1 in the body.
        read = dict(asked.headers) if self.form == "v2" else {}
        if self.identifier:
            required = decode_payment_required_header(asked.headers["PAYMENT-REQUIRED"])
            append_payment_identifier_to_extensions(getattr(required, "extensions", None) or {}, self.identifier)
            payload = signer.create_payment_payload(required)
            headers = {"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}
        else:
            headers, _ = client.handle_402_response(read, asked.content, str(asked.url))
        self.say(f"    signed by {self.wallet.name}, {self.wallet.address}")
        return headers

    def transfer(self, asked: httpx.Response) -> dict[str, str]:
        """Send the money in the plain way, paying the gas; the hash is the payment."""
        (accepted,) = content(asked)["accepts"]
        amount = int(accepted["maxAmountRequired"])
        sent = self.chain.send(
            self.wallet, accepted["asset"], call_data("transfer(address,uint256)", accepted["payTo"], amount)
        )
        self.say(f"    transferred by {self.wallet.name}, {self.wallet.address}")
        return {"X-Payment": sent}

    def to_result(self, answer: httpx.Response, challenge: Any) -> dict[str, Any]:
        """All that is known in the end."""
        header = answer.headers.get("PAYMENT-RESPONSE")
        transaction = decode_payment_response_header(header).transaction if header else None
        if transaction:
            self.say(f"    transaction {transaction}")
        if self.form == "tx" and (token := answer.headers.get("X-Receipt")):
            self.say(f"    receipt {token}")
        return {
            "status": answer.status_code,
            "challenge": challenge,
            "transaction": transaction,
            "receipt": answer.headers.get("X-Receipt"),
            "body": content(answer),
        }


def as_json(text: str) -> Any:
    """What a flag says in JSON. Raises ArgumentTypeError."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no JSON: {error}") from error


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises CommandError for what is no address."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise CommandError(f"{url} is no address: {error}") from error
    return parts.scheme, parts.host, parts.port


def signed_text(text: str, private_key: str) -> str:
    """The signature of a text, as wallets make it (EIP-191)."""
    from eth_account import Account
    from eth_account.messages import encode_defunct

    signature = Account.sign_message(encode_defunct(text=text), private_key).signature
    return f"0x{bytes(signature).hex()}"


def content(response: httpx.Response) -> Any:
    """The JSON of an answer; its text where somebody else has answered."""
    try:
        return response.json()
    except ValueError:
        return response.text


def code(response: httpx.Response) -> str:
    """The code of a refusal, "" of anything else."""
    body = content(response)
    refusal = body.get("error") if isinstance(body, dict) and response.is_error else None
    return str(refusal.get("code", "") if isinstance(refusal, dict) else refusal or "")


def reason(body: Any) -> str:
    """Why it was not sold."""
    if isinstance(body, dict):
        refusal = body.get("error")
        output = refusal.get("message") if isinstance(refusal, dict) else body.get("detail") or refusal
        return str(output)
    # A page of somebody else's as one line.
    return " ".join(re.sub(r"<[^>]*>", " ", str(body)).split())[:200]
