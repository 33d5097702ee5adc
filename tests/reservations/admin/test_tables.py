"""The back office where a venue sets up what it seats its guests at, and when."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import Venue
from reservations.models import Area, Closure, Combination, Reservation, Seating, ServicePeriod, Table
from tests.reservations import consistency
from tests.support import builders

ADMIN = "/admin/reservations/"
EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def errors_of(response: Any) -> dict[str, list[str]]:
    """What the form says is wrong."""
    assert response.status_code == 200
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return {name: list(page_text) for name, page_text in found.items()}


def table_form(venue: Venue, **changes: Any) -> dict[str, Any]:
    """A table as staff fill it in."""
    return {
        "venue": str(venue.pk), "area": "", "name": "T1", "seats_min": "1", "seats_max": "4", "priority": "0",
        "is_active": "on",
    } | changes  # fmt: skip


def period_form(venue: Venue, **changes: Any) -> dict[str, Any]:
    """Dinner as staff fill it in."""
    return {
        "venue": str(venue.pk), "name": "Dinner", "weekdays": ["4", "5"], "first_seating": "18:00",
        "last_seating": "22:00", "slot_min": "15", "pacing_covers": "",
        "turn_2_min": "90", "turn_4_min": "105", "turn_6_min": "120", "turn_more_min": "150",
    } | changes  # fmt: skip


def combination_form(venue: Venue, tables: list[Table], **changes: Any) -> dict[str, Any]:
    """Tables to be pushed together as staff fill it in."""
    return {
        "venue": str(venue.pk), "name": "both", "tables": [str(table.pk) for table in tables], "seats_min": "5",
        "seats_max": "8", "priority": "0", "is_active": "on",
    } | changes  # fmt: skip


@pytest.mark.exhaustive
def test_every_page_opens_and_its_list_costs_the_same_for_one_and_for_many(
    staff: Client, venue: Venue, django_assert_max_num_queries: Any
) -> None:
    makers: dict[str, Callable[[int], Any]] = {
        "area": lambda number: Area.objects.create(venue=venue, name=f"{number}"),
        "table": lambda number: builders.table(venue, f"{number}"),
        "combination": lambda number: builders.combination(venue, name=f"{number}", seats_min=1, seats_max=2),
        "serviceperiod": lambda number: builders.period(venue, f"{number}"),
        "closure": lambda _: Closure.objects.create(venue=venue, first_date="2026-12-24", last_date="2026-12-26"),
    }
    for name, maker in makers.items():
        made = [maker(number) for number in range(12)]
        # Session, user, the counts, the rows with their venues, saved filters.
        with django_assert_max_num_queries(6):
            assert staff.get(f"{ADMIN}{name}/").status_code == 200
        assert staff.get(f"{ADMIN}{name}/?q=T").status_code == 200
        assert staff.get(f"{ADMIN}{name}/add/").status_code == 200
        assert staff.get(f"{ADMIN}{name}/{made[0].pk}/change/").status_code == 200


def test_a_table_is_set_up(staff: Client, venue: Venue) -> None:
    area = Area.objects.create(venue=venue, name="Terrace")
    assert staff.post(f"{ADMIN}table/add/", table_form(venue, area=str(area.pk))).status_code == 302
    table = Table.objects.get()
    assert (table.name, table.area, table.seats_max, table.is_active) == ("T1", area, 4, True)


@pytest.mark.exhaustive
def test_a_table_stands_in_an_area_of_its_venue_and_has_a_seat(
    staff: Client, venue: Venue, other_venue: Venue
) -> None:
    area = Area.objects.create(venue=other_venue, name="Terrace")
    response = staff.post(f"{ADMIN}table/add/", table_form(venue, area=str(area.pk)))
    assert errors_of(response) == {"area": ["This area belongs to another venue."]}
    response = staff.post(f"{ADMIN}table/add/", table_form(venue, seats_min="5"))
    assert errors_of(response) == {"__all__": ["Seats are 1 to 500, and the maximum is not below the minimum."]}
    assert not Table.objects.exists()


def test_a_name_that_a_table_has_is_no_name_for_another(staff: Client, venue: Venue, other_venue: Venue) -> None:
    builders.table(venue, "T1")
    assert staff.post(f"{ADMIN}table/add/", table_form(other_venue)).status_code == 302
    assert list(errors_of(staff.post(f"{ADMIN}table/add/", table_form(venue)))) == ["__all__"]


def test_a_table_that_is_renamed_is_renamed_in_the_reservations_that_have_it(
    staff: Client, venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    table, other = builders.table(venue, "T1"), builders.table(venue, "T2")
    here = builders.reservation(venue, starts_at=EVENING, tables=["T1", "T2"])
    there = builders.reservation(venue, starts_at=datetime(2026, 11, 29, 18, 30, tzinfo=UTC), tables=["T2"])
    with django_capture_on_commit_callbacks(execute=True):
        response = staff.post(f"{ADMIN}table/{table.pk}/change/", table_form(venue, name="Window"))
    assert response.status_code == 302
    for reservation, tables in ((here, ["T2", "Window"]), (there, ["T2"])):
        reservation.refresh_from_db()
        assert reservation.tables == tables
    other.refresh_from_db()
    assert other.name == "T2"
    assert consistency.problems() == []


def test_a_table_with_reservations_cannot_be_deleted(staff: Client, venue: Venue) -> None:
    table = builders.table(venue, "T1")
    builders.reservation(venue, starts_at=EVENING, tables=["T1"])
    page = staff.post(f"{ADMIN}table/{table.pk}/delete/", {"post": "yes"}).content.decode()
    assert "would require deleting the following protected related objects" in page
    assert (Table.objects.count(), Seating.objects.count()) == (1, 1)


@pytest.mark.exhaustive
def test_a_table_of_a_combination_cannot_be_deleted(staff: Client, venue: Venue) -> None:
    one, other, alone = (builders.table(venue, name) for name in ("Z1", "Z2", "Z3"))
    builders.combination(venue, one, other, name="the long table", seats_min=7, seats_max=8)
    page = staff.post(f"{ADMIN}table/{one.pk}/delete/", {"post": "yes"}).content.decode()
    assert "Combination: the long table" in page
    both = {"action": "delete_selected", "_selected_action": [str(other.pk), str(alone.pk)], "post": "yes"}
    assert "Combination: the long table" in staff.post(f"{ADMIN}table/", both).content.decode()
    assert (Table.objects.count(), Combination.objects.get().tables.count()) == (3, 2)
    assert staff.post(f"{ADMIN}table/{alone.pk}/delete/", {"post": "yes"}).status_code == 302
    assert Table.objects.count() == 2


@pytest.mark.exhaustive
def test_a_combination_is_of_two_tables_of_one_venue(staff: Client, venue: Venue, other_venue: Venue) -> None:
    tables = [builders.table(venue, name) for name in ("T1", "T2")]
    stranger = builders.table(other_venue, "T3")
    add = f"{ADMIN}combination/add/"
    response = staff.post(add, combination_form(venue, [tables[0], stranger]))
    assert errors_of(response) == {"tables": ["These tables belong to another venue: T3."]}
    response = staff.post(add, combination_form(venue, tables[:1]))
    assert errors_of(response) == {"tables": ["Select at least two tables."]}
    assert not Combination.objects.exists()
    assert staff.post(add, combination_form(venue, tables)).status_code == 302
    made = Combination.objects.get()
    assert set(made.tables.all()) == set(tables)
    response = staff.post(f"{ADMIN}combination/{made.pk}/change/", combination_form(venue, [stranger, tables[0]]))
    assert errors_of(response) == {"tables": ["These tables belong to another venue: T3."]}


@pytest.mark.exhaustive
def test_a_service_period_is_set_up_with_its_weekdays_ticked(staff: Client, venue: Venue) -> None:
    assert staff.post(f"{ADMIN}serviceperiod/add/", period_form(venue, last_seating="00:30")).status_code == 302
    period = ServicePeriod.objects.get()
    assert (period.weekdays, period.first_seating, period.last_seating) == ([4, 5], time(18, 0), time(0, 30))
    page = staff.get(f"{ADMIN}serviceperiod/{period.pk}/change/").content.decode()
    assert [page.count(f'value="{day}" id="id_weekdays_{day}" checked') for day in range(7)] == [0, 0, 0, 0, 1, 1, 0]
    assert "Fri, Sat" in staff.get(f"{ADMIN}serviceperiod/").content.decode()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"weekdays": []}, "weekdays"),
        ({"weekdays": ["7"]}, "weekdays"),
        ({"slot_min": "0"}, "__all__"),
        ({"turn_2_min": "14"}, "__all__"),
        ({"pacing_covers": "0"}, "__all__"),
    ],
)
def test_an_invalid_period_shows_errors_at_its_fields(
    staff: Client, venue: Venue, changes: dict[str, Any], field: str
) -> None:
    assert list(errors_of(staff.post(f"{ADMIN}serviceperiod/add/", period_form(venue, **changes)))) == [field]
    assert not ServicePeriod.objects.exists()


@pytest.mark.exhaustive
def test_a_closure_is_set_up_and_ends_after_it_begins(staff: Client, venue: Venue) -> None:
    form = {"venue": str(venue.pk), "first_date": "2026-12-26", "last_date": "2026-12-24", "reason": "Christmas"}
    response = staff.post(f"{ADMIN}closure/add/", form)
    assert errors_of(response) == {"__all__": ["The last day is before the first."]}
    assert staff.post(f"{ADMIN}closure/add/", form | {"first_date": "2026-12-24"}).status_code == 302
    assert Closure.objects.get().last_date == date(2026, 12, 24)


def test_what_is_set_up_stays_with_its_venue(staff: Client, venue: Venue, other_venue: Venue) -> None:
    table = builders.table(venue)
    staff.post(f"{ADMIN}table/{table.pk}/change/", table_form(other_venue, name="T9"))
    table.refresh_from_db()
    assert (table.venue, table.name) == (venue, "T9")
    assert not Reservation.objects.exists()
