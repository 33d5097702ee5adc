"""The documentation as pages: each .md file of docs/, the changelog and the decisions; agents read the files."""

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
# In the order in which somebody reads them; what is in none of these is for who runs the site.
FOR_VENUES = ("keys", "idempotency", "menus", "booking", "guests", "webhooks")
FOR_AGENTS = ("mcp",)
REFERENCE = ("glossary",)
SENTENCE = re.compile(r"^(.+?[.:?])(?:\s|$)", re.DOTALL)
MOST_OF_A_LINE = 160


@dataclass(frozen=True, slots=True)
class Guide:
    """A page: its name in the address, its title, one line of what it is about, and its file."""

    name: str
    title: str
    line: str
    file: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"/docs/{self.name}"

    @property
    def raw(self) -> str:
        """The address of what it is made of."""
        return f"/{self.file.relative_to(BASE).as_posix()}"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is shown, and the headings in it: id and words."""

    html: SafeString
    contents: Sequence[tuple[str, str]]


@cache
def guides() -> Mapping[str, Guide]:
    """All pages but the decisions by their names, in the order of reading."""
    known = llms_txt.pages()
    first = [*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS, *REFERENCE]
    names = [*(name for name in first if name in known), *(name for name in known if name not in first)]
    found = {name: guide(name, PAGES / f"{name}.md") for name in names}
    changelog = Guide("changelog", "Changelog", "What each version has brought.", CHANGELOG)
    return found | {"changelog": changelog}


@cache
def decisions() -> Mapping[str, Guide]:
    """The decisions by their names, oldest first."""
    files = sorted((PAGES / "decisions").glob("*.md"))
    return {f"decisions/{file.stem}": guide(f"decisions/{file.stem}", file) for file in files}


def guide(name: str, file: Path) -> Guide:
    """A page by its file: the title is its first heading, the line its first sentence."""
    title, _, rest = file.read_text().partition("\n")
    opening = plain(next((part for part in rest.split("\n\n") if is_prose(part)), ""))
    sentence = SENTENCE.match(opening)
    line = sentence[1] if sentence else opening
    if len(line) > MOST_OF_A_LINE:
        line = f"{line[:MOST_OF_A_LINE].rsplit(' ', 1)[0]} ..."
    return Guide(name, plain(title.removeprefix("# ")), line.rstrip(":"), file)


def is_prose(part: str) -> bool:
    """Whether a block of Markdown is sentences."""
    return bool(part.strip()) and part.strip()[0] not in "#|-`!>"


def plain(text: str) -> str:
    """Markdown's words without its marks, in one line."""
    unlinked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]", "", unlinked).split())


def groups() -> list[tuple[str, list[Guide]]]:
    """The guides as the index and the menu list them."""
    known = guides()
    taken = {*FOR_VENUES, *FOR_AGENTS, *FOR_CALLERS, *REFERENCE, "changelog"}
    return [
        ("Management API", [known[name] for name in FOR_VENUES if name in known]),
        ("Data API", [known[name] for name in FOR_CALLERS if name in known]),
        ("Agents", [known[name] for name in FOR_AGENTS if name in known]),
        ("Reference", [known[name] for name in REFERENCE if name in known]),
        ("Running it", [its for name, its in known.items() if name not in taken]),
    ]


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """All guides with one line each."""
    return render(request, "docs/index.html", {"groups": groups(), "guides": guides()})


@read_only
def decided(request: HttpRequest) -> HttpResponse:
    """All decisions."""
    return render(request, "docs/decisions.html", {"groups": groups(), "decisions": decisions().values()})


@read_only
def page(request: HttpRequest, name: str) -> HttpResponse:
    """One guide or decision."""
    shelf = decisions() if name.startswith("decisions/") else guides()
    its = shelf.get(name)
    if its is None:
        raise Http404
    order = list(shelf.values())
    at = order.index(its)
    written = rendered(its.file, its.file.stat().st_mtime_ns)
    context = {
        "guide": its,
        "page": written,
        "groups": groups(),
        "before": order[at - 1] if at else None,
        "after": order[at + 1] if at + 1 < len(order) else None,
        "is_decision": name.startswith("decisions/"),
    }
    return render(request, "docs/page.html", context)


@cache
def rendered(file: Path, _written_at: int) -> Page:
    """A file as HTML. What it says in HTML itself is shown as text."""
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
                    child.attrs[attribute] = led(str(child.attrs[attribute]), folder)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Page(mark_safe(html), contents)  # noqa: S308  # our own files, and HTML in them is escaped


def led(link: str, folder: str) -> str:
    """Where a link of a page in this folder leads among the pages."""
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
    """Reads Markdown with tables and headings that can be linked to. Loaded with the first page that is asked for."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").use(anchors_plugin, max_level=3)
    markdown.add_render_rule("fence", fence)
    markdown.add_render_rule("table_open", table_open)
    markdown.add_render_rule("table_close", table_close)
    return markdown


def fence(_renderer: Any, tokens: Sequence[Any], at: int, _options: Any, _env: Any) -> str:
    """A block of code in colours, with a button that copies it."""
    token = tokens[at]
    language = token.info.strip().partition(" ")[0]
    code = coloured(token.content, language)
    return (
        f'<div class="copyable"><pre tabindex="0"><code id="code-{at}">{code}</code></pre>'
        f'<button type="button" class="quiet small" data-copy="code-{at}">Copy</button></div>'
    )


def table_open(_renderer: Any, _tokens: Sequence[Any], _at: int, _options: Any, _env: Any) -> str:
    """A table that scrolls by itself where it is wider than the page."""
    return '<div class="table-frame" tabindex="0" role="region" aria-label="Table"><table class="table">'


def table_close(_renderer: Any, _tokens: Sequence[Any], _at: int, _options: Any, _env: Any) -> str:
    """The end of one."""
    return "</table></div>"


def coloured(code: str, language: str) -> str:
    """Code as HTML with the classes of Pygments; without colours where the language is not known."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-")))
