"""Rows, rejects, counts and the checks that all importers share."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from catalogue.search.geocoding.distance import Location
from framework.invisible_text import remove_invisible_in

# No source nests half as deeply.
MAX_DEPTH = 64
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnreadableFileError(Exception):
    """The file does not have the format of the importer; the message is for the user."""


class RowRejected(Exception):
    """A row that cannot be imported; each argument is a reason."""

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(map(str, self.args))

    def __str__(self) -> str:
        return " ".join(self.reasons)


class RowSkipped(Exception):
    """A valid row that is not for the catalogue; the message gives the reason."""


class HotelFound(RowSkipped):
    """A row that is no eatery but a hotel, which becomes a landmark: a reference point of searches."""

    def __init__(self, name: str, location: Location | None, *, aliases: tuple[str, ...] = ()) -> None:
        super().__init__("a hotel without a location in one of the markets")
        self.name, self.location, self.aliases = name, location, aliases


KEPT_HOTEL = "a hotel, which becomes a landmark"
NOT_AN_EATERY = "not a place to eat or drink"


class WriteConflict(Exception):
    """Another writer changed a restaurant between reading and locking it; the batch has to be written again."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file; `number` starts at 1."""

    number: int
    content: Any


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was rejected or, in `RowCounts.incomplete`, imported without some of its values."""

    row: Row
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        return " ".join(self.reasons)


@dataclass(slots=True)
class Counts:
    """The outcome of rows, each counted once; in addition the pairs queued for review, and the closed restaurants."""

    created: int = 0
    merged: int = 0
    changed: int = 0
    unchanged: int = 0
    skipped: int = 0
    queued: int = 0
    closed: int = 0

    def add(self, other: "Counts") -> None:
        for each in fields(Counts):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(slots=True)
class RowCounts(Counts):
    """Counts with what was rejected or left out.

    `skip_reasons` counts the skipped rows by reason, `unread_keys` the values of keys that the importer does not read.
    """

    rejects: list[Reject] = field(default_factory=list)
    incomplete: list[Reject] = field(default_factory=list)
    skip_reasons: Counter[str] = field(default_factory=Counter)
    unread_keys: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        self.skipped += 1
        self.skip_reasons[reason] += 1

    def add_rows(self, other: "RowCounts") -> None:
        self.add(other)
        self.rejects += other.rejects
        self.incomplete += other.incomplete
        self.skip_reasons += other.skip_reasons
        self.unread_keys += other.unread_keys


_VARIABLE = re.compile(r"""(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*"|-?\d+\.\d+|(?<=Row )\d+""")


def group_reason(reason: str) -> str:
    """Return a reason without the values of its row, so that rows with the same problem are counted together."""
    return _VARIABLE.sub("…", re.sub(r"\[\d+\]", "[]", reason))


def hash_content(*parts: Any) -> str:
    """Return the SHA-256 of JSON values in hexadecimal, whatever the order of keys."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def clean_content(content: Any) -> Any:
    """Return JSON content without invisible characters. Raises RowRejected for one that PostgreSQL cannot store."""
    check_storable(content)
    return remove_invisible_in(content)


def check_storable(content: Any) -> None:
    """Raise RowRejected for a value that PostgreSQL cannot store, at any depth.

    That is NUL, half of a surrogate pair, NaN, Infinity, types that JSON does not have (bytes, timedeltas), and
    nesting beyond 64 levels.
    """
    level = [content]
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = [value for each in level for value in _child_values(each)]
    raise RowRejected(f"The values are nested deeper than {MAX_DEPTH} levels.")


def is_single_line(text: str) -> bool:
    """Whether a text has no line break or other control character; the API rejects them too."""
    return not CONTROL.search(text)


def first_line(error: Exception) -> str:
    """Return the first line of the message of a parser, without its full stop."""
    # For invalid UTF-8 ijson's message is in bytes.
    reason = error.args[0] if error.args and isinstance(error.args[0], bytes) else str(error)
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
    return (text.strip().splitlines() or ["unreadable"])[0].rstrip(".")[:200]


def check_single_line(name: str, text: str) -> None:
    """Raise RowRejected for a text with control characters; `name` is its field."""
    if not is_single_line(text):
        raise RowRejected(f"{name}: {text[:40]!a} holds a line break or another control character.")


def _child_values(content: Any) -> Iterable[Any]:
    """Return the values in an object or a list. Raises RowRejected for an invalid text or number."""
    if isinstance(content, str) and ("\0" in content or not _is_unicode(content)):
        raise RowRejected(f"A text holds a NUL or a broken character: {content[:40]!a}.")
    if isinstance(content, float) and not isfinite(content):
        raise RowRejected("A number is infinite, or none at all.")
    if isinstance(content, dict):
        return [*content, *content.values()]
    if isinstance(content, list | tuple):
        return content
    if content is not None and not isinstance(content, str | int | float):
        raise RowRejected(f"A value is no text, number, list or object: {type(content).__name__}.")
    return ()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
