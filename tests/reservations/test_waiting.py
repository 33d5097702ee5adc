"""The waiting list: who is offered what has become free, for how long, and what happens when two want one table."""

import json
from base64 import b64decode
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.core import mail
from django.db import DataError, connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings
from redis import Redis

from accounts.models import Event, Venue
from config.celery import app
from reservations import bells, booking, notices, tasks, waiting
from reservations.models import Closure, IllegalMove, Notice, Reservation, Seating, ServicePeriod
from tests import make

# The reservations of tests/make.py begin on 2031-05-03 at 17:30 UTC, which is 19:30 in Rome.
NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
STARTS_AT = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# For calls over HTTP, which are made today: in a month at 19:30 in Rome.
SOON = datetime.combine(datetime.now(UTC).date() + timedelta(days=30), time(19, 30), ZoneInfo("Europe/Rome"))


@pytest.fixture
def full(venue: Venue) -> Venue:
    """A venue with one table for four, which has dinner, and whose guests wait when it is full."""
    return filled(venue)


def filled(venue: Venue) -> Venue:
    """Give the venue a table, dinner, and a waiting list."""
    make.table(venue)
    make.period(venue)
    venue.when_full = "waitlist"
    venue.save()
    return venue


def waits(venue: Venue, code: str, **fields: Any) -> Reservation:
    """A party on the waiting list; each that is made comes after the one before."""
    offers = fields.pop("offers", 0)
    reservation = make.reservation(venue, code=code, **fields)
    minute = Reservation.objects.filter(venue=venue).count()
    Reservation.objects.filter(pk=reservation.pk).update(
        pending_reason="waitlist", offers=offers, created_at=NOW - timedelta(days=9) + minute * MINUTE
    )
    reservation.notices.update(state="sent", sent_at=NOW - timedelta(days=9))
    reservation.refresh_from_db()
    return reservation


def held_for(venue: Venue) -> list[str]:
    """The codes of the parties that a table is held for."""
    found = Reservation.objects.filter(venue=venue, offered_until__isnull=False)
    return list(found.order_by("code").values_list("code", flat=True))


def told(reservation: Reservation) -> list[tuple[str, str]]:
    """The events of a reservation, with who did it, since it was made."""
    events = Event.objects.filter(subject=reservation.pk, created_at__gte=NOW).order_by("created_at", "id")
    return list(events.values_list("type", "actor"))


def mailed(reservation: Reservation) -> list[str]:
    """The kinds of mail to a guest since the reservation was made."""
    written = Notice.objects.filter(reservation=reservation, created_at__gte=NOW).order_by("created_at", "id")
    return list(written.values_list("kind", flat=True))


def test_a_table_is_held_for_the_first_of_the_list_for_half_an_hour(full: Venue) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    assert waiting.offer_tables(full, now=NOW) == 1
    first.refresh_from_db()
    assert (first.status, first.pending_reason, first.tables) == ("pending", "waitlist", ["T1"])
    assert (first.offered_until, first.offers, first.version) == (NOW + 30 * MINUTE, 1, 2)
    assert (told(first), mailed(first)) == ([("reservation.updated", "system")], ["offered"])
    assert list(first.seatings.values_list("table__name", flat=True)) == ["T1"]
    assert (told(second), mailed(second), held_for(full)) == ([], [], ["AAAAAA"])
    # The table is held: a second look offers nothing.
    assert waiting.offer_tables(full, now=NOW) == 0


def test_an_offer_ends_at_the_latest_when_the_party_would_come(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waiting.offer_tables(full, now=STARTS_AT - 10 * MINUTE)
    reservation.refresh_from_db()
    assert reservation.offered_until == STARTS_AT


@pytest.mark.parametrize(
    ("change", "offered"),
    [
        ({}, 1),
        ({"offers": 2}, 1),
        ({"offers": 3}, 0),
        ({"customer_email": None, "customer_phone": "+15550100999"}, 0),
        ({"starts_at": NOW}, 0),
        ({"party_size": 5}, 0),
        ({"pending_reason": "manual"}, 0),
        ({"status": "cancelled", "pending_reason": None, "cancelled_at": NOW}, 0),
        ({"time": time(17, 59)}, 0),
        ({"date": date(2031, 5, 4)}, 0),
    ],
)
def test_offers_are_for_who_waits_reads_mail_and_fits(full: Venue, change: dict[str, Any], offered: int) -> None:
    Closure.objects.create(venue=full, first_date=date(2031, 5, 4), last_date=date(2031, 5, 4))
    reservation = waits(full, "AAAAAA")
    Reservation.objects.filter(pk=reservation.pk).update(**change)
    before = Reservation.objects.values().get(pk=reservation.pk)
    assert waiting.offer_tables(full, now=NOW) == offered
    if not offered:
        assert Reservation.objects.values().get(pk=reservation.pk) == before
        assert not Seating.objects.exists()


def test_a_venue_that_mails_no_guests_leaves_the_list_to_its_staff(full: Venue) -> None:
    waits(full, "AAAAAA")
    full.mails_guests = False
    assert waiting.offer_tables(full, now=NOW) == 0


def test_an_offer_keeps_to_the_pacing_of_its_slot(full: Venue) -> None:
    ServicePeriod.objects.update(pacing_covers=6)
    make.table(full, "T2")
    waits(full, "AAAAAA")
    waits(full, "BBBBBB")
    waits(full, "CCCCCC", party_size=2)
    # Four and two make six; the four in between do not fit with the first.
    assert waiting.offer_tables(full, now=NOW) == 2
    assert held_for(full) == ["AAAAAA", "CCCCCC"]


def test_smaller_parties_and_other_moments_are_not_kept_waiting_by_one_that_does_not_fit(full: Venue) -> None:
    waits(full, "AAAAAA", party_size=9)
    waits(full, "BBBBBB", party_size=2)
    waits(full, "CCCCCC", starts_at=STARTS_AT + timedelta(days=1))
    assert waiting.offer_tables(full, now=NOW) == 2
    assert held_for(full) == ["BBBBBB", "CCCCCC"]


def test_who_accepts_in_time_has_the_table(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waiting.offer_tables(full, now=NOW)
    waiting.accept(reservation, actor="guest", now=NOW + 29 * MINUTE)
    reservation.refresh_from_db()
    assert (reservation.status, reservation.pending_reason, reservation.offered_until) == ("confirmed", None, None)
    assert (reservation.tables, reservation.seatings.count()) == (["T1"], 1)
    assert told(reservation) == [("reservation.updated", "system"), ("reservation.confirmed", "guest")]
    assert mailed(reservation) == ["offered", "confirmed"]
    waiting.accept(reservation, actor="guest", now=NOW + 29 * MINUTE)
    assert len(told(reservation)) == 2


def refusal_of(verb: Callable[..., Any], reservation: Reservation, *, now: datetime) -> str:
    """The message with which it is refused; nothing is changed."""
    before = Reservation.objects.values().get(pk=reservation.pk)
    with pytest.raises((waiting.OfferLapsed, waiting.NotWaiting, waiting.NoRoom, IllegalMove)) as refused:
        verb(reservation, actor="guest", now=now)
    assert Reservation.objects.values().get(pk=reservation.pk) == before
    return refused.value.message


@pytest.mark.parametrize("verb", [waiting.accept, waiting.decline])
def test_who_answers_late_is_refused(full: Venue, verb: Callable[..., Any]) -> None:
    reservation = waits(full, "AAAAAA")
    lapsed = "This table is not held for you any more. You are still on the waiting list."
    assert refusal_of(verb, reservation, now=NOW) == lapsed
    waiting.offer_tables(full, now=NOW)
    assert refusal_of(verb, reservation, now=NOW + 30 * MINUTE) == lapsed


def test_staff_offer_a_table_once_to_who_waits(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    other = waits(full, "BBBBBB")
    waiting.offer(reservation, actor="staff:ada@example.com", now=NOW)
    assert told(reservation) == [("reservation.updated", "staff:ada@example.com")]
    assert refusal_of(waiting.offer, reservation, now=NOW) == "This party has an offer already."
    assert refusal_of(waiting.offer, other, now=NOW) == "No table is free for this party."
    assert refusal_of(waiting.offer, other, now=STARTS_AT) == "This party does not wait for a table."
    waiting.accept(reservation, actor="guest", now=NOW)
    assert refusal_of(waiting.offer, reservation, now=NOW) == "This party does not wait for a table."
    assert refusal_of(waiting.decline, reservation, now=NOW) == "This reservation is confirmed; cancel it instead."


def test_who_declines_leaves_the_list_and_the_next_is_looked_at(
    full: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    waiting.offer_tables(full, now=NOW)
    with django_capture_on_commit_callbacks() as rung:
        waiting.decline(first, actor="guest", now=NOW)
    assert len(rung) == 2  # for the mail, and for the list
    first.refresh_from_db()
    assert (first.status, first.tables, first.seatings.count()) == ("cancelled", [], 0)
    assert told(first)[1:] == [("reservation.cancelled", "guest")]
    assert mailed(first) == ["offered", "cancelled"]
    waiting.look(full, now=NOW)
    second.refresh_from_db()
    assert second.offered_until == NOW + 30 * MINUTE


def test_an_offer_that_nobody_answers_goes_to_the_next_and_comes_back_at_most_twice(full: Venue) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    turns = []
    for number in range(8):
        waiting.look(full, now=NOW + number * 30 * MINUTE)
        notices.send_due(now=NOW + number * 30 * MINUTE)
        turns += held_for(full)
    assert turns == ["AAAAAA", "BBBBBB"] * 3
    first.refresh_from_db()
    assert (first.offers, first.offered_until, first.tables, first.status) == (3, None, [], "pending")
    assert not Seating.objects.exists()
    assert mailed(second) == ["offered"] * 3


@pytest.mark.parametrize("is_tried", [True, False])
def test_an_offer_that_nobody_was_told_of_counts_for_nothing_and_is_not_made_again_before_mail_leaves(
    full: Venue, settings: Settings, is_tried: bool
) -> None:
    first = waits(full, "AAAAAA")
    first.notices.update(kind="waitlisted", state="pending", sent_at=None, created_at=NOW)
    working = settings.EMAIL_BACKEND
    # A server that is away. Where it is not even tried no worker runs, and a web process looks.
    settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", 1
    now = NOW
    for number in range(3):
        now = NOW + number * 31 * MINUTE
        waiting.look(full, now=now)
        if is_tried:
            notices.send_due(now=now)
        first.refresh_from_db()
        assert (held_for(full), first.offers) == ((["AAAAAA"], 1) if number == 0 else ([], 0))
    assert not Seating.objects.exists()
    settings.EMAIL_BACKEND = working
    now += timedelta(hours=1)
    notices.send_due(now=now)
    (sent,) = mail.outbox
    assert sent.subject == "You are on the waiting list of Trattoria"
    waiting.look(full, now=now)
    notices.send_due(now=now)
    assert (held_for(full), mail.outbox[1].subject) == (["AAAAAA"], "A table at Trattoria is free for you")
    # Now the guest knows.
    assert waiting.lapse(full, now=now + 30 * MINUTE) == 1
    first.refresh_from_db()
    assert first.offers == 1


def test_an_offer_whose_mail_was_dropped_as_late_is_followed_by_one_that_says_the_list_goes_on(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waiting.look(full, now=NOW)
    notices.send_due(now=NOW + 30 * MINUTE)
    assert mail.outbox == []
    waiting.look(full, now=NOW + 30 * MINUTE)
    notices.send_due(now=NOW + 30 * MINUTE)
    first.refresh_from_db()
    assert (first.offers, [sent.subject for sent in mail.outbox]) == (0, ["You are on the waiting list of Trattoria"])


def test_who_is_not_reached_is_passed_over_and_left_to_the_staff(full: Venue) -> None:
    first, _ = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    first.notices.create(
        kind="waitlisted", state="failed", last_error="550 no such user", next_try_at=NOW, created_at=NOW
    )
    assert waiting.offer_tables(full, now=NOW) == 1
    assert held_for(full) == ["BBBBBB"]


def test_who_calls_for_a_table_that_has_become_free_comes_behind_who_waits_for_it(full: Venue, api: Client) -> None:
    seated = make.reservation(full, status="confirmed", starts_at=SOON)
    for code in ("AAAAAA", "BBBBBB"):
        waits(full, code, starts_at=SOON)
    # No worker is there to look.
    booking.move(seated, "cancelled", now=datetime.now(UTC), actor="staff")
    body = make.reservation_body(date=SOON.date().isoformat(), time="19:30")
    answer = api.post("/api/v1/reservations", body, content_type="application/json")
    assert (answer.status_code, answer.json()["status"], answer.json()["pending_reason"]) == (
        201,
        "pending",
        "waitlist",
    )
    assert held_for(full) == ["AAAAAA"]


def test_a_look_at_a_day_for_which_nobody_waits_is_one_query(
    full: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    waits(full, "AAAAAA")
    with django_assert_num_queries(1):
        assert waiting.look(full, now=NOW, day=date(2031, 5, 4)) == 0
    assert waiting.look(full, now=NOW, day=date(2031, 5, 3)) == 1


def test_who_was_given_a_table_by_the_staff_is_not_told_to_wait_on(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waiting.look(full, now=NOW)
    Reservation.objects.filter(pk=first.pk).update(pending_reason="manual", offered_until=None)
    for verb in (waiting.accept, waiting.decline):
        said = refusal_of(verb, first, now=NOW)
        assert said == "This offer is over: the restaurant has taken your reservation in hand and will confirm it."


def test_an_offer_to_a_party_that_was_moved_earlier_ends_when_it_would_come(full: Venue) -> None:
    first = waits(full, "AAAAAA")
    waiting.look(full, now=NOW)
    Reservation.objects.filter(pk=first.pk).update(starts_at=NOW + 5 * MINUTE)
    first.refresh_from_db()
    assert waiting.held_until(first) == NOW + 5 * MINUTE
    assert refusal_of(waiting.accept, first, now=NOW + 5 * MINUTE) == waiting.LAPSED
    assert (waiting.lapse(full, now=NOW + 4 * MINUTE), waiting.lapse(full, now=NOW + 5 * MINUTE)) == (0, 1)


def test_lapsing_frees_the_table_and_is_told(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waiting.offer_tables(full, now=NOW)
    assert waiting.lapse(full, now=NOW + 30 * MINUTE - timedelta(seconds=1)) == 0
    assert waiting.lapse(full, now=NOW + 30 * MINUTE) == 1
    reservation.refresh_from_db()
    assert (reservation.offered_until, reservation.tables, reservation.version) == (None, [], 3)
    assert told(reservation) == [("reservation.updated", "system")] * 2
    assert not Seating.objects.exists()


def test_a_cancellation_has_the_list_looked_through(
    full: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    guest = make.reservation(full, status="confirmed")
    assert guest.tables == ["T1"]
    waits(full, "AAAAAA")
    assert waiting.offer_tables(full, now=NOW) == 0
    with django_capture_on_commit_callbacks() as rung:
        booking.move(guest, "cancelled", now=NOW, actor="system")
    assert any("ring_for_tables" in repr(call) for call in rung)
    assert waiting.offer_tables(full, now=NOW) == 1


def test_venues_where_nobody_waits_cost_one_query(
    venue: Venue, other_venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.reservation(venue)
    past = waits(venue, "AAAAAA", starts_at=NOW - timedelta(days=1))
    with django_assert_num_queries(1):
        assert list(waiting.venues(now=NOW)) == []
    waits(other_venue, "BBBBBB")
    waits(other_venue, "CCCCCC")
    assert list(waiting.venues(now=NOW)) == [other_venue.pk]
    # An offer that is over is found also when its party would have come by now.
    Reservation.objects.filter(pk=past.pk).update(offered_until=NOW - timedelta(days=1))
    assert set(waiting.venues(now=NOW)) == {venue.pk, other_venue.pk}


def test_a_long_list_of_equal_wishes_costs_one_look(
    full: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.reservation(full, status="confirmed")
    for number in range(20):
        waits(full, f"{number:06}")
    # The list; the periods and closures of the day; and one try between its savepoints.
    with django_assert_num_queries(10):
        assert waiting.offer_tables(full, now=NOW) == 0


def test_the_sweep_and_the_task_find_who_waits(full: Venue) -> None:
    reservation = waits(full, "AAAAAA", starts_at=datetime(2099, 5, 4, 17, 30, tzinfo=UTC))
    tasks.sweep_waiting_lists.run()
    tasks.offer_tables.run(venue=str(full.pk), unknown="argument")
    tasks.send_notices.run()
    reservation.refresh_from_db()
    assert reservation.offers == 1
    assert [notice.state for notice in Notice.objects.filter(kind="offered")] == ["sent"]


def test_the_bell_reaches_the_queue_of_the_workers_and_is_not_kept_for_long(full: Venue) -> None:
    bells.ring_for_tables(full.pk)
    bells.ring_for_notices()
    queue = Redis.from_url(settings.BROKER_URL).lrange(settings.CELERY_TASK_DEFAULT_QUEUE, 0, -1)
    rung = [json.loads(message) for message in queue]
    found = [
        (ring["headers"]["task"], json.loads(b64decode(ring["body"]))[1], ring["headers"]["expires"] is not None)
        for ring in rung
    ]
    assert ("reservations.tasks.offer_tables", {"venue": str(full.pk)}, True) in found
    assert ("reservations.tasks.send_notices", {}, True) in found


def test_the_beat_rings_for_tasks_that_there_are() -> None:
    app.loader.import_default_modules()
    rung = {entry["task"] for entry in app.conf.beat_schedule.values()}
    ours = {"send_notices", "sweep_waiting_lists", "write_reminders"}
    assert {f"reservations.tasks.{name}" for name in ours} <= rung <= set(app.tasks)


def test_of_an_offer_that_breaks_off_nothing_is_left(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    before = Reservation.objects.values().get(pk=reservation.pk)
    # The event is written when the table is taken and the row is stored; no actor has so long a name.
    with pytest.raises(DataError):
        waiting.offer(reservation, actor="x" * 301, now=NOW)
    assert Reservation.objects.values().get(pk=reservation.pk) == before
    assert (Seating.objects.count(), told(reservation), mailed(reservation)) == (0, [], [])


def together(*works: Callable[[], Any]) -> list[Any]:
    """What each of these answers, begun at one moment in threads of their own; refusals are answers."""
    start = Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        start.wait(timeout=10)
        try:
            return work()
        except (waiting.OfferLapsed, waiting.NotWaiting, IllegalMove) as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def copies(reservation: Reservation, number: int) -> Sequence[Reservation]:
    """The same row, read so often."""
    return [Reservation.objects.select_related("venue").get(pk=reservation.pk) for _ in range(number)]


@pytest.mark.django_db(transaction=True)
def test_of_accepting_and_lapsing_exactly_one_wins_and_no_table_is_held_for_nobody() -> None:
    venue = filled(make.venue())
    for number in range(8):
        reservation = waits(venue, f"{number:06}", starts_at=STARTS_AT + timedelta(days=number))
        waiting.offer_tables(venue, now=NOW)
        (row,) = copies(reservation, 1)
        answers = together(
            # Clocks differ: for the guest's server the offer still stands.
            lambda row=row: waiting.accept(row, actor="guest", now=NOW + 29 * MINUTE),  # type: ignore[misc]
            lambda: waiting.lapse(venue, now=NOW + 30 * MINUTE),
        )
        reservation.refresh_from_db()
        if reservation.status == "confirmed":
            assert answers == [None, 0]
            assert (reservation.tables, reservation.seatings.count()) == (["T1"], 1)
        else:
            assert isinstance(answers[0], waiting.OfferLapsed)
            assert answers[1] == 1
            assert (reservation.status, reservation.tables, reservation.seatings.count()) == ("pending", [], 0)
            assert reservation.offered_until is None
        Reservation.objects.filter(pk=reservation.pk, status="pending").update(pending_reason="manual")


@pytest.mark.django_db(transaction=True)
def test_four_workers_at_once_hold_one_table_for_one_party_and_write_to_it_once() -> None:
    venue = filled(make.venue())
    make.table(venue, "T2")
    parties = [waits(venue, f"{number:06}") for number in range(6)]
    answers = together(*[lambda: waiting.look(venue, now=NOW)] * 4)
    assert sum(answers) == 2
    assert held_for(venue) == ["000000", "000001"]
    assert [mailed(party) for party in parties] == [["offered"]] * 2 + [[]] * 4
    assert sorted(Seating.objects.values_list("table__name", flat=True)) == ["T1", "T2"]


@pytest.mark.django_db(transaction=True)
def test_accept_decline_lapse_and_cancel_at_once_leave_a_table_with_its_guest_or_free() -> None:
    venue = filled(make.venue())
    for number in range(6):
        reservation = waits(venue, f"{number:06}", starts_at=STARTS_AT + timedelta(days=number))
        waiting.offer_tables(venue, now=NOW)
        one, two, three = copies(reservation, 3)
        together(
            lambda one=one: waiting.accept(one, actor="guest", now=NOW),  # type: ignore[misc]
            lambda two=two: waiting.decline(two, actor="guest", now=NOW),  # type: ignore[misc]
            lambda three=three: booking.move(three, "cancelled", now=NOW, actor="guest"),  # type: ignore[misc]
            lambda: waiting.lapse(venue, now=NOW + 30 * MINUTE),
        )
        reservation.refresh_from_db()
        assert (reservation.status, reservation.tables, reservation.seatings.count()) == ("cancelled", [], 0)
        cancelled = [kind for kind, _ in told(reservation) if kind == "reservation.cancelled"]
        assert len(cancelled) == 1
