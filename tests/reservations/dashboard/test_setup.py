"""Tables and hours on the dashboard: set up, changed, and kept where guests need them."""

import re
from datetime import date, time, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Venue
from reservations.dashboard.setup.hours import Week
from reservations.floor import tables as floor_tables
from reservations.models import Area, CancellationTerms, Closure, Combination, ServicePeriod, Table
from tests.support import builders, users

NASTY = "<script>alert(1)</script>"
PERIOD = {
    "name": "Dinner",
    "weekdays": ["4", "5"],
    "first_seating": "19:00",
    "last_seating": "22:30",
    "slot_min": "15",
    "pacing_covers": "",
    "turn_2_min": "90",
    "turn_4_min": "105",
    "turn_6_min": "120",
    "turn_more_min": "150",
}


def root(venue: Venue) -> str:
    """Where the settings are."""
    return f"/dashboard/{venue.public_id}/settings"


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


@pytest.fixture
def manager(venue: Venue) -> Client:
    """Somebody who sets the venue up."""
    return users.member(venue, "manager")


def queries(client: Client, path: str) -> int:
    """How many statements a page costs."""
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.mark.exhaustive
def test_lists_cost_the_same_for_one_and_for_many(manager: Client, venue: Venue) -> None:
    for number in (2, 12):
        tables = [builders.table(venue, f"{number}-{one}") for one in range(number)]
        builders.combination(venue, *tables[:2], seats_min=5, seats_max=8)
        builders.period(venue, f"Dinner {number}")
        # Session, user, venue, part; areas to choose from, tables, areas, combinations and theirs; other venues.
        assert queries(manager, f"{root(venue)}/tables") == 10
        # Session, user, venue, part; periods, closures; other venues.
        assert queries(manager, f"{root(venue)}/hours") == 7


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("T1-T4", ["T1", "T2", "T3", "T4"]),
        ("T1-4, E1", ["T1", "T2", "T3", "T4", "E1"]),
        ("01-03", ["01", "02", "03"]),
        ("Bar", ["Bar"]),
        ("A-B", ["A-B"]),
        ("T9\N{EN DASH}T11", ["T9", "T10", "T11"]),
    ],
)
def test_a_row_of_tables_is_written_as_people_write_it(written: str, names: list[str]) -> None:
    assert floor_tables.parse_names(written) == names


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("T1-E4", "“T1-E4” is not a valid range of at most 100 tables. Example: T1-T12."),
        ("T4-T1", "“T4-T1” is not a valid range of at most 100 tables. Example: T1-T12."),
        ("T1-T999", "“T1-T999” is not a valid range of at most 100 tables. Example: T1-T12."),
        (",", "Enter 1 to 100 tables."),
        ("T1, T1", "“T1” is duplicated."),
        ("T" * 21, "A name can have at most 20 characters: “TTTTTTTTTTTTTTTTTTTTT” has more."),
        ("T2", "These tables already exist: T2. Nothing was added."),
        ("T1-T3", "These tables already exist: T2. Nothing was added."),
        ("\0", "Null characters are not allowed."),
    ],
)
def test_invalid_table_names_show_an_error_and_add_nothing(
    manager: Client, venue: Venue, written: str, message: str
) -> None:
    builders.table(venue, "T2")
    answer = manager.post(f"{root(venue)}/tables", {"names": written, "seats_min": "1", "seats_max": "2"})
    assert answer.status_code == 400
    assert message in text(answer)
    assert Table.objects.count() == 1


def test_a_row_of_tables_is_added(manager: Client, venue: Venue) -> None:
    area = Area.objects.create(venue=venue, name=NASTY)
    asked = {"names": "T1-T12", "seats_min": "1", "seats_max": "2", "area": str(area.pk)}
    page = text(manager.post(f"{root(venue)}/tables", asked, follow=True))
    assert "12 tables added." in page
    assert "12 tables, 24 active seats." in page
    assert NASTY not in page
    assert Table.objects.filter(venue=venue, area=area, seats_max=2).count() == 12


def test_another_venues_area_cannot_be_chosen(manager: Client, venue: Venue, other_venue: Venue) -> None:
    area = Area.objects.create(venue=other_venue, name="Terrace")
    asked = {"names": "T1", "name": "T1", "seats_min": "1", "seats_max": "2", "priority": "0", "area": str(area.pk)}
    assert manager.post(f"{root(venue)}/tables", asked).status_code == 400
    assert manager.post(f"{root(venue)}/table/new", asked).status_code == 400
    foreign = builders.table(other_venue)
    both = {
        "name": "A",
        "tables": [str(foreign.pk), str(builders.table(venue).pk)],
        "seats_min": "2",
        "seats_max": "4",
    }
    assert manager.post(f"{root(venue)}/combination/new", both | {"priority": "0"}).status_code == 400
    assert (Table.objects.filter(venue=venue).count(), Combination.objects.count()) == (1, 0)


def test_a_table_is_changed_and_its_name_stays_its_own(manager: Client, venue: Venue) -> None:
    table = builders.table(venue, "T1")
    builders.table(venue, "T2")
    fields = {"name": "T2", "seats_min": "1", "seats_max": "4", "priority": "0", "is_active": "on"}
    answer = manager.post(f"{root(venue)}/table/{table.pk}", fields)
    assert answer.status_code == 400
    assert "This name is already used." in text(answer)
    assert (
        manager.post(f"{root(venue)}/table/{table.pk}", fields | {"name": "T9", "seats_max": "6"}).status_code == 302
    )
    table.refresh_from_db()
    assert (table.name, table.seats_max) == ("T9", 6)
    refused = manager.post(f"{root(venue)}/table/{table.pk}", fields | {"seats_min": "5"})
    assert "Seats are 1 to 500, and the maximum is not below the minimum." in text(refused)


@pytest.mark.exhaustive
def test_rows_in_use_are_not_deleted_with_a_message(manager: Client, venue: Venue) -> None:
    area = Area.objects.create(venue=venue, name="Terrace")
    one, two = builders.table(venue, "T1", area=area), builders.table(venue, "T2")
    builders.period(venue)
    reservation = builders.reservation_body()
    answer = builders.client(venue).post("/api/v1/reservations", reservation, content_type="application/json")
    assert answer.json()["tables"] == ["T1"]
    pushed = builders.combination(venue, one, two, seats_min=5, seats_max=8)
    for path, message in (
        (f"table/{two.pk}", "T2 is part of T1+T2. Remove it from there first."),
        (f"area/{area.pk}", "Terrace contains tables: T1. Move them first."),
    ):
        assert message in text(manager.post(f"{root(venue)}/{path}/remove", follow=True))
    assert "Deleted: T1+T2." in text(manager.post(f"{root(venue)}/combination/{pushed.pk}/remove", follow=True))
    message = text(manager.post(f"{root(venue)}/table/{one.pk}/remove", follow=True))
    assert "T1 has past or upcoming reservations. Make it inactive instead" in message
    assert "Deleted: T2." in text(manager.post(f"{root(venue)}/table/{two.pk}/remove", follow=True))
    assert list(Table.objects.values_list("name", flat=True)) == ["T1"]


def test_a_combination_has_two_tables_or_more(manager: Client, venue: Venue) -> None:
    tables = [builders.table(venue, name) for name in ("T1", "T2")]
    fields = {"name": "T1+T2", "seats_min": "5", "seats_max": "8", "priority": "0", "is_active": "on"}
    alone = manager.post(f"{root(venue)}/combination/new", fields | {"tables": [str(tables[0].pk)]})
    assert "Select at least two tables." in text(alone)
    assert not Combination.objects.exists()
    both = fields | {"tables": [str(table.pk) for table in tables]}
    assert manager.post(f"{root(venue)}/combination/new", both).status_code == 302
    assert Combination.objects.get().tables.count() == 2


def test_hours_are_written_and_drawn(manager: Client, venue: Venue) -> None:
    assert "No service periods yet" in text(manager.get(f"{root(venue)}/hours"))
    assert manager.post(f"{root(venue)}/period/new", PERIOD | {"name": NASTY}).status_code == 302
    period = ServicePeriod.objects.get()
    assert (period.weekdays, period.first_seating, period.venue) == ([4, 5], time(19), venue)
    page = text(manager.get(f"{root(venue)}/hours"))
    assert "Fri, Sat" in page
    assert page.count('<rect class="period"') == 1
    assert NASTY not in page


def test_what_goes_on_after_midnight_stays_in_the_row_of_its_evening(venue: Venue) -> None:
    week = Week.of([builders.period(venue, first="22:00", last="01:00", weekdays=[6])])
    assert [hour for _, hour, _ in week.hours] == ["22", "23", "00", "01"]
    assert [(block.x, block.width) for block in week.blocks] == [("0.0%", "100.0%")]


@pytest.mark.parametrize(
    ("weekdays", "rows"),
    [
        ([0, 1, 2, 3, 4, 5, 6], ["Mon to Sun"]),
        ([0, 1, 2, 3, 4], ["Mon to Fri", "Sat, Sun"]),
        ([0, 2, 4], ["Mon, Wed, Fri", "Tue, Thu, Sat, Sun"]),
    ],
)
def test_days_with_equal_periods_are_one_row_of_the_chart(venue: Venue, weekdays: list[int], rows: list[str]) -> None:
    week = Week.of([builders.period(venue, weekdays=weekdays)])
    assert [days for days, _times in week.days] == rows
    assert week.days[0][1] == ("18:00 to 22:00",)
    assert len(week.blocks) == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "wrong",
    [
        {"weekdays": []},
        {"weekdays": ["7"]},
        {"first_seating": "25:00"},
        {"slot_min": "0"},
        {"slot_min": "9" * 99},
        {"turn_2_min": "1"},
        {"pacing_covers": "0"},
        {"name": "\0"},
    ],
    ids=["no-day", "day", "time", "slot", "huge", "turn", "pacing", "nul"],
)
def test_hours_that_make_no_sense_are_refused(manager: Client, venue: Venue, wrong: dict[str, Any]) -> None:
    assert manager.post(f"{root(venue)}/period/new", PERIOD | wrong).status_code == 400
    assert not ServicePeriod.objects.exists()


@pytest.mark.exhaustive
def test_closed_days_are_in_the_calendar_and_say_who_has_booked(manager: Client, venue: Venue) -> None:
    day = timezone.now().date() + timedelta(days=30)
    builders.reservation(venue, starts_at=timezone.now() + timedelta(days=30))
    asked = {
        "first_date": f"{day - timedelta(days=1)}",
        "last_date": f"{day + timedelta(days=1)}",
        "reason": "Holiday",
    }
    page = text(manager.post(f"{root(venue)}/closure/new", asked, follow=True))
    assert "1 existing reservation on these days is not cancelled. You can cancel them in the day view." in page
    assert page.count('class="closed"') == 3
    wrong = asked | {"last_date": "2020-01-01"}
    answer = manager.post(f"{root(venue)}/closure/new", wrong)
    assert (answer.status_code, "The last day is before the first." in text(answer)) == (400, True)
    closure = Closure.objects.get()
    assert closure.first_date == date.fromisoformat(asked["first_date"])
    assert "Deleted:" in text(manager.post(f"{root(venue)}/closure/{closure.pk}/remove", follow=True))


def test_a_day_of_the_calendar_leads_to_its_form(manager: Client, venue: Venue) -> None:
    day = timezone.now().date() + timedelta(days=30)
    page = text(manager.get(f"{root(venue)}/hours"))
    assert f'href="{root(venue)}/closure/new?day={day}"' in page
    form = text(manager.get(f"{root(venue)}/closure/new", {"day": f"{day}"}))
    assert form.count(f'value="{day}"') == 2
    closure = Closure.objects.create(venue=venue, first_date=day, last_date=day)
    page = text(manager.get(f"{root(venue)}/hours"))
    assert f'href="{root(venue)}/closure/{closure.pk}">{day.day}<' in page
    assert f"?day={day}" not in page
    # What is no date fills in nothing that can be saved.
    assert manager.get(f"{root(venue)}/closure/new", {"day": "\0<"}).status_code == 200


def test_a_new_service_period_is_for_every_day(manager: Client, venue: Venue) -> None:
    form = text(manager.get(f"{root(venue)}/period/new"))
    assert len(re.findall(r'name="weekdays"[^>]* checked', form)) == 7


@pytest.mark.exhaustive
def test_another_venues_rows_are_not_there(manager: Client, venue: Venue, other_venue: Venue) -> None:
    rows: dict[str, Any] = {
        "table": builders.table(other_venue),
        "area": Area.objects.create(venue=other_venue, name="Terrace"),
        "period": builders.period(other_venue),
        "closure": Closure.objects.create(venue=other_venue, first_date=date(2031, 1, 1), last_date=date(2031, 1, 1)),
    }
    for kind, row in rows.items():
        assert manager.get(f"{root(venue)}/{kind}/{row.pk}").status_code == 404
        assert manager.post(f"{root(venue)}/{kind}/{row.pk}/remove").status_code == 404
        assert manager.post(f"{root(other_venue)}/{kind}/{row.pk}/remove").status_code == 404
        assert type(row).objects.filter(pk=row.pk).exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ["host", "kitchen"])
def test_the_setup_is_for_those_who_run_the_venue(venue: Venue, role: str) -> None:
    client = users.member(venue, role)
    for path in ("tables", "hours", "terms", "table/new", "period/new", "term/new"):
        assert client.get(f"{root(venue)}/{path}").status_code == 403
    assert client.post(f"{root(venue)}/tables", {"names": "T1"}).status_code == 403
    assert Client().get(f"{root(venue)}/hours").status_code == 302
    assert not Table.objects.exists()


@pytest.mark.exhaustive
def test_tables_are_listed_in_natural_order_of_their_names(manager: Client, venue: Venue) -> None:
    for name in ("T10", "T2", "T1", "Bar 11", "Bar 9"):
        builders.table(venue, name)
    expected = ["Bar 9", "Bar 11", "T1", "T2", "T10"]
    listed = text(manager.get(f"{root(venue)}/tables"))
    assert re.findall(r"<bdi>((?:T|Bar )\d+)</bdi>", listed) == expected
    new = text(manager.get(f"/dashboard/{venue.public_id}/reservations/new"))
    assert re.findall(r'value="((?:T|Bar )\d+)"', new) == expected


TERMS = {
    "party_from": "6",
    "weekdays": ["4", "5"],
    "first_date": "2031-12-01",
    "last_date": "2031-12-31",
    "free_hours": "48",
    "deposit_usdc": "12.50",
}


def test_tables_are_grouped_by_area_and_show_what_differs(manager: Client, venue: Venue) -> None:
    bar = Area.objects.create(venue=venue, name="Bar")
    builders.table(venue, "B1", area=bar, seats_max=2)
    builders.table(venue, "T1")
    page = manager.get(f"{root(venue)}/tables")
    groups = [(group.area, [table.name for table in group.tables], group.seats) for group in page.context["groups"]]
    assert groups == [(bar, ["B1"], 2), (None, ["T1"], 4)]
    assert "No area" in text(page)
    assert "Priority" not in text(page)
    assert "inactive" not in text(page)
    # An area with tables is edited at its heading; another is listed below.
    Area.objects.create(venue=venue, name="Cellar")
    builders.table(venue, "T2", is_active=False, priority=3)
    page = manager.get(f"{root(venue)}/tables")
    assert page.context["groups"][1].seats == 4
    assert ", Priority 3<" in text(page)
    assert [area.name for area in page.context["other_areas"]] == ["Cellar"]
    assert "inactive" in text(page)


@pytest.mark.parametrize(("longest", "shown"), [("150", "90 to 150 min"), ("90", "90 min")])
def test_the_hours_page_shows_the_shortest_and_the_longest_stay(
    manager: Client, venue: Venue, longest: str, shown: str
) -> None:
    builders.period(venue, turn_2_min=90, turn_4_min=90, turn_6_min=90, turn_more_min=longest)
    assert f">{shown}</td>" in text(manager.get(f"{root(venue)}/hours"))


def test_terms_are_written_and_listed(manager: Client, venue: Venue) -> None:
    assert "No terms yet" in text(manager.get(f"{root(venue)}/terms"))
    answer = manager.post(f"{root(venue)}/term/new", TERMS, follow=True)
    assert "Saved: Parties from 6 guests: free cancellation until 48 hours before, deposit of 12.5 USDC" in text(
        answer
    )
    row = CancellationTerms.objects.get()
    assert (row.venue, row.party_from, row.weekdays, row.free_hours) == (venue, 6, [4, 5], 48)
    listed = re.findall(r"<td[^>]*>(.*?)</td>", text(manager.get(f"{root(venue)}/terms")))
    assert [re.sub(r"<[^>]*>", "", cell) for cell in listed] == [
        "from 6 guests",
        "Fri, Sat",
        "from 1 Dec 2031 to 31 Dec 2031",
        "until 48 hours before",
        "12.50 USDC",
    ]
    assert manager.post(f"{root(venue)}/term/{row.pk}/remove").status_code == 302
    assert not CancellationTerms.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"free_hours": "169"}, "Guests may have to cancel at most 168 hours (a week) before."),
        ({"deposit_usdc": "0"}, "Ensure this value is greater than or equal to 0.01."),
        ({"deposit_usdc": "1000.01"}, "Ensure this value is less than or equal to 1000."),
        ({"free_hours": "", "deposit_usdc": ""}, "Enter the hours of free cancellation, a deposit, or both."),
        ({"last_date": "2031-11-30"}, "The last day is before the first."),
        ({"party_from": "0"}, "The smallest party is of 1 to 500 guests."),
        ({"weekdays": []}, "This field is required."),
    ],
)
def test_terms_that_make_no_sense_are_refused(
    manager: Client, venue: Venue, changes: dict[str, Any], why: str
) -> None:
    answer = manager.post(f"{root(venue)}/term/new", TERMS | changes)
    assert answer.status_code == 400
    assert why in unescape(text(answer))
    assert not CancellationTerms.objects.exists()


def test_each_change_of_the_terms_is_recorded(manager: Client, venue: Venue) -> None:
    manager.post(f"{root(venue)}/term/new", TERMS)
    row = CancellationTerms.objects.get()
    manager.post(f"{root(venue)}/term/{row.pk}", TERMS | {"deposit_usdc": "15"})
    changes: Any = apps.get_model("reservations", "CancellationTermsChange")
    recorded = changes.objects.order_by("pgh_id").values_list("pgh_label", "deposit_usdc")
    assert list(recorded) == [("added", Decimal("12.50")), ("changed", Decimal("12.50"))]
