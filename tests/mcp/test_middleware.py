"""What the doorway of the MCP endpoint lets in: methods, paths, pages of other origins, and bodies of any size."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import time_machine
from django.test import Client, RequestFactory
from pytest_django import Settings

from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import Allowance, count_call
from payments.pricing import default_products
from payments.x402.proofs import PAYMENT_META
from tests.mcp.client import call, message, post, price_of, refusal_of, words_of
from tests.payments.signing import client_of
from tests.payments.x402.test_challenges import SOLD, limits_of, still  # noqa: F401  # one is a fixture
from tests.security.live_product import stocked
from tests.support.live_server import NOWHERE, database_url, served
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db

PAGE = "https://agent.example"
SENT = "mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, authorization, content-type"
JSON = "application/json"


@pytest.fixture
def _goods(db: None) -> None:
    """What is sold, and its prices."""
    default_products.create_missing()
    stocked()


def list_tools(client: Client, **headers: Any) -> Any:
    """The HTTP answer to a message that needs nothing."""
    return post(client, "tools/list", **headers)


# Methods and paths
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_the_address_has_post_alone(client: Client, method: str) -> None:
    response = client.generic(method, "/mcp")
    assert (response.status_code, response["Allow"], response["Content-Type"]) == (405, "POST", JSON)
    if method != "HEAD":
        assert response.json()["error"]["data"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/mcp/sse", "/mcp/sse/"])
def test_a_client_of_the_former_transport_is_told_which_one_there_is(client: Client, path: str) -> None:
    response = client.get(path, headers={"Accept": "text/event-stream"})
    assert (response.status_code, response["Content-Type"]) == (404, JSON)
    assert response.json()["error"]["message"] == (
        "MCP is served by POST to /mcp over streamable HTTP, without streams of events (SSE)."
    )


@pytest.mark.parametrize("path", ["/mcp/anything", "/mcp/mcp", "/mcp//", "/mcp/tools/call"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_below_the_address_there_is_nothing(client: Client, method: str, path: str) -> None:
    body, _ = message("tools/list")
    response = client.generic(method, path, json.dumps(body), content_type=JSON)
    assert (response.status_code, response["Content-Type"]) == (404, JSON)
    assert response.json()["error"]["code"] == "not_found"


# Pages of other origins
@pytest.mark.parametrize(
    "origin",
    [
        PAGE,
        "null",
        "",
        "https://",
        "http://[::1",
        "http://testserver.evil.example",
        "http://evil.example@testserver",
        "http://testserver/",
        "http://testserver:port",
        "ftp://testserver",
        "file://",
        "testserver",
        "http://testserver, http://evil.example",
    ],
)
def test_pages_of_other_sites_may_not_call_and_cannot_read_why(client: Client, origin: str) -> None:
    response = list_tools(client, Origin=origin)
    assert (response.status_code, response["Content-Type"]) == (403, JSON)
    assert response.json()["error"]["data"]["code"] == "foreign_origin"
    assert "Access-Control-Allow-Origin" not in response
    assert "origin" in response["Vary"].lower()


@pytest.mark.parametrize(
    "origin", ["http://testserver", "https://testserver", "http://testserver:6274", "http://localhost:6274"]
)
def test_our_own_pages_may_call(client: Client, origin: str) -> None:
    response = list_tools(client, Origin=origin)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, "*")


def test_where_every_host_is_ours_no_page_is_ours_by_its_host(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert list_tools(client, Origin="http://testserver").status_code == 403
    settings.MCP_ALLOWED_ORIGINS = ["http://testserver"]
    assert list_tools(client, Origin="http://testserver").status_code == 200


def test_a_page_that_is_named_may_send_and_read_all_that_a_client_needs(client: Client, settings: Settings) -> None:
    settings.MCP_ALLOWED_ORIGINS = [PAGE]
    preflight = client.options(
        "/mcp",
        headers={
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": SENT,
        },
    )
    assert (preflight.status_code, preflight["Access-Control-Allow-Origin"]) == (204, "*")
    assert set(SENT.split(", ")) <= set(preflight["Access-Control-Allow-Headers"].split(", "))
    assert "POST" in preflight["Access-Control-Allow-Methods"]
    response = list_tools(client, Origin=PAGE)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, "*")
    exposed = set(response["Access-Control-Expose-Headers"].split(", "))
    assert {"X-RateLimit-Remaining", "RateLimit", "Retry-After", "X-Tier", "WWW-Authenticate"} <= exposed
    # Also a refusal must be read.
    refused = list_tools(client, Origin=PAGE, Authorization="Bearer ws_")
    assert (refused.status_code, refused["Access-Control-Allow-Origin"]) == (401, "*")


def test_a_preflight_refuses_an_unlisted_origin(client: Client) -> None:
    preflight = client.options("/mcp", headers={"origin": PAGE, "access-control-request-method": "POST"})
    assert preflight.status_code == 204
    assert [name for name in preflight.headers if name.startswith("Access-Control")] == []
    # At REST, where keys are for whoever holds them, every page may call.
    assert client.get("/v1/markets", headers={"origin": PAGE})["Access-Control-Allow-Origin"] == "*"


def test_a_foreign_page_takes_nothing_of_what_its_reader_has(client: Client) -> None:
    for _ in range(3):
        list_tools(client, Origin=PAGE)
    assert post(client, "resources/read", {"uri": "restaurants://account"})["X-RateLimit-Remaining"] == "9"


# Bodies
def junk(size: int) -> bytes:
    """The body that takes longest to judge."""
    return b'{"a":[' + b"[]," * ((size - 8) // 3) + b"1]}"


@pytest.mark.exhaustive
def test_large_bodies_that_cost_to_read_have_a_limit_of_their_own_and_are_unread_beyond_it(client: Client) -> None:
    def send(body: bytes) -> Any:
        return client.post("/mcp", body, content_type=JSON)

    ping = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "x" * 17_000}}).encode()
    assert send(ping).json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert [send(junk(17_000)).status_code for _ in range(29)] == [400] * 29
    for body in (ping, junk(262_000)):
        response = send(body)
        assert (response.status_code, response["Retry-After"].isdigit()) == (429, True)
        content = response.json()
        assert content["error"]["message"].startswith("Rate limit: 30 large messages a minute; next call in ")
        # What was read is refused by its id.
        assert content["id"] is None
    # Messages of any use go on.
    assert (send(junk(1_000)).status_code, list_tools(client).status_code) == (400, 200)


def test_a_body_that_is_too_large_is_413_unread_and_takes_nothing(client: Client) -> None:
    for _ in range(31):
        response = client.post("/mcp", b" " * 262_145, content_type=JSON)
    assert (response.status_code, response["Content-Type"]) == (413, JSON)


def test_a_call_with_a_large_payment_and_long_arguments_is_small(client: Client) -> None:
    beside = {PAYMENT_META: "x" * 8_000}
    for _ in range(3):
        assert "isError" in call(client, "find_landmark", meta=beside, query="y" * 4_000)
    assert post(client, "tools/list")["X-RateLimit-Remaining"].isdigit()


# Prices
@pytest.mark.usefixtures("_goods", "still")
def test_a_price_counts_as_a_challenge_at_both_doors_and_takes_nothing_of_the_calls(client: Client) -> None:
    unpaid = {"name": "get_surroundings", "arguments": {"slug": "noma"}}
    for number in range(4):
        response = post(client, "tools/call", unpaid)
        assert limits_of(response) == (200, '"challenges";q=120;w=60', 119 - 2 * number)
        price_of(response.json()["result"])
        assert limits_of(client.get(SOLD)) == (402, '"challenges";q=120;w=60', 118 - 2 * number)
    assert limits_of(post(client, "tools/call", {"name": "find_landmark", "arguments": {"query": "Tivoli"}})) == (
        200,
        '"data";q=10;w=60',
        9,
    )
    # What comes with a payment counts, whatever it is answered.
    junk_payment = post(client, "tools/call", unpaid, meta={PAYMENT_META: "junk"})
    assert limits_of(junk_payment) == (200, '"data";q=10;w=60', 8)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_goods", "still")
def test_too_many_challenges_are_rate_limited(client: Client) -> None:
    unpaid = {"name": "get_surroundings", "arguments": {"slug": "noma"}}
    answers = [post(client, "tools/call", unpaid) for _ in range(132)]
    assert {response.status_code for response in answers} == {200}
    words = [words_of(response.json()["result"]) for response in answers]
    assert all(word.startswith("{") for word in words[:120])
    assert words[120].startswith("Rate limit: 120 requests without a payment for what is sold a minute; next call in ")
    assert refusal_of(answers[120].json()["result"])["code"] == "rate_limit_exceeded"
    assert words[131].startswith("Rate limit: 10 calls a minute on the free tier; next call in ")


# Parts that are away
@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_without_the_database_a_call_reads_it_in_words_and_lists_are_served(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    log = tmp_path_factory.mktemp("baseless") / "web.log"

    def send(
        web: str, method: str, params: Mapping[str, Any], *, meta: Mapping[str, Any] | None = None, **headers: str
    ) -> httpx.Response:
        body, content = message(method, params, meta=meta)
        return httpx.post(f"{web}/mcp", json=body, headers={**content, **headers}, timeout=20)

    find = {"name": "find_landmark", "arguments": {"query": "Tivoli"}}
    anonymous: Mapping[str, Any] = {}
    session: Mapping[str, Any] = {"Authorization": f"Bearer ws_{43 * 'A'}"}
    with served(log, DATABASE_URL=database_url(address=NOWHERE)) as web:
        for headers in (anonymous, session):
            answer = send(web, "tools/call", find, **headers)
            assert (answer.status_code, answer.headers["Content-Type"]) == (200, JSON)
            result = answer.json()["result"]
            assert refusal_of(result)["code"] == "service_unavailable"
            assert words_of(result) == "The service is not available for a moment. Try again."
        paid = send(web, "tools/call", find, meta={PAYMENT_META: {"transaction": f"0x{'5a' * 32}"}})
        assert words_of(paid.json()["result"]) == (
            "The service is not available for a moment."
            " Repeat the call with the same payment: it is not charged twice."
        )
        # What no database is needed for is answered as ever, whoever asks.
        for headers in (anonymous, session):
            assert len(send(web, "tools/list", {}, **headers).json()["result"]["tools"]) > 8
        # What is surely nobody's needs none to be refused.
        assert send(web, "tools/list", {}, Authorization="Bearer eyJhbGciOi").status_code == 401


@pytest.mark.parametrize(
    ("policy", "limit", "window_s", "text"),
    [
        ("data-shared", 100, 60, "Rate limit: 100 calls a minute on the free tier"),
        ("bookings-shared", 600, 3600, "Rate limit: 600 tries to book an hour"),
        ("mcp-shared", 2400, 60, "Rate limit: 2400 messages a minute"),
    ],
)
def test_a_refusal_for_a_shared_limit_says_who_shares_it(policy: str, limit: int, window_s: int, text: str) -> None:
    """The counts are those of calls by other wallets, which the test does not make one by one."""
    request = RequestFactory().post("/mcp", REMOTE_ADDR="127.0.0.1")
    shared = Allowance(address_bucket(request), limit, window_s)
    with time_machine.travel(datetime.now(UTC), tick=False):
        for _ in range(limit):
            count_call(policy, shared)
        free = client_of(fresh_wallet())
        if policy == "bookings-shared":
            answer = call(free, "book_table", slug="nowhere", date="2026-11-21", time="20:00", party_size=2)
            said = words_of(answer)
        elif policy == "data-shared":
            said = words_of(call(free, "list_markets"))
        else:
            said = list_tools(free).json()["error"]["message"]
    assert said.startswith(f"{text}, shared by all free wallets and unconfirmed accounts at this network address;")
