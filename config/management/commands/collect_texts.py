"""`manage.py collect_texts`: bring the catalogues of locale/ up to date with the marked texts, and compile them."""

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

from framework.data_files import read_toml

ROOT = Path(settings.BASE_DIR)
APPS = ("accounts", "catalogue", "config", "framework", "orders", "payments", "reservations", "templates")
# Guests read the texts of these folders and modules, in all of settings.LANGUAGES. All others are of the dashboard, in
# settings.DASHBOARD_LANGUAGES.
GUEST_PATHS = (
    "catalogue/order_payments/",
    "catalogue/public_pages/",
    "framework/api/fields.py",
    "framework/languages.py",
    "orders/ordering_page/",
    "orders/ticket_printing.py",
    "reservations/booking/",
    "reservations/booking_page/",
    "reservations/mail/",
    "reservations/self_service/",
    "templates/catalogue/order_payment.html",
    "templates/catalogue/public_pages/",
    "templates/layout/languages.html",
    "templates/orders/ordering_page/",
    "templates/orders/ticket.html",
    "templates/reservations/booking_page/",
    "templates/reservations/call.html",
    "templates/reservations/mail/",
    "templates/reservations/self_service/",
)
# Of the staff, although they are in these folders.
STAFF_EXCEPTIONS = (
    "orders/ordering_page/forms.py",
    "reservations/booking/table_assignment.py",
    "reservations/booking_page/colors.py",
)
# The back office is in English; these are copies of Django's, which translates them.
NOT_TRANSLATED = "templates/admin/"
KEYWORDS: dict[str, Any] = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
}
# Without dates, so that two branches differ in texts only.
HEADER = """# docs/languages.md says how to collect and compile these texts.
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural_forms};\\n"

"""
# A text with its plural form, and its context.
Key = tuple[tuple[str, ...], str | None]


class Command(BaseCommand):
    help = "Add new texts to the catalogues, remove those that are no longer marked, and compile the catalogues."

    def handle(self, *args: Any, **options: Any) -> None:
        del args, options
        for language in languages_of_guests():
            # A text may be written outside of the guests' folders, too.
            known = by_key(load(guests_file(language))).keys()
            self.update(guests_file(language), language, texts_of_guests() | (known & all_texts()))
        for language in languages_of_dashboard():
            self.update(dashboard_file(language), language, texts_of_dashboard(language))

    def update(self, path: Path, language: str, texts: frozenset[Key]) -> None:
        catalog = load(path if path.exists() else guests_file(language))
        if by_key(catalog).keys() != texts:
            for forms, context in by_key(catalog).keys() - texts:
                catalog.delete(forms[0], context)
            for forms, context in texts - by_key(catalog).keys():
                if len(forms) > 1:
                    catalog.add(forms, ("",) * catalog.num_plurals, context=context)
                else:
                    catalog.add(forms[0], "", context=context)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(HEADER.format(language=language, plural_forms=catalog.plural_forms.rstrip(";")).encode())
                write_po(file, catalog, width=0, omit_header=True, sort_output=True)
        translations = by_key(load(path))
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or by_key(load_compiled(path)) != translations:
            with compiled.open("wb") as file:
                write_mo(file, load(path))
        empty = sum(not all(found) for found in translations.values())
        self.stdout.write(f"{path.relative_to(ROOT)}: {len(texts)} texts, {empty} without a translation")


def languages_of_guests() -> list[str]:
    """Return all languages but English."""
    return [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def languages_of_dashboard() -> list[str]:
    """Return the languages of the dashboard but English."""
    return [code for code in settings.DASHBOARD_LANGUAGES if code != settings.LANGUAGE_CODE]


def guests_file(language: str) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"


def dashboard_file(language: str) -> Path:
    return Path(settings.LOCALE_PATHS[1]) / language / "LC_MESSAGES" / "django.po"


def load(path: Path) -> Catalog:
    with path.open("rb") as source:
        return read_po(source, locale=path.parent.parent.name)


def load_compiled(path: Path) -> Catalog:
    with path.with_suffix(".mo").open("rb") as source:
        return read_mo(source)


def as_tuple(forms: Any) -> tuple[str, ...]:
    return (forms,) if isinstance(forms, str) else tuple(forms)


def by_key(texts: Catalog) -> dict[Key, tuple[str, ...]]:
    """Return the translations of each text."""
    return {(as_tuple(text.id), text.context or None): as_tuple(text.string) for text in texts if text.id}


def texts_of_guests() -> frozenset[Key]:
    return frozenset(
        key for path, key in marked_texts() if path.startswith(GUEST_PATHS) and path not in STAFF_EXCEPTIONS
    )


def all_texts() -> frozenset[Key]:
    return frozenset(key for _path, key in marked_texts())


def texts_of_dashboard(language: str) -> frozenset[Key]:
    """Return the texts that are not in the guests' catalogue of the language."""
    return all_texts() - by_key(load(guests_file(language))).keys()


@cache
def marked_texts() -> tuple[tuple[str, Key], ...]:
    """Return the texts that are marked for translation, each with the path of its module or template."""
    return tuple(_extract())


def _extract() -> Iterator[tuple[str, Key]]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*")):
            name = str(path.relative_to(ROOT))
            if name.startswith(NOT_TRANSLATED):
                continue
            if path.suffix == ".py":
                code = path.read_text()
            elif path.suffix in (".html", ".txt"):
                # The rest of a template is masked, and its indentation is not that of Python.
                code = re.sub(r"^[ \t]+", "", templatize(path.read_text()), flags=re.MULTILINE)
            else:
                continue
            for _line, text, _comments, context in extract("python", BytesIO(code.encode()), KEYWORDS):
                yield name, (as_tuple(text), context)
    for group in read_toml(ROOT / "accounts/dashboard/menu.toml")["groups"]:
        for label in (group["title"], *(entry["label"] for entry in group["entries"])):
            yield "accounts/dashboard/menu.toml", ((label,), "menu")
    for text in read_toml(ROOT / "accounts/webhooks/openapi.toml")["descriptions"].values():
        yield "accounts/webhooks/openapi.toml", ((text,), None)
