"""What every importer reads and says: rows, why one is refused, what became of them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


class UnreadableFileError(Exception):
    """The file as a whole is not what the importer reads; the message is for who gave it."""


class RejectedError(Exception):
    """A row that cannot be taken; the message says why, for who made it."""


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
class Tally:
    """What became of rows. Each row is counted once."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    skipped: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def refused(self) -> int:
        return len(self.rejects)


def digest_of(*parts: Any) -> str:
    """SHA-256 of JSON values, in hexadecimal; the order of keys plays no part."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_storable(content: Any) -> None:
    """Raises RejectedError for texts that no database takes: NUL and halves of surrogate pairs."""
    for text in _texts(content):
        if "\0" in text or not _is_unicode(text):
            raise RejectedError(f"A text holds a NUL or a broken character: {text[:40]!a}.")


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from content
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
