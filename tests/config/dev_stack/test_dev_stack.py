"""The embedded stack: starts, restarts, kills, neighbours, users."""

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

from config.dev_stack import OWNER, Stack, StackError, free_port, read_up, up_file
from config.dev_stack.postgres import Postgres

HOLD = """
import json, sys
from pathlib import Path
from config.dev_stack import Stack

with Stack(Path(sys.argv[1]), facilitator=False) as stack:
    told = {"database_url": stack.database_url, "redis_url": stack.redis_url, "rpc_url": stack.rpc_url}
    told["pids"] = {name: pid for name, pid in stack.pids.items() if pid}
    print(json.dumps(told), flush=True)
    sys.stdin.read()
"""


def careless(state_dir: Path, *, chain: bool = False) -> Stack:
    """A stack for a test in which no machine crashes."""
    return Stack(state_dir, chain=chain, durable=False, shared_buffers="32MB")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A running stack for tests that only look."""
    with careless(tmp_path_factory.mktemp("shared") / "state", chain=True) as stack:
        yield stack


def ask(url: str | None, statement: str) -> Any:
    """The first column of the first row, or None."""
    assert url is not None
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


@contextmanager
def held(state_dir: Path, *prefix: str, env: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """What a durable stack in a process of its own says of itself; the process stops at the end, if it still lives."""
    command = [*prefix, sys.executable, "-c", HOLD, str(state_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=settings.BASE_DIR, env=env
    ) as holder:
        assert holder.stdout is not None
        yield {"holder": holder.pid, **json.loads(holder.stdout.readline())}


def kill_all(pid: int) -> None:
    """kill -9 of a process and of everything below it, the top first, so that nobody can stop in order."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        # A child may end with the parent that was killed just now.
        with suppress(psutil.NoSuchProcess):
            process.kill()


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


def test_a_second_start_finds_the_rows_the_ports_and_the_secrets_of_the_first(tmp_path: Path) -> None:
    with careless(tmp_path, chain=True) as first:
        ask(first.database_url, "CREATE TABLE dish AS SELECT 'herring' AS name")
        redis.Redis.from_url(first.redis_url or "").set("dish", "herring")
        before = (first.database_url, first.redis_url, first.rpc_url, first.facilitator_url, first.secret_key)
    with careless(tmp_path, chain=True) as second:
        urls = (second.database_url, second.redis_url, second.rpc_url, second.facilitator_url)
        assert (*urls, second.secret_key) == before
        assert ask(second.database_url, "SELECT name FROM dish") == "herring"
        assert redis.Redis.from_url(second.redis_url or "").get("dish") == b"herring"


def test_leaving_the_block_ends_every_server(tmp_path: Path) -> None:
    with careless(tmp_path, chain=True) as stack:
        pids = {name: pid for name, pid in stack.pids.items() if pid}
        assert {name for name, pid in pids.items() if is_alive(pid)} == {"postgres", "valkey", "chain", "facilitator"}
    assert {name for name, pid in pids.items() if is_alive(pid)} == set()


def test_the_database_is_called_tablewire_and_sorts_by_code_point(shared: Stack) -> None:
    names = ask(
        shared.database_url,
        "SELECT concat_ws(' ', current_database(), current_user, datlocprovider, datlocale)"
        " FROM pg_database WHERE datname = current_database()",
    )
    assert names == "tablewire tablewire b C.UTF-8"
    assert ask(shared.database_url, "SHOW server_version_num")[:2] == "18"
    assert ask(shared.database_url, "SHOW max_connections") == "200"


def test_both_servers_refuse_a_wrong_password(shared: Stack) -> None:
    assert shared.postgres is not None
    assert shared.valkey is not None
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        ask(shared.postgres.url.replace(shared.postgres.password, "wrong"), "SELECT 1")
    stranger = redis.Redis(port=shared.valkey.port, retry=Retry(NoBackoff(), 0))
    with stranger, pytest.raises(redis.exceptions.AuthenticationError):
        stranger.ping()


def test_unless_told_otherwise_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    with Stack(tmp_path, valkey=False, chain=False, shared_buffers="32MB") as stack:
        assert ask(stack.database_url, "SHOW fsync") == "on"
        assert ask(stack.database_url, "SHOW synchronous_commit") == "on"


def test_after_kill_9_of_everything_committed_rows_are_there(tmp_path: Path) -> None:
    with held(tmp_path) as first, psycopg.connect(first["database_url"]) as connection:
        connection.execute("CREATE TABLE dish AS SELECT 'herring' AS name")
        connection.commit()
        connection.execute("UPDATE dish SET name = 'never committed'")
        kill_all(first["holder"])
        # The server is gone; leaving the block would try to commit.
        connection.close()
    with held(tmp_path) as second:
        assert ask(second["database_url"], "SELECT name FROM dish") == "herring"


def test_after_kill_9_valkey_has_what_it_acknowledged(tmp_path: Path) -> None:
    with held(tmp_path) as first:
        with redis.Redis.from_url(first["redis_url"]) as store:
            for number in range(500):
                store.rpush("doorbells", number)
            # The acknowledgement that holds under `appendfsync everysec`: one copy on this disk.
            assert store.execute_command("WAITAOF", 1, 0, 0) == [1, 0]
        kill_all(first["holder"])
    with held(tmp_path) as second, redis.Redis.from_url(second["redis_url"]) as store:
        assert store.lrange("doorbells", 0, -1) == [str(number).encode() for number in range(500)]


def test_when_its_owner_is_killed_the_servers_stop_and_the_next_start_works(tmp_path: Path) -> None:
    with held(tmp_path) as first:
        servers = [psutil.Process(pid) for pid in first["pids"].values()]
        os.kill(first["holder"], signal.SIGKILL)
    with careless(tmp_path) as second:
        assert [is_alive(server.pid) for server in servers] == [False] * 3
        assert ask(second.database_url, "SELECT 1") == 1


def test_a_server_that_an_earlier_run_left_alive_is_stopped_before_a_new_one_starts(tmp_path: Path) -> None:
    with careless(tmp_path) as first:
        assert first.postgres is not None
        password = first.postgres.password
    left = Postgres(
        home=tmp_path / "postgres", log=tmp_path / "left.log", port=free_port(), password=password, durable=False
    )
    left.start()
    with careless(tmp_path) as second:
        assert second.leftovers > 0
        assert not left.is_running()
        assert ask(second.database_url, "SELECT 1") == 1


def test_programs_of_an_earlier_run_are_ended_and_those_of_another_directory_are_not(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "mine too"
    waiting = [sys.executable, "-c", "import sys; print('ready', flush=True); sys.stdin.read()"]
    children = [
        subprocess.Popen(
            waiting, env={**os.environ, OWNER: str(home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
        )
        for home in (mine, other)
    ]
    with children[0] as left, children[1] as neighbour:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
        with careless(mine) as stack:
            assert stack.leftovers == 1
            assert left.wait() == -signal.SIGTERM
            assert neighbour.poll() is None


def test_a_stale_lock_file_of_postgresql_that_names_a_strangers_process_does_no_harm(tmp_path: Path) -> None:
    with careless(tmp_path):
        lock_file = (tmp_path / "postgres" / "postmaster.pid").read_text().splitlines()
    lock_file[0] = str(os.getpid())
    (tmp_path / "postgres" / "postmaster.pid").write_text("\n".join(lock_file))
    with careless(tmp_path) as stack:
        assert ask(stack.database_url, "SELECT 1") == 1


def test_an_interrupted_first_start_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "postgres.draft" / "base").mkdir(parents=True)
    (tmp_path / "stack.json").touch()
    with careless(tmp_path) as stack:
        assert ask(stack.database_url, "SELECT 1") == 1
    assert not (tmp_path / "postgres.draft").exists()


def test_two_stacks_run_side_by_side(shared: Stack, tmp_path: Path) -> None:
    with careless(tmp_path) as other:
        ask(other.database_url, "CREATE TABLE only_here ()")
        assert ask(other.database_url, "SELECT to_regclass('only_here') IS NULL") is False
        assert ask(shared.database_url, "SELECT to_regclass('only_here') IS NULL") is True


@pytest.mark.parametrize("name", ["with spaces and 'quotes'", "long" * 40])
def test_any_directory_will_do(tmp_path: Path, name: str) -> None:
    with careless(tmp_path / name) as stack:
        assert ask(stack.database_url, "SELECT 1") == 1
        assert redis.Redis.from_url(stack.redis_url or "").ping() is True


def test_a_taken_port_is_changed(shared: Stack, tmp_path: Path) -> None:
    shutil.copy(shared.state_dir / "stack.json", tmp_path)
    with careless(tmp_path) as other:
        assert other.postgres is not None
        assert shared.postgres is not None
        assert other.postgres.password == shared.postgres.password
        assert other.postgres.port != shared.postgres.port
        assert ask(other.database_url, "SELECT 1") == 1


def test_a_directory_in_use_is_refused_with_a_sentence_and_left_alone(shared: Stack) -> None:
    expected = (
        f"The state directory {shared.state_dir} is in use by another `manage.py up` (process {os.getpid()}):"
        " stop that one, or give this one a directory of its own with --state-dir."
    )
    with pytest.raises(StackError) as refusal, careless(shared.state_dir):
        pass
    assert str(refusal.value) == expected
    assert ask(shared.database_url, "SELECT 1") == 1


def nothing(state_dir: Path) -> Stack:
    """A stack without servers: only what happens to the directory."""
    return Stack(state_dir, postgres=False, valkey=False, chain=False)


def test_a_directory_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "lock").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(StackError) as refusal, nothing(tmp_path):
        pass
    assert str(refusal.value) == (
        f"The directory {tmp_path} holds something else (letters) and is left alone:"
        " choose an empty or a new one with --state-dir."
    )
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert {entry.name for entry in tmp_path.iterdir()} == {"letters", "lock"}


@pytest.mark.parametrize("left", [(), ("lock",), ("lock", "logs", "stack.json.draft"), ("rejects", "secret_key")])
def test_a_directory_with_no_more_than_a_beginning_of_ours_is_taken(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).mkdir() if name in ("logs", "rejects") else (tmp_path / name).write_text("")
    with nothing(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    (tmp_path / "made later").touch()
    with nothing(tmp_path) as again:
        assert again.pids == {"postgres": None, "valkey": None, "chain": None, "facilitator": None}


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_file_in_place_of_the_directory_is_refused_with_a_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(StackError, match="cannot be the state directory") as refusal, nothing(tmp_path / place):
        pass
    assert "\n" not in str(refusal.value)
    assert (tmp_path / "file").read_text() == "precious"


def test_nobody_else_can_read_the_directory_or_its_secrets(shared: Stack) -> None:
    assert len(shared.secret_key) >= 50
    directories = ("", "logs", "postgres", "valkey", "chain")
    files = ("stack.json", "secret_key", "valkey/valkey.conf", "chain/transactions")
    assert {stat.S_IMODE((shared.state_dir / name).stat().st_mode) for name in directories} == {0o700}
    assert {stat.S_IMODE((shared.state_dir / name).stat().st_mode) for name in files} == {0o600}


@pytest.mark.parametrize("content", [None, "", '{"base_url": "http', "[]", "\udcff"])
def test_a_record_that_is_absent_or_junk_reads_as_none(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        up_file(tmp_path).write_text(content, errors="surrogateescape")
    assert read_up(tmp_path) is None


def test_a_record_reads_as_it_was_written(tmp_path: Path) -> None:
    up_file(tmp_path).write_text('{"base_url": "http://127.0.0.1:8000"}')
    assert read_up(tmp_path) == {"base_url": "http://127.0.0.1:8000"}


def test_a_plain_user_can_run_it(tmp_path: Path) -> None:
    """As root: the user nobody, who may still read our Python wherever it is installed."""
    if os.geteuid() != 0:
        with careless(tmp_path) as stack:
            assert ask(stack.database_url, "SELECT 1") == 1
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
    with held(home, *prefix) as stack:
        assert ask(stack["database_url"], "SELECT 1") == 1
        assert psutil.Process(stack["pids"]["postgres"]).uids().effective == 65534


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_root_can_run_it_where_user_namespaces_are_not_to_be_had(tmp_path: Path) -> None:
    only_setpriv = tmp_path / "bin"
    only_setpriv.mkdir()
    (only_setpriv / "setpriv").symlink_to(shutil.which("setpriv") or "")
    home = tmp_path / "state"
    with careless(home):
        # Made in the usual way first: the data then change their owner.
        pass
    with held(home, env={**os.environ, "PATH": str(only_setpriv)}) as stack:
        assert ask(stack["database_url"], "SELECT 1") == 1
        assert psutil.Process(stack["pids"]["postgres"]).uids().effective == 65534
    with careless(home) as again:
        assert ask(again.database_url, "SELECT 1") == 1
