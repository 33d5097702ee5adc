"""The documentation as pages: the .md files of docs/, the decisions and the changelog. Agents read the files."""

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
# In the order of reading. Guides that are in none of these lists are for operators.
FOR_VENUES = ("keys", "idempotency", "menus", "booking", "guests", "webhooks")
FOR_AGENTS = ("mcp",)
REFERENCE = ("glossary",)
SENTENCE = re.compile(r"^(.+?[.:?])(?:\s|$)", re.DOTALL)
MAX_SUMMARY_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of the documentation: its name in the URL, its title, a summary of one line, and its file."""

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
        """The URL of its Markdown file."""
        return f"/{self.file.relative_to(BASE).as_posix()}"


@dataclass(frozen=True, slots=True)
class Page:
    """A rendered page, and its headings of the second level: id and text."""

    html: SafeString
    contents: Sequence[tuple[str, str]]


@cache
def guides() -> Mapping[str, Guide]:
    """All guides by name, in the order of reading."""
    known = llms_txt.pages()
    first = [*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS, *REFERENCE]
    names = [*(name for name in first if name in known), *(name for name in known if name not in first)]
    found = {name: read_guide(name, PAGES / f"{name}.md") for name in names}
    changelog = Guide("changelog", "Changelog", "What changed in each version.", CHANGELOG)
    return found | {"changelog": changelog}


@cache
def decisions() -> Mapping[str, Guide]:
    """The decisions by name, oldest first."""
    files = sorted((PAGES / "decisions").glob("*.md"))
    return {f"decisions/{file.stem}": read_guide(f"decisions/{file.stem}", file) for file in files}


def read_guide(name: str, file: Path) -> Guide:
    """Read a guide: its title is the first heading, its line the first sentence."""
    title, _, rest = file.read_text().partition("\n")
    paragraphs = (block for block in rest.split("\n\n") if block.strip() and block.strip()[0] not in "#|-`!>")
    paragraph = plain_text(next(paragraphs, ""))
    sentence = SENTENCE.match(paragraph)
    line = sentence[1] if sentence else paragraph
    if len(line) > MAX_SUMMARY_LENGTH:
        line = f"{line[:MAX_SUMMARY_LENGTH].rsplit(' ', 1)[0]} ..."
    return Guide(name, plain_text(title.removeprefix("# ")), line.rstrip(":"), file)


def plain_text(text: str) -> str:
    """Remove the markup of a paragraph of Markdown, and its line breaks."""
    unlinked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]", "", unlinked).split())


def groups() -> list[tuple[str, list[Guide]]]:
    """The guides in the groups of the index and the menu."""
    known = guides()
    listed = {*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS, *REFERENCE, "changelog"}
    return [
        ("Management API", [known[name] for name in FOR_VENUES if name in known]),
        ("Data API", [known[name] for name in FOR_CALLERS if name in known]),
        ("Agents", [known[name] for name in FOR_AGENTS if name in known]),
        ("Reference", [known[name] for name in REFERENCE if name in known]),
        ("Operations", [guide for name, guide in known.items() if name not in listed]),
    ]


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """The list of all guides."""
    return render(request, "docs/index.html", {"groups": groups(), "guides": guides()})


@read_only
def decision_index(request: HttpRequest) -> HttpResponse:
    """The list of all decisions."""
    return render(request, "docs/decisions.html", {"groups": groups(), "decisions": decisions().values()})


@read_only
def page(request: HttpRequest, name: str) -> HttpResponse:
    """A guide or a decision."""
    is_decision = name.startswith("decisions/")
    known = decisions() if is_decision else guides()
    if name not in known:
        raise Http404
    guide, order = known[name], list(known.values())
    position = order.index(guide)
    context = {
        "guide": guide,
        "page": render_page(guide.file, guide.file.stat().st_mtime_ns),
        "groups": groups(),
        "previous": order[position - 1] if position else None,
        "next": order[position + 1] if position + 1 < len(order) else None,
        "is_decision": is_decision,
    }
    return render(request, "docs/page.html", context)


@cache
def render_page(file: Path, _modified_at_ns: int) -> Page:
    """Render a file of Markdown. HTML in it is escaped."""
    markdown = markdown_parser()
    tokens = markdown.parse(file.read_text())
    contents = []
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            contents.append((str(token.attrs["id"]), plain_text(following.content)))
    folder = file.relative_to(BASE).parent.as_posix()
    for token in tokens:
        for child in token.children or ():
            for attribute in ("href", "src"):
                if attribute in child.attrs:
                    child.attrs[attribute] = resolve_link(str(child.attrs[attribute]), folder)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Page(mark_safe(html), contents)  # noqa: S308  # our own files, and HTML in them is escaped


def resolve_link(link: str, folder: str) -> str:
    """The URL of a link in a file of this folder."""
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
def markdown_parser() -> Any:
    """A parser of Markdown with tables and heading ids. Imported with the first page that is requested."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").use(anchors_plugin, max_level=3)
    markdown.add_render_rule("fence", render_fence)
    markdown.add_render_rule("table_open", table_open)
    markdown.add_render_rule("table_close", table_close)
    return markdown


def render_fence(_renderer: Any, tokens: Sequence[Any], index: int, _options: Any, _env: Any) -> str:
    """A highlighted block of code, with a button that copies it."""
    token = tokens[index]
    language = token.info.strip().partition(" ")[0]
    code = highlight_code(token.content, language)
    return (
        f'<div class="copyable"><pre tabindex="0"><code id="code-{index}">{code}</code></pre>'
        f'<button type="button" class="quiet small" data-copy="code-{index}">Copy</button></div>'
    )


def table_open(_renderer: Any, _tokens: Sequence[Any], _index: int, _options: Any, _env: Any) -> str:
    """Open a table in a frame that scrolls where the table is wider than the page."""
    return '<div class="table-frame" tabindex="0" role="region" aria-label="Table"><table class="table">'


def table_close(_renderer: Any, _tokens: Sequence[Any], _index: int, _options: Any, _env: Any) -> str:
    """Close the table and its frame."""
    return "</table></div>"


def highlight_code(code: str, language: str) -> str:
    """Code as HTML with the classes of Pygments; only escaped where the language is unknown."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-")))
