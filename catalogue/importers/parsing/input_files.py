"""Opening the files of an import, whatever their compression and encoding."""

import codecs
import gzip
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from catalogue.importers.row_errors import UnreadableFileError, first_line

STDIN = Path("-")

_GZIP = b"\x1f\x8b"
# The byte order marks of UTF-16, and an opening bracket or brace in it without one.
_UTF_16 = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
    b"\0{": "utf-16-be",
    b"\0[": "utf-16-be",
}
_CHUNK = 1 << 20


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input for `-`, at the start of its content.

    The stream can seek; gzip is decompressed, UTF-16 becomes UTF-8 and a byte order mark is skipped, by a temporary
    copy if necessary. Raises UnreadableFileError.
    """
    with _open_seekable(path) as stream, _decompress(stream) as content, _to_utf8(content) as text:
        start = text.tell()
        if text.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            text.seek(start)
        yield text


def size_of(stream: BinaryIO) -> int:
    """Return the size of an open file in bytes."""
    at = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(at)
    return size


@contextmanager
def _open_seekable(path: Path) -> Iterator[BinaryIO]:
    if path != STDIN:
        with path.open("rb") as file:
            yield file
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield cast("BinaryIO", copy)


@contextmanager
def _decompress(stream: BinaryIO) -> Iterator[BinaryIO]:
    is_gzip = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    if not is_gzip:
        yield stream
        return
    with TemporaryFile() as copy:
        try:
            with gzip.open(stream) as content:
                shutil.copyfileobj(content, copy)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableFileError(f"The gzip file is cut off or broken: {first_line(error)}.") from error
        copy.seek(0)
        yield cast("BinaryIO", copy)


@contextmanager
def _to_utf8(stream: BinaryIO) -> Iterator[BinaryIO]:
    encoding = _UTF_16.get(stream.read(2))
    stream.seek(0)
    if encoding is None:
        yield stream
        return
    with TemporaryFile() as copy:
        reader = codecs.getreader(encoding)(stream)
        try:
            while text := reader.read(_CHUNK):
                copy.write(text.encode())
        except UnicodeError as error:
            raise UnreadableFileError(f"The UTF-16 text is cut off or broken: {first_line(error)}.") from error
        copy.seek(0)
        yield cast("BinaryIO", copy)
