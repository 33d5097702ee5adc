"""The documentation as pages: all files, with links that work."""

import re
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch

import pytest
from django.conf import LazySettings, settings
from django.test import Client
from django.urls import resolve

from catalogue.agent_discovery import x402_manifest
from config.website import docs, reference
from config.website.reference_schemas import Schemas
from framework.public_ids import pattern

APIS = [reference.load(name) for name in reference.TITLES]
GROUPS = [group for api in APIS for group in api.groups.values()]
GUIDES = [*docs.guides().values(), *docs.decisions().values()]
ADDRESSES = [
    *("/docs", "/docs/decisions"),
    *[guide.url for guide in GUIDES],
    *[api.url for api in APIS],
    *[group.url for group in GROUPS],
]
MAX_PAGE_BYTES = 150_000
PRICES = {"reviews": {"discounted": Decimal("0.003")}}


class ParsedPage(HTMLParser):
    """The number of first-level headings and titles of a page, its links and ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings, self.links, self.ids, self.titles = 0, list[str](), list[str](), 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count headings and titles, collect ids and links."""
        values = dict(attrs)
        self.headings += tag == "h1"
        self.titles += tag == "title"
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values[name] or "" for name in ("href", "src") if values.get(name)]


@pytest.fixture(scope="module")
def pages() -> dict[str, ParsedPage]:
    """All pages by their URL, without the prices of the database."""
    client, parsed = Client(), {}
    for address in ADDRESSES:
        with patch.object(x402_manifest.cached_prices, "get_or_stale", return_value=PRICES):
            response = client.get(address)
        assert response.status_code == 200, address
        assert not response.cookies
        text = response.content.decode()
        assert not re.search(r'\sstyle="|\son\w+="|<script>', re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL))
        parsed[address] = ParsedPage(text)
    return parsed


def test_each_page_has_a_title_one_heading_and_unique_ids(pages: dict[str, ParsedPage]) -> None:
    assert len(pages) > 80
    for address, parsed in pages.items():
        assert (parsed.titles, parsed.headings) == (1, 1), address
        assert len(parsed.ids) == len(set(parsed.ids)), address


@pytest.mark.exhaustive
def test_no_link_of_the_documentation_is_broken(db: None, pages: dict[str, ParsedPage]) -> None:
    client, broken = Client(), []
    known: dict[str, int] = {}
    for address, parsed in pages.items():
        for link in parsed.links:
            path, _, fragment = link.partition("#")
            if re.match(r"[a-z]+:|/static/", link):
                continue
            if not path.startswith("/") and path:
                broken.append(f"{address}: {link}")
            elif path in pages or not path:
                if fragment and fragment not in pages[path or address].ids:
                    broken.append(f"{address}: {link}")
            elif path not in known:
                known[path] = client.get(path).status_code
                if known[path] not in (200, 302):
                    broken.append(f"{address}: {link} {known[path]}")
    assert broken == []


def test_every_file_has_a_page_a_title_and_a_line() -> None:
    folder = Path(settings.BASE_DIR) / "docs"
    assert {file.stem for file in folder.glob("*.md")} | {"changelog"} == set(docs.guides())
    assert len(docs.decisions()) == len(list((folder / "decisions").glob("*.md")))
    listed = [guide.name for _, group in docs.groups() for guide in group]
    assert sorted(listed) == sorted(set(docs.guides()) - {"changelog"})
    for guide in docs.guides().values():
        assert guide.title
        assert guide.line


def test_markdown_files_are_served_unchanged() -> None:
    raw = Client().get("/docs/paying.md")
    assert raw["Content-Type"] == "text/markdown; charset=utf-8"
    assert raw.content == (Path(settings.BASE_DIR) / "docs" / "paying.md").read_bytes()


def test_a_guide_has_its_contents_under_the_title_and_numbers_aligned_right() -> None:
    text = Client().get("/docs/paying").content.decode()
    assert re.search(
        r'<h1 id="paying">Paying</h1>\s*<ul>.+?</ul>\s*<details class="on-this-page"><summary>On this page</summary>',
        text,
        re.DOTALL,
    )
    assert '<th class="number">Free</th>' in text
    assert re.search(r'<td class="number" data-label="Pro">0\.0015</td>', text)
    assert "style=" not in text


def test_code_has_a_bar_with_its_language_and_a_button(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "BASE", tmp_path)
    file = tmp_path / "guide.md"
    file.write_text("# Guide\n\n```sh\nls\n```\n\n```json\n{}\n```\n\n```text\nGET /\n```\n")
    html = docs.render_page(file, file.read_text())["html"]
    assert re.findall(r'<div class="copyable" data-title="(\w+)">', html) == ["Shell", "JSON", "Example"]
    assert html.count(">Copy</button>") == 3


def test_examples_have_the_address_of_this_server(settings: LazySettings) -> None:
    settings.PUBLIC_BASE_URL = "https://data.example.com/"
    for path in ("/docs/search", "/docs/search.md"):
        text = Client().get(path).content.decode()
        assert "https://data.example.com/v1/restaurants?near=tivoli" in text
        assert "127.0.0.1:8000" not in text


@pytest.mark.parametrize("name", ["nothing", "decisions/nothing", "decisions/../paying", "PAYING", "api", "%00"])
def test_unknown_page_is_404(db: None, name: str) -> None:
    response = Client().get(f"/docs/{name}")
    assert response.status_code == 404
    assert "<h1>Page not found</h1>" in response.content.decode()


@pytest.mark.parametrize("path", ["/docs/nothing.md", "/docs/openapi/other.json", "/docs/openapi/other"])
def test_unknown_document_is_404_as_json(db: None, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("group", ["reviews", "flow-offers", "flow_offers"])
def test_any_tag_has_a_page_of_the_reference(group: str) -> None:
    assert resolve(f"/docs/api/data/{group}").url_name == "docs-api-group"


def test_html_in_markdown_is_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "docs" / "page.md"
    file.parent.mkdir()
    file.write_text("# T\n\n<script>1</script> [x](javascript:1)\n\n```html\n<b>\n```\n")
    monkeypatch.setattr(docs, "BASE", tmp_path)
    html = docs.render_page(file, file.read_text())["html"]
    assert "<script>" not in html
    assert 'href="javascript' not in html
    assert "<b>" not in html


@pytest.mark.parametrize("name", ["management", "management-v2", "data"])
def test_explorer_loads_only_our_own_files(name: str) -> None:
    response = Client().get(f"/docs/api/{name}/try")
    assert response.status_code == 200
    text = response.content.decode()
    assert f'data-document="/docs/openapi/{name}.json"' in text
    assert not re.search(r'(?:src|href)="https?:', text)
    assert "script-src" not in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_reference_shows_each_operation_with_its_samples_and_examples(
    api: reference.Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(x402_manifest.cached_prices, "get_or_stale", lambda **_: PRICES)
    for group in api.groups.values():
        page = Client().get(group.url).content
        text = page.decode()
        assert len(page) < MAX_PAGE_BYTES, group.url
        ids = set(ParsedPage(text).ids)
        for _, path, operation in group.operations:
            name = operation["operationId"]
            assert name in ids
            assert path in text
            samples = {f"{name}-{sample['lang'].lower()}" for sample in operation.get("x-codeSamples", ())}
            assert len(samples) == (0 if group.name == "webhook-events" else 3)
            assert samples <= ids
            bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
            examples = {
                f"{name}-{part}-1"
                for part, body in bodies.items()
                if part < "3" or part == "request"
                for content in body.get("content", {}).values()
                if "examples" in content
            }
            assert examples <= ids
        assert not re.search(r"\[0-7\]|\\d|\(\?:", re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)), group.url


def test_a_paid_operation_has_its_price_at_each_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(x402_manifest.cached_prices, "get_or_stale", lambda **_: PRICES)
    text = Client().get("/docs/api/data/reviews").content.decode()
    assert (
        '<th scope="row"><code>reviews</code></th><td class="number">not sold</td><td class="number">0.003</td>'
        in text
    )


def test_types_and_limits_are_in_words() -> None:
    schemas = Schemas(
        {"components": {"schemas": {"Size": {"enum": ["s", "m"]}, "Dish": {"type": "object", "properties": {}}}}}
    )

    def words(schema: dict[str, object]) -> tuple[str, str]:
        row = schemas.row("x", schema, is_required=True)
        return row.type, row.limits

    assert words({"type": "integer", "minimum": 1, "maximum": 50}) == ("integer", "1 to 50")
    assert words({"type": ["string", "null"], "maxLength": 1200}) == ("string or null", "at most 1,200 characters")
    assert words({"$ref": "#/components/schemas/Size"}) == ("<code>s</code> or <code>m</code>", "")
    dishes = {"type": "array", "items": {"$ref": "#/components/schemas/Dish"}, "maxItems": 2}
    assert words(dishes) == ('list of <a href="#Dish">Dish</a>', "at most 2 items")
    assert words({"type": "string", "pattern": pattern("ord")}) == (
        "string",
        "id that begins with <code>ord_</code>",
    )


def test_reference_of_an_unknown_api_is_404(db: None) -> None:
    assert Client().get("/docs/api/other").status_code == 404
    assert Client().get("/docs/api/other/try").status_code == 404


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("idempotency", "/docs/idempotency"),
        ("Idempotency-Key", "/docs/idempotency"),
        ("rate limit", "/docs/mcp"),
        ("refund", "/docs/ledger"),
        ("webhook signature", "/docs/webhooks"),
        ("webhook secret", "/docs/webhooks"),
        ("pagination", "/docs/search"),
        ("REPLICA_URL", "/docs/settings"),
        ("hold a table minutes", "/docs/api/management/holds#create_hold"),
        ("retrieve a restaurant", "/docs/api/data/restaurants#get_restaurant"),
    ],
)
def test_search_finds_words_of_the_text(client: Client, query: str, url: str) -> None:
    response = client.get("/docs", {"q": query})
    urls = [hit.section.url for hit in response.context["hits"]]
    assert any(found.startswith(url) for found in urls[:5]), urls[:8]
    page = response.content.decode()
    assert f'href="{urls[0]}"' in page
    assert "<mark>" in page


def test_found_sections_exist(client: Client, pages: dict[str, ParsedPage]) -> None:
    for query in ("key", "order", "menu", "price"):
        for hit in client.get("/docs", {"q": query}).context["hits"]:
            path, _, anchor = hit.section.url.partition("#")
            assert not anchor or anchor in pages[path].ids, hit.section.url


@pytest.mark.sample(2)
@pytest.mark.parametrize("query", ["", "zzzzzz", "<script>alert(1)</script>", "\x00", "(", "a" * 5000])
def test_search_without_matches_leads_to_the_guides(client: Client, query: str) -> None:
    response = client.get("/docs", {"q": query})
    assert response.status_code == 200
    assert "<script>alert" not in response.content.decode()
