"""What every importer reads and says: rows, why one is refused, what became of them."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

# No source nests half as deep.
DEEPEST = 64
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnreadableFileError(Exception):
    """The file as a whole is not what the importer reads; the message is for who gave it."""


class RejectedError(Exception):
    """A row that cannot be taken; the message says why, for who made it."""


class MovedError(Exception):
    """Staff merged or erased a restaurant between reading and locking it: write the batch again."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands in the file; `number` counts from 1."""

    number: int
    content: Any


@dataclass(frozen=True, slots=True)
class Reject:
    """A refused row, with the reason."""

    row: Row
    reason: str


@dataclass(slots=True)
class RecordCount:
    """What became of rows, each counted once; and beside them the pairs for staff, and what was closed as absent."""

    created: int = 0
    merged: int = 0
    changed: int = 0
    unchanged: int = 0
    skipped: int = 0
    queued: int = 0
    closed: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def refused(self) -> int:
        return len(self.rejects)


def digest_of(*parts: Any) -> str:
    """SHA-256 of JSON values, in hexadecimal; the order of keys plays no part."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_storable(content: Any) -> None:
    """Raises RejectedError for what no database takes, however it is nested.

    That is a NUL, half of a surrogate pair, a number that is none (NaN, Infinity), what JSON has no word for (bytes,
    days), and nesting beyond 64 levels, as what reads or writes nested values goes down into each level.
    """
    level = [content]
    for _ in range(DEEPEST):
        if not level:
            return
        level = [value for each in level for value in _inside(each)]
    raise RejectedError(f"The values are nested deeper than {DEEPEST} levels.")


def is_line(text: str) -> bool:
    """Whether a text has neither a line break nor another control character; the API takes none either."""
    return not CONTROL.search(text)


def check_line(name: str, text: str) -> None:
    """Raises RejectedError for a text that is no line; `name` says which."""
    if not is_line(text):
        raise RejectedError(f"{name}: {text[:40]!a} holds a line break or another control character.")


def _inside(content: Any) -> Iterable[Any]:
    """The values in an object or a list. Raises RejectedError for a broken text or number."""
    if isinstance(content, str) and ("\0" in content or not _is_unicode(content)):
        raise RejectedError(f"A text holds a NUL or a broken character: {content[:40]!a}.")
    if isinstance(content, float) and not isfinite(content):
        raise RejectedError("A number is infinite, or none at all.")
    if isinstance(content, dict):
        return [*content, *content.values()]
    if isinstance(content, list | tuple):
        return content
    if content is not None and not isinstance(content, str | int | float):
        raise RejectedError(f"A value is no text, number, list or object: {type(content).__name__}.")
    return ()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
