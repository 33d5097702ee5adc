"""The catalogues of texts in locale/, and the texts of the code."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils.translation.template import templatize

APPS = ("accounts", "catalogue", "config", "framework", "orders", "payments", "reservations", "templates")
KEYWORDS: Mapping[str, Any] = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>")
# A text with its plural form, and its context.
Key = tuple[tuple[str, ...], str | None]


def languages() -> list[str]:
    """Return all languages but English."""
    return [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def folder_of(language: str) -> Path:
    return Path(settings.BASE_DIR) / "locale" / language / "LC_MESSAGES"


def as_tuple(forms: Any) -> tuple[str, ...]:
    return (forms,) if isinstance(forms, str) else tuple(forms)


def by_key(texts: Catalog) -> dict[Key, tuple[str, ...]]:
    """Return the translations of each text."""
    return {(as_tuple(text.id), text.context or None): as_tuple(text.string) for text in texts if text.id}


def load(language: str) -> Catalog:
    with (folder_of(language) / "django.po").open("rb") as source:
        return read_po(source, locale=language)


def load_compiled(language: str) -> Catalog:
    with (folder_of(language) / "django.mo").open("rb") as source:
        return read_mo(source)


@cache
def texts_of_the_code() -> frozenset[Key]:
    """Return the texts that are marked for translation in modules and templates."""
    return frozenset(_extract())


def _extract() -> Iterator[Key]:
    for app in APPS:
        for path in sorted((Path(settings.BASE_DIR) / app).rglob("*")):
            if path.suffix == ".py":
                code = path.read_text()
            elif path.suffix in (".html", ".txt"):
                # The rest of a template is masked, and its indentation is not that of Python.
                code = re.sub(r"^[ \t]+", "", templatize(path.read_text()), flags=re.MULTILINE)
            else:
                continue
            for _line, text, _comments, context in extract("python", BytesIO(code.encode()), KEYWORDS):
                yield as_tuple(text), context
