"""The page on which guests book: by the rule of the API, without cookies, in any frame."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.db import connection
from django.test import Client

from accounts.models import Venue
from reservations.booking import email_confirmation, slot_states
from reservations.booking.terms import DepositRequired
from reservations.booking_page import online_booking
from reservations.mail import templates
from reservations.models import CancellationTerms, Closure, GuestMail, OnlineBooking, Reservation, Seating
from reservations.self_service import links, permissions
from tests.support import builders
from tests.support.query_counts import costing

NOW = datetime(2031, 5, 3, 12, 0, tzinfo=UTC)
DAY = date(2031, 5, 5)
XSS = "<script>alert('x')</script>"


def trattoria(**fields: Any) -> Venue:
    """A venue of one table for four that guests may book online for dinner."""
    venue = builders.venue("Trattoria", **{"is_bookable_online": True} | fields)
    builders.table(venue)
    builders.period(venue)
    return venue


@pytest.fixture
def osteria(db: None) -> Venue:
    """One of them."""
    return trattoria()


@pytest.mark.parametrize(
    ("query", "at", "opened"),
    [
        ("?day=2031-05-05", NOW, "Dinner"),
        ("?day=2031-05-05&time=12:30", NOW, "Lunch"),
        ("?day=2031-05-03", NOW.replace(hour=9), "Lunch"),
        ("?day=2031-05-03", NOW.replace(hour=14), "Dinner"),
    ],
    ids=["another-day", "chosen", "today-noon", "today-evening"],
)
def test_one_period_is_open_of_the_chosen_time_else_the_next_today_else_dinner(
    osteria: Venue, query: str, at: datetime, opened: str
) -> None:
    builders.period(osteria, "Lunch", first="12:00", last="14:00")
    answer = seen(page(osteria, query), at=at)
    assert [period.name for period in answer.context["choices"].periods if period.is_open] == [opened]
    assert answer.content.decode().count(" open><summary>") == 1


def test_the_address_and_the_phone_stand_under_the_name(db: None) -> None:
    venue = trattoria(address="Via Roma 1", phone="+39 06 123")
    shown = seen(page(venue)).content.decode()
    assert '<bdi>Via Roma 1</bdi><a href="tel:+3906123"><bdi>+39 06 123</bdi></a></p>' in shown
    assert shown.count("tel:") == 1


def page(venue: Venue, query: str = "") -> str:
    """The address of its page."""
    return f"/book/{venue.public_id}{query}"


def sent(venue: Venue, *, now: datetime = NOW, **changes: str) -> dict[str, str]:
    """What the form sends, ten seconds after it was opened."""
    return {
        "form": online_booking.new_form_token(venue, now=now - timedelta(seconds=10)),
        "party": "4",
        "day": DAY.isoformat(),
        "time": "19:30",
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
        "customer_phone": "",
        "special_requests": "A quiet corner",
        "website": "",
    } | changes


def post(venue: Venue, *, at: datetime = NOW, **changes: str) -> Any:
    """Send the form at that moment."""
    with time_machine.travel(at, tick=False):
        return Client(enforce_csrf_checks=True).post(page(venue), sent(venue, now=at, **changes))


def seen(path: str, *, at: datetime = NOW) -> Any:
    """The page at that moment."""
    with time_machine.travel(at, tick=False):
        return Client().get(path)


def words(response: Any) -> str:
    """The text of a page without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def test_a_week_for_any_party_costs_the_same_few_queries(osteria: Venue) -> None:
    with time_machine.travel(NOW, tick=False), costing(8):
        Client().get(page(osteria, "?party=2"))
    for number in range(2, 6):
        builders.table(osteria, f"T{number}")
    builders.period(osteria, "Lunch", first="12:00", last="14:00")
    with time_machine.travel(NOW, tick=False), costing(8):
        Client().get(page(osteria, "?party=2&day=2031-05-05"))


@pytest.mark.exhaustive
def test_times_shown_as_free_can_be_booked_over_the_api(osteria: Venue) -> None:
    builders.reservation(osteria, status="confirmed", starts_at=datetime(2031, 5, 5, 17, 30, tzinfo=UTC))
    found = slot_states.list_days(osteria, DAY, DAY, party_size=4, now=NOW)[0]
    free = [choice.time for choice in found.choices if choice.state == "free"]
    assert free == [time(21, 15), time(21, 30), time(21, 45), time(22, 0)]
    api = builders.client(osteria)
    # The last one is left free by none of the others.
    for choice in (*(choice for choice in found.choices if choice.state == "full"), found.choices[-1]):
        with time_machine.travel(NOW, tick=False):
            body = builders.reservation_body(date=DAY.isoformat(), time=f"{choice.time:%H:%M}")
            response = api.post("/api/v1/reservations", body, content_type="application/json")
        assert response.status_code == (201 if choice.state == "free" else 400)


def test_a_time_that_is_full_for_the_chosen_party_is_named_and_not_offered(osteria: Venue) -> None:
    fits, too_large = (seen(page(osteria, f"?party={party}&day=2031-05-05&time=19:30")) for party in (4, 5))
    assert "Book 19:30 for 4" in words(fits)
    assert "19:30 is not available for 5 guests. Choose another time." in words(too_large)
    assert "Your name" not in words(too_large)


@pytest.mark.exhaustive
def test_an_area_is_chosen_where_the_venue_has_some_and_the_guest_gets_a_table_of_it(osteria: Venue) -> None:
    assert 'name="area"' not in seen(page(osteria, "?party=2&day=2031-05-05")).content.decode()
    terrace = osteria.areas.create(name="Terrace")
    osteria.areas.create(name="Cellar")
    builders.table(osteria, "T9", seats_max=2, area=terrace)
    shown = seen(page(osteria, "?party=2&day=2031-05-05&time=19:30&area=Terrace"))
    # The cellar has no tables.
    assert re.findall(r"<option[^>]*>([^<]+)</option>", shown.content.decode()) == ["Any", "Terrace"]
    assert "Monday 5 May 2031 at 19:30, 2 guests, Terrace" in words(shown)
    assert post(osteria, party="2", area="Terrace").status_code == 302
    made = Reservation.objects.get()
    assert (made.tables, made.area) == (["T9"], terrace)
    # The table for four is free, but not on the terrace.
    full = post(osteria, party="2", area="Terrace", customer_email="bob@example.com")
    assert full.status_code == 409
    assert "There is no table for 2 at 19:30 on 2031-05-05 in the area Terrace." in words(full)
    assert "19:30 is not available for 2 guests in the area Terrace." in words(
        seen(page(osteria, "?party=2&day=2031-05-05&time=19:30&area=Terrace"))
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["Roof", "%00", "x" * 300])
def test_an_unknown_area_is_named_and_nothing_is_booked_in_it(osteria: Venue, name: str) -> None:
    shown = seen(page(osteria, f"?party=2&day=2031-05-05&area={name}"))
    assert shown.status_code == 200
    assert "This area cannot be chosen. These are the times of all tables." in words(shown)
    assert post(osteria, area=name).status_code == 400
    assert not Reservation.objects.exists()


def test_closed_and_full_days_are_shown(osteria: Venue) -> None:
    Closure.objects.create(venue=osteria, first_date=DAY, last_date=DAY, reason="Closed for Easter")
    assert "No guests are seated on 2031-05-05: Closed for Easter." in words(seen(page(osteria, "?day=2031-05-05")))
    assert "No table for 5 is available on this day." in words(seen(page(osteria, "?day=2031-05-06&party=5")))


def test_a_booking_shows_what_happens_next(osteria: Venue) -> None:
    response = post(osteria)
    assert response.status_code == 302
    made = Reservation.objects.get()
    assert (made.status, made.tables, made.time) == ("confirmed", ["T1"], time(19, 30))
    assert made.guest_mails.get().kind == "confirmed"
    after = seen(response["Location"])
    assert after.status_code == 200
    for part in ("Your table is booked", "Monday 5 May 2031", "19:30 (Europe/Rome time)", made.code):
        assert part in words(after)
    assert links.url_of(made) in after.content.decode()
    assert re.fullmatch(rf"/book/{osteria.public_id}/booked/{made.public_id}~[\w-]{{43}}", response["Location"])
    assert not after.cookies
    assert not response.cookies


def test_booked_page_has_the_calendar_file_and_the_map(db: None) -> None:
    venue = trattoria(address="Via Roma 1, Roma")
    booked = seen(post(venue)["Location"]).content.decode()
    calendar = f"/guest/{links.token_of(Reservation.objects.get())}/reservation.ics"
    assert f'<a href="{calendar}">Add to calendar</a>' in booked
    assert "https://www.openstreetmap.org/search?query=Via+Roma+1%2C+Roma" in booked
    assert seen(calendar)["Content-Type"] == "text/calendar; charset=utf-8"


def test_booked_page_of_a_guest_who_has_to_confirm_has_no_link_with_the_token(db: None) -> None:
    booked = seen(post(trattoria(proves_guests=True))["Location"]).content.decode()
    assert links.token_of(Reservation.objects.get()) not in booked


def test_booked_page_links_the_mailbox_where_its_mail_arrives(
    osteria: Venue, settings: LazySettings, tmp_path: Path
) -> None:
    booked, called = post(osteria), post(osteria, time="21:30", customer_email="", customer_phone="+390612345678")
    assert "Open the mailbox" not in words(seen(booked["Location"]))
    settings.MAILBOX_DIR, settings.PUBLIC_BASE_URL = str(tmp_path), "http://127.0.0.1:8000"
    assert '<a href="/mailbox" target="_blank">Open the mailbox' in seen(booked["Location"]).content.decode()
    # Nothing is mailed to a guest without an address.
    assert "Open the mailbox" not in words(seen(called["Location"]))


@pytest.mark.exhaustive
def test_sandbox_says_that_mail_is_not_sent_unless_it_arrives_in_the_mailbox(
    db: None, settings: LazySettings, tmp_path: Path
) -> None:
    for is_sandbox, mailbox, said in (
        (False, "", "We have sent you a confirmation email."),
        (True, "", "Emails are not sent in the sandbox."),
        (True, str(tmp_path), "We have sent you a confirmation email."),
    ):
        settings.MAILBOX_DIR = mailbox
        assert said in words(seen(post(trattoria(is_sandbox=is_sandbox))["Location"]))


def test_phone_number_of_the_restaurant_can_be_called_by_a_tap(db: None) -> None:
    venue = trattoria(phone="+39 06 123456")
    booked = post(venue)
    guest_page = f"/guest/{links.token_of(Reservation.objects.get())}"
    for path in (page(venue), booked["Location"], guest_page):
        assert '<a href="tel:+3906123456">' in seen(path).content.decode()


def test_cancelled_booking_links_to_a_new_one(osteria: Venue) -> None:
    post(osteria)
    made = Reservation.objects.get()
    again = f'href="/book/{osteria.public_id}?lang=en"'
    guest_page = f"/guest/{links.token_of(made)}"
    assert again not in seen(guest_page).content.decode()
    permissions.cancel(made, now=NOW)
    assert again in seen(guest_page).content.decode()
    Venue.objects.filter(pk=osteria.pk).update(is_bookable_online=False)
    assert again not in seen(guest_page).content.decode()


def test_the_page_is_for_frames_and_sets_no_cookies(osteria: Venue) -> None:
    response = seen(page(osteria, "?party=2&day=2031-05-05&time=19:30"))
    assert response.status_code == 200
    assert not response.cookies
    assert "X-Frame-Options" not in response
    assert response["Content-Security-Policy"].endswith("frame-ancestors *")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "Cookie" not in response.get("Vary", "")
    assert "csrfmiddlewaretoken" not in response.content.decode()
    assert not re.search(r'\sstyle="|\son\w+="|<script>', response.content.decode())


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "query",
    ["?party=0", "?party=1e400", "?party=%00", "?party=999999999999", "?day=2031-02-30", "?day=%00", "?day=0001-01-01",
     "?day=9999-12-31", "?time=99:99", "?day=2031-05-05&time=%00", "?party=%D9%A2"],
)  # fmt: skip
def test_addresses_that_mean_nothing_show_the_usual(osteria: Venue, query: str) -> None:
    response = seen(page(osteria, query))
    assert response.status_code == 200
    assert "Show times" in words(response)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("changes", "page_text"),
    [
        ({"customer_name": ""}, "This field is required."),
        ({"customer_name": "A\x00B"}, "Null characters are not allowed."),
        ({"customer_email": "nobody"}, "This must be an email address."),
        ({"customer_email": ""}, "Enter an email address or a phone number."),
        ({"customer_phone": "05"}, "This is not a phone number."),
        ({"special_requests": "x" * 2001}, "at most 2000 characters"),
        ({"website": "https://spam.example"}, "Leave this field empty"),
    ],
)
def test_errors_are_shown_at_their_field_and_nothing_is_booked(
    osteria: Venue, changes: dict[str, Any], page_text: str
) -> None:
    response = post(osteria, **changes)
    assert response.status_code == 400
    assert page_text in words(response)
    assert 'aria-invalid="true"' in response.content.decode()
    assert "A quiet corner" in response.content.decode() or "special_requests" in changes
    assert not Reservation.objects.exists()


@pytest.mark.parametrize("changes", [{"party": "0"}, {"party": "x"}, {"day": "\x00"}, {"time": "25:00"}, {"day": ""}])
def test_a_form_that_was_tampered_with_is_shown_again(osteria: Venue, changes: dict[str, Any]) -> None:
    assert post(osteria, **changes).status_code == 400
    assert not Reservation.objects.exists()


def test_when_the_table_is_gone_other_times_are_buttons_and_nothing_typed_is_lost(osteria: Venue) -> None:
    builders.reservation(osteria, status="confirmed", starts_at=datetime(2031, 5, 5, 17, 30, tzinfo=UTC))
    response = post(osteria)
    assert response.status_code == 409
    text = response.content.decode()
    assert "There is no table for 4 at 19:30 on 2031-05-05." in words(response)
    others = re.findall(r'<button name="instead" value="([^"]+)"', text)
    assert others == ["21:15", "21:30", "21:45", "22:00"]
    for typed in ("Ada Lovelace", "ada@example.com", "A quiet corner"):
        assert typed in text
    # Enter in a field presses the first button, which books no other time.
    assert text.index('<button class="visually-hidden"') < text.index('name="instead"')
    assert post(osteria, instead=others[0]).status_code == 302
    assert Reservation.objects.get(time=time(21, 15)).status == "confirmed"


@pytest.mark.exhaustive
def test_large_parties_waiting_lists_and_venues_without_tables_show_their_outcome(db: None) -> None:
    bare = builders.venue(is_bookable_online=True)
    assert "Request this time" in words(seen(page(bare, "?day=2031-05-05")))
    careful = trattoria(auto_confirm_max_party=3)
    assert "5 May on request" in words(seen(page(careful, "?party=4&day=2031-05-05")))
    large = post(careful)
    assert "The restaurant has received your request" in words(seen(large["Location"]))
    lists = trattoria(when_full="waitlist")
    post(lists)
    waits = seen(page(lists, "?party=4&day=2031-05-05&time=19:30"))
    assert "Join the waiting list" in words(waits)
    second = post(lists, customer_email="bob@example.com")
    assert "You are on the waiting list" in words(seen(second["Location"]))


@pytest.mark.parametrize("fields", [{"is_bookable_online": False}, {}])
def test_where_guests_cannot_book_the_page_says_so(osteria: Venue, fields: dict[str, Any]) -> None:
    if fields:
        Venue.objects.filter(pk=osteria.pk).update(**fields)
    else:
        type(osteria.account).objects.filter(pk=osteria.account_id).update(closed_at=NOW)
    for path in (page(osteria), "/book/ven_nothing", "/book/%00"):
        response = seen(path)
        assert response.status_code == 404
        assert "Online booking unavailable" in words(response)
    assert post(osteria).status_code == 404
    assert not Reservation.objects.exists()


@pytest.mark.exhaustive
def test_a_repeated_form_makes_one_booking(osteria: Venue) -> None:
    form = sent(osteria)
    with time_machine.travel(NOW, tick=False):
        first, second = (Client().post(page(osteria), form) for _ in range(2))
        other = Client().post(page(osteria), form | {"time": "21:30"})
    assert first["Location"] == second["Location"]
    assert other.status_code == 409
    assert "This form has already booked a table." in words(other)
    assert Reservation.objects.count() == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("age_s", "page_text"),
    [(1, "submitted too quickly."), (60 * 60 * 13, "This page has expired."), (-60, "too quickly.")],
)
def test_forms_come_back_neither_at_once_nor_the_next_day(osteria: Venue, age_s: int, page_text: str) -> None:
    response = post(osteria, form=online_booking.new_form_token(osteria, now=NOW - timedelta(seconds=age_s)))
    assert page_text in words(response)
    assert post(osteria, form="forged").status_code == 409
    assert post(osteria, form=online_booking.new_form_token(trattoria(), now=NOW)).status_code == 409
    assert not Reservation.objects.exists()


@pytest.mark.exhaustive
def test_a_contact_holds_three_bookings_at_a_venue_and_one_that_is_cancelled_makes_room(osteria: Venue) -> None:
    for day in ("2031-05-05", "2031-05-06", "2031-05-07"):
        assert post(osteria, day=day, customer_email="ada+spam@example.com").status_code == 302
    refused = post(osteria, day="2031-05-08", customer_email="ADA@example.com")
    assert refused.status_code == 409
    assert "You already have 3 upcoming bookings, the maximum for online booking." in words(refused)
    assert Reservation.objects.count() == 3
    permissions.cancel(Reservation.objects.earliest("starts_at"), now=NOW)
    assert post(osteria, day="2031-05-08", customer_email="ADA@example.com").status_code == 302


@pytest.mark.exhaustive
def test_an_address_makes_ten_bookings_in_a_day_at_a_venue(osteria: Venue) -> None:
    for number in range(10):
        day = (DAY + timedelta(days=number)).isoformat()
        assert post(osteria, day=day, customer_email=f"guest{number}@example.com").status_code == 302
    refused = post(osteria, day="2031-06-01", customer_email="one@example.com")
    assert "10 bookings were made from your connection within a day, the maximum for online booking." in words(refused)
    assert Reservation.objects.count() == 10
    tomorrow = post(osteria, at=NOW + timedelta(days=1), day="2031-06-01", customer_email="one@example.com")
    assert tomorrow.status_code == 302


def test_who_is_to_prove_an_address_follows_the_mailed_link_as_often_as_they_like(db: None) -> None:
    venue = trattoria(proves_guests=True)
    response = post(venue)
    made = Reservation.objects.get()
    assert (made.status, made.pending_reason, made.tables) == ("pending", "email_confirmation", ["T1"])
    after = seen(response["Location"])
    assert "Open the link in it to confirm by 14:15 on Saturday 3 May 2031." in words(after)
    assert links.token_of(made) not in after.content.decode()
    mail = templates.build_mail(made.guest_mails.get())
    assert mail.subject == "Confirm your booking at Trattoria"
    assert links.url_of(made) in mail.body
    assert "14:15 on Saturday 3 May 2031" in mail.body
    with time_machine.travel(NOW + timedelta(minutes=14), tick=False):
        guest = Client()
        asked = guest.get(f"/guest/{links.token_of(made)}")
        assert "Confirm booking" in words(asked)
        assert Reservation.objects.get().status == "pending"
        for _ in range(2):
            assert guest.post(f"/guest/{links.token_of(made)}/confirm").status_code == 302
    made.refresh_from_db()
    assert (made.status, made.tables, made.confirm_by) == ("confirmed", ["T1"], None)
    assert list(made.guest_mails.order_by("pk").values_list("kind", flat=True)) == ["email_confirmation", "confirmed"]
    assert email_confirmation.cancel_unconfirmed(now=NOW + timedelta(days=1)) == 0


def test_an_unconfirmed_booking_is_cancelled_after_15_minutes(db: None) -> None:
    venue = trattoria(proves_guests=True)
    post(venue)
    made = Reservation.objects.get()
    assert email_confirmation.cancel_unconfirmed(now=NOW + timedelta(minutes=14)) == 0
    assert Seating.objects.count() == 1
    late = NOW + timedelta(minutes=15)
    with pytest.raises(email_confirmation.ConfirmationExpired):
        email_confirmation.confirm_email(made, now=late)
    assert [email_confirmation.cancel_unconfirmed(now=late), email_confirmation.cancel_unconfirmed(now=late)] == [1, 0]
    made.refresh_from_db()
    assert (made.status, made.tables) == ("cancelled", [])
    assert list(made.guest_mails.values_list("kind", flat=True)) == ["email_confirmation"]
    assert not Seating.objects.exists()
    with time_machine.travel(late, tick=False):
        assert Client().post(f"/guest/{links.token_of(made)}/confirm").status_code == 409
    assert post(venue, at=late).status_code == 302


@pytest.mark.exhaustive
def test_who_proves_a_request_waits_as_any_that_the_venue_takes(db: None) -> None:
    for fields, reason, kind in (
        ({"auto_confirm_max_party": 3}, "large_party", GuestMail.Kind.REQUESTED),
        ({"when_full": "waitlist"}, "waitlist", GuestMail.Kind.WAITLISTED),
    ):
        venue = trattoria(proves_guests=True, **fields)
        builders.reservation(venue, status="confirmed", starts_at=datetime(2031, 5, 5, 17, 30, tzinfo=UTC))
        assert post(venue, customer_email="bob@example.com").status_code == 302
        made = Reservation.objects.get(venue=venue, pending_reason="email_confirmation")
        assert made.tables == []
        email_confirmation.confirm_email(made, now=NOW)
        assert (made.status, made.pending_reason, made.confirm_by) == ("pending", reason, None)
        assert made.guest_mails.latest("pk").kind == kind


def test_a_venue_that_proves_guests_needs_their_mail_address(db: None) -> None:
    response = post(trattoria(proves_guests=True), customer_email="", customer_phone="+39 333 555 0100")
    assert response.status_code == 400
    assert "This restaurant confirms bookings by email. Enter an email address." in words(response)
    assert not Reservation.objects.exists()


@pytest.mark.exhaustive
def test_markup_in_any_field_is_text_everywhere(db: None) -> None:
    venue = trattoria(address=XSS, phone=XSS)
    Venue.objects.filter(pk=venue.pk).update(name=XSS)
    venue.refresh_from_db()
    shown = post(venue, customer_name=XSS, special_requests=XSS, customer_email=f"{XSS}@example.com", form=XSS)
    assert shown.status_code == 400
    booked = post(venue, customer_name=XSS, special_requests=XSS)
    made = Reservation.objects.get()
    pages = [shown, seen(booked["Location"]), seen(f"/guest/{links.token_of(made)}"), seen(page(venue))]
    mail = templates.build_mail(made.guest_mails.get())
    for text in [*(one.content.decode() for one in pages), str(mail.alternatives[0][0])]:
        assert "<script>alert" not in text
    assert XSS in words(pages[2])


@pytest.mark.django_db(transaction=True)
def test_of_the_page_and_the_api_at_once_one_gets_the_last_table_and_the_other_other_times() -> None:
    venue = trattoria()
    api = builders.client(venue)
    now = datetime.now(tz=UTC)
    day = (now + timedelta(days=9)).date().isoformat()
    start = Barrier(2)

    def by_page() -> Any:
        start.wait(timeout=10)
        try:
            return Client().post(page(venue), sent(venue, now=now, day=day))
        finally:
            connection.close()

    def by_api() -> Any:
        start.wait(timeout=10)
        try:
            body = builders.reservation_body(date=day)
            return api.post("/api/v1/reservations", body, content_type="application/json")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        paged, called = (future.result() for future in (pool.submit(by_page), pool.submit(by_api)))
    assert (paged.status_code, called.status_code) in [(302, 400), (409, 201)]
    if called.status_code == 400:
        assert called.json()["error"]["code"] == "slot_unavailable"
        assert called.json()["error"]["alternatives"] == ["21:15", "21:30", "21:45", "22:00"]
    else:
        assert re.findall(r'name="instead" value="([^"]+)"', paged.content.decode()) == [
            *("21:15", "21:30", "21:45", "22:00")
        ]
    assert Reservation.objects.count() == Seating.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_four_concurrent_copies_of_a_form_make_one_booking() -> None:
    venue = trattoria()
    for number in range(2, 5):
        builders.table(venue, f"T{number}")
    now = datetime.now(tz=UTC)
    form = sent(venue, now=now, day=(now + timedelta(days=9)).date().isoformat())
    start = Barrier(4)

    def send(_: int) -> str:
        start.wait(timeout=10)
        try:
            return str(Client().post(page(venue), form)["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        places = set(pool.map(send, range(4)))
    assert len(places) == 1
    assert Reservation.objects.count() == OnlineBooking.objects.count() == 1


@pytest.mark.parametrize(("zone", "typed", "stored"), [
    ("Europe/Copenhagen", "33 00 21 44", "+4533002144"),
    ("Europe/Copenhagen", "12 34 56 78", "+4512345678"),
    ("Europe/Rome", "333 555 0100", "+393335550100"),
    ("Europe/Rome", "0045 33 00 21 44", "+4533002144"),
    ("UTC", "+45 33 00 21 44", "+4533002144"),
])  # fmt: skip
def test_guests_may_type_their_number_as_in_the_restaurants_country(
    db: None, zone: str, typed: str, stored: str
) -> None:
    assert post(trattoria(timezone=zone), customer_email="", customer_phone=typed).status_code == 302
    assert Reservation.objects.get().customer_phone == stored


def test_without_a_country_a_national_number_is_refused_with_what_to_type(db: None) -> None:
    response = post(trattoria(timezone="UTC"), customer_email="", customer_phone="33 00 21 44")
    assert response.status_code == 400
    assert "This is not a phone number. Begin it with + and the country code." in words(response)


def test_a_time_with_a_deposit_is_a_request_that_says_so(osteria: Venue) -> None:
    CancellationTerms.objects.create(venue=osteria, free_hours=24, deposit_usdc=Decimal(10), party_from=3)
    four, two = (seen(page(osteria, f"?party={party}&day=2031-05-05&time=19:30")) for party in (4, 2))
    assert "This is a request. The restaurant may ask you for a deposit of 40 USDC before it confirms." in words(four)
    assert "Request 19:30 for 4" in words(four)
    assert "Book 19:30 for 2" in words(two)
    done = post(osteria)
    assert "The restaurant has received your request" in words(seen(done.headers["Location"]))
    row = Reservation.objects.get()
    assert (row.status, row.pending_reason, row.tables) == ("pending", "manual", [])
    guest = words(seen(f"/guest/{links.token_of(row)}"))
    assert "Terms The restaurant may ask you for a deposit of 40 USDC." in guest


def test_terms_without_a_deposit_are_named_before_the_booking_and_after(osteria: Venue) -> None:
    CancellationTerms.objects.create(venue=osteria, free_hours=24)
    sentence = "You can cancel free of charge until 19:30 on Sunday 4 May 2031."
    assert sentence in words(seen(page(osteria, "?party=4&day=2031-05-05&time=19:30")))
    post(osteria)
    row = Reservation.objects.get()
    assert row.status == "confirmed"
    assert f"Terms {sentence}" in words(seen(f"/guest/{links.token_of(row)}"))
    with time_machine.travel(NOW, tick=False):
        mail = templates.build_mail(GuestMail.objects.select_related("reservation__venue").get())
    assert f"\n{sentence}\n" in mail.body
    assert f"<p>{sentence}</p>" in str(mail.alternatives[0][0])


def test_a_request_for_a_time_with_a_deposit_that_is_confirmed_by_mail_waits_for_the_staff(osteria: Venue) -> None:
    Venue.objects.update(proves_guests=True)
    osteria.refresh_from_db()
    CancellationTerms.objects.create(venue=osteria, deposit_usdc=Decimal(10))
    post(osteria)
    row = Reservation.objects.select_related("venue").get()
    assert (row.pending_reason, row.tables) == ("email_confirmation", [])
    email_confirmation.confirm_email(row, now=NOW)
    assert (row.status, row.pending_reason) == ("pending", "manual")


def test_a_guest_cannot_move_to_a_time_with_a_deposit(osteria: Venue) -> None:
    CancellationTerms.objects.create(venue=osteria, deposit_usdc=Decimal(10), party_from=3)
    post(osteria, party="2")
    row = Reservation.objects.select_related("venue").get()
    address = f"/guest/{links.token_of(row)}/change"
    assert "Change to" not in words(seen(f"{address}?party=4&day=2031-05-05&time=19:30"))
    with time_machine.travel(NOW, tick=False), pytest.raises(DepositRequired):
        permissions.change(row, {"party_size": 4}, now=NOW)
