"""What only a real server can be sent or can suffer: raw bodies, two processes, a database or a store that is away."""

import http.client
import json
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from accounts.models import ApiKey, Venue
from accounts.models.api_keys import all_scopes
from orders.models import Order
from tests.support import builders, openapi_operations
from tests.support.live_server import NOWHERE, database_url, served

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LIMIT = 1024 * 1024
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server on the tests' database and counters."""
    with served(tmp_path_factory.mktemp("web") / "web.log") as base_url:
        yield base_url


@pytest.fixture(scope="module")
def proxied(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server behind one proxy."""
    with served(tmp_path_factory.mktemp("proxied") / "web.log", TRUSTED_PROXIES="1") as base_url:
        yield base_url


@pytest.fixture
def bearer(venue: Venue) -> dict[str, str]:
    """The headers of a caller of the venue."""
    return {"Authorization": f"Bearer {ApiKey.create(venue, name='test', scopes=all_scopes()).text}"}


@pytest.fixture(params=openapi_operations.WITH_BODY, ids=lambda operation: operation.name)
def operation(request: pytest.FixtureRequest, venue: Venue) -> tuple[str, str, dict[str, Any], int]:
    """Method, path, good body and status of each operation that takes a body."""
    its: openapi_operations.Operation = request.param
    return its.method, its.path_of(venue), its.body or {}, its.status


def exchange(base_url: str, head: list[bytes], body: bytes = b"") -> tuple[int, dict[str, Any]]:
    """Send these bytes as they are; return the status and the JSON of the answer."""
    address = urlsplit(base_url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
        wire.sendall(b"\r\n".join([*head, b"Host: 127.0.0.1", b"Connection: close", b"", body]))
        response = http.client.HTTPResponse(wire)
        response.begin()
        return response.status, json.loads(response.read())


def pieces(raw: bytes, size: int) -> Iterator[bytes]:
    """The bytes in pieces, which httpx sends as chunks."""
    yield from (raw[start : start + size] for start in range(0, len(raw), size))


def test_an_address_of_64_kib_is_refused_before_it_comes_to_us(web: str, bearer: dict[str, str]) -> None:
    def asked(length: int) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection(urlsplit(web).netloc, timeout=10)) as connection:
            connection.request("GET", "/api/v1/orders?status=".ljust(length, "x"), headers=bearer)
            response = connection.getresponse()
            return response.status, response.read()

    status, payload = asked(65_000)
    assert (status, json.loads(payload)["error"]["param"]) == (400, "status")
    assert asked(65_536) == (414, b"")


# Bodies
def test_a_body_in_chunks_is_read(
    web: str, bearer: dict[str, str], operation: tuple[str, str, dict[str, Any], int]
) -> None:
    method, path, good, status = operation
    headers = bearer | {"Content-Type": "application/json"}
    response = httpx.request(method, web + path, content=pieces(json.dumps(good).encode(), 7), headers=headers)
    assert (response.request.headers["Transfer-Encoding"], response.status_code) == ("chunked", status)


def test_a_body_in_chunks_over_the_limit_is_refused(
    web: str, bearer: dict[str, str], operation: tuple[str, str, dict[str, Any], int]
) -> None:
    method, path, good, status = operation
    raw, limit = json.dumps(good).encode(), 4 * LIMIT if path.endswith("/menu") else LIMIT
    whole = httpx.request(method, web + path, content=pieces(raw.ljust(limit), 65536), headers=bearer)
    assert whole.status_code == status
    over = httpx.request(method, web + path, content=pieces(raw.ljust(limit + 1), 65536), headers=bearer)
    assert over.status_code == 400
    assert over.json()["error"]["message"] == f"The body is larger than {limit} bytes."


def test_a_body_that_announces_too_much_is_refused_before_it_comes(
    web: str, bearer: dict[str, str], operation: tuple[str, str, dict[str, Any], int]
) -> None:
    method, path, _, _ = operation
    line = f"{method} {path} HTTP/1.1".encode()
    credentials = f"Authorization: {bearer['Authorization']}".encode()
    status, answer = exchange(web, [line, credentials, b"Content-Length: 10000000000"])
    assert (status, answer["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("chunked", [False, True], ids=["of known length", "in chunks"])
def test_a_body_of_30_mb_is_refused(
    web: str, bearer: dict[str, str], operation: tuple[str, str, dict[str, Any], int], chunked: bool
) -> None:
    method, path, _, _ = operation
    raw = b" " * 30_000_000
    content = pieces(raw, 65536) if chunked else raw
    try:
        response = httpx.request(method, web + path, content=content, headers=bearer)
    except httpx.WriteError:
        # The server has answered and closed before it was all sent; this client does not read what it was told.
        assert httpx.get(f"{web}/livez").status_code == 200
    else:
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


def test_an_address_of_60_kb_is_refused_as_json(web: str, bearer: dict[str, str]) -> None:
    response = httpx.get(f"{web}/api/v1/orders?{'x' * 60_000}=1", headers=bearer)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
    assert len(response.content) < 2000


def test_head_is_get_without_its_body(web: str, bearer: dict[str, str]) -> None:
    whole, head = (httpx.request(method, f"{web}/api/v1/orders", headers=bearer) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Type", "Content-Length", "Link"):
        assert head.headers[name] == whole.headers[name]
    # The connection is still good: no body came after all.
    assert httpx.head(f"{web}/api/v1/nothing", headers=bearer).status_code == 404


def test_a_body_that_ends_before_its_length_places_no_order(web: str, bearer: dict[str, str]) -> None:
    def total() -> int:
        found = httpx.get(f"{web}/api/v1/orders", headers=bearer).json()["pagination"]["total"]
        assert isinstance(found, int)
        return found

    before = total()
    raw = json.dumps(builders.order_body()).encode()
    address = urlsplit(web)
    with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
        credentials = f"Authorization: {bearer['Authorization']}".encode()
        length = f"Content-Length: {len(raw) + 400}".encode()
        head = [b"POST /api/v1/orders HTTP/1.1", b"Host: 127.0.0.1", credentials, length, b"", raw]
        wire.sendall(b"\r\n".join(head))
        wire.shutdown(socket.SHUT_WR)
        while wire.recv(65536):
            pass
    assert total() == before


def count_orders(venue: Venue) -> int:
    return Order.objects.filter(venue=venue).count()


@pytest.mark.parametrize(
    "sent",
    [
        lambda raw: b"%x\r\n%b" % (len(raw), raw[:-1]),
        lambda raw: b"%x\r\n%b\r\n" % (len(raw) - 1, raw[:-1]),
        lambda raw: b"%x\r\n%b\r\n1\r\n" % (len(raw) - 1, raw[:-1]),
        lambda raw: b"%x\r\n%b\r\nzz\r\n}\r\n0\r\n\r\n" % (len(raw) - 1, raw[:-1]),
        lambda raw: b"%x\r\n%b\r\n-1\r\n}\r\n0\r\n\r\n" % (len(raw) - 1, raw[:-1]),
    ],
    ids=["in a chunk", "after a chunk", "before a chunk", "size is no number", "size is negative"],
)
def test_a_body_in_chunks_that_is_cut_off_places_no_order(
    web: str, venue: Venue, bearer: dict[str, str], sent: Callable[[bytes], bytes]
) -> None:
    address = urlsplit(web)
    with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
        credentials = f"Authorization: {bearer['Authorization']}".encode()
        head = [b"POST /api/v1/orders HTTP/1.1", b"Host: 127.0.0.1", credentials, b"Transfer-Encoding: chunked"]
        wire.sendall(b"\r\n".join([*head, b"", sent(json.dumps(builders.order_body()).encode())]))
        wire.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")
    assert count_orders(venue) == 0
    assert httpx.get(f"{web}/api/v1/orders", headers=bearer).status_code == 200


@pytest.mark.parametrize(
    ("lengths", "statuses"),
    [
        # Chunks win over a length (RFC 9112, 6.3): what follows them would be a second request.
        ([b"Content-Length: 1", b"Transfer-Encoding: chunked"], [201]),
        ([b"Transfer-Encoding: chunked", b"Content-Length: 1"], [201]),
        ([b"Content-Length: 5", b"Content-Length: 6"], [400]),
        ([b"Content-Length: 5, 6"], [400]),
        ([b"Content-Length: +5"], [400]),
        ([b"Transfer-Encoding: chunked, identity"], [400]),
        ([b"Transfer-Encoding: identity"], [400]),
        ([b"Transfer-Encoding : chunked"], [400]),
    ],
    ids=lambda value: b" ".join(value).decode() if value and isinstance(value[0], bytes) else "",
)
def test_two_lengths_of_a_body_are_one_request_or_refused(
    web: str, venue: Venue, bearer: dict[str, str], lengths: list[bytes], statuses: list[int]
) -> None:
    raw = json.dumps(builders.order_body()).encode()
    address = urlsplit(web)
    with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
        credentials = f"Authorization: {bearer['Authorization']}".encode()
        head = [b"POST /api/v1/orders HTTP/1.1", b"Host: 127.0.0.1", b"Connection: close", credentials, *lengths]
        wire.sendall(b"\r\n".join([*head, b"", f"{len(raw):x}".encode(), raw, b"0", b"", b""]))
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert [int(line[9:12]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")] == statuses
    assert count_orders(venue) == statuses.count(201)


def test_a_body_without_type_and_accept_is_served(
    web: str, bearer: dict[str, str], operation: tuple[str, str, dict[str, Any], int]
) -> None:
    method, path, good, expected = operation
    raw = json.dumps(good).encode()
    line = f"{method} {path} HTTP/1.1".encode()
    credentials = f"authorization: {bearer['Authorization']}".encode()
    status, answer = exchange(web, [line, credentials, f"Content-Length: {len(raw)}".encode()], raw)
    kind = path.rpartition("/test/")[2].split("/")[-1] if "/test/" in path else path.split("/")[3].removesuffix("s")
    assert (status, answer.get("object", kind).startswith(kind)) == (expected, True)


def test_a_query_of_raw_utf_8_is_read(web: str, bearer: dict[str, str]) -> None:
    credentials = f"Authorization: {bearer['Authorization']}".encode()
    status, answer = exchange(web, ["GET /api/v1/orders?tisch=grün&größe=3 HTTP/1.1".encode(), credentials])
    assert status == 400
    assert [problem["param"] for problem in answer["error"]["details"]] == ["tisch", "größe"]


def test_two_authorization_headers_are_no_credentials(web: str, bearer: dict[str, str]) -> None:
    credentials = f"Authorization: {bearer['Authorization']}".encode()
    status, answer = exchange(web, [b"GET /api/v1/orders HTTP/1.1", credentials, credentials])
    assert (status, answer["error"]["code"]) == (401, "invalid_credentials")


# Counts
def test_of_160_calls_by_16_threads_to_two_processes_exactly_the_allowance_of_100_passes(
    web: str, venue: Venue, tmp_path_factory: pytest.TempPathFactory
) -> None:
    key = ApiKey.create(venue, name="test", allowance=100).text
    with ExitStack() as held:
        second = held.enter_context(served(tmp_path_factory.mktemp("second") / "web.log"))
        api = held.enter_context(httpx.Client(headers={"Authorization": f"Bearer {key}"}))
        threads = held.enter_context(ThreadPoolExecutor(16))
        urls = [f"{base_url}/api/v1/orders" for base_url in (web, second)] * 80
        answers = list(threads.map(api.get, urls))
    assert Counter(response.status_code for response in answers) == {200: 100, 429: 60}
    left = [int(response.headers["X-RateLimit-Remaining"]) for response in answers if response.status_code == 200]
    assert sorted(left) == list(range(100))


@pytest.mark.parametrize(
    "forged",
    [
        [b"X-Forwarded-For: 198.51.100.%d"],
        [b"X-Forwarded-For: 198.51.100.%d, 198.51.100.7", b"x-forwarded-for: 198.51.100.%d"],
        [b"X_Forwarded_For: 198.51.100.%d"],
        [b"Forwarded: for=198.51.100.%d"],
        [b"X-Real-IP: 198.51.100.%d", b"Client-IP: 198.51.100.%d", b"True-Client-IP: 198.51.100.%d"],
        [b"X-Forwarded-For: 198.51.100.%d,"],
    ],
    ids=lambda lines: b" ".join(lines).decode(),
)
def test_a_caller_behind_a_proxy_does_not_choose_its_address(proxied: str, forged: list[bytes]) -> None:
    """The proxy appends its line behind those of the caller."""
    left = []
    for number in range(1, 4):
        lines = [line.replace(b"%d", str(number).encode()) for line in forged]
        address = urlsplit(proxied)
        with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
            head = [b"GET /api/v1/orders HTTP/1.1", b"Host: 127.0.0.1", b"Connection: close", *lines]
            wire.sendall(b"\r\n".join([*head, b"X-Forwarded-For: 203.0.113.9", b"", b""]))
            response = http.client.HTTPResponse(wire)
            response.begin()
            left.append(int(response.headers["X-RateLimit-Remaining"]))
    assert left == [999, 998, 997]


# Parts that are away
def test_without_the_counters_calls_are_served_and_limited_by_the_process(
    venue: Venue, tmp_path_factory: pytest.TempPathFactory
) -> None:
    key = ApiKey.create(venue, name="test", allowance=5).text
    log = tmp_path_factory.mktemp("storeless") / "web.log"
    with (
        served(log, REDIS_URL=f"redis://{NOWHERE}") as web,
        httpx.Client(headers={"Authorization": f"Bearer {key}"}) as api,
    ):
        answers = [api.get(f"{web}/api/v1/orders") for _ in range(7)]
        assert [response.status_code for response in answers] == [200] * 5 + [429] * 2
        left = [response.headers["X-RateLimit-Remaining"] for response in answers]
        assert left == ["4", "3", "2", "1", "0", "0", "0"]
        ready = api.get(f"{web}/readyz")
        assert (ready.status_code, ready.json()) == (
            200,
            {"status": "degraded", "parts": {"database": "ok", "counters": "away"}},
        )


def test_calls_without_the_database_are_asked_to_retry(
    bearer: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("baseless") / "web.log"
    with served(log, DATABASE_URL=database_url(address=NOWHERE)) as web, httpx.Client(headers=bearer) as api:
        for response in (
            api.get(f"{web}/api/v1/orders"),
            api.post(f"{web}/api/v1/orders", json=builders.order_body()),
        ):
            assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
            assert response.headers["Content-Type"] == "application/json"
            assert response.json()["error"]["code"] == "service_unavailable"
            assert [response.headers[name].isdigit() for name in RATE_HEADERS] == [True, True, True]
        assert api.get(f"{web}/livez").json() == {"status": "ok"}
        ready = api.get(f"{web}/readyz")
        assert (ready.status_code, ready.json()) == (
            503,
            {"status": "away", "parts": {"database": "away", "counters": "ok"}},
        )
        # What no database is needed for is answered as ever.
        unknown = httpx.get(f"{web}/api/v1/orders")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (401, "missing_credentials")
