"""Operators at the board and programs at the API move the same orders at once, over HTTP."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone

from accounts.models import Event, Venue
from orders.consistency_checks import checks
from orders.models import Order
from orders.models.orders import KITCHEN_STAGES
from tests.support import builders, users
from tests.support.live_server import served

pytestmark = pytest.mark.django_db(transaction=True)

OPERATORS, WRITERS = 2, 8
BUTTON = re.compile(r'name="(accept|ready|complete)" value="([^"]+)"')
FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Shift:
    """What the operators and programs of one evening did."""

    def __init__(self, url: str, venue: Venue, until: float) -> None:
        self.url, self.venue, self.until = url, venue, until
        self.lock = Lock()
        self.placed: list[str] = []
        # (order, stage) of each answer 200 to a program.
        self.moved: list[tuple[str, str]] = []
        self.statuses: Counter[int] = Counter()

    def operate(self, number: int) -> None:
        """Press random buttons of the board."""
        rng = Random(number)
        try:
            cookies = users.member(self.venue, "manager").cookies
        finally:
            connection.close()
        board = f"/dashboard/{self.venue.public_id}/board"
        with httpx.Client(base_url=self.url, timeout=60, follow_redirects=True) as browser:
            browser.cookies.set("sessionid", cookies[django_settings.SESSION_COOKIE_NAME].value)
            while time.monotonic() < self.until:
                page = browser.get(board)
                assert page.status_code == 200, page.status_code
                token = FORM_TOKEN.search(page.text)
                assert token
                buttons = BUTTON.findall(page.text)
                if buttons:
                    name, value = rng.choice(buttons)
                    form = {name: value, "csrfmiddlewaretoken": token[1]}
                    answer = browser.post(f"{board}/moves", data=form, headers={"Referer": self.url})
                    self.statuses[answer.status_code] += 1

    def write(self, number: int) -> None:
        """Place orders, and move those of all programs."""
        rng = Random(100 + number)
        try:
            headers = {"Authorization": f"Bearer {builders.key(self.venue, allowance=1_000_000).text}"}
        finally:
            connection.close()
        with httpx.Client(base_url=self.url, headers=headers, timeout=60) as api:
            while time.monotonic() < self.until:
                if rng.random() < 0.4 or not self.placed:
                    answer = api.post("/api/v1/orders", json=builders.order_body())
                    assert answer.status_code == 201, answer.text
                    with self.lock:
                        self.placed.append(answer.json()["id"])
                    continue
                order, stage = rng.choice(self.placed[-20:]), rng.choice(Order.Stage.values)
                answer = api.put(f"/api/v1/orders/{order}/stage", json={"stage": stage})
                self.statuses[answer.status_code] += 1
                if answer.status_code == 200:
                    with self.lock:
                        self.moved.append((order, stage))
                else:
                    assert answer.json()["error"]["code"] == "invalid_transition", answer.text


def work_for(seconds: float, venue: Venue, log: Path) -> Shift:
    """Let all work for so long, and check what came of it."""
    with served(log) as url:
        shift = Shift(url, venue, time.monotonic() + seconds)
        with ThreadPoolExecutor(OPERATORS + WRITERS) as people:
            jobs = [people.submit(shift.operate, number) for number in range(OPERATORS)]
            jobs += [people.submit(shift.write, number) for number in range(WRITERS)]
        for job in jobs:
            job.result()
    assert "Traceback" not in log.read_text()
    orders = {order.public_id: order for order in Order.objects.all()}
    assert sorted(orders) == sorted(shift.placed)
    for order, stage in shift.moved:
        reached = [*KITCHEN_STAGES, Order.Stage.HANDED_OVER].index(orders[order].stage)
        assert reached >= Order.Stage.values.index(stage), (order, stage)
    moves = Counter(
        (str(subject), record["stage"], kind)
        for subject, record, kind in Event.objects.exclude(type="order.created").values_list(
            "subject", "record", "type"
        )
    )
    assert set(moves.values()) <= {1}
    versions: Any = Counter(subject for subject, _, _ in moves.elements())
    assert {str(order.pk): order.version for order in orders.values()} == {
        str(order.pk): 1 + versions[str(order.pk)] for order in orders.values()
    }
    assert {name: list(found) for name, found in checks(timezone.now()).items() if name != "order_replay"} == {
        "order_numbers": [],
        "order_totals": [],
        "order_counts": [],
        "order_event": [],
    }
    print(f"{len(orders)} orders, {len(moves)} moves, answers {dict(shift.statuses)}")  # noqa: T201 - a figure
    return shift


@pytest.mark.stack
def test_two_operators_and_eight_programs_move_each_stage_once(venue: Venue, tmp_path: Path) -> None:
    shift = work_for(6, venue, tmp_path / "web.log")
    assert shift.placed
    assert shift.moved


@pytest.mark.deep
def test_for_a_minute_no_move_is_lost_or_made_twice(venue: Venue, tmp_path: Path) -> None:
    work_for(60, venue, tmp_path / "web.log")
