"""The profile of this installation, and what the profiles of agents may be."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings
from ucp_sdk.models.schemas.profile import BusinessSchema

from accounts import json_documents
from catalogue.ucp import handlers, negotiation
from catalogue.ucp.protocol import CHECKOUT, FULFILLMENT, ProtocolError
from framework.api.rate_limits import counter
from orders.models import Menu
from tests.catalogue.ucp.agents import Agent, new_body, profile, serving_profiles

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("enabled")]
MALFORMED = {
    "/nothing": b"",
    "/list": b"[]",
    "/no-ucp": b"{}",
    "/no-version": json.dumps(profile(version=1)).encode(),
    "/large": b"{" + b" " * 70_000 + b"}",
}
WITHOUT = {
    "/nothing-shared": profile(capabilities={}),
    "/strange": profile(capabilities={CHECKOUT: [{"version": 5}, "x", None]}),
    "/list-of-capabilities": profile(capabilities=[CHECKOUT]),
    "/other-version": profile(capabilities={CHECKOUT: [{"version": "2026-04-08"}]}),
}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[str]]]:
    documents = {
        "/agent": profile(),
        "/old": profile(version="2026-04-08"),
        "/no-times": profile(capabilities={CHECKOUT: [{"version": "2026-08-25"}]}),
        **WITHOUT,
    }
    served = {path: json.dumps(document).encode() for path, document in documents.items()}
    with serving_profiles(served | MALFORMED) as (address, asked):
        yield address, asked


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """No profile is remembered."""
    cache.clear()


def asked_as(url: str) -> Any:
    return Agent(url).call("GET", "/checkout-sessions/x")


# Our profile
def test_our_profile_names_the_service_its_capabilities_and_its_handlers(settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "https://food.example.com"
    response = Client().get("/.well-known/ucp")
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Content-Type"] == "application/json"
    body = response.json()
    known = BusinessSchema.model_validate(body).ucp
    assert known.version == "2026-08-25"
    (service,) = body["ucp"]["services"]["dev.ucp.food"]
    assert (service["transport"], service["endpoint"]) == ("rest", "https://food.example.com/ucp/2026-08-25")
    assert list(body["ucp"]["capabilities"]) == [CHECKOUT, FULFILLMENT]
    assert body["ucp"]["capabilities"][FULFILLMENT][0]["extends"] == CHECKOUT
    assert list(body["ucp"]["payment_handlers"]) == ["com.example.food.x402", "com.example.food.pay_at_venue"]
    assert Client().get("/.well-known/ucp", headers={"if-none-match": response["ETag"]}).status_code == 304


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://food.example.com:8443", "com.example.food"),
        ("http://127.0.0.1:8000", "localhost.tablewire"),
        ("http://[::1]:8000", "localhost.tablewire"),
        ("http://localhost:8000", "localhost.tablewire"),
    ],
)
def test_handlers_are_named_by_the_domain_of_the_installation(settings: Settings, address: str, name: str) -> None:
    settings.PUBLIC_BASE_URL = address
    assert handlers.namespace() == name
    BusinessSchema.model_validate(Client().get("/.well-known/ucp").json())


def test_any_page_may_call(server: tuple[str, list[str]]) -> None:
    asked = {"origin": "https://agent.example", "access-control-request-method": "POST"}
    asked |= {"access-control-request-headers": "ucp-agent, idempotency-key, content-type"}
    response = Client().options("/ucp/2026-08-25/checkout-sessions", headers=asked)
    assert response["Access-Control-Allow-Origin"] == "*"
    assert "ucp-agent" in response["Access-Control-Allow-Headers"]


# The profiles of agents
@pytest.mark.parametrize(
    "header",
    [
        "",
        "https://agent.example/profile",
        "profile=https://agent.example/profile",
        'profile="ftp://agent.example/profile"',
        'profile="javascript:alert(1)"',
        'profile=""',
        'profil="https://agent.example/profile"',
        'profile="https://agent.example/' + "x" * 500 + '"',
    ],
)
def test_a_request_names_the_profile_of_its_agent(header: str) -> None:
    response = Agent("").call("GET", "/checkout-sessions/x", **{"UCP-Agent": header})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_profile_url")
    assert Client().get("/ucp/2026-08-25/checkout-sessions/x").status_code == 400


def test_the_profile_may_stand_among_other_members() -> None:
    url = "https://agent.example/p"
    for header in (f'profile="{url}"', f'a=1, profile="{url}";v=2, b="x"', f'name="x",profile="{url}"'):
        assert negotiation.read_header(header) == url


def test_outside_of_development_a_profile_is_https_and_public(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = False
    assert asked_as("http://127.0.0.1/agent").json()["code"] == "invalid_profile_url"
    for host in ("127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "metadata.internal"):
        response = asked_as(f"https://{host}/agent")
        assert (response.status_code, response.json()["code"]) == (424, "profile_unreachable")
        # Nothing of our network is told.
        assert response.json()["content"] == "The profile cannot be read."


def test_a_profile_is_read_once_an_hour_and_a_failure_once_a_minute(server: tuple[str, list[str]]) -> None:
    address, asked = server
    asked.clear()
    for _ in range(3):
        assert asked_as(f"{address}/agent").json()["messages"][0]["code"] == "not_found"
        assert asked_as(f"{address}/missing").status_code == 424
    assert asked == ["/agent", "/missing"]


@pytest.mark.parametrize("path", MALFORMED)
def test_a_profile_that_is_none_is_malformed(server: tuple[str, list[str]], path: str) -> None:
    response = asked_as(f"{server[0]}{path}")
    assert (response.status_code, response.json()["code"]) == (422, "profile_malformed")


def test_another_version_of_the_protocol_is_not_supported(server: tuple[str, list[str]]) -> None:
    response = asked_as(f"{server[0]}/old")
    assert (response.status_code, response.json()["code"]) == (422, "version_unsupported")
    assert "supports 2026-08-25" in response.json()["content"]


@pytest.mark.parametrize("path", WITHOUT)
def test_an_agent_without_the_capability_is_told_so(server: tuple[str, list[str]], path: str) -> None:
    response = asked_as(f"{server[0]}{path}")
    assert (response.status_code, response.json()["ucp"]["status"]) == (200, "error")
    assert response.json()["messages"][0]["code"] == "capabilities_incompatible"


def test_only_shared_capabilities_are_in_an_answer(server: tuple[str, list[str]], menu: Menu) -> None:
    checkout = Agent(f"{server[0]}/no-times").create(menu.venue)
    assert list(checkout["ucp"]["capabilities"]) == [CHECKOUT]
    assert "fulfillment" not in checkout
    assert checkout["status"] == "ready_for_complete"
    both = Agent(f"{server[0]}/agent").create(menu.venue)
    assert list(both["ucp"]["capabilities"]) == [CHECKOUT, FULFILLMENT]


# Limits
def test_calls_sessions_and_profiles_of_an_address_are_limited(
    agent: Agent, menu: Menu, monkeypatch: pytest.MonkeyPatch
) -> None:
    from catalogue.ucp import views

    monkeypatch.setattr(views, "MAX_SESSIONS_PER_HOUR", 1)
    agent.create(menu.venue)
    refused = agent.call("POST", "/checkout-sessions", new_body(menu.venue))
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limit_exceeded")
    assert int(refused.headers["Retry-After"]) > 0
    monkeypatch.setattr(negotiation, "MAX_READS", 0)
    assert asked_as("https://agent.example/new").status_code == 429
    monkeypatch.setattr(views, "MAX_CALLS_PER_HOUR", 0)
    assert agent.call("GET", "/checkout-sessions/x").status_code == 429


@pytest.mark.exhaustive
def test_servers_that_hang_cost_two_threads_and_known_profiles_are_served(
    server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody may name a profile, so the threads that wait for one are few; nothing is remembered of the others."""
    monkeypatch.setattr(json_documents, "TIMEOUT_S", 1.5)
    known = f"{server[0]}/agent"
    asked_as(known)

    def ask(hanging: str) -> tuple[int, str, str | None]:
        try:
            negotiation.identify_agent({"UCP-Agent": f'profile="{hanging}"'}, address="192.0.2.1")
        except ProtocolError as error:
            return error.protocol_status, error.protocol_code, error.headers.get("Retry-After")
        raise AssertionError

    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent, ThreadPoolExecutor(8) as threads:
        urls = [f"http://127.0.0.1:{silent.getsockname()[1]}/{number}" for number in range(8)]
        asking = [threads.submit(ask, url) for url in urls]
        time.sleep(0.5)
        answered = [each.result() for each in asking if each.done()]
        assert asked_as(known).json()["messages"][0]["code"] == "not_found"
        assert sum(not each.done() for each in asking) == 2
        assert set(answered) == {(503, "service_unavailable", "2")}
        waited = [each.result() for each in asking if each.result()[0] != 503]
    assert set(waited) == {(424, "profile_unreachable", None)}
    remembered = [cache.get(f"ucp-profile:{counter.hash_bucket(url)}") for url in urls]
    assert sum(each is not None for each in remembered) == 2
