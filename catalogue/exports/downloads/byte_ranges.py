"""Range requests with a single byte range (RFC 9110, section 14)."""

import re
from dataclasses import dataclass

from framework.errors import ApiError, ErrorCode

RANGE = re.compile(r"bytes=(?:(?P<first>[0-9]{1,18})-(?P<last>[0-9]{0,18})|-(?P<tail>[0-9]{1,18}))")


class RangeNotSatisfiable(ApiError):
    """No byte of the file is in the range."""

    code = ErrorCode.RANGE_NOT_SATISFIABLE


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `first` to `last` of a file of `size` bytes, both included."""

    first: int
    last: int
    size: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1

    @property
    def content_range(self) -> str:
        return f"bytes {self.first}-{self.last}/{self.size}"


def parse_range(header: str, *, size: int) -> ByteRange | None:
    """Parse a Range header; None means the whole file: several ranges, or no byte range.

    Raises RangeNotSatisfiable.
    """
    match = RANGE.fullmatch(header.replace(" ", ""))
    if match is None:
        return None
    if match["tail"] is not None:
        first, last = max(size - int(match["tail"]), 0), size - 1
        is_empty = int(match["tail"]) == 0 or size == 0
    else:
        first, last = int(match["first"]), min(int(match["last"] or size), size - 1)
        if match["last"] and int(match["last"]) < first:
            return None
        is_empty = first >= size
    if is_empty:
        raise RangeNotSatisfiable(
            f"The file has {size} bytes, and none of them is in this range.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return ByteRange(first, last, size)
