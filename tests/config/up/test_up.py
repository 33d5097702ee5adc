"""`manage.py up`: started, requested over HTTP, interrupted and killed."""

import json
import os
import re
import resource
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

from config.up import bind_address, summary
from framework.state_directory import up_record_path, write_private
from tests.support import contracts
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
    "dashboard": {"url": str, "email": str, "password": str, "venue": str},
    "pages": {
        "landing": str,
        "order_board": str,
        "reservations": str,
        "booking_page": str,
        "ordering_page": str,
        "docs": str,
        "mailbox": str,
    },
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
    """A value with its leaves, except None, replaced by their types."""
    if isinstance(value, dict):
        return {name: shape(part, like) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part, like) for part in value]
    return None if value is None else type(value)


@pytest.mark.stack
def test_up_json_has_the_documented_keys(up: Up) -> None:
    assert shape(up.record, SHAPE) == SHAPE


@pytest.mark.stack
def test_up_json_equals_the_output_and_is_private(up: Up) -> None:
    record = up_record_path(up.state_dir)
    recorded = json.loads(record.read_text())
    # Another test may have restarted the web server.
    assert {**recorded, "pids": None} == {**up.record, "pids": None}
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(up.state_dir.stat().st_mode) == 0o700


@pytest.mark.stack
def test_web_server_is_ready_and_accepts_its_key(up: Up) -> None:
    base_url = up.record["base_url"]
    assert ask(f"{base_url}/livez") == (200, {"status": "ok"})
    assert ask(f"{base_url}/readyz")[0] == 200
    assert ask(f"{up.record['management']['base_url']}/orders", key=up.record["management"]["api_key"])[0] == 200
    assert ask(f"{up.record['management']['base_url']}/orders", key="wrong")[0] == 401


@pytest.mark.stack
def test_restaurants_option_is_the_number_of_generated_restaurants(up: Up) -> None:
    with psycopg.connect(up.record["database_url"]) as connection:
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM catalogue_sourcerecord WHERE source_id = 'demo'),"
            " (SELECT count(*) FROM catalogue_review WHERE source_id = 'demo')"
        ).fetchone()
    assert counts == (60, 1200)


@pytest.mark.deep
def test_other_commands_use_the_state_directory(up: Up) -> None:
    done = manage(up.state_dir, "migrate", "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.deep
def test_second_up_on_the_same_directory_is_refused(up: Up) -> None:
    done = manage(up.state_dir, "up", "--port", "0")
    assert done.returncode == 1
    assert f"The state directory {up.state_dir} is in use by another `manage.py up`" in done.stderr
    assert is_alive(up.record["pids"]["postgres"])


@pytest.mark.stack
def test_port_in_use_is_refused_and_no_process_is_left(up: Up, tmp_path: Path) -> None:
    port = str(urlsplit(up.record["base_url"]).port)
    done = manage(tmp_path, "up", "--port", port)
    assert done.returncode == 1
    assert f"Port {port} of 127.0.0.1 is in use" in done.stderr
    assert not [
        process for process in psutil.process_iter(["cwd"]) if (process.info["cwd"] or "").startswith(str(tmp_path))
    ]


@pytest.mark.stack
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--host", "no-such-host.invalid"), "The host 'no-such-host.invalid' is unknown"),
        (("--state-dir", str(settings.BASE_DIR / "manage.py")), "manage.py cannot be the state directory"),
    ],
)
def test_wrong_argument_is_refused_with_a_message(tmp_path: Path, options: tuple[str, str], message: str) -> None:
    done = manage(tmp_path / "state", "up", "--port", "0", *options)
    assert done.returncode == 1
    assert message in done.stderr
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
def test_host_is_resolved_and_both_its_name_and_address_are_allowed(host: str, address: str, names: set[str]) -> None:
    assert bind_address.resolve(host) == address
    assert bind_address.allowed_hosts(host=host, address=address) == names


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::"])  # noqa: S104  # not bound
def test_names_of_the_machine_are_allowed_on_a_wildcard_address(wildcard: str) -> None:
    names = bind_address.allowed_hosts(host=wildcard, address=wildcard)
    assert {socket.gethostname(), socket.getfqdn()} <= names
    # Django can match each of them.
    assert [name for name in names if ":" in name and not re.fullmatch(r"\[[0-9a-f:]+\]", name)] == []


@pytest.mark.stack
def test_worker_stops_with_a_soft_shutdown(up: Up) -> None:
    assert psutil.Process(up.record["pids"]["worker"]).environ()["REMAP_SIGTERM"] == "SIGQUIT"


@pytest.mark.stack
def test_panel_shows_that_the_password_of_the_superuser_was_changed(
    up: Up, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {**up.record, "admin": {**up.record["admin"], "password": None}}
    summary.print_panel(known, state_dir=tmp_path, is_default_dir=False, logs=tmp_path, reviewed=None)
    assert "changed by you" in " ".join(capsys.readouterr().out.split())


@pytest.mark.stack
@pytest.mark.parametrize(
    ("is_default_dir", "reviewed", "shown"),
    [
        (True, "noma", ["uv run manage.py pay '/v1/restaurants/noma?fields=core,reviews'"]),
        (False, "noma", ["uv run manage.py pay '/v1/restaurants/noma?fields=core,reviews' --state-dir '/a state'"]),
        (True, None, []),
    ],
)
def test_panel_shows_a_payment_command_when_there_are_reviews_to_buy(
    up: Up, capsys: pytest.CaptureFixture[str], is_default_dir: bool, reviewed: str | None, shown: list[str]
) -> None:
    place = Path("/a state")
    summary.print_panel(up.record, state_dir=place, is_default_dir=is_default_dir, logs=place, reviewed=reviewed)
    assert [line for line in capsys.readouterr().out.splitlines() if "manage.py pay" in line] == shown


@pytest.mark.stack
def test_demo_wallets_have_the_holdings_of_their_tiers(up: Up) -> None:
    chain = up.record["chain"]
    assert chain["chain_id"] == 84532
    assert chain["network"] == "eip155:84532"
    assert chain["usdc"] == "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    node = Web3(Web3.HTTPProvider(chain["rpc_url"]))
    usdc, token = (
        node.eth.contract(address=chain[key], abi=contracts.load_artifact(name).abi)
        for key, name in (("usdc", "Usdc"), ("token", "UtilityToken"))
    )
    holdings = {
        wallet["tier"]: tuple(
            read(wallet["address"]).call() // 10**18 for read in (token.functions.balanceOf, token.functions.stakedOf)
        )
        for wallet in up.record["wallets"]
    }
    assert holdings == {"free": (0, 0), "pro": (125, 0), "premium": (1000, 0), "enterprise": (0, 60_000)}
    # Of 1,000 USDC and 10 ether each; other tests may have spent some.
    for wallet in up.record["wallets"]:
        assert 900 * 10**6 < usdc.functions.balanceOf(wallet["address"]).call() <= 1000 * 10**6
        assert 9 * 10**18 < node.eth.get_balance(wallet["address"]) <= 10 * 10**18


@pytest.mark.stack
def test_chain_other_than_the_payment_network_is_refused(up: Up, tmp_path: Path) -> None:
    own = {
        "RPC_URL": up.record["chain"]["rpc_url"],
        "FACILITATOR_URL": "http://127.0.0.1:1",
        "PAY_TO": "0x" + 20 * "ab",
    }
    done = manage(tmp_path, "up", "--port", "0", "--no-seed", **own)
    assert done.returncode == 1
    assert "RPC_URL is chain 84532, but PAYMENT_NETWORK is eip155:8453" in done.stderr
    # Before anything was started.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.stack
def test_killed_web_server_is_restarted(up: Up) -> None:
    record = up_record_path(up.state_dir)
    before = json.loads(record.read_text())["pids"]
    os.kill(before["web"], signal.SIGKILL)
    assert eventually(lambda: json.loads(record.read_text())["pids"]["web"] != before["web"])
    after = json.loads(record.read_text())["pids"]
    assert {**after, "web": None} == {**before, "web": None}

    def is_ready() -> bool:
        try:
            return ask(f"{up.record['base_url']}/readyz")[0] == 200
        except OSError:
            return False

    assert eventually(is_ready)


@pytest.mark.stack
def test_signal_during_the_start_stops_all_processes(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "up", "--port", "0", "--state-dir", str(tmp_path), "--no-seed"]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=environment(tmp_path), stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().endswith(b"PostgreSQL and Valkey\n")
        family = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait() == 0
    assert family
    assert [pid for pid in family if is_alive(pid)] == []


@dataclass(frozen=True)
class Killed:
    """A run beside `up` of which every process was killed: its record, and an order that was placed."""

    state_dir: Path
    record: dict[str, Any]
    order: dict[str, Any]
    pids: set[int]


def kill_all(pid: int) -> None:
    """Kill a process and all its descendants."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        # A child may end with its parent.
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.fixture(scope="module")
def killed(up: Up, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """A run in which an order was placed before every process was killed. Shared, as a first start is slow."""
    state_dir = tmp_path_factory.mktemp("killed") / "state"
    order = {
        "customer_id": "cust-1",
        "items": [{"menu_item_id": "dish-1", "quantity": 2, "notes": "no onions"}],
        "delivery_address": "Vesterbrogade 3",
        "payment_method": "card",
    }
    with running(state_dir, "--restaurants", "0") as first:
        assert ask(f"{up.record['base_url']}/readyz")[0] == 200
        management = first.record["management"]
        status, placed = ask(f"{management['base_url']}/orders", method="POST", key=management["api_key"], body=order)
        assert status == 201
        kill_all(first.process.pid)
    return Killed(state_dir=state_dir, record=first.record, order=placed, pids=set(first.pids))


@pytest.mark.stack
def test_two_runs_have_separate_processes(up: Up, killed: Killed) -> None:
    assert len(killed.pids) == len(up.pids)
    assert not {*up.pids} & killed.pids


@pytest.mark.stack
def test_run_after_a_kill_has_all_data_and_stops_completely_on_a_signal(up: Up, killed: Killed) -> None:
    management = killed.record["management"]
    with running(killed.state_dir, "--restaurants", "0", POSTGRES_SHARED_BUFFERS="96MB") as second:
        again = second.record["management"]
        assert {**again, "base_url": None} == {**management, "base_url": None}
        status, found = ask(f"{again['base_url']}/orders/{killed.order['id']}", key=management["api_key"])
        assert (status, found) == (200, killed.order)
        with psycopg.connect(second.record["database_url"]) as database:
            assert database.execute("SHOW shared_buffers").fetchone() == ("96MB",)
        family = {*second.pids, *(child.pid for child in psutil.Process(second.process.pid).children(recursive=True))}
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait() == 0
    assert [pid for pid in family if is_alive(pid)] == []
    assert not up_record_path(killed.state_dir).exists()
    assert ask(f"{up.record['base_url']}/readyz")[0] == 200


@pytest.mark.deep
def test_record_of_an_external_chain_has_no_demo_wallets(up: Up, killed: Killed) -> None:
    own = {
        "RPC_URL": up.record["chain"]["rpc_url"],
        "FACILITATOR_URL": "http://127.0.0.1:1",
        "PAYMENT_NETWORK": "eip155:84532",
        "PAY_TO": "0x" + 20 * "ab",
    }
    with running(killed.state_dir, "--no-seed", **own) as other:
        other_record = other.record
        # An orderly stop takes seconds so soon after the start, and is not tested here.
        kill_all(other.process.pid)
    assert other_record["wallets"] is None
    assert (other_record["pids"]["chain"], other_record["pids"]["facilitator"]) == (None, None)
    assert other_record["facilitator_url"] == "http://127.0.0.1:1"
    assert other_record["chain"] == {
        "rpc_url": own["RPC_URL"],
        "chain_id": 84532,
        "network": "eip155:84532",
        "usdc": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "token": None,
        "pay_to": "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB",
    }


@pytest.mark.stack
def test_commands_without_a_running_stack_exit_with_a_message(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate")
    assert done.returncode == 1
    message = f"The embedded stack is not running (state directory {tmp_path}): run `manage.py up` first.\n"
    assert done.stderr == message


@pytest.mark.stack
def test_up_that_cannot_write_its_files_ends_with_a_sentence(tmp_path: Path) -> None:
    """A limit on the size of files fails the first write; tests/chaos/test_full_disk.py fills disks."""
    done = subprocess.run(
        [sys.executable, "manage.py", "up", "--port", "0", "--state-dir", str(tmp_path)],
        cwd=settings.BASE_DIR,
        env=environment(tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    expected = f"The state directory {tmp_path} cannot be written: File too large. Make room and start again"
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_file_that_cannot_be_written_leaves_the_former_one_and_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "up.json"
    write_private(file, "{}")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_private(file, "x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert (file.read_text(), list(tmp_path.iterdir())) == ("{}", [file])


@pytest.mark.stack
def test_error_of_an_unreachable_external_server_is_shown(tmp_path: Path) -> None:
    own = {"DATABASE_URL": "postgresql://tablewire@127.0.0.1:1/tablewire", "SECRET_KEY": "of mine"}
    done = manage(tmp_path, "migrate", **own)
    assert done.returncode == 1
    assert done.stderr.startswith("The server of DATABASE_URL cannot be reached: connection failed")
    assert done.stderr.count("\n") == 1


@pytest.mark.stack
def test_other_errors_have_their_traceback(tmp_path: Path) -> None:
    done = manage(tmp_path, "shell", "--no-imports", "-c", "1 / 0")
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
