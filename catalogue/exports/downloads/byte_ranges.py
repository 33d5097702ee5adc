"""A single range of bytes of a file (RFC 9110, section 14)."""

import re
from dataclasses import dataclass

from framework.errors import ApiError, ErrorCode

RANGE = re.compile(r"bytes=(?:(?P<first>[0-9]{1,18})-(?P<last>[0-9]{0,18})|-(?P<tail>[0-9]{1,18}))")


class RangeNotSatisfiable(ApiError):
    """No byte of the file is in the range."""

    code = ErrorCode.RANGE_NOT_SATISFIABLE


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `first` to `last` of a file of `size`, both included."""

    first: int
    last: int
    size: int

    @property
    def length(self) -> int:
        """How many they are."""
        return self.last - self.first + 1

    @property
    def content_range(self) -> str:
        """As the header says it."""
        return f"bytes {self.first}-{self.last}/{self.size}"


def read(header: str, *, size: int) -> Span | None:
    """The span that a Range header asks for; None for the whole: several ranges, or what is no range of bytes.

    Raises RangeNotSatisfiable.
    """
    asked = RANGE.fullmatch(header.replace(" ", ""))
    if asked is None:
        return None
    if asked["tail"] is not None:
        first, last = max(size - int(asked["tail"]), 0), size - 1
        is_empty = int(asked["tail"]) == 0 or size == 0
    else:
        first, last = int(asked["first"]), min(int(asked["last"] or size), size - 1)
        if asked["last"] and int(asked["last"]) < first:
            return None
        is_empty = first >= size
    if is_empty:
        raise RangeNotSatisfiable(
            f"The file has {size} bytes, and none of them is in this range.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return Span(first, last, size)
