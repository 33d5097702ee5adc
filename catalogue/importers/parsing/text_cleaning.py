"""Cleaning of texts, websites and phone numbers that several sources share."""

import re
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from catalogue.importers.row_errors import RowRejected, is_single_line
from catalogue.places.phones import read_phone

_is_url = URLValidator(schemes=["http", "https"])


def fit_text(text: object, length: int) -> str | None:
    """Return a stripped text that fits the column in one line; None otherwise, as half an address is useless."""
    if not isinstance(text, str):
        return None
    stripped = text.strip()
    return stripped if stripped and len(stripped) <= length and is_single_line(stripped) else None


def check_name(text: object) -> None:
    """Raise RowRejected for the name of a place that does not fit."""
    if not fit_text(text, 200):
        raise RowRejected("The place has no name, or one that is longer than 200 characters or no line.")


def parse_country(text: object) -> str | None:
    """Return an ISO 3166-1 alpha-2 code in upper case; None for any other value."""
    country = text.upper() if isinstance(text, str) else ""
    return country if re.fullmatch("[A-Z]{2}", country) else None


def parse_website(text: object) -> str | None:
    """Return a URL with its scheme; None for an invalid one."""
    if not isinstance(text, str) or not text.strip():
        return None
    url = text.strip() if "://" in text else f"https://{text.strip()}"
    try:
        _is_url(url)
    except ValidationError:
        return None
    return fit_text(url, 500)


def first_phone(texts: Iterable[object], *, country: str) -> str | None:
    """Return the first valid number as E.164."""
    numbers = (read_phone(text, country=country) for text in texts if isinstance(text, str) and text.strip())
    return next((number for number in numbers if number), None)


def first_website(texts: Iterable[object]) -> str | None:
    return next((site for site in map(parse_website, texts) if site), None)


def filter_texts(values: object) -> list[str]:
    """Return the texts of a list; empty for any other value."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
