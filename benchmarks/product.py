"""The product that is measured: a `manage.py up` that runs already, or one that is started with data of a size."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from config.dev_stack.processes import Child
from framework.state_directory import read_json, read_up_record

ROOT = Path(__file__).resolve().parent.parent
# Its keys are made anew by each run, which keeps their texts to itself.
ACCOUNT = "Benchmark"
RATE = 100_000_000
START_S = 300.0
# At least so many a second are told when they open.
MIN_SPANS_PER_S = 500
SIZE = """SELECT (SELECT count(*) FROM catalogue_restaurant), (SELECT count(*) FROM catalogue_review)"""
HAS_MISSING_SPANS = "SELECT EXISTS (SELECT FROM catalogue_searchrow WHERE intervals_missing)"
POLL_S = 0.5


class ProductNotReady(Exception):
    """The product does not run, or not with what is needed."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """Where the product is and what may be asked there.

    `key` is that of an account with a plan that is sold everything for nothing, at a rate that nobody reaches; `up` is
    the record of `manage.py up`, and `base_url` another server of the same state where one is named.
    """

    state_dir: Path
    base_url: str
    up: dict[str, Any]
    key: str
    restaurants: int
    reviews: int

    @property
    def database_url(self) -> str:
        """Of PostgreSQL."""
        return str(self.up["database_url"])

    @property
    def redis_url(self) -> str:
        """Of Valkey."""
        return str(self.up["redis_url"])

    @property
    def port(self) -> int:
        """Of the web server."""
        return urlsplit(self.base_url).port or 80

    @property
    def headers(self) -> dict[str, str]:
        """What each request carries."""
        return {"Authorization": f"Bearer {self.key}"}


@contextmanager
def running(
    state_dir: Path, *, restaurants: int, reviews: int, base_url: str | None, say: Callable[[str], object]
) -> Iterator[Product]:
    """The product of a state directory: the one that runs, as it is, else one of this size, which ends with the block.

    The data is made once for each directory. Sets the environment by which Django finds it; one product a process.
    Raises NotReady.
    """
    os.environ |= {"TABLEWIRE_STATE_DIR": str(state_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    child = None
    up = read_up_record(state_dir)
    try:
        if up is None:
            say("starting the product (the first time with data of this size takes minutes)")
            child = start_up(state_dir)
            up = wait_for(state_dir, child)
            load_data(up["database_url"], restaurants, reviews, say=say)
        import django

        django.setup()
        with psycopg.connect(up["database_url"], autocommit=True) as connection, pause_workers(connection):
            found = connection.execute(SIZE).fetchone() or (0, 0)
            yield Product(
                state_dir=state_dir,
                base_url=base_url or up["base_url"],
                up=up,
                key=issue_key(),
                restaurants=found[0],
                reviews=found[1],
            )
    finally:
        if child is not None:
            child.stop()


def start_up(state_dir: Path) -> Child:
    """A `manage.py up` without restaurants, as production starts it."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = ["up", "--state-dir", str(state_dir), "--port", "0", "--restaurants", "0", "--json"]
    if read_json(state_dir / "up.last.json"):
        # The accounts of an earlier run are there.
        words.append("--no-seed")
    child = Child(
        name="up",
        command=[sys.executable, str(ROOT / "manage.py"), *words],
        env=dict(os.environ),
        cwd=ROOT,
        log=state_dir.parent / f"{state_dir.name}.log",
        grace_s=60,
    )
    child.start()
    return child


def wait_for(state_dir: Path, child: Child) -> dict[str, Any]:
    """The record of the product once it serves. Raises NotReady."""
    until = time.monotonic() + START_S
    while child.is_running() and time.monotonic() < until:
        if up := read_up_record(state_dir):
            return up
        time.sleep(0.1)
    raise ProductNotReady(f"`manage.py up` did not start; its log is {child.log}.")


def load_data(url: str, restaurants: int, reviews: int, *, say: Callable[[str], object]) -> None:
    """Make the data where there is none, and wait until searches know when places open. Raises NotReady."""
    with psycopg.connect(url, autocommit=True) as connection:
        is_new = (connection.execute(SIZE).fetchone() or (0,))[0] == 0
        if is_new:
            generate_data(restaurants, reviews)
        say("waiting until the worker has computed when the restaurants are open")
        until = time.monotonic() + START_S + restaurants / MIN_SPANS_PER_S
        while (connection.execute(HAS_MISSING_SPANS).fetchone() or (False,))[0]:
            if time.monotonic() > until:
                raise ProductNotReady("The worker did not work out when the restaurants are open.")
            time.sleep(POLL_S)
        if is_new:
            # What PostgreSQL does by itself a minute after such a load: until then its plans are of empty tables.
            connection.execute("VACUUM (ANALYZE)")


def generate_data(restaurants: int, reviews: int) -> None:
    """Make the data. Raises NotReady."""
    words = ["demo_data", "--restaurants", str(restaurants), "--reviews", str(reviews)]
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, str(ROOT / "manage.py"), *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise ProductNotReady("`manage.py demo_data` failed.")


@contextmanager
def pause_workers(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """No insights are written meanwhile: of a large catalogue that is new a worker writes them for hours."""
    from catalogue.insights.pipeline.batch_job import REFRESH_LOCK
    from catalogue.tasks import enqueue_insights

    connection.execute("SELECT pg_advisory_lock(%s)", [REFRESH_LOCK.number()])
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [REFRESH_LOCK.number()])
        enqueue_insights()


def issue_key() -> str:
    """A new key of the benchmark's account, which has an Enterprise plan at factor 0; it ends in 12 hours."""
    from django.utils import timezone

    from accounts.models import ApiKey
    from accounts.seed import LOAD_TEST_ALLOWANCE, get_venue
    from payments.models import Plan

    now = timezone.now()
    place = get_venue(ACCOUNT, "UTC")
    terms = {"name": ACCOUNT, "tier": "enterprise", "price_factor": 0, "per_minute": RATE}
    if not Plan.objects.filter(account=place.account, **terms).current(now).exists():
        Plan.objects.create(account=place.account, valid_from=now, **terms)
    # Not revoked at the end: runs may overlap, and each change of a key makes every process forget all of them.
    return ApiKey.create(
        place, name="Benchmark", allowance=LOAD_TEST_ALLOWANCE * 1_000, expires_at=now + timedelta(hours=12)
    ).text
