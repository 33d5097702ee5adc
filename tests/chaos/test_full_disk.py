"""A state directory on a full disk: `up` says so, and serves on when there is room again. Root mounts the disk."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from framework.public_ids import encode
from tests.support.live_stack import Up, eventually, is_alive, manage, running
from tests.support.order_load import Shop

pytestmark = [pytest.mark.chaos, pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")]

FULL_S = 15.0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=500m", "tmpfs", mounted], check=True)
    try:
        yield mounted
    finally:
        # Lazily: a log may still be open.
        subprocess.run(["umount", "--lazy", mounted], check=True)


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """The disk without a free byte; what a server gives back is taken at once when it is polled."""
    with (disk / "filler").open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        yield
    (disk / "filler").unlink()


@dataclass(frozen=True)
class SmallShop(Shop):
    """A running `up` on a small disk."""

    up: Up
    base_url: str
    key: str

    def stored(self, customer: str) -> set[str]:
        with psycopg.connect(self.up.record["database_url"]) as database:
            rows = database.execute("SELECT id FROM orders_order WHERE customer_id = %s", [customer]).fetchall()
        return {encode("ord", key) for (key,) in rows}


@pytest.mark.parametrize("size", ["4k", "200k", "20m", "45m", "60m"])
def test_up_on_a_full_disk_ends_with_a_sentence_and_starts_when_there_is_room(disk: Path, size: str) -> None:
    resize(disk, size)
    done = manage(disk / "state", "up", "--port", "0", "--restaurants", "0", "--state-dir", str(disk / "state"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "CommandError: " in done.stderr
    assert "No space left on device" in done.stderr or "could not extend file" in done.stderr
    assert not [process for process in psutil.process_iter(["cwd"]) if str(disk) in (process.info["cwd"] or "")]
    if size == "60m":
        resize(disk, "500m")
        with running(disk / "state", "--restaurants", "0") as up:
            assert httpx.get(f"{up.record['base_url']}/readyz").status_code == 200


def test_a_disk_that_fills_up_and_is_emptied_loses_no_order_and_needs_no_hand(disk: Path) -> None:
    with running(disk / "state", "--restaurants", "60") as up:
        base_url = up.record["base_url"]
        shop = SmallShop(up, base_url, up.record["management"]["wide_api_key"])
        with shop.ordering(customer="full", before_s=2, after_s=40) as seen:
            with filled(disk):
                until = time.monotonic() + FULL_S
                while time.monotonic() < until:
                    # What needs no room is served on.
                    assert httpx.get(f"{base_url}/v1/restaurants?limit=1", timeout=10).status_code == 200
                    assert httpx.get(f"{base_url}/account/login/", timeout=10).status_code == 200
                    time.sleep(1)
            emptied_at = time.monotonic()
        shop.check(seen, customer="full")
        assert 503 in seen.statuses
        assert seen.impolite == []
        assert seen.first_after(emptied_at) < 20
        assert up.process.poll() is None


def test_servers_that_end_on_a_full_disk_are_back_when_there_is_room(disk: Path) -> None:
    with running(disk / "state", "--restaurants", "60") as up:
        base_url, key = up.record["base_url"], up.record["management"]["wide_api_key"]
        before = httpx.get(f"{base_url}/api/v1/orders", headers={"Authorization": f"Bearer {key}"}).json()
        with filled(disk):
            # PostgreSQL gives up when it cannot begin a file of its log.
            with suppress(psycopg.Error), psycopg.connect(up.record["database_url"], autocommit=True) as database:
                for _ in range(20):
                    database.execute("SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1000000))")
                    database.execute("SELECT pg_switch_wal()")
            for child in psutil.Process(up.process.pid).children():
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            time.sleep(20)
            assert up.process.poll() is None
        assert eventually(lambda: is_ready(base_url), within_s=90)
        after = httpx.get(f"{base_url}/api/v1/orders", headers={"Authorization": f"Bearer {key}"}).json()
        assert after["data"] == before["data"]
        # The record has the new processes.
        assert eventually(lambda: all(map(is_alive, read_pids(disk))), within_s=30)


def read_pids(disk: Path) -> list[int]:
    return list(json.loads((disk / "state" / "up.json").read_text())["pids"].values())


def is_ready(base_url: str) -> bool:
    with suppress(httpx.HTTPError):
        return bool(httpx.get(f"{base_url}/readyz", timeout=5).json()["status"] == "ok")
    return False
