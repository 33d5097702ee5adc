"""The product served for real, against the database and the counters of the tests."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.db import connection

from config.dev_stack.processes import Child, last_lines
from config.dev_stack.servers import free_port
from tests.support.stack_marker import require_stack_marker

READY_S = 60.0
NOWHERE = "127.0.0.1:1"
THREADS = 4


def database_url(*, address: str | None = None) -> str:
    """The database that pytest-django made for this run, or one of its name at an address where nobody listens."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    network = parts.netloc if address is None else f"tablewire@{address}"
    return parts._replace(netloc=network, path=f"/{connection.settings_dict['NAME']}").geturl()


@contextmanager
def served(
    log: Path, *, application: str = "config.wsgi:application", port: str = "", **environment: str
) -> Iterator[str]:
    """The base address of a web server whose environment differs by this; it stops at the end.

    It has one worker of THREADS threads, and a free port unless one is given. A test may give it a WSGI application of
    its own.
    """
    require_stack_marker()
    port = port or str(free_port())
    threads = {"GRANIAN_BLOCKING_THREADS": str(THREADS)}
    env = {**os.environ, "DATABASE_URL": database_url(), **threads, **environment}
    command = [sys.executable, "-m", "granian", application, "--interface", "wsgi", "--http", "1"]
    child = Child(
        name="web",
        command=[*command, "--no-ws", "--port", port, "--workers-kill-timeout", "2"],
        env=env,
        cwd=settings.BASE_DIR,
        log=log,
    )
    base_url = f"http://127.0.0.1:{port}"
    child.start()
    try:
        wait_until_alive(child, base_url)
        yield base_url
    finally:
        child.stop()


@contextmanager
def working(log: Path, *flags: str, queue: str, **environment: str) -> Iterator[Child]:
    """A Celery worker of the tests' broker and database, of one process if no flag says more; it ends with the block.

    `queue` may be several, between commas.
    """
    require_stack_marker()
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-Q", queue, "--concurrency", "1"]
    child = Child(
        name="worker",
        command=[*command, "--without-gossip", "--without-mingle", "--loglevel", "info", *flags],
        env={**os.environ, "DATABASE_URL": database_url(), **environment},
        cwd=settings.BASE_DIR,
        log=log,
    )
    child.start()
    try:
        yield child
    finally:
        child.stop()


def wait_until_alive(child: Child, base_url: str) -> None:
    """Return when the server answers; fail with the end of its log when it does not."""
    until = time.monotonic() + READY_S
    while child.is_running() and time.monotonic() < until:
        try:
            httpx.get(f"{base_url}/livez").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError(f"The web server did not start:\n{last_lines(child.log)}")
