"""Redaction of personal data and secrets in the request log.

Field names come first: a field that may hold personal data or a secret is masked whatever its value, and so is a text
in an unknown field. Patterns come second: email addresses, phone numbers and keys are masked everywhere.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

MASK = "[masked]"
# Fields of the management API without personal data. Their texts are kept, except for pattern matches.
KNOWN_FIELDS = {
    *("status", "items", "menu_item_id", "quantity", "payment_method", "date", "time", "party_size"),
    *("page", "limit", "error", "code", "message", "param", "request_id", "details", "alternatives"),
}
# Fields with personal data: every value is masked, also numbers and lists.
PERSONAL_FIELDS = {
    *("customer_name", "customer_email", "customer_phone", "customer_id", "delivery_address", "notes"),
    *("special_requests", "metadata", "name", "email", "phone", "address"),
}
SECRET_NAME = re.compile(
    "key|secret|token|passw|auth|card|iban|cvc|cvv|pin|otp|mail|phone|name|address|note", re.IGNORECASE
)
# Longer bodies are not parsed, so that a caller cannot keep the log thread busy.
MAX_INPUT_BYTES = 16_384
MAX_OUTPUT_LENGTH = 4_000
MIN_ECHO_LENGTH = 3
# The part of a value that a message may repeat.
MAX_ECHO_LENGTH = 40
# With more texts in the body, messages are masked as a whole.
MAX_ECHOES = 200

OUR_ID = r"(?<![0-9A-Za-z])(?:req|ord|res|evt|whk|key|ven)_[0-7][0-9a-z]{25}(?![0-9a-z])"
TIMESTAMP = r"(?<!\d)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}Z?)?(?!\d)"
# Also URL-encoded, JSON-escaped and in full-width characters.
EMAIL = r"[^\s\"'<>()\[\]{},;:=&/?`]{1,64}(?:@|%40|\uff20|\\u0040)[^\s\"'<>()\[\]{},;:&/?`]{1,255}"
CREDENTIAL = (
    r"(?:rk_(?:live|test)_|o(?:at|rt|ac|cs)_|whsec_|sk_|pk_)\w+[=+/\w]*|(?i:bearer|basic)\s+[\w.~+/=-]{6,}|eyJ[\w-]{8,}(?:\.[\w-]+)*"
    r"|0x[0-9a-fA-F]{16,}|[\w+=-]{32,}"
)
PHONE = r"\+?\d(?:[\s().\u2010-\u2015/-]{0,3}\d){6,}"
PATTERNS = re.compile(f"(?P<allowed>{OUR_ID}|{TIMESTAMP})|{EMAIL}|{CREDENTIAL}|{PHONE}")
# For user agents, whose version numbers may look like a phone number.
USER_AGENT_PATTERNS = re.compile(f"(?P<allowed>{OUR_ID})|{EMAIL}|{CREDENTIAL}")
# PostgreSQL rejects NUL and lone surrogates; the other characters would make the displayed text misleading.
UNSAFE_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
TOKEN = re.compile(r"\w+")


def replace_unsafe_characters(text: str) -> str:
    """Replace characters that cannot be stored, or that would be displayed as something else."""
    return UNSAFE_CHARACTERS.sub("\ufffd", text)


def redact_text(text: str, patterns: re.Pattern[str] = PATTERNS) -> str:
    """Redact email addresses, phone numbers and keys in free text."""
    return patterns.sub(lambda match: match["allowed"] or MASK, replace_unsafe_characters(text))


def redact_query(raw: str) -> str:
    """Redact a query string: only the values of known parameters are kept."""
    pairs = parse_qsl(raw[:MAX_INPUT_BYTES], keep_blank_values=True, errors="replace")
    redacted = [
        (redact_text(name), redact_text(value) if name in KNOWN_FIELDS or not value else MASK) for name, value in pairs
    ]
    return urlencode(redacted, safe="[]:,@ ")[:1000]


def redact_exchange(body: bytes, answer: bytes) -> tuple[str, str]:
    """Redact the body of a rejected call and its response, each to at most MAX_OUTPUT_LENGTH characters.

    Values that the response repeats from the body are masked there too.
    """
    echoes = sorted(set(_list_echoes(body)), key=len, reverse=True)
    try:
        redacted = json.dumps(_redact_answer(orjson.loads(answer), echoes), indent=2, ensure_ascii=False)
    except orjson.JSONDecodeError:
        redacted = redact_unparsed(answer[:MAX_INPUT_BYTES].decode("utf-8", "replace"))
    return redact_body(body), normalise_lines(redacted)[:MAX_OUTPUT_LENGTH]


def redact_body(raw: bytes) -> str:
    """Redact a body and indent it; of invalid JSON only the structure is kept."""
    if len(raw) > MAX_INPUT_BYTES:
        return f"({len(raw)} bytes: too long to be kept)"
    text = raw.decode("utf-8", "replace")
    if not text.strip():
        return ""
    try:
        value = json.loads(text, object_pairs_hook=_parse_unique)
        redacted = json.dumps(_redact_value(value), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        redacted = redact_unparsed(text)
    return normalise_lines(redacted)[:MAX_OUTPUT_LENGTH]


def redact_unparsed(text: str) -> str:
    """Keep only known words, short numbers and punctuation of a text that cannot be parsed."""
    return TOKEN.sub(_mask_token, PATTERNS.sub("…", normalise_lines(text)))[:MAX_OUTPUT_LENGTH]


def normalise_lines(text: str) -> str:
    """As `replace_unsafe_characters`, with LF line endings."""
    return replace_unsafe_characters(text.replace("\r\n", "\n").replace("\r", "\n"))


def _mask_token(match: re.Match[str]) -> str:
    token = match[0]
    is_known = token in KNOWN_FIELDS or token in PERSONAL_FIELDS or token in ("true", "false", "null")
    is_short_number = len(token) <= 4 and token.isascii() and token.isdigit()
    return token if is_known or is_short_number else "…"


def _parse_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) != len(pairs):
        raise ValueError("A key occurs twice; parsing would lose one of the values.")
    return parsed


def _is_personal(name: str) -> bool:
    return name in PERSONAL_FIELDS or (name not in KNOWN_FIELDS and SECRET_NAME.search(name) is not None)


def _redact_value(value: Any, name: str = "", *, masked: bool = False) -> Any:
    """Redact a JSON value in the field `name`; `masked` inside a personal field."""
    if isinstance(value, dict):
        return {
            redact_text(key): _redact_value(
                inner, key, masked=masked or _is_personal(key) or (bool(name) and name not in KNOWN_FIELDS)
            )
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_redact_value(inner, name, masked=masked) for inner in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    if masked or _is_personal(name):
        return MASK
    if isinstance(value, str):
        return redact_text(value) if name in KNOWN_FIELDS else MASK
    return MASK if PATTERNS.search(str(value)) else value


def _list_echoes(raw: bytes) -> Iterator[str]:
    """Yield the masked texts of a body, and the part of each that a message would repeat."""
    if len(raw) > MAX_INPUT_BYTES:
        return
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    for name, text in _list_texts(value, ""):
        if name not in KNOWN_FIELDS and len(text) >= MIN_ECHO_LENGTH:
            yield text
            yield text[:MAX_ECHO_LENGTH]


def _list_texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _list_texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_texts(inner, name)
    elif isinstance(value, str):
        yield name, value


def _redact_answer(value: Any, echoes: Sequence[str], name: str = "") -> Any:
    """Redact a response. Its texts are our own, except what a message repeats of the body."""
    if isinstance(value, dict):
        return {key: _redact_answer(inner, echoes, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_redact_answer(inner, echoes, name) for inner in value]
    if not isinstance(value, str):
        return value
    if name == "message":
        if len(echoes) > MAX_ECHOES:
            return MASK
        for echo in echoes:
            value = value.replace(echo, MASK)
    return redact_text(value)
