"""Arguments as models write them, in the type and form that the schema wants.

A value is changed only if the other form means the same: "4" for 4, "Bar" for `bar`, one text for a list of one,
"2026-11-24 9:30 pm" for 2026-11-24T21:30. All else is unchanged, and refused by the checks of framework.mcp.tools.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from framework.invisible_text import remove_invisible
from framework.mcp.schemas import Schema

# Integers up to here are exact in JSON.
MAX_EXACT_INTEGER = 2**53
INTEGER = re.compile(r"[+-]?[0-9]{1,15}(\.0{1,6})?")
DECIMAL = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,6})?")
BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
# A longer text is no list that somebody meant.
MAX_LIST_LENGTH = 2_000
DATE = r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})"
CLOCK = (
    r"(?P<hour>[0-9]{1,2})(:(?P<minute>[0-9]{2})(:00(\.0+)?)?)?\s*(?P<half>[ap]\.?m\.?)?"
    r"(?P<offset>Z|[+-][0-9]{2}:[0-9]{2})?"
)
MOMENT = re.compile(rf"({DATE})?(?(year)(\s*,?\s+(at\s+)?|T)|)({CLOCK})", re.IGNORECASE | re.ASCII)
ONLY_DATE = re.compile(DATE, re.ASCII)


def is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def coerce_arguments(arguments: Mapping[str, Any], known: Mapping[str, Schema]) -> dict[str, Any]:
    """The arguments without nulls and invisible characters, in the forms of their schemas.

    Empty texts and lists are left out, as clients fill them in for what the model has not said; a required argument
    that is missing is refused later.
    """
    result = {}
    for name, value in arguments.items():
        cleaned = [clean(element) for element in value] if isinstance(value, list) else clean(value)
        coerced = coerce(cleaned, known.get(name, {}))
        if coerced is not None and not is_blank(coerced) and coerced != []:
            result[name] = coerced
    return result


def clean(value: Any) -> Any:
    """The value without invisible characters; a float without a fraction is an integer, as in JSON Schema."""
    if isinstance(value, str):
        return remove_invisible(value)
    is_integer = isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT_INTEGER
    return int(value) if is_integer else value


def coerce(value: Any, schema: Schema) -> Any:
    """The value in the form of the schema, if it has the same meaning there; else unchanged."""
    match schema.get("type"):
        case "boolean" if isinstance(value, str):
            return BOOLEANS.get(value.strip().lower(), value)
        case "integer" if isinstance(value, str) and INTEGER.fullmatch(value.strip()):
            return int(float(value))
        case "number" if isinstance(value, str) and DECIMAL.fullmatch(value.strip()):
            return clean(float(value))
        case "array":
            return _coerce_array(value, schema)
        case "string":
            return _coerce_string(value, schema)
    return value


def _coerce_array(value: Any, schema: Schema) -> Any:
    if isinstance(value, str) and len(value) <= MAX_LIST_LENGTH:
        value = _split(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list):
        return value
    elements = [coerce(element, schema["items"]) for element in value]
    return [element for element in elements if element is not None and not is_blank(element)]


def _split(text: str) -> list[Any]:
    """The elements of a list in one text: a JSON array, or values with commas between them."""
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except ValueError:
            return [text]
        return [clean(element) for element in parsed] if isinstance(parsed, list) else [text]
    return [part.strip() for part in text.split(",")]


def _coerce_string(value: Any, schema: Schema) -> Any:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list) and value and all(_is_number(element) for element in value):
        joined = ",".join(map(str, value))
        return joined if _matches(joined, schema) and "pattern" in schema else value
    if _is_number(value):
        value = str(value)
    if not isinstance(value, str) or is_blank(value):
        return value
    if "enum" in schema:
        same = [choice for choice in schema["enum"] if _fold(choice) == _fold(value)]
        return same[0] if len(same) == 1 else value
    if _matches(value, schema):
        return value
    return next((form for form in _other_forms(value) if _matches(form, schema)), value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _fold(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", text.strip().lower())


def _matches(text: str, schema: Schema) -> bool:
    if schema.get("format") == "date":
        return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is not None
    return "pattern" not in schema or re.fullmatch(schema["pattern"], text, re.ASCII) is not None


def _other_forms(text: str) -> Iterator[str]:
    """Texts of the same meaning, of which a pattern takes at most one."""
    stripped = text.strip()
    yield stripped
    yield stripped.lower()
    yield re.sub(r"\s*,\s*", ",", stripped)
    if found := ONLY_DATE.fullmatch(stripped):
        yield _date(found)
    found = MOMENT.fullmatch(stripped)
    if found and (clock := _clock(found)):
        yield f"{_date(found)}T{clock}" if found["year"] else clock


def _date(found: re.Match[str]) -> str:
    return f"{found['year']}-{found['month']:0>2}-{found['day']:0>2}"


def _clock(found: re.Match[str]) -> str | None:
    """HH:MM with the offset, if there is one; None for a bare number, which may mean either half of the day."""
    hour, half = int(found["hour"]), (found["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    elif found["minute"] is None:
        return None
    return f"{hour:02}:{found['minute'] or '00'}{found['offset'] or ''}"
