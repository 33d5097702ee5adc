"""A limit on the nesting of JSON files, checked before they are parsed."""

import re
from typing import BinaryIO

from catalogue.importers.row_errors import UnreadableFileError

# Parsing this depth takes 40 MB; a feature that is too deep is rejected alone.
MAX_FILE_DEPTH = 4_000
CHUNK = 1 << 20

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_ALL_BUT = bytes(set(range(256)) - set(b'"[]{}'))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def check_depth(stream: BinaryIO) -> None:
    """Read to the end. Raises UnreadableFileError for nesting beyond 4,000 levels.

    A JSON parser keeps the path for each level: a file of brackets alone would take gigabytes. This keeps a chunk in
    memory, and reads 100 MB in one or two seconds. In malformed JSON the count may be wrong after the error, which the
    parser reports anyway.
    """
    depth, is_text, rest = 0, False, b""
    while chunk := stream.read(CHUNK):
        # An escape sequence may be split between chunks.
        chunk = rest + chunk
        backslashes = len(chunk) - len(chunk.rstrip(b"\\"))
        rest = chunk[-1:] if backslashes % 2 else b""
        signs = _ESCAPED.sub(b"", chunk[: len(chunk) - len(rest)]).translate(None, _ALL_BUT)
        parts = signs.split(b'"')
        outside = b"".join(parts[int(is_text) :: 2])
        is_text ^= len(parts) % 2 == 0
        # Most brackets are pairs of coordinates.
        for sign in outside.replace(b"[]", b""):
            depth += _STEPS[sign]
            if depth > MAX_FILE_DEPTH:
                raise UnreadableFileError(f"The values are nested deeper than {MAX_FILE_DEPTH} levels.")
