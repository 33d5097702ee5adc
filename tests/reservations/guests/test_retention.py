"""Guests whom a venue has known for as long as it means to are forgotten, and nobody else is."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Event, Venue
from reservations.guests import profiles, retention
from reservations.guests.profiles import guest_of_reservation
from reservations.models import GuestProfile, Reservation
from tests.reservations import consistency
from tests.support import builders, users

EVENING = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
DAY = timedelta(days=1)
LATER = EVENING + 1000 * DAY
KILLED = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# So that it is killed in the middle and not after the end.
SLOW = """
CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END $$;
CREATE TRIGGER slow AFTER UPDATE ON reservations_reservation FOR EACH STATEMENT EXECUTE FUNCTION be_slow();
"""
QUICK = "DROP TRIGGER slow ON reservations_reservation; DROP FUNCTION be_slow"


@pytest.fixture
def forgets(venue: Venue) -> Venue:
    """A venue that knows its guests for 90 days."""
    venue.forgets_guests_after_days = 90
    venue.save()
    return venue


def visit(venue: Venue, starts_at: datetime = EVENING, **fields: Any) -> Reservation:
    """A reservation of Ada that was kept, if nothing else is said."""
    return builders.reservation(venue, status="confirmed", starts_at=starts_at, **fields)


def named() -> list[str]:
    """Who stands in reservations, in their order."""
    return list(Reservation.objects.order_by("pk").values_list("customer_name", flat=True))


@pytest.mark.parametrize(
    ("after", "name"),
    [(89 * DAY, "Ada Lovelace"), (90 * DAY, "Ada Lovelace"), (90 * DAY + timedelta(microseconds=1), "Erased guest")],
)
def test_a_guest_is_forgotten_so_many_days_after_the_end_of_the_last_reservation(
    forgets: Venue, after: timedelta, name: str
) -> None:
    first, last = visit(forgets, EVENING - 300 * DAY), visit(forgets)
    assert retention.erasure_due_at(guest_of_reservation(first)) == last.ends_at + 90 * DAY
    retention.erase_expired_guests(now=last.ends_at + after)
    assert named() == [name, name]


def test_a_venue_that_says_nothing_knows_its_guests_for_ever(venue: Venue) -> None:
    its = visit(venue)
    assert retention.erasure_due_at(guest_of_reservation(its)) is None
    before = consistency.state()
    assert retention.erase_expired_guests(now=LATER) == 0
    assert consistency.state() == before


@pytest.mark.parametrize(("venue_says", "all_say", "days"), [(None, 30, 30), (90, 30, 30), (90, 365, 90), (90, 0, 90)])
def test_of_what_the_venue_and_the_installation_say_the_smaller_counts(
    venue: Venue, settings: LazySettings, venue_says: int | None, all_say: int, days: int
) -> None:
    settings.GUEST_RETENTION_DAYS = all_say
    venue.forgets_guests_after_days = venue_says
    venue.save()
    its = visit(venue)
    assert retention.erasure_due_at(guest_of_reservation(its)) == its.ends_at + days * DAY
    assert retention.erase_expired_guests(now=its.ends_at + days * DAY) == 0
    assert retention.erase_expired_guests(now=its.ends_at + days * DAY + timedelta(seconds=1)) == 1


def test_guests_with_upcoming_reservations_or_recent_notes_are_not_erased(forgets: Venue) -> None:
    expected = visit(forgets, EVENING - 300 * DAY), visit(forgets, EVENING + 5 * DAY)
    grace = {"customer_name": "Grace", "customer_email": "grace@example.com"}
    noted = visit(forgets, EVENING - 300 * DAY, **grace)
    now = EVENING
    profiles.save_note(
        guest_of_reservation(noted), text="Comes for her birthday", tags=[], seen=None, now=now - 80 * DAY
    )
    assert retention.erase_expired_guests(now=now) == 0
    assert named() == ["Ada Lovelace"] * len(expected) + ["Grace"]
    assert retention.erasure_due_at(guest_of_reservation(noted)) == now + 10 * DAY
    assert retention.erase_expired_guests(now=now + 11 * DAY) == 1
    assert not GuestProfile.objects.exists()


def test_a_guest_is_known_by_the_other_contact_too_and_at_another_venue_apart(
    forgets: Venue, other_venue: Venue
) -> None:
    both = {"customer_email": "ada@example.com", "customer_phone": "+3906123"}
    visit(forgets, EVENING - 400 * DAY, customer_email="ADA@example.com")
    visit(forgets, EVENING - 300 * DAY, **both)
    visit(forgets, EVENING, customer_email=None, customer_phone="+3906123")
    visit(other_venue, EVENING - 400 * DAY)
    assert retention.erase_expired_guests(now=EVENING + DAY) == 0
    assert retention.erase_expired_guests(now=EVENING + 100 * DAY) == 3
    assert named() == ["Erased guest"] * 3 + ["Ada Lovelace"]


def test_a_party_without_a_contact_is_forgotten_by_itself(forgets: Venue) -> None:
    alone = {"customer_email": None, "customer_phone": None, "is_walk_in": True}
    visit(forgets, EVENING - 300 * DAY, **alone)
    visit(forgets, EVENING, **alone)
    assert retention.erase_expired_guests(now=EVENING + DAY) == 1
    assert named() == ["Erased guest", "Ada Lovelace"]


def test_events_contain_no_personal_data_and_webhooks_get_the_change(forgets: Venue) -> None:
    its = visit(forgets, special_requests="Nuts are poison")
    assert retention.erase_expired_guests(now=LATER) == 1
    its.refresh_from_db()
    assert (its.customer_name, its.customer_email, its.special_requests, its.erased_at) == (
        "Erased guest",
        None,
        "",
        LATER,
    )
    changes = list(Event.objects.order_by("id").values_list("type", "actor"))
    assert changes[-1] == ("reservation.updated", "system")
    assert all(event.record["customer_name"] == "Erased guest" for event in Event.objects.all())


def test_a_run_without_expired_guests_is_one_query(forgets: Venue) -> None:
    visit(forgets)
    with CaptureQueriesContext(connection) as asked:
        assert retention.erase_expired_guests(now=EVENING) == 0
    assert len(asked) == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_forget_each_guest_once(forgets: Venue) -> None:
    for number in range(12):
        visit(forgets, customer_name=f"Guest {number}", customer_email=f"guest{number}@example.com")

    def forget(_: int) -> int:
        try:
            return retention.erase_expired_guests(now=LATER)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sum(threads.map(forget, range(2))) == 12
    assert Event.objects.filter(type="reservation.updated").count() == 12
    assert set(Reservation.objects.values_list("version", flat=True)) == {Reservation.objects.first().version}  # type: ignore[union-attr]


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_leaves_each_guest_whole_or_forgotten_and_the_next_goes_on(forgets: Venue) -> None:
    for number in range(30):
        mail = f"guest{number}@example.com"
        visit(forgets, EVENING - number * DAY, customer_name=f"Guest {number}", customer_email=mail)
        visit(forgets, EVENING - (number + 1) * DAY, customer_name=f"Guest {number}", customer_email=mail)

    def forget() -> None:
        try:
            retention.erase_expired_guests(now=LATER)
        finally:
            connection.close()

    with connection.cursor() as cursor, ThreadPoolExecutor(1) as threads:
        cursor.execute(SLOW)
        try:
            worker = threads.submit(forget)
            while Reservation.objects.filter(erased_at=None).count() > 40:
                assert not worker.done()
            # What PostgreSQL sees of a SIGKILL.
            cursor.execute(KILLED)
            with pytest.raises(OperationalError):
                worker.result()
        finally:
            cursor.execute(QUICK)
    left = Reservation.objects.filter(erased_at=None)
    assert 0 < left.count() <= 40
    assert {left.filter(customer_name=name).count() for name in left.values_list("customer_name", flat=True)} == {2}
    count = left.count()
    assert retention.erase_expired_guests(now=LATER) == count
    assert set(named()) == {"Erased guest"}
    assert Event.objects.filter(type="reservation.updated").count() == 60


@pytest.mark.exhaustive
def test_a_venue_says_how_long_on_its_settings_and_the_guest_page_names_the_day(venue: Venue) -> None:
    manager, its = users.member(venue, "manager"), visit(venue)
    page = f"/dashboard/{venue.public_id}/guests/{its.public_id}"
    assert "Guest data is deleted on" not in manager.get(page).content.decode()
    form = {
        "section": "reservations",
        "reservations-max_days_ahead": "365",
        "reservations-auto_confirm_max_party": "8",
        "reservations-when_full": "refuse",
    }
    address = f"/dashboard/{venue.public_id}/settings/save"
    wrong = manager.post(address, form | {"reservations-forgets_guests_after_days": "0"})
    assert wrong.status_code == 400
    assert manager.post(address, form | {"reservations-forgets_guests_after_days": "90"}).status_code == 302
    venue.refresh_from_db()
    assert venue.forgets_guests_after_days == 90
    assert "Guest data is deleted on 1 Aug 2031" in manager.get(page).content.decode()
