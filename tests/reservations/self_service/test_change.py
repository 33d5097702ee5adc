"""A guest changes the reservation on its own page, and adds it to a calendar."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from html import unescape
from threading import Barrier
from typing import Any

import icalendar
import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test import Client

from accounts.models import Event, Venue
from catalogue.models import FlowBooking
from reservations.booking import commands
from reservations.mail import queue
from reservations.models import GuestMail, Reservation, Seating
from reservations.self_service import links, permissions
from tests.catalogue import builders as catalogue
from tests.reservations import consistency
from tests.support import builders
from tests.support.query_counts import costing

NOW = datetime(2031, 5, 3, 12, 0, tzinfo=UTC)
DAY = date(2031, 5, 5)


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with a table for two, one for four, and dinner every day from 18:00 to 22:00."""
    builders.table(venue, "T2", seats_max=2)
    builders.table(venue, "T4", seats_max=4)
    builders.period(venue)
    return venue


def book(venue: Venue, party_size: int = 4, *, at: str = "19:30", **fields: Any) -> Reservation:
    values = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"} | fields
    at_time = time.fromisoformat(at)
    return commands.book(venue, now=NOW, actor="guest", day=DAY, at=at_time, party_size=party_size, **values)


def page(reservation: Reservation, step: str = "") -> str:
    return f"/guest/{links.token_of(reservation)}{step}"


def words(response: Any) -> str:
    """The text of a page without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def see(path: str, *, now: datetime = NOW) -> Any:
    with time_machine.travel(now, tick=False):
        return Client().get(path)


def send(reservation: Reservation, *, now: datetime = NOW, **fields: str) -> Any:
    """Send the form of the change, with the values of the reservation unless others are given."""
    values = {"day": f"{reservation.date}", "time": f"{reservation.time:%H:%M}", "party": f"{reservation.party_size}"}
    with time_machine.travel(now, tick=False):
        return Client().post(page(reservation, "/change"), values | {"area": ""} | fields)


def booked(reservation: Reservation) -> tuple[date, time, int, list[str], str]:
    reservation.refresh_from_db()
    row = reservation
    return row.date, row.time, row.party_size, row.tables, row.status


def test_a_guest_moves_to_another_time_and_sees_what_changed(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    shown = see(page(reservation, "/change?day=2031-05-06&time=20:00&party=4"))
    assert "You have a table: Monday 5 May 2031 at 19:30 for 2 . It stays yours until the new one is" in words(shown)
    assert "Change to 20:00 for 4" in words(shown)
    assert not re.search("[{][{%#]|[}%#][}]", shown.content.decode())
    answer = send(reservation, day="2031-05-06", time="20:00", party="4")
    assert answer.status_code == 302
    after = words(see(answer["Location"]))
    assert "Your change is saved. Date: Tuesday 6 May 2031 , was Monday 5 May 2031" in after
    assert "Time: 20:00 , was 19:30" in after
    assert "Guests: 4 , was 2" in after
    assert booked(reservation) == (date(2031, 5, 6), time(20, 0), 4, ["T4"], "confirmed")
    newest = Event.objects.filter(subject=reservation.pk).latest("created_at", "id")
    assert (newest.type, newest.actor) == ("reservation.updated", "guest")
    # Nothing is shown without the token, and with one of another reservation.
    token = answer["Location"].partition("?")[2]
    for path in (page(reservation), page(reservation, "?changed=forged"), page(book(dinner, 2), f"?{token}")):
        assert "Your change is saved." not in words(see(path))


def test_the_own_table_counts_as_free(dinner: Venue) -> None:
    reservation = book(dinner, 4)
    rival = book(dinner, 2)
    shown = see(page(reservation, "/change")).content.decode()
    free = re.findall(r'name="time" value="([^"]+)"', shown)
    assert free == ["18:00", "18:15", "18:30", "18:45", *(f"{hour}:{minute:02}" for hour in (19, 20, 21)
                    for minute in (0, 15, 30, 45)), "22:00"]  # fmt: skip
    assert "19:30 <small>your time</small>" in shown
    # For the rival the table for four is taken from 17:45 to 21:15, and its own is not.
    assert len(re.findall(r'name="time" value=', see(page(rival, "/change")).content.decode())) == 17
    assert send(reservation, time="20:00").status_code == 302
    assert booked(reservation) == (DAY, time(20, 0), 4, ["T4"], "confirmed")


def test_the_page_of_the_change_costs_a_few_queries(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    with time_machine.travel(NOW, tick=False), costing(11):
        Client().get(page(reservation, "/change"))


def test_a_refused_change_keeps_the_table_and_shows_the_nearest_times_as_buttons(dinner: Venue) -> None:
    reservation = book(dinner, 2, at="18:00")
    book(dinner, 4, at="20:00")
    before = booked(reservation)
    answer = send(reservation, time="20:00", party="4")
    assert answer.status_code == 409
    assert "There is no table for 4 at 20:00 on 2031-05-05." in words(answer)
    buttons = re.findall(r'<button name="time" value="([^"]+)">([^<]+)<', answer.content.decode())
    assert buttons == [(at, f"Change to {at} for 4") for at in ("18:00", "18:15", "21:45", "22:00")]
    assert booked(reservation) == before
    assert send(reservation, time="21:45", party="4").status_code == 302
    assert booked(reservation) == (DAY, time(21, 45), 4, ["T4"], "confirmed")


@pytest.mark.exhaustive
def test_a_large_party_and_a_venue_without_tables_are_arranged_by_the_staff(dinner: Venue) -> None:
    Venue.objects.filter(pk=dinner.pk).update(auto_confirm_max_party=3)
    reservation = book(Venue.objects.get(pk=dinner.pk), 2)
    shown = see(page(reservation, "/change?party=4&day=2031-05-05&time=20:00"))
    assert "The staff arrange parties of 4. Please call the restaurant." in words(shown)
    assert "Change to" not in words(shown)
    assert send(reservation, party="4").status_code == 409
    bare = builders.reservation(
        builders.venue(), status="confirmed", starts_at=datetime(2031, 5, 5, 17, 30, tzinfo=UTC)
    )
    before = booked(bare)
    call = "This restaurant confirms each reservation itself. To change the time or the party, please call it."
    assert call in words(see(page(bare, "/change")))
    refused = send(bare, time="03:00", party="200")
    assert (refused.status_code, booked(bare)) == (409, before)
    assert call in words(refused)


def test_a_request_moves_and_stays_a_request(venue: Venue) -> None:
    reservation = book(venue, 4)
    assert reservation.pending_reason == "manual"
    assert "Change to 20:00 for 4" in words(see(page(reservation, "/change?day=2031-05-05&time=20:00")))
    assert send(reservation, time="20:00").status_code == 302
    assert booked(reservation) == (DAY, time(20, 0), 4, [], "pending")


def test_an_area_is_chosen_and_named(dinner: Venue) -> None:
    terrace = dinner.areas.create(name="Terrace")
    builders.table(dinner, "T9", seats_max=2, area=terrace)
    reservation = book(dinner, 2)
    answer = send(reservation, area="Terrace")
    assert "Area: Terrace , was any" in words(see(answer["Location"]))
    assert booked(reservation)[3] == ["T9"]
    assert "<option selected>Terrace</option>" in see(page(reservation, "/change")).content.decode()
    assert send(reservation, area="Roof").status_code == 400
    assert booked(reservation)[3] == ["T9"]


def test_requests_are_saved_by_themselves(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    with time_machine.travel(NOW, tick=False):
        answer = Client().post(page(reservation, "/change"), {"special_requests": "A high chair\r\nA window"})
        too_long = Client().post(page(reservation, "/change"), {"special_requests": "x" * 2001})
    assert "The restaurant sees your special requests." in words(see(answer["Location"]))
    assert too_long.status_code == 400
    assert 'aria-invalid="true"' in too_long.content.decode()
    assert booked(reservation) == (DAY, time(19, 30), 2, ["T2"], "confirmed")
    assert reservation.special_requests == "A high chair\nA window"


@pytest.mark.parametrize(
    "fields", [{"day": ""}, {"day": "2031-02-30"}, {"time": "25:00"}, {"party": "0"}, {"party": "x"}, {"time": "\x00"}]
)
def test_a_form_that_was_tampered_with_changes_nothing(dinner: Venue, fields: dict[str, Any]) -> None:
    reservation = book(dinner, 2)
    before = booked(reservation)
    assert (send(reservation, **fields).status_code, booked(reservation)) == (400, before)


@pytest.mark.parametrize("state", ["started", "cancelled", "offered"])
def test_what_has_started_is_cancelled_or_waits_for_an_answer_is_not_changed(dinner: Venue, state: str) -> None:
    reservation = book(dinner, 2)
    now = reservation.starts_at if state == "started" else NOW
    if state == "cancelled":
        permissions.cancel(reservation, now=NOW)
    if state == "offered":
        until = NOW + timedelta(minutes=30)
        offer = {"status": "pending", "pending_reason": "waitlist", "offered_until": until}
        Reservation.objects.filter(pk=reservation.pk).update(**offer)
    before = booked(reservation)
    assert "Change to" not in words(see(page(reservation, "/change?time=20:00"), now=now))
    answer = send(reservation, now=now, time="20:00")
    assert (answer.status_code, booked(reservation)) == (409, before)
    assert "It is too late to change this online." in words(answer)


def test_a_reservation_at_an_offer_keeps_its_time_and_party(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    restaurant = catalogue.restaurant()
    slot = catalogue.slot(restaurant, starts_at=reservation.starts_at)
    FlowBooking.objects.create(slot=slot, reservation=reservation, seats=2, contact="x", created_at=NOW)
    before = booked(reservation)
    shown = words(see(page(reservation, "/change")))
    assert "This table is booked at an offer, so its time and party stay as they are." in shown
    assert "Show times" not in shown
    assert (send(reservation, time="20:00").status_code, booked(reservation)) == (409, before)
    with time_machine.travel(NOW, tick=False):
        assert Client().post(page(reservation, "/change"), {"special_requests": "A window"}).status_code == 302
    assert booked(reservation) == before


def test_the_place_is_on_a_map_by_its_coordinates_or_else_by_its_address(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    assert "openstreetmap" not in see(page(reservation)).content.decode()
    Venue.objects.filter(pk=dinner.pk).update(address="Via Roma 1, Roma")
    assert (
        'href="https://www.openstreetmap.org/search?query=Via+Roma+1%2C+Roma"'
        in see(page(reservation)).content.decode()
    )
    restaurant = catalogue.restaurant(latitude=41.9, longitude=12.5)
    catalogue.listing(restaurant, dinner)
    assert (
        'href="https://www.openstreetmap.org/?mlat=41.900000&amp;mlon=12.500000#map=18/41.900000/12.500000"'
        in see(page(reservation)).content.decode()
    )


def event_of(content: str | bytes) -> tuple[Any, Any]:
    """The calendar and its only event."""
    calendar = icalendar.Calendar.from_ical(content)
    assert isinstance(calendar, icalendar.Calendar)
    (event,) = calendar.walk("VEVENT")
    return calendar, event


def test_the_calendar_file_has_one_uid_and_a_sequence_that_grows(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    response = see(page(reservation, "/reservation.ics"))
    assert response["Content-Type"] == "text/calendar; charset=utf-8"
    assert response["Cache-Control"] == "no-store, private"
    calendar, first = event_of(response.content)
    assert (calendar["method"], first["status"], first["sequence"]) == ("PUBLISH", "CONFIRMED", 1)
    assert first["dtstart"].dt == datetime(2031, 5, 5, 17, 30, tzinfo=UTC)
    assert first["dtend"].dt == datetime(2031, 5, 5, 19, 0, tzinfo=UTC)
    assert first["summary"] == "Table for 2 at Trattoria"
    assert first["url"] == links.url_of(reservation)
    send(reservation, time="20:00")
    _, second = event_of(see(page(reservation, "/reservation.ics")).content)
    assert (second["uid"], second["sequence"]) == (first["uid"], 2)
    assert second["dtstart"].dt == datetime(2031, 5, 5, 18, 0, tzinfo=UTC)
    reservation.refresh_from_db()
    permissions.cancel(reservation, now=NOW)
    calendar, last = event_of(see(page(reservation, "/reservation.ics")).content)
    assert (calendar["method"], last["status"], last["uid"], last["sequence"]) == (
        "CANCEL", "CANCELLED", first["uid"], 3
    )  # fmt: skip
    assert see(page(reservation, "/reservation.ics"), now=reservation.ends_at).status_code == 410


def test_a_name_puts_no_line_into_the_calendar_file(dinner: Venue) -> None:
    Venue.objects.filter(pk=dinner.pk).update(name='Bar "Uno"\r\nATTENDEE:mailto:eve@example.com', address="A;B,C\nD")
    reservation = book(Venue.objects.get(pk=dinner.pk), 2)
    _, event = event_of(see(page(reservation, "/reservation.ics")).content)
    assert "attendee" not in event
    assert event["location"] == 'Bar "Uno" ATTENDEE:mailto:eve@example.com, A;B,C D'


def attached(message: Any) -> tuple[Any, Any]:
    ((name, content, kind),) = message.attachments
    assert (name, kind) == ("reservation.ics", "text/calendar")
    return event_of(content)


def test_mail_says_what_changed_and_has_the_calendar_file(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    queue.send_due(now=NOW)
    send(reservation, day="2031-05-06", time="20:00", party="4")
    queue.send_due(now=NOW)
    reservation.refresh_from_db()
    permissions.cancel(reservation, now=NOW)
    queue.send_due(now=NOW)
    confirmed, changed, _ = mail.outbox
    assert ", was " not in str(confirmed.body)
    difference = "  Date: Tuesday 6 May 2031, was Monday 5 May 2031\n  Time: 20:00, was 19:30\n  Guests: 4, was 2\n"
    assert f"\n\n{difference}\n  Trattoria\n" in str(changed.body)
    found = [attached(message) for message in mail.outbox]
    assert [(calendar["method"], event["sequence"]) for calendar, event in found] == [
        ("PUBLISH", 1), ("PUBLISH", 2), ("CANCEL", 3)
    ]  # fmt: skip
    assert len({event["uid"] for _, event in found}) == 1


def test_of_two_changes_before_a_mail_the_guest_reads_the_difference_to_the_first(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    queue.send_due(now=NOW)
    send(reservation, time="20:00")
    send(reservation, time="21:00")
    queue.send_due(now=NOW)
    assert len(mail.outbox) == 2
    assert "  Time: 21:00, was 19:30\n" in str(mail.outbox[1].body)
    send(reservation, time="22:00")
    queue.send_due(now=NOW)
    assert "  Time: 22:00, was 21:00\n" in str(mail.outbox[2].body)
    states = GuestMail.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["sent", "dropped", "sent", "sent"]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_guests_who_change_to_the_last_table_one_gets_it_and_the_other_keeps_theirs() -> None:
    venue = builders.venue()
    for number in (1, 2):
        builders.table(venue, f"S{number}", seats_max=2)
    builders.table(venue, "L", seats_max=4, seats_min=3)
    builders.period(venue)
    now = datetime.now(tz=UTC)
    day = (now + timedelta(days=9)).date()
    parties = [
        commands.book(
            venue, now=now, actor="guest", day=day, at=time(19, 30), party_size=2, customer_name=name,
            customer_email=f"{name}@example.com",
        )
        for name in ("ada", "bob")
    ]  # fmt: skip
    before = {party.pk: party.tables for party in parties}
    start = Barrier(2)

    def change(party: Reservation) -> int:
        start.wait(timeout=10)
        try:
            fields = {"day": f"{day}", "time": "20:00", "party": "4", "area": ""}
            return Client().post(page(party, "/change"), fields).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(change, parties))
    assert sorted(answers) == [302, 409]
    winner, loser = parties if answers[0] == 302 else parties[::-1]
    assert booked(winner) == (day, time(20, 0), 4, ["L"], "confirmed")
    assert booked(loser) == (day, time(19, 30), 2, before[loser.pk], "confirmed")
    assert Seating.objects.count() == 2
    assert consistency.problems() == []
