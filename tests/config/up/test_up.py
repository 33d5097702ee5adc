"""`manage.py up` as a newcomer meets it: started for real, asked over HTTP, interrupted and killed."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
from django.conf import settings
from web3 import Web3

from config.dev_stack import up_file
from config.up import bind_address, summary
from payments.devchain import artifacts
from tests.support.live_stack import Up, ask, environment, eventually, is_alive, manage, running

SHAPE = {
    "base_url": str,
    "management": {
        "base_url": str,
        "api_key": str,
        "other_api_key": str,
        "menu_api_key": str,
        "wide_api_key": str,
        "wide_other_api_key": str,
    },
    "data": {"base_url": str},
    "mcp_url": str,
    "admin": {"url": str, "username": str, "password": str},
    "dashboard": None,
    "docs": {"management": str, "data": str},
    "chain": {"rpc_url": str, "chain_id": int, "network": str, "usdc": str, "token": str, "pay_to": str},
    "facilitator_url": str,
    "database_url": str,
    "redis_url": str,
    "wallets": [{"name": str, "address": str, "private_key": str, "tier": str}] * 4,
    "pids": {
        "up": int,
        "web": int,
        "worker": int,
        "postgres": int,
        "valkey": int,
        "chain": int,
        "facilitator": int,
    },
}


def shape(value: Any, like: Any) -> Any:
    """A value with its leaves replaced by their types, except None."""
    if isinstance(value, dict):
        return {name: shape(part, like) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part, like) for part in value]
    return None if value is None else type(value)


def test_up_json_has_exactly_the_agreed_keys(up: Up) -> None:
    assert shape(up.said, SHAPE) == SHAPE


def test_up_json_says_what_was_printed_and_only_to_its_owner(up: Up) -> None:
    record = up_file(up.state_dir)
    recorded = json.loads(record.read_text())
    # Another test may have made it start the web server again.
    assert {**recorded, "pids": None} == {**up.said, "pids": None}
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(up.state_dir.stat().st_mode) == 0o700


def test_it_is_alive_and_ready_and_opens_to_its_key(up: Up) -> None:
    base_url = up.said["base_url"]
    assert ask(f"{base_url}/livez") == (200, {"status": "ok"})
    assert ask(f"{base_url}/readyz")[0] == 200
    assert ask(f"{up.said['management']['base_url']}/orders", key=up.said["management"]["api_key"])[0] == 200
    assert ask(f"{up.said['management']['base_url']}/orders", key="wrong")[0] == 401


def test_it_generates_the_restaurants_that_it_was_asked_for(up: Up) -> None:
    with psycopg.connect(up.said["database_url"]) as connection:
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM catalogue_sourcerecord WHERE source_id = 'demo'),"
            " (SELECT count(*) FROM catalogue_review WHERE source_id = 'demo')"
        ).fetchone()
    assert counts == (60, 1200)


def test_other_commands_find_it_by_its_state_directory(up: Up) -> None:
    done = manage(up.state_dir, "migrate", "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_second_up_on_the_same_directory_is_refused(up: Up) -> None:
    done = manage(up.state_dir, "up", "--port", "0")
    assert done.returncode == 1
    assert f"The state directory {up.state_dir} is in use by another `manage.py up`" in done.stderr
    assert is_alive(up.said["pids"]["postgres"])


def test_a_taken_port_is_refused_and_nothing_stays_behind(up: Up, tmp_path: Path) -> None:
    port = str(urlsplit(up.said["base_url"]).port)
    done = manage(tmp_path, "up", "--port", port)
    assert done.returncode == 1
    assert f"Port {port} of 127.0.0.1 is taken" in done.stderr
    assert not [one for one in psutil.process_iter(["cwd"]) if (one.info["cwd"] or "").startswith(str(tmp_path))]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", "no-such-host.invalid"), "The host 'no-such-host.invalid' is unknown"),
        (("--state-dir", str(settings.BASE_DIR / "manage.py")), "manage.py cannot be the state directory"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(tmp_path: Path, words: tuple[str, str], sentence: str) -> None:
    done = manage(tmp_path / "state", "up", "--port", "0", *words)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "state" / "postgres").exists()


@pytest.mark.parametrize(
    ("host", "address", "names"),
    [
        ("127.0.0.1", "127.0.0.1", {"127.0.0.1"}),
        ("::1", "::1", {"[::1]"}),
        ("localhost", "127.0.0.1", {"localhost", "127.0.0.1"}),
    ],
)
def test_a_host_is_bound_by_its_address_and_asked_by_both(host: str, address: str, names: set[str]) -> None:
    assert bind_address.resolve(host) == address
    assert bind_address.names(host=host, address=address) == names


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::"])  # noqa: S104  # only asked about, not bound
def test_on_all_addresses_it_is_asked_by_the_names_of_the_machine(wildcard: str) -> None:
    names = bind_address.names(host=wildcard, address=wildcard)
    assert {socket.gethostname(), socket.getfqdn()} <= names
    # Every one is an entry that Django can match.
    assert [name for name in names if ":" in name and not re.fullmatch(r"\[[0-9a-f:]+\]", name)] == []


def test_its_worker_lets_tasks_end_when_it_is_asked_to_stop(up: Up) -> None:
    assert psutil.Process(up.said["pids"]["worker"]).environ()["REMAP_SIGTERM"] == "SIGQUIT"


def test_its_panel_says_when_the_superusers_password_is_not_known(
    up: Up, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {**up.said, "admin": {**up.said["admin"], "password": None}}
    summary.show(known, state_dir=tmp_path, is_default_dir=False, logs=tmp_path, reviewed=None)
    assert "changed by you" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("is_default_dir", "reviewed", "shown"),
    [
        (True, "noma", ["uv run manage.py pay '/v1/restaurants/noma?fields=core,reviews'"]),
        (False, "noma", ["uv run manage.py pay '/v1/restaurants/noma?fields=core,reviews' --state-dir '/a state'"]),
        (True, None, []),
    ],
)
def test_its_panel_shows_how_to_pay_when_there_are_reviews_to_buy(
    up: Up, capsys: pytest.CaptureFixture[str], is_default_dir: bool, reviewed: str | None, shown: list[str]
) -> None:
    place = Path("/a state")
    summary.show(up.said, state_dir=place, is_default_dir=is_default_dir, logs=place, reviewed=reviewed)
    assert [line for line in capsys.readouterr().out.splitlines() if "manage.py pay" in line] == shown


def test_its_wallets_have_what_gives_them_their_tiers(up: Up) -> None:
    chain = up.said["chain"]
    assert chain["chain_id"] == 84532
    assert chain["network"] == "eip155:84532"
    assert chain["usdc"] == "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    node = Web3(Web3.HTTPProvider(chain["rpc_url"]))
    usdc, token = (
        node.eth.contract(address=chain[key], abi=artifacts.read(name).abi)
        for key, name in (("usdc", "Usdc"), ("token", "UtilityToken"))
    )
    holdings = {
        wallet["tier"]: tuple(
            read(wallet["address"]).call() // 10**18 for read in (token.functions.balanceOf, token.functions.stakedOf)
        )
        for wallet in up.said["wallets"]
    }
    assert holdings == {"free": (0, 0), "pro": (125, 0), "premium": (1000, 0), "enterprise": (0, 60_000)}
    # Of 1,000 USDC and 10 ether each; other tests may have spent some.
    for wallet in up.said["wallets"]:
        assert 900 * 10**6 < usdc.functions.balanceOf(wallet["address"]).call() <= 1000 * 10**6
        assert 9 * 10**18 < node.eth.get_balance(wallet["address"]) <= 10 * 10**18


def test_a_chain_that_is_not_the_one_that_is_sold_on_is_refused(up: Up, tmp_path: Path) -> None:
    own = {"RPC_URL": up.said["chain"]["rpc_url"], "FACILITATOR_URL": "http://127.0.0.1:1", "PAY_TO": "0x" + 20 * "ab"}
    done = manage(tmp_path, "up", "--port", "0", "--no-seed", **own)
    assert done.returncode == 1
    assert "RPC_URL is chain 84532, but PAYMENT_NETWORK is eip155:8453" in done.stderr
    # Before anything was started.
    assert list(tmp_path.iterdir()) == []


def test_a_web_server_that_is_killed_is_started_again(up: Up) -> None:
    record = up_file(up.state_dir)
    before = json.loads(record.read_text())["pids"]
    os.kill(before["web"], signal.SIGKILL)
    assert eventually(lambda: json.loads(record.read_text())["pids"]["web"] != before["web"])
    after = json.loads(record.read_text())["pids"]
    assert {**after, "web": None} == {**before, "web": None}

    def is_ready() -> bool:
        try:
            return ask(f"{up.said['base_url']}/readyz")[0] == 200
        except OSError:
            return False

    assert eventually(is_ready)


def test_a_signal_while_it_starts_stops_what_has_started(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "up", "--port", "0", "--state-dir", str(tmp_path), "--no-seed"]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=environment(tmp_path), stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().endswith(b"PostgreSQL, Valkey, chain and facilitator\n")
        family = [one.pid for one in psutil.Process(process.pid).children(recursive=True)]
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait() == 0
    assert family
    assert [pid for pid in family if is_alive(pid)] == []


@dataclass(frozen=True)
class Killed:
    """What is left of a run beside `up` of which every process was killed, and what it was."""

    state_dir: Path
    said: dict[str, Any]
    placed: dict[str, Any]
    pids: set[int]


def kill_all(pid: int) -> None:
    """kill -9 of a process and of everything below it."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        # A child may end with the parent that was killed just now.
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.fixture(scope="module")
def killed(up: Up, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """An order was placed, then everything was killed. For several tests: a first start takes longest."""
    state_dir = tmp_path_factory.mktemp("killed") / "state"
    order = {
        "customer_id": "cust-1",
        "items": [{"menu_item_id": "dish-1", "quantity": 2, "notes": "no onions"}],
        "delivery_address": "Vesterbrogade 3",
        "payment_method": "card",
    }
    with running(state_dir, "--restaurants", "0") as first:
        assert ask(f"{up.said['base_url']}/readyz")[0] == 200
        management = first.said["management"]
        status, placed = ask(f"{management['base_url']}/orders", method="POST", key=management["api_key"], body=order)
        assert status == 201
        kill_all(first.process.pid)
    return Killed(state_dir=state_dir, said=first.said, placed=placed, pids=set(first.pids))


def test_two_of_them_run_side_by_side(up: Up, killed: Killed) -> None:
    assert len(killed.pids) == len(up.pids)
    assert not {*up.pids} & killed.pids


def test_after_kill_9_of_everything_the_next_one_has_all_and_ends_whole_on_a_signal(up: Up, killed: Killed) -> None:
    management = killed.said["management"]
    with running(killed.state_dir, "--restaurants", "0", POSTGRES_SHARED_BUFFERS="96MB") as second:
        again = second.said["management"]
        assert {**again, "base_url": None} == {**management, "base_url": None}
        status, found = ask(f"{again['base_url']}/orders/{killed.placed['id']}", key=management["api_key"])
        assert (status, found) == (200, killed.placed)
        with psycopg.connect(second.said["database_url"]) as database:
            assert database.execute("SHOW shared_buffers").fetchone() == ("96MB",)
        family = {*second.pids, *(one.pid for one in psutil.Process(second.process.pid).children(recursive=True))}
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait() == 0
    assert [pid for pid in family if is_alive(pid)] == []
    assert not up_file(killed.state_dir).exists()
    assert ask(f"{up.said['base_url']}/readyz")[0] == 200


def test_a_chain_of_ones_own_is_told_and_has_no_demo_wallets(up: Up, killed: Killed) -> None:
    own = {
        "RPC_URL": up.said["chain"]["rpc_url"],
        "FACILITATOR_URL": "http://127.0.0.1:1",
        "PAYMENT_NETWORK": "eip155:84532",
        "PAY_TO": "0x" + 20 * "ab",
    }
    with running(killed.state_dir, "--no-seed", **own) as other:
        told = other.said
        # How it ends is no matter here, and ending in order takes seconds so soon after the start.
        kill_all(other.process.pid)
    assert told["wallets"] is None
    assert (told["pids"]["chain"], told["pids"]["facilitator"]) == (None, None)
    assert told["facilitator_url"] == "http://127.0.0.1:1"
    assert told["chain"] == {
        "rpc_url": own["RPC_URL"],
        "chain_id": 84532,
        "network": "eip155:84532",
        "usdc": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "token": None,
        "pay_to": "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB",
    }


def test_without_it_other_commands_say_in_one_sentence_to_run_it(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate")
    assert done.returncode == 1
    sentence = f"The embedded stack is not running (state directory {tmp_path}): run `manage.py up` first.\n"
    assert done.stderr == sentence


def test_a_server_of_ones_own_that_is_away_keeps_its_own_error(tmp_path: Path) -> None:
    own = {"DATABASE_URL": "postgresql://tablewire@127.0.0.1:1/tablewire", "SECRET_KEY": "of mine"}
    done = manage(tmp_path, "migrate", **own)
    assert done.returncode == 1
    assert "OperationalError" in done.stderr
    assert "manage.py up" not in done.stderr


def test_errors_that_have_nothing_to_do_with_it_keep_their_traceback(tmp_path: Path) -> None:
    done = manage(tmp_path, "shell", "--no-imports", "-c", "1 / 0")
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
