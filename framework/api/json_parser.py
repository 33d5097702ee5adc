"""A strict JSON parser: ambiguous, lossy and oversized bodies are errors with a reason."""

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
# Possessive, so that an unterminated string matches once: backtracking from each quote would take hours for 1 MiB.
BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)


class MalformedBody(InvalidRequest):
    """A body that is not one well-formed JSON object."""


class BodyNotObject(MalformedBody):
    """The body is JSON, but not an object."""


class BodyHasInvalidText(MalformedBody):
    """A text in the body has a NUL or half a surrogate pair; `data` is the object."""

    def __init__(self, data: Mapping[str, Any], *, param: str | None) -> None:
        super().__init__(INVALID_TEXT, param=param)
        self.data = data


class BodyTooLarge(MalformedBody):
    """The body is larger than the limit, and was not read to its end."""


def replace_invalid_text(value: Any) -> Any:
    """The value with U+FFFD for each NUL and lone surrogate."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value).replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {replace_invalid_text(key): replace_invalid_text(inner) for key, inner in value.items()}
    return [replace_invalid_text(inner) for inner in value] if isinstance(value, list) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        if not is_valid_text(duplicate):
            raise MalformedBody(INVALID_TEXT)
        raise MalformedBody(f"The key `{duplicate[:80]}` stands twice in one object.", param=duplicate[:80])
    return value


def _constant(word: str) -> Any:
    raise MalformedBody(f"{word} is not JSON.")


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedBody(f"The number {text[:40]} is too large.")
    return number


def _int(text: str) -> int:
    # Python parses at most 4,300 digits; orjson writes at most 64 bits.
    if len(text) > 20 or not MIN_INT <= (number := int(text)) <= MAX_INT:
        raise MalformedBody(f"The number {text[:40]} is too large.")
    return number


def parse(raw: bytes) -> Mapping[str, Any]:
    """Read one JSON object.

    Raises MalformedBody for bad UTF-8, bad JSON, anything but an object, duplicate keys, NaN and infinities, numbers
    beyond a double or 64 bits, nesting deeper than 32, NUL and lone surrogates.
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
    # Both are only possible as an escape.
    if "\\u" in text:
        for path, text_value in _texts(value, ""):
            if not is_valid_text(text_value):
                raise BodyHasInvalidText(value, param=path or None)
    return value


def is_valid_text(text: str) -> bool:
    """Whether PostgreSQL and UTF-8 can represent this text."""
    return "\x00" not in text and not LONE_SURROGATE.search(text)


def _is_deep(text: str) -> bool:
    """Whether the brackets nest deeper than MAX_DEPTH, before any syntax error is found."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in BRACKET.finditer(text):
        bracket = match[0]
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
    """The raw body, also of a chunked request; at most `limit` bytes, by default MAX_BODY_BYTES. May be called again.

    Raises BodyTooLarge, and MalformedBody when its length cannot be known.
    """
    limit = settings.MAX_BODY_BYTES if limit is None else limit
    # Each attribute of a DRF request costs a call.
    meta = request.META
    length = meta.get("CONTENT_LENGTH") or ""
    if length:
        if not (length.isascii() and length.isdigit()):
            raise MalformedBody("Content-Length is not a number.")
        # Python parses at most 4,300 digits.
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
    # The stream can be read only once, so the body is stored on the request.
    body: bytes | None = getattr(request, "body_in_chunks", None)
    if body is None:
        if not meta.get("wsgi.input_terminated"):
            raise MalformedBody("Send Content-Length: a body in chunks is not understood here.")
        body = bytes(meta["wsgi.input"].read(limit + 1))
        request.body_in_chunks = body  # type: ignore[union-attr]
    if len(body) > limit:
        raise BodyTooLarge(f"The body is larger than {limit} bytes.")
    return body


class StrictJSONParser(BaseParser):
    """The parser of DRF requests; see `parse` and `read_body`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        return json_body((parser_context or {})["request"])


def json_body(request: HttpRequest | Request, *, limit: int | None = None) -> Mapping[str, Any]:
    """The JSON object in the body of this request, which has at most `limit` bytes, by default MAX_BODY_BYTES.

    Views call this rather than `request.data`, which is empty for a chunked body or one without a content type.
    Raises MalformedBody.
    """
    check_headers(request)
    raw = read_body(request, limit=limit)
    if not raw.strip():
        raise MalformedBody("The body is empty; send a JSON object.")
    return parse(raw)


def check_headers(request: HttpRequest | Request) -> None:
    """Raise MalformedBody if the headers describe anything but uncompressed JSON in UTF-8."""
    # A missing content type means JSON.
    content_type, _, options = request.META.get("CONTENT_TYPE", "").partition(";")
    if content_type.strip().lower() not in ("", "application/json"):
        raise MalformedBody(f"Content-Type must be application/json, not {content_type.strip()[:80]}.")
    charset = re.search(r"charset\s*=\s*\"?([^\s;\"]+)", options, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise MalformedBody(f"The charset must be utf-8, not {charset[1][:40]}.")
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise MalformedBody("A compressed body is not understood; send it plain.")
