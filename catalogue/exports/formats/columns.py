"""The columns of a file: their types in SQL and as CSV text, and values that SQL cannot compute."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from catalogue.exports.datasets import Column, Dataset

ARRAY = "array of "
SQL = {
    "string": "text",
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
}

# The types psycopg returns.
Line = bytes | bytearray | memoryview
Text = Callable[[str | None], str | None]
# Characters that RFC 4180 quotes.
QUOTED = frozenset(',"\r\n')


def is_array(type_name: str) -> bool:
    return type_name.startswith(ARRAY)


def item_type(type_name: str) -> str:
    """Return the type of a column's values, or of the items of an array: a key of SQL."""
    return type_name.removeprefix(ARRAY).removesuffix(" or null")


def cast_sql(sql: str, type_name: str) -> str:
    """Cast to exactly the declared type."""
    return f"({sql})::{SQL[item_type(type_name)]}{'[]' if is_array(type_name) else ''}"


def csv_sql(sql: str, type_name: str) -> str:
    """Return the SQL of the CSV text: JSON's true and false, timestamps as in the API, arrays as JSON."""
    value = cast_sql(sql, type_name)
    if is_array(type_name):
        return f"to_json({value})::text"
    if item_type(type_name) == "timestamp":
        return f"api_timestamp({value})"
    # A boolean's own text would be t and f.
    return f"({value})::text" if item_type(type_name) == "boolean" else value


def transform_record(dataset: Dataset, line: Line) -> bytes:
    value = orjson.loads(line)
    for name in dataset.transforms.keys() & value.keys():
        value[name] = dataset.transforms[name](value[name])
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def build_transforms(dataset: Dataset) -> dict[str, Text]:
    """Return by column the function from stored to exported text; the text is JSON unless the field is a string.

    Null stays null.
    """
    return {
        column.name: _wrap_transform(
            dataset.transforms[column.name], is_json=item_type(dataset.schema[column.name]) != "string"
        )
        for column in dataset.columns
        if column.name in dataset.transforms
    }


def _wrap_transform(render: Callable[[Any], Any], *, is_json: bool) -> Text:
    def transform(value: str | None) -> str | None:
        if value is None:
            return None
        if not is_json:
            return str(render(value))
        return orjson.dumps(render(orjson.loads(value))).decode()

    return transform


def transform_row(transforms: Mapping[str, Text], of: Sequence[Column], line: Line) -> bytes:
    """Return a CSV line, built as PostgreSQL does from a JSON array of texts."""
    texts: Sequence[str | None] = orjson.loads(line)
    cells = (
        transforms[one.name](value) if one.name in transforms else value for one, value in zip(of, texts, strict=True)
    )
    return (",".join(map(quote_cell, cells)) + "\n").encode()


def quote_cell(value: str | None) -> str:
    """Return a CSV value: null is empty, an empty string is quoted."""
    if value is None:
        return ""
    if value and QUOTED.isdisjoint(value):
        return value
    return '"' + value.replace('"', '""') + '"'
