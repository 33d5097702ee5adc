"""The languages of pages: texts by gettext (locale/), amounts, dates and times by babel.

A page for guests chooses the language with `activate_for`, the dashboard by a middleware
(accounts/sign_in/language_middleware.py). Where none is chosen, as in the APIs, texts are in English.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_skeleton
from babel.languages import get_official_languages
from babel.numbers import NumberPattern, format_decimal, get_currency_name
from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header

# CLDR has no such format with the day of the week in full.
LONG_DAYS = {"en": "EEEE d MMMM", "de": "EEEE, d. MMMM", "fr": "EEEE d MMMM", "es": "EEEE, d 'de' MMMM"}


@contextmanager
def activate_for(request: HttpRequest, *, guest: str = "", venue: str = "") -> Iterator[str]:
    """Use the first language that we have: of the parameter `lang`, the guest, the browser, the venue; yield it."""
    asked = request.POST.get("lang") or request.GET.get("lang", "")
    tags = (asked, guest, *accepted_tags(request), venue)
    language = next(filter(None, map(find_language, tags)), settings.LANGUAGE_CODE)
    with translation.override(language):
        yield language


def language_of_dashboard(request: HttpRequest, *, chosen: str) -> str:
    """Return the first of settings.DASHBOARD_LANGUAGES: the chosen one, those of the browser, English."""
    found = map(find_language, (chosen, *accepted_tags(request)))
    return next((code for code in found if code in settings.DASHBOARD_LANGUAGES), settings.LANGUAGE_CODE)


def accepted_tags(request: HttpRequest) -> list[str]:
    """Return the tags of `Accept-Language`, the preferred ones first: `de-at`, `de`."""
    header = request.headers.get("Accept-Language", "").lower()
    return [tag for tag, _quality in parse_accept_lang_header(header)]


def list_languages() -> list[tuple[str, str]]:
    """Return the codes and own names of the languages of guests' pages: ("da", "Dansk")."""
    return list(settings.LANGUAGES)


def find_language(tag: str) -> str:
    """Return the language of settings.LANGUAGES for a tag such as `de-AT`: `de`; empty if there is none."""
    try:
        return translation.get_supported_language_variant(tag)
    except LookupError:
        return ""


def language_of_country(country: str | None) -> str:
    """Return the first official language of a country (ISO 3166-1 alpha-2) that we have, else English."""
    official = get_official_languages(country, de_facto=True) if country else ()
    return next(filter(None, map(find_language, official)), settings.LANGUAGE_CODE)


def _locale() -> Locale:
    """Return the locale of dates and amounts: of the current language, of Portugal for Portuguese."""
    language = translation.get_language() or "en"
    return Locale.parse({"pt": "pt-PT"}.get(language, language), sep="-")


def translate(row: Mapping[str, Any], field: str, default: str) -> str:
    """Return a text of a row's `translations`, {'da': {'name': ...}}, in the current language; else the default.

    A text of a region such as `de-AT` counts where the language has none.
    """
    language = translation.get_language() or ""
    regions = sorted(key for key in row if key.startswith(f"{language}-"))
    texts = ((row[key] or {}).get(field) for key in (language, *regions) if key in row)
    return next(filter(None, texts), default)


def format_money(amount: Decimal, currency: str) -> str:
    """Format an amount in the current language, with the decimals that it has: `€9.50`, `9,50 €`."""
    decimals = max(0, -int(amount.as_tuple().exponent))
    pattern = _with_decimals(_locale().currency_formats["standard"], decimals)
    text: str = pattern.apply(amount, _locale(), currency=currency, currency_digits=False)
    return text


def _with_decimals(pattern: NumberPattern, decimals: int) -> NumberPattern:
    changed = copy(pattern)
    changed.frac_prec = (decimals, decimals)
    return changed


def format_number(number: Decimal | int, *, decimals: int | None = None) -> str:
    """Format a number in the current language, with so many decimals, or with as many as it has, at most three."""
    locale = _locale()
    if decimals is None:
        return format_decimal(number, locale=locale)
    text: str = _with_decimals(locale.decimal_formats[None], decimals).apply(number, locale)
    return text


def format_percent(percent: Decimal | int, *, decimals: int = 0) -> str:
    """Format a percentage in the current language: `25.0%`, `25,0 %`."""
    locale = _locale()
    text: str = _with_decimals(locale.percent_formats[None], decimals).apply(Decimal(percent) / 100, locale)
    return text


def name_of_currency(code: str) -> str:
    """Return the code and the name of a currency: `EUR, Euro`."""
    return f"{code}, {get_currency_name(code, locale=_locale())}"


def format_clock(moment: datetime | time) -> str:
    """Format a time, or the time of an aware datetime in its zone, on a 24-hour clock: `18:45`, `18.45`."""
    if isinstance(moment, time):
        moment = datetime.combine(date.min, moment)
    return format_skeleton("Hm", moment, tzinfo=moment.tzinfo, locale=_locale())


def format_day(day: date) -> str:
    """Format a date unambiguously: `Saturday 28 November 2026`, `lørdag den 28. november 2026`."""
    locale = _locale()
    return format_date(day, "EEEE d MMMM y" if locale.language == "en" else "full", locale=locale)


def format_day_of_month(day: date) -> str:
    """Format a date without its year: `28 Nov`, `28. nov.`."""
    locale = _locale()
    if locale.language == "en":
        return format_date(day, "d MMM", locale=locale)
    return format_skeleton("MMMd", day, locale=locale)


def format_short_day(day: date) -> str:
    """Format a date without its year, with the day of the week: `Sat 28 Nov`, `Sa., 28. Nov.`."""
    locale = _locale()
    if locale.language == "en":
        return format_date(day, "EEE d MMM", locale=locale)
    return format_skeleton("MMMEd", day, locale=locale)


def format_short_date(day: date) -> str:
    """Format a date with the day of the week: `Sat 28 Nov 2026`, `Sa., 28. Nov. 2026`."""
    locale = _locale()
    if locale.language == "en":
        return format_date(day, "EEE d MMM y", locale=locale)
    return format_skeleton("yMMMEd", day, locale=locale)


def format_long_day(day: date) -> str:
    """Format a date without its year, in full words: `Saturday 28 November`, `Samstag, 28. November`."""
    locale = _locale()
    return format_date(day, LONG_DAYS.get(locale.language, "full"), locale=locale)


def format_month(day: date) -> str:
    """Format the month of a date with its year: `November 2026`, `noviembre de 2026`."""
    return format_skeleton("yMMMM", day, locale=_locale())


def format_weekday(day: date) -> str:
    """Format the day of the week: `Sat`, `lør.`."""
    return format_date(day, "EEE", locale=_locale())


def format_moment(moment: datetime, zone: str) -> str:
    """Format a moment by the clock of the zone: `18:30 on Saturday 28 November 2026`."""
    there = moment.astimezone(ZoneInfo(zone))
    return _("%(time)s on %(day)s") % {"time": format_clock(there), "day": format_day(there.date())}


def format_clock_or_date(moment: datetime, *, today: date) -> str:
    """Format the time of an aware datetime in its zone, after the date unless that is today: `Sat, Nov 28, 18:45`."""
    if moment.date() == today:
        return format_clock(moment)
    day = format_skeleton("MMMEd", moment, tzinfo=moment.tzinfo, locale=_locale())
    return f"{day}, {format_clock(moment)}"
