"""A running product by real HTTP: the official client of MCP signs in, and a till connects to three restaurants."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support import oauth
from tests.support.live_stack import Up
from tests.support.oauth import Person

pytestmark = pytest.mark.stack

LOOPBACK = "http://127.0.0.1:49152/callback"


class Memory:
    """What the client of MCP keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@pytest.fixture(scope="module")
def person(up: Up) -> Iterator[Person]:
    known = Person(up)
    with closing(known.browser):
        yield known


def test_the_official_client_of_mcp_signs_in_by_discovery_registration_and_pkce(up: Up, person: Person) -> None:
    memory, opened = Memory(), []

    async def open_browser(address: str) -> None:
        opened.append(address)

    async def come_back() -> AuthorizationCodeResult:
        found = await anyio.to_thread.run_sync(lambda: person.allow(opened[-1], whole_account=True))
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    async def use() -> tuple[list[str], Any]:
        url = f"{up.record['base_url']}/mcp/account"
        provider = OAuthClientProvider(
            url,
            OAuthClientMetadata(client_name="Agent", redirect_uris=[AnyUrl(LOOPBACK)]),
            memory,
            redirect_handler=open_browser,
            callback_handler=come_back,
        )
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            tools = await client.list_tools()
            bookings = await client.call_tool("list_my_bookings", {})
            return [tool.name for tool in tools.tools], bookings

    names, bookings = anyio.run(use)
    assert "search_restaurants" in names
    assert not bookings.is_error
    assert len(opened) == 1
    assert oauth.query_of(opened[0])["resource"] == f"{up.record['base_url']}/mcp/account"
    assert memory.tokens is not None
    assert memory.tokens.access_token.startswith("oat_")
    assert memory.client is not None
    assert str(memory.client.client_id).startswith("app_")


def test_a_till_connects_to_all_restaurants_of_an_account_and_places_an_order(up: Up, person: Person) -> None:
    base = up.record["base_url"]
    with httpx.Client(base_url=base, timeout=30) as http:
        metadata = http.get("/.well-known/oauth-authorization-server").json()
        registered = http.post(
            urlsplit(metadata["registration_endpoint"]).path,
            json={"client_name": "Till", "redirect_uris": [oauth.CALLBACK]},
        )
        app = oauth.App(registered.json()["client_id"])
        for name in ("Second", "Third"):
            # A new restaurant of the account, as its owner adds it.
            venue = up.record["dashboard"]["venue"]
            form = {"name": f"{name} restaurant", "timezone": "Europe/Rome", "currency": "EUR"}
            person.submit(f"/dashboard/{venue}/account", form)
            person.browser.post(
                f"/dashboard/{venue}/account/venues",
                data=form | {"csrfmiddlewaretoken": person.browser.cookies["csrftoken"]},
                headers={"Origin": base},
            )
        found = person.allow(app.address(scope="orders:read orders:write"), whole_account=True)
        assert found["iss"] == metadata["issuer"] == base
        body = {
            "grant_type": "authorization_code",
            "code": found["code"],
            "redirect_uri": oauth.CALLBACK,
            "client_id": app.client_id,
            "code_verifier": app.verifier,
        }
        tokens = http.post(urlsplit(metadata["token_endpoint"]).path, data=body).json()
        assert len(tokens["venues"]) >= 3
        order = {
            "customer_id": "till",
            "items": [{"menu_item_id": "margherita", "quantity": 1}],
            "payment_method": "card",
        }
        for venue in [each for each in tokens["venues"] if each["name"].endswith(" restaurant")]:
            headers = {"Authorization": f"Bearer {tokens['access_token']}", "Tablewire-Venue": venue["id"]}
            placed = http.post("/api/v1/orders", json=order, headers=headers)
            assert placed.status_code == 201, placed.text
            listed = http.get("/api/v1/orders", headers=headers).json()["data"]
            assert [each["id"] for each in listed] == [placed.json()["id"]]
        refreshed = http.post(
            "/oauth/token",
            data={
                "grant_type": "refresh_token",
                "refresh_token": tokens["refresh_token"],
                "client_id": app.client_id,
            },
        ).json()
        replayed = http.post("/oauth/token", data=body)
        assert (replayed.status_code, replayed.json()["error"]) == (400, "invalid_grant")
        headers["Authorization"] = f"Bearer {refreshed['access_token']}"
        assert http.get("/api/v1/orders", headers=headers).status_code == 401
