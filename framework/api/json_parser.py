"""Strict JSON bodies: what a careless parser would guess, drop or choke on is refused, with the reason."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import RawPostDataException
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from framework.errors import InvalidRequest

MAX_DEPTH = 32
MAX_PATH_LENGTH = 200
MIN_INT, MAX_INT = -(2**63), 2**64 - 1
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
INVALID_TEXT = "Text holds a NUL or half a surrogate pair, which no text may hold."
# A text that does not end is taken to the end at once: tried anew from each of its quotes, 1 MiB would last hours.
BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)


class MalformedBody(InvalidRequest):
    """A body that is not one well-formed JSON object."""


class BodyNotObject(MalformedBody):
    """JSON, and something else than an object."""


class BodyHasInvalidText(MalformedBody):
    """An object with a text in it that no text may be; `told` is the object."""

    def __init__(self, told: Mapping[str, Any], *, param: str | None) -> None:
        super().__init__(INVALID_TEXT, param=param)
        self.told = told


class BodyTooLarge(MalformedBody):
    """A body that is not read to its end."""


def replace_invalid_text(value: Any) -> Any:
    """The same, with a sign for what no text may hold."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value).replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {replace_invalid_text(key): replace_invalid_text(inner) for key, inner in value.items()}
    return [replace_invalid_text(inner) for inner in value] if isinstance(value, list) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        if not is_valid_text(twice):
            raise MalformedBody(INVALID_TEXT)
        raise MalformedBody(f"The key `{twice[:80]}` stands twice in one object.", param=twice[:80])
    return found


def _constant(word: str) -> Any:
    raise MalformedBody(f"{word} is not JSON.")


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedBody(f"The number {text[:40]} is too large.")
    return number


def _int(text: str) -> int:
    # Python refuses to read more than 4,300 digits at once; nobody means more than 64 bits, and orjson writes no more.
    if len(text) > 20 or not MIN_INT <= (number := int(text)) <= MAX_INT:
        raise MalformedBody(f"The number {text[:40]} is too large.")
    return number


def parse(raw: bytes) -> Mapping[str, Any]:
    """Read one JSON object.

    Raises MalformedBody for bad UTF-8, bad JSON, anything but an object, keys that stand twice, NaN and infinities,
    numbers beyond a double or 64 bits, nesting deeper than 32, NUL and lone surrogates.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedBody(f"The body is not UTF-8: byte {error.start}.") from error
    if _is_deep(text):
        raise MalformedBody(f"The body is nested deeper than {MAX_DEPTH} levels.")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
    except json.JSONDecodeError as error:
        raise MalformedBody(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    if not isinstance(value, dict):
        raise BodyNotObject("The body must be a JSON object.")
    # JSON and UTF-8 know both of these only as an escape.
    if "\\u" in text:
        for path, words in _texts(value, ""):
            if not is_valid_text(words):
                raise BodyHasInvalidText(value, param=path or None)
    return value


def is_valid_text(words: str) -> bool:
    """Whether PostgreSQL and UTF-8 can hold this text."""
    return "\x00" not in words and not LONE_SURROGATE.search(words)


def _is_deep(text: str) -> bool:
    """Whether the brackets nest too deep, up to the first mistake of the text; read no further than that."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for found in BRACKET.finditer(text):
        bracket = found[0]
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif bracket in "]}":
            depth -= 1
    return False


def _texts(value: Any, path: str) -> Any:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield path, key  # a key is text too
            yield from _texts(inner, (f"{path}.{key}" if path else key)[:MAX_PATH_LENGTH])
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{index}]"[:MAX_PATH_LENGTH])


def read_body(request: HttpRequest | Request, *, limit: int | None = None) -> bytes:
    """The raw body, at most `limit` or MAX_BODY_BYTES of it; also one sent in chunks, and also when it is asked for
    again.

    Raises BodyTooLarge, and MalformedBody when its length cannot be known.
    """
    limit = settings.MAX_BODY_BYTES if limit is None else limit
    # Of DRF's request each look costs a call.
    meta = request.META
    length = meta.get("CONTENT_LENGTH") or ""
    if length:
        if not (length.isascii() and length.isdigit()):
            raise MalformedBody("Content-Length is not a number.")
        # Python reads no number of more than 4,300 digits.
        if len(length) > 20 or int(length) > limit:
            raise BodyTooLarge(f"The body is larger than {limit} bytes.")
        try:
            raw = request.body
        except RawPostDataException as error:
            raise MalformedBody("The body was read before.") from error
        if len(raw) != int(length):
            raise MalformedBody("The body ends before its Content-Length.")
        return raw
    if "chunked" not in meta.get("HTTP_TRANSFER_ENCODING", "").lower():
        return b""
    # What was read of it is nowhere else.
    before: bytes | None = getattr(request, "body_in_chunks", None)
    if before is None:
        if not meta.get("wsgi.input_terminated"):
            raise MalformedBody("Send Content-Length: a body in chunks is not understood here.")
        before = bytes(meta["wsgi.input"].read(limit + 1))
        request.body_in_chunks = before  # type: ignore[union-attr]
    if len(before) > limit:
        raise BodyTooLarge(f"The body is larger than {limit} bytes.")
    return before


class StrictJSONParser(BaseParser):
    """Reads the body of a DRF request; see `parse` and `read_body`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return the object."""
        return json_body((parser_context or {})["request"])


def json_body(request: HttpRequest | Request) -> Mapping[str, Any]:
    """The JSON object in the body of this request.

    Views call this rather than `request.data`, which is an empty object for a body in chunks or without a type.
    Raises MalformedBody.
    """
    check_headers(request)
    raw = read_body(request)
    if not raw.strip():
        raise MalformedBody("The body is empty; send a JSON object.")
    return parse(raw)


def check_headers(request: HttpRequest | Request) -> None:
    """Raise MalformedBody where the headers call the body anything but plain JSON in UTF-8."""
    # A missing type is read as JSON.
    kind, _, options = request.META.get("CONTENT_TYPE", "").partition(";")
    if kind.strip().lower() not in ("", "application/json"):
        raise MalformedBody(f"Content-Type must be application/json, not {kind.strip()[:80]}.")
    charset = re.search(r"charset\s*=\s*\"?([^\s;\"]+)", options, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise MalformedBody(f"The charset must be utf-8, not {charset[1][:40]}.")
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise MalformedBody("A compressed body is not understood; send it plain.")
