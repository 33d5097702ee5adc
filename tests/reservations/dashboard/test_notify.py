"""Staff choose whether the guest is emailed about a change; for a minute, an undo of it sends nothing."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client

from accounts.models import Venue
from reservations.booking import commands
from reservations.mail import queue
from reservations.models import GuestMail, Reservation
from reservations.notifications import withdraw_mail
from tests.reservations import consistency
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


def move(client: Client, party: Reservation, *, to: str = "20:00", **fields: str) -> dict[str, str]:
    """Move the party as drag and drop does; return the fields of the Undo button."""
    sent = {"version": str(party.version), "day": "2031-05-03", "time": to, "tables": ""} | fields
    answer = client.post(url(party, "/move"), sent, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    party.refresh_from_db()
    return dict(answer.context["undo"] or {})


def undo(client: Client, party: Reservation, fields: dict[str, str]) -> None:
    """Press Undo."""
    names = ("day", "time", "tables", "version", "mail")
    sent = {"undo": "1"} | {name: fields[name] for name in names}
    assert client.post(url(party, "/move"), sent, headers={"HX-Request": "true"}).status_code == 200
    party.refresh_from_db()


def mails(party: Reservation) -> list[tuple[str, str, timedelta]]:
    """Kind, state, and after which time each email is due, the oldest first."""
    rows = party.guest_mails.order_by("pk")
    return [(row.kind, row.state, row.next_attempt_at - row.created_at) for row in rows]


def send_due(after: timedelta) -> list[str]:
    """Send the email that is due this long after noon; return the times of day in the emails that were sent."""
    mail.outbox.clear()
    queue.send_due(now=NOW + after)
    # "Time: 20:00, was 19:30" is about 20:00.
    bodies = [re.sub(r"was [0-9:]+", "", str(sent.body)) for sent in mail.outbox]
    return [next(at for at in ("19:30", "20:00", "21:00") if at in body) for body in bodies]


def test_the_email_about_a_move_is_sent_after_60_seconds(host: Client, party: Reservation) -> None:
    move(host, party)
    assert mails(party) == [("changed", "pending", timedelta(seconds=60))]
    assert send_due(59 * SECOND) == []
    assert send_due(60 * SECOND) == ["20:00"]


def test_an_undo_within_the_minute_sends_nothing(host: Client, party: Reservation) -> None:
    fields = move(host, party)
    undo(host, party, fields)
    assert (party.time, mails(party)) == (time(19, 30), [])


def test_drag_undo_and_drag_again_send_one_email(host: Client, party: Reservation) -> None:
    undo(host, party, move(host, party))
    move(host, party, to="21:00")
    assert send_due(60 * SECOND) == ["21:00"]


def test_an_undo_after_the_email_was_sent_sends_another(host: Client, party: Reservation) -> None:
    fields = move(host, party)
    assert send_due(60 * SECOND) == ["20:00"]
    undo(host, party, fields)
    assert send_due(120 * SECOND) == ["19:30"]


def test_an_email_that_is_being_sent_is_not_withdrawn(host: Client, party: Reservation) -> None:
    fields = move(host, party)
    claimed = queue.claim(now=NOW + 60 * SECOND)
    assert claimed
    before = consistency.state()
    assert withdraw_mail(party, claimed.pk) is False
    assert consistency.state() == before
    undo(host, party, fields)
    assert [kind for kind, _, _ in mails(party)] == ["changed", "changed"]


def test_an_email_that_a_withdrawn_one_had_replaced_is_sent_after_all(host: Client, party: Reservation) -> None:
    move(host, party)
    with time_machine.travel(NOW + 30 * SECOND, tick=False):
        second = move(host, party, to="21:00")
    # The second move replaces the email about the first one.
    assert send_due(60 * SECOND) == []
    assert [state for _, state, _ in mails(party)] == ["dropped", "pending"]
    with time_machine.travel(NOW + 80 * SECOND, tick=False):
        undo(host, party, second)
    assert send_due(80 * SECOND) == ["20:00"]


def test_the_previous_email_is_not_lost_while_a_worker_is_dropping_it(host: Client, party: Reservation) -> None:
    move(host, party)
    with time_machine.travel(NOW + 30 * SECOND, tick=False):
        second = move(host, party, to="21:00")
    first = queue.claim(now=NOW + 60 * SECOND)
    assert first
    with time_machine.travel(NOW + 61 * SECOND, tick=False):
        undo(host, party, second)
    queue.store_result(first, state=GuestMail.State.DROPPED)
    assert send_due(62 * SECOND) == ["20:00"]


def test_staff_who_choose_not_to_notify_send_nothing_and_neither_does_their_undo(
    host: Client, party: Reservation
) -> None:
    fields = move(host, party, notify="no")
    assert (party.time, fields["mail"], mails(party)) == (time(20), "", [])
    undo(host, party, fields)
    assert (party.time, mails(party)) == (time(19, 30), [])


def test_the_message_of_a_move_withdraws_its_email(host: Client, party: Reservation) -> None:
    fields = move(host, party)
    sent = {"mail": fields["mail"], "back": "day"}
    answer = host.post(url(party, "/withdraw-mail"), sent, headers={"HX-Request": "true"})
    assert answer.content.decode() == "The guest is not emailed."
    assert (party.time, mails(party)) == (time(20), [])
    # The guest knows of no change, so the undo is not announced either.
    undo(host, party, fields)
    assert (party.time, mails(party)) == (time(19, 30), [])


def test_the_page_of_a_reservation_withdraws_the_email_until_it_is_sent(host: Client, party: Reservation) -> None:
    fields = move(host, party)
    page = host.get(url(party, "")).content.decode()
    assert "The guest is emailed about the change at 12:01:00." in page
    assert send_due(60 * SECOND) == ["20:00"]
    answer = host.post(url(party, "/withdraw-mail"), {"mail": fields["mail"]})
    assert builders.messages_of(answer) == ["The email has been sent already, or is being sent."]
    assert "is emailed about the change" not in host.get(url(party, "")).content.decode()


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["", "1", "\x00", "01890000-0000-7000-8000-00000000000g"])
def test_a_withdrawal_without_the_id_of_an_email_changes_nothing(host: Client, party: Reservation, key: str) -> None:
    move(host, party)
    before = consistency.state()
    assert host.post(url(party, "/withdraw-mail"), {"mail": key}).status_code == 302
    assert consistency.state() == before


def test_only_an_email_about_a_change_of_this_reservation_is_withdrawn(dinner: Venue, party: Reservation) -> None:
    other = builders.reservation(dinner, status="confirmed", starts_at=EVENING)
    (confirmed,) = other.guest_mails.all()
    assert withdraw_mail(other, confirmed.pk) is False
    changed = GuestMail.objects.create(reservation=other, kind="changed", next_attempt_at=NOW, created_at=NOW)
    withdraw_mail(party, changed.pk)
    assert GuestMail.objects.filter(pk=changed.pk).exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("choice", "count"), [("no", 0), ("yes", 1)])
def test_staff_choose_on_the_form_of_a_change(host: Client, party: Reservation, choice: str, count: int) -> None:
    page = host.get(url(party, "/edit"))
    assert "Email the guest" in page.content.decode()
    form = page.context["form"]
    sent: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        sent[bound.html_name] = value if isinstance(value, list) else ("" if value is None else str(value))
        if bound.field.show_hidden_initial:
            sent[bound.html_initial_name] = sent[bound.html_name]
    assert host.post(url(party, "/edit"), sent | {"party_size": "3", "notify": choice}).status_code == 302
    party.refresh_from_db()
    assert party.party_size == 3
    assert mails(party) == [("changed", "pending", timedelta(seconds=60))] * count


@pytest.mark.parametrize(("choice", "count"), [("no", 0), ("yes", 1)])
def test_staff_choose_when_they_cancel_and_the_email_waits_a_minute(
    host: Client, party: Reservation, choice: str, count: int
) -> None:
    assert "Email the guest" in host.get(url(party, "/cancel")).content.decode()
    host.post(url(party, "/cancel"), {"notify": choice})
    party.refresh_from_db()
    assert party.status == "cancelled"
    assert mails(party) == [("cancelled", "pending", timedelta(seconds=60))] * count


def test_a_choice_is_offered_only_if_the_guest_can_be_emailed(host: Client, party: Reservation) -> None:
    Venue.objects.update(mails_guests=False)
    for rest in ("/edit", "/move", "/cancel"):
        assert "Email the guest" not in host.get(url(party, rest)).content.decode()


def test_a_change_by_the_guest_or_an_integration_is_announced_without_delay(party: Reservation) -> None:
    commands.update(party, at=time(20), now=NOW, actor="key:rk_live_abcd")
    assert mails(party) == [("changed", "pending", timedelta(0))]


def test_the_history_of_a_sandbox_says_that_its_emails_were_not_sent(host: Client, party: Reservation) -> None:
    GuestMail.objects.create(
        reservation=party, kind="confirmed", state="sent", sent_at=NOW, next_attempt_at=NOW, created_at=NOW
    )
    assert "(sent)" in host.get(url(party, "")).content.decode()
    Venue.objects.update(is_sandbox=True)
    assert "(not sent)" in host.get(url(party, "")).content.decode()
