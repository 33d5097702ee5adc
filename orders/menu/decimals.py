"""Decimal numbers as people type them, in the dish form and in CSV files."""

import re

# Three digits after the comma may be a thousands separator.
WITH_COMMA = re.compile(r"-?[0-9]{1,7},[0-9]{1,2}")


def convert_decimal_comma(text: str) -> str:
    """Return `9.50` for `9,50`; other text, also the ambiguous `1,000`, is returned unchanged."""
    return text.replace(",", ".") if WITH_COMMA.fullmatch(text.strip()) else text
