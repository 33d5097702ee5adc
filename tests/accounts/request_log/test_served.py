"""The request log where a web server runs: lines come by themselves, and the last ones when it is stopped."""

import time
from pathlib import Path

import httpx
import psycopg
import pytest

from accounts.models import ApiCall, ApiCallCount, Venue
from tests.support import builders
from tests.support.live_server import database_url, served
from tests.support.live_stack import eventually

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ORDERS = "/api/v1/orders"


def test_calls_are_soon_in_the_log_and_the_last_ones_after_a_stop(venue: Venue, tmp_path: Path) -> None:
    caller = {"Authorization": f"Bearer {builders.key(venue).text}"}
    with served(tmp_path / "web.log") as base_url, httpx.Client(base_url=base_url, headers=caller) as api:
        assert api.get(ORDERS).status_code == 200
        assert eventually(lambda: ApiCall.objects.count() == 1, within_s=5)
        for _ in range(3):
            api.get(ORDERS)
            time.sleep(0.6)
        for _ in range(20):
            api.get(ORDERS)
    assert ApiCall.objects.count() == 24
    assert ApiCallCount.objects.get().calls == 24
    assert "Traceback" not in (tmp_path / "web.log").read_text()


def test_a_table_that_takes_no_lines_delays_no_call_and_they_are_written_when_it_does(
    venue: Venue, tmp_path: Path
) -> None:
    caller = {"Authorization": f"Bearer {builders.key(venue).text}"}
    with (
        served(tmp_path / "web.log", LOCK_TIMEOUT_MS="300") as base_url,
        httpx.Client(base_url=base_url, headers=caller) as api,
    ):
        with psycopg.connect(database_url()) as holder:
            holder.execute("LOCK TABLE accounts_apicall IN ACCESS EXCLUSIVE MODE")
            began = time.monotonic()
            for _ in range(10):
                assert api.get(ORDERS).status_code == 200
                time.sleep(0.1)
            assert time.monotonic() - began < 5
        assert eventually(lambda: ApiCall.objects.count() == 10, within_s=10)
    assert (ApiCall.objects.count(), ApiCallCount.objects.get().calls) == (10, 10)
    assert "calls wait to be logged" in (tmp_path / "web.log").read_text()
