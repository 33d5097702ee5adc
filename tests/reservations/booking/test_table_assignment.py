"""Tables are given to one party at a time, the best that fits first."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.models import Venue
from reservations.booking import commands, table_assignment
from reservations.booking.availability import DayAvailability, SlotUnavailable
from reservations.models import Reservation, Seating, Table
from tests.reservations import consistency
from tests.support import builders
from tests.support.query_counts import costing

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SATURDAY = date(2026, 11, 28)
EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)


def book(venue: Venue, party_size: int = 4, *, at: str = "19:30", **wanted: Any) -> Reservation:
    """A reservation by a guest, on a Saturday."""
    guest: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
    return commands.book(
        venue,
        now=NOON,
        actor="system",
        day=SATURDAY,
        at=time.fromisoformat(at),
        party_size=party_size,
        **(guest | wanted),
    )


def at_once(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the jobs return, each on a thread and a connection of its own; they begin together."""
    start = Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=20)
            return job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(run, jobs))


# The best fit
def test_tables_are_assigned_by_size_then_priority_then_name(venue: Venue) -> None:
    builders.table(venue, "big", seats_max=8)
    builders.table(venue, "b", seats_max=4, priority=1)
    builders.table(venue, "B", seats_max=4, priority=1)
    builders.table(venue, "z", seats_max=4, priority=0)
    builders.table(venue, "small", seats_max=2)
    builders.table(venue, "idle", seats_max=4, is_active=False)
    builders.table(venue, "from six", seats_min=6, seats_max=6)
    builders.period(venue)
    assert [book(venue, 3).tables for _ in range(4)] == [["z"], ["B"], ["b"], ["big"]]
    with pytest.raises(SlotUnavailable):
        book(venue, 3)
    assert consistency.problems() == []


def test_combinations_are_assigned_if_no_single_table_fits(venue: Venue) -> None:
    t1, t2, t3 = (builders.table(venue, f"T{number}", seats_max=4) for number in (1, 2, 3))
    idle = builders.table(venue, "T4", seats_max=4, is_active=False)
    builders.combination(venue, t3, t2, seats_min=5, seats_max=8, priority=1)
    builders.combination(venue, t2, t1, seats_min=5, seats_max=8, priority=0)
    builders.combination(venue, t1, idle, seats_min=5, seats_max=7)
    builders.combination(venue, name="of none", seats_min=5, seats_max=7)
    builders.combination(venue, t1, t3, seats_min=5, seats_max=6, is_active=False)
    builders.period(venue)
    # A table comes before tables, and tables are named in the order of their names.
    assert book(venue, 4).tables == ["T1"]
    assert book(venue, 6).tables == ["T2", "T3"]
    with pytest.raises(SlotUnavailable):
        book(venue, 2)
    assert consistency.problems() == []


def test_a_combination_with_one_remaining_table_is_not_assigned(venue: Venue) -> None:
    one, other = (builders.table(venue, name) for name in ("Z1", "Z2"))
    builders.combination(venue, one, other, seats_min=7, seats_max=8)
    builders.period(venue)
    other.delete()
    day = DayAvailability.load(venue, SATURDAY, now=NOON)
    assert not any(day.has_room(slot, 8) for slot in day.upcoming_slots())
    with pytest.raises(SlotUnavailable):
        book(venue, 8)
    assert not Reservation.objects.exists()


def test_a_table_alone_comes_before_tables_that_would_leave_fewer_seats_empty(venue: Venue) -> None:
    builders.combination(
        venue, *[builders.table(venue, name, seats_max=2) for name in ("A", "B")], seats_min=3, seats_max=4
    )
    builders.table(venue, "big", seats_max=8)
    builders.period(venue)
    assert [book(venue, 4).tables for _ in range(2)] == [["big"], ["A", "B"]]


def test_a_table_is_free_from_the_minute_at_which_the_last_party_leaves(venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue, turn_4_min=60)
    assert [book(venue, at=at).tables for at in ("19:00", "20:00", "18:00")] == [["T1"]] * 3
    for at in ("18:15", "19:45", "20:45"):
        with pytest.raises(SlotUnavailable):
            book(venue, at=at)


def test_tables_of_another_venue_are_not_assigned(venue: Venue, other_venue: Venue) -> None:
    builders.table(venue, "T1")
    builders.table(other_venue, "T1")
    builders.period(venue)
    book(venue)
    with pytest.raises(SlotUnavailable):
        book(venue)


def test_no_table_is_taken_twice_is_a_fact_of_the_database(venue: Venue) -> None:
    table = builders.table(venue)
    builders.period(venue)
    first = book(venue)
    second = builders.reservation(venue, starts_at=EVENING)
    with pytest.raises(IntegrityError, match="seating_no_table_overlap"), transaction.atomic():
        Seating.objects.create(
            reservation=second, table=table, during=(EVENING + timedelta(minutes=104), EVENING + timedelta(hours=9))
        )
    Seating.objects.create(
        reservation=second, table=table, during=(EVENING + timedelta(minutes=105), EVENING + timedelta(hours=9))
    )
    assert first.tables == ["T1"]


# What the verbs promise
def test_an_assignment_costs_a_statement_its_savepoint_and_the_end_of_expired_holds(venue: Venue) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue)
    # Expired holds; SAVEPOINT, the statement, RELEASE; the names on the row.
    with costing(5):
        assert table_assignment.assign_best(reservation, store=True, now=NOON) == ["T1"]
    reservation.refresh_from_db()
    assert reservation.tables == ["T1"]


def test_where_there_is_no_room_nothing_is_changed(venue: Venue) -> None:
    builders.table(venue, seats_max=2)
    reservation = builders.reservation(venue, party_size=3)
    assert table_assignment.assign_best(reservation, store=True, now=NOON) is None
    assert (reservation.tables, Seating.objects.count()) == ([], 0)


def test_named_tables_are_given_all_or_none(venue: Venue, other_venue: Venue) -> None:
    builders.table(venue, "T1", seats_max=2)
    builders.table(venue, "T2", seats_max=2, is_active=False)
    builders.table(other_venue, "T3")
    first, second = (builders.reservation(venue, party_size=9) for _ in range(2))
    assert table_assignment.assign_named(first, ["T2"], now=NOON) == ["T2"]
    with pytest.raises(table_assignment.TableTaken) as refused:
        table_assignment.assign_named(second, ["T1", "T2"], now=NOON)
    assert (refused.value.code, refused.value.param, refused.value.message) == (
        "slot_unavailable",
        "tables",
        "Already booked at that time: T2.",
    )
    with pytest.raises(table_assignment.UnknownTable) as unknown:
        table_assignment.assign_named(second, ["T1", "T3"], now=NOON)
    assert (unknown.value.param, unknown.value.message) == ("tables", "The venue has no table T3.")
    assert second.tables == []
    assert Seating.objects.get().reservation == first


def test_tables_are_taken_back(venue: Venue) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, tables=["T1"])
    assert table_assignment.release(reservation)
    assert not table_assignment.release(reservation)
    reservation.refresh_from_db()
    assert (reservation.tables, Seating.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("after_min", "ends_min"), [(0, None), (-5, None), (1, 1), (104, 104), (105, 105), (200, 105)]
)
def test_who_leaves_early_leaves_the_table_to_others(venue: Venue, after_min: int, ends_min: int | None) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, starts_at=EVENING, tables=["T1"])
    released = table_assignment.end_early(reservation, now=EVENING + timedelta(minutes=after_min))
    assert released is (ends_min is None or after_min < 105)
    found = [seating.during.upper for seating in Seating.objects.all()]
    assert found == ([] if ends_min is None else [EVENING + timedelta(minutes=ends_min)])
    reservation.refresh_from_db()
    assert reservation.tables == ([] if ends_min is None else ["T1"])


def test_a_rival_that_has_taken_half_a_combination_leaves_the_other_half_free(venue: Venue) -> None:
    t1, t2, _t3 = (builders.table(venue, f"T{number}", seats_max=2) for number in (1, 2, 3))
    builders.combination(venue, t1, t2, seats_min=3, seats_max=4)
    builders.reservation(venue, starts_at=EVENING, party_size=2, tables=["T2"])
    reservation = builders.reservation(venue, starts_at=EVENING, party_size=4)
    assert table_assignment.assign_best(reservation, store=True, now=NOON) is None
    assert Seating.objects.count() == 1


# Rivals
@pytest.mark.django_db(transaction=True)
def test_of_200_concurrent_bookings_of_the_last_table_one_succeeds() -> None:
    venue = builders.venue()
    builders.table(venue)
    builders.period(venue)

    def want() -> list[bool]:
        return [gets() for _ in range(25)]

    def gets() -> bool:
        try:
            return book(venue).tables == ["T1"]
        except SlotUnavailable:
            return False

    assert sum(sum(got) for got in at_once([want] * 8)) == 1
    assert Reservation.objects.get().tables == ["T1"]
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_sixteen_guests_at_once_get_sixteen_tables() -> None:
    venue = builders.venue()
    for number in range(16):
        builders.table(venue, f"T{number:02}")
    builders.period(venue)
    found = at_once([lambda: book(venue).tables] * 16)
    assert sorted(found) == [[f"T{number:02}"] for number in range(16)]
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_combinations_that_share_tables_are_never_given_by_halves() -> None:
    venue = builders.venue()
    tables = [builders.table(venue, f"T{number}", seats_max=2) for number in range(6)]
    for number in range(6):
        builders.combination(venue, tables[number], tables[(number + 1) % 6], seats_min=3, seats_max=4)
    builders.period(venue)

    def want() -> int:
        try:
            return len(book(venue).tables)
        except SlotUnavailable:
            return 0

    found = at_once([want] * 8)
    assert set(found) <= {0, 2}
    assert Seating.objects.count() == sum(found)
    assert sum(found) >= 4
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_pacing_is_exact_for_concurrent_bookings() -> None:
    venue = builders.venue()
    for number in range(16):
        builders.table(venue, f"T{number:02}")
    builders.period(venue, pacing_covers=10)

    def want() -> int:
        try:
            return book(venue, 3).party_size
        except SlotUnavailable:
            return 0

    assert sum(at_once([want] * 12)) == 9
    assert book(venue, 1).party_size == 1
    with pytest.raises(SlotUnavailable) as refused:
        book(venue, 1)
    assert refused.value.extra == {"alternatives": ["19:00", "19:15", "19:45", "20:00"]}
    assert consistency.problems() == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_parties_that_are_to_change_places_at_once_stay_where_they_are() -> None:
    venue = builders.venue()
    for name in ("T1", "T2"):
        builders.table(venue, name)
    builders.period(venue)
    first, second = book(venue), book(venue)

    def swap(reservation: Reservation, name: str) -> str:
        try:
            commands.update(reservation, tables=[name], now=NOON, actor="staff:s@example.com")
        except table_assignment.TableTaken as refused:
            return refused.message
        return "changed"

    # They may wait for each other, until the database ends one.
    found = at_once([lambda: swap(first, "T2"), lambda: swap(second, "T1")])
    assert found == ["Already booked at that time: T2.", "Already booked at that time: T1."]
    assert [list(row.tables) for row in Reservation.objects.order_by("id")] == [["T1"], ["T2"]]
    assert consistency.problems() == []


# The model
SEATS = st.tuples(st.integers(1, 4), st.integers(0, 4)).map(lambda seats: (seats[0], seats[0] + seats[1]))
TABLES = st.lists(st.tuples(SEATS, st.integers(0, 1), st.booleans()), min_size=1, max_size=5)
COMBINATIONS = st.lists(
    st.tuples(SEATS, st.integers(0, 1), st.sets(st.integers(0, 4), min_size=1, max_size=3)), max_size=3
)
WISHES = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 9)), min_size=1, max_size=12)
TURN = timedelta(minutes=45)


class Book:
    """What the engine should do, done by trying everything."""

    def __init__(self, places: Sequence[tuple[Any, frozenset[str]]], pacing_covers: int | None) -> None:
        self.places = sorted(places, key=lambda place: place[0])
        self.pacing_covers = pacing_covers
        self.taken: list[tuple[str, datetime]] = []
        self.covers: dict[datetime, int] = {}

    def best(self, moment: datetime, party_size: int) -> list[str] | None:
        """The names of the tables that it should get."""
        if self.pacing_covers is not None and self.covers.get(moment, 0) + party_size > self.pacing_covers:
            return None
        for (_, _, _, _, (seats_min, seats_max)), names in self.places:
            is_free = all(
                abs(start - moment) >= TURN for name, start in self.taken for wanted in names if name == wanted
            )
            if seats_min <= party_size <= seats_max and is_free:
                return sorted(names)
        return None


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_assignment_equals_an_exhaustive_model() -> None:
    @settings(deadline=None, max_examples=20)
    @given(TABLES, COMBINATIONS, WISHES, st.one_of(st.none(), st.integers(1, 12)))
    def agree(
        tables: list[Any], combinations: list[Any], wishes: list[tuple[int, int]], pacing_covers: int | None
    ) -> None:
        with transaction.atomic():
            compare(tables, combinations, wishes, pacing_covers)
            transaction.set_rollback(True)

    agree()


def compare(
    tables: list[Any], combinations: list[Any], wishes: list[tuple[int, int]], pacing_covers: int | None
) -> None:
    """Book each wish with the engine and with the model, and find the same tables and the same room."""
    venue = builders.venue(auto_confirm_max_party=500)
    turns: dict[str, Any] = dict.fromkeys(("turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"), 45)
    builders.period(venue, first="18:00", last="20:00", pacing_covers=pacing_covers, **turns)
    places: list[tuple[Any, frozenset[str]]] = []
    made: list[Table] = []
    for number, ((seats_min, seats_max), priority, is_active) in enumerate(tables):
        name = f"{9 - number}"
        made.append(
            builders.table(
                venue, name, seats_min=seats_min, seats_max=seats_max, priority=priority, is_active=is_active
            )
        )
        if is_active:
            places.append(((0, seats_max, priority, name, (seats_min, seats_max)), frozenset([name])))
    for number, ((seats_min, seats_max), priority, parts) in enumerate(combinations):
        its = list({made[part % len(made)] for part in parts})
        name = f"{number}"
        builders.combination(venue, *its, name=name, seats_min=seats_min, seats_max=seats_max, priority=priority)
        if len(its) > 1 and all(table.is_active for table in its):
            places.append(
                ((1, seats_max, priority, name, (seats_min, seats_max)), frozenset(table.name for table in its))
            )
    if not any(is_active for *_, is_active in tables):
        return
    model = Book(places, pacing_covers)
    first = datetime(2026, 11, 28, 17, 0, tzinfo=UTC)
    for number, party_size in wishes:
        day = DayAvailability.load(venue, SATURDAY, now=NOON)
        for slot in day.upcoming_slots():
            assert day.has_room(slot, party_size) is (model.best(slot.starts_at, party_size) is not None)
        moment = first + number * timedelta(minutes=15)
        expected = model.best(moment, party_size)
        try:
            found = book(venue, party_size, at=f"{18 + number // 4}:{number % 4 * 15:02}").tables
        except SlotUnavailable:
            found = None
        assert found == expected
        if expected is not None:
            model.taken += [(name, moment) for name in expected]
            model.covers[moment] = model.covers.get(moment, 0) + party_size
