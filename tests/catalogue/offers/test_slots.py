"""From rules to slots."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import Venue
from catalogue import offers
from catalogue.hours import open_intervals
from catalogue.models import FlowBooking, FlowRule, FlowSlot, Listing, Restaurant
from catalogue.offers import booking, demo, slot_materialization
from catalogue.serializers.offers import FlowBookingRecord
from reservations.models import Closure, Reservation, ServicePeriod, Table
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support import builders as base

pytestmark = pytest.mark.django_db

SUNDAY = date(2026, 11, 22)


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant that is open from 17:00 to 23:00."""
    made = builders.listing(builders.restaurant(hours=builders.week("17:00", "23:00"))).restaurant
    open_intervals.refresh_open_intervals(now=NOW)
    return made


def rule(place: Restaurant, **fields: Any) -> FlowRule:
    given: dict[str, Any] = {"weekdays": [6], "time": time(18), "percent": 30, **fields}
    return FlowRule.objects.create(restaurant=place, **given)


def times(day: date = SUNDAY, **which: Any) -> list[str]:
    on_sale = FlowSlot.objects.filter(date=day, withdrawn_at=None, **which).order_by("starts_at", "percent")
    return [f"{at:%H:%M}" for at in on_sale.values_list("time", flat=True)]


def booked(slot: FlowSlot, *, guests: int = 2, name: str = "ada") -> FlowBooking:
    made = booking.book_offer(
        slot.pk, party_size=guests, customer_name=name, customer_email=f"{name}@example.com", now=NOW
    )
    return FlowBooking.objects.get(pk=made.pk)


def test_a_rule_has_a_slot_at_each_step_of_its_window_for_two_weeks(place: Restaurant) -> None:
    made = rule(
        place, weekdays=[6, 0], until=time(19), every_minutes=30, seats=6, party_min=2, party_max=4, terms="Food only",
        book_before_minutes=60, bookable_days=3, applies_to="total",
    )  # fmt: skip
    assert offers.materialize_slots(now=NOW) == 12
    assert times() == ["18:00", "18:30", "19:00"]
    days = FlowSlot.objects.order_by("date").values_list("date", flat=True).distinct()
    assert list(days) == [SUNDAY + timedelta(days=ahead) for ahead in (0, 1, 7, 8)]
    first = FlowSlot.objects.earliest("starts_at")
    starts_at = datetime(2026, 11, 22, 17, tzinfo=UTC)
    assert (first.rule, first.restaurant, first.starts_at) == (made, place, starts_at)
    assert (first.percent, first.applies_to, first.terms) == (30, "total", "Food only")
    assert (first.party_min, first.party_max, first.seats, first.seats_left) == (2, 4, 6, 6)
    assert first.book_before == starts_at - timedelta(minutes=60)
    assert first.bookable_from == starts_at - timedelta(days=3)


def test_a_second_run_changes_nothing(place: Restaurant) -> None:
    rule(place, weekdays=list(range(7)), until=time(20))
    assert offers.materialize_slots(now=NOW) > 0
    before = list(FlowSlot.objects.order_by("pk").values())
    assert offers.materialize_slots(now=NOW) == 0
    assert list(FlowSlot.objects.order_by("pk").values()) == before


def test_slots_are_only_where_the_restaurant_is_open_and_its_venue_seats_guests(place: Restaurant) -> None:
    # Open from 17:00 to 23:00; seats from 17:00 to 22:00, each quarter of an hour.
    rule(place, time=time(16, 50), until=time(23, 30), every_minutes=10)
    offers.materialize_slots(now=NOW)
    assert times() == [
        "17:00",
        "17:30",
        "18:00",
        "18:30",
        "19:00",
        "19:30",
        "20:00",
        "20:30",
        "21:00",
        "21:30",
        "22:00",
    ]
    Restaurant.objects.update(hours=builders.week("19:00", "21:00"), updated_at=NOW)
    open_intervals.refresh_open_intervals(now=NOW)
    offers.materialize_slots(now=NOW)
    assert times() == ["19:00", "19:30", "20:00", "20:30"]


def test_where_hours_are_not_known_the_venues_book_decides(place: Restaurant) -> None:
    Restaurant.objects.update(hours=None, updated_at=NOW)
    open_intervals.refresh_open_intervals(now=NOW)
    rule(place, time=time(16), until=time(23), every_minutes=60)
    offers.materialize_slots(now=NOW)
    assert times() == ["17:00", "18:00", "19:00", "20:00", "21:00", "22:00"]


def test_hours_count_before_their_spans_are_worked_out(place: Restaurant) -> None:
    Restaurant.objects.update(hours=builders.week("19:00", "21:00"), updated_at=NOW)
    rule(place, time=time(17), until=time(22), every_minutes=60)
    offers.materialize_slots(now=NOW)
    assert times() == ["19:00", "20:00"]


def test_a_closed_day_withdraws_its_slots_and_an_open_one_brings_them_back(place: Restaurant) -> None:
    rule(place)
    offers.materialize_slots(now=NOW)
    slot = FlowSlot.objects.get(date=SUNDAY)
    closure = Closure.objects.create(venue=place.listing.venue, first_date=SUNDAY, last_date=SUNDAY)
    assert offers.materialize_slots(now=NOW) == 1
    slot.refresh_from_db()
    assert slot.withdrawn_at == NOW
    closure.delete()
    assert offers.materialize_slots(now=NOW) == 1
    slot.refresh_from_db()
    assert slot.withdrawn_at is None


def test_what_staff_withdrew_no_rule_brings_back(place: Restaurant) -> None:
    made = rule(place)
    offers.materialize_slots(now=NOW)
    slot = FlowSlot.objects.get(date=SUNDAY)
    assert [
        slot_materialization.withdraw_slots([slot.pk], now=NOW),
        slot_materialization.withdraw_slots([slot.pk], now=NOW),
    ] == [
        1,
        0,
    ]
    FlowRule.objects.filter(pk=made.pk).update(percent=50)
    assert offers.materialize_slots(now=NOW) == 1
    slot.refresh_from_db()
    assert (slot.withdrawn_at, slot.percent) == (NOW, 30)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "reason", ["inactive rule", "no rule", "inactive listing", "no tables", "closed", "time zone"]
)
def test_what_cannot_be_had_any_more_is_withdrawn(place: Restaurant, reason: str) -> None:
    made = rule(place)
    offers.materialize_slots(now=NOW)
    if reason == "inactive rule":
        FlowRule.objects.update(active=False)
    elif reason == "no rule":
        made.delete()
    elif reason == "inactive listing":
        Listing.objects.update(is_active=False)
    elif reason == "no tables":
        Table.objects.update(is_active=False)
    elif reason == "closed":
        Restaurant.objects.update(status="permanently_closed", updated_at=NOW)
    else:
        place.listing.venue.timezone = "Europe/London"
        place.listing.venue.save()
    assert offers.materialize_slots(now=NOW) == 2
    assert not FlowSlot.objects.filter(withdrawn_at=None).exists()
    assert offers.materialize_slots(now=NOW) == 0


def test_a_restaurant_that_left_its_venue_has_its_slots_withdrawn(place: Restaurant) -> None:
    rule(place)
    offers.materialize_slots(now=NOW)
    Listing.objects.all().delete()
    assert (offers.materialize_slots(now=NOW), offers.materialize_slots(now=NOW)) == (2, 0)
    assert not FlowSlot.objects.filter(withdrawn_at=None).exists()


def test_changed_rule_changes_unbooked_slots(place: Restaurant) -> None:
    rule(place)
    offers.materialize_slots(now=NOW)
    first, second = FlowSlot.objects.order_by("starts_at")
    booked(first)
    FlowRule.objects.update(percent=50, terms="New", seats=10, party_max=4)
    assert offers.materialize_slots(now=NOW) == 2
    first.refresh_from_db()
    second.refresh_from_db()
    # What was promised is kept; only the seats follow.
    assert (first.percent, first.terms, first.party_max, first.seats, first.seats_left) == (30, "", 8, 10, 8)
    assert (second.percent, second.terms, second.party_max, second.seats, second.seats_left) == (50, "New", 4, 10, 10)
    assert offers.materialize_slots(now=NOW) == 0


def test_fewer_seats_than_are_booked_leave_none_and_take_none_away(place: Restaurant) -> None:
    base.table(place.listing.venue, "T2")
    rule(place, weekdays=[6])
    offers.materialize_slots(now=NOW)
    slot = FlowSlot.objects.get(date=SUNDAY)
    booked(slot, guests=4)
    booked(slot, guests=2, name="grace")
    FlowRule.objects.update(seats=4, party_max=4)
    offers.materialize_slots(now=NOW)
    slot.refresh_from_db()
    assert (slot.seats, slot.seats_left, Reservation.objects.filter(status="confirmed").count()) == (4, 0, 2)
    FlowRule.objects.update(seats=9)
    offers.materialize_slots(now=NOW)
    slot.refresh_from_db()
    assert (slot.seats, slot.seats_left) == (9, 3)


def test_a_booked_slot_of_a_rule_that_ended_is_sold_no_further_and_its_booking_stands(place: Restaurant) -> None:
    rule(place)
    offers.materialize_slots(now=NOW)
    slot = FlowSlot.objects.get(date=SUNDAY)
    made = booked(slot)
    FlowRule.objects.all().delete()
    offers.materialize_slots(now=NOW)
    with pytest.raises(booking.OfferExpired):
        booked(slot, name="grace")
    shown = FlowBookingRecord(FlowBooking.objects.get(pk=made.pk)).data
    assert (shown["status"], shown["percent"]) == ("confirmed", 30)


def test_parties_that_wait_for_the_staffs_word_are_not_offered_a_slot(place: Restaurant) -> None:
    venue = place.listing.venue
    venue.auto_confirm_max_party = 4
    venue.save()
    rule(place, party_max=8)
    rule(place, time=time(20), party_min=5, party_max=8)
    offers.materialize_slots(now=NOW)
    assert times() == ["18:00"]
    assert FlowSlot.objects.get(date=SUNDAY).party_max == 4


@pytest.mark.parametrize(
    ("now", "day", "expected"),
    [
        # The clocks go from 02:00 to 03:00, and from 03:00 back to 02:00.
        (datetime(2027, 3, 20, 12, tzinfo=UTC), date(2027, 3, 28), ["01:30", "03:00", "03:30"]),
        (datetime(2026, 10, 20, 12, tzinfo=UTC), date(2026, 10, 25), ["01:30", "02:00", "02:30", "03:00", "03:30"]),
    ],
)
def test_a_time_that_the_clocks_skip_is_no_slot_and_one_they_show_twice_is_one(
    place: Restaurant, now: datetime, day: date, expected: list[str]
) -> None:
    ServicePeriod.objects.update(first_seating=time(0), last_seating=time(5))
    Restaurant.objects.update(hours=None, updated_at=NOW)
    open_intervals.refresh_open_intervals(now=now)
    rule(place, time=time(1, 30), until=time(3, 30))
    offers.materialize_slots(now=now)
    assert times(day) == expected
    twice = FlowSlot.objects.filter(date=day, time=time(2, 30)).values_list("starts_at", flat=True)
    assert list(twice) in ([], [datetime(2026, 10, 25, 0, 30, tzinfo=UTC)])


def test_unbooked_slots_are_deleted_after_thirty_days(place: Restaurant) -> None:
    rule(place)
    offers.materialize_slots(now=NOW)
    first, second = FlowSlot.objects.order_by("starts_at")
    booked(first)
    offers.materialize_slots(now=NOW + timedelta(days=40))
    left = set(FlowSlot.objects.values_list("pk", flat=True))
    assert first.pk in left
    assert second.pk not in left


def test_slots_are_generated_only_for_the_enqueued_restaurants(place: Restaurant) -> None:
    other = builders.listing(builders.restaurant()).restaurant
    rule(place)
    rule(other)
    assert offers.materialize_slots(now=NOW, restaurants=[other.pk]) == 2
    assert set(FlowSlot.objects.values_list("restaurant", flat=True)) == {other.pk}


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_several_that_lay_out_at_once_make_each_slot_once() -> None:
    for _ in range(5):
        rule(builders.listing(builders.restaurant()).restaurant, weekdays=list(range(7)), until=time(20))

    def run(_: int) -> int:
        try:
            return offers.materialize_slots(now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        changed = list(threads.map(run, range(4)))
    # Five a day; of today two are still to come, and of the 14th day two are near enough.
    assert (sum(changed), FlowSlot.objects.count()) == (5 * 69, 5 * 69)


@pytest.mark.django_db(transaction=True)
def test_of_two_that_release_at_once_one_gives_the_seats_back() -> None:
    place = builders.listing(builders.restaurant()).restaurant
    slot = builders.slot(place)
    booked(slot)
    Reservation.objects.update(status="cancelled", cancelled_at=NOW)

    def run(_: int) -> int:
        try:
            return offers.release_cancelled_bookings(now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(run, range(4))) == 1
    slot.refresh_from_db()
    assert slot.seats_left == 8


# The demo
@pytest.mark.exhaustive
def test_demo_offers_are_bookable_at_the_popular_restaurants() -> None:
    for number in range(4):
        builders.restaurant(hours=builders.week("11:00", "23:30"), review_count=number, slug=f"demo-{number}")
    builders.restaurant(review_count=99)
    listings, rules, slots = demo.create_offers(per_market=2, now=NOW)
    assert sorted(Listing.objects.values_list("restaurant__slug", flat=True)) == ["demo-2", "demo-3"]
    assert (listings, rules, slots) == (2, FlowRule.objects.count(), FlowSlot.objects.count())
    assert slots > 0
    for number, slot in enumerate(FlowSlot.objects.order_by("pk")[:20]):
        assert booked(slot, name=f"guest{number}").reservation.status == "confirmed"
    before = list(FlowRule.objects.order_by("restaurant__slug", "pk").values_list("time", "percent", "seats", "terms"))
    assert demo.create_offers(per_market=2, now=NOW) == (0, 0, 0)
    FlowBooking.objects.all().delete()
    Reservation.objects.all().delete()
    Listing.objects.all().delete()
    FlowRule.objects.all().delete()
    Table.objects.all().delete()
    Venue.objects.all().delete()
    demo.create_offers(per_market=2, now=NOW)
    again = FlowRule.objects.order_by("restaurant__slug", "pk").values_list("time", "percent", "seats", "terms")
    assert list(again) == before


def test_a_clock_that_was_weeks_ahead_changes_no_offer_and_no_seats_after_it_is_right(place: Restaurant) -> None:
    rule(place, until=time(19), every_minutes=30)
    offers.materialize_slots(now=NOW)
    made = booked(FlowSlot.objects.earliest("starts_at"))
    before = list(FlowSlot.objects.order_by("starts_at").values("starts_at", "seats", "seats_left", "withdrawn_at"))
    assert [slot["seats"] - slot["seats_left"] for slot in before] == [2, 0, 0, 0, 0, 0]
    for now in (NOW + timedelta(days=40), NOW):
        open_intervals.refresh_open_intervals(now=now)
        offers.materialize_slots(now=now)
        slot_materialization.release_cancelled_bookings(now=now)
    upcoming = FlowSlot.objects.filter(starts_at__lt=NOW + timedelta(days=14)).order_by("starts_at")
    assert list(upcoming.values("starts_at", "seats", "seats_left", "withdrawn_at")) == before
    assert upcoming[0] == made.slot
