"""Two venues, their callers, their staff and a clock, moved at random beside the model; they must never differ."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import time_machine
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, initialize, invariant, multiple, rule

from accounts.models import Venue
from framework.consistency import all_checks
from framework.errors import ApiError
from framework.public_ids import decode
from orders import commands as orders_commands
from orders.models import MenuItem, Order
from reservations.booking import commands as booking_commands
from reservations.models import Reservation
from tests.stateful.model import STAGES, UNKNOWN, Book, House, Record, Refused

ORDERS = "/api/v1/orders"
RESERVATIONS = "/api/v1/reservations"
STAFF = "staff:ada@example.com"
# Shortly before clocks jump in Rome and in New York, before midnight in both, and at an hour of no note. The earliest
# is the first, for time only goes on.
BEGINNINGS = (
    datetime(2026, 10, 24, 21, 50, tzinfo=UTC),
    datetime(2027, 3, 27, 22, 30, tzinfo=UTC),
    datetime(2026, 11, 1, 3, 30, tzinfo=UTC),
    datetime(2027, 3, 14, 4, 45, tzinfo=UTC),
    datetime(2026, 12, 31, 22, 59, 59, tzinfo=UTC),
    datetime(2026, 11, 21, 12, 0, tzinfo=UTC),
)
REMEMBERED = timedelta(hours=24)
STEPS = (1, 60, 1801, 3600, 5 * 3600, 24 * 3600, 8 * 24 * 3600)

# What no committed state may show, one line of text each: gaps in the numbers of a day, tallies that are not the
# counts, a table that two reservations have at once.
AUDIT = """
    SELECT format('%s on %s: number %s to %s of %s', venue_id, business_date, min(number), max(number), count(*))
    FROM orders_order GROUP BY venue_id, business_date HAVING min(number) <> 1 OR max(number) <> count(*)
    UNION ALL
    SELECT format('%s %ss of %s, tally %s', counted.total, record_type, venue_id, tally.total)
    FROM (
        SELECT venue_id, 'order' AS record_type, status, count(*) AS total FROM orders_order GROUP BY venue_id, status
        UNION ALL
        SELECT venue_id, 'reservation', status, count(*) FROM reservations_reservation GROUP BY venue_id, status
    ) AS counted
    FULL JOIN accounts_recordcount AS tally USING (venue_id, record_type, status)
    WHERE coalesce(counted.total, 0) <> coalesce(tally.total, 0)
    UNION ALL
    SELECT format('table %s is taken twice at %s', one.table_id, one.during * other.during)
    FROM reservations_seating AS one
    JOIN reservations_seating AS other
        ON one.table_id = other.table_id AND one.id < other.id AND one.during && other.during
"""

texts = st.sampled_from(["x", "no basil", "“Ünïcode” 🍕", "line\nbreak", "<b>&amp;</b>", "a" * 300])
orders_asked = st.fixed_dictionaries(
    {
        "customer_id": st.sampled_from(["cust_1", "cust_2"]),
        "items": st.lists(
            st.fixed_dictionaries(
                {
                    "menu_item_id": st.sampled_from(["margherita", "acqua", "tiramisu", "carbonara"]),
                    "quantity": st.sampled_from([1, 2, 999]),
                },
                optional={"notes": texts},
            ),
            min_size=1,
            max_size=3,
        ),
        "payment_method": st.sampled_from(["card", "cash"]),
    },
    optional={"delivery_address": st.none() | texts, "metadata": st.dictionaries(st.just("table"), texts)},
)
times = st.sampled_from(["19:30", "20:00", "00:00", "01:30", "19:30", "02:00", "02:30", "03:00", "12:00", "23:59"])
days_ahead = st.sampled_from([1, 0, 2, 1, 0, 7, 365, 366, -1])
parties = st.sampled_from([1, 2, 3, 4, 6, 7, 9, 500])
statuses = st.sampled_from(["pending", "completed", "cancelled"])
venues = st.sampled_from([0, 1])


# An order by the number of its venue and its id; none where it was refused.
Order_ = tuple[int, str] | MultipleResults[tuple[int, str]]


@dataclass(frozen=True)
class Side:
    """A venue, a caller of its key, and how the model of it begins."""

    venue: Venue
    api: Client
    model: Book


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """What was answered to a call with an Idempotency-Key."""

    at: datetime
    body: Record
    answer: bytes


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo what was written, after the constraints of a commit and `manage.py check_consistency` had no findings."""
    with transaction.atomic():
        yield
        connection.check_constraints()
        assert [finding for check in all_checks(now=timezone.now()).values() for finding in check] == []
        transaction.set_rollback(True)


class ProductMachine(RuleBasedStateMachine):
    """Each rule asks the product, then the model, and compares the answers; then what is stored is compared too."""

    orders: Bundle[tuple[int, str]] = Bundle("orders")
    reservations: Bundle[tuple[int, str]] = Bundle("reservations")

    def __init__(self, sides: Sequence[Side]) -> None:
        super().__init__()
        self.sides = sides
        self.models = [deepcopy(side.model) for side in sides]
        self.stored_answers: dict[tuple[int, str], StoredAnswer] = {}
        self.now = BEGINNINGS[0]
        self.touched = {(venue, path) for venue in (0, 1) for path in (ORDERS, RESERVATIONS)}
        self.held = ExitStack()
        self.clock = self.held.enter_context(time_machine.travel(self.now, tick=False))
        self.held.enter_context(rolled_back())

    def teardown(self) -> None:
        """Leave the clock and the database as they were."""
        self.held.close()

    @initialize(target=orders, now=st.sampled_from(BEGINNINGS), bodies=st.lists(orders_asked, min_size=2, max_size=2))
    def begin_with_orders(self, now: datetime, bodies: list[Record]) -> MultipleResults[tuple[int, str]]:
        """An order for each venue; runs without any would be long ways to nothing."""
        self.now = now
        self.clock.move_to(now, tick=False)
        made = [self.placed(venue, body) for venue, body in enumerate(bodies)]
        return multiple(*(one for one in made if isinstance(one, tuple)))

    @initialize(target=reservations, at=times, sizes=st.lists(parties, min_size=2, max_size=2))
    def begin_with_reservations(self, at: str, sizes: list[int]) -> MultipleResults[tuple[int, str]]:
        """A reservation for each venue, if it takes them."""
        made = [self.reserved(venue, ahead=2, at=at, party_size=size) for venue, size in enumerate(sizes)]
        return multiple(*(one for one in made if one))

    @rule(seconds=st.sampled_from(STEPS))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        self.clock.move_to(self.now, tick=False)

    # Orders
    @rule(target=orders, venue=venues, body=orders_asked)
    def place(self, venue: int, body: Record) -> Order_:
        return self.placed(venue, body)

    @rule(target=orders, venue=venues, body=orders_asked, key=st.sampled_from(["a", "b"]), again=st.booleans())
    def place_once(self, venue: int, body: Record, key: str, again: bool) -> Order_:
        """With a key that may have been used; `again`: and with the body that it was used with."""
        before = self.stored_answers.get((venue, key))
        if before is None or before.at <= self.now - REMEMBERED:
            return self.placed(venue, body, key=key)
        wanted = before.body if again else body
        answer = self.ask(venue, "POST", ORDERS, wanted, **{"idempotency-key": key})
        if wanted == before.body:
            assert (answer.status_code, answer.content) == (201, before.answer)
            assert answer["Idempotent-Replayed"] == "true"
        else:
            assert outcome_of(answer) == Refused(400, "idempotency_key_reused", "Idempotency-Key")
        return multiple()

    def placed(self, venue: int, body: Record, *, key: str | None = None) -> Order_:
        """Place an order."""
        answer = self.ask(venue, "POST", ORDERS, body, **({"idempotency-key": key} if key else {}))
        expected, found = outcome(lambda: self.models[venue].place(body, now=self.now)), outcome_of(answer)
        assert "Idempotent-Replayed" not in answer
        if isinstance(expected, Refused) or isinstance(found, Refused):
            assert found == expected
            return multiple()
        assert found == {"id": found["id"], **expected}
        assert (answer.status_code, answer["ETag"]) == (201, '"1"')
        if key:
            self.stored_answers[venue, key] = StoredAnswer(at=self.now, body=body, answer=answer.content)
        self.models[venue].orders[found["id"]] = found
        return venue, found["id"]

    @rule(ref=st.sampled_from(["margherita", "acqua"]), back=st.booleans())
    def sell_out(self, ref: str, back: bool) -> None:
        """Staff of a venue with a menu say that a dish is sold out today, or there again."""
        for side, book in zip(self.sides, self.models, strict=True):
            if isinstance(book, House):
                book.dishes[ref].sold_out_on = None if back else self.now.astimezone(book.zone).date()
                items = MenuItem.objects.filter(menu__venue=side.venue, ref=ref)
                items.update(sold_out_on=book.dishes[ref].sold_out_on)

    @rule(order=orders, status=statuses, if_match=st.none() | st.sampled_from([1, 1, 2]))
    def move(self, order: tuple[int, str], status: str, if_match: int | None) -> None:
        venue, name = order
        headers = {} if if_match is None else {"if-match": f'"{if_match}"'}
        answer = self.ask(venue, "PUT", f"{ORDERS}/{name}/status", {"status": status}, **headers)
        expected = outcome(lambda: self.models[venue].move_order(name, status, now=self.now, if_match=if_match))
        assert outcome_of(answer) == expected
        if not isinstance(expected, Refused):
            assert answer["ETag"] == f'"{expected["version"]}"'

    @rule(order=orders, stage=st.sampled_from(STAGES), if_match=st.none() | st.sampled_from([1, 2]))
    def move_stage(self, order: tuple[int, str], stage: str, if_match: int | None) -> None:
        venue, name = order
        headers = {} if if_match is None else {"if-match": f'"{if_match}"'}
        answer = self.ask(venue, "PUT", f"{ORDERS}/{name}/stage", {"stage": stage}, **headers)
        expected = outcome(lambda: self.models[venue].move_stage(name, stage, now=self.now, if_match=if_match))
        assert outcome_of(answer) == expected

    @rule(order=orders, status=statuses)
    def staff_move(self, order: tuple[int, str], status: str) -> None:
        venue, name = order
        row = Order.objects.with_public_id(name).get()
        self.touched.add((venue, ORDERS))
        agree(
            lambda: orders_commands.change_status(row, status, now=self.now, actor=STAFF),
            lambda: self.models[venue].move_order(name, status, now=self.now),
        )

    @rule(order=orders, version=st.none() | st.sampled_from([1, 2]))
    def look(self, order: tuple[int, str], version: int | None) -> None:
        venue, name = order
        expected = self.models[venue].orders[name]
        headers = {} if version is None else {"if-none-match": f'"{version}"'}
        answer = self.ask(venue, "GET", f"{ORDERS}/{name}", **headers)
        if version == expected["version"]:
            assert (answer.status_code, answer.content) == (304, b"")
        else:
            assert (answer.status_code, answer.json()) == (200, expected)

    @rule(order=orders, status=statuses)
    def another_venue_sees_nothing(self, order: tuple[int, str], status: str) -> None:
        venue, name = order
        stranger = 1 - venue
        assert outcome_of(self.ask(stranger, "GET", f"{ORDERS}/{name}")) == UNKNOWN
        assert outcome_of(self.ask(stranger, "PUT", f"{ORDERS}/{name}/status", {"status": status})) == UNKNOWN
        # Its own venue's are compared too: nothing has moved.
        self.touched.add((venue, ORDERS))

    @rule(
        venue=venues, status=st.none() | statuses, limit=st.sampled_from([1, 3, 100]), page=st.sampled_from([1, 2, 5])
    )
    def list_orders(self, venue: int, status: str | None, limit: int, page: int) -> None:
        wanted = {"limit": str(limit), "page": str(page)} | ({"status": status} if status else {})
        self.compare_list(venue, ORDERS, wanted, self.models[venue].newest_first(status), page=page, limit=limit)

    # Reservations
    @rule(target=reservations, venue=venues, ahead=days_ahead, at=times, party_size=parties, words=texts)
    def reserve(
        self, venue: int, ahead: int, at: str, party_size: int, words: str
    ) -> tuple[int, str] | MultipleResults[tuple[int, str]]:
        made = self.reserved(venue, ahead=ahead, at=at, party_size=party_size, special_requests=words)
        return made or multiple()

    def reserved(self, venue: int, *, ahead: int, at: str, party_size: int, **more: str) -> tuple[int, str] | None:
        """Reserve for a day so many days ahead; None where that is refused."""
        book = self.models[venue]
        day = self.now.astimezone(book.zone).date() + timedelta(days=ahead)
        body = {
            "customer_name": "Ada Lovelace",
            "customer_phone": "+15550100999",
            "date": day.isoformat(),
            "time": at,
            "party_size": party_size,
            **more,
        }
        answer = self.ask(venue, "POST", RESERVATIONS, body)
        expected, found = outcome(lambda: book.reserve(body, now=self.now)), outcome_of(answer)
        if isinstance(expected, Refused) or isinstance(found, Refused):
            assert found == expected
            if isinstance(book, House):
                # What is named instead can be had.
                others = answer.json()["error"].get("alternatives", [])
                assert set(others) <= book.rooms(day, party_size, now=self.now)
            return None
        assert found == {"id": found["id"], "code": found["code"], **expected}
        assert answer.status_code == 201
        book.reservations[found["id"]] = found
        return venue, found["id"]

    @rule(
        reservation=reservations,
        verdicts=st.lists(st.sampled_from(["confirmed", "cancelled", "pending"]), min_size=1, max_size=3),
    )
    def staff_decide(self, reservation: tuple[int, str], verdicts: list[str]) -> None:
        venue, name = reservation
        row = Reservation.objects.get(id=decode("res", name) or name)
        self.touched.add((venue, RESERVATIONS))
        for status in verdicts:
            agree(
                partial(booking_commands.set_status, row, status, now=self.now, actor=STAFF),
                partial(self.models[venue].move_reservation, name, status, now=self.now),
            )

    @rule(
        venue=venues,
        status=st.none() | st.sampled_from(["pending", "confirmed", "cancelled"]),
        ahead=st.none() | st.sampled_from([0, 1, 2]),
        limit=st.sampled_from([1, 3, 100]),
        page=st.sampled_from([1, 2]),
    )
    def list_reservations(self, venue: int, status: str | None, ahead: int | None, limit: int, page: int) -> None:
        book = self.models[venue]
        day = None if ahead is None else (self.now.astimezone(book.zone).date() + timedelta(days=ahead)).isoformat()
        wanted = {"limit": str(limit), "page": str(page)}
        wanted |= ({"status": status} if status else {}) | ({"date": day} if day else {})
        self.compare_list(venue, RESERVATIONS, wanted, book.soonest_first(status, day), page=page, limit=limit)

    # What always holds
    @invariant()
    def a_venue_shows_what_was_done_to_it(self) -> None:
        """Only the lists that were touched by the last rule; what a stranger changed would show when they are next."""
        for venue, path in sorted(self.touched):
            book = self.models[venue]
            if path == ORDERS:
                self.compare_list(venue, path, {"limit": "100"}, book.newest_first(), page=1, limit=100)
            else:
                self.compare_list(venue, path, {}, book.soonest_first(), page=1, limit=1000)
        self.touched.clear()

    @invariant()
    def the_rows_add_up(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(AUDIT)
            assert cursor.fetchall() == []

    # Means
    def ask(self, venue: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the API as the venue's caller."""
        if method != "GET":
            self.touched.add((venue, ORDERS if path.startswith(ORDERS) else RESERVATIONS))
        content = b"" if body is None else json.dumps(body).encode()
        return self.sides[venue].api.generic(method, path, content, content_type="application/json", headers=headers)

    def compare_list(
        self, venue: int, path: str, wanted: dict[str, str], expected: list[Record], *, page: int, limit: int
    ) -> None:
        """A page of a list is exactly those records, and counts exactly them all."""
        answer = self.sides[venue].api.get(path, wanted)
        assert answer.status_code == 200, answer.content
        pages = -(-len(expected) // limit)
        found = answer.json()
        cursor = found["pagination"].pop("next_cursor", None)
        assert bool(cursor) == (path == ORDERS and page < pages)
        assert found == {
            "data": expected[(page - 1) * limit : page * limit],
            "pagination": {
                "page": page,
                "limit": limit,
                "total": len(expected),
                "total_pages": pages,
                "has_more": page < pages,
            },
        }


def outcome(attempt: Callable[[], Record]) -> Record | Refused:
    """What the model makes of it: a record or a refusal."""
    try:
        return attempt()
    except Refused as refused:
        return refused


def outcome_of(answer: Any) -> Record | Refused:
    """What the API answers: a record or a refusal."""
    content: Record = answer.json()
    if answer.status_code < 400:
        return content
    return Refused(answer.status_code, content["error"]["code"], content["error"]["param"])


def agree(product: Callable[[], object], model: Callable[[], Record]) -> None:
    """Do it in both; either both refuse it with one code for one parameter, or none does."""
    found = None
    try:
        product()
    except ApiError as refusal:
        found = (str(refusal.code), refusal.param)
    expected = outcome(model)
    assert found == ((expected.code, expected.param) if isinstance(expected, Refused) else None)
