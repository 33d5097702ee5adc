"""The day view: what it costs, what stands where, which day an hour of the night belongs to, and how it is moved."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Venue
from reservations.booking import commands
from reservations.booking.service_day import ServiceDay, service_date_of
from reservations.dashboard.day_sheet import MAX_COLUMNS, DaySheet
from reservations.models import Closure, Reservation
from tests.reservations import consistency
from tests.support import builders, users

SATURDAY = date(2031, 5, 3)
NOON = datetime(2031, 5, 3, 10, 0, tzinfo=UTC)
EVENING = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with the tables T1 and T2 for four, and dinner every day."""
    builders.table(venue, "T1")
    builders.table(venue, "T2")
    builders.period(venue, first="18:00", last="22:00")
    return venue


@pytest.fixture
def host(dinner: Venue) -> Client:
    """Who works there with reservations."""
    return users.member(dinner, "host")


def sheet_of(venue: Venue, day: date = SATURDAY, *, now: datetime = NOON) -> DaySheet:
    """The sheet as it is read at noon."""
    return DaySheet.load(ServiceDay.load(venue, day), now=now)


def url(venue: Venue, rest: str = "") -> str:
    """An address of the venue's reservations."""
    return f"/dashboard/{venue.public_id}/reservations{rest}"


def move(client: Client, reservation: Reservation, *, htmx: bool = False, **fields: Any) -> Any:
    """Send what the form, or a drag, sends."""
    headers = {"HX-Request": "true"} if htmx else {}
    asked = {"version": reservation.version, "day": "2031-05-03", "time": "19:30", "tables": ""} | fields
    return client.post(url(reservation.venue, f"/{reservation.public_id}/move"), asked, headers=headers)


@pytest.mark.parametrize(
    ("minutes", "arrival", "is_filled"),
    [(5, None, False), (20, None, True), (-5, "arrived", True), (20, "seated", False)],
)
def test_the_steps_of_parties_that_are_late_or_have_arrived_stand_out_in_the_list(
    dinner: Venue, minutes: int, arrival: str | None, is_filled: bool
) -> None:
    row = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    Reservation.objects.filter(pk=row.pk).update(arrival=arrival)
    lines = sheet_of(dinner, now=EVENING + timedelta(minutes=minutes)).lines
    page = render_to_string("reservations/day_lines.html", {"entries": lines, "day": SATURDAY, "venue": dinner})
    assert f'<button class="small{"" if is_filled else " quiet"}"' in page


def test_covers_by_slot_are_shown_if_the_part_of_the_day_in_view_has_some(dinner: Venue) -> None:
    assert not sheet_of(dinner).has_covers_in_view
    builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    assert sheet_of(dinner, now=EVENING).has_covers_in_view


# What it costs
@pytest.mark.exhaustive
def test_a_day_of_150_reservations_and_40_tables_takes_up_to_12_queries(venue: Venue) -> None:
    tables = [builders.table(venue, f"T{number}") for number in range(40)]
    builders.period(venue, first="12:00", last="22:00")
    Reservation.objects.bulk_create(
        Reservation(
            venue=venue,
            customer_name=f"Guest {number}",
            customer_phone="+15550100999",
            status="confirmed",
            date=SATURDAY,
            time=time(12 + number % 10),
            starts_at=(starts := datetime(2031, 5, 3, 10 + number % 10, tzinfo=UTC)),
            ends_at=starts + timedelta(minutes=60),
            party_size=2,
            tables=[tables[number % 40].name],
            created_at=NOON,
            updated_at=NOON,
        )
        for number in range(150)
    )
    client = users.member(venue)
    with CaptureQueriesContext(connection) as captured:
        page = client.get(url(venue, "?day=2031-05-03"))
    assert page.status_code == 200
    assert len(captured) <= 12, [query["sql"][:90] for query in captured]
    assert page.content.count(b'class="guest"><a') == 150
    with CaptureQueriesContext(connection) as captured:
        same = client.get(url(venue, "/live"), {"day": "2031-05-03", "seen": page.context["seen"]})
    assert (same.status_code, same.content) == (204, b"")
    assert len(captured) <= 7


# What stands where
def test_a_reservation_stands_at_its_table_from_its_time_for_its_stay(dinner: Venue) -> None:
    its = builders.reservation(dinner, status="confirmed", starts_at=EVENING, party_size=3)
    sheet = sheet_of(dinner)
    first, second = sheet.rows
    (block,) = first.blocks
    assert (first.table and first.table.name, second.blocks) == ("T1", [])
    # From 18:00 on: an hour and a half later, for 105 minutes.
    assert (sheet.hours[0].label, block.column, block.span) == ("18:00", 18, 21)
    assert (block.visit.reservation, sheet.covers, sheet.parties) == (its, 3, 1)
    assert [(bar.label, bar.covers) for bar in sheet.bars if bar.covers] == [("19:30", 3)]


def test_a_party_at_two_tables_stands_at_both(dinner: Venue) -> None:
    builders.reservation(dinner, status="confirmed", starts_at=EVENING, party_size=7, tables=["T1", "T2"])
    assert [[block.label for block in row.blocks] for row in sheet_of(dinner).rows] == [["T1, T2"], ["T1, T2"]]


def test_visits_without_a_table_are_above_the_tables_in_separate_lanes(dinner: Venue) -> None:
    for size in (9, 12):
        builders.reservation(dinner, starts_at=EVENING, party_size=size)
    row = sheet_of(dinner).rows[0]
    assert (row.table, [block.lane for block in row.blocks]) == (None, [0, 1])


def test_the_list_folds_parties_that_have_left_or_did_not_come_unless_there_are_no_others(dinner: Venue) -> None:
    left, missing, here = (
        builders.reservation(dinner, status="confirmed", starts_at=EVENING, party_size=2) for _ in range(3)
    )
    for row, arrival in ((left, "finished"), (missing, "no_show"), (here, "seated")):
        Reservation.objects.filter(pk=row.pk).update(arrival=arrival)
    sheet = sheet_of(dinner)
    assert {visit.reservation for visit in sheet.ended} == {left, missing}
    assert [getattr(line, "reservation", None) for line in sheet.lines] == [here]
    Reservation.objects.filter(pk=here.pk).update(arrival="finished")
    sheet = sheet_of(dinner)
    assert (sheet.ended, len(sheet.lines)) == ([], 3)


def test_a_slot_that_is_full_says_so(dinner: Venue) -> None:
    dinner.service_periods.update(pacing_covers=4)
    builders.reservation(dinner, status="confirmed", starts_at=EVENING, party_size=4)
    (bar,) = [bar for bar in sheet_of(dinner).bars if bar.covers]
    assert (bar.covers, bar.limit, bar.is_full) == (4, 4, True)


def test_a_closed_day_says_why(dinner: Venue) -> None:
    Closure.objects.create(venue=dinner, first_date=SATURDAY, last_date=SATURDAY, reason="Wedding")
    page = users.member(dinner).get(url(dinner, "?day=2031-05-03")).content.decode()
    assert '<span class="badge bad">Closed: Wedding</span>' in page


def test_a_venue_without_tables_has_a_list(venue: Venue) -> None:
    builders.reservation(venue, starts_at=EVENING)
    page = users.member(venue).get(url(venue, "?day=2031-05-03")).content.decode()
    assert "no-tables" in page
    assert 'class="grid-view"' not in page
    assert "Ada Lovelace" in page


# Days
def test_what_an_overnight_service_seats_after_midnight_belongs_to_the_evening(venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue, first="22:00", last="01:00", weekdays=[5])
    late = builders.reservation(venue, status="confirmed", starts_at=datetime(2031, 5, 3, 22, 30, tzinfo=UTC))
    assert (late.date, late.time) == (date(2031, 5, 4), time(0, 30))
    assert [visit.reservation for visit in sheet_of(venue).visits_by_time] == [late]
    assert sheet_of(venue, date(2031, 5, 4)).visits_by_time == []
    assert service_date_of(venue, at=late.starts_at) == SATURDAY
    assert service_date_of(venue, at=late.starts_at + timedelta(minutes=45)) == date(2031, 5, 4)


@pytest.mark.parametrize(("day", "hours"), [(date(2031, 3, 30), 23), (date(2031, 10, 26), 25), (SATURDAY, 24)])
def test_a_day_has_as_many_hours_as_the_clocks_show(dinner: Venue, day: date, hours: int) -> None:
    work = ServiceDay.load(dinner, day)
    assert work.ends_at - work.starts_at == timedelta(hours=hours)


def test_the_hours_of_a_day_on_which_the_clocks_change_are_those_of_the_clock(venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue, first="00:30", last="05:00")
    labels = [hour.label for hour in sheet_of(venue, date(2031, 10, 26)).hours]
    assert labels[:5] == ["00:00", "01:00", "02:00", "02:00", "03:00"]
    labels = [hour.label for hour in sheet_of(venue, date(2031, 3, 30)).hours]
    assert labels[:4] == ["00:00", "01:00", "03:00", "04:00"]


def test_the_style_sheet_knows_each_column() -> None:
    css = Path("reservations/static/reservations/columns.css").read_text()
    assert all(f".c{column}{{" in css for column in range(MAX_COLUMNS))
    assert all(f".w{span}{{" in css for span in range(1, MAX_COLUMNS + 1))


@pytest.mark.parametrize("day", ["2031-02-30", "yesterday", "%00", "9999-12-31", "0001-01-01", "2031-05-3"])
def test_what_is_no_day_is_404(host: Client, dinner: Venue, day: str) -> None:
    assert host.get(url(dinner, f"?day={day}")).status_code == 404


# Moving
@pytest.mark.exhaustive
def test_a_move_goes_to_another_table_and_can_be_undone(host: Client, dinner: Venue) -> None:
    its = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    answer = move(host, its, time="20:00", tables='["T2"]')
    assert answer["Location"] == url(dinner, "?day=2031-05-03")
    its.refresh_from_db()
    assert (its.time, its.tables) == (time(20), ["T2"])
    page = host.get(answer["Location"])
    assert "Ada Lovelace was moved to 20:00 on Saturday 3 May at T2." in page.content.decode()
    undo = page.context["undo"]
    move(host, its, undo="1", **{name: undo[name] for name in ("day", "time", "tables", "version")})
    its.refresh_from_db()
    assert (its.time, its.tables) == (time(19, 30), ["T1"])
    assert consistency.problems() == []


def test_a_drag_says_the_moment(host: Client, dinner: Venue) -> None:
    its = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    later = EVENING + timedelta(minutes=45)
    answer = move(host, its, htmx=True, day="", time="", moment=int(later.timestamp()), tables='["T2"]')
    assert (answer.status_code, answer["HX-Trigger"]) == (200, "sheet-changed")
    its.refresh_from_db()
    assert (its.time, its.tables) == (time(20, 15), ["T2"])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fields", "page_text"),
    [
        ({"tables": '["T2"]'}, "Already booked at that time: T2."),
        ({"tables": '["T9"]'}, "The venue has no table T9."),
        ({"version": 1}, "Another user has changed this reservation. Check it and try again."),
        ({"day": "2031-03-30", "time": "02:30"}, "On 2031-03-30 the clocks in Europe/Rome skip 02:30."),
        ({"tables": "{"}, "Select tables from the list."),
        ({"day": "", "time": "", "moment": "1" * 40}, "Ensure this value is less than or equal to"),
    ],
)
def test_a_move_that_a_rule_refuses_says_why_and_changes_nothing(
    host: Client, dinner: Venue, fields: dict[str, Any], page_text: str
) -> None:
    builders.reservation(dinner, status="confirmed", starts_at=EVENING, tables=["T2"])
    its = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    before = consistency.state()
    for htmx in (True, False):
        answer = move(host, its, htmx=htmx, **fields)
        assert answer.status_code == 400
        assert page_text in answer.content.decode()
    assert consistency.state() == before


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_moves_onto_one_table_one_is_refused(dinner: Venue) -> None:
    one, other = (
        builders.reservation(dinner, status="confirmed", starts_at=EVENING + timedelta(hours=hours))
        for hours in (0, 3)
    )
    commands.update(other, tables=["T2"], now=NOON, actor="system")
    clients = [users.member(dinner), users.member(dinner)]

    def go(which: int) -> int:
        try:
            asked = (one, other)[which]
            return int(move(clients[which], asked, htmx=True, time="21:00", tables='["T1"]').status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        codes = sorted(pool.map(go, range(2)))
    assert codes == [200, 400]
    assert consistency.problems() == []


def test_the_form_lists_what_is_free(host: Client, dinner: Venue) -> None:
    builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    its = builders.reservation(dinner, status="confirmed", starts_at=EVENING + timedelta(hours=3))
    page = host.get(url(dinner, f"/{its.public_id}/move?day=2031-05-03&time=19:30"))
    assert [place["table"].names for place in page.context["places"]] == [["T2"]]


@pytest.mark.exhaustive
def test_a_walk_in_is_seated_at_the_best_table_that_is_free(dinner: Venue) -> None:
    with time_machine.travel(EVENING, tick=False):
        host = users.member(dinner, "host")
        host.post(url(dinner, "/walk-in"), {"party_size": "2"})
        its = Reservation.objects.get()
        assert (its.tables, its.arrival, its.is_walk_in, its.customer_email) == (["T1"], "seated", True, None)
        assert its.starts_at == EVENING.astimezone(ZoneInfo("UTC"))
        host.post(url(dinner, "/walk-in"), {"party_size": "2"})
        before = consistency.state()
        page_text = builders.messages_of(host.post(url(dinner, "/walk-in"), {"party_size": "2"}))
        assert page_text[-1] == "No table for 2 is free now."
        assert consistency.state() == before
