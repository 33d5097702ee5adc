"""Tasks of the open intervals, with a broker that is away, and with a database that is busy."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from catalogue.models import SearchRow
from catalogue.tasks import refresh_open_intervals
from config.dev_stack.processes import last_lines
from tests.catalogue import builders
from tests.support.live_server import database_url, working
from tests.support.live_stack import eventually

pytestmark = pytest.mark.django_db(transaction=True)

# A task computes one restaurant, so that there is more to enqueue.
COMPUTE_ONE = "from catalogue import tasks; tasks.MAX_INTERVAL_ROWS = 1; tasks.refresh_open_intervals()"


@pytest.mark.stack
def test_a_slice_of_the_open_intervals_is_computed_although_the_broker_is_away_for_the_next() -> None:
    for _ in range(2):
        builders.restaurant(hours=builders.week("18:00", "02:00"))
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", COMPUTE_ONE],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": database_url(), "BROKER_URL": "redis://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "task catalogue.tasks.refresh_open_intervals was not enqueued" in done.stderr
    assert SearchRow.objects.filter(intervals_until=None).count() == 1


# The first statement is broken off; later ones take longer than a caller's may.
BUSY = """
CREATE SEQUENCE tries;
CREATE FUNCTION be_busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('tries') = 1 THEN RAISE EXCEPTION 'this took too long' USING ERRCODE = 'query_canceled'; END IF;
    PERFORM pg_sleep(0.5);
    RETURN NULL;
END $$;
CREATE TRIGGER busy AFTER UPDATE ON catalogue_searchrow FOR EACH STATEMENT EXECUTE FUNCTION be_busy();
"""
IDLE = "DROP TRIGGER busy ON catalogue_searchrow; DROP FUNCTION be_busy; DROP SEQUENCE tries"
# What a caller's statement may take here.
CALLERS = {"STATEMENT_TIMEOUT_MS": "200"}


@pytest.mark.stack
def test_open_intervals_are_tried_again_soon_and_may_take_a_worker_longer_than_a_caller_waits(tmp_path: Path) -> None:
    builders.restaurant(hours=builders.week("18:00", "02:00"))
    with connection.cursor() as cursor:
        cursor.execute(BUSY)
    try:
        with working(tmp_path / "worker.log", queue="busy", **CALLERS) as child:
            refresh_open_intervals.apply_async(queue="busy")
            is_done = eventually(lambda: not SearchRow.objects.filter(intervals_until=None).exists(), within_s=60)
            assert is_done, last_lines(child.log, lines=40)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(IDLE)


@pytest.mark.stack
def test_a_restaurant_that_another_user_held_is_not_left_without_its_hours_until_the_next_beat(tmp_path: Path) -> None:
    place, _ = (builders.restaurant(hours=builders.week("18:00", "02:00")) for _ in range(2))
    with working(tmp_path / "worker.log", queue="held") as child:
        with psycopg.connect(database_url()) as other:
            other.execute("SELECT FROM catalogue_restaurant WHERE id = %s FOR UPDATE", [place.pk])
            refresh_open_intervals.apply_async(queue="held")
            assert eventually(lambda: SearchRow.objects.filter(intervals_until=None).count() == 1, within_s=60)
            assert eventually(lambda: "RowsLockedError" in child.log.read_text())
        assert eventually(lambda: not SearchRow.objects.filter(intervals_until=None).exists(), within_s=20)
