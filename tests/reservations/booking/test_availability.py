"""When a venue takes guests, and what it has room for, by its wall clock."""

from datetime import UTC, date, datetime, time

import pytest

from accounts.models import Venue
from reservations.booking.availability import DayAvailability, DaySlots
from reservations.models import Closure, Seating
from tests.support import builders
from tests.support.query_counts import costing

SATURDAY = date(2026, 11, 28)
SUNDAY = date(2026, 11, 29)
MORNING = datetime(2026, 11, 28, 8, 0, tzinfo=UTC)


def times(venue: Venue, day: date) -> list[str]:
    """The slots of a day at which guests are seated."""
    return [f"{slot.time:%H:%M}" for slot in DaySlots.load(venue, day).open_slots()]


def closed(venue: Venue, first: date, last: date, reason: str = "") -> Closure:
    """Days on which the venue takes nobody."""
    return Closure.objects.create(venue=venue, first_date=first, last_date=last, reason=reason)


# The slots
def test_a_period_seats_guests_on_its_weekdays_from_the_first_to_the_last_seating(venue: Venue) -> None:
    builders.period(venue, first="18:00", last="19:00", weekdays=[5], slot_min=30)
    assert times(venue, SATURDAY) == ["18:00", "18:30", "19:00"]
    assert times(venue, SUNDAY) == []


def test_a_last_seating_between_two_slots_is_no_slot(venue: Venue) -> None:
    builders.period(venue, first="18:00", last="19:05", slot_min=25)
    assert times(venue, SATURDAY) == ["18:00", "18:25", "18:50"]


def test_slots_of_a_day_are_in_order_and_of_one_venue(venue: Venue, other_venue: Venue) -> None:
    builders.period(venue, "Dinner", first="19:00", last="19:15")
    builders.period(venue, "Lunch", first="12:00", last="12:15")
    builders.period(other_venue, first="15:00", last="15:00")
    assert times(venue, SATURDAY) == ["12:00", "12:15", "19:00", "19:15"]


def test_of_two_periods_at_one_time_the_one_that_began_on_the_day_counts_then_the_first(venue: Venue) -> None:
    builders.period(venue, "Late", first="23:30", last="00:30", weekdays=[4], slot_min=30, turn_4_min=30)
    builders.period(venue, "Small hours", first="00:15", last="01:00", weekdays=[5], slot_min=15, turn_4_min=60)
    builders.period(venue, "Earlier", first="00:00", last="00:45", weekdays=[5], slot_min=45, turn_4_min=45)
    found = {f"{slot.time:%H:%M}": slot.period.name for slot in DaySlots.load(venue, SATURDAY).open_slots()}
    assert found == {
        "00:00": "Earlier",
        "00:15": "Small hours",
        "00:30": "Small hours",
        "00:45": "Earlier",
        "01:00": "Small hours",
    }


def test_after_midnight_a_slot_belongs_to_the_evening_before(venue: Venue) -> None:
    builders.period(venue, first="23:00", last="00:30", weekdays=[5], slot_min=30)
    assert times(venue, SATURDAY) == ["23:00", "23:30"]
    assert times(venue, SUNDAY) == ["00:00", "00:30"]
    assert [slot.service_date for slot in DaySlots.load(venue, SUNDAY).slots] == [SATURDAY, SATURDAY]


def test_the_closure_that_counts_is_that_of_the_periods_own_day(venue: Venue) -> None:
    builders.period(venue, first="23:30", last="00:30", slot_min=30)
    closed(venue, SATURDAY, SATURDAY, "a wedding")
    assert times(venue, SATURDAY) == ["00:00", "00:30"]
    assert times(venue, SUNDAY) == ["23:30"]
    hours = DaySlots.load(venue, SUNDAY)
    assert hours.find(time(0, 30)) is None
    assert hours.closed_message(time(0, 30)) == "No guests are seated on 2026-11-28: a wedding."
    # At that time nobody is seated on any day.
    assert hours.closed_message(time(12, 0)) == "No guests are seated at 12:00 on 2026-11-29."


def test_the_days_of_a_closure_are_closed_from_the_first_to_the_last(venue: Venue, other_venue: Venue) -> None:
    builders.period(venue, first="18:00", last="18:00")
    closed(venue, SATURDAY, SUNDAY)
    closed(other_venue, date(2026, 1, 1), date(2027, 1, 1))
    assert [bool(times(venue, date(2026, 11, day))) for day in (27, 28, 29, 30)] == [True, False, False, True]
    assert (
        DaySlots.load(venue, SUNDAY).closed_message(time(12, 0))
        == "No guests are seated on 2026-11-29: the venue is closed."
    )


def test_a_period_of_an_open_evening_goes_on_into_a_day_that_another_one_closes(venue: Venue) -> None:
    builders.period(venue, "Late", first="23:30", last="00:30", slot_min=30, weekdays=[4])
    builders.period(venue, "Early", first="00:30", last="01:00", slot_min=30, weekdays=[5])
    closed(venue, SATURDAY, SATURDAY)
    assert times(venue, SATURDAY) == ["00:00", "00:30"]


# The clocks
def test_a_slot_that_the_clocks_skip_does_not_exist(venue: Venue) -> None:
    builders.period(venue, first="01:30", last="03:30", slot_min=30)
    hours = DaySlots.load(venue, date(2027, 3, 28))
    assert [(f"{slot.time:%H:%M}", slot.starts_at) for slot in hours.slots] == [
        ("01:30", datetime(2027, 3, 28, 0, 30, tzinfo=UTC)),
        ("03:00", datetime(2027, 3, 28, 1, 0, tzinfo=UTC)),
        ("03:30", datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),
    ]


def test_a_slot_that_the_clocks_show_twice_is_the_first_of_the_two(venue: Venue) -> None:
    builders.period(venue, first="01:30", last="03:00", slot_min=30)
    hours = DaySlots.load(venue, date(2027, 10, 31))
    assert [(f"{slot.time:%H:%M}", slot.starts_at) for slot in hours.slots] == [
        ("01:30", datetime(2027, 10, 30, 23, 30, tzinfo=UTC)),
        ("02:00", datetime(2027, 10, 31, 0, 0, tzinfo=UTC)),
        ("02:30", datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        ("03:00", datetime(2027, 10, 31, 2, 0, tzinfo=UTC)),
    ]


def test_an_overnight_period_crosses_a_change_of_the_clocks(venue: Venue) -> None:
    builders.period(venue, first="23:00", last="04:00", slot_min=60, weekdays=[5])
    assert times(venue, date(2027, 3, 28)) == ["00:00", "01:00", "03:00", "04:00"]
    assert times(venue, date(2027, 10, 31)) == ["00:00", "01:00", "02:00", "03:00", "04:00"]


def test_a_day_that_a_venue_never_had_has_no_slots() -> None:
    samoa = Venue(name="Apia", timezone="Pacific/Apia")
    hours = DaySlots(venue=samoa, day=date(2011, 12, 30), slots=())
    assert hours.closed_message(time(12, 0)) == "No guests are seated at 12:00 on 2011-12-30."


# Room
def room_by_time(venue: Venue, party_size: int, *, now: datetime = MORNING) -> dict[str, bool]:
    """The slots of Saturday and whether each has room."""
    day = DayAvailability.load(venue, SATURDAY, now=now)
    return {f"{slot.time:%H:%M}": day.has_room(slot, party_size) for slot in day.upcoming_slots()}


def test_a_slot_has_room_where_a_table_is_free_for_the_whole_stay(venue: Venue) -> None:
    builders.table(venue, seats_max=4)
    builders.period(venue, first="18:00", last="20:00", slot_min=30, turn_2_min=60)
    builders.reservation(venue, starts_at=datetime(2026, 11, 28, 18, 0, tzinfo=UTC), party_size=2, tables=["T1"])
    # It is taken from 19:00 to 20:00.
    assert room_by_time(venue, 2) == {"18:00": True, "18:30": False, "19:00": False, "19:30": False, "20:00": True}
    assert room_by_time(venue, 5) == dict.fromkeys(room_by_time(venue, 2), False)


def test_a_slot_has_the_start_and_end_of_the_stay(venue: Venue) -> None:
    builders.table(venue, seats_max=8)
    builders.period(venue, first="18:00", last="18:00", turn_2_min=15, turn_4_min=30, turn_6_min=45, turn_more_min=60)
    for party_size, minutes in ((1, 15), (2, 15), (3, 30), (4, 30), (5, 45), (6, 45), (7, 0), (8, 0)):
        (slot,) = DayAvailability.load(venue, SATURDAY, now=MORNING).upcoming_slots()
        assert slot.starts_at == datetime(2026, 11, 28, 17, 0, tzinfo=UTC)
        assert slot.ends_at(party_size) == datetime(2026, 11, 28, 17 + (minutes == 0), minutes, tzinfo=UTC)


def test_a_slot_that_has_begun_is_not_offered(venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue, first="18:00", last="19:00", slot_min=30)
    assert list(room_by_time(venue, 2, now=datetime(2026, 11, 28, 17, 30, tzinfo=UTC))) == ["19:00"]


def test_tables_that_are_not_given_out_and_combinations_with_one_are_no_room(venue: Venue) -> None:
    tables = [builders.table(venue, f"T{number}", seats_max=2) for number in (1, 2)]
    builders.combination(venue, *tables, seats_min=3, seats_max=4)
    builders.combination(venue, seats_min=5, seats_max=9, name="of no tables")
    builders.period(venue, first="18:00", last="18:00")
    assert [room_by_time(venue, size)["18:00"] for size in (1, 2, 3, 4, 5)] == [True, True, True, True, False]
    tables[1].is_active = False
    tables[1].save()
    assert [room_by_time(venue, size)["18:00"] for size in (1, 2, 3, 4, 5)] == [True, True, False, False, False]


def test_a_combination_has_room_where_every_table_is_free(venue: Venue) -> None:
    tables = [builders.table(venue, f"T{number}", seats_max=2) for number in (1, 2)]
    builders.combination(venue, *tables, seats_min=3, seats_max=4)
    builders.period(venue, first="18:00", last="18:00")
    builders.reservation(venue, starts_at=datetime(2026, 11, 28, 17, 0, tzinfo=UTC), party_size=2, tables=["T2"])
    assert room_by_time(venue, 2) == {"18:00": True}
    assert room_by_time(venue, 4) == {"18:00": False}


def test_a_slot_takes_as_many_guests_as_its_pacing_says(venue: Venue) -> None:
    for number in range(4):
        builders.table(venue, f"T{number}", seats_max=4)
    builders.period(venue, first="18:00", last="18:15", pacing_covers=6)
    evening = datetime(2026, 11, 28, 17, 0, tzinfo=UTC)
    builders.reservation(venue, starts_at=evening, party_size=4, status="confirmed")
    builders.reservation(venue, starts_at=evening, party_size=4, status="cancelled")
    builders.reservation(venue, starts_at=evening, party_size=4)
    assert room_by_time(venue, 2) == {"18:00": True, "18:15": True}
    assert room_by_time(venue, 3) == {"18:00": False, "18:15": True}
    # One that waits with a table in its hand counts.
    builders.reservation(venue, starts_at=evening, party_size=2, tables=["T3"])
    assert room_by_time(venue, 1) == {"18:00": False, "18:15": True}


def test_the_day_of_another_venue_takes_no_room(venue: Venue, other_venue: Venue) -> None:
    for each in (venue, other_venue):
        builders.table(each)
        builders.period(each, first="18:00", last="18:00", pacing_covers=4)
    builders.reservation(other_venue, starts_at=datetime(2026, 11, 28, 17, 0, tzinfo=UTC), tables=["T1"])
    assert room_by_time(venue, 4) == {"18:00": True}


@pytest.mark.exhaustive
def test_a_day_costs_the_same_for_few_and_for_many(venue: Venue) -> None:
    for number in range(12):
        builders.table(venue, f"T{number}")
    builders.combination(venue, *[builders.table(venue, name) for name in ("A", "B")], seats_min=5, seats_max=8)
    builders.period(venue, "Lunch", first="12:00", last="14:00", pacing_covers=40)
    for number in range(12):
        if number in (1, 11):
            # The periods, the closures, the seatings, the covers, the tables, the combinations.
            with costing(6):
                DayAvailability.load(venue, SATURDAY, now=MORNING).upcoming_slots()
        builders.reservation(venue, starts_at=datetime(2026, 11, 28, 11, 0, tzinfo=UTC), tables=[f"T{number}"])
    builders.period(venue, "Dinner", first="18:00", last="22:00")
    with costing(6):
        day = DayAvailability.load(venue, SATURDAY, now=MORNING)
        day.alternatives(time(13, 0), 4)


# Alternatives
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("17:00", ["18:00", "18:30", "19:00", "20:30"]),
        ("19:30", ["18:00", "18:30", "19:00", "20:30"]),
        ("19:00", ["18:00", "18:30", "20:30", "21:00"]),
        ("23:59", ["20:30", "21:00", "21:30", "22:00"]),
        ("00:00", ["18:00", "18:30", "19:00", "20:30"]),
    ],
)
def test_the_nearest_times_with_room_are_named_soonest_first(venue: Venue, at: str, expected: list[str]) -> None:
    builders.table(venue)
    builders.period(venue, slot_min=30, turn_4_min=30)
    for hour, minute in ((18, 30), (19, 0)):
        starts_at = datetime(2026, 11, 28, hour, minute, tzinfo=UTC)
        builders.reservation(venue, starts_at=starts_at, tables=["T1"])
    day = DayAvailability.load(venue, SATURDAY, now=MORNING)
    assert day.alternatives(time.fromisoformat(at), 4) == expected


def test_a_party_that_the_staff_confirm_gets_no_alternatives(venue: Venue) -> None:
    builders.table(venue, seats_max=12)
    builders.period(venue, first="18:00", last="18:30")
    day = DayAvailability.load(venue, SATURDAY, now=MORNING)
    assert day.alternatives(time(12, 0), 8) == ["18:00", "18:15", "18:30"]
    assert day.alternatives(time(12, 0), 9) == []


def test_a_day_without_slots_reads_no_tables(venue: Venue) -> None:
    builders.table(venue)
    with costing(2):
        assert DayAvailability.load(venue, SATURDAY, now=MORNING).upcoming_slots() == []
    assert not Seating.objects.exists()
