"""The documentation as pages: all of it, with links that lead somewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from config.website import docs

ADDRESSES = ["/docs", "/docs/decisions", *(its.url for its in {**docs.guides(), **docs.decisions()}.values())]


class Seen(HTMLParser):
    """What a page has: headings of the first rank, links, ids, pictures, the title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings, self.links, self.ids, self.titles = 0, list[str](), list[str](), 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        given = dict(attrs)
        self.headings += tag == "h1"
        self.titles += tag == "title"
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given[name] or "" for name in ("href", "src") if given.get(name)]


@pytest.fixture(scope="module")
def pages() -> dict[str, Seen]:
    """All of them."""
    client, found = Client(), {}
    for address in ADDRESSES:
        response = client.get(address)
        assert response.status_code == 200, address
        assert not response.cookies
        text = response.content.decode()
        assert not re.search(r'\sstyle="|\son\w+="|<script>', re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL))
        found[address] = Seen(text)
    return found


def test_each_page_has_a_title_and_one_heading_and_no_id_twice(pages: dict[str, Seen]) -> None:
    assert len(pages) > 80
    for address, seen in pages.items():
        assert (seen.titles, seen.headings) == (1, 1), address
        assert len(seen.ids) == len(set(seen.ids)), address


def test_each_link_within_the_documentation_leads_somewhere(db: None, pages: dict[str, Seen]) -> None:
    client, broken = Client(), []
    known: dict[str, int] = {}
    for address, seen in pages.items():
        for link in seen.links:
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


def test_all_that_is_written_is_shown_and_each_guide_has_its_line() -> None:
    folder = Path(settings.BASE_DIR) / "docs"
    assert {file.stem for file in folder.glob("*.md")} | {"changelog"} == set(docs.guides())
    assert len(docs.decisions()) == len(list((folder / "decisions").glob("*.md")))
    listed = [its.name for _, group in docs.groups() for its in group]
    assert sorted(listed) == sorted(set(docs.guides()) - {"changelog"})
    for its in docs.guides().values():
        assert its.title
        assert its.line


def test_files_stay_as_they_are_beside_their_pages() -> None:
    raw = Client().get("/docs/paying.md")
    assert raw["Content-Type"] == "text/markdown; charset=utf-8"
    assert raw.content == (Path(settings.BASE_DIR) / "docs" / "paying.md").read_bytes()


@pytest.mark.parametrize("name", ["nothing", "decisions/nothing", "decisions/../paying", "PAYING", "api", "%00"])
def test_what_is_not_written_is_404(db: None, name: str) -> None:
    assert Client().get(f"/docs/{name}").status_code == 404


def test_markup_in_a_page_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "docs" / "page.md"
    file.parent.mkdir()
    file.write_text("# T\n\n<script>1</script> [x](javascript:1)\n\n```html\n<b>\n```\n")
    monkeypatch.setattr(docs, "BASE", tmp_path)
    html = docs.rendered(file, 0).html
    assert "<script>" not in html
    assert 'href="javascript' not in html
    assert "<b>" not in html


@pytest.mark.parametrize("name", ["management", "data"])
def test_both_apis_are_read_and_tried_from_files_of_our_own(name: str) -> None:
    for path in (f"/docs/api/{name}", f"/docs/api/{name}/try"):
        response = Client().get(path)
        assert response.status_code == 200
        text = response.content.decode()
        assert f'data-document="/docs/openapi/{name}.json"' in text
        assert not re.search(r'(?:src|href)="https?:', text)
        assert "script-src" not in response["Content-Security-Policy"]
        assert "unsafe" not in response["Content-Security-Policy"]


def test_there_is_no_reference_of_another_api(db: None) -> None:
    assert Client().get("/docs/api/other").status_code == 404
    assert Client().get("/docs/api/other/try").status_code == 404
