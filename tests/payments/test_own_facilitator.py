"""`manage.py facilitator`: it settles for us alone, in our asset, for so much gas, and says what is certain."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import LazySettings, settings

from config.stack import Child, free_port, last_lines
from payments import gate, rpc, wire
from payments.devchain import wallets as devchain
from payments.devchain.wallets import Wallet
from payments.evm import checksummed
from payments.facilitating import reasons
from payments.facilitating.attempts import Attempt, Held
from payments.models import Payment
from payments.networks import ours
from tests.payments.buying import buy, paid_by, read, reason, refused
from tests.payments.facilitators import Script, says, serving
from tests.running import eventually
from tests.wallets import chain_secret, fresh_wallet, usdc_balance

TOKEN = "correct horse battery staple"
WITHIN_S = 7.0
GWEI = 10**9
State = Payment.State


@contextmanager
def running(home: Path, *words: str, key: Wallet | None = None, **more: str) -> Iterator[tuple[str, Child]]:
    """The command with a key of its own and the token above; its address and its process."""
    settler = key or fresh_wallet(Decimal(0))
    home.mkdir(exist_ok=True)
    files = {"key": settler.private_key, "token": f"{TOKEN}\nanother token of 16 letters"}
    for name, content in files.items():
        (home / name).write_text(content)
        (home / name).chmod(0o600)
    port = free_port()
    command = [
        *(sys.executable, "manage.py", "facilitator", "--port", str(port)),
        *("--key-file", str(home / "key"), "--token-file", str(home / "token"), *words),
    ]
    child = Child(
        name="own", command=command, env=environment() | more, cwd=settings.BASE_DIR, log=home / "facilitator.log"
    )
    child.start()
    url = f"http://127.0.0.1:{port}"
    try:
        # By then it has imported what it settles with.
        assert eventually(lambda: is_ready(child, url)), last_lines(child.log)
        yield url, child
    finally:
        child.stop()


def environment() -> dict[str, str]:
    """This environment, on the chain of the tests."""
    import os

    return {**os.environ, "PAY_TO": settings.PAY_TO, "RPC_URL": settings.RPC_URL}


def is_ready(child: Child, url: str) -> bool:
    """Whether it can settle."""
    assert child.is_running(), last_lines(child.log)
    try:
        return httpx.get(f"{url}/supported", timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one with the settings of the tests."""
    with running(tmp_path_factory.mktemp("own")) as (url, _):
        yield url


def asked(headers: Mapping[str, str], **changed: Any) -> dict[str, Any]:
    """The body that has the payment in this header settled, asked for in other words where they are given."""
    payment = read(headers)
    return {
        "x402Version": 2,
        "paymentPayload": payment,
        "paymentRequirements": payment["accepted"] | changed,
    }


def post(url: str, path: str, body: Any, *, token: str | None = TOKEN) -> httpx.Response:
    """Ask, as our client does."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"{url}{path}", json=body, headers=headers, timeout=30)


def gas_of(wallet: Wallet) -> tuple[int, int]:
    """The wei of an address, and how many transactions it has sent."""
    latest = [wallet.address, "latest"]
    return tuple(int(one, 16) for one in rpc.batch([("eth_getBalance", latest), ("eth_getTransactionCount", latest)]))  # type: ignore[return-value]


# Settling ----------------------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("books")
def test_our_gate_settles_through_it(own: str, wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN = own, TOKEN
    before = usdc_balance(wallets["free"].address)
    receipt = buy(paid_by(wallets["free"]))
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.facilitator) == (State.SETTLED, receipt.transaction, own)
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.002")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("books")
def test_our_gate_without_its_token_settles_nothing(
    own: str, wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN = own, "not the token of it"
    assert isinstance(refused(paid_by(wallets["free"])), gate.FacilitatorUnavailable)
    assert Payment.objects.count() == 0
