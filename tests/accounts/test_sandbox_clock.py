"""The clock of a sandbox: what depends on time happens in the order of time, the same each time, and only there."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from accounts.models import Event, SandboxClock, Venue
from accounts.webhooks import endpoints
from reservations.models import GuestMail, Reservation
from tests.accounts.webhook_receivers import Answer, Received, Receiver, receiving
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)

START = datetime(2027, 3, 1, 12, tzinfo=UTC)
END = START + timedelta(days=30)
CLOCK = "/api/v1/test/clock"
# A party of the evening for which the only table is held.
EVENING = {"date": "2027-03-02", "time": "19:00", "party_size": 2}
TEN_DAYS_LATER = {"date": "2027-03-11", "time": "20:00", "party_size": 2}


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


def sandbox(name: str = "Osteria (sandbox)", **fields: Any) -> Venue:
    return builders.venue(name, **({"is_sandbox": True, "timezone": "UTC"} | fields))


def advance(api: Client, to: datetime) -> Any:
    return api.post(CLOCK, {"to": to.isoformat()}, content_type="application/json")


def fails_twice(_: Received, before: int) -> Answer:
    """Is away for the first event until its third attempt."""
    return Answer(500 if before < 2 else 200)


@contextmanager
def at_start() -> Iterator[None]:
    """The real time stands still, so that only the clock of the sandbox goes on."""
    with time_machine.travel(START, tick=False):
        yield


def furnish(receiver: Receiver) -> tuple[Venue, Client]:
    """A sandbox with one table, which is held, a party that waits for it, a guest of another day, and an order."""
    venue = sandbox(when_full=Venue.WhenFull.WAITLIST, forgets_guests_after_days=7)
    builders.table(venue, "T1")
    builders.period(venue)
    endpoints.create(venue, url=receiver.url)
    api = builders.client(venue)
    held = api.post("/api/v1/holds", EVENING, content_type="application/json")
    assert held.status_code == 201
    for guest, wanted, status in (("ada", EVENING, "pending"), ("bob", TEN_DAYS_LATER, "confirmed")):
        body = builders.reservation_body(**wanted, customer_name=guest, customer_email=f"{guest}@example.com")
        made = api.post("/api/v1/reservations", body, content_type="application/json").json()
        assert made["status"] == status
    contact = {"name": "Cy", "phone": "+15550100999"}
    order = builders.order_body(fulfilment={"type": "pickup", "contact": contact})
    assert api.post("/api/v1/orders", order, content_type="application/json").status_code == 201
    return venue, api


def journal(venue: Venue, receiver: Receiver) -> list[tuple[str, str]]:
    """What has happened in the venue, and when by its clock: events, webhooks, mail and erasures."""
    names = dict(Reservation.objects.filter(venue=venue).values_list("pk", "code"))
    order = {code: number for number, code in enumerate(sorted(names.values()))}
    del order
    lines: list[tuple[datetime, str]] = []
    for number, event in enumerate(Event.objects.filter(venue=venue).order_by("created_at", "id")):
        offered = " with an offer" if event.record.get("tables") and event.record["status"] == "pending" else ""
        lines.append((event.created_at, f"{number} {event.type}{offered}"))
        for delivery in event.deliveries.all():
            assert delivery.last_attempt_at
            text = f"{number} {event.type}: {delivery.state} by attempt {delivery.attempts}"
            lines.append((delivery.last_attempt_at, text))
    for mail in GuestMail.objects.filter(reservation__venue=venue).order_by("pk"):
        lines.append((mail.sent_at or mail.created_at, f"mail {mail.kind} {mail.state}"))
    for reservation in Reservation.objects.filter(venue=venue, erased_at__isnull=False):
        assert reservation.erased_at
        lines.append((reservation.erased_at, "a guest is erased"))
    sent = [received.verified(SECRETS[venue.pk])["type"] for received in receiver.received] if SECRETS else []
    return [(f"{at:%m-%d %H:%M:%S}", text) for at, text in sorted(lines)] + [("sent", text) for text in sent]


SECRETS: dict[Any, str] = {}


def test_thirty_days_print() -> None:
    with at_start(), receiving(fails_twice) as receiver:
        venue, api = furnish(receiver)
        started = time.perf_counter()
        answer = advance(api, END)
        print(answer.json(), time.perf_counter() - started)
        for line in journal(venue, receiver):
            print(line)
        print(SandboxClock.objects.values())
    assert 0
