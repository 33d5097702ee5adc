"""The CSV format of menus. Reading reports errors with their line; a written file reads back unchanged.

Uses the csv module of Python, which tablib wraps, because only it knows the line on which a row starts.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import StringIO
from typing import Any

from django.utils.translation import gettext as _

from framework.errors import InvalidRequest
from framework.invisible_text import remove_invisible
from framework.languages import format_number

COLUMNS = (
    *("id", "name", "category", "price", "tax_percent", "takeaway_tax_percent", "description", "allergens", "diets"),
    *("available", "station", "prep_minutes", "stock", "modifier_groups"),
)
REQUIRED = COLUMNS[1:4]
MAX_ROWS = 2_000
MAX_BYTES = 1024 * 1024
DELIMITERS = (",", ";", "\t")
# Text that a spreadsheet would run as a formula, also in full-width characters, and text with our apostrophe.
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
EXAMPLE = {
    "id": "margherita",
    "name": "Pizza Margherita",
    "category": "Pizza",
    "price": "9.50",
    "tax_percent": "10",
    "takeaway_tax_percent": "",
    "description": "Tomato, mozzarella, basil",
    "allergens": "gluten milk",
    "diets": "vegetarian",
    "available": "yes",
    "station": "pizza",
    "prep_minutes": "",
    "stock": "",
    "modifier_groups": "",
}


class UnreadableFile(InvalidRequest):
    def __init__(self, message: str) -> None:
        super().__init__(message, param="file")


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RowError:
    """An error in a line; `column` is empty if it concerns the whole line."""

    line: int
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A parsed file: its columns, its rows, and the lines with errors."""

    columns: tuple[str, ...]
    delimiter: str
    rows: tuple[Row, ...]
    errors: tuple[RowError, ...] = field(default=())

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Sheet":
        return cls(
            columns=tuple(content["columns"]),
            delimiter=content["delimiter"],
            rows=tuple(Row(row["line"], row["values"]) for row in content["rows"]),
            errors=tuple(RowError(**error) for error in content["errors"]),
        )


def read(content: bytes) -> Sheet:
    """Parse a file. Raises UnreadableFile."""
    text = decode_text(content)
    header = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=header.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    errors: list[RowError] = []
    columns: tuple[str, ...] = ()
    line = 1
    try:
        for cells in reader:
            first_line, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = parse_header(cells)
                continue
            if len(rows) + len(errors) >= MAX_ROWS:
                message = _("A menu can have at most %(most)s lines. This file has more.")
                raise UnreadableFile(message % {"most": format_number(MAX_ROWS)})
            if len(cells) != len(columns):
                message = _("The line has %(cells)s cells, the first line has %(columns)s.")
                errors.append(RowError(first_line, "", message % {"cells": len(cells), "columns": len(columns)}))
                continue
            rows.append(
                Row(first_line, {name: unescape_cell(cell) for name, cell in zip(columns, cells, strict=True)})
            )
    except csv.Error as error:
        message = _("Line %(line)s cannot be read: a quotation mark is not closed, or a cell is too long.")
        raise UnreadableFile(message % {"line": line}) from error
    if not columns:
        raise UnreadableFile(_("This file is empty."))
    return Sheet(columns, delimiter, tuple(rows), tuple(errors))


def decode_text(content: bytes) -> str:
    """Decode the file. Raises UnreadableFile unless it is UTF-8 text."""
    if len(content) > MAX_BYTES:
        raise UnreadableFile(_("This file is larger than 1 MB."))
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        message = _("This is a workbook. In your spreadsheet, save it as “CSV UTF-8” and upload that file.")
        raise UnreadableFile(message)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = _("This file is not UTF-8. In your spreadsheet, save it as “CSV UTF-8” and upload that file.")
        raise UnreadableFile(message) from error
    if "\0" in text:
        raise UnreadableFile(_("This is not a text file: it contains the character NUL."))
    # CR line endings of old Macs.
    return text if "\n" in text else text.replace("\r", "\n")


def parse_header(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the first line. Raises UnreadableFile."""
    if len(cells) > len(COLUMNS):
        message = _("The first line names %(count)s columns; a menu has these: %(columns)s.")
        raise UnreadableFile(message % {"count": format_number(len(cells)), "columns": ", ".join(COLUMNS)})
    names = tuple(cell.strip().lower() for cell in cells)
    for name in names:
        if name not in COLUMNS:
            near = get_close_matches(name[:40], COLUMNS, n=1, cutoff=0.6)
            message = _("There is no column “%(name)s”. The columns are: %(columns)s.")
            if near:
                message = _("There is no column “%(name)s”. Did you mean “%(near)s”? The columns are: %(columns)s.")
            values = {"name": name[:40], "near": "".join(near), "columns": ", ".join(COLUMNS)}
            raise UnreadableFile(message % values)
        if names.count(name) > 1:
            raise UnreadableFile(_("The column “%(name)s” is duplicated.") % {"name": name})
    if missing := [name for name in REQUIRED if name not in names]:
        raise UnreadableFile(_("Columns missing in the first line: %(columns)s.") % {"columns": ", ".join(missing)})
    return names


def unescape_cell(cell: str) -> str:
    """Return the text of a cell without our apostrophe and surrounding spaces."""
    cell = remove_invisible(cell.replace("\r\n", "\n"))
    return (cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell).strip()


def escape_formula(text: str) -> str:
    """Prefix an apostrophe to text that a spreadsheet would run as a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def write(rows: Iterable[Mapping[str, str]]) -> str:
    out = StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([escape_formula(row[name]) for name in COLUMNS] for row in rows)
    return out.getvalue()
