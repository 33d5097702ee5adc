"""GeoJSON files (RFC 7946, RFC 8142): their features, and a point for any geometry."""

import itertools
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import ijson

from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import Row, RowRejected, UnreadableFileError, first_line
from catalogue.search.geocoding.distance import Location

Ring = list[tuple[float, float]]

# Parsing this depth takes 40 MB; a feature that is too deep is rejected alone.
MAX_FILE_DEPTH = 4_000
CHUNK = 1 << 20
# A first line that is longer is no feature of a sequence: a collection may be a single line.
MAX_FIRST_LINE = 1 << 20
RECORD_SEPARATOR = b"\x1e"

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_ALL_BUT = bytes(set(range(256)) - set(b'"[]{}'))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def read_features(stream: BinaryIO) -> Iterator[Any]:
    """Yield the features of a FeatureCollection or of a sequence, one in memory at a time. Raises UnreadableFileError.

    A line of a sequence that is no JSON is yielded as bytes.
    """
    start = stream.tell()
    first = stream.readline(MAX_FIRST_LINE)
    if _is_sequence(first):
        yield from _read_sequence(first, stream)
    else:
        stream.seek(start)
        yield from _read_collection(stream)


def _is_sequence(line: bytes) -> bool:
    """Whether a first line is a whole object other than a collection."""
    try:
        content = json.loads(line.lstrip(RECORD_SEPARATOR))
    except (ValueError, RecursionError):
        return line.startswith(RECORD_SEPARATOR)
    return isinstance(content, dict) and content.get("type") == "Feature"


def _read_sequence(first: bytes, stream: BinaryIO) -> Iterator[Row]:
    for number, line in enumerate(itertools.chain([first], stream), start=1):
        text = line.strip(RECORD_SEPARATOR + b" \t\r\n")
        if text:
            try:
                yield Row(number, json.loads(text))
            except (ValueError, RecursionError):
                yield Row(number, text)


def _read_collection(stream: BinaryIO) -> Iterator[Any]:
    is_empty, start = True, stream.tell()
    _check_depth(stream)
    stream.seek(start)
    try:
        for feature in ijson.items(stream, "features.item", use_float=True):
            is_empty = False
            yield feature
        if is_empty:
            stream.seek(start)
            if not any(event == ("features", "start_array", None) for event in ijson.parse(stream)):
                raise UnreadableFileError("This is no GeoJSON FeatureCollection: it has no list of `features`.")
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"This is no GeoJSON, or it is cut off: {first_line(error)}.") from error


def _check_depth(stream: BinaryIO) -> None:
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


def find_point(geometry: Any) -> Location:
    """Return the point itself, the middle vertex of a line, or a point inside the (largest) polygon.

    Raises RowRejected for a missing or malformed geometry.
    """
    if not isinstance(geometry, dict):
        raise RowRejected("There is no geometry.")
    try:
        lng, lat = _find_lng_lat(geometry.get("type"), geometry.get("coordinates"))
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise RowRejected("The geometry is broken.") from error
    return read_location(lat, lng)


def _find_lng_lat(kind: Any, coordinates: Any) -> tuple[Any, Any]:
    match kind:
        case "Point":
            lng, lat = coordinates[:2]
            return lng, lat
        case "LineString":
            return _find_lng_lat("Point", coordinates[len(coordinates) // 2])
        case "Polygon":
            return _point_inside([_read_ring(ring) for ring in coordinates])
        case "MultiPolygon":
            return _point_inside(
                max(([_read_ring(ring) for ring in polygon] for polygon in coordinates), key=_outer_area)
            )
    raise RowRejected(f"A geometry of type {kind!r:.40} is not read.")


def _read_ring(coordinates: list[list[float]]) -> Ring:
    return [(float(position[0]), float(position[1])) for position in coordinates]


def _outer_area(rings: list[Ring]) -> float:
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in _edges(rings[0])) / 2)


def _edges(ring: Ring) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    return pairwise([*ring, ring[0]])


def _point_inside(rings: list[Ring]) -> tuple[float, float]:
    """Return the middle of the widest section of a horizontal line at half height inside the polygon."""
    south, north = min(y for _, y in rings[0]), max(y for _, y in rings[0])
    level = (south + north) / 2
    crossings = sorted(
        x1 + (level - y1) / (y2 - y1) * (x2 - x1)
        for ring in rings
        for (x1, y1), (x2, y2) in _edges(ring)
        if (y1 > level) != (y2 > level)
    )
    # Each pair of crossings encloses a section. A polygon without height has none: its first corner is used.
    sections = list(zip(crossings[::2], crossings[1::2], strict=True))
    if not sections:
        return rings[0][0]
    west, east = max(sections, key=lambda section: section[1] - section[0])
    return (west + east) / 2, level
