"""A catalogue in which each text of ours stands in brackets, so that a text on a page without them is not marked."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.test import override_settings
from django.utils.translation import trans_real

from config.management.commands import collect_texts

# Babel has its formats of dates and numbers, and Django texts of its own, which have no brackets.
LANGUAGE = "nl"
OPEN, CLOSE = "\u27e6", "\u27e7"
# Texts of people, of Django, and what is no text.
WITHOUT_TEXT = {"bdi", "style", "script", "code", "pre"}
ATTRIBUTES = {"aria-label", "title", "alt", "placeholder"}


@contextmanager
def activated(folder: Path) -> Iterator[None]:
    """Use the catalogue in place of that of LANGUAGE."""
    catalog = Catalog(locale=LANGUAGE)
    for forms, context in collect_texts.all_texts():
        bracketed = tuple(f"{OPEN}{form}{CLOSE}" for form in forms)
        catalog.add(
            forms if len(forms) > 1 else forms[0],
            bracketed if len(forms) > 1 else bracketed[0],
            context=context,
        )
    target = folder / LANGUAGE / "LC_MESSAGES"
    target.mkdir(parents=True)
    with (target / "django.mo").open("wb") as file:
        write_mo(file, catalog)
    try:
        with override_settings(LOCALE_PATHS=[folder]):
            trans_real._translations.clear()  # type: ignore[attr-defined]  # noqa: SLF001  # cached catalogues
            yield
    finally:
        trans_real._translations.clear()  # type: ignore[attr-defined]  # noqa: SLF001  # cached catalogues


class Unmarked(HTMLParser):
    """Collects the texts and attributes of a page that are not in brackets, without the texts of people."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.depth = 0
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name in ATTRIBUTES & values.keys():
            self.add(values[name] or "")
        if tag not in ("meta", "link", "input", "br", "img"):
            # The names of languages are in their own.
            self.open.append("bdi" if "lang" in values and tag != "html" else tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not WITHOUT_TEXT & set(self.open):
            self.add(data)

    def add(self, text: str) -> None:
        """Add what is outside of brackets; a bracket may close in a later text of the page."""
        outside = ""
        for char in text:
            self.depth += (char == OPEN) - (char == CLOSE)
            outside += char if self.depth == 0 and char != CLOSE else " "
        self.texts.append(outside)


def find_unmarked(page: str, *, known: str) -> list[str]:
    """Return the words of a page that are neither in brackets nor match the pattern `known`."""
    texts = Unmarked(page).texts
    return [word for text in texts for word in re.findall(r"[^\W\d_]{2,}", re.sub(known, " ", text))]
