"""Staff undo a cancellation within a minute: the table is the party's again, and the guest hears nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client

from accounts.models import Event, Venue
from reservations.booking import commands, waitlist
from reservations.mail import queue
from reservations.models import Reservation
from reservations.self_service import registry
from tests.reservations import consistency, waitlist_builders
from tests.support import builders, users

# Noon in Rome, two days before the party comes at half past seven.
NOW = datetime(2031, 5, 1, 10, 0, tzinfo=UTC)
EVENING = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """It is noon in Rome."""
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
    """A host of the venue, signed in."""
    return users.member(dinner, "host")


@pytest.fixture
def party(dinner: Venue) -> Reservation:
    """A confirmed party at T1, whose guest has got the first email."""
    reservation = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    reservation.guest_mails.all().delete()
    return reservation


def url(party: Reservation, rest: str) -> str:
    return f"/dashboard/{party.venue.public_id}/reservations/{party.public_id}{rest}"


def cancel(client: Client, party: Reservation, *, step: str = "cancel", **fields: str) -> dict[str, Any]:
    """Cancel from the day; return what the day then offers to undo, or nothing."""
    answer = client.post(url(party, f"/{step}"), {"back": "day"} | fields, follow=True)
    party.refresh_from_db()
    assert party.status == "cancelled"
    return dict(answer.context["undo"] or {})


def undo(client: Client, party: Reservation, token: str) -> list[str]:
    """Press Undo; return the messages."""
    answer = client.post(url(party, "/restore"), {"token": token, "back": "day"})
    assert answer.status_code == 302
    party.refresh_from_db()
    return builders.messages_of(answer)


def mails(party: Reservation) -> list[tuple[str, str]]:
    """Kind and state of each email, the oldest first."""
    return list(party.guest_mails.order_by("pk").values_list("kind", "state"))


def send_due(after: timedelta) -> list[str]:
    """Send the email that is due this long after noon; return the subjects."""
    mail.outbox.clear()
    queue.send_due(now=NOW + after)
    return [str(message.subject) for message in mail.outbox]


def types(party: Reservation) -> list[str]:
    return list(Event.objects.filter(subject=party.pk).order_by("created_at", "pk").values_list("type", flat=True))


def test_an_undo_gives_the_table_back_and_the_guest_gets_no_email(host: Client, party: Reservation) -> None:
    offered = cancel(host, party)
    assert offered["message"] == "The reservation of Ada Lovelace was cancelled."
    assert (party.tables, mails(party)) == ([], [("cancelled", "pending")])
    assert send_due(59 * SECOND) == []
    assert undo(host, party, offered["token"]) == ["The reservation of Ada Lovelace is restored at T1."]
    assert (party.status, party.tables, party.cancelled_at, mails(party)) == ("confirmed", ["T1"], None, [])
    assert types(party)[-2:] == ["reservation.cancelled", "reservation.confirmed"]
    assert send_due(60 * SECOND) == []
    assert consistency.problems() == []


def test_the_guest_is_emailed_after_a_minute_without_an_undo(host: Client, party: Reservation) -> None:
    cancel(host, party)
    assert send_due(60 * SECOND) == ["Your reservation at Trattoria is cancelled"]


def test_an_undo_after_the_minute_is_refused(host: Client, party: Reservation) -> None:
    token = cancel(host, party)["token"]
    with time_machine.travel(NOW + 61 * SECOND, tick=False):
        before = consistency.state()
        assert undo(host, party, token) == ["It is too late to undo this. Make a new reservation for the guest."]
        assert consistency.state() == before


def test_an_undo_says_that_the_table_was_taken_and_gives_another(host: Client, party: Reservation) -> None:
    token = cancel(host, party)["token"]
    builders.reservation(party.venue, status="confirmed", starts_at=EVENING, tables=["T1"])
    assert undo(host, party, token) == [
        "The reservation of Ada Lovelace is restored at T2. T1 was taken in the meantime."
    ]
    assert party.tables == ["T2"]


def test_an_undo_says_that_no_table_is_free_any_more_and_changes_nothing(host: Client, party: Reservation) -> None:
    token = cancel(host, party)["token"]
    for name in ("T1", "T2"):
        builders.reservation(party.venue, status="confirmed", starts_at=EVENING, tables=[name])
    before = consistency.state()
    assert undo(host, party, token) == ["Not undone. T1 was taken in the meantime, and no other table is free."]
    assert consistency.state() == before


def test_an_undo_after_the_email_was_sent_says_that_the_table_is_reserved(host: Client, party: Reservation) -> None:
    token = cancel(host, party)["token"]
    assert len(send_due(60 * SECOND)) == 1
    with time_machine.travel(NOW + 60 * SECOND, tick=False):
        undo(host, party, token)
    assert send_due(60 * SECOND) == ["Your table at Trattoria is reserved"]


def test_the_email_about_a_cancellation_is_withdrawn_from_its_message(host: Client, party: Reservation) -> None:
    offered = cancel(host, party)
    page = host.get(url(party, "")).content.decode()
    assert "The guest is emailed about the cancellation at 12:01:00." in page
    host.post(url(party, "/withdraw-mail"), {"mail": offered["mail"]})
    assert (party.status, mails(party)) == ("cancelled", [])
    # The guest does not know of the cancellation, so the undo is not announced either.
    undo(host, party, offered["token"])
    assert (party.status, mails(party)) == ("confirmed", [])


@pytest.mark.exhaustive
def test_an_undo_restores_a_request_and_an_arrival(host: Client, dinner: Venue, party: Reservation) -> None:
    request = builders.reservation(dinner, status="pending", starts_at=EVENING)
    undo(host, request, cancel(host, request)["token"])
    assert (request.status, request.pending_reason, request.tables) == ("pending", "manual", [])
    Reservation.objects.filter(pk=party.pk).update(arrival="seated")
    undo(host, party, cancel(host, party)["token"])
    assert (party.status, party.arrival, party.tables) == ("confirmed", "seated", ["T1"])


@pytest.mark.exhaustive
def test_a_declined_offer_is_restored_with_its_table_or_waits_again(host: Client, dinner: Venue) -> None:
    waiting = waitlist_builders.waits(dinner, "WAITER")
    until = waitlist.offer_table(waiting, actor="system", now=NOW)
    undo(host, waiting, cancel(host, waiting, step="decline")["token"])
    assert (waiting.status, waiting.tables, waiting.offered_until) == ("pending", ["T1"], until)
    token = cancel(host, waiting, step="decline")["token"]
    for name in ("T1", "T2"):
        builders.reservation(dinner, status="confirmed", starts_at=EVENING, tables=[name])
    undo(host, waiting, token)
    assert (waiting.pending_reason, waiting.tables, waiting.offered_until) == ("waitlist", [], None)


def test_an_undo_does_not_overwrite_a_later_change(host: Client, party: Reservation) -> None:
    token = cancel(host, party)["token"]
    undo(host, party, token)
    before = consistency.state()
    message = undo(host, party, token)[-1]
    assert message == "Not undone. Another user has changed this reservation. Check it and try again."
    assert consistency.state() == before


@pytest.mark.parametrize("token", ["", "x", "\x00", "W10:1vX:abc"])
def test_an_undo_without_a_token_changes_nothing(host: Client, party: Reservation, token: str) -> None:
    cancel(host, party)
    before = consistency.state()
    assert undo(host, party, token) == ["It is too late to undo this. Make a new reservation for the guest."]
    assert consistency.state() == before


def test_the_token_of_one_reservation_restores_no_other(host: Client, dinner: Venue, party: Reservation) -> None:
    other = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    token = cancel(host, party)["token"]
    cancel(host, other)
    undo(host, other, token)
    assert other.status == "cancelled"


def test_a_booking_at_an_offer_is_cancelled_at_once_without_undo(
    host: Client, party: Reservation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "FIXED_RESERVATIONS", [lambda _: True])
    assert "This cannot be undone." in host.get(url(party, "/cancel")).content.decode()
    assert cancel(host, party) == {}
    assert send_due(timedelta(0)) == ["Your reservation at Trattoria is cancelled"]


def test_a_cancellation_by_an_integration_is_announced_without_delay(party: Reservation) -> None:
    commands.set_status(party, Reservation.Status.CANCELLED, now=NOW, actor="key:rk_live_abcd")
    assert send_due(timedelta(0)) == ["Your reservation at Trattoria is cancelled"]
