"""Mail to guests: what it says, that it is sent, and what happens when it cannot be."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import EventType, Venue
from config import environment
from framework import mailbox
from reservations import notifications, tasks
from reservations.booking import commands
from reservations.mail import queue
from reservations.models import GuestMail, Reservation
from reservations.self_service import links
from tests.support import builders
from tests.support.smtp_server import Postbox, postbox

# Two days before the reservations of tests/support/builders.py, which begin on 2031-05-03 at 19:30 in Rome.
NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KIND = GuestMail.Kind


def waiting(venue: Venue, kind: GuestMail.Kind = KIND.CONFIRMED, **fields: Any) -> GuestMail:
    """A notice of this kind that is to be sent and true, and the only one of its reservation."""
    status = {KIND.REQUESTED: "pending", KIND.WAITLISTED: "pending", KIND.OFFERED: "pending"}.get(kind, "confirmed")
    reservation = builders.reservation(venue, status="cancelled" if kind == KIND.CANCELLED else status, **fields)
    if kind in (KIND.WAITLISTED, KIND.OFFERED):
        Reservation.objects.filter(pk=reservation.pk).update(
            pending_reason="waitlist", offered_until=NOW + 30 * MINUTE if kind == KIND.OFFERED else None
        )
    reservation.guest_mails.all().delete()
    return GuestMail.objects.create(reservation=reservation, kind=kind, next_attempt_at=NOW, created_at=NOW)


def stored(notice: GuestMail) -> tuple[str, int, str]:
    """Its state, attempts, and what was the matter last."""
    notice.refresh_from_db()
    assert notice.leased_until is None
    return notice.state, notice.attempts, notice.last_error


def html_of(sent: mail.EmailMessage) -> str:
    """Its page for mail programs that show pages."""
    assert isinstance(sent, mail.EmailMultiAlternatives)
    ((content, kind),) = sent.alternatives
    assert kind == "text/html"
    return str(content)


@pytest.fixture
def post(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postbox]:
    """A mail server that EMAIL_URL names."""
    with postbox() as box:
        monkeypatch.setenv("EMAIL_URL", box.url)
        # pytest-django has put another back-end in its place, for the whole run.
        for name, value in environment.mail("EMAIL_URL", "").items():
            setattr(settings, name, value)
        settings.EMAIL_TIMEOUT = 2
        yield box


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "subject", "opening"),
    [
        (KIND.CONFIRMED, "Your table at Trattoria is reserved", "Your table is reserved."),
        (KIND.REQUESTED, "Trattoria has received your request", "We have received your request."),
        (KIND.WAITLISTED, "You are on the waiting list of Trattoria", "No table is free at this time"),
        (
            KIND.OFFERED,
            "A table at Trattoria is available",
            "It is held for you until 14:30 on Thursday 1 May 2031.",
        ),
        (KIND.CANCELLED, "Your reservation at Trattoria is cancelled", "Your reservation was cancelled."),
        (KIND.CHANGED, "Your reservation at Trattoria has changed", "Your reservation has changed."),
        (KIND.REMINDER, "Reminder: your table at Trattoria", "This is a reminder of your reservation."),
    ],
)
def test_a_mail_says_venue_day_time_party_code_and_link(
    venue: Venue, settings: Settings, kind: GuestMail.Kind, subject: str, opening: str
) -> None:
    settings.PUBLIC_BASE_URL = "https://tables.example.com"
    settings.DEFAULT_FROM_EMAIL = "Tablewire <tables@example.com>"
    notice = waiting(venue, kind, code="K7QX2M")
    assert queue.send_due(now=NOW) is False
    (sent,) = mail.outbox
    assert (sent.subject, sent.to, sent.from_email) == (subject, ["ada@example.com"], "Tablewire <tables@example.com>")
    token = links.token_of(notice.reservation)
    page_text = str(sent.body)
    for words in (
        "Hello Ada Lovelace,\n\n",
        opening,
        "  Trattoria\n  Saturday 3 May 2031\n  19:30 (Europe/Rome time)\n  4 guests\n  Code K7QX2M\n",
        f"\nhttps://tables.example.com/guest/{token}\n",
    ):
        assert words in page_text
    html = html_of(sent)
    assert f'<a href="https://tables.example.com/guest/{token}">' in html
    assert opening in html
    assert sent.extra_headers == {
        "Message-ID": f"<{notice.pk.hex}@example.com>",
        "Auto-Submitted": "auto-generated",
    }
    assert (stored(notice), notice.sent_at) == (("sent", 1, ""), NOW)


@pytest.mark.parametrize(
    ("changes", "subject", "opening"),
    [
        ({}, "Your request at Trattoria has changed", "It is not confirmed yet; we will email you when it is."),
        (
            {"pending_reason": "waitlist", "offered_until": NOW + 30 * MINUTE, "tables": ["T1"]},
            "A table at Trattoria is available",
            "It is held for you until 14:30 on Thursday 1 May 2031.",
        ),
    ],
)
def test_mail_about_a_change_says_that_it_is_not_confirmed(
    venue: Venue, changes: dict[str, Any], subject: str, opening: str
) -> None:
    reservation = builders.reservation(venue)
    reservation.guest_mails.all().delete()
    Reservation.objects.filter(pk=reservation.pk).update(**changes)
    commands.update(reservation, at=time(20, 0), now=NOW - MINUTE, actor="staff:ada@example.com")
    queue.send_due(now=NOW)
    (sent,) = mail.outbox
    assert sent.subject == subject
    assert opening in str(sent.body)
    assert "  20:00 (Europe/Rome time)\n" in str(sent.body)


def test_a_name_turns_the_words_around_it_neither_in_mail_nor_in_its_page(venue: Venue) -> None:
    waiting(venue, customer_name="Ada \u202eecalevoL")
    queue.send_due(now=NOW)
    (sent,) = mail.outbox
    assert "\u202e" not in f"{sent.subject}{sent.body}{html_of(sent)}"


@pytest.mark.parametrize("name", ["Ada\r\nBcc: eve@example.com", "Ada\nBcc:eve@example.com\n\nBuy", "\x00\x1b[2J"])
def test_names_put_nothing_into_headers(venue: Venue, post: Postbox, name: str) -> None:
    Venue.objects.filter(pk=venue.pk).update(name=f"Trattoria{name}".replace("\x00", ""))
    venue.refresh_from_db()
    waiting(venue, customer_name=name.replace("\x00", ""))
    queue.send_due(now=NOW)
    (arrived,) = post.mails
    assert (arrived["Bcc"], arrived["To"]) == (None, "ada@example.com")
    assert arrived["Subject"].startswith("Your table at Trattoria")
    assert "\nBcc:" not in arrived.get_body(("plain",)).get_content()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "name", ["Win at https://evil.example", "evil.example/win", "mail eve@example.com", "x" * 61, "\t", "casino.com"]
)
def test_what_is_no_name_is_not_mailed(venue: Venue, name: str) -> None:
    waiting(venue, customer_name=name)
    queue.send_due(now=NOW)
    assert str(mail.outbox[0].body).startswith("Hello,\n")


@pytest.mark.parametrize(
    "name", ["J. R. R. Tolkien", "J.R.R. Tolkien", "Zoë O'Brien-Núñez", "李小龍", "Dr. med. <b>Ada</b>"]
)
def test_names_are_greeted_as_they_are_and_markup_is_text(venue: Venue, name: str) -> None:
    waiting(venue, customer_name=name)
    queue.send_due(now=NOW)
    sent = mail.outbox[0]
    if "<" not in name:
        assert str(sent.body).startswith(f"Hello {name},\n")
    assert "<b>" not in html_of(sent)


def test_a_mail_travels_through_the_server_that_email_url_names(venue: Venue, post: Postbox) -> None:
    for _ in range(3):
        waiting(venue)
    assert queue.send_due(now=NOW) is False
    assert post.connections == 1
    assert {arrived["To"] for arrived in post.mails} == {"ada@example.com"}
    assert {arrived.get_content_type() for arrived in post.mails} == {"multipart/mixed"}
    # The text with its page, and the calendar file.
    kinds = {tuple(part.get_content_type() for part in arrived.iter_parts()) for arrived in post.mails}
    assert kinds == {("multipart/alternative", "text/calendar")}
    assert len({arrived["Message-ID"] for arrived in post.mails}) == 3


def test_mail_of_a_sandbox_is_printed_and_never_leaves(
    venue: Venue, post: Postbox, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, real = waiting(builders.venue("Trial", is_sandbox=True)), waiting(venue)
    queue.send_due(now=NOW)
    assert (stored(trial)[0], stored(real)[0]) == ("sent", "sent")
    assert [arrived["Subject"] for arrived in post.mails] == ["Your table at Trattoria is reserved"]
    printed = capsys.readouterr().out
    assert printed.count("Subject: Your table at Trial is reserved") == 1
    assert "Trattoria" not in printed


@pytest.mark.exhaustive
def test_a_server_that_refuses_for_now_is_asked_again_with_growing_pauses_for_a_day(
    venue: Venue, post: Postbox
) -> None:
    notice = waiting(venue)
    post.recipient = "451 greylisted, come back"
    now = NOW
    for number, pause in enumerate(queue.RETRY_DELAYS, 1):
        queue.send_due(now=now)
        page_text = "SMTPRecipientsRefused: 451 b'greylisted, come back'"
        assert stored(notice) == ("pending", number, page_text)
        assert notice.next_attempt_at == now + pause
        # Before its time nothing is tried.
        queue.send_due(now=now + pause - timedelta(seconds=1))
        assert stored(notice) == ("pending", number, page_text)
        now += pause
    queue.send_due(now=now)
    assert stored(notice)[:2] == ("failed", 8)
    assert timedelta(hours=20) < now - NOW < timedelta(hours=24)
    assert post.mails == []


def test_what_was_refused_for_now_arrives_later(venue: Venue, post: Postbox) -> None:
    notice = waiting(venue)
    post.content = "452 full"
    queue.send_due(now=NOW)
    assert stored(notice) == ("pending", 1, "SMTPDataError: 452 b'full'")
    post.content = "250 ok"
    queue.send_due(now=NOW + MINUTE)
    assert stored(notice) == ("sent", 2, "")
    assert len(post.mails) == 1


def test_what_a_server_will_never_take_is_given_up_at_once_and_others_are_served(venue: Venue, post: Postbox) -> None:
    post.recipient = "550 no such user"
    refused = [waiting(venue), waiting(venue)]
    queue.send_due(now=NOW)
    assert [stored(notice) for notice in refused] == [("failed", 1, "SMTPRecipientsRefused: 550 b'no such user'")] * 2
    post.recipient, post.content = "250 ok", "554 no"
    never = waiting(venue)
    queue.send_due(now=NOW)
    assert stored(never) == ("failed", 1, "SMTPDataError: 554 b'no'")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("address", "page_text"),
    [
        (f"a@{'ü' * 60}.de", "UnicodeError: encoding with 'idna' codec failed"),
        ("ada@exa mple.com", "ValueError: Invalid address"),
    ],
)
def test_a_mail_that_cannot_be_built_does_not_block_others(
    venue: Venue, other_venue: Venue, post: Postbox, address: str, page_text: str
) -> None:
    # Such as an earlier release has taken.
    wrong = waiting(venue, customer_email=address)
    others = [waiting(other_venue), waiting(venue)]
    GuestMail.objects.exclude(pk=wrong.pk).update(next_attempt_at=NOW + timedelta(microseconds=1))
    assert queue.send_due(now=NOW + MINUTE, limit=3) is True
    state, attempts, why = stored(wrong)
    assert (state, attempts, why[: len(page_text)]) == ("failed", 1, page_text)
    assert [stored(notice)[0] for notice in others] == ["sent", "sent"]
    assert len(post.mails) == 2


def test_mail_reaches_a_domain_of_other_letters(venue: Venue, post: Postbox) -> None:
    notice = waiting(venue, customer_email="ada@bücher.example")
    queue.send_due(now=NOW)
    assert stored(notice) == ("sent", 1, "")
    assert [arrived["To"] for arrived in post.mails] == ["ada@xn--bcher-kva.example"]


def test_a_server_that_is_away_is_not_asked_for_each_mail(venue: Venue, settings: Settings, post: Postbox) -> None:
    settings.EMAIL_PORT = 1
    first, second = waiting(venue), waiting(venue)
    GuestMail.objects.filter(pk=second.pk).update(next_attempt_at=NOW + timedelta(microseconds=1))
    assert queue.send_due(now=NOW + MINUTE) is False
    assert stored(first)[:2] == ("pending", 1)
    assert stored(first)[2].startswith("ConnectionRefusedError")
    assert stored(second) == ("pending", 0, "")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("kind", "since"),
    [
        (KIND.CONFIRMED, {"status": "cancelled", "cancelled_at": NOW}),
        (KIND.REMINDER, {"status": "cancelled", "cancelled_at": NOW}),
        (KIND.CHANGED, {"status": "cancelled", "cancelled_at": NOW}),
        (KIND.REQUESTED, {"status": "confirmed", "pending_reason": None}),
        (KIND.WAITLISTED, {"status": "confirmed", "pending_reason": None}),
        (KIND.OFFERED, {"offered_until": NOW}),
        (KIND.OFFERED, {"offered_until": None}),
        (KIND.CONFIRMED, {"starts_at": NOW}),
        (KIND.CANCELLED, {"starts_at": NOW}),
        (KIND.CONFIRMED, {"customer_email": None, "customer_phone": "+15550100999"}),
    ],
)
def test_what_is_no_longer_true_is_dropped(venue: Venue, kind: GuestMail.Kind, since: dict[str, Any]) -> None:
    notice = waiting(venue, kind)
    Reservation.objects.filter(pk=notice.reservation_id).update(**since)
    queue.send_due(now=NOW)
    assert (stored(notice), mail.outbox) == (("dropped", 1, ""), [])


def test_of_two_mails_that_wait_the_newer_is_sent(venue: Venue) -> None:
    older = waiting(venue)
    newer = GuestMail.objects.create(
        reservation=older.reservation, kind="changed", next_attempt_at=NOW, created_at=NOW
    )
    queue.send_due(now=NOW)
    assert (stored(older)[0], stored(newer)[0], len(mail.outbox)) == ("dropped", "sent", 1)


def test_a_venue_that_mails_no_guests_mails_none(venue: Venue) -> None:
    notice = waiting(venue)
    Venue.objects.filter(pk=venue.pk).update(mails_guests=False)
    queue.send_due(now=NOW)
    assert (stored(notice)[0], mail.outbox) == ("dropped", [])


@pytest.mark.parametrize(
    ("change", "written"),
    [
        ({}, ["confirmed"]),
        ({"customer_email": None, "customer_phone": "+15550100999"}, []),
        ({"mails_guests": False}, []),
        ({"starts_at": NOW}, []),
    ],
)
def test_mail_is_written_for_who_can_be_mailed_and_still_comes(
    venue: Venue, change: dict[str, Any], written: list[str]
) -> None:
    venue.mails_guests = change.pop("mails_guests", True)
    reservation = builders.reservation(venue)
    for name, value in change.items():
        setattr(reservation, name, value)
    notifications.record_change(
        reservation, EventType.RESERVATION_CONFIRMED, mail=GuestMail.Kind.CONFIRMED, actor="system", now=NOW
    )
    assert list(reservation.guest_mails.values_list("kind", flat=True)) == written
    newest = venue.events.latest("created_at")
    assert (newest.type, newest.subject, newest.actor) == ("reservation.confirmed", reservation.pk, "system")


def test_a_mail_costs_four_queries(venue: Venue, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(3):
        waiting(venue)
    # Its claim, its rows, whether it is the newest, its end; and the claim that finds nothing.
    with django_assert_num_queries(3 * 4 + 1):
        queue.send_due(now=NOW)


def test_a_task_sends_a_slice_and_says_that_there_may_be_more(venue: Venue) -> None:
    for _ in range(3):
        waiting(venue)
    assert queue.send_due(now=NOW, limit=2) is True
    assert queue.send_due(now=NOW, limit=2) is False
    assert len(mail.outbox) == 3


def test_mail_of_a_clock_that_was_ahead_is_sent_when_it_is_right(venue: Venue) -> None:
    leased, stored_ahead = waiting(venue), waiting(venue)
    ahead = timezone.now() + timedelta(days=9)
    GuestMail.objects.filter(pk=leased.pk).update(next_attempt_at=timezone.now())
    GuestMail.objects.filter(pk=stored_ahead.pk).update(next_attempt_at=ahead)
    assert queue.claim(now=ahead) == leased
    tasks.send_guest_mail.run()
    assert (stored(leased), stored(stored_ahead)) == (("sent", 2, ""), ("sent", 1, ""))


def test_a_mail_whose_worker_died_is_sent_when_its_lease_is_over(venue: Venue) -> None:
    notice = waiting(venue)
    assert queue.claim(now=NOW) == notice
    queue.send_due(now=NOW + queue.LEASE - MINUTE)
    assert mail.outbox == []
    queue.send_due(now=NOW + queue.LEASE)
    assert (stored(notice)[:2], len(mail.outbox)) == (("sent", 2), 1)


def test_a_worker_with_an_expired_lease_stores_no_result(venue: Venue) -> None:
    waiting(venue)
    slow = queue.claim(now=NOW)
    quick = queue.claim(now=NOW + queue.LEASE)
    assert slow
    assert quick
    queue.store_result(slow, state="failed", last_error="late")
    quick.refresh_from_db()
    assert (quick.state, quick.leased_until) == ("pending", NOW + 2 * queue.LEASE)


def test_a_mail_that_kills_its_workers_is_given_up(venue: Venue) -> None:
    notice = waiting(venue)
    GuestMail.objects.filter(pk=notice.pk).update(attempts=queue.MAX_ATTEMPTS)
    queue.send_due(now=NOW)
    assert stored(notice) == ("failed", 9, "Workers died while they sent this.")
    assert mail.outbox == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_four_workers_at_once_send_each_mail_once(post: Postbox) -> None:
    venue = builders.venue()
    made = [waiting(venue) for _ in range(20)]
    start = Barrier(4)

    def work(_: int) -> None:
        start.wait(timeout=10)
        try:
            queue.send_due(now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    sent = sorted(arrived["Message-ID"] for arrived in post.mails)
    assert sent == sorted(f"<{notice.pk.hex}@localhost>" for notice in made)
    assert {stored(notice) for notice in made} == {("sent", 1, "")}


@pytest.mark.django_db
def test_mail_of_a_sandbox_is_in_the_mailbox_where_there_is_one(settings: Settings, tmp_path: Path) -> None:
    settings.SANDBOX_EMAIL_BACKEND, settings.MAILBOX_DIR = "framework.mailbox.EmailBackend", str(tmp_path)
    waiting(builders.venue("Trial", is_sandbox=True))
    queue.send_due(now=NOW)
    (found,) = mailbox.list_mails()
    assert (found.recipient, found.subject) == ("ada@example.com", "Your table at Trial is reserved")
    assert "Code" in found.text
    assert "<html" in found.html
    assert mail.outbox == []
