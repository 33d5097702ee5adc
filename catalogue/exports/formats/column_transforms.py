"""What a dataset says of its rows that SQL cannot: `Dataset.rendered`, put through row by row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from catalogue.exports.datasets import Column, Dataset
from catalogue.exports.formats import column_types

# As psycopg gives them.
Line = bytes | bytearray | memoryview
Text = Callable[[str | None], str | None]
# What RFC 4180 quotes.
QUOTED = frozenset(',"\r\n')


def record(dataset: Dataset, line: Line) -> bytes:
    """A line of JSON, with the fields that are rendered."""
    told = orjson.loads(line)
    for name in dataset.rendered.keys() & told.keys():
        told[name] = dataset.rendered[name](told[name])
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)


def columns(dataset: Dataset) -> dict[str, Text]:
    """By the name of a column what makes its text, of JSON where the field is no string; null stays null."""
    return {
        column.name: _of_text(
            dataset.rendered[column.name], is_json=column_types.plain(dataset.schema[column.name]) != "string"
        )
        for column in dataset.columns
        if column.name in dataset.rendered
    }


def _of_text(render: Callable[[Any], Any], *, is_json: bool) -> Text:
    def made(told: str | None) -> str | None:
        if told is None:
            return None
        if not is_json:
            return str(render(told))
        return orjson.dumps(render(orjson.loads(told))).decode()

    return made


def row(made: Mapping[str, Text], of: Sequence[Column], line: Line) -> bytes:
    """A line of CSV as PostgreSQL makes it, of a JSON array of texts."""
    texts: Sequence[str | None] = orjson.loads(line)
    cells = (made[one.name](told) if one.name in made else told for one, told in zip(of, texts, strict=True))
    return (",".join(map(cell, cells)) + "\n").encode()


def cell(told: str | None) -> str:
    """A value in a line of CSV: null is empty, what is empty is quoted."""
    if told is None:
        return ""
    if told and QUOTED.isdisjoint(told):
        return told
    return '"' + told.replace('"', '""') + '"'
