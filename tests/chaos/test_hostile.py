"""Hostile bodies and parameters at both APIs of REST: quick refusals in JSON, and no memory that stays."""

import gzip
import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from accounts.models import Venue
from tests.security.live_product import stocked, workers
from tests.support import builders
from tests.support.live_server import served

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]

SLOWEST_S = 0.2
MAX_MB = 50
ROUNDS = 5
ORDERS, SEARCH = "/api/v1/orders", "/v1/restaurants"
JSON = {"Content-Type": "application/json"}
# The web server itself refuses what is no HTTP of a sane size, without a body, or hangs up.
OF_THE_WEB_SERVER = {"30 MB": {0}, "30 MB in chunks": {0}, "an address of 60 kB": {414, 431, 400, 0}}


@dataclass(frozen=True)
class Hostile:
    """A request that is to be refused."""

    path: str = ORDERS
    body: bytes = b""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)


def ordering(items: bytes) -> bytes:
    """An order whose lines are these bytes."""
    return b'{"customer_id":"c","payment_method":"card","items":' + items + b"}"


HOSTILE = {
    "30 MB": Hostile(body=ordering(b"[" + b" " * 30_000_000 + b"]")),
    "30 MB in chunks": Hostile(body=ordering(b" " * 30_000_000), headers={"Transfer-Encoding": "chunked"}),
    "depth 100,000": Hostile(body=ordering(b"[" * 100_000 + b"]" * 100_000)),
    "depth 100,000 of objects": Hostile(body=b'{"a":' * 100_000),
    "200,000 items": Hostile(body=ordering(b"[" + b"0," * 199_999 + b"0]")),
    "10,000 whole lines": Hostile(
        body=ordering(json.dumps([{"menu_item_id": "m", "quantity": 1}] * 10_000, separators=(",", ":")).encode())
    ),
    "a number of 100,000 digits": Hostile(body=ordering(b'[{"menu_item_id":"m","quantity":' + b"9" * 100_000 + b"}]")),
    "1e999": Hostile(body=ordering(b'[{"menu_item_id":"m","quantity":1e999}]')),
    "NaN": Hostile(body=ordering(b'[{"menu_item_id":"m","quantity":NaN}]')),
    "bad UTF-8": Hostile(body=ordering(b'[{"menu_item_id":"\xff\xfe","quantity":1}]')),
    "NUL": Hostile(body=ordering(b'[{"menu_item_id":"\\u0000","quantity":1}]')),
    "a lone surrogate": Hostile(body=ordering(b'[{"menu_item_id":"\\ud83d","quantity":1}]')),
    "a key twice": Hostile(body=b'{"customer_id":"a","customer_id":"b","payment_method":"card","items":[]}'),
    "a gzip bomb": Hostile(body=gzip.compress(b" " * 30_000_000), headers={"Content-Encoding": "gzip"}),
    "half a megabyte of quotes": Hostile(body=b'"' * 250_000),
    "20,000 unknown fields": Hostile(body=json.dumps({f"a{number}": 1 for number in range(20_000)}).encode()),
    "an address of 60 kB": Hostile(path=f"{SEARCH}?q={'a' * 60_000}", method="GET"),
    "a word of 8 kB": Hostile(path=f"{SEARCH}?q={'%F0%9F%8D%95' * 600}", method="GET"),
    "1,500 parameters": Hostile(path=f"{SEARCH}?{'&'.join(f'a{number}=1' for number in range(1_500))}", method="GET"),
    "a limit of 400 digits": Hostile(path=f"{SEARCH}?limit={'9' * 400}", method="GET"),
    "NUL in a parameter": Hostile(path=f"{SEARCH}?q=%00", method="GET"),
    "half a letter in a parameter": Hostile(path=f"{SEARCH}?q=%ff", method="GET"),
    "a place beyond the earth": Hostile(path=f"{SEARCH}?ll=1e308,1e308", method="GET"),
    "a forged cursor": Hostile(path=f"{SEARCH}?cursor={'A' * 3_000}", method="GET"),
    "a report of 200,000 items": Hostile(path="/v1/reports", body=b'{"details":[' + b"0," * 199_999 + b"0]}"),
    "a payment of 30 kB": Hostile(
        path=f"{SEARCH}/noma?fields=context", method="GET", headers={"PAYMENT-SIGNATURE": "A" * 30_000}
    ),
}


def fired(base_url: str, hostile: Hostile, key: str) -> tuple[int, str]:
    """Status and content type of the answer; 0 where the server hung up on who sent on."""
    line = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=20)
    headers = {"Authorization": f"Bearer {key}"} if hostile.path.startswith("/api/") else {}
    is_chunked = "Transfer-Encoding" in hostile.headers
    try:
        line.request(
            hostile.method,
            hostile.path,
            body=iter([hostile.body]) if is_chunked else hostile.body or None,
            headers={**JSON, **headers, **{name: text for name, text in hostile.headers.items() if not is_chunked}},
            encode_chunked=is_chunked,
        )
        answer = line.getresponse()
        answer.read()
    except (ConnectionError, http.client.HTTPException):
        return 0, ""
    finally:
        line.close()
    return answer.status, answer.headers.get("Content-Type", "")


def resident_mb(base_url: str) -> float:
    """What the processes that answer for this address hold in memory."""
    return float(sum(one.memory_info().rss for one in workers(base_url))) / 1e6


def test_hostile_requests_are_refused_in_json_within_200_ms_and_cost_less_than_50_mb(
    venue: Venue, tmp_path: Path
) -> None:
    stocked()
    key = builders.key(venue, allowance=100_000).text
    took: dict[str, float] = {}
    seen: dict[str, set[tuple[int, str]]] = {}
    with served(tmp_path / "web.log") as base_url:
        for _ in range(30):
            fired(base_url, Hostile(body=ordering(b"[]")), key)
            fired(base_url, Hostile(path=f"{SEARCH}/noma", method="GET"), key)
        before = resident_mb(base_url)
        for name in [*HOSTILE] * ROUNDS:
            began_at = time.perf_counter()
            seen.setdefault(name, set()).add(fired(base_url, HOSTILE[name], key))
            took_s = time.perf_counter() - began_at
            # A busy machine may take longer once.
            took[name] = min(took.get(name, took_s), took_s)
        grown = resident_mb(base_url) - before
    print(f"{len(HOSTILE)} x {ROUNDS}: slowest {max(took.values()) * 1000:.0f} ms, {grown:+.1f} MB")  # noqa: T201  # figures
    for name, answers in seen.items():
        for status, kind in answers:
            is_ours = 400 <= status < 500 and kind.startswith("application/json")
            assert is_ours or status in OF_THE_WEB_SERVER.get(name, ()), (name, status, kind)
    assert {name: took_s for name, took_s in took.items() if took_s > SLOWEST_S} == {}
    assert grown < MAX_MB
