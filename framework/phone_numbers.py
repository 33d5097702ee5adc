"""Phone numbers as people type them: with or without the country code."""

import re
from functools import cache
from importlib.resources import files

import phonenumbers


@cache
def _countries() -> dict[str, str]:
    """The country (ISO 3166-1 alpha-2) of each time zone, from zone.tab of the zone database."""
    lines = (files("tzdata") / "zoneinfo" / "zone.tab").read_text().splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {zone: country for country, _coordinates, zone, *_comment in rows}


def country_of_zone(zone: str) -> str | None:
    """The country of a time zone, or None for zones of no country such as UTC."""
    return _countries().get(zone)


def add_country_code(text: str, *, country: str | None) -> str:
    """Return a national number of `country` as E.164 ("+4533002144"), and any other text as it is.

    `00` before a country code becomes a plus. Only the length is checked, not whether the number is assigned.
    """
    stripped = text.strip()
    if stripped.startswith("00"):
        return f"+{stripped[2:]}"
    if stripped.startswith("+") or country is None:
        return text
    try:
        number = phonenumbers.parse(stripped, country)
    except phonenumbers.NumberParseException:
        return text
    if number.extension or not phonenumbers.is_possible_number(number):
        return text
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def remove_phone_format(text: str) -> str:
    """Return the digits of a part of a number, with its plus (`00` equals it), and any other text as it is."""
    if not re.fullmatch(r"[+0-9 ()./-]*[0-9][+0-9 ()./-]*", text):
        return text
    return re.sub(r"^00", "+", re.sub(r"[^+0-9]", "", text))
