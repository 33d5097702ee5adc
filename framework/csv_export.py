"""Tables as CSV, row by row, in which no cell is a formula."""

import csv
import io
from collections.abc import Iterable, Iterator

# With these a spreadsheet begins a formula (OWASP, "CSV Injection"); numbers of ours begin with a digit.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> str:
    """What a spreadsheet shows as the text that it is."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Each row as a line of CSV (RFC 4180); one is held at a time."""
    room = io.StringIO()
    writer = csv.writer(room)
    for row in rows:
        writer.writerow(cell(value) for value in row)
        yield room.getvalue()
        room.seek(0)
        room.truncate()
