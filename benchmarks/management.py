"""How many calls of the management API a running `manage.py up` answers in a second, and what each asks the database.

    uv run --group benchmarks python -m benchmarks.management --state-dir .state

The callers are processes of this machine with kept connections, so they take their share of its cores, and absolute
figures say as much about the machine as about us. Hence the ratios: the same callers ask `/livez` of the same server
in the same run (what the web server takes when hardly anything is asked of us), and as many connections run a prepared
`SELECT 1` (what a way to PostgreSQL and back takes). The rounds of all are interleaved, and the median round is told.

The queries of a call are counted by Django, which makes the call once more in this process, on the same database and
with everything warm. Run it on a state directory of its own: it leaves thousands of orders with the demo venue.
"""

import argparse
import http.client
import itertools
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import psycopg
from rich.console import Console
from rich.table import Table

from framework.state_directory import read_up_record

API = "/api/v1"
ORDER = {
    "customer_id": "benchmark",
    "items": [{"menu_item_id": "margherita", "quantity": 2}, {"menu_item_id": "water", "quantity": 1}],
    "payment_method": "card",
}
RESERVATION = {
    "customer_name": "Ada Lovelace",
    "customer_email": "ada@example.com",
    "date": (datetime.now(UTC) + timedelta(days=30)).date().isoformat(),
    "time": "19:30",
    "party_size": 4,
}


@dataclass(frozen=True)
class Call:
    """A call, by its name in the table; `{id}` in the path is an order, another one at each call if `is_fresh`."""

    name: str
    method: str
    path: str
    body: dict[str, Any] | None = None
    status: int = 200
    is_fresh: bool = False


CALLS = (
    Call("create an order", "POST", f"{API}/orders", ORDER, 201),
    Call("list 20 orders", "GET", f"{API}/orders"),
    Call("retrieve an order", "GET", f"{API}/orders/{{id}}"),
    Call("complete an order", "PUT", f"{API}/orders/{{id}}/status", {"status": "completed"}, is_fresh=True),
    Call("create a reservation", "POST", f"{API}/reservations", RESERVATION, 201),
    Call("list 20 reservations", "GET", f"{API}/reservations?limit=20"),
)
LIVE = Call("/livez, the reference", "GET", "/livez")


class UnexpectedResponse(Exception):
    """A call was not answered as it should be, so its figure would mean nothing."""


@dataclass(frozen=True)
class Product:
    """Where the product is, and how it is asked."""

    base_url: str
    database_url: str
    key: str
    callers: int
    seconds: float


def send(connection: http.client.HTTPConnection, key: str, call: Call, order: str) -> dict[str, Any]:
    """Make the call and return its JSON. Raises Wrong."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = None if call.body is None else json.dumps(call.body)
    connection.request(call.method, call.path.format(id=order), body=body, headers=headers)
    response = connection.getresponse()
    content = response.read()
    if response.status != call.status:
        raise UnexpectedResponse(f"{call.name}: {response.status} {content.decode(errors='replace')[:300]}")
    found: dict[str, Any] = json.loads(content)
    return found


def caller(product: Product, call: Call, orders: Sequence[str], answered: Any) -> None:
    """One caller: calls until the time is up or no fresh order is left, and says how many it made in a second."""
    names: Iterator[str] = iter(orders) if call.is_fresh else itertools.cycle(orders)
    with closing(http.client.HTTPConnection(urlsplit(product.base_url).netloc, timeout=30)) as connection:
        started = time.perf_counter()
        count = 0
        for name in names:
            send(connection, product.key, call, name)
            count += 1
            if time.perf_counter() - started > product.seconds:
                break
        answered.put(count / (time.perf_counter() - started))


def selector(product: Product, call: Call, orders: Sequence[str], answered: Any) -> None:
    """One connection to PostgreSQL that asks for nothing, prepared."""
    with psycopg.connect(product.database_url, autocommit=True) as connection:
        started = time.perf_counter()
        count = 0
        while time.perf_counter() - started < product.seconds:
            connection.execute("SELECT 1", prepare=True).fetchone()
            count += 1
        answered.put(count / (time.perf_counter() - started))


def measure_rate(product: Product, call: Call, orders: Sequence[str], work: Callable[..., None] = caller) -> float:
    """Calls a second of all callers together. Raises Wrong when one of them failed."""
    context = multiprocessing.get_context("fork")
    answered = context.Queue()
    shares = [orders[number :: product.callers] for number in range(product.callers)]
    callers = [context.Process(target=work, args=(product, call, share, answered)) for share in shares]
    for one in callers:
        one.start()
    for one in callers:
        one.join()
    if any(one.exitcode for one in callers):
        raise UnexpectedResponse(f"{call.name}: a caller failed.")
    return sum(float(answered.get()) for _ in callers)


def create_orders(product: Product, count: int) -> list[str]:
    """Ids of new orders."""
    with closing(http.client.HTTPConnection(urlsplit(product.base_url).netloc, timeout=30)) as connection:
        return [send(connection, product.key, CALLS[0], "")["id"] for _ in range(count)]


def count_queries(product: Product) -> dict[str, int]:
    """How many statements each call takes, warm, by the names of the calls."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    host = urlsplit(product.base_url).hostname or "127.0.0.1"
    client = Client(headers={"authorization": f"Bearer {product.key}", "host": host})
    counts = {}
    for call in CALLS:
        for order in create_orders(product, 2):
            body = b"" if call.body is None else json.dumps(call.body).encode()
            with CaptureQueriesContext(connection) as captured:
                answer = client.generic(call.method, call.path.format(id=order), body, content_type="application/json")
            if answer.status_code != call.status:
                raise UnexpectedResponse(f"{call.name}: {answer.status_code} in this process")
            counts[call.name] = len(captured)
    return counts


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--state-dir", type=Path, default=Path(".state"), help="that of the running `manage.py up`")
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    words = parser.parse_args()
    up = read_up_record(words.state_dir)
    if up is None:
        parser.error(f"nothing runs in {words.state_dir}: `manage.py up --state-dir {words.state_dir}` first")
    os.environ |= {"TABLEWIRE_STATE_DIR": str(words.state_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    product = Product(
        base_url=up["base_url"],
        database_url=up["database_url"],
        key=up["management"]["wide_api_key"],
        callers=words.callers,
        seconds=words.seconds,
    )
    asked = count_queries(product)
    rates: dict[str, list[float]] = {call.name: [] for call in (LIVE, *CALLS)}
    selects = []
    for _ in range(words.rounds):
        selects.append(measure_rate(product, LIVE, (), selector))
        known = create_orders(product, 20)
        for call in (LIVE, *CALLS):
            # More than one caller completes in that time.
            orders = create_orders(product, int(400 * product.seconds)) if call.is_fresh else known
            rates[call.name].append(measure_rate(product, call, orders))
    live, select = statistics.median(rates[LIVE.name]), statistics.median(selects)
    table = Table(*("call", "calls/s", "of /livez", "of SELECT 1", "queries"))
    for name, found in rates.items():
        middle = statistics.median(found)
        table.add_row(
            *(name, f"{middle:.0f}", f"{middle / live:.2f}", f"{middle / select:.3f}", str(asked.get(name, 0)))
        )
    table.add_row("SELECT 1, the reference", f"{select:.0f}", f"{select / live:.2f}", "1.000", "1")
    Console().print(table)


if __name__ == "__main__":
    main()
