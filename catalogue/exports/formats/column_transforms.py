"""Applies `Dataset.transforms` row by row, for values that SQL cannot compute."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from catalogue.exports.datasets import Column, Dataset
from catalogue.exports.formats import column_types

# The types psycopg returns.
Line = bytes | bytearray | memoryview
Text = Callable[[str | None], str | None]
# Characters that RFC 4180 quotes.
QUOTED = frozenset(',"\r\n')


def transform_record(dataset: Dataset, line: Line) -> bytes:
    """Return a JSON line with transformed fields."""
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
            dataset.transforms[column.name], is_json=column_types.item_type(dataset.schema[column.name]) != "string"
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
