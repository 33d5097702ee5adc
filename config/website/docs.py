"""Renders the documentation (docs/*.md, the changelog and the decisions) as pages."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from catalogue.agent_discovery import llms_txt
from catalogue.agent_discovery.llms_txt import BASE, FOR_CALLERS, PAGES
from config.website.decorators import read_only

CHANGELOG = BASE / "CHANGELOG.md"
# In reading order; guides in none of these lists are for operators.
FOR_VENUES = ("keys", "idempotency", "menus", "booking", "guests", "webhooks")
FOR_AGENTS = ("mcp",)
SENTENCE = re.compile(r"^(.+?[.:?])(?:\s|$)", re.DOTALL)
MAX_SUMMARY_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide: its name in the URL, its title, a one-line summary and its file."""

    name: str
    title: str
    line: str
    file: Path

    @property
    def url(self) -> str:
        """The URL of the page."""
        return f"/docs/{self.name}"

    @property
    def raw(self) -> str:
        """The URL of the Markdown source."""
        return f"/{self.file.relative_to(BASE).as_posix()}"


@dataclass(frozen=True, slots=True)
class Page:
    """A rendered page and its headings: id and text."""

    html: SafeString
    contents: Sequence[tuple[str, str]]


@cache
def guides() -> Mapping[str, Guide]:
    """All guides by name, in reading order, without the decisions."""
    known = llms_txt.pages()
    first = [*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS]
    names = [*(name for name in first if name in known), *(name for name in known if name not in first)]
    found = {name: guide(name, PAGES / f"{name}.md") for name in names}
    changelog = Guide("changelog", "Changelog", "What changed in each version.", CHANGELOG)
    return found | {"changelog": changelog}


@cache
def decisions() -> Mapping[str, Guide]:
    """The decisions by their names, oldest first."""
    files = sorted((PAGES / "decisions").glob("*.md"))
    return {f"decisions/{file.stem}": guide(f"decisions/{file.stem}", file) for file in files}


def guide(name: str, file: Path) -> Guide:
    """Read a guide from its file: the title is the first heading, the summary the first sentence."""
    title, _, rest = file.read_text().partition("\n")
    opening = plain(next((part for part in rest.split("\n\n") if is_prose(part)), ""))
    sentence = SENTENCE.match(opening)
    line = sentence[1] if sentence else opening
    if len(line) > MAX_SUMMARY_LENGTH:
        line = f"{line[:MAX_SUMMARY_LENGTH].rsplit(' ', 1)[0]} ..."
    return Guide(name, plain(title.removeprefix("# ")), line.rstrip(":"), file)


def is_prose(part: str) -> bool:
    """Whether a block of Markdown is sentences."""
    return bool(part.strip()) and part.strip()[0] not in "#|-`!>"


def plain(text: str) -> str:
    """Strip Markdown formatting, and join the lines."""
    unlinked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]", "", unlinked).split())


def groups() -> list[tuple[str, list[Guide]]]:
    """The guides by section, for the index and the menu."""
    known = guides()
    listed = {*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS, "changelog"}
    return [
        ("Management API", [known[name] for name in FOR_VENUES if name in known]),
        ("Data API", [known[name] for name in FOR_CALLERS if name in known]),
        ("Agents", [known[name] for name in FOR_AGENTS if name in known]),
        ("Operations", [guide for name, guide in known.items() if name not in listed]),
    ]


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """List all guides with their summaries."""
    return render(request, "docs/index.html", {"groups": groups(), "guides": guides()})


@read_only
def decided(request: HttpRequest) -> HttpResponse:
    """List all decisions."""
    return render(request, "docs/decisions.html", {"groups": groups(), "decisions": decisions().values()})


@read_only
def page(request: HttpRequest, name: str) -> HttpResponse:
    """Show one guide or decision."""
    pages = decisions() if name.startswith("decisions/") else guides()
    found = pages.get(name)
    if found is None:
        raise Http404
    order = list(pages.values())
    at = order.index(found)
    context = {
        "guide": found,
        "page": rendered(found.file, found.file.stat().st_mtime_ns),
        "groups": groups(),
        "previous": order[at - 1] if at else None,
        "next": order[at + 1] if at + 1 < len(order) else None,
        "is_decision": name.startswith("decisions/"),
    }
    return render(request, "docs/page.html", context)


@cache
def rendered(file: Path, _written_at: int) -> Page:
    """Render a file as HTML. HTML in the source is escaped."""
    markdown = reader()
    tokens = markdown.parse(file.read_text())
    contents = []
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            contents.append((str(token.attrs["id"]), plain(following.content)))
    folder = file.relative_to(BASE).parent.as_posix()
    for token in tokens:
        for child in token.children or ():
            for attribute in ("href", "src"):
                if attribute in child.attrs:
                    child.attrs[attribute] = page_url(str(child.attrs[attribute]), folder)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Page(mark_safe(html), contents)  # noqa: S308  # our own files, and HTML in them is escaped


def page_url(link: str, folder: str) -> str:
    """Convert a link of a source file in this folder to the URL of the page."""
    if re.match(r"[a-z]+:|/|#", link):
        return link
    path, mark, fragment = link.partition("#")
    found = posixpath.normpath(posixpath.join(folder, path))
    if found == "CHANGELOG.md":
        return f"/docs/changelog{mark}{fragment}"
    if found.startswith("docs/"):
        return f"/{found.removesuffix('.md')}{mark}{fragment}"
    return f"/docs{mark}{fragment}" if found in ("README.md", "docs") else link


@cache
def reader() -> Any:
    """Return the Markdown parser with tables and heading anchors. Imported with the first page."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").use(anchors_plugin, max_level=3)
    markdown.add_render_rule("fence", fence)
    markdown.add_render_rule("table_open", table_open)
    markdown.add_render_rule("table_close", table_close)
    return markdown


def fence(_renderer: Any, tokens: Sequence[Any], at: int, _options: Any, _env: Any) -> str:
    """Render a code block with syntax highlighting and a copy button."""
    token = tokens[at]
    language = token.info.strip().partition(" ")[0]
    code = coloured(token.content, language)
    return (
        f'<div class="copyable"><pre tabindex="0"><code id="code-{at}">{code}</code></pre>'
        f'<button type="button" class="quiet small" data-copy="code-{at}">Copy</button></div>'
    )


def table_open(_renderer: Any, _tokens: Sequence[Any], _at: int, _options: Any, _env: Any) -> str:
    """Open a table that scrolls horizontally."""
    return '<div class="table-frame" tabindex="0" role="region" aria-label="Table"><table class="table">'


def table_close(_renderer: Any, _tokens: Sequence[Any], _at: int, _options: Any, _env: Any) -> str:
    """Close it."""
    return "</table></div>"


def coloured(code: str, language: str) -> str:
    """Highlight code with Pygments classes; plain text for an unknown language."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-")))
