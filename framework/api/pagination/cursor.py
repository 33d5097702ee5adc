"""Cursors: where a page ended, signed, so that the next one begins exactly there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Generic, TypeVar

from framework.errors import InvalidRequest
from framework.signed_tokens import BadSignature, TokenSigner

LIFETIME = timedelta(hours=1)
SIGNER = TokenSigner("cursors")

# A value of a sort key. JSON brings each of them back as it was, floats to the last bit.
Key = int | float | str
Row = TypeVar("Row")


class InvalidCursor(InvalidRequest):
    """A cursor that we did not make, not for this question, or too long ago."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="cursor")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The sort key of the last row that was shown, and the moment of which the first page spoke."""

    after: tuple[Key, ...]
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """A page of at most `limit` rows, as of a moment; `next_cursor` is None on the last one."""

    limit: int
    next_cursor: str | None = None
    as_of: datetime

    @property
    def has_more(self) -> bool:
        """Whether another page follows."""
        return self.next_cursor is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(PageInfo, Generic[Row]):
    """A page of rows, and nothing else to say."""

    rows: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedListing(Listing[Row]):
    """A page of rows, and the lines that are to be shown with them."""

    attribution: Sequence[Mapping[str, Any]]


def fingerprint(*question: object) -> str:
    """What makes two questions the same, in 16 letters; the parts need a repr that tells them apart."""
    return sha256(repr(question).encode()).hexdigest()[:16]


def encode_cursor(after: Sequence[Key], *, as_of: datetime, question: str) -> str:
    """The text of a cursor. `question` is a fingerprint; `as_of` is kept to the second."""
    return SIGNER.dump([*after, int(as_of.timestamp()), question])


def decode_cursor(text: str, *, question: str, now: datetime) -> Cursor:
    """Read what `write` wrote. Raises InvalidCursor unless it was for the same question and at most an hour ago."""
    try:
        *after, seconds, asked = SIGNER.load(text)
    except (BadSignature, ValueError) as error:
        raise InvalidCursor("This cursor is not one of ours: pass `next_cursor` unchanged.") from error
    if asked != question:
        raise InvalidCursor(
            "This cursor continues another question: repeat that one, with nothing changed but `cursor`."
        )
    as_of = datetime.fromtimestamp(seconds, UTC)
    if now - as_of > LIFETIME:
        raise InvalidCursor("This cursor is older than an hour: begin again without it.")
    return Cursor(after=tuple(after), as_of=as_of)
