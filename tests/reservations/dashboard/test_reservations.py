"""The pages of reservations: who gets in, each step from booked to left, and what people wrote, which is only text."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Venue
from reservations.booking import commands
from reservations.guests import profiles
from reservations.models import AgreedTerms, Reservation
from tests.reservations import consistency
from tests.support import builders, users

NOW = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
NASTY = "<script>alert(1)</script>"
PAGES = ["", "/live", "/today", "/new", "/waiting", "/{id}", "/{id}/edit", "/{id}/move", "/{id}/cancel"]
OF_GUESTS = ["", "/{id}", "/{id}/merge", "/{id}/erase", "/{id}/download"]


@pytest.fixture(autouse=True)
def evening() -> Iterator[None]:
    """It is half past seven in Rome, on a Saturday."""
    with time_machine.travel(NOW, tick=False):
        yield


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


@pytest.fixture
def its(dinner: Venue) -> Reservation:
    """A confirmed party of four, at T1 from now on."""
    return builders.reservation(dinner, status="confirmed", starts_at=NOW)


def url(venue: Venue, rest: str = "", *, its: Reservation | None = None) -> str:
    """An address of the venue's reservations."""
    return f"/dashboard/{venue.public_id}/reservations{rest.format(id=its.public_id if its else '')}"


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


def step(client: Client, its: Reservation, name: str, **more: str) -> list[str]:
    """Take a step; what the page says then."""
    answer = client.post(url(its.venue, f"/{its.public_id}/{name}"), more)
    assert answer.status_code == 302
    page = client.get(answer["Location"])
    its.refresh_from_db()
    return [str(message) for message in page.context["messages"]]


# Who gets in
def addresses(its: Reservation) -> list[str]:
    """Every page that can be read."""
    guests = f"/dashboard/{its.venue.public_id}/guests"
    return [url(its.venue, rest, its=its) for rest in PAGES] + [
        guests + rest.format(id=its.public_id) for rest in OF_GUESTS
    ]


@pytest.mark.exhaustive
def test_the_host_reads_every_page(host: Client, its: Reservation) -> None:
    assert {address: host.get(address).status_code for address in addresses(its)} == dict.fromkeys(addresses(its), 200)


def test_strangers_are_sent_to_sign_in(client: Client, its: Reservation) -> None:
    for address in addresses(its):
        assert client.get(address)["Location"].startswith("/account/login/?next=/dashboard/ven_")


@pytest.mark.exhaustive
def test_the_kitchen_has_no_reservations_and_no_guests(dinner: Venue, its: Reservation) -> None:
    cook = users.member(dinner, "kitchen")
    before = consistency.state()
    assert {cook.get(address).status_code for address in addresses(its)} == {403}
    assert {cook.post(address).status_code for address in addresses(its)} == {403}
    assert consistency.state() == before


@pytest.mark.exhaustive
def test_another_venue_is_not_there_and_its_reservations_are_in_no_other(its: Reservation, other_venue: Venue) -> None:
    other = users.member(other_venue)
    before = consistency.state()
    assert {other.get(address).status_code for address in addresses(its)} == {404}
    for rest in PAGES[5:]:
        assert other.get(url(other_venue, rest, its=its)).status_code == 404
        assert other.post(url(other_venue, rest, its=its)).status_code in (404, 405)
    for rest in OF_GUESTS[1:]:
        assert (
            other.get(f"/dashboard/{other_venue.public_id}/guests{rest.format(id=its.public_id)}").status_code == 404
        )
    assert consistency.state() == before


@pytest.mark.exhaustive
def test_what_people_wrote_is_text_on_every_page(dinner: Venue, host: Client) -> None:
    for status in ("confirmed", "pending"):
        its = builders.reservation(
            dinner,
            status=status,
            starts_at=NOW,
            customer_name=NASTY,
            special_requests=NASTY,
            customer_phone="+3906123",
        )
        for address in addresses(its):
            page = host.get(address)
            if page["Content-Type"].startswith("text/html"):
                assert NASTY not in text(page), address
        assert "&lt;script&gt;" in text(host.get(url(dinner)))


@pytest.mark.parametrize("rest", ["/res_1", "/res_%00", "/new?day=9999-99-99", "?day=1e400", "/live?day=%00"])
def test_what_is_no_reservation_and_no_day_is_404(host: Client, dinner: Venue, rest: str) -> None:
    assert host.get(url(dinner, rest)).status_code == 404


def test_the_page_of_a_reservation_shows_the_visits_and_the_note_of_its_guest(dinner: Venue, its: Reservation) -> None:
    past = builders.reservation(dinner, status="confirmed", starts_at=NOW - timedelta(days=3))
    missed = builders.reservation(dinner, status="confirmed", starts_at=NOW - timedelta(days=9))
    Reservation.objects.filter(pk=missed.pk).update(arrival="no_show")
    builders.reservation(dinner, status="confirmed", starts_at=NOW - timedelta(days=1), customer_email="b@example.com")
    profiles.save_note(profiles.guest_of_reservation(past), text="Table by the window", tags=[], seen=None, now=NOW)
    host = users.member(dinner, "host")
    with CaptureQueriesContext(connection) as captured:
        page = host.get(url(dinner, "/{id}", its=its))
    guest = page.context["guest"]
    # The visit that has just begun does not count until staff mark the party.
    assert (guest["visits"], guest["no_shows"], guest["last_visit"]) == (1, 1, past.starts_at)
    assert "Table by the window" in text(page)
    with CaptureQueriesContext(connection) as panel:
        card = host.get(url(dinner, "/{id}", its=its), headers={"HX-Request": "true"})
    assert "Table by the window" not in text(card)
    assert sum("gst" in query["sql"] or "guestprofile" in query["sql"] for query in captured.captured_queries) == 1
    assert not any("guestprofile" in query["sql"] for query in panel.captured_queries)


# What it costs
@pytest.mark.exhaustive
def test_the_waiting_list_costs_the_same_for_one_and_for_many(host: Client, dinner: Venue) -> None:
    counts = []
    for number in (1, 12):
        for _ in range(number):
            its = builders.reservation(dinner, starts_at=NOW + timedelta(hours=1), party_size=4)
            Reservation.objects.filter(pk=its.pk).update(pending_reason="waitlist")
        with CaptureQueriesContext(connection) as captured:
            assert host.get(url(dinner, "/waiting")).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 8


# Steps
@pytest.mark.exhaustive
def test_a_party_arrives_is_seated_and_leaves(host: Client, its: Reservation) -> None:
    assert step(host, its, "arrived") == ["Ada Lovelace has arrived."]
    assert step(host, its, "seated") == ["Ada Lovelace is seated."]
    with time_machine.travel(NOW + timedelta(minutes=60), tick=False):
        assert step(host, its, "finished") == ["Ada Lovelace has left. The table is free."]
    assert its.arrival == "finished"
    assert its.seatings.get().during.upper == NOW + timedelta(minutes=60)


def test_a_step_out_of_order_says_why_and_changes_nothing(host: Client, its: Reservation) -> None:
    before = consistency.state()
    assert step(host, its, "finished") == ["This party has not arrived yet, so it cannot be finished."]
    assert consistency.state() == before


@pytest.mark.exhaustive
def test_who_does_not_come_frees_the_table_and_may_come_after_all(host: Client, its: Reservation) -> None:
    assert "Mark as no-show?" in text(host.get(url(its.venue, "/{id}/no-show", its=its)))
    assert step(host, its, "no-show") == ["Ada Lovelace is marked as no-show. The table is free."]
    assert (its.arrival, its.seatings.count()) == ("no_show", 0)
    assert step(host, its, "arrived") == ["Ada Lovelace has arrived."]
    assert its.arrival == "arrived"


@pytest.mark.exhaustive
def test_a_request_is_confirmed_or_cancelled_and_cancelled_is_final(host: Client, dinner: Venue) -> None:
    its = builders.reservation(dinner, starts_at=NOW + timedelta(hours=1))
    assert step(host, its, "confirm") == ["The reservation of Ada Lovelace was confirmed."]
    assert (its.status, its.tables) == ("confirmed", ["T1"])
    # The next page says it beside the button Undo.
    assert step(host, its, "cancel", back="day") == []
    assert (its.status, its.seatings.count()) == ("cancelled", 0)
    before = consistency.state()
    (page_text,) = step(host, its, "confirm")
    assert "cancelled" in page_text
    assert consistency.state() == before


@pytest.mark.exhaustive
def test_an_unconfirmed_booking_is_shown_and_can_be_confirmed(host: Client, dinner: Venue) -> None:
    its = builders.reservation(dinner, starts_at=NOW + timedelta(hours=1))
    Reservation.objects.filter(pk=its.pk).update(
        pending_reason="email_confirmation", confirm_by=NOW + timedelta(minutes=15)
    )
    page = text(host.get(url(dinner)))
    assert "Awaiting email confirmation" in page
    assert "not confirmed by email yet" in page
    assert "held until Sat 19:45" in text(host.get(url(dinner, "/{id}", its=its)))
    assert step(host, its, "confirm") == ["The reservation of Ada Lovelace was confirmed."]
    assert its.confirm_by is None


@pytest.mark.exhaustive
def test_a_table_is_offered_to_a_party_that_waits_and_they_take_it(host: Client, dinner: Venue) -> None:
    its = builders.reservation(
        dinner, starts_at=NOW + timedelta(hours=1), customer_email=None, customer_phone="+3906123"
    )
    Reservation.objects.filter(pk=its.pk).update(pending_reason="waitlist")
    page = text(host.get(url(dinner, "/waiting")))
    assert "Offer a table" in page
    assert "tel:+3906123" in page
    assert step(host, its, "offer", back="waiting") == [
        "A table was offered to Ada Lovelace.",
        "T1 is held until 20:00 on Saturday 3 May 2031. Call the guest: no email is sent.",
    ]
    assert (its.status, its.tables) == ("pending", ["T1"])
    assert step(host, its, "accept") == ["The reservation of Ada Lovelace was confirmed."]
    assert (its.status, its.tables) == ("confirmed", ["T1"])


@pytest.mark.exhaustive
def test_there_is_nothing_to_offer_while_all_tables_are_taken(host: Client, its: Reservation) -> None:
    builders.reservation(its.venue, status="confirmed", starts_at=NOW)
    waits = builders.reservation(its.venue, starts_at=NOW + timedelta(hours=1))
    Reservation.objects.filter(pk=waits.pk).update(pending_reason="waitlist")
    before = consistency.state()
    assert step(host, waits, "offer") == ["No table is free for this party."]
    assert consistency.state() == before


def test_an_empty_waiting_list_says_how_it_fills(host: Client, dinner: Venue) -> None:
    assert "Requests are declined when no table is free." in text(host.get(url(dinner, "/waiting")))
    Venue.objects.filter(pk=dinner.pk).update(when_full="waitlist")
    assert "Guests appear here when no table is free at the time they want." in text(host.get(url(dinner, "/waiting")))


# Forms
def fields_of(page: Any, **changes: Any) -> dict[str, Any]:
    """What the form on a page sends when only this is changed."""
    form = page.context["form"]
    sent = {}
    for bound in form:
        value = bound.value()
        sent[bound.html_name] = value if isinstance(value, list) else ("" if value is None else str(value))
        if bound.field.show_hidden_initial:
            sent[bound.html_initial_name] = sent[bound.html_name]
    return sent | changes


def test_staff_change_a_reservation(host: Client, its: Reservation) -> None:
    path = url(its.venue, "/{id}/edit", its=its)
    sent = fields_of(host.get(path), special_requests="By the window", party_size="3")
    assert host.post(path, sent)["Location"] == url(its.venue, "/{id}", its=its)
    its.refresh_from_db()
    assert (its.special_requests, its.party_size, its.tables) == ("By the window", 3, ["T1"])


def test_the_history_says_what_a_change_has_changed(host: Client, its: Reservation) -> None:
    guest = {"special_requests": "Window"}
    commands.update(its, party_size=3, tables=["T2"], guest=guest, actor="staff:h@example.com", now=NOW)
    page = host.get(url(its.venue, f"/{its.public_id}"))
    assert [event["changes"] for event in page.context["events"]] == [
        ["Guests: 4 → 3", "Tables: T1 → T2", "Special requests"],
        ["Tables: - → T1"],
        [],
    ]
    assert "Guests: 4 → 3" in text(page)


@pytest.mark.exhaustive
def test_errors_are_shown_at_their_field_and_the_input_stays(host: Client, its: Reservation) -> None:
    path = url(its.venue, "/{id}/edit", its=its)
    sent = fields_of(host.get(path), customer_phone="1e400", special_requests="By the window")
    before = consistency.state()
    answer = host.post(path, sent)
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == ["customer_phone"]
    assert "By the window" in text(answer)
    assert consistency.state() == before


def test_a_reservation_is_written_down_on_the_phone(host: Client, dinner: Venue) -> None:
    path = url(dinner, "/new?day=2031-05-04")
    sent = fields_of(host.get(path), customer_name="Grace", customer_phone="+39 06 123", time="20:00", party_size="2")
    sent["is_confirmed"] = "on"
    assert host.post(path, sent).status_code == 302
    made = Reservation.objects.get()
    assert (made.customer_name, f"{made.date}", made.status, made.tables) == (
        "Grace",
        "2031-05-04",
        "confirmed",
        ["T1"],
    )


def test_a_new_reservation_lists_the_free_times_of_the_day_for_the_party(host: Client, its: Reservation) -> None:
    # Two parties sit from 19:30 on, at the only tables.
    builders.reservation(its.venue, status="confirmed", starts_at=NOW)
    page = host.get(url(its.venue, "/new?day=2031-05-03")).context
    (dinner,) = page["periods"]
    assert (dinner.is_open, page["no_times"], page["is_listed"]) == (True, "", False)
    times = host.get(url(its.venue, "/new/times?date=2031-05-03&party_size=4&time=&time=20:00"))
    (dinner,) = times.context["periods"]
    listed = {f"{at:%H:%M}": is_free for at, is_free in dinner.times}
    assert listed["20:00"] is False
    assert listed["21:45"] is True
    assert dinner.free == sum(listed.values())
    # The chosen time stays chosen, though it is full.
    assert 'value="20:00" checked' in text(times)


@pytest.mark.parametrize(
    "query", ["date=&party_size=2", "date=2031-05-04&party_size=", "date=2031-05-04&party_size=501"]
)
def test_the_times_of_no_day_or_no_party_are_not_there(host: Client, dinner: Venue, query: str) -> None:
    assert host.get(url(dinner, f"/new/times?{query}")).status_code == 404


def test_a_day_without_service_says_so_and_any_time_can_be_typed(host: Client, dinner: Venue) -> None:
    Venue.objects.get().service_periods.all().delete()
    page = text(host.get(url(dinner, "/new?day=2031-05-04")))
    assert "There are no seating times on this day. You can enter any time." in page
    assert 'type="radio" name="time"' not in page


@pytest.mark.parametrize(
    ("sent", "stored"), [(["20:00", ""], "20:00"), (["20:00", "20:07"], "20:07"), (["", ""], None)]
)
def test_a_typed_time_counts_more_than_a_listed_one(
    host: Client, dinner: Venue, sent: list[str], stored: str | None
) -> None:
    path = url(dinner, "/new?day=2031-05-04")
    values = fields_of(host.get(path), customer_name="Grace", customer_phone="+39 06 123", time=sent)
    answer = host.post(path, values)
    if stored is None:
        assert answer.context["form"].errors == {"time": ["Choose a time."]}
    else:
        assert f"{Reservation.objects.get().time:%H:%M}" == stored


def test_without_javascript_a_button_shows_the_times_of_another_day_and_keeps_the_input(
    host: Client, dinner: Venue
) -> None:
    path = url(dinner, "/new?day=2031-05-03")
    values = fields_of(host.get(path), customer_name="Grace", date="2031-05-05", party_size="3", time=["20:00", ""])
    answer = host.post(path, values | {"show": "times"})
    form = answer.context["form"]
    assert (answer.status_code, form.errors, Reservation.objects.count()) == (200, {}, 0)
    assert (form["customer_name"].value(), f"{answer.context['day']}") == ("Grace", "2031-05-05")
    assert 'value="20:00" checked' in text(answer)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2031-02-30", "soon"])
def test_a_day_beyond_the_calendar_is_refused_at_its_field(host: Client, dinner: Venue, day: str) -> None:
    path = url(dinner, "/new")
    values = fields_of(host.get(path), customer_name="Grace", customer_phone="+39 06 123", date=day, time="20:00")
    answer = host.post(path, values)
    assert answer.status_code == 400
    assert "date" in answer.context["form"].errors


def test_staff_type_a_guests_number_without_the_country_code(host: Client, dinner: Venue) -> None:
    Venue.objects.update(timezone="Europe/Rome")
    path = url(dinner, "/new?day=2031-05-04")
    sent = fields_of(
        host.get(path), customer_name="Grace", customer_phone="06 1234 5678", time="20:00", party_size="2"
    )
    assert host.post(path, sent).status_code == 302
    assert Reservation.objects.get().customer_phone == "+390612345678"


@pytest.mark.parametrize("size", ["", "0", "1e400", "-1", "501", "\x00"])
def test_an_empty_walk_in_is_refused_with_the_allowed_sizes(host: Client, dinner: Venue, size: str) -> None:
    answer = host.post(url(dinner, "/walk-in"), {"party_size": size})
    assert builders.messages_of(answer) == ["Enter the number of guests, 1 to 500."]
    assert not Reservation.objects.exists()


# What changes by itself
@pytest.mark.exhaustive
def test_a_change_by_another_user_is_in_the_next_poll_of_the_page(host: Client, its: Reservation) -> None:
    seen = host.get(url(its.venue)).context["seen"]
    asked = {"day": "2031-05-03", "seen": seen}
    assert host.get(url(its.venue, "/live"), asked).status_code == 204
    assert step(users.member(its.venue), its, "arrived") == ["Ada Lovelace has arrived."]
    answer = host.get(url(its.venue, "/live"), asked)
    assert answer.status_code == 200
    assert '<li class="block arrived ' in text(answer)


def test_the_overview_tells_covers_and_who_comes_next(host: Client, its: Reservation) -> None:
    builders.reservation(its.venue, starts_at=NOW + timedelta(hours=1), party_size=9)
    page = host.get(url(its.venue, "/today"))
    assert (page.context["sheet"].covers, len(page.context["soon"])) == (4, 1)
    assert '>1</div><div class="small quiet">and 0 on the waiting list</div>' in text(page)


def test_an_empty_place_of_the_grid_fills_the_form_with_its_table_and_time(host: Client, dinner: Venue) -> None:
    # 20:15 in Rome.
    moment = int((NOW + timedelta(minutes=45)).timestamp())
    form = host.get(url(dinner, f"/new?moment={moment}&table=T2")).context["form"]
    assert (f"{form['date'].value()}", f"{form['time'].value():%H:%M}") == ("2031-05-03", "20:15")
    assert form["tables"].value() == ["T2"]
    # A table that was renamed or removed in the meantime is not selected.
    assert host.get(url(dinner, "/new?table=T9")).context["form"]["tables"].value() in (None, [])


@pytest.mark.parametrize("moment", ["-1", "1e3", "9999999999", "%00", "soon"])
def test_an_invalid_moment_is_404(host: Client, dinner: Venue, moment: str) -> None:
    assert host.get(url(dinner, f"/new?moment={moment}")).status_code == 404


# Known guests
@pytest.mark.parametrize("typed", ["grac", "06 123", "+39 06 123", "0039 06123", "grace@"])
def test_a_known_guest_is_suggested_by_name_number_or_address(host: Client, dinner: Venue, typed: str) -> None:
    builders.reservation(
        dinner, customer_name="Grace Hopper", customer_email="grace@example.com", customer_phone="+3906123456"
    )
    page = text(host.get(url(dinner, "/new/guests"), {"q": typed}))
    assert 'data-name="Grace Hopper" data-email="grace@example.com" data-phone="+3906123456"' in page


def test_a_national_number_finds_a_guest_whose_stored_number_has_no_zero(host: Client, dinner: Venue) -> None:
    builders.reservation(dinner, customer_name="Grace Hopper", customer_phone="+442079460000")
    assert "Grace Hopper" in text(host.get(url(dinner, "/new/guests"), {"q": "020 7946"}))


@pytest.mark.parametrize("typed", ["", "gr", "\x00", "zzz"])
def test_no_guest_is_suggested_for_two_letters_or_an_unknown_name(host: Client, dinner: Venue, typed: str) -> None:
    builders.reservation(dinner, customer_name="Grace Hopper")
    assert text(host.get(url(dinner, "/new/guests"), {"q": typed})).strip() == ""


def test_guests_of_other_venues_are_not_suggested(host: Client, dinner: Venue, other_venue: Venue) -> None:
    builders.reservation(other_venue, customer_name="Grace Hopper")
    assert "Grace" not in text(host.get(url(dinner, "/new/guests"), {"q": "grace"}))
    assert users.member(dinner, "kitchen").get(url(dinner, "/new/guests"), {"q": "grace"}).status_code == 403


@pytest.mark.exhaustive
def test_staff_see_a_deposit_and_return_one_that_is_kept(host: Client, dinner: Venue, its: Reservation) -> None:
    AgreedTerms.objects.create(
        reservation=its,
        free_hours=24,
        free_until=NOW - timedelta(hours=24),
        deposit_usdc=Decimal(40),
        deposit_state="held",
    )
    address = url(dinner, "/{id}", its=its)
    card = text(host.get(address))
    assert "<dt>Deposit</dt><dd>40 USDC, held</dd>" in card
    assert "<dt>Free cancellation</dt><dd>until Friday 2 May 2031, 19:30</dd>" in card
    assert "Return the deposit" not in card
    assert "The deposit is kept for the restaurant." in text(host.get(f"{address}/no-show"))
    assert "The deposit goes back to the guest." in text(host.get(f"{address}/cancel"))
    host.post(f"{address}/no-show")
    card = text(host.get(address))
    assert "40 USDC, kept for the restaurant" in card
    assert "Return the deposit" in card
    assert "Return the deposit?" in text(host.get(f"{address}/return-deposit"))
    assert "The deposit of" in text(host.post(f"{address}/return-deposit", follow=True))
    assert "40 USDC, returned to the guest" in text(host.get(address))
    again = host.post(f"{address}/return-deposit", follow=True)
    assert again.status_code == 200
    assert AgreedTerms.objects.get().deposit_state == "returned"


def test_where_no_deposit_is_kept_there_is_none_to_return(host: Client, dinner: Venue, its: Reservation) -> None:
    answer = host.post(url(dinner, "/{id}/return-deposit", its=its), follow=True)
    assert "No deposit of this reservation is kept." in text(answer)
