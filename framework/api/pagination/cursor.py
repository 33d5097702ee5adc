"""Signed keyset cursors: the sort key of the last row of a page, after which the next page begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Generic, TypeVar

from framework.errors import InvalidRequest
from framework.signed_tokens import BadSignature, TokenSigner

LIFETIME = timedelta(hours=1)
SIGNER = TokenSigner("cursors")

# A value of a sort key. JSON preserves each of them exactly, floats to the last bit.
Key = int | float | str
Row = TypeVar("Row")


class InvalidCursor(InvalidRequest):
    """The cursor is forged, belongs to another query, or is too old."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="cursor")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The sort key of the last row of the page, and the time of the first page."""

    after: tuple[Key, ...]
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """The position of a page: at most `limit` rows as of `as_of`; `next_cursor` is None on the last page."""

    limit: int
    next_cursor: str | None = None
    as_of: datetime

    @property
    def has_more(self) -> bool:
        return self.next_cursor is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorPage(PageInfo, Generic[Row]):
    """A page of rows."""

    rows: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedPage(CursorPage[Row]):
    """A page of rows, and the attributions that must be shown with them."""

    attribution: Sequence[Mapping[str, Any]]


def fingerprint(*query: object) -> str:
    """A hash of a query in 16 characters; its parts need a distinct repr."""
    return sha256(repr(query).encode()).hexdigest()[:16]


def encode_cursor(after: Sequence[Key], *, as_of: datetime, question: str) -> str:
    """The text of a cursor. `question` is the fingerprint of the query; `as_of` is stored to the second."""
    return SIGNER.dump([*after, int(as_of.timestamp()), question])


def decode_cursor(text: str, *, question: str, now: datetime, lifetime: timedelta | None = LIFETIME) -> Cursor:
    """The cursor of this text. Raises InvalidCursor unless it is for the same query and at most an hour old.

    `lifetime` is None for a list whose cursors stay valid.
    """
    try:
        *after, seconds, signed_question = SIGNER.load(text)
    except (BadSignature, ValueError) as error:
        raise InvalidCursor("This cursor is not one of ours: pass `next_cursor` unchanged.") from error
    if signed_question != question:
        raise InvalidCursor(
            "This cursor continues another question: repeat that one, with nothing changed but `cursor`."
        )
    as_of = datetime.fromtimestamp(seconds, UTC)
    if lifetime is not None and now - as_of > lifetime:
        raise InvalidCursor("This cursor is older than an hour: begin again without it.")
    return Cursor(after=tuple(after), as_of=as_of)
