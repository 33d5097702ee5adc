"""`manage.py facilitator`: it settles for us alone, in our asset, for so much gas, and says what is certain."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import LazySettings, settings
from django.core.management import CommandError, call_command

from config.dev_stack.processes import Child, last_lines
from config.dev_stack.servers import free_port
from payments.checkout.context import FacilitatorUnavailable
from payments.devchain.wallets import Wallet
from payments.facilitator_server import journal
from payments.models import Payment
from tests.payments.buyer import buy, paid_by, refused, signed_by
from tests.payments.facilitator_server.mempool import mempool
from tests.payments.facilitator_server.policies import JSON, settle_body
from tests.payments.facilitators import node_answering, serving
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance

TOKEN = "correct horse battery staple"
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


def post(url: str, path: str, body: Any, *, token: str | None = TOKEN) -> httpx.Response:
    """Ask, as our client does."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"{url}{path}", json=body, headers=headers, timeout=30)


# Settling
@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_the_checkout_settles_at_our_facilitator(
    own: str, wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN = own, TOKEN
    before = usdc_balance(wallets["free"].address)
    receipt = buy(paid_by(wallets["free"]))
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.facilitator) == (State.SETTLED, receipt.transaction, own)
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.002")


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_the_checkout_without_the_token_settles_nothing(
    own: str, wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN = own, "not the token of it"
    assert isinstance(refused(paid_by(wallets["free"])), FacilitatorUnavailable)
    assert Payment.objects.count() == 0


@pytest.mark.stack
def test_supported_and_livez_need_no_token(own: str) -> None:
    assert httpx.get(f"{own}/livez").json() == {"status": "ok"}
    kinds = httpx.get(f"{own}/supported").json()["kinds"]
    assert [(kind["x402Version"], kind["network"]) for kind in kinds] == [(2, "eip155:84532"), (1, "base-sepolia")]


@pytest.mark.stack
@pytest.mark.parametrize("path", ["/verify", "/settle"])
@pytest.mark.parametrize("token", [None, "", "another", TOKEN.upper()])
def test_without_the_token_no_body_is_read(own: str, path: str, token: str | None) -> None:
    answer = post(own, path, {}, token=token)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert set(answer.json()) == {"error"}


@pytest.mark.stack
def test_tokens_can_be_rotated(own: str) -> None:
    assert post(own, "/verify", {}, token="another token of 16 letters").status_code == 400


@pytest.mark.stack
def test_a_running_settlement_is_answered_before_the_process_ends(tmp_path: Path) -> None:
    payer, sending, over = fresh_wallet(Decimal(1)), threading.Event(), threading.Event()
    real, answers, body = settings.RPC_URL, [], settle_body(signed_by(payer))

    def slow(content: bytes) -> tuple[int, bytes]:
        if b"eth_sendRawTransaction" in content:
            sending.set()
            over.wait(5)
        return 200, httpx.post(real, content=content, headers=JSON).content

    with serving(slow) as node, running(tmp_path, RPC_URL=node.url) as (url, child):
        request = threading.Thread(target=lambda: answers.append(post(url, "/settle", body)))
        request.start()
        assert sending.wait(20)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGTERM)
        time.sleep(0.3)
        over.set()
        request.join(20)
        assert eventually(lambda: not child.is_running())
    assert answers[0].json()["success"] is True
    assert usdc_balance(payer.address) == Decimal("0.998")


@pytest.mark.stack
def test_a_transaction_that_the_node_lost_is_sent_after_a_kill_of_the_facilitator(tmp_path: Path) -> None:
    payer, key = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(0))
    body = settle_body(signed_by(payer))
    with mempool(to_lose=1_000) as node:
        with running(tmp_path, key=key, RPC_URL=node.url) as (url, child):
            lost = post(url, "/settle", body).json()
            assert child.pid is not None
            os.killpg(child.pid, signal.SIGKILL)
            assert eventually(lambda: not child.is_running())
        assert usdc_balance(payer.address) == 1
        node.to_lose = 0
        with running(tmp_path, key=key, RPC_URL=node.url) as (url, _):
            assert eventually(lambda: usdc_balance(payer.address) < 1)
            found = post(url, "/settle", body).json()
    assert (lost["success"], lost["errorReason"]) == (False, "settlement_pending")
    assert (found["success"], found["transaction"]) == (True, lost["transaction"])
    assert (usdc_balance(payer.address), set(node.received)) == (Decimal("0.998"), {lost["transaction"]})


@pytest.mark.stack
def test_two_processes_cannot_use_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "OPENED_WITHIN_S", 0.1)
    with running(tmp_path) as _, pytest.raises(CommandError, match="is another facilitator running with this key"):
        call_command("facilitator", "--key-file", str(tmp_path / "key"))


# The command
@pytest.mark.stack
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--host", "192.0.2.1", "--key-file", "{key}"], "set --token-file"),
        (["--key-file", "{open}"], "can be read by others than its owner: chmod 600"),
        (["--key-file", "{empty}"], "holds no private key"),
        (["--key-file", "{key}", "--token-file", "{open}"], "can be read by others"),
        (["--key-file", "{key}", "--token-file", "{short}"], "a token of 16 ASCII characters or more"),
        (["--key-file", "{key}", "--rpc-url", "nonsense"], "is no address that begins with http"),
        (["--key-file", "{key}", "--rpc-url", "ftp://127.0.0.1/"], "is no address that begins with http"),
        (["--key-file", "{key}", "--port", "999999"], "must be from 0 to 65535"),
        (["--key-file", "/no/such/file"], "cannot be read: No such file"),
    ],
)
def test_the_command_refuses_unsafe_options(tmp_path: Path, words: list[str], sentence: str) -> None:
    files = {"key": (f"{1:064x}", 0o600), "open": (f"{1:064x}", 0o640), "empty": ("", 0o600), "short": ("ab", 0o600)}
    for name, (content, mode) in files.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(mode)
    paths = {name: str(tmp_path / name) for name in files}
    with pytest.raises(CommandError, match=sentence):
        call_command("facilitator", *(word.format(**paths) for word in words))


@pytest.mark.stack
def test_the_command_refuses_a_node_of_another_chain(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{1:064x}")
    (tmp_path / "key").chmod(0o600)
    with (
        serving(node_answering({"eth_chainId": "0x1"})) as node,
        pytest.raises(CommandError, match="The node is of chain 1; eip155:84532 is 84532"),
    ):
        call_command("facilitator", "--key-file", str(tmp_path / "key"), "--rpc-url", node.url)
