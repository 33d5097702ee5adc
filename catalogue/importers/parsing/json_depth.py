"""How deep a JSON file is nested, told before anything is built of it."""

import re
from typing import BinaryIO

from catalogue.importers.row_errors import UnreadableFileError

# A feature that is too deep costs itself, as long as it can be read at all: this takes 40 MB.
DEEPEST_OF_A_FILE = 4_000
CHUNK = 1 << 20

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_ALL_BUT = bytes(set(range(256)) - set(b'"[]{}'))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def check_depth(stream: BinaryIO) -> None:
    """Read to the end. Raises UnreadableFileError for nesting beyond 4,000 levels.

    A reader of JSON keeps the way to where it is, for each level anew: a file of brackets alone would take gigabytes.
    This keeps a chunk in memory, and reads 100 MB in a second or two. It is no judge of JSON: what is broken may count
    wrongly from there on, and the reader does not come farther.
    """
    depth, is_text, rest = 0, False, b""
    while chunk := stream.read(CHUNK):
        # An escape may be cut in two.
        chunk = rest + chunk
        backslashes = len(chunk) - len(chunk.rstrip(b"\\"))
        rest = chunk[-1:] if backslashes % 2 else b""
        signs = _ESCAPED.sub(b"", chunk[: len(chunk) - len(rest)]).translate(None, _ALL_BUT)
        parts = signs.split(b'"')
        outside = b"".join(parts[int(is_text) :: 2])
        is_text ^= len(parts) % 2 == 0
        # Most of them are pairs of coordinates, which are one level and nothing else.
        for sign in outside.replace(b"[]", b""):
            depth += _STEPS[sign]
            if depth > DEEPEST_OF_A_FILE:
                raise UnreadableFileError(f"The values are nested deeper than {DEEPEST_OF_A_FILE} levels.")
