"""Contacts of orders are erased when the venue's retention of guests is over, and nothing else is."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event as Signal
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from pytest_django import Settings

from accounts.models import ApiKey, Event, IdempotentCall, Venue
from framework.public_ids import new_id
from orders import capacity, contact_retention
from orders.models import Order, OrderItem, OrderSlot
from tests.support import builders
from tests.support.live_stack import eventually

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CONTACT = {"name": "Ada", "phone": "+15550100999", "email": None}
LAST_DAY = NOON + timedelta(days=90)


def place(venue: Venue, *, status: str = "completed", **contact: Any) -> Order:
    return builders.order(venue, status=status, now=NOON, fulfilment={"type": "pickup", "contact": CONTACT | contact})


@pytest.mark.parametrize(
    ("venue_days", "max_days", "after", "erased"),
    [
        (90, 0, timedelta(days=90), 0),
        (90, 0, timedelta(days=90, seconds=1), 1),
        (None, 30, timedelta(days=31), 1),
        (90, 30, timedelta(days=31), 1),
        (None, 0, timedelta(days=9_000), 0),
    ],
)
def test_a_contact_is_erased_after_the_shorter_of_both_periods(
    venue: Venue, settings: Settings, venue_days: int | None, max_days: int, after: timedelta, erased: int
) -> None:
    Venue.objects.update(forgets_guests_after_days=venue_days)
    settings.GUEST_RETENTION_DAYS = max_days
    place(venue)
    assert contact_retention.erase_expired_contacts(now=NOON + after) == erased
    order = Order.objects.get()
    assert (order.contact_name, order.contact_phone) == (("", "") if erased else ("Ada", "+15550100999"))


def test_events_lose_the_contact_and_keep_the_rest(venue: Venue) -> None:
    Venue.objects.update(forgets_guests_after_days=90)
    place(venue)
    assert contact_retention.erase_expired_contacts(now=LAST_DAY + timedelta(days=1)) == 1
    records = list(Event.objects.values_list("record", flat=True))
    assert [record["fulfilment"]["contact"] for record in records] == [None, None]
    assert {record["customer_id"] for record in records} == {"cust_123"}


def test_the_notes_of_the_lines_are_erased_with_the_contact(venue: Venue) -> None:
    Venue.objects.update(forgets_guests_after_days=90)
    order = place(venue)
    builders.order(venue, now=NOON)
    order.items.update(notes="Ada is allergic to nuts")
    Event.objects.update(record={"items": [{"notes": "Ada", "quantity": 2}], "fulfilment": {"contact": CONTACT}})
    contact_retention.erase_expired_contacts(now=LAST_DAY + timedelta(days=1))
    assert not OrderItem.objects.filter(order=order).exclude(notes="").exists()
    records = Event.objects.filter(subject=order.pk).values_list("record", flat=True)
    assert [record["items"] for record in records] == [[{"notes": "", "quantity": 2}]] * 2


def test_the_contacts_of_a_guest_who_is_erased_are_erased_from_orders(venue: Venue) -> None:
    first = place(venue)
    second = place(venue, phone=None, email="Ada@Example.com")
    other = place(venue, phone="+15550100998")
    contact_retention.erase_contacts_of(venue, {"+15550100999", "ada@example.com"})
    contacts = Order.objects.in_bulk([first.pk, second.pk, other.pk])
    assert [contacts[order.pk].contact_name for order in (first, second, other)] == ["", "", "Ada"]


def store_answer(scope: str, key: str, record: dict[str, Any]) -> IdempotentCall:
    return IdempotentCall.objects.create(
        scope=scope, key=key, operation="POST", body_sha256=b"", status=201, created_at=NOON, body=orjson.dumps(record)
    )


def test_other_answers_that_mention_the_order_keep_their_contacts(venue: Venue) -> None:
    order = place(venue)
    key = ApiKey.create(venue, name="POS").row
    record = {"fulfilment": {"contact": CONTACT}, "items": [{"notes": "nuts"}]}
    own = store_answer(key.family.hex, "own", {"id": order.public_id, **record})
    others = [
        store_answer(key.family.hex, "metadata", {"id": "ord_1", "metadata": {"order": order.public_id}, **record}),
        store_answer(key.family.hex, "reservation", {"id": "res_1", "notes": order.public_id}),
        store_answer(new_id().hex, "other", {"id": order.public_id, **record}),
    ]
    before = [bytes(call.body or b"") for call in others]
    contact_retention.erase_contacts_of(venue, {"+15550100999"})
    own.refresh_from_db()
    assert orjson.loads(bytes(own.body or b"")) == {
        "id": order.public_id,
        "fulfilment": {"contact": None},
        "items": [{"notes": ""}],
    }
    for call in others:
        call.refresh_from_db()
    assert [bytes(call.body or b"") for call in others] == before


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_the_erasure_of_a_guest_waits_for_an_order_that_is_being_changed(venue: Venue) -> None:
    order = place(venue)
    is_locked, is_waiting = Signal(), Signal()

    def change() -> None:
        try:
            with transaction.atomic():
                Order.objects.select_for_update().get(pk=order.pk)
                is_locked.set()
                eventually(count_waiting)
                is_waiting.set()
        finally:
            connection.close()

    def count_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
            return bool(cursor.fetchone()[0])

    with ThreadPoolExecutor(1) as pool:
        changed = pool.submit(change)
        assert is_locked.wait(10)
        contact_retention.erase_contacts_of(venue, {"+15550100999"})
        changed.result()
    assert is_waiting.is_set()
    assert Order.objects.get().contact_name == ""


def test_a_guest_with_an_open_order_is_not_erased(venue: Venue) -> None:
    place(venue)
    place(venue, status="pending")
    with pytest.raises(contact_retention.HasOpenOrder):
        contact_retention.erase_contacts_of(venue, {"+15550100999"})
    assert Order.objects.filter(contact_name="Ada").count() == 2


def test_the_period_of_an_order_for_a_later_day_begins_then(venue: Venue) -> None:
    Venue.objects.update(forgets_guests_after_days=90)
    builders.order(venue, now=NOON, fulfilment={"type": "pickup", "contact": CONTACT, "requested_at": LAST_DAY})
    assert contact_retention.erase_expired_contacts(now=LAST_DAY + timedelta(days=90)) == 0
    assert contact_retention.erase_expired_contacts(now=LAST_DAY + timedelta(days=91)) == 1


def test_slots_of_past_days_are_deleted(venue: Venue) -> None:
    for hours in (0, 23, 25):
        OrderSlot.objects.create(venue=venue, starts_at=NOON - timedelta(hours=hours), orders=1)
    assert capacity.delete_past_slots(now=NOON) == 1
    assert OrderSlot.objects.count() == 2
