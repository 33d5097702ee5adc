"""What is read before anybody connects: /llms.txt, the pages behind it, and the card of the MCP server."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urljoin, urlsplit

import httpx
import pytest
from django.conf import LazySettings, settings
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue.agent_discovery import llms_txt, x402_manifest
from catalogue.mcp import server_card
from framework.mcp import protocol_versions
from payments.pricing import default_products
from tests.catalogue import builders
from tests.mcp.client import rpc
from tests.support.live_stack import Up

BASE = "https://api.example.com"
LLMS = "/llms.txt"
CARDS = ("/mcp/server-card", "/.well-known/mcp/server-card.json")
CATALOG = "/.well-known/ai-catalog.json"
PAGE = "/docs/paying.md"
CHANGES = "/CHANGELOG.md"
EACH = (LLMS, *CARDS, CATALOG, PAGE, CHANGES)
LINK = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\)(: .+)?$")


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Iterator[None]:
    """No test knows what another has read."""
    monkeypatch.setattr(x402_manifest, "MAX_AGE_S", 0.0)
    monkeypatch.setattr(llms_txt, "COUNTS_MAX_AGE_S", 0.0)
    settings.PUBLIC_BASE_URL = BASE
    yield
    llms_txt.cached_counts.clear()
    x402_manifest.cached_prices.clear()


def text_of(client: Client) -> str:
    """The document."""
    response = client.get(LLMS)
    assert response.status_code == 200
    return response.content.decode()


def sections_of(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """The sections of links, as llmstxt.org asks for them: name, address and notes of each."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for part in text.split("\n## ")[1:]:
        heading, _, rest = part.partition("\n")
        lines = [LINK.fullmatch(line) for line in rest.strip().splitlines()]
        assert all(lines), rest
        found[heading] = [line.groups(default="") for line in lines if line]  # type: ignore[misc]
    return found


# llms.txt
@pytest.mark.django_db
def test_it_has_the_form_that_models_expect(client: Client) -> None:
    text = text_of(client)
    lines = text.splitlines()
    assert lines[0] == "# Tablewire"
    assert lines[2].startswith("> Restaurant data for agents, over MCP and REST")
    assert sum(line.startswith("# ") for line in lines) == 1
    assert list(sections_of(text)) == ["MCP", "REST", "Prices", "Documentation", "Optional"]
    assert sections_of(text)["MCP"][0][:2] == ("MCP endpoint", f"{BASE}/mcp")
    assert len(text.encode()) < 8_000


@pytest.mark.django_db
def test_the_entry_for_clients_is_json_that_they_take(client: Client) -> None:
    (entry,) = re.findall(r"`(\{.+\})`", text_of(client))
    assert json.loads(entry) == {"mcpServers": {"tablewire": {"type": "http", "url": f"{BASE}/mcp"}}}


@pytest.mark.django_db
def test_it_says_how_much_there_is_and_what_it_costs_now(client: Client) -> None:
    default_products.create_missing()
    for slug in ("copenhagen", "lisbon"):
        builders.restaurant(market=builders.market(slug))
    builders.restaurant(status="permanently_closed")
    text = text_of(client)
    assert "(2 restaurants in 2 markets)" in text
    assert "now, in USDC by tier: ai_insight 0.003 to 0.01, context 0.0005 to 0.002, export_history 0.8 to 1" in text
    assert "export_restaurants 0.5 to 0.9, export_reviews 0.8 to 1, history 0.003 to 0.01" in text
    assert "photos 0.001 to 0.003, reviews 0.001 to 0.004\n" in text
    assert "10 calls a minute" in text


@pytest.mark.django_db
def test_each_address_in_it_answers(client: Client) -> None:
    default_products.create_missing()
    asked = 0
    for links in sections_of(text_of(client)).values():
        for _, url, _ in links:
            assert url.startswith(f"{BASE}/")
            path = url.removeprefix(BASE)
            assert client.get(path).status_code == (405 if path == "/mcp" else 200), url
            asked += 1
    assert asked >= 24


@pytest.mark.django_db
def test_each_page_is_linked_once_under_its_own_title(client: Client) -> None:
    links = [link for section in sections_of(text_of(client)).values() for link in section]
    urls = [url for _, url, _ in links]
    assert len(urls) == len(set(urls))
    pages = {path.name for path in Path(settings.BASE_DIR, "docs").glob("*.md")}
    assert {url.rsplit("/", 1)[1] for url in urls if url.endswith(".md")} == pages
    assert (next(name for name, url, _ in links if url.endswith("/docs/paying.md"))) == "Paying"


@pytest.mark.django_db
def test_it_costs_no_query_while_it_is_remembered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(x402_manifest, "MAX_AGE_S", 60.0)
    monkeypatch.setattr(llms_txt, "COUNTS_MAX_AGE_S", 600.0)
    default_products.create_missing()
    with CaptureQueriesContext(connection) as queries:
        first = text_of(client)
    assert len(queries) <= 4
    with CaptureQueriesContext(connection) as queries:
        assert text_of(client) == first
    assert len(queries) == 0


@pytest.mark.django_db
def test_without_the_database_it_is_served_with_what_was_known(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    default_products.create_missing()
    builders.restaurant()
    first = text_of(client)

    def fails(*_: Any, **__: Any) -> Any:
        raise OperationalError("away")

    monkeypatch.setattr("catalogue.agent_discovery.x402_manifest.current_prices", fails)
    monkeypatch.setattr(llms_txt.cached_counts, "load", fails)
    assert text_of(client) == first
    llms_txt.cached_counts.clear()
    x402_manifest.cached_prices.clear()
    text = text_of(client)
    assert "restaurants in" not in text
    assert "USDC by tier" not in text
    assert [url for section in sections_of(text).values() for _, url, _ in section] == [
        url for section in sections_of(first).values() for _, url, _ in section
    ]


# Pages
def test_a_page_is_served_as_it_is_written(client: Client) -> None:
    response = client.get(PAGE)
    assert response.content == Path(settings.BASE_DIR, "docs", "paying.md").read_bytes()
    assert response["Content-Type"] == "text/markdown; charset=utf-8"


@pytest.mark.stack
def test_every_link_of_every_page_is_answered(up: Up) -> None:
    base = up.record["base_url"]
    asked, walked = {f"{base}/docs/{name}.md" for name in llms_txt.pages()}, set[str]()
    with httpx.Client(timeout=30) as api:
        while left := asked - walked:
            for url in left:
                response = api.get(url)
                walked.add(url)
                assert response.status_code == 200, url
                if response.headers["Content-Type"] == "text/markdown; charset=utf-8":
                    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", response.text)
                    found = {urljoin(url, one or other).partition("#")[0] for one, other in links}
                    # An install link leads to the program of the user, which httpx does not follow.
                    ours = {link for link in found if link.startswith(f"{base}/")}
                    asked |= {link for link in ours if "/mcp/install/" not in link}
    for path in ("CHANGELOG.md", "docs/mcp-paid-call.svg", "docs/openapi/data.json"):
        assert f"{base}/{path}" in walked
    assert sum("/docs/decisions/" in url for url in walked) >= 10


def test_a_picture_is_served_as_one_in_which_nothing_runs(client: Client) -> None:
    response = client.get("/docs/mcp-paid-call.svg")
    assert response.content == Path(settings.BASE_DIR, "docs", "mcp-paid-call.svg").read_bytes()
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        *("/docs/nope.md", "/docs/decisions/0001.md"),
        *("/docs/../README.md", "/docs/%2e%2e/README.md", "/docs/..%2fCHANGELOG.md", "/docs/decisions/../paying.md"),
        *("/docs//paying.md", "/docs/PAYING.md"),
        *("/docs/openapi/data.md", "/docs/nope.svg", "/docs/docs/paying.md", "/docs//etc/passwd.md"),
    ],
)
def test_nothing_beside_the_pages_is_served(client: Client, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["/docs/.md", "/docs/paying.md/", "/docs/paying.md%00", "/docs/paying.md%0a"])
def test_what_is_no_name_of_a_file_is_answered_with_a_page(client: Client, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")


# The card
@pytest.mark.django_db
def test_the_card_says_who_serves_and_how_to_connect(client: Client) -> None:
    body = client.get(CARDS[0]).json()
    assert body == {
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "com.example.api/tablewire",
        "version": settings.VERSION,
        "title": "Tablewire",
        "description": body["description"],
        "websiteUrl": f"{BASE}/docs/mcp.md",
        "icons": [{"src": f"{BASE}/static/tablewire/mark.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}],
        "remotes": [
            {
                "type": "streamable-http",
                "url": f"{BASE}/mcp",
                "supportedProtocolVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
                "headers": [
                    {
                        "name": "Authorization",
                        "description": "`Bearer` and a session or an API key of yours. You may call without.",
                        "isRequired": False,
                        "isSecret": True,
                    }
                ],
            }
        ],
    }
    # Of the schema.
    assert 1 <= len(body["description"]) <= 100
    assert client.get(CARDS[1]).content == client.get(CARDS[0]).content


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://tablewire.com", "com.tablewire/tablewire"),
        ("http://localhost:8000", "localhost/tablewire"),
        ("http://127.0.0.1:8000", "127.0.0.1/tablewire"),
        ("http://[::1]:8000", "--1/tablewire"),
        ("https://smørrebrød.example", "example.xn--smrrebrd-64af/tablewire"),
    ],
)
def test_the_card_is_named_after_the_host_in_letters_that_names_may_have(
    settings: LazySettings, base: str, name: str
) -> None:
    settings.PUBLIC_BASE_URL = base
    assert server_card.card()["name"] == name
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", name)


@pytest.mark.django_db
def test_the_card_does_not_contradict_the_server(client: Client) -> None:
    body = client.get(CARDS[0]).json()
    discovered = rpc(client, "server/discover", era="2026-07-28")["result"]
    assert body["remotes"][0]["supportedProtocolVersions"] == discovered["supportedVersions"]
    info = discovered["_meta"][protocol_versions.SERVER_INFO_META]
    for name in ("version", "title", "description", "websiteUrl", "icons"):
        assert body[name] == info[name]
    assert body["name"].endswith(f"/{info['name']}")


def test_the_file_for_the_registry_is_the_card_in_the_schema_of_the_registry(client: Client) -> None:
    entry, card = client.get("/mcp/server.json").json(), client.get(CARDS[0]).json()
    assert entry.pop("$schema") == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    (remote,) = entry["remotes"]
    assert set(remote) == {"type", "url", "headers"}
    assert (entry["name"], entry["version"], remote["url"]) == (card["name"], card["version"], f"{BASE}/mcp")


def test_a_link_opens_an_editor_with_the_address_filled_in(client: Client) -> None:
    cursor = client.get("/mcp/install/cursor")
    assert cursor.status_code == 302
    parts = urlsplit(cursor["Location"])
    assert (parts.scheme, parts.netloc, parts.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    query = parse_qs(parts.query)
    assert query["name"] == ["tablewire"]
    assert json.loads(base64.b64decode(query["config"][0])) == {"url": f"{BASE}/mcp"}
    scheme, _, config = client.get("/mcp/install/vscode")["Location"].partition("?")
    assert scheme == "vscode:mcp/install"
    assert json.loads(unquote(config)) == {"name": "tablewire", "type": "http", "url": f"{BASE}/mcp"}
    assert client.post("/mcp/install/cursor").status_code == 405
    assert client.get("/mcp/install/emacs").status_code == 404


def test_the_catalog_of_the_host_leads_to_the_card(client: Client) -> None:
    body = client.get(CATALOG).json()
    assert (body["specVersion"], body["host"]["displayName"]) == ("1.0", "Tablewire")
    (entry,) = body["entries"]
    assert (entry["identifier"], entry["type"]) == (
        "urn:air:api.example.com:tablewire",
        "application/mcp-server-card+json",
    )
    response = client.get(entry["url"].removeprefix(BASE), headers={"accept": entry["type"]})
    assert (response.status_code, response["Content-Type"]) == (200, entry["type"])


# All of them
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "kind", "seconds"),
    [
        (LLMS, "text/markdown; charset=utf-8", 300),
        *((path, "text/markdown; charset=utf-8", 300) for path in (PAGE, CHANGES)),
        *((path, "application/mcp-server-card+json", 3600) for path in CARDS),
        (CATALOG, "application/ai-catalog+json", 3600),
    ],
)
def test_caches_keep_them_and_pages_of_others_read_them(client: Client, path: str, kind: str, seconds: int) -> None:
    response = client.get(path, headers={"origin": "https://shop.example"})
    assert response["Content-Type"] == kind
    assert response["Cache-Control"] == f"public, max-age={seconds}"
    assert response["Access-Control-Allow-Origin"] == "*"
    again = client.get(path, headers={"if-none-match": response["ETag"], "origin": "https://shop.example"})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", response["ETag"])
    assert again["Access-Control-Allow-Origin"] == "*"
    head = client.head(path)
    assert (head.status_code, head["ETag"], head.content) == (200, response["ETag"], b"")


@pytest.mark.parametrize("path", EACH)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_405_in_json(path: str, method: str) -> None:
    # As from outside: without the token that pages send.
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Content-Type"]) == (405, "application/json")
    error = response.json()["error"]
    assert (error["code"], error["request_id"][:4]) == ("method_not_allowed", "req_")
    assert response["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path", [f"{LLMS}/", f"{CARDS[0]}/", "/mcp/nope", "/.well-known/mcp", "/.well-known/mcp/nope"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_there_beside_them_is_404_in_json(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.stack
def test_with_the_demo_data_the_product_tells_where_it_is(up: Up) -> None:
    base = up.record["base_url"]
    text = httpx.get(base + LLMS, timeout=30).text
    assert f"({base}/mcp)" in text
    assert re.search(r"\([1-9][0-9,]* restaurants in 12 markets\)", text)
    assert httpx.get(f"{base}/mcp/server-card", timeout=30).json()["remotes"][0]["url"] == up.record["mcp_url"]
