"""The turns of a waiting list: who comes first, whom mail does not reach, and who calls in between."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core import mail
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Venue
from reservations.booking import commands, waitlist
from reservations.mail import queue
from reservations.models import Reservation, Seating
from tests.reservations.waitlist_builders import MINUTE, NOW, filled, held_for, refusal_of, waits
from tests.support import builders

# For calls over HTTP, which are made today: in a month at 19:30 in Rome.
SOON = datetime.combine(datetime.now(UTC).date() + timedelta(days=30), time(19, 30), ZoneInfo("Europe/Rome"))


@pytest.fixture
def full(venue: Venue) -> Venue:
    """A venue with one table for four, which has dinner, and whose guests wait when it is full."""
    return filled(venue)


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_tried", [True, False])
def test_an_offer_without_delivered_mail_does_not_count_and_is_not_repeated_before_mail_is_sent(
    full: Venue, settings: Settings, is_tried: bool
) -> None:
    first = waits(full, "AAAAAA")
    first.guest_mails.create(kind="waitlisted", next_attempt_at=NOW, created_at=NOW)
    working = settings.EMAIL_BACKEND
    # A server that is away. Where it is not even tried no worker runs, and a web process looks.
    settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", 1
    now = NOW
    for number in range(3):
        now = NOW + number * 31 * MINUTE
        waitlist.process_waitlist(full, now=now)
        if is_tried:
            queue.send_due(now=now)
        first.refresh_from_db()
        assert (held_for(full), first.offer_count) == ((["AAAAAA"], 1) if number == 0 else ([], 0))
    assert not Seating.objects.exists()
    settings.EMAIL_BACKEND = working
    now += timedelta(hours=1)
    queue.send_due(now=now)
    (sent,) = mail.outbox
    assert sent.subject == "You are on the waiting list of Trattoria"
    waitlist.process_waitlist(full, now=now)
    queue.send_due(now=now)
    assert (held_for(full), mail.outbox[1].subject) == (["AAAAAA"], "A table at Trattoria is available")
    # Now the guest knows.
    assert waitlist.expire_offers(full, now=now + 30 * MINUTE) == 1
    first.refresh_from_db()
    assert first.offer_count == 1


def test_an_offer_whose_mail_was_dropped_as_late_is_followed_by_one_that_says_the_list_goes_on(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waitlist.process_waitlist(full, now=NOW)
    queue.send_due(now=NOW + 30 * MINUTE)
    assert mail.outbox == []
    waitlist.process_waitlist(full, now=NOW + 30 * MINUTE)
    queue.send_due(now=NOW + 30 * MINUTE)
    first.refresh_from_db()
    assert (first.offer_count, [sent.subject for sent in mail.outbox]) == (
        0,
        ["You are on the waiting list of Trattoria"],
    )


def test_who_is_not_reached_is_passed_over_and_left_to_the_staff(full: Venue) -> None:
    first, _ = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    first.guest_mails.create(
        kind="waitlisted", state="failed", last_error="550 no such user", next_attempt_at=NOW, created_at=NOW
    )
    assert waitlist.offer_tables(full, now=NOW) == 1
    assert held_for(full) == ["BBBBBB"]


def test_who_calls_for_a_table_that_has_become_free_comes_behind_who_waits_for_it(full: Venue, api: Client) -> None:
    seated = builders.reservation(full, status="confirmed", starts_at=SOON)
    for code in ("AAAAAA", "BBBBBB"):
        waits(full, code, starts_at=SOON)
    # No worker is there to look.
    commands.set_status(seated, "cancelled", now=datetime.now(UTC), actor="staff")
    body = builders.reservation_body(date=SOON.date().isoformat(), time="19:30")
    answer = api.post("/api/v1/reservations", body, content_type="application/json")
    assert (answer.status_code, answer.json()["status"], answer.json()["pending_reason"]) == (
        201,
        "pending",
        "waitlist",
    )
    assert held_for(full) == ["AAAAAA"]


def test_a_day_without_waiting_parties_costs_one_query(
    full: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    waits(full, "AAAAAA")
    with django_assert_num_queries(1):
        assert waitlist.process_waitlist(full, now=NOW, day=date(2031, 5, 4)) == 0
    assert waitlist.process_waitlist(full, now=NOW, day=date(2031, 5, 3)) == 1


def test_a_guest_with_a_table_from_staff_is_not_sent_back_to_the_waiting_list(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waitlist.process_waitlist(full, now=NOW)
    Reservation.objects.filter(pk=first.pk).update(pending_reason="manual", offered_until=None)
    for verb in (waitlist.accept_offer, waitlist.decline_offer):
        page_text = refusal_of(verb, first, now=NOW)
        assert page_text == "This offer has ended. The restaurant is processing your reservation and will confirm it."


def test_an_offer_to_a_party_that_was_moved_earlier_ends_when_it_would_come(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waitlist.process_waitlist(full, now=NOW)
    Reservation.objects.filter(pk=first.pk).update(starts_at=NOW + 5 * MINUTE)
    first.refresh_from_db()
    assert waitlist.offer_expires_at(first) == NOW + 5 * MINUTE
    assert refusal_of(waitlist.accept_offer, first, now=NOW + 5 * MINUTE) == (
        "This table is no longer held for you. You are still on the waiting list."
    )
    assert (
        waitlist.expire_offers(full, now=NOW + 4 * MINUTE),
        waitlist.expire_offers(full, now=NOW + 5 * MINUTE),
    ) == (0, 1)
