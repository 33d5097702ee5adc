"""The documentation as pages: all files, with links that work."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from config.website import docs

ADDRESSES = ["/docs", "/docs/decisions", *(guide.url for guide in {**docs.guides(), **docs.decisions()}.values())]


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
    """All pages by their URL."""
    client, parsed = Client(), {}
    for address in ADDRESSES:
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


@pytest.mark.parametrize("name", ["nothing", "decisions/nothing", "decisions/../paying", "PAYING", "api", "%00"])
def test_unknown_page_is_404(db: None, name: str) -> None:
    assert Client().get(f"/docs/{name}").status_code == 404


def test_html_in_markdown_is_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "docs" / "page.md"
    file.parent.mkdir()
    file.write_text("# T\n\n<script>1</script> [x](javascript:1)\n\n```html\n<b>\n```\n")
    monkeypatch.setattr(docs, "BASE", tmp_path)
    html = docs.render_page(file, 0)["html"]
    assert "<script>" not in html
    assert 'href="javascript' not in html
    assert "<b>" not in html


@pytest.mark.parametrize("name", ["management", "data"])
def test_reference_pages_load_only_our_own_files(name: str) -> None:
    for path in (f"/docs/api/{name}", f"/docs/api/{name}/try"):
        response = Client().get(path)
        assert response.status_code == 200
        text = response.content.decode()
        assert f'data-document="/docs/openapi/{name}.json"' in text
        assert not re.search(r'(?:src|href)="https?:', text)
        assert "script-src" not in response["Content-Security-Policy"]
        assert "unsafe" not in response["Content-Security-Policy"]


def test_reference_of_an_unknown_api_is_404(db: None) -> None:
    assert Client().get("/docs/api/other").status_code == 404
    assert Client().get("/docs/api/other/try").status_code == 404
