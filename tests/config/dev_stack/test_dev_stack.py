"""The embedded stack: starts, restarts, kills, other stacks, users."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.dev_stack import Stack
from config.dev_stack.postgres import Postgres
from config.dev_stack.processes import OWNER
from config.dev_stack.servers import free_port
from framework.state_directory import StackError, read_up_record, up_record_path

RUN_STACK = """
import json, sys
from pathlib import Path
from config.dev_stack import Stack

with Stack(Path(sys.argv[1]), facilitator=False) as stack:
    pids = {server.name: server.pid for server in stack.servers}
    print(json.dumps({**stack.environment(), "pids": pids}), flush=True)
    sys.stdin.read()
"""


def fast_stack(state_dir: Path, *, chain: bool = False) -> Stack:
    """A stack that would lose data in a crash of the machine."""
    return Stack(state_dir, chain=chain, durable=False, shared_buffers="32MB")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A running stack for tests that do not change it."""
    with fast_stack(tmp_path_factory.mktemp("shared") / "state", chain=True) as stack:
        yield stack


def query(database: Stack | str, statement: str) -> Any:
    """Run a statement at a stack or a URL; return the first column of the first row, or None."""
    url = database if isinstance(database, str) else database.environment()["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


@contextmanager
def stack_process(state_dir: Path, *prefix: str, env: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """A durable stack in its own process: its URLs and process ids. The process ends with the block."""
    command = [*prefix, sys.executable, "-c", RUN_STACK, str(state_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=settings.BASE_DIR, env=env
    ) as process:
        assert process.stdout is not None
        yield {"pid": process.pid, **json.loads(process.stdout.readline())}


def kill_all(pid: int) -> None:
    """Kill a process and all its descendants, the parents first, so that none can stop its children."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        # A child may end with its parent.
        with suppress(psutil.NoSuchProcess):
            process.kill()


def is_alive(pid: int) -> bool:
    """Whether the process runs and is no zombie."""
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


@pytest.mark.stack
def test_second_start_has_the_data_ports_and_secrets_of_the_first(tmp_path: Path) -> None:
    with fast_stack(tmp_path, chain=True) as first:
        query(first, "CREATE TABLE dish AS SELECT 'herring' AS name")
        redis.Redis.from_url(first.environment()["REDIS_URL"]).set("dish", "herring")
        before = first.environment()
    with fast_stack(tmp_path, chain=True) as second:
        assert second.environment() == before
        assert query(second, "SELECT name FROM dish") == "herring"
        assert redis.Redis.from_url(second.environment()["REDIS_URL"]).get("dish") == b"herring"


@pytest.mark.stack
def test_end_of_the_block_stops_every_server(tmp_path: Path) -> None:
    with fast_stack(tmp_path, chain=True) as stack:
        pids = {server.name: server.pid or 0 for server in stack.servers}
        assert {name for name, pid in pids.items() if is_alive(pid)} == {"postgres", "valkey", "chain", "facilitator"}
    assert {name for name, pid in pids.items() if is_alive(pid)} == set()


@pytest.mark.stack
def test_database_is_named_tablewire_and_sorts_by_code_point(shared: Stack) -> None:
    names = query(
        shared,
        "SELECT concat_ws(' ', current_database(), current_user, datlocprovider, datlocale)"
        " FROM pg_database WHERE datname = current_database()",
    )
    assert names == "tablewire tablewire b C.UTF-8"
    assert query(shared, "SHOW server_version_num")[:2] == "18"
    assert query(shared, "SHOW max_connections") == "200"


@pytest.mark.stack
def test_wrong_password_is_refused(shared: Stack) -> None:
    assert shared.postgres is not None
    assert shared.valkey is not None
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        query(shared.postgres.url.replace(shared.postgres.password, "wrong"), "SELECT 1")
    client = redis.Redis(port=shared.valkey.port, retry=Retry(NoBackoff(), 0))
    with client, pytest.raises(redis.exceptions.AuthenticationError):
        client.ping()


@pytest.mark.stack
def test_commit_waits_for_the_disk_by_default(tmp_path: Path) -> None:
    with Stack(tmp_path, valkey=False, chain=False, shared_buffers="32MB") as stack:
        assert query(stack, "SHOW fsync") == "on"
        assert query(stack, "SHOW synchronous_commit") == "on"


@pytest.mark.stack
def test_committed_rows_survive_a_kill(tmp_path: Path) -> None:
    with stack_process(tmp_path) as first, psycopg.connect(first["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE dish AS SELECT 'herring' AS name")
        connection.commit()
        connection.execute("UPDATE dish SET name = 'never committed'")
        kill_all(first["pid"])
        # The server was killed; the end of the block would try to commit.
        connection.close()
    with stack_process(tmp_path) as second:
        assert query(second["DATABASE_URL"], "SELECT name FROM dish") == "herring"


@pytest.mark.stack
def test_acknowledged_writes_of_valkey_survive_a_kill(tmp_path: Path) -> None:
    with stack_process(tmp_path) as first:
        with redis.Redis.from_url(first["REDIS_URL"]) as store:
            for number in range(500):
                store.rpush("messages", number)
            # The acknowledgement that holds under `appendfsync everysec`: one copy on this disk.
            assert store.execute_command("WAITAOF", 1, 0, 0) == [1, 0]
        kill_all(first["pid"])
    with stack_process(tmp_path) as second, redis.Redis.from_url(second["REDIS_URL"]) as store:
        assert store.lrange("messages", 0, -1) == [str(number).encode() for number in range(500)]


@pytest.mark.stack
def test_servers_stop_when_their_parent_is_killed(tmp_path: Path) -> None:
    with stack_process(tmp_path) as first:
        servers = [psutil.Process(pid) for pid in first["pids"].values()]
        os.kill(first["pid"], signal.SIGKILL)
    with fast_stack(tmp_path) as second:
        assert [is_alive(server.pid) for server in servers] == [False] * 3
        assert query(second, "SELECT 1") == 1


@pytest.mark.stack
def test_leftover_server_is_stopped_before_a_start(tmp_path: Path) -> None:
    with fast_stack(tmp_path) as first:
        assert first.postgres is not None
        password = first.postgres.password
    left = Postgres(
        home=tmp_path / "postgres", log=tmp_path / "left.log", port=free_port(), password=password, durable=False
    )
    left.start()
    with fast_stack(tmp_path) as second:
        assert second.leftovers > 0
        assert not left.is_running()
        assert query(second, "SELECT 1") == 1


@pytest.mark.stack
def test_leftover_processes_of_the_same_directory_only_are_stopped(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "mine too"
    command = [sys.executable, "-c", "import sys; print('ready', flush=True); sys.stdin.read()"]
    children = [
        subprocess.Popen(
            command, env={**os.environ, OWNER: str(home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
        )
        for home in (mine, other)
    ]
    with children[0] as left, children[1] as neighbour:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
        with fast_stack(mine) as stack:
            assert stack.leftovers == 1
            assert left.wait() == -signal.SIGTERM
            assert neighbour.poll() is None


@pytest.mark.stack
def test_stale_lock_file_of_postgresql_with_a_reused_pid_is_ignored(tmp_path: Path) -> None:
    with fast_stack(tmp_path):
        lock_file = (tmp_path / "postgres" / "postmaster.pid").read_text().splitlines()
    lock_file[0] = str(os.getpid())
    (tmp_path / "postgres" / "postmaster.pid").write_text("\n".join(lock_file))
    with fast_stack(tmp_path) as stack:
        assert query(stack, "SELECT 1") == 1


@pytest.mark.stack
def test_interrupted_first_start_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "postgres.draft" / "base").mkdir(parents=True)
    (tmp_path / "stack.json").touch()
    with fast_stack(tmp_path) as stack:
        assert query(stack, "SELECT 1") == 1
    assert not (tmp_path / "postgres.draft").exists()


@pytest.mark.stack
def test_two_stacks_are_separate(shared: Stack, tmp_path: Path) -> None:
    with fast_stack(tmp_path) as other:
        query(other, "CREATE TABLE only_here ()")
        assert query(other, "SELECT to_regclass('only_here') IS NULL") is False
        assert query(shared, "SELECT to_regclass('only_here') IS NULL") is True


@pytest.mark.deep
@pytest.mark.parametrize("name", ["with spaces and 'quotes'", "long" * 40])
def test_unusual_directory_names_work(tmp_path: Path, name: str) -> None:
    with fast_stack(tmp_path / name) as stack:
        assert query(stack, "SELECT 1") == 1
        assert redis.Redis.from_url(stack.environment()["REDIS_URL"]).ping() is True


@pytest.mark.stack
def test_port_in_use_is_replaced(shared: Stack, tmp_path: Path) -> None:
    shutil.copy(shared.state_dir / "stack.json", tmp_path)
    with fast_stack(tmp_path) as other:
        assert other.postgres is not None
        assert shared.postgres is not None
        assert other.postgres.password == shared.postgres.password
        assert other.postgres.port != shared.postgres.port
        assert query(other, "SELECT 1") == 1


@pytest.mark.stack
def test_directory_in_use_is_refused_and_unchanged(shared: Stack) -> None:
    expected = (
        f"The state directory {shared.state_dir} is in use by another `manage.py up` (process {os.getpid()}):"
        " stop that one, or give this one a directory of its own with --state-dir."
    )
    with pytest.raises(StackError) as refusal, fast_stack(shared.state_dir):
        pass
    assert str(refusal.value) == expected
    assert query(shared, "SELECT 1") == 1


@pytest.mark.stack
def test_directory_of_another_version_of_postgresql_is_refused_and_unchanged(tmp_path: Path) -> None:
    home = tmp_path / "postgres"
    home.mkdir()
    (home / "PG_VERSION").write_text("16\n")
    (tmp_path / "stack.json").write_text("{}")
    with pytest.raises(StackError) as refusal, Stack(tmp_path, valkey=False, chain=False):
        pass
    assert str(refusal.value) == f"{home} was created by PostgreSQL 16; this needs 18. Use another --state-dir."
    assert [(entry.name, entry.read_text()) for entry in home.iterdir()] == [("PG_VERSION", "16\n")]


def empty_stack(state_dir: Path) -> Stack:
    """A stack without servers, which only uses the directory."""
    return Stack(state_dir, postgres=False, valkey=False, chain=False)


@pytest.mark.stack
def test_directory_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "lock").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(StackError) as refusal, empty_stack(tmp_path):
        pass
    assert str(refusal.value) == (
        f"The directory {tmp_path} holds something else (documents) and is left alone:"
        " choose an empty or a new one with --state-dir."
    )
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert {entry.name for entry in tmp_path.iterdir()} == {"documents", "lock"}


@pytest.mark.deep
@pytest.mark.parametrize("left", [(), ("lock",), ("lock", "logs", "stack.json.draft"), ("rejects", "secret_key")])
def test_directory_of_an_interrupted_start_is_used(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).mkdir() if name in ("logs", "rejects") else (tmp_path / name).write_text("")
    with empty_stack(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    (tmp_path / "made later").touch()
    with empty_stack(tmp_path) as again:
        assert again.servers == []


@pytest.mark.stack
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_file_in_place_of_the_directory_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(StackError, match="cannot be the state directory") as refusal, empty_stack(tmp_path / place):
        pass
    assert "\n" not in str(refusal.value)
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.stack
def test_directory_and_secrets_are_private(shared: Stack) -> None:
    assert len(shared.environment()["SECRET_KEY"]) >= 50
    directories = ("", "logs", "postgres", "valkey", "chain")
    files = ("stack.json", "secret_key", "valkey/valkey.conf", "chain/transactions")
    assert {stat.S_IMODE((shared.state_dir / name).stat().st_mode) for name in directories} == {0o700}
    assert {stat.S_IMODE((shared.state_dir / name).stat().st_mode) for name in files} == {0o600}


@pytest.mark.parametrize("content", [None, "", '{"base_url": "http', "[]", "\udcff"])
def test_absent_or_invalid_record_is_none(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        up_record_path(tmp_path).write_text(content, errors="surrogateescape")
    assert read_up_record(tmp_path) is None


def test_record_is_read_as_written(tmp_path: Path) -> None:
    up_record_path(tmp_path).write_text('{"base_url": "http://127.0.0.1:8000"}')
    assert read_up_record(tmp_path) == {"base_url": "http://127.0.0.1:8000"}


@pytest.mark.stack
def test_ordinary_user_can_run_the_stack(tmp_path: Path) -> None:
    """As root: the user `nobody`, with the capability to read our Python wherever it is installed."""
    if os.geteuid() != 0:
        with fast_stack(tmp_path) as stack:
            assert query(stack, "SELECT 1") == 1
        return
    prefix = [
        *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
        *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
    ]
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    try:
        subprocess.run([*prefix, sys.executable, "-c", ""], check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("setpriv cannot make a plain user of root here")
    with stack_process(home, *prefix) as stack:
        assert query(stack["DATABASE_URL"], "SELECT 1") == 1
        assert psutil.Process(stack["pids"]["postgres"]).uids().effective == 65534


@pytest.mark.deep
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_root_can_run_the_stack_without_user_namespaces(tmp_path: Path) -> None:
    only_setpriv = tmp_path / "bin"
    only_setpriv.mkdir()
    (only_setpriv / "setpriv").symlink_to(shutil.which("setpriv") or "")
    home = tmp_path / "state"
    with fast_stack(home):
        # Initialised as root first: the owner of the data then changes.
        pass
    with stack_process(home, env={**os.environ, "PATH": str(only_setpriv)}) as stack:
        assert query(stack["DATABASE_URL"], "SELECT 1") == 1
        assert psutil.Process(stack["pids"]["postgres"]).uids().effective == 65534
    with fast_stack(home) as again:
        assert query(again, "SELECT 1") == 1
