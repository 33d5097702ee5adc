"""Alerts by mail: one for each event, member and channel, gathered into one mail, of what the member may see."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts import mail_outbox
from accounts.alerts import delivery
from accounts.alerts.kinds import find_kind
from accounts.models import (
    Alert,
    AlertKind,
    AlertSubscription,
    EventType,
    Membership,
    OutgoingMail,
    Venue,
)
from accounts.tenancy import team
from framework.encryption import decrypt
from orders import commands
from reservations.booking import commands as booking_commands
from tests.support import builders, users

NOW = datetime(2031, 5, 3, 18, 0, tzinfo=UTC)


def subscribe(member: Membership, venue: Venue, **fields: Any) -> AlertSubscription:
    """The member wants all kinds by mail."""
    return AlertSubscription.objects.create(
        **{"membership": member, "venue": venue, "channel": "mail", "kinds": AlertKind.values, "next_send_at": NOW}
        | fields
    )


def send(at: datetime = NOW) -> int:
    """What the periodic task does at this time."""
    return delivery.send_due(clock=lambda: at)


def mails() -> list[tuple[str, str, str]]:
    """The address, subject and text of each mail that waits in the outbox."""
    rows = OutgoingMail.objects.order_by("created_at", "address")
    return [(row.address, row.subject, decrypt(row.text, purpose=mail_outbox.PURPOSE)) for row in rows]


def states() -> list[str]:
    return sorted(Alert.objects.values_list("state", flat=True))


@pytest.mark.django_db
def test_an_order_is_mailed_once_to_each_member_who_wants_it(venue: Venue) -> None:
    ada, bob = users.membership(venue), users.membership(venue, "kitchen")
    subscribe(ada, venue)
    subscribe(bob, venue, kinds=["order_cancelled"])
    builders.menu(venue)
    order = builders.order(venue, now=NOW)
    assert [send(), send()] == [1, 0]
    ((address, subject, text),) = mails()
    assert (address, subject) == (ada.user.email, "Trattoria: New order 1: 19.00 EUR")
    assert text == (
        "New order 1: 19.00 EUR\n"
        f"http://127.0.0.1:8000/dashboard/{venue.public_id}/orders/{order.public_id}\n\n"
        "You get this because you are in the team of Trattoria. Choose your alerts, or none:\n"
        f"http://127.0.0.1:8000/dashboard/{venue.public_id}/alerts\n"
    )


@pytest.mark.django_db
def test_twenty_orders_in_a_minute_are_two_mails(venue: Venue) -> None:
    subscribe(users.membership(venue), venue)
    for second in range(20):
        builders.order(venue, now=NOW + timedelta(seconds=second))
        send(NOW + timedelta(seconds=second))
    assert send(NOW + timedelta(seconds=59)) == 0
    assert send(NOW + timedelta(seconds=60)) == 1
    assert [subject for _, subject, _ in mails()] == ["Trattoria: New order 1", "Trattoria: 19 events"]
    assert mails()[1][2].count("New order") == 19


@pytest.mark.django_db
def test_what_happens_in_quiet_hours_is_told_in_one_mail_when_they_end(venue: Venue) -> None:
    subscribe(users.membership(venue), venue, quiet_from=time(22), quiet_until=time(7, 30))
    night, morning = datetime(2031, 5, 3, 21, 0, tzinfo=UTC), datetime(2031, 5, 4, 5, 30, tzinfo=UTC)
    for minutes in range(3):
        builders.order(venue, now=night + timedelta(minutes=minutes))
        assert send(night + timedelta(minutes=minutes)) == 0
    assert send(morning - timedelta(seconds=1)) == 0
    assert send(morning) == 1
    assert [subject for _, subject, _ in mails()] == ["Trattoria: 3 events"]
    assert states() == ["sent"] * 3


@pytest.mark.parametrize(
    ("begin", "end", "now", "quiet_end"),
    [
        ("22:00", "07:00", "2031-05-03T19:59Z", None),
        ("22:00", "07:00", "2031-05-03T20:00Z", "2031-05-04T05:00Z"),
        ("22:00", "07:00", "2031-05-04T04:59Z", "2031-05-04T05:00Z"),
        ("22:00", "07:00", "2031-05-04T05:00Z", None),
        ("13:00", "15:00", "2031-05-03T11:30Z", "2031-05-03T13:00Z"),
        ("13:00", "15:00", "2031-05-03T13:00Z", None),
        ("13:00", "00:00", "2031-05-03T21:59Z", "2031-05-03T22:00Z"),
        # The clock of Rome goes back at 03:00 on this night, and forward at 02:00 on the other.
        ("22:00", "07:00", "2031-10-25T20:00Z", "2031-10-26T06:00Z"),
        ("22:00", "07:00", "2031-03-29T21:00Z", "2031-03-30T05:00Z"),
    ],
)
def test_quiet_hours_are_of_the_venues_clock(begin: str, end: str, now: str, quiet_end: str | None) -> None:
    subscription = AlertSubscription(
        venue=Venue(timezone="Europe/Rome"),
        quiet_from=time.fromisoformat(begin),
        quiet_until=time.fromisoformat(end),
    )
    found = subscription.find_quiet_end(now=datetime.fromisoformat(now))
    assert found == (datetime.fromisoformat(quiet_end) if quiet_end else None)


def leave(member: Membership, _: AlertSubscription) -> None:
    team.leave(member.account, member.user, now=NOW)


def demote(member: Membership, _: AlertSubscription) -> None:
    Membership.objects.filter(pk=member.pk).update(role="kitchen")


def limit(member: Membership, _: AlertSubscription) -> None:
    Membership.objects.filter(pk=member.pk).update(is_limited=True)


def deactivate(member: Membership, _: AlertSubscription) -> None:
    member.user.is_active = False
    member.user.save()


def unsubscribe(_: Membership, subscription: AlertSubscription) -> None:
    AlertSubscription.objects.filter(pk=subscription.pk).update(kinds=["order_placed"])


@pytest.mark.django_db
@pytest.mark.parametrize("change", [leave, demote, limit, deactivate, unsubscribe])
def test_who_may_not_see_an_event_any_more_is_not_told(
    venue: Venue, change: Callable[[Membership, AlertSubscription], None]
) -> None:
    users.membership(venue)
    member = users.membership(venue)
    subscription = subscribe(member, venue)
    builders.reservation(venue)
    assert states() == ["pending"]
    change(member, subscription)
    assert send() == 0
    assert mails() == []
    assert states() == ([] if change is leave else ["dropped"])


@pytest.mark.django_db
def test_mail_that_waits_for_the_mail_server_is_not_sent_to_a_member_who_has_left(venue: Venue) -> None:
    users.membership(venue)
    member = users.membership(venue)
    subscribe(member, venue)
    builders.order(venue, now=NOW)
    assert send() == 1
    team.leave(member.account, member.user, now=NOW)
    assert mails() == []


@pytest.mark.django_db
def test_members_are_not_told_of_what_they_have_done(venue: Venue) -> None:
    ada, bob = users.membership(venue), users.membership(venue)
    subscribe(ada, venue)
    subscribe(bob, venue)
    order = builders.order(venue, now=NOW)
    send()
    OutgoingMail.objects.all().delete()
    commands.change_status(order, "cancelled", now=NOW, actor=f"staff:{ada.user.email}")
    assert send(NOW + timedelta(minutes=2)) == 1
    assert [mail[:2] for mail in mails()] == [(bob.user.email, "Trattoria: Order 1 is cancelled")]


@pytest.mark.django_db
def test_reservations_are_told_as_requests_to_decide_new_ones_and_cancellations(venue: Venue) -> None:
    subscribe(users.membership(venue), venue)
    # Without tables the staff decide.
    request = builders.reservation(venue)
    booking_commands.set_status(request, "confirmed", now=NOW, actor="system")
    booking_commands.set_status(request, "cancelled", now=NOW, actor="guest")
    code = request.code
    assert send() == 1
    assert mails()[0][1] == "Trattoria: 3 events"
    assert [line for line in mails()[0][2].splitlines() if code in line] == [
        f"Request {code} to review: 4 on 2031-05-03 at 19:30",
        f"New reservation {code}: 4 on 2031-05-03 at 19:30",
        f"Reservation {code} is cancelled: 4 on 2031-05-03 at 19:30",
    ]


@pytest.mark.parametrize(
    ("event", "record", "actor", "kind"),
    [
        ("order.created", {}, "guest", "order_placed"),
        ("order.updated", {"payment": {"state": "paid"}}, "guest", "order_paid"),
        ("order.updated", {"payment": {"state": "paid"}}, "staff:ada@example.com", None),
        ("order.updated", {"payment": None}, "guest", None),
        ("order.completed", {}, "system", None),
        ("reservation.created", {"status": "confirmed", "pending_reason": None}, "guest", None),
        ("reservation.created", {"status": "pending", "pending_reason": "waitlist"}, "guest", None),
        ("reservation.created", {"status": "pending", "pending_reason": "email_confirmation"}, "guest", None),
        ("reservation.updated", {"status": "pending", "pending_reason": "manual"}, "guest", "reservation_requested"),
        ("reservation.updated", {"status": "pending", "pending_reason": "manual"}, "system", None),
        ("reservation.cancelled", {"status": "cancelled"}, "system", None),
        ("reservation.cancelled", {"status": "cancelled"}, "staff:ada@example.com", None),
        ("reservation.cancelled", {"status": "cancelled"}, "key:rk_live_abcd", "reservation_cancelled"),
        ("menu.updated", {}, "system", None),
    ],
)
def test_few_events_are_alerts(event: str, record: dict[str, Any], actor: str, kind: str | None) -> None:
    assert find_kind(EventType(event), record, actor=actor) == kind


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_tell_each_alert_once(venue: Venue) -> None:
    for _ in range(6):
        subscribe(users.membership(venue), venue)
    builders.order(venue, now=NOW)
    barrier = threading.Barrier(6)

    def work(_: int) -> int:
        try:
            barrier.wait(10)
            return send()
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) == 6
    assert OutgoingMail.objects.values("address").distinct().count() == OutgoingMail.objects.count() == 6


@pytest.mark.django_db(transaction=True)
def test_an_order_neither_waits_for_a_member_who_is_being_removed_nor_alerts_the_member(venue: Venue) -> None:
    member = users.membership(venue)
    subscribe(member, venue)
    deleted, placed = threading.Event(), threading.Event()

    def remove() -> None:
        try:
            with transaction.atomic():
                member.delete()
                deleted.set()
                assert placed.wait(10)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        removal = pool.submit(remove)
        assert deleted.wait(10)
        builders.order(venue, now=timezone.now())
        placed.set()
        removal.result()
    assert not Alert.objects.exists()
