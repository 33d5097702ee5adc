"""Checkout sessions of a sandbox with a clock of its own are deleted by that clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts import sandbox_clock
from accounts.models import SandboxClock, Venue
from orders.models import CheckoutSession
from orders.tasks import delete_past_checkouts
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)

START = datetime(2027, 3, 1, 12, tzinfo=UTC)


def session(venue: Venue, *, now: datetime, **fields: Any) -> CheckoutSession:
    """One of an agent that begins now, with the contact of a guest."""
    given = {"content": {"buyer": {"phone": "+15550100999"}}, "expires_at": now + CheckoutSession.LIFETIME, **fields}
    return CheckoutSession.objects.create(
        venue=venue, agent="https://agent.example/profile", created_at=now, updated_at=now, **given
    )


def test_sessions_of_a_sandbox_are_deleted_by_its_clock() -> None:
    with time_machine.travel(START, tick=False):
        venue = builders.venue(is_sandbox=True)
        sandbox_clock.advance(venue, to=START + timedelta(days=400))
        at = venue.now()
        left = session(venue, now=at)
        ended = {"state": "completed", "completed_at": at, "order": builders.order(venue)}
        completed = session(venue, now=at, **ended)
        sandbox_clock.advance(venue, to=at + timedelta(hours=7) - timedelta(seconds=1))
        assert set(CheckoutSession.objects.all()) == {left, completed}
        sandbox_clock.advance(venue, to=at + timedelta(hours=7))
        assert CheckoutSession.objects.get() == completed
        sandbox_clock.advance(venue, to=at + timedelta(days=31))
        assert not CheckoutSession.objects.exists()


def test_the_worker_leaves_sessions_to_the_clock_of_their_sandbox() -> None:
    """The clock is never behind the real time, so what it has not deleted is not past."""
    with time_machine.travel(START, tick=False):
        venue, other = builders.venue(is_sandbox=True), builders.venue("Bistro")
        SandboxClock.objects.create(venue=venue, ran_until=START)
        kept = session(venue, now=START - timedelta(days=1))
        session(other, now=START - timedelta(days=1))
        delete_past_checkouts()
        assert CheckoutSession.objects.get() == kept
        assert sandbox_clock.find_with_due_work() == [venue]
        sandbox_clock.advance(venue, to=START + timedelta(seconds=1))
        assert not CheckoutSession.objects.exists()
