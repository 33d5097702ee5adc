"""Menus as CSV files: read with the line of everything that is wrong, and written so that reading brings them back.

Parsed by Python's own csv module, which tablib wraps: it alone tells the line that a row began on.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from io import StringIO
from typing import Any

from framework.errors import InvalidRequest

COLUMNS = ("id", "name", "category", "price", "tax_percent", "description", "available")
NEEDED = COLUMNS[:4]
MOST_ROWS = 2_000
MOST_BYTES = 1024 * 1024
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
# What a spreadsheet would run as a formula, in the wide forms too; and what already has our mark before it.
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
EXAMPLE = {
    "id": "margherita",
    "name": "Pizza Margherita",
    "category": "Pizza",
    "price": "9.50",
    "tax_percent": "10",
    "description": "Tomato, mozzarella, basil",
    "available": "yes",
}


class BadFile(InvalidRequest):
    """A file that is no menu at all, and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="file")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the file: what it says in each column that the file has."""

    line: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a line, and in which column; empty: in the line as a whole."""

    line: int
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file as it was read: its columns, its rows, and lines that are none."""

    columns: tuple[str, ...]
    delimiter: str
    rows: tuple[Row, ...]
    faults: tuple[Fault, ...] = field(default=())

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def restored(cls, content: Mapping[str, Any]) -> "Sheet":
        """From what `stored` made."""
        return cls(
            columns=tuple(content["columns"]),
            delimiter=content["delimiter"],
            rows=tuple(Row(row["line"], row["values"]) for row in content["rows"]),
            faults=tuple(Fault(**fault) for fault in content["faults"]),
        )


def read(content: bytes) -> Sheet:
    """Read a file. Raises BadFile where no line of it can be told from the next."""
    text = text_of(content)
    header, _, _ = text.partition("\n")
    delimiter = max(DELIMITERS, key=header.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    faults: list[Fault] = []
    columns: tuple[str, ...] = ()
    line = 1
    try:
        for cells in reader:
            began, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = columns_of(cells)
                continue
            if len(rows) + len(faults) >= MOST_ROWS:
                raise BadFile(f"A menu can have at most {MOST_ROWS:,} lines. This file has more.")
            if len(cells) != len(columns):
                faults.append(Fault(began, "", f"The line has {len(cells)} cells, the first line has {len(columns)}."))
                continue
            rows.append(Row(began, {name: plain(cell) for name, cell in zip(columns, cells, strict=True)}))
    except csv.Error as error:
        raise BadFile(
            f"Line {line} cannot be read: a quotation mark in it has no other, or a cell is too long."
        ) from error
    if not columns:
        raise BadFile("This file is empty.")
    return Sheet(columns, delimiter, tuple(rows), tuple(faults))


def text_of(content: bytes) -> str:
    """The text of the file. Raises BadFile for what is not text in UTF-8."""
    if len(content) > MOST_BYTES:
        raise BadFile("This file is larger than 1 MB.")
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise BadFile("This is a workbook. In your spreadsheet, save it as “CSV UTF-8” and upload that file.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(
            "This file is not UTF-8. In your spreadsheet, save it as “CSV UTF-8” and upload that file."
        ) from error
    if "\0" in text:
        raise BadFile("This is not a text file: it contains the character NUL.")
    # Old Macs end lines so.
    return text if "\n" in text else text.replace("\r", "\n")


def columns_of(cells: Sequence[str]) -> tuple[str, ...]:
    """The columns that the first line names. Raises BadFile."""
    if len(cells) > len(COLUMNS):
        raise BadFile(f"The first line names {len(cells):,} columns; a menu has these: {', '.join(COLUMNS)}.")
    names = tuple(cell.strip().lower() for cell in cells)
    for name in names:
        if name not in COLUMNS:
            near = get_close_matches(name[:40], COLUMNS, n=1, cutoff=0.6)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            raise BadFile(f"There is no column “{name[:40]}”.{hint} The columns are: {', '.join(COLUMNS)}.")
        if names.count(name) > 1:
            raise BadFile(f"The column “{name}” is duplicated.")
    if missing := [name for name in NEEDED if name not in names]:
        raise BadFile(f"Columns missing in the first line: {', '.join(missing)}.")
    return names


def plain(cell: str) -> str:
    """The text of a cell without our mark, and without blanks around it."""
    cell = cell.replace("\r\n", "\n")
    return (cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell).strip()


def harmless(text: str) -> str:
    """The text as a spreadsheet shows it and never runs it: what looks like a formula gets an apostrophe before it."""
    return f"'{text}" if FORMULA.match(text) else text


def write(rows: Iterable[Mapping[str, str]]) -> str:
    """A file of these rows, which `read` brings back as they are."""
    out = StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([harmless(row[name]) for name in COLUMNS] for row in rows)
    return out.getvalue()
