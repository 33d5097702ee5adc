"""A table under another name, and the reservations that have it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Event as Signal
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import Event, Venue
from reservations import tasks
from reservations.booking import commands
from reservations.floor import tables as floor
from reservations.models import Reservation, Table
from tests.reservations import consistency
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
Result = TypeVar("Result")
EVENING = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
ACTOR = "staff:s@example.com"


def rename(table: Table, name: str, *, now: datetime = NOON) -> None:
    """Another name, by the staff."""
    table.name = name
    floor.rename(table, now=now, actor=ACTOR)


def updates() -> list[tuple[Any, Any, str]]:
    """What was told of changes: the tables, the version, and who did it."""
    events = Event.objects.filter(type="reservation.updated").order_by("id")
    return [(event.record["tables"], event.record["version"], event.actor) for event in events]


def test_upcoming_reservations_are_updated_with_the_new_name(
    venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    table = builders.table(venue, "T1")
    builders.table(venue, "T2")
    past = builders.reservation(venue, starts_at=NOON - timedelta(days=1), tables=["T1"])
    both = builders.reservation(venue, starts_at=EVENING, tables=["T1", "T2"])
    other = builders.reservation(venue, starts_at=EVENING + timedelta(days=1), tables=["T2"])
    version = both.version
    with django_capture_on_commit_callbacks(execute=True):
        rename(table, "Window")
    assert updates() == [(["T2", "Window"], version + 1, ACTOR)]
    for reservation in (past, both, other):
        reservation.refresh_from_db()
    assert (both.tables, both.version, both.updated_at) == (["T2", "Window"], version + 1, NOON)
    # Who has left sat at the table of that name.
    assert (past.tables, other.tables) == (["T1"], ["T2"])
    assert floor.update_table_names(now=NOON, actor="system") == 0


def test_a_rename_that_died_half_way_is_mended_by_the_next_look(venue: Venue) -> None:
    table = builders.table(venue, "T1")
    reservation = builders.reservation(venue, starts_at=EVENING, tables=["T1"])
    # The name is stored, and what follows the commit never runs in a test that ends in a rollback.
    rename(table, "Window")
    reservation.refresh_from_db()
    assert reservation.tables == ["T1"]
    tasks.process_waiting_lists()
    tasks.process_waiting_lists()
    assert [(tables, actor) for tables, _, actor in updates()] == [(["Window"], "system")]
    assert consistency.problems() == []


def closing(job: Callable[[], Result]) -> Callable[[], Result]:
    """The job, on a thread and a connection of its own."""

    def run() -> Result:
        try:
            return job()
        finally:
            connection.close()

    return run


def dinner() -> tuple[Venue, Table]:
    """A venue that has one table and dinner."""
    venue = builders.venue()
    builders.period(venue)
    return venue, builders.table(venue, "T4")


def book(venue: Venue) -> Reservation:
    """A party for the one table."""
    return commands.book(
        venue,
        now=NOON,
        actor="guest",
        day=date(2026, 11, 28),
        at=time(19, 30),
        party_size=4,
        customer_name="Ada Lovelace",
        customer_phone="+15550100999",
    )


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_rename_waits_for_the_bookings_under_way_and_then_they_say_the_new_name(is_named: bool) -> None:
    venue, table = dinner()
    is_booked, may_end = Signal(), Signal()

    def take() -> list[str]:
        with transaction.atomic():
            tables = (
                builders.reservation(venue, starts_at=EVENING, tables=["T4"]).tables
                if is_named
                else book(venue).tables
            )
            is_booked.set()
            assert may_end.wait(timeout=10)
        return tables

    with ThreadPoolExecutor(2) as threads:
        taken = threads.submit(closing(take))
        assert is_booked.wait(timeout=10)
        renamed = threads.submit(closing(lambda: rename(table, "Window")))
        with pytest.raises(TimeoutError):
            renamed.result(timeout=0.3)
        may_end.set()
        assert taken.result(timeout=10) == ["T4"]
        renamed.result(timeout=10)
    assert Reservation.objects.get().tables == ["Window"]
    assert [tables for tables, _, _ in updates()] == [["Window"]]
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_booking_that_meets_a_rename_under_way_reads_the_new_name() -> None:
    venue, table = dinner()
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            rename(table, "Window")
            booked = threads.submit(closing(lambda: book(venue)))
            with pytest.raises(TimeoutError):
                booked.result(timeout=0.3)
        assert booked.result(timeout=10).tables == ["Window"]
    assert updates() == []
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_changes_and_renames_at_once_never_wait_for_each_other() -> None:
    venue, table = dinner()
    reservation = book(venue)
    stale = Reservation.objects.select_related("venue").get()

    def change() -> None:
        for number in range(40):
            commands.update(stale, at=time(19 + number % 2, 0), now=NOON, actor=ACTOR)

    def call() -> None:
        for number in range(40):
            rename(table, f"T{number}")

    with ThreadPoolExecutor(2) as threads:
        done = [threads.submit(closing(job)) for job in (change, call)]
        for one in done:
            one.result(timeout=30)
    reservation.refresh_from_db()
    assert reservation.tables == ["T39"]
    # Every version was told, once.
    versions = [version for _, version, _ in updates()]
    assert sorted(versions) == list(range(2, reservation.version + 1))
    assert consistency.problems() == []


def test_a_rename_in_the_back_office_says_who_did_it(
    venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    table = builders.table(venue, "T1")
    reservation = builders.reservation(venue, starts_at=EVENING, tables=["T1"])
    form = {"area": "", "name": "Window", "seats_min": "1", "seats_max": "6", "priority": "0", "is_active": "on"}
    with django_capture_on_commit_callbacks(execute=True):
        builders.staff().post(f"/admin/reservations/table/{table.pk}/change/", form)
    reservation.refresh_from_db()
    table.refresh_from_db()
    assert (table.name, table.seats_max, reservation.tables) == ("Window", 6, ["Window"])
    assert [actor for *_, actor in updates()] == ["staff:staff@example.com"]
