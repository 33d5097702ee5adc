"""Lists of orders by cursor: nothing is repeated or left out, and who follows changes misses none."""

import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Condition
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client

from accounts.models import Venue
from accounts.models.counters import RecordCounts
from orders import commands
from orders.models import Order, Orders
from orders.order_json import COMMIT_LAG, cursors_of
from tests.support import builders
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SINCE = {"updated_since": "2026-11-21T12:00:00Z"}
SECOND = timedelta(seconds=1)


def ask(api: Client, **params: str) -> tuple[list[int], dict[str, Any]]:
    """The numbers of the orders of a page, and its position."""
    answer = api.get(ORDERS, params)
    assert answer.status_code == 200, answer.json()
    return [record["number"] for record in answer.json()["data"]], answer.json()["pagination"]


def move(order: Order, stage: str, at: datetime) -> None:
    commands.change_stage(order, stage, now=at, actor="system")


@pytest.mark.django_db
def test_a_cursor_leads_from_the_first_page_through_all_orders_once_while_others_arrive(
    api: Client, venue: Venue
) -> None:
    # Several of one moment, which ends within a page.
    for number in range(7):
        builders.order(venue, now=NOON + number // 3 * SECOND / 1000)
    found, position = ask(api, limit="2")
    assert position["page"] == 1
    while position["next_cursor"]:
        builders.order(venue)
        with costing(2):
            numbers, position = ask(api, cursor=position["next_cursor"], limit="2")
        found += numbers
        assert position.keys() == {"limit", "has_more", "next_cursor"}
        assert position["has_more"] == bool(position["next_cursor"])
    assert found == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.django_db
def test_a_cursor_continues_any_numbered_page_with_its_filters_and_another_limit(api: Client, venue: Venue) -> None:
    for number in range(9):
        builders.order(venue, customer_id="ada" if number % 3 else "grace", now=NOON + number * SECOND)
    _, position = ask(api, customer_id="ada", limit="2", page="2")
    assert ask(api, customer_id="ada", limit="100", cursor=position["next_cursor"]) == (
        [3, 2],
        {"limit": 100, "has_more": False, "next_cursor": None},
    )


@pytest.mark.django_db
def test_the_links_of_a_page_by_cursor_lead_to_the_first_and_the_next(api: Client, venue: Venue) -> None:
    for _ in range(3):
        builders.order(venue)
    _, position = ask(api, status="pending", limit="1")
    answer = api.get(ORDERS, {"status": "pending", "limit": "1", "cursor": position["next_cursor"]})
    links = {name: url for url, name in re.findall(r'<([^>]+)>; rel="(\w+)"', answer["Link"])}
    assert links["first"] == f"http://127.0.0.1:8000{ORDERS}?status=pending&limit=1"
    last = api.get(links["next"].removeprefix("http://127.0.0.1:8000"))
    assert [record["number"] for record in last.json()["data"]] == [1]
    assert re.findall(r'rel="(\w+)"', last["Link"]) == ["first"]


@pytest.mark.parametrize(
    ("params", "page"),
    [({"status": "pending"}, 2), ({"customer_id": "cust_123"}, 1), ({"customer_id": "cust_123"}, 2)],
)
@pytest.mark.django_db
def test_a_full_page_has_a_cursor_if_an_order_comes_after_the_count(
    api: Client, venue: Venue, monkeypatch: pytest.MonkeyPatch, params: dict[str, str], page: int
) -> None:
    for _ in range(2 * page):
        builders.order(venue)
    count, get_total = Orders.count, RecordCounts.get_total

    def count_and_place(orders: Orders) -> int:
        total = count(orders)
        builders.order(venue)
        return total

    def get_total_and_place(*args: Any, **options: Any) -> int:
        total = get_total(*args, **options)
        builders.order(venue)
        return total

    with monkeypatch.context() as patch:
        patch.setattr(Orders, "count", count_and_place)
        patch.setattr(RecordCounts, "get_total", get_total_and_place)
        numbers, position = ask(api, **params, limit="2", page=str(page))
    assert numbers == [3, 2]
    assert position["total"] == 2 * page + 1
    assert position["has_more"] is True
    assert ask(api, **params, limit="2", cursor=position["next_cursor"])[0] == [1]


@pytest.mark.django_db
def test_a_cursor_stays_valid(api: Client, venue: Venue) -> None:
    for _ in range(2):
        builders.order(venue)
    with time_machine.travel(NOON, tick=False):
        _, position = ask(api, limit="1")
    with time_machine.travel(NOON + timedelta(days=400), tick=False):
        assert ask(builders.client(venue), limit="1", cursor=position["next_cursor"])[0] == [1]


@pytest.mark.django_db
def test_a_cursor_of_another_list_or_with_a_page_is_refused_and_named(
    api: Client, venue: Venue, other_venue: Venue
) -> None:
    for place in (venue, other_venue):
        for _ in range(2):
            builders.order(place)
    _, position = ask(api, status="pending", limit="1")
    cursor = position["next_cursor"]
    for caller, params, param in (
        (api, {"cursor": cursor}, "cursor"),
        (api, {"cursor": cursor, "status": "completed"}, "cursor"),
        (api, {"cursor": cursor, "status": "pending", "customer_id": "cust_123"}, "cursor"),
        (builders.client(other_venue), {"cursor": cursor, "status": "pending"}, "cursor"),
        (api, {"cursor": f"{cursor}x", "status": "pending"}, "cursor"),
        (api, {"cursor": "nonsense"}, "cursor"),
        (api, {"cursor": cursor, "status": "pending", "page": "1"}, "page"),
        (api, {"cursor": cursor, "status": "eaten"}, "status"),
    ):
        answer = caller.get(ORDERS, params)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param), params


@pytest.mark.django_db
def test_who_follows_changes_gets_the_oldest_first_and_what_changes_between_two_pages_later(
    api: Client, venue: Venue
) -> None:
    builders.order(venue, now=NOON - SECOND)
    second, third, _ = (builders.order(venue, now=NOON + number * SECOND) for number in range(3))
    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        api = builders.client(venue)
        # As without cursors: newest first, in pages.
        numbers, position = ask(api, **SINCE, limit="2")
        assert (numbers, position["total"]) == ([4, 3], 3)
        numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (numbers, position["has_more"]) == ([2, 3], True)
        move(second, "ready", NOON + 3 * SECOND)
        numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (numbers, position["has_more"]) == ([4, 2], False)
        # Nothing of an hour ago is repeated.
        numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (numbers, position["has_more"]) == ([], False)
        move(third, "ready", NOON + timedelta(hours=1))
        for _ in range(2):
            # Of the last minute.
            numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
            assert (numbers, position["has_more"]) == ([3], False)
        cursor = position["next_cursor"]
        first = api.get(ORDERS, SINCE | {"cursor": cursor})
        assert api.get(ORDERS, SINCE | {"cursor": cursor}, headers={"if-none-match": first["ETag"]}).status_code == 304
    with time_machine.travel(NOON + timedelta(hours=1, seconds=61), tick=False):
        api = builders.client(venue)
        for expected in ([3], []):
            numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
            assert numbers == expected


@pytest.mark.django_db
def test_a_change_that_becomes_visible_behind_a_cursor_is_in_the_next_walk(venue: Venue) -> None:
    late, *others = (builders.order(venue, now=NOON - timedelta(days=1)) for _ in range(4))
    start = NOON + timedelta(hours=1)
    for number, order in enumerate(others):
        move(order, "ready", start + number * SECOND)
    with time_machine.travel(start + 3 * SECOND, tick=False) as clock:
        api = builders.client(venue)
        _, position = ask(api, **SINCE, limit="2")
        numbers, position = ask(api, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (numbers, position["has_more"]) == ([2, 3], True)
        # It was committed after the others, and the walk takes longer than a minute.
        move(late, "ready", start - 50 * SECOND)
        clock.shift(timedelta(minutes=5))
        numbers, position = ask(builders.client(venue), **SINCE, limit="2", cursor=position["next_cursor"])
        assert (numbers, position["has_more"]) == ([4], False)
        numbers, position = ask(builders.client(venue), **SINCE, limit="9", cursor=position["next_cursor"])
        assert numbers == [1, 2, 3, 4]


class Clock:
    """A clock of seconds that goes on only while no transaction is open for as long as COMMIT_LAG."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.now = NOON
        self.opened: list[datetime] = []

    def _may_advance(self) -> bool:
        return all(self.now + SECOND - at < COMMIT_LAG for at in self.opened)

    def read(self) -> datetime:
        """The time, after going on by a second if possible."""
        with self.changed:
            if self._may_advance():
                self.now += SECOND
                self.changed.notify_all()
            return self.now

    @contextmanager
    def transaction(self, *, lasting: timedelta) -> Iterator[datetime]:
        """A transaction at the time that it gives, which is committed so much later."""
        with self.changed:
            self.changed.wait_for(self._may_advance)
            self.now += SECOND
            at = self.now
            self.opened.append(at)
            self.changed.notify_all()
        try:
            with transaction.atomic():
                yield at
                with self.changed:
                    self.changed.wait_for(lambda: self.now >= at + lasting)
        finally:
            with self.changed:
                self.opened.remove(at)
                self.changed.notify_all()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_who_follows_by_cursor_misses_no_change_of_four_writers_that_commit_in_another_order(venue: Venue) -> None:
    clock, cursors = Clock(), cursors_of(venue, SINCE)
    seen: dict[str, int] = {}

    def write(seed: int) -> None:
        dice = random.Random(seed)
        # Of its own, so that no writer waits for the lock of another while the clock stands.
        mine = [builders.order(venue, now=NOON) for _ in range(3)]
        try:
            for number in range(25):
                if dice.random() < 0.2:
                    mine.append(builders.order(venue, now=clock.read()))
                    continue
                with clock.transaction(lasting=dice.choice([0, 1, 10, 50]) * SECOND) as at:
                    commands.change_delivery_address(dice.choice(mine), f"{number} Main St", now=at, actor="system")
        finally:
            connection.close()

    def follow(cursor: str | None) -> tuple[list[dict[str, Any]], bool, str]:
        assert cursor
        orders = Order.objects.of(venue).filter(updated_at__gte=NOON)
        found = cursors.read_page(orders, cursor, limit=3, now=clock.read())
        return found["rows"], found["has_more"], found["next_cursor"]

    cursor = cursors.after_page(None, now=NOON)
    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, seed) for seed in range(4)]
        walks_left = 2
        while walks_left:
            is_writing = not all(writer.done() for writer in writers)
            rows, has_more, cursor = follow(cursor)
            seen |= {row["id"]: row["version"] for row in rows}
            # The walk in which the last change was committed, and the one after it.
            walks_left -= not has_more and not is_writing
        for writer in writers:
            writer.result()
    assert seen == {order.public_id: order.version for order in Order.objects.of(venue)}
