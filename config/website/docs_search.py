"""Full-text search of the documentation, in memory: its 160 pages have a quarter of a million words at most."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.website import docs, reference

MAX_HITS = 20
MAX_WORDS = 8
EXCERPT_LENGTH = 220
TITLE_WEIGHT, HEADING_WEIGHT, MAX_BODY_WEIGHT = 12, 8, 4
# Guides explain how to use the product; decisions and the changelog only why and when it changed.
GUIDE_BONUS = 12


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a page with the text below it; `heading` is empty for the text below the title."""

    guide: docs.Guide
    heading: str
    anchor: str
    text: str
    # The title, the heading and the text as `fold` returns them.
    folded: tuple[str, str, str]

    @classmethod
    def of(cls, guide: docs.Guide, heading: str, anchor: str, text: str) -> "Section":
        return cls(guide, heading, anchor, text, (fold(guide.title), fold(heading), fold(text)))

    @property
    def url(self) -> str:
        return f"{self.guide.url}#{self.anchor}" if self.anchor else self.guide.url


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that has all words of a query."""

    section: Section
    excerpt: SafeString


def search(query: str) -> list[Hit]:
    """The sections with all words of the query as beginnings of words, best first; at most MAX_HITS."""
    words = fold(query).split()[:MAX_WORDS]
    if not words:
        return []
    ranked = [(score(section, words), section) for section in sections()]
    best = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
    return [Hit(section, excerpt(section.text, words)) for _, section in best[:MAX_HITS]]


def score(section: Section, words: Sequence[str]) -> int:
    """The sum of the weights of the words; 0 if one is missing."""
    total = 0
    title, heading, text = section.folded
    for word in words:
        in_title, in_heading, in_text = count(title, word) > 0, count(heading, word) > 0, count(text, word)
        if not (in_title or in_heading or in_text):
            return 0
        total += TITLE_WEIGHT * in_title * (not section.heading) + HEADING_WEIGHT * in_heading
        total += in_title + min(in_text, MAX_BODY_WEIGHT)
    return total + GUIDE_BONUS * (section.guide.name in docs.guides() and section.guide.name != "changelog")


def count(folded: str, word: str) -> int:
    """How many words begin with `word`."""
    return f" {folded}".count(f" {word}")


def fold(text: str) -> str:
    """Words in lower case without accents; an s at the end of longer words is dropped, so that plurals match."""
    letters = unicodedata.normalize("NFKD", text).casefold()
    words = re.findall(r"\w+", "".join(letter for letter in letters if not unicodedata.combining(letter)))
    return " ".join(word.removesuffix("s") if len(word) > 3 else word for word in words)


@cache
def sections() -> tuple[Section, ...]:
    """All sections of all pages."""
    pages: Iterable[docs.Guide] = (*docs.guides().values(), *docs.decisions().values())
    operations = (
        Section.of(guide, heading, anchor, text)
        for guide, found in reference.search_pages()
        for heading, anchor, text in found
    )
    return (*(section for guide in pages for section in split(guide)), *operations)


def split(guide: docs.Guide) -> Iterable[Section]:
    """The sections of a page, by its headings of the second and third level."""
    heading, anchor, parts = "", "", list[str]()
    tokens = docs.markdown_parser().parse(guide.file.read_text())
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            if token.tag in ("h2", "h3"):
                yield Section.of(guide, heading, anchor, " ".join(parts))
                heading, anchor, parts = docs.plain_text(tokens[position + 1].content), str(token.attrs["id"]), []
        elif token.type == "fence" or (token.type == "inline" and tokens[position - 1].type != "heading_open"):
            parts.append(docs.plain_text(token.content))
    yield Section.of(guide, heading, anchor, " ".join(parts))


def excerpt(text: str, words: Sequence[str]) -> SafeString:
    """The part of the text around the first word of the query, with all words marked."""
    pattern = re.compile(r"(\b(?:" + "|".join(re.escape(word) for word in words) + r")\w*)", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, (first.start() if first else 0) - EXCERPT_LENGTH // 3)
    start = text.find(" ", start) + 1 if start else 0
    part = text[start : start + EXCERPT_LENGTH]
    end = start + len(part) < len(text)
    # `split` with a group: every second piece is a match.
    pieces = enumerate(pattern.split(part.rsplit(" ", 1)[0] if end else part))
    marked = (format_html("<mark>{}</mark>", piece) if number % 2 else piece for number, piece in pieces)
    return format_html(
        "{}{}{}",
        "… " if start else "",
        format_html_join("", "{}", ((piece,) for piece in marked)),
        " …" if end else "",
    )
