"""What the sources write much alike: websites, addresses, texts that a column takes whole."""

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from catalogue.importers.row_errors import is_line
from catalogue.places.phones import read_phone

_is_url = URLValidator(schemes=["http", "https"])


def fitting(text: object, length: int) -> str | None:
    """The text, where the column takes it whole, and in one line: half an address is none."""
    if not isinstance(text, str):
        return None
    stripped = text.strip()
    return stripped if stripped and len(stripped) <= length and is_line(stripped) else None


def website(text: object) -> str | None:
    """The address of a site, with its scheme; None for what is no address."""
    if not isinstance(text, str) or not text.strip():
        return None
    url = text.strip() if "://" in text else f"https://{text.strip()}"
    try:
        _is_url(url)
    except ValidationError:
        return None
    return fitting(url, 500)


def first_phone(texts: Iterable[object], *, country: str) -> str | None:
    """The first valid number as E.164."""
    numbers = (read_phone(text, country=country) for text in texts if isinstance(text, str) and text.strip())
    return next((number for number in numbers if number), None)


def first_website(texts: Iterable[object]) -> str | None:
    return next((site for site in map(website, texts) if site), None)


def texts(values: object) -> list[str]:
    """The texts of a list; anything else states none."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
