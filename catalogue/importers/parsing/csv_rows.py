"""Rows of CSV files."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from catalogue.importers.row_errors import RowRejected, UnreadableFileError


def read_rows(stream: BinaryIO, *, columns: Sequence[str], kind: str) -> Iterator[dict[Any, Any] | csv.Error]:
    """Yield each row by column, or the error of a malformed one. Raises UnreadableFileError without these columns.

    Column names are compared in lower case, with underscores for other characters. `kind` names the file in messages.
    """
    # An invalid byte becomes half a surrogate pair, so that only its row is rejected.
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.DictReader(text)
    try:
        header = [re.sub(r"\W+", "_", name.strip().casefold()) for name in reader.fieldnames or ()]
        missing = [column for column in columns if column not in header]
        if missing:
            raise UnreadableFileError(f"This is no CSV of {kind}: it has no column {', '.join(missing)}.")
        reader.fieldnames = header
        while True:
            try:
                yield next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield error
    except csv.Error as error:
        raise UnreadableFileError(f"The header is no CSV: {error}.") from error
    finally:
        text.detach()


def check_row(content: Any) -> None:
    """Raise RowRejected for a malformed row, or one with another number of fields than the header."""
    if isinstance(content, csv.Error):
        raise RowRejected(f"The line is no CSV: {content}.")
    if None in content or None in content.values():
        raise RowRejected("The line has not as many fields as the header.")
