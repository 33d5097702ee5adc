"""Contacts of orders are erased when the venue's retention of guests is over, and nothing else is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import Event, Venue
from orders import capacity, contact_retention
from orders.models import Order, OrderItem, OrderSlot
from tests.support import builders

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
