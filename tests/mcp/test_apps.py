"""The view that hosts of MCP Apps show, as the endpoint serves it."""

import base64
import hashlib
import re
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.mcp.server import SERVER
from tests.catalogue import builders
from tests.mcp.client import STATELESS, Era, call, post, rpc

URI = "ui://tablewire/view"
MIME_TYPE = "text/html;profile=mcp-app"
SUPPORTED = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [MIME_TYPE]}}}
ERAS: list[Era] = ["2025-11-25", "2026-07-28"]


def document(client: Client) -> str:
    (content,) = rpc(client, "resources/read", {"uri": URI})["result"]["contents"]
    return str(content["text"])


@pytest.mark.parametrize("era", ERAS)
def test_the_view_is_html_that_needs_no_domain(client: Client, era: Era) -> None:
    result = rpc(client, "resources/read", {"uri": URI}, era=era)["result"]
    (content,) = result["contents"]
    assert content.pop("text").startswith("<!doctype html>")
    assert content == {
        "uri": URI,
        "mimeType": MIME_TYPE,
        "_meta": {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}},
    }


def test_the_policy_of_the_document_allows_its_own_script_and_style_and_nothing_else(client: Client) -> None:
    html = document(client)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*)"', html)
    hashes = {
        tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for tag in ("script", "style")
        for text in re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    }
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes['script']}'; style-src 'sha256-{hashes['style']}';"
        " base-uri 'none'; form-action 'none'"
    )
    assert len(html) < 32_000
    assert not re.search(r"https?://|innerHTML|insertAdjacentHTML|outerHTML|document\.write|\son\w+=", html)


@pytest.mark.django_db
@pytest.mark.parametrize("era", ERAS)
def test_tools_with_a_view_name_it(client: Client, era: Era) -> None:
    tools = rpc(client, "tools/list", era=era)["result"]["tools"]
    assert {tool["name"] for tool in tools if tool.get("_meta", {}).get("ui") == {"resourceUri": URI}} == {
        *("search_restaurants", "list_offers", "check_availability"),
        *("book_table", "get_booking", "change_booking", "cancel_booking"),
        # Those that sell: their price is shown.
        *("list_reviews", "get_review", "list_photos", "get_surroundings", "get_insight", "get_history"),
        *("buy_parts", "start_export"),
    }


def test_the_extension_is_announced(client: Client) -> None:
    found = rpc(client, "server/discover", era=STATELESS)["result"]["capabilities"]["extensions"]
    assert found["io.modelcontextprotocol/ui"] == {}


@pytest.mark.django_db
def test_a_host_with_views_gets_the_same_text_as_any_other(client: Client) -> None:
    builders.restaurant(slug="noma")
    asked: dict[str, Any] = {"era": STATELESS, "market": "copenhagen"}
    # A page says when it was made.
    with time_machine.travel(builders.NOW, tick=False):
        plain = call(client, "search_restaurants", **asked)
        assert call(client, "search_restaurants", capabilities=SUPPORTED, **asked)["content"] == plain["content"]


def test_reading_the_view_counts_as_a_message_not_as_a_call(client: Client) -> None:
    response = post(client, "resources/read", {"uri": URI}, X_Forwarded_For="10.9.9.9")
    assert response["X-RateLimit-Limit"] == "240"
    assert "view" in {resource.name for resource in SERVER.resources}
