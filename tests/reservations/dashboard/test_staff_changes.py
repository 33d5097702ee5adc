"""What staff change of a reservation is changed, and nothing else; a table that is not held is not taken for held."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Event, Venue
from framework.errors import InvalidRequest
from reservations.booking import commands
from reservations.models import InvalidTransition, Reservation, Seating
from reservations.service import check_in
from tests.reservations import consistency
from tests.reservations.consistency import state, unchanged
from tests.support import builders

EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)
LATE = EVENING + timedelta(minutes=30)
SATURDAY = date(2026, 11, 28)
ACTOR = "staff:s@example.com"


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with one table for four, T4, and dinner every day."""
    builders.table(venue, "T4")
    builders.period(venue)
    return venue


def change(reservation: Reservation, **changes: Any) -> None:
    """What staff do while the guests are expected."""
    commands.update(reservation, now=LATE, actor=ACTOR, **changes)


def mark(reservation: Reservation, *seen: str, now: datetime = LATE) -> None:
    """What staff have seen, one after the other."""
    for arrival in seen:
        check_in.record_arrival(reservation, Reservation.Arrival(arrival), actor=ACTOR, now=now)


def during(reservation: Reservation) -> tuple[datetime, datetime]:
    """The time for which its one table is taken."""
    taken = reservation.seatings.get().during
    return taken.lower, taken.upper


# What is held
@pytest.mark.exhaustive
def test_who_comes_late_gets_the_own_table_back_when_staff_say_so(dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    mark(reservation, "no_show", "arrived")
    change(reservation, tables=["T4"])
    assert (reservation.tables, during(reservation)) == (["T4"], (EVENING, reservation.ends_at))
    assert builders.reservation(dinner, status="confirmed", starts_at=LATE).tables == []


def test_a_table_that_was_cut_short_is_not_held_whatever_the_row_says(dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    mark(reservation, "no_show")
    Reservation.objects.update(arrival="arrived")
    assert Reservation.objects.get().tables == ["T4"]
    change(reservation, tables=["T4"])
    assert during(reservation) == (EVENING, reservation.ends_at)
    assert consistency.problems() == []


def test_words_for_tables_are_taken_away_too(venue: Venue) -> None:
    reservation = builders.reservation(venue, status="confirmed", starts_at=EVENING, tables=["by the window"])
    builders.table(venue, "T4")
    change(reservation, tables=[])
    assert Reservation.objects.get().tables == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("seen", [["seated", "finished"], ["no_show"]])
def test_a_party_that_is_gone_is_not_seated_by_a_correction(dinner: Venue, seen: list[str]) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    mark(reservation, *seen)
    change(reservation, party_size=3)
    assert (reservation.party_size, reservation.tables, during(reservation)) == (3, ["T4"], (EVENING, LATE))
    # Others have it by now; that is in nobody's way.
    other = builders.reservation(dinner, status="confirmed", starts_at=LATE)
    change(reservation, party_size=2, tables=["T4"])
    assert (reservation.party_size, other.tables) == (2, ["T4"])
    refused = unchanged(InvalidTransition, lambda: change(reservation, tables=["T4", "T5"]))
    message = "This party has left or did not come, so no table can be assigned."
    assert (refused.param, refused.message) == ("tables", message)
    change(reservation, tables=[])
    assert (reservation.tables, Seating.objects.filter(reservation=reservation).count()) == ([], 0)


@pytest.mark.exhaustive
def test_what_is_moved_while_no_table_is_active_takes_its_table_along(dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    dinner.tables.update(is_active=False)
    change(reservation, at=time(22, 0))
    assert (reservation.tables, during(reservation)) == (["T4"], (reservation.starts_at, reservation.ends_at))
    dinner.tables.update(is_active=True)
    assert builders.reservation(dinner, status="confirmed", starts_at=EVENING).tables == ["T4"]
    assert builders.reservation(dinner, status="confirmed", starts_at=reservation.starts_at).tables == []
    change(reservation, tables=[])
    assert not Seating.objects.filter(reservation=reservation).exists()


def test_an_offer_ends_when_the_party_is_to_come(dinner: Venue) -> None:
    waits = builders.reservation(dinner, starts_at=EVENING, tables=["T4"])
    until = EVENING - timedelta(minutes=10)
    Reservation.objects.filter(pk=waits.pk).update(pending_reason="waitlist", offered_until=until)
    change(waits, at=time(19, 0))
    assert (waits.offered_until, waits.tables) == (EVENING - timedelta(minutes=30), ["T4"])


# What is changed
@pytest.mark.parametrize(
    "same",
    [
        {},
        {"day": SATURDAY, "at": time(19, 30), "party_size": 4},
        {"tables": ["T4"], "guest": {"customer_name": "Ada Lovelace", "customer_phone": None}},
    ],
)
def test_changing_nothing_records_no_event(dinner: Venue, same: dict[str, Any]) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    before = state()
    change(reservation, **same)
    assert state() == before


def test_concurrent_changes_of_different_fields_are_all_stored(dinner: Venue) -> None:
    one = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    other = Reservation.objects.select_related("venue").get()
    change(one, at=time(20, 0))
    change(other, guest={"customer_phone": "+15550100999"})
    assert (other.time, other.customer_phone, other.version) == (time(20, 0), "+15550100999", one.version + 1)
    assert other.customer_email == "ada@example.com"


def test_the_last_contact_cannot_be_removed(dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    refused = unchanged(InvalidRequest, lambda: change(reservation, guest={"customer_email": None}))
    assert (refused.param, refused.message) == ("customer_email", "Enter an email address or a phone number.")


# The page
@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def shown(staff: Client, reservation: Reservation) -> dict[str, str]:
    """The page's form as a browser sends it."""
    response = staff.get(page(reservation))
    form = response.context["adminform"].form
    sent: dict[str, str] = {}
    for bound in form:
        value = "" if bound.value() is None else bound.field.widget.format_value(bound.value())
        sent[bound.html_name] = "" if value is None else str(value)
        if bound.field.show_hidden_initial:
            sent[bound.html_initial_name] = sent[bound.html_name]
    return sent


def page(reservation: Reservation) -> str:
    """Where staff change it."""
    return f"/admin/reservations/reservation/{reservation.pk}/change/"


@pytest.mark.exhaustive
def test_a_page_that_was_opened_before_takes_nothing_back(staff: Client, dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING, special_requests="a\nb")
    first, second = shown(staff, reservation), shown(staff, reservation)
    assert staff.post(page(reservation), first | {"time": "20:00"}).status_code == 302
    assert staff.post(page(reservation), second | {"customer_phone": "+15550100999"}).status_code == 302
    reservation.refresh_from_db()
    assert (reservation.time, reservation.customer_phone) == (time(20, 0), "+15550100999")
    assert (reservation.tables, reservation.special_requests) == (["T4"], "a\nb")
    assert Event.objects.filter(type="reservation.updated").count() == 2


@pytest.mark.exhaustive
def test_saving_a_page_unchanged_records_no_event(staff: Client, dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING, special_requests="a\nb")
    before = state()
    as_it_was = shown(staff, reservation) | {"special_requests": "a\r\nb"}
    assert staff.post(page(reservation), as_it_was).status_code == 302
    assert state() == before


@pytest.mark.exhaustive
def test_staff_write_hours_and_minutes(staff: Client, dinner: Venue) -> None:
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    assert staff.post(page(reservation), shown(staff, reservation) | {"time": "20:00:45"}).status_code == 302
    reservation.refresh_from_db()
    assert (reservation.time, reservation.starts_at) == (time(20, 0), datetime(2026, 11, 28, 19, 0, tzinfo=UTC))
