"""Holds on the day view: where they are shown, until when, what they cost, and who releases one."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Venue
from reservations.booking.service_day import ServiceDay
from reservations.dashboard.day_sheet import DaySheet
from reservations.models import Hold, Seating
from tests.reservations import consistency
from tests.support import builders, users

SATURDAY = date(2031, 5, 3)
# Seven in the evening in Rome.
NOW = datetime(2031, 5, 3, 17, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def evening() -> Iterator[None]:
    """It is seven in the evening in Rome, on a Saturday."""
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with the tables T1 and T2 for four, which can be combined, and dinner every day."""
    tables = [builders.table(venue, "T1"), builders.table(venue, "T2")]
    builders.combination(venue, *tables, seats_min=5, seats_max=8)
    builders.period(venue, first="18:00", last="22:00")
    return venue


@pytest.fixture
def host(dinner: Venue) -> Client:
    """A host of the venue, signed in."""
    return users.member(dinner, "host")


def hold(venue: Venue, **fields: Any) -> Hold:
    """A hold of this evening at 20:00 for four, until 19:12."""
    return builders.hold(venue, **({"day": SATURDAY, "at": time(20), "minutes": 12} | fields))


def sheet_of(venue: Venue, *, now: datetime = NOW) -> DaySheet:
    return DaySheet.load(ServiceDay.load(venue, SATURDAY), now=now)


def url(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/reservations{rest}"


def release(client: Client, held: Hold) -> Any:
    """Press Release on the page of the day."""
    return client.post(url(held.venue, f"/holds/{held.public_id}/release"), {"day": "2031-05-03"})


def test_a_hold_is_a_block_at_its_table_and_a_line_of_the_list(dinner: Venue, host: Client) -> None:
    hold(dinner)
    first, second = sheet_of(dinner).rows
    # From 20:00 on, which is two hours after the first hour, for 105 minutes.
    assert [(block.column, block.span, block.held.until) for block in first.holds] == [(24, 21, "19:12")]
    assert second.holds == []
    page = host.get(url(dinner, "?day=2031-05-03")).content.decode()
    assert "Held until 19:12 for 4" in page
    assert '<td class="guest">Held until 19:12</td>' in page
    assert page.count('aria-label="Release the hold of T1 at 20:00"') == 2
    assert "<strong>1</strong> held" in page


def test_a_hold_of_two_tables_is_shown_at_both_and_once_in_the_list(dinner: Venue) -> None:
    hold(dinner, party_size=7)
    sheet = sheet_of(dinner)
    assert [[block.label for block in row.holds] for row in sheet.rows] == [["T1, T2"], ["T1, T2"]]
    assert len(sheet.entries_by_time) == 1


def test_a_hold_counts_in_the_bar_of_its_slot_but_not_in_the_covers_of_the_day(dinner: Venue) -> None:
    hold(dinner)
    sheet = sheet_of(dinner)
    assert [(bar.label, bar.covers) for bar in sheet.bars if bar.covers] == [("20:00", 4)]
    assert (sheet.covers, sheet.parties) == (0, 0)


def test_the_list_has_holds_and_reservations_in_order_of_time(dinner: Venue) -> None:
    held = hold(dinner)
    early, late = (
        builders.reservation(dinner, status="confirmed", starts_at=NOW + timedelta(hours=hours)) for hours in (0, 3)
    )
    entries = sheet_of(dinner).entries_by_time
    assert [entry.at for entry in entries] == ["19:00", "20:00", "22:00"]
    assert [entry.starts_at for entry in entries] == [early.starts_at, held.starts_at, late.starts_at]


def test_a_hold_that_expires_leaves_the_page_at_the_next_poll(dinner: Venue, host: Client) -> None:
    hold(dinner, minutes=1)
    seen = host.get(url(dinner, "?day=2031-05-03")).context["seen"]
    asked = {"day": "2031-05-03", "seen": seen}
    with time_machine.travel(NOW + timedelta(seconds=59), tick=False):
        assert host.get(url(dinner, "/live"), asked).status_code == 204
    with time_machine.travel(NOW + timedelta(seconds=60), tick=False):
        answer = host.get(url(dinner, "/live"), asked)
        assert answer.status_code == 200
        assert "Held until" not in answer.content.decode()
    # Its row has not been deleted: the time alone ends it.
    assert Hold.objects.count() == 1


def test_a_new_hold_is_on_the_page_at_the_next_poll(dinner: Venue, host: Client) -> None:
    seen = host.get(url(dinner, "?day=2031-05-03")).context["seen"]
    hold(dinner)
    assert "Held until 19:12" in host.get(url(dinner, "/live"), {"day": "2031-05-03", "seen": seen}).content.decode()


@pytest.mark.exhaustive
def test_twelve_holds_cost_as_many_queries_as_one(dinner: Venue, host: Client) -> None:
    for number in range(3, 14):
        builders.table(dinner, f"T{number}")
    counts = []
    for number in (1, 11):
        for _ in range(number):
            hold(dinner)
        with CaptureQueriesContext(connection) as captured:
            assert host.get(url(dinner, "?day=2031-05-03")).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 12


def test_staff_release_a_hold_and_the_release_is_logged(dinner: Venue, host: Client) -> None:
    held = hold(dinner)
    answer = release(host, held)
    assert answer["Location"] == url(dinner, "?day=2031-05-03")
    assert builders.messages_of(answer) == ["The hold of T1 at 20:00 was released. The table is free."]
    assert (Hold.objects.count(), Seating.objects.count()) == (0, 0)
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.is_deletion(), entry.user_id) == (
        str(held.pk),
        True,
        int(host.session["_auth_user_id"]),
    )
    assert entry.change_message == f"Released on the dashboard of {dinner.name}: T1"


def test_releasing_a_hold_that_has_ended_changes_nothing_and_says_so(dinner: Venue, host: Client) -> None:
    held = hold(dinner)
    release(host, held)
    before = consistency.state()
    assert builders.messages_of(release(host, held))[-1] == "There is no such hold, or it has ended."
    assert consistency.state() == before
    assert LogEntry.objects.count() == 1


def test_others_cannot_release_a_hold(dinner: Venue, client: Client, other_venue: Venue) -> None:
    held = hold(dinner)
    path = url(dinner, f"/holds/{held.public_id}/release")
    assert users.member(dinner, "kitchen").post(path).status_code == 403
    assert users.member(other_venue).post(path).status_code == 404
    other = users.member(other_venue).post(url(other_venue, f"/holds/{held.public_id}/release"))
    assert builders.messages_of(other) == ["There is no such hold, or it has ended."]
    assert client.post(path)["Location"].startswith("/account/login/")
    assert users.member(dinner).get(path).status_code == 405
    assert Hold.objects.get() == held
