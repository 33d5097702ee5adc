"""The languages of guests' pages: texts by gettext (locale/), amounts and times by babel.

A page chooses the language with `activate_for`. Where none is chosen, texts are in English.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from babel import Locale
from babel.dates import format_skeleton
from babel.numbers import format_decimal
from django.conf import settings
from django.http import HttpRequest
from django.utils import translation


@contextmanager
def activate_for(request: HttpRequest, asked: str) -> Iterator[str]:
    """Use the language asked for, or else the one that the browser prefers, of settings.LANGUAGES; yield it."""
    is_known = asked in dict(settings.LANGUAGES)
    language = asked if is_known else translation.get_language_from_request(request)
    with translation.override(language):
        yield language


def translate(row: Mapping[str, Any], field: str, default: str) -> str:
    """Return a text of a row's `translations`, {'da': {'name': ...}}, in the current language; else the default."""
    return (row.get(translation.get_language() or "") or {}).get(field) or default


def format_money(amount: Decimal, currency: str) -> str:
    """Format an amount in the current language, with the decimals that it has: `€9.50`, `9,50 €`."""
    locale = Locale.parse(translation.get_language() or "en", sep="-")
    decimals = max(0, -int(amount.as_tuple().exponent))
    pattern = copy(locale.currency_formats["standard"])
    pattern.frac_prec = (decimals, decimals)
    text: str = pattern.apply(amount, locale, currency=currency, currency_digits=False)
    return text


def format_number(number: Decimal | int) -> str:
    return format_decimal(number, locale=translation.get_language())


def format_clock(moment: datetime) -> str:
    """Format the time of an aware datetime in its zone on a 24-hour clock: `18:45`, `18.45`."""
    return format_skeleton("Hm", moment, tzinfo=moment.tzinfo, locale=translation.get_language())


def format_clock_or_date(moment: datetime, *, today: date) -> str:
    """Format the time of an aware datetime in its zone, after the date unless that is today: `Sat, Nov 28, 18:45`."""
    if moment.date() == today:
        return format_clock(moment)
    day = format_skeleton("MMMEd", moment, tzinfo=moment.tzinfo, locale=translation.get_language())
    return f"{day}, {format_clock(moment)}"
