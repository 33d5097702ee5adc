"""The references do the work that ours does, on the same data, and are measured by it."""

import http.client
import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from benchmarks import reads
from benchmarks.contenders import HOST, Contender, our_server
from benchmarks.figures import OURS, WrongAnswer
from benchmarks.load import Load
from benchmarks.product import Product, issue_key
from benchmarks.suites import Run
from catalogue.hours import open_intervals
from catalogue.reviews import aggregates
from payments.pricing import default_products
from tests.catalogue import builders
from tests.support.live_server import database_url, served

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True)]

LAT, LNG = 55.6736, 12.5681
PLACES = 30


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Some restaurants of which one has a page of reviews and more, and a server of ours."""
    now = timezone.now()
    default_products.create_missing()
    for number in range(PLACES):
        hours = builders.week("00:00", "00:00") if number % 3 else None
        place = builders.restaurant(
            name=f"Place {number}", slug=f"place-{number}", latitude=LAT + number / 10_000, longitude=LNG, hours=hours
        )
        builders.listed(place, record=str(number))
        for one in range(22 if number == 1 else 0):
            builders.review(place, f"Good {one}", stars=1 + one % 5, created_at=now - timedelta(days=one))
    open_intervals.refresh_open_intervals(now=now)
    aggregates.repair_all()
    with served(tmp_path / "web.log") as base_url:
        up = {"base_url": base_url, "database_url": database_url(), "redis_url": settings.REDIS_URL}
        product = Product(
            state_dir=tmp_path, base_url=base_url, up=up, key=issue_key(), restaurants=PLACES, reviews=22
        )
        load = Load(connections=2, seconds=0.3, with_wrk=False)
        try:
            yield Run(
                product=product,
                load=load,
                rounds=1,
                arguments=Namespace(workers=1, proxy=False, quick=False),
                step=print,
            )
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA IF EXISTS reference CASCADE")


def status(contender: Contender, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    """How a contender answers."""
    line = http.client.HTTPConnection(HOST, contender.port, timeout=10)
    line.request("GET", path, headers={**contender.headers, **headers})
    response = line.getresponse()
    response.read()
    line.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}


def test_all_answer_the_same_and_refuse_the_same_and_every_row_is_measured(run: Run) -> None:
    rows = list(reads.Reads().measure(run, frozenset(reads.Reads.rows)))
    assert [row.name for row in rows] == ["record", "search", "reviews"]
    for row in rows:
        servers = [OURS, reads.ROWS, reads.CARDS, reads.TEXTBOOK]
        assert [name for name in row.figures if name != reads.PGBENCH] == servers
        for name in servers:
            assert (row.figures[name].per_second or 0) > 1, name
            assert (row.figures[name].memory_mb or 0) > 10, name
        assert all(verdict.value is not None for verdict in row.verdicts if verdict.of != reads.PGBENCH)
    with ExitStack() as held:
        others = [held.enter_context(one) for one in reads.references(run)]
        for other in others:
            other.wait()
        for one in (our_server(run.product), *others):
            found, headers = status(one, "/v1/restaurants/place-1")
            assert found == 200
            assert {
                "x-ratelimit-limit",
                "x-ratelimit-remaining",
                "ratelimit",
                "x-request-id",
                "etag",
            } <= headers.keys()
            assert (headers["x-tier"], headers["x-content-type-options"]) == ("enterprise", "nosniff")
            assert status(one, "/v1/restaurants/place-1", **{"If-None-Match": headers["etag"]})[0] == 304
            assert status(one, "/v1/restaurants/no-such-place")[0] == 404
            assert status(one, f"/v1/restaurants?ll={LAT},{LNG}&open=now&colour=red")[0] == 400
            assert status(one, "/v1/restaurants?ll=95,12&open=now")[0] == 400
            assert status(one, "/v1/restaurants/place-1", Authorization="Bearer rk_test_wrong")[0] == 401
        first, second, *_ = others
        found = json.loads(first.get(f"/v1/restaurants?ll={LAT},{LNG}&open=now"))
        assert [hit["slug"] for hit in found["data"]] == [f"place-{n}" for n in range(PLACES) if n % 3][:20]
        # What differs ends the run.
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM reference.opening")
        search = next(read for read in reads.READS if read.name == "search")
        with pytest.raises(WrongAnswer, match=f"{reads.ROWS} answers"):
            reads.check_same_content(search, [search.path(f"{LAT},{LNG}")], [second, first])
