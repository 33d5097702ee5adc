"""The documentation as pages: the .md files of docs/, the decisions and the changelog.

Agents read the files.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.csrf import csrf_exempt

from catalogue.agent_discovery import llms_txt
from catalogue.agent_discovery.llms_txt import BASE, PAGES
from framework.api.error_handler import reject_unsafe_method

CHANGELOG = BASE / "CHANGELOG.md"
# By reader, in the order of the menu; a quickstart is the first of each.
GROUPS: Mapping[str, Sequence[str]] = {
    "Restaurant": (
        *("quickstart-restaurant", "dashboard", "menus", "board", "ordering-page", "booking", "guests", "languages"),
        *("claims", "deposits", "hours"),
    ),
    "Integrator": (
        *(
            "quickstart-integrator",
            "clients",
            "keys",
            "apps",
            "limits",
            "orders",
            "idempotency",
            "webhooks",
            "sandbox-clock",
            "errors",
            "versions",
            "requests",
        ),
        "glossary",
    ),
    "Data buyer": (
        *("quickstart-data-buyer", "search", "finding", "records", "reviews", "insights", "offers", "paying"),
        *("receipts", "tiers", "exports", "ledger", "reports", "pages"),
    ),
    "Agent builder": ("quickstart-agent-builder", "mcp", "ucp", "checkout"),
    "Operator": (
        *("quickstart-operator", "settings", "architecture", "back-office", "markets", "importing", "prices"),
        *("facilitator", "auditing", "backup", "observing", "scaling", "speed", "fast-path", "changing-tables"),
        *("privacy", "promises"),
    ),
}
# What each reader does, for the index.
READERS: Mapping[str, str] = {
    "Restaurant": "Take orders and reservations, manage the menu, the tables and the guests.",
    "Integrator": "Connect a till, a kiosk or a delivery service to a restaurant.",
    "Data buyer": "Search restaurants for free; buy reviews, insights and exports by the call.",
    "Agent builder": "Give an agent the same data as tools, with prices and payments in messages.",
    "Operator": "Run the product on your own servers.",
}
SENTENCE = re.compile(r"^(.+?[.:?])(?:\s|$)", re.DOTALL)
MAX_SUMMARY_LENGTH = 160
MAX_QUERY_LENGTH = 200
# Tables with so many columns, of which one is wider than so many characters, are lists on phones.
MIN_STACKED_COLUMNS, MAX_NARROW_CELL = 4, 12
# The titles of blocks of code by their languages.
CODE_TITLES: Mapping[str, str] = {
    "sh": "Shell", "json": "JSON", "jsonc": "JSON", "python": "Python", "ts": "TypeScript", "typescript": "TypeScript",
    "html": "HTML", "toml": "TOML",
}  # fmt: skip
# Of each reader in the index; the others are folded.
MAX_FIRST_GUIDES = 3


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of the documentation: its name in the URL, its title, a summary of one line, and its file."""

    name: str
    title: str
    line: str
    file: Path

    @property
    def url(self) -> str:
        return f"/docs/{self.name}"

    @property
    def raw(self) -> str:
        """The URL of its Markdown file."""
        return f"/{self.file.relative_to(BASE).as_posix()}"


@cache
def guides() -> Mapping[str, Guide]:
    """All guides by name, in the order of reading."""
    found = {name: read_guide(name, PAGES / f"{name}.md") for names in GROUPS.values() for name in names}
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
    unlinked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]", "", unlinked).split())


def groups() -> list[tuple[str, list[Guide]]]:
    """The guides by reader, as the index and the menu show them."""
    known = guides()
    return [(reader, [known[name] for name in names]) for reader, names in GROUPS.items()]


def read_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 405 to methods other than GET and HEAD, but 404 where there is no page. No CSRF token is needed."""

    @csrf_exempt
    @wraps(view)
    def read_only_view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = view(request, **kwargs)
        return reject_unsafe_method(request) or response

    return read_only_view


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """All guides, or with `q` the sections that have these words."""
    if query := request.GET.get("q", "").strip()[:MAX_QUERY_LENGTH]:
        from config.website import docs_search

        hits = docs_search.search(query)
        return render(request, "docs/search.html", {"groups": groups(), "query": query, "hits": hits})
    readers = [
        {
            "name": reader,
            "line": READERS[reader],
            "quickstart": quickstart,
            "first": guides[:MAX_FIRST_GUIDES],
            "others": guides[MAX_FIRST_GUIDES:],
        }
        for reader, (quickstart, *guides) in groups()
    ]
    return render(request, "docs/index.html", {"groups": groups(), "readers": readers})


@read_only
def decision_index(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/decisions.html", {"groups": groups(), "decisions": decisions().values()})


@read_only
def page(request: HttpRequest, name: str) -> HttpResponse:
    is_decision = name.startswith("decisions/")
    known = decisions() if is_decision else guides()
    if name not in known:
        raise Http404
    guide, order = known[name], list(known.values())
    position = order.index(guide)
    context = {
        "guide": guide,
        "page": render_page(guide.file, llms_txt.read_page(guide.file)),
        "groups": groups(),
        "previous": order[position - 1] if position else None,
        "next": order[position + 1] if position + 1 < len(order) else None,
        "is_decision": is_decision,
    }
    return render(request, "docs/page.html", context)


@cache
def render_page(file: Path, text: str) -> dict[str, Any]:
    """Render the Markdown text of a file. HTML in it is escaped.

    `title` is its heading, `lead` what stands above its first section, `html` the sections, `contents` its headings of
    the second level.
    """
    markdown = markdown_parser()
    tokens = markdown.parse(text)
    contents = []
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            contents.append((str(token.attrs["id"]), plain_text(following.content)))
    label_cells(tokens)
    folder = file.relative_to(BASE).parent.as_posix()
    for token in tokens:
        for child in token.children or ():
            for attribute in ("href", "src"):
                if attribute in child.attrs:
                    child.attrs[attribute] = resolve_link(str(child.attrs[attribute]), folder)
    # The opening, the text and the end of the first heading.
    end = 3 if tokens and tokens[0].tag == "h1" else 0
    is_section = (
        position for position, token in enumerate(tokens) if token.type == "heading_open" and position >= end
    )
    first = next(is_section, end)
    parts = {"title": tokens[:end], "lead": tokens[end:first], "html": tokens[first:]}
    # Our own files, and HTML in them is escaped.
    rendered = {name: mark_safe(markdown.renderer.render(part, markdown.options, {})) for name, part in parts.items()}  # noqa: S308
    return {**rendered, "contents": contents}


def label_cells(tokens: Sequence[Any]) -> None:
    """Give each cell the heading of its column, and classes: `number` to those that are aligned right, `stacked` to
    tables that no phone has room for.
    """
    table, headings, column = None, list[str](), 0
    for token, following in pairwise(tokens):
        # The alignment of a column is a class here, because the pages allow no inline styles.
        if token.attrs.pop("style", "") == "text-align:right":
            token.attrs["class"] = "number"
        if token.type == "table_open":
            table, headings = token, []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            headings.append(plain_text(following.content))
        elif token.type == "td_open" and table:
            if column:
                token.attrs["data-label"] = headings[column]
                if len(headings) >= MIN_STACKED_COLUMNS and len(following.content) > MAX_NARROW_CELL:
                    table.attrs["class"] = "stacked"
            column += 1


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
    # A frame scrolls where the table is wider than the page.
    markdown.add_render_rule("table_open", render_table_open)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    return markdown


# Texts of the OpenAPI documents.
@lru_cache(maxsize=4096)
def markdown(text: str) -> SafeString:
    """Markdown as HTML; HTML in it is escaped."""
    html: str = markdown_parser().render(text)
    return mark_safe(html)  # noqa: S308


@lru_cache(maxsize=4096)
def inline_markdown(text: str) -> SafeString:
    """The same without paragraphs."""
    html: str = markdown_parser().renderInline(text)
    return mark_safe(html)  # noqa: S308


def render_table_open(_renderer: Any, tokens: Sequence[Any], index: int, _options: Any, _env: Any) -> str:
    style = " ".join(("table", *tokens[index].attrs.values()))
    number = sum(token.type == "table_open" for token in tokens[: index + 1])
    return f'<div class="table-frame" tabindex="0" role="region" aria-label="Table {number}"><table class="{style}">'


def render_fence(_renderer: Any, tokens: Sequence[Any], index: int, _options: Any, _env: Any) -> str:
    """A block of code with a button that copies it."""
    token = tokens[index]
    language = token.info.strip().partition(" ")[0]
    code, title = highlight(token.content, language), CODE_TITLES.get(language, "Example")
    return (
        f'<div class="copyable" data-title="{title}"><pre tabindex="0"><code id="code-{index}">{code}</code></pre>'
        f'<button type="button" class="quiet small" data-copy="code-{index}">Copy</button></div>'
    )


# Spans of punctuation and white space, which have no style of their own, and would double the size of JSON.
UNSTYLED_SPANS = re.compile(r'<span class="c-[pw]">([^<]*)</span>')


def highlight(text: str, language: str) -> SafeString:
    """Code as HTML, highlighted if its language is known; escaped by Pygments."""
    from pygments import highlight as render_code  # type: ignore[import-untyped]
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language.lower())
    except ClassNotFound:
        return escape(text)
    html = UNSTYLED_SPANS.sub(r"\1", str(render_code(text, lexer, HtmlFormatter(nowrap=True, classprefix="c-"))))
    return mark_safe(html)  # noqa: S308  # nosemgrep: html-is-escaped
