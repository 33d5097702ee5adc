"""A database that is frozen costs a caller some seconds, and one that only takes its time is waited for."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from accounts.models import Venue
from config.dev_stack import Stack
from framework.db.backend import base
from framework.resilience.circuit_breaker import State
from tests.support.live_stack import eventually


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Patience for tests, and nothing that an earlier one has found out."""
    monkeypatch.setattr(base, "RESPONSE_TIMEOUT_S", 0.3)
    monkeypatch.setattr(base, "PROBE_TIMEOUT_S", 0.3)
    base.breaker_of.cache_clear()
    yield
    base.breaker_of.cache_clear()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A PostgreSQL of its own, and its process."""
    with Stack(tmp_path_factory.mktemp("frozen") / "state", valkey=False, chain=False, durable=False) as stack:
        assert stack.postgres is not None
        assert stack.postgres.pid is not None
        yield stack.environment()["DATABASE_URL"], stack.postgres.pid


def everything(pid: int) -> list[psutil.Process]:
    """The server and all that it has begun."""
    return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]


def test_the_connections_of_the_product_are_of_this_kind(db: None) -> None:
    connection.ensure_connection()
    assert type(connection.connection) is base.Connection


@pytest.mark.usefixtures("quick")
def test_while_it_is_frozen_one_caller_a_second_tries_to_connect_and_the_others_are_refused_at_once(db: None) -> None:
    breaker = base.breaker_of("default")
    base.breaker_of("replica").record_failure(OSError("frozen"))
    other = connection.copy()
    other.ensure_connection()
    other.close()
    breaker.record_failure(OSError("frozen"))
    # It would answer by now, so this was refused without asking it.
    with pytest.raises(OperationalError, match="did not answer a moment ago"):
        other.ensure_connection()
    breaker.next_probe_at = 0
    other.ensure_connection()
    other.close()
    assert breaker.state is State.CLOSED


def test_an_error_says_what_was_wrong_and_not_whose_row_it_was(venue: Venue) -> None:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Venue.objects.filter(pk=venue.pk).update(max_days_ahead=None, name="Ada Lovelace")
    assert "Ada" not in str(caught.value)
    assert str(caught.value).startswith('null value in column "max_days_ahead" of relation "accounts_venue"')
    assert isinstance(caught.value.__cause__, psycopg.Error)
    assert "Ada Lovelace" in (caught.value.__cause__.diag.message_detail or "")


@pytest.mark.stack
@pytest.mark.usefixtures("quick")
def test_a_frozen_server_is_given_up_and_its_connection_closed(address: tuple[str, int]) -> None:
    url, pid = address
    with base.Connection.connect(url, autocommit=True) as line:
        assert line.execute("SELECT 1").fetchone() == (1,)
        stopped = everything(pid)
        for process in stopped:
            os.kill(process.pid, signal.SIGSTOP)
        try:
            began_at = time.monotonic()
            with pytest.raises(psycopg.OperationalError, match="does not answer"):
                line.execute("SELECT 1")
            assert 0.6 <= time.monotonic() - began_at < 10
            assert line.closed
        finally:
            for process in stopped:
                os.kill(process.pid, signal.SIGCONT)
    with base.Connection.connect(url, autocommit=True) as line:
        assert line.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.stack
@pytest.mark.usefixtures("quick")
def test_a_statement_that_takes_its_time_is_waited_for(address: tuple[str, int]) -> None:
    with base.Connection.connect(address[0], autocommit=True) as line:
        assert line.execute("SELECT 7 FROM pg_sleep(1)").fetchone() == (7,)
        assert line.execute("SELECT 8").fetchone() == (8,)
        with line.cursor().copy("COPY (SELECT pg_sleep(0.5), n FROM generate_series(1, 2) AS n) TO STDOUT") as rows:
            assert [bytes(row).split()[-1] for row in rows] == [b"1", b"2"]


@pytest.mark.stack
@pytest.mark.usefixtures("quick")
def test_a_server_that_is_gone_is_no_server_that_is_slow(tmp_path: Path) -> None:
    with Stack(tmp_path / "state", valkey=False, chain=False, durable=False) as stack:
        database_url = stack.environment()["DATABASE_URL"]
        with base.Connection.connect(database_url, autocommit=True) as line:
            assert base.answers_probe(line.pgconn)
            assert stack.postgres is not None
            stack.postgres.stop()
            assert not base.answers_probe(line.pgconn)


def test_idle_connection_is_checked_without_a_query(db: None) -> None:
    other = connection.copy()
    try:
        other.ensure_connection()
        with other.cursor() as cursor:
            cursor.execute("SELECT 'the last'")
        assert other.is_usable()
        with connection.cursor() as cursor:
            cursor.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", [other.connection.info.backend_pid])
            assert cursor.fetchone() == ("SELECT 'the last'",)
    finally:
        other.close()


def test_a_connection_that_the_server_has_ended_is_replaced_before_a_write(db: None) -> None:
    other = connection.copy()
    try:
        other.ensure_connection()
        pid = other.connection.info.backend_pid
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 2000)", [pid])
        assert not base.is_idle(other.connection.pgconn)
        other.settings_dict["CONN_HEALTH_CHECKS"] = True
        other.close_if_unusable_or_obsolete()
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)
        assert other.connection.info.backend_pid != pid
    finally:
        other.close()


def test_word_of_the_server_that_waits_there_is_not_taken_for_its_end(db: None) -> None:
    other = connection.copy()
    try:
        other.ensure_connection()
        with other.cursor() as cursor:
            cursor.execute("LISTEN a_test")
        speaker = connection.copy()
        with speaker.cursor() as cursor:
            cursor.execute("NOTIFY a_test")
        speaker.close()
        assert eventually(lambda: not base.is_idle(other.connection.pgconn))
        assert other.is_usable()
    finally:
        other.close()
