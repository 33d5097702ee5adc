"""The rows of orders: placing one, and listing twenty; ours, FastAPI that does the same, and the statements alone."""

import http.client
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg

from benchmarks import pgbench, post_load
from benchmarks.contenders import HOST, Contender, fastapi, our_server
from benchmarks.figures import Bound, Figure, Row, WrongAnswer
from benchmarks.load import Load
from benchmarks.product import Product
from benchmarks.suites import Run

PEER, PGBENCH = "FastAPI, our tables", "pgbench"
PATH = "/api/v1/orders"
ACCOUNT = "Benchmark orders"
# Orders of one venue wait for each other from the number to the commit: of as many venues few do.
QUICK_VENUES, VENUES = 8, 32
ALLOWANCE = 1_000_000_000
ORDER = {
    "customer_id": "benchmark",
    "items": [
        {"menu_item_id": "margherita", "quantity": 2},
        {"menu_item_id": "carbonara", "quantity": 1, "notes": "no pepper"},
        {"menu_item_id": "acqua", "quantity": 3},
        {"menu_item_id": "tiramisu", "quantity": 2},
        {"menu_item_id": "frascati", "quantity": 1},
    ],
    "payment_method": "card",
}
BODY = json.dumps(ORDER).encode()
OTHER_BODY = json.dumps(ORDER | {"metadata": {}}).encode()
INVALID_ORDERS: tuple[dict[str, Any], ...] = (
    ORDER | {"items": [{"menu_item_id": "nowhere", "quantity": 1}]},
    ORDER | {"tip": 1},
    {"items": []},
)
DURABILITY_SETTINGS = (
    "fsync",
    "synchronous_commit",
    "wal_sync_method",
    "full_page_writes",
    "shared_buffers",
    "max_wal_size",
)
# What differs from order to order, besides ids.
OWN_FIELDS = ("id", "number", "created_at", "updated_at", "business_date")
# So that nothing is placed on top of what earlier runs have left.
CLEAN_UP = (
    "DELETE FROM orders_orderitem WHERE order_id IN (SELECT id FROM orders_order WHERE venue_id = ANY(%(venues)s))",
    "DELETE FROM accounts_event WHERE venue_id = ANY(%(venues)s) AND type LIKE 'order.%%'",
    "DELETE FROM orders_order WHERE venue_id = ANY(%(venues)s)",
    "DELETE FROM orders_ordernumber WHERE venue_id = ANY(%(venues)s)",
    "DELETE FROM accounts_idempotentcall WHERE scope = ANY(%(scopes)s)",
)
# Ids of one client grow, as those that PostgreSQL and we make.
ID = "('{run}' || lpad(to_hex(:client_id::bigint * 1099511627776 + :number::bigint * 4 + {part}), 16, '0'))::uuid"
RUN = "<<this round>>"
NAMED_PARAMETER = re.compile(r"(?<!:):(?=[A-Za-z_])")


@dataclass(frozen=True)
class Seller:
    """A venue with a menu, the text of its key, and whose Idempotency-Keys it sends."""

    venue: UUID
    key: str
    scope: str


def create_sellers(count: int) -> list[Seller]:
    """So many venues of the benchmark's own, each with the menu of the demo and a key of this run."""
    from django.db import transaction
    from django.utils import timezone

    from accounts.models import Account, ApiKey
    from orders.demo import menu

    now, found = timezone.now(), []
    with transaction.atomic():
        account, _ = Account.objects.get_or_create(name=ACCOUNT)
        for number in range(count):
            place, _ = account.venues.get_or_create(
                name=f"{ACCOUNT} {number}", defaults={"timezone": "UTC", "currency": "EUR"}
            )
            menu.add_menu(place, now=now)
            ends = now + timedelta(hours=12)
            key = ApiKey.create(place, name="A run of the benchmark", allowance=ALLOWANCE, expires_at=ends)
            found.append(Seller(place.pk, key.text, key.row.family.hex))
    return found


def clean_tables(product: Product, known: Sequence[Seller]) -> dict[str, str]:
    """Forget what earlier runs have ordered, and return how PostgreSQL keeps what is written."""
    with psycopg.connect(product.database_url, autocommit=True) as connection:
        scopes = "SELECT DISTINCT replace(family::text, '-', '') FROM accounts_apikey WHERE venue_id = ANY(%s)"
        venues = [one.venue for one in known]
        values = {"venues": venues, "scopes": [scope for (scope,) in connection.execute(scopes, [venues])]}
        for statement in CLEAN_UP:
            connection.execute(statement, values)
        return {
            name: (connection.execute(f"SHOW {name}".encode()).fetchone() or ("",))[0] for name in DURABILITY_SETTINGS
        }


def vacuum_tables(product: Product) -> None:
    """What PostgreSQL does by itself some time after so many writes; until then its plans are of empty tables."""
    with psycopg.connect(product.database_url, autocommit=True) as connection:
        for table in ("orders_order", "orders_orderitem", "accounts_event", "accounts_idempotentcall"):
            connection.execute(f"VACUUM (ANALYZE) {table}".encode())


def capture_statements(
    contender: Contender, method: str, path: str, *, key: str, body: bytes | None = None, again: str | None = None
) -> tuple[int, Any]:
    """An answer: its status and its JSON; `again` is the Idempotency-Key."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": again} if again else {}
    with closing(http.client.HTTPConnection(HOST, contender.port, timeout=30)) as connection:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def check_same_responses(contenders: Sequence[Contender], seller: Seller) -> None:
    """Have everyone take an order once, refuse the same ones, and list the same. Raises WrongAnswer."""
    payload = []
    for one in contenders:
        name = uuid4().hex
        first = capture_statements(one, "POST", PATH, key=seller.key, body=BODY, again=name)
        again = capture_statements(one, "POST", PATH, key=seller.key, body=BODY, again=name)
        other = capture_statements(one, "POST", PATH, key=seller.key, body=OTHER_BODY, again=name)
        if first[0] != 201 or first != again or other[1].get("error", {}).get("code") != "idempotency_key_reused":
            raise WrongAnswer(f"{one.name}: of the same order twice {first} and {again}, of another {other}.")
        refused = [
            capture_statements(one, "POST", PATH, key=seller.key, body=json.dumps(wrong).encode())
            for wrong in INVALID_ORDERS
        ]
        codes = [(status, output.get("error", {}).get("code")) for status, output in refused]
        shown = {name: value for name, value in first[1].items() if name not in OWN_FIELDS}
        payload.append((first[1]["number"], shown, codes))
        for _ in range(20):
            capture_statements(one, "POST", PATH, key=seller.key, body=BODY)
    for number, (one, found) in enumerate(zip(contenders, payload, strict=True)):
        # The refused ones took no number.
        if found[0] != 1 + 21 * number or found[1:] != payload[0][1:]:
            raise WrongAnswer(f"{one.name} answers an order with {found}, and {contenders[0].name} with {payload[0]}.")
    lists = [capture_statements(one, "GET", PATH, key=seller.key) for one in contenders]
    for _, listed in lists:
        # Each signs it in its own way.
        listed["pagination"]["next_cursor"] = bool(listed["pagination"]["next_cursor"])
    if lists[0][0] != 200 or len(lists[0][1]["data"]) != 20 or any(one != lists[0] for one in lists):
        raise WrongAnswer(f"The lists differ: {[str(one)[:600] for one in lists]}")


def order_scripts(known: Sequence[Seller]) -> list[str]:
    """What the product asks for an order of each of these, with ids and keys of pgbench's own in place of ours.

    The product answers in this process. Raises WrongAnswer.
    """
    from django.db import connection
    from django.test import Client

    found = []
    for seller in [known[0], known[0], *known]:
        name = uuid4().hex
        client = Client(headers={"authorization": f"Bearer {seller.key}", "host": "127.0.0.1"})
        with pgbench.capture_queries() as heard:
            answer = client.post(PATH, BODY, content_type="application/json", headers={"idempotency-key": name})
        if answer.status_code != 201:
            raise WrongAnswer(f"{answer.status_code} in this process: {answer.content[:300]!r}")
        cursor = psycopg.ClientCursor(connection.connection)
        texts = [cursor.mogrify(one.query, one.values) for one in heard]
        ids = [*values_of(heard, "subject"), *values_of(heard, "event"), *values_of(heard, "id")]
        body = [text for text in texts if "orders_" in text or "accounts_idempotentcall" in text]
        found.append(to_pgbench_script(body, ids=ids, key=name))
    return found[2:]


def values_of(heard: Sequence[pgbench.CapturedQuery], name: str) -> list[UUID]:
    """The first value of this name that a statement was given; none where no statement was given any."""
    values = (one.values[name] for one in heard if isinstance(one.values, Mapping) and name in one.values)
    return [value for value in values if isinstance(value, UUID)][:1]


def to_pgbench_script(texts: Sequence[str], *, ids: Sequence[UUID], key: str) -> str:
    """A transaction of these statements in which each of the ids, and the key, is another one each time.

    The text of the script is of one round: RUN stands for 16 hexadecimal digits of it.
    """
    body = ";\n".join(" ".join(text.split()) for text in texts)
    # pgbench would take `:null` of JSON for a variable of its own, also within quotes.
    body = NAMED_PARAMETER.sub(": ", body)
    for part, one in enumerate(ids):
        body = re.sub(f"'({one}|{one.hex})'(::uuid)?", ID.format(run=RUN, part=part), body)
    body = body.replace(f"'{key}'", f"('{RUN}-' || :client_id::text || '-' || :number::text)")
    return f"\\set number :number + 1\nBEGIN;\n{body};\nCOMMIT;\n"


def run_pgbench(product: Product, texts: Sequence[str], *, clients: int, seconds: float) -> Figure:
    """A round of pgbench, with ids of its own."""
    run = uuid4().hex[:16]
    scripts = [pgbench.Script(text.replace(RUN, run)) for text in texts]
    # A -D holds for all of them.
    scripts[0] = replace(scripts[0], variables={"number": "0"})
    return pgbench.measure(product, scripts, clients=clients, seconds=seconds)


class Orders:
    """Ours, FastAPI and pgbench in turn."""

    name = "orders"
    rows: tuple[str, ...] = ("order", "orders")
    is_by_connections = True

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """A warm-up and the rounds, of each contender."""
        return 1 + sum(number for name, number in (("order", 3), ("orders", 2)) if name in wanted) * (run.rounds + 1)

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The rows. Raises WrongAnswer when FastAPI answers something else than we do."""
        run.step("orders: making venues with menus")
        product, known = run.product, create_sellers(QUICK_VENUES if run.arguments.quick else VENUES)
        keeps = clean_tables(product, known)
        with fastapi(product, "benchmarks.references.orders:app", name=PEER, workers=run.arguments.workers) as peer:
            peer.wait()
            headers = {"Authorization": f"Bearer {known[0].key}"}
            contenders = [replace(one, headers=headers) for one in (our_server(product), peer)]
            check_same_responses(contenders, known[0])
            run.settings["orders"] = {
                "PostgreSQL": keeps,
                "venues": f"{len(known)}, in turn: orders of one venue wait for each other's commit",
                PEER: {
                    **peer.settings,
                    "body": "strict Pydantic models",
                    "statements": "those of ours in one transaction, lines by unnest; calls logged as ours are",
                },
                PGBENCH: {
                    "program": "pgbench" if pgbench.find_pgbench() else "not installed, left out",
                    "statements": f"those of our orders at {len(known)} venues, -M prepared, as many clients",
                },
            }
            if "order" in wanted:
                yield self.placed(run, contenders, known)
            if "orders" in wanted:
                yield self.listed(run, contenders)

    def placed(self, run: Run, contenders: Sequence[Contender], known: Sequence[Seller]) -> Row:
        """POST."""
        keys, load = [one.key for one in known], run.load

        def round_of(one: Contender, load: Load) -> Figure:
            ask = partial(post_load.place_orders, load, one.base_url, path=PATH, body=BODY, keys=keys)
            return one.cost(ask, what=f"POST {PATH}")

        bench = partial(run_pgbench, run.product, order_scripts(known), clients=load.connections)
        turns: dict[str, Any] = {one.name: partial(round_of, one, load) for one in contenders}
        turns[PGBENCH] = partial(bench, seconds=load.seconds)
        for one in contenders:
            run.step(f"order: {one.name}, warming up")
            round_of(one, load.warm_up_load)
        run.step(f"order: {PGBENCH}, warming up")
        bench(seconds=1)
        vacuum_tables(run.product)
        figures = run.run_in_turns("order", turns)
        bounds = [Bound(of=PEER, gate=0.45, goal=0.7), Bound(of=PGBENCH, gate=0.11, goal=0.25)]
        return Row.create("order", f"POST {PATH}, 5 items, Idempotency-Key", figures, bounds)

    def listed(self, run: Run, contenders: Sequence[Contender]) -> Row:
        """GET."""
        vacuum_tables(run.product)
        for one in contenders:
            run.step(f"orders: {one.name}, warming up")
            one.warm_up(run.load, [PATH])
        figures = run.run_in_turns("orders", {one.name: partial(one.measure, run.load, [PATH]) for one in contenders})
        return Row.create("orders", f"GET {PATH}, newest 20", figures, [Bound(of=PEER, gate=0.55, goal=0.8)])
