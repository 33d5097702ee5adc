"""Streamed CSV with escaped formulas."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import cast

from django.http import HttpResponse, StreamingHttpResponse

# Spreadsheets evaluate cells with these prefixes (OWASP, "CSV Injection"). Our numbers begin with a digit.
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(value: object) -> str:
    """The text of a cell, with an apostrophe before a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) else text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Each row as a line of CSV (RFC 4180); one row is in memory at a time."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for row in rows:
        writer.writerow(escape_formula(value) for value in row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def csv_response(rows: Iterable[Iterable[object]], filename: str) -> HttpResponse:
    """Stream the rows as a CSV file to download."""
    response = StreamingHttpResponse(
        csv_lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"},
    )
    # The type stubs of views and admin expect HttpResponse.
    return cast("HttpResponse", response)
