"""Staff put a party on the waiting list, with the wait that they quoted to it."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, Venue
from reservations.booking import waitlist
from reservations.mail import templates
from reservations.models import Reservation
from reservations.self_service import links
from tests.reservations import consistency
from tests.support import builders, users

# Seven in the evening in Rome, on a Saturday.
NOW = datetime(2031, 5, 3, 17, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def evening() -> Iterator[None]:
    """It is seven in the evening in Rome."""
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with the table T1 for four, and dinner every day."""
    builders.table(venue, "T1")
    builders.period(venue, first="18:00", last="22:00")
    return venue


@pytest.fixture
def host(dinner: Venue) -> Client:
    """A host of the venue, signed in."""
    return users.member(dinner, "host")


def url(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/reservations{rest}"


def add(client: Client, venue: Venue, **fields: str) -> Any:
    """Send the form: a party of two without contact data, who were quoted 20 minutes."""
    page = client.get(url(venue, "/waiting/add"))
    sent = {bound.html_name: "" if bound.value() is None else str(bound.value()) for bound in page.context["form"]}
    return client.post(
        url(venue, "/waiting/add"),
        sent | {"customer_name": "Linus", "party_size": "2", "quoted_minutes": "20"} | fields,
    )


def test_a_party_at_the_door_waits_for_a_table_in_as_many_minutes_as_quoted(dinner: Venue, host: Client) -> None:
    answer = add(host, dinner)
    assert answer["Location"] == url(dinner, "?day=2031-05-03")
    assert builders.messages_of(answer) == ["Linus is on the waiting list."]
    party = Reservation.objects.get()
    assert (party.status, party.pending_reason, party.quoted_minutes) == ("pending", "waitlist", 20)
    assert (party.time, party.tables, party.is_walk_in) == (time(19, 20), [], True)
    assert list(Event.objects.values_list("type", flat=True)) == ["reservation.created"]
    assert consistency.problems() == []


def test_the_quoted_wait_is_shown_beside_the_party(dinner: Venue, host: Client) -> None:
    add(host, dinner)
    party = Reservation.objects.get()
    assert "quoted 20 min (until 19:20)" in host.get(url(dinner, "?day=2031-05-03")).content.decode()
    assert "quoted 20 min, until 19:20" in host.get(url(dinner, "/waiting")).content.decode()
    assert "20 minutes, until 19:20" in host.get(url(dinner, f"/{party.public_id}")).content.decode()


@pytest.mark.exhaustive
def test_a_party_with_an_email_address_is_emailed_and_offered_the_next_free_table(dinner: Venue, host: Client) -> None:
    taken = builders.reservation(dinner, status="confirmed", starts_at=NOW + timedelta(hours=1))
    add(host, dinner, customer_email="linus@example.com", date="2031-05-03", time="20:00")
    party = Reservation.objects.get(customer_name="Linus")
    assert [mail.kind for mail in party.guest_mails.all()] == ["waitlisted"]
    assert waitlist.process_waitlist(dinner, now=NOW) == 0
    taken.seatings.all().delete()
    assert waitlist.process_waitlist(dinner, now=NOW) == 1
    party.refresh_from_db()
    assert (party.tables, party.is_walk_in) == (["T1"], False)


def test_the_email_and_the_page_of_the_guest_name_the_quoted_wait(dinner: Venue, host: Client, client: Client) -> None:
    add(host, dinner, customer_email="linus@example.com")
    party = Reservation.objects.get()
    (queued,) = party.guest_mails.all()
    body = templates.build_mail(queued).body
    assert "You are on the waiting list. The wait is about 20 minutes, until 19:20." in body
    page = f"/guest/{links.token_of(party)}"
    assert "<dt>Wait</dt><dd>About 20 minutes, until 19:20</dd>" in client.get(page).content.decode()
    # After that the wait says nothing, nor does an email that is written then.
    Reservation.objects.update(date="2031-05-04", starts_at=NOW + timedelta(days=1), ends_at=NOW + timedelta(days=2))
    with time_machine.travel(NOW + timedelta(minutes=20), tick=False):
        assert "<dt>Wait</dt>" not in client.get(page).content.decode()
    queued.created_at = NOW + timedelta(minutes=20)
    assert "No table is free at this time" in templates.build_mail(queued).body


def test_the_email_of_a_party_without_a_quoted_wait_names_none(dinner: Venue, host: Client) -> None:
    add(host, dinner, customer_email="linus@example.com", quoted_minutes="", date="2031-05-03", time="20:00")
    (queued,) = Reservation.objects.get().guest_mails.all()
    assert "No table is free at this time, so you are on the waiting list." in templates.build_mail(queued).body


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"quoted_minutes": ""}, "time", "Enter a time."),
        ({"date": "2031-05-04"}, "time", "Enter a time."),
        ({"time": "18:00"}, "time", "18:00 is in the past."),
        ({"quoted_minutes": "0"}, "quoted_minutes", "Ensure this value is greater than or equal to 1."),
        ({"quoted_minutes": "601"}, "quoted_minutes", "Ensure this value is less than or equal to 600."),
        ({"quoted_minutes": "1e400"}, "quoted_minutes", "Enter a whole number."),
        ({"party_size": "5"}, "party_size", "There is no table for 5 here."),
        ({"time": "\x00"}, "time", "Enter a valid time."),
    ],
)
def test_a_party_that_cannot_wait_is_refused_at_its_field(
    dinner: Venue, host: Client, fields: dict[str, str], param: str, message: str
) -> None:
    before = consistency.state()
    answer = add(host, dinner, **fields)
    assert answer.status_code == 400
    assert answer.context["form"].errors.get(param) == [message]
    assert consistency.state() == before


def test_the_kitchen_and_other_venues_cannot_add(dinner: Venue, other_venue: Venue) -> None:
    path = url(dinner, "/waiting/add")
    assert users.member(dinner, "kitchen").post(path).status_code == 403
    assert users.member(other_venue).post(path).status_code == 404
    assert Reservation.objects.count() == 0
