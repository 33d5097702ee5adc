"""The admin's pages of offers."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue import tasks
from catalogue.models import FlowBooking, FlowRule, FlowSlot, Listing, Restaurant
from catalogue.offers import booking
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.html import address
from tests.support import builders as base

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    return base.staff()


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant with an offer at which somebody has booked."""
    made = builders.listing(builders.restaurant(slug="fiskebar", name="Fiskebar")).restaurant
    builders.rule(made)
    slot = builders.slot(made)
    booking.book_offer(slot.pk, party_size=2, customer_name="Ada", customer_email="ada@example.com", now=NOW)
    return made


def rule_form(place: Restaurant, **changes: Any) -> dict[str, Any]:
    return {
        "restaurant": str(place.pk),
        "weekdays": ["0", "1"],
        "time": "17:30",
        "until": "18:30",
        "every_minutes": "30",
        "percent": "30",
        "seats": "8",
        "party_min": "1",
        "party_max": "8",
        "applies_to": "food",
        "book_before_minutes": "30",
        "bookable_days": "",
        "terms": "",
        "active": "on",
    } | changes


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", [FlowRule, Listing, FlowSlot, FlowBooking])
def test_lists_searches_and_pages_open(staff: Client, place: Restaurant, model: Any) -> None:
    row = model.objects.get()
    code = place.listing.venue.reservations.get().code
    for kind, key, parameters in (
        ("changelist", (), {}),
        ("changelist", (), {"q": code if model is FlowBooking else "fiskebar"}),
        ("change", (row.pk,), {}),
    ):
        response = staff.get(address(model, kind, *key), parameters)
        assert response.status_code == 200
        if kind == "changelist":
            assert response.context["cl"].result_count == 1
    assert "2 of 8" in staff.get(address(FlowSlot, "changelist")).content.decode()
    assert code in staff.get(address(FlowBooking, "changelist")).content.decode()


def test_a_saved_rule_is_laid_out_by_a_worker(
    staff: Client, place: Restaurant, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as enqueued:
        response = staff.post(address(FlowRule, "add"), rule_form(place))
    assert response.status_code == 302
    assert "The slots of the next 14 days are being generated." in base.messages_of(response)
    assert [call.func for call in enqueued if hasattr(call, "func")] == [tasks.enqueue_slot_generation]
    tasks.generate_slots(restaurant=str(place.pk))
    made = FlowRule.objects.latest("pk")
    assert made.slots.count() == 2 * 2 * 3


def test_a_rule_of_a_restaurant_that_is_no_venue_of_ours_says_so(staff: Client) -> None:
    place = builders.restaurant()
    response = staff.post(address(FlowRule, "add"), rule_form(place))
    assert "No slots: this restaurant has no active listing with a venue." in base.messages_of(response)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"until": "17:00"}, "The last slot is not before the first."),
        ({"party_max": "9"}, "A party is of 1 to so many guests as the slot has seats."),
        ({"every_minutes": "1"}, "From slot to slot it is 5 to 1440 minutes."),
        ({"percent": "95"}, "flow_rule_percent_in_1_to_90"),
        ({"weekdays": []}, "This field is required."),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_a_message(
    staff: Client, place: Restaurant, changes: dict[str, Any], words: str
) -> None:
    response = staff.post(address(FlowRule, "add"), rule_form(place, **changes))
    assert response.status_code == 200
    assert words in response.content.decode()
    assert FlowRule.objects.count() == 1


@pytest.mark.exhaustive
def test_a_venue_of_another_clock_is_refused(staff: Client) -> None:
    place, venue = builders.restaurant(), base.venue(timezone="Europe/London")
    form = {"restaurant": str(place.pk), "venue": str(venue.pk), "is_active": "on"}
    response = staff.post(address(Listing, "add"), form)
    assert "The time zone of this venue is Europe/London" in response.content.decode()
    assert not Listing.objects.exists()
    venue.timezone = "Europe/Copenhagen"
    venue.save()
    assert staff.post(address(Listing, "add"), form).status_code == 302
    assert Listing.objects.get().created_at == NOW


def test_staff_withdraw_a_slot_for_good_and_its_bookings_stand(staff: Client, place: Restaurant) -> None:
    later = builders.slot(place, starts_at=NOW + timedelta(days=1))
    form = {"action": "withdraw", "_selected_action": [str(slot.pk) for slot in FlowSlot.objects.all()]}
    form["confirmed"] = "yes"
    response = staff.post(address(FlowSlot, "changelist"), form)
    assert "2 withdrawn. Existing bookings are kept." in base.messages_of(response)
    later.refresh_from_db()
    assert (later.withdrawn_at, later.is_barred) == (NOW, True)
    assert FlowBooking.objects.get().reservation.status == "confirmed"
    assert "withdrawn by staff" in staff.get(address(FlowSlot, "changelist")).content.decode()


def test_slots_and_bookings_are_not_written_by_hand(staff: Client, place: Restaurant) -> None:
    for model in (FlowSlot, FlowBooking):
        key = model.objects.values_list("pk", flat=True).get()
        assert staff.get(address(model, "add")).status_code == 403
        assert staff.post(address(model, "change", key), {"seats": "1"}).status_code == 403
        assert staff.post(address(model, "delete", key), {"post": "yes"}).status_code == 403
    assert (FlowSlot.objects.get().seats, FlowBooking.objects.get().seats) == (8, 2)
