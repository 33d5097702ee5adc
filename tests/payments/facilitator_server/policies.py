"""Settlers of our own facilitator for tests, each with a policy and a node of its choice."""

import io
import json
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings

from payments.chain import rpc
from payments.chain.networks import payment_network
from payments.devchain import wallets as devchain
from payments.facilitator_server import server as facilitating
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.settlement import Settler, build_sdk
from tests.payments.buyer import read
from tests.payments.facilitators import Script
from tests.support.wallets import fresh_wallet

WITHIN_S = 7.0
GWEI = 10**9
JSON = {"Content-Type": "application/json"}


def settle_body(headers: Mapping[str, str], **changed: Any) -> dict[str, Any]:
    """The body that has the payment in this header settled, asked for in other words where they are given."""
    payment = read(headers)
    return {
        "x402Version": 2,
        "paymentPayload": payment,
        "paymentRequirements": payment["accepted"] | changed,
    }


def policy(rpc_url: str | None = None, **changed: Any) -> Policy:
    """That of the command, with a new key that has an ether."""
    words: dict[str, Any] = {
        "network": payment_network(),
        "rpc_url": rpc_url or settings.RPC_URL,
        "private_key": fresh_wallet(Decimal(0)).private_key,
        "tokens": frozenset(),
        "pay_to": frozenset({settings.PAY_TO}),
        "assets": frozenset({payment_network().asset}),
        "max_gas_price": 5 * GWEI,
        "max_gas": 300_000,
        "journal": Path(":memory:"),
    }
    return Policy(**words | changed)


def gas_of(terms: Policy) -> tuple[int, ...]:
    """The wei of its key, and how many transactions it has sent."""
    latest = [devchain.from_key("", bytes.fromhex(terms.private_key[2:])).address, "latest"]
    return tuple(int(one, 16) for one in rpc.batch([("eth_getBalance", latest), ("eth_getTransactionCount", latest)]))


def settled(terms: Policy, body: dict[str, Any]) -> tuple[Any, Any]:
    """What it answers to /verify and then to /settle, each within its time."""
    settler = Settler(terms, build_sdk)
    settler.supported()
    parts, answers = facilitating.parse(json.dumps(body).encode()), []
    for question in (settler.verify, settler.settle):
        started = time.monotonic()
        answers.append(question(*parts))
        assert time.monotonic() - started < WITHIN_S
    return answers[0], answers[1]


def call(serves: facilitating.Facilitator, path: str, body: Any = None) -> Any:
    """What the application answers."""
    content = json.dumps(body).encode()
    environ = {
        "REQUEST_METHOD": "POST" if body else "GET",
        "PATH_INFO": path,
        "wsgi.input": io.BytesIO(content),
    }
    return json.loads(b"".join(serves(environ, lambda *_: None)))  # type: ignore[arg-type]


def interrupted(method: bytes, then: Script) -> Script:
    """A node of the real chain that does so when it is asked this."""
    real = settings.RPC_URL

    def script(content: bytes) -> tuple[int, bytes] | None:
        if method in content:
            return then(content)
        return 200, httpx.post(real, content=content, headers=JSON).content

    return script
