"""Takes out of what callers send, and of what they are answered, whatever the request log must not keep.

Names decide first: a field that may hold a guest's words or a secret is masked whatever is in it, and a text in a
field that nobody knows is masked too. Then patterns: mail addresses, telephone numbers, keys, wherever they stand.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

MASK = "[masked]"
# What the documents of the management API call harmless: their texts are kept, but for what looks like a person or a
# key. A text in any other field is not.
KNOWN = frozenset(
    (
        *("status", "items", "menu_item_id", "quantity", "payment_method", "date", "time", "party_size"),
        *("page", "limit", "error", "code", "message", "param", "request_id", "details", "alternatives"),
    )
)
# Whatever is in these, numbers and lists too.
PERSONAL = frozenset(
    (
        *("customer_name", "customer_email", "customer_phone", "customer_id", "delivery_address", "notes"),
        *("special_requests", "metadata", "name", "email", "phone", "address"),
    )
)
SECRET_NAME = re.compile(
    "key|secret|token|passw|auth|card|iban|cvc|cvv|pin|otp|mail|phone|name|address|note", re.IGNORECASE
)
WORDS_OF_JSON = frozenset(("true", "false", "null"))
# Longer ones are not read: the log's own thread must not be held up by what somebody sends to that end.
LONGEST = 16_384
KEPT = 4_000
SHORTEST_ECHO = 3
# The part of a value that a message may repeat.
ECHOED = 40
# Of more texts in one body no message is kept.
MOST_ECHOES = 200

OURS = r"(?<![0-9A-Za-z])(?:req|ord|res|evt|whk|key|ven)_[0-7][0-9a-z]{25}(?![0-9a-z])"
MOMENT = r"(?<!\d)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}Z?)?(?!\d)"
# In an address, in its escaped forms, and in the forms that look alike.
MAIL = r"[^\s\"'<>()\[\]{},;:=&/?`]{1,64}(?:@|%40|\uff20|\\u0040)[^\s\"'<>()\[\]{},;:&/?`]{1,255}"
CREDENTIAL = (
    r"(?:rk_(?:live|test)_|whsec_|sk_|pk_)\w+[=+/\w]*|(?i:bearer|basic)\s+[\w.~+/=-]{6,}|eyJ[\w-]{8,}(?:\.[\w-]+)*"
    r"|0x[0-9a-fA-F]{16,}|[\w+=-]{32,}"
)
NUMBER = r"\+?\d(?:[\s().\u2010-\u2015/-]{0,3}\d){6,}"
PATTERNS = re.compile(f"(?P<kept>{OURS}|{MOMENT})|{MAIL}|{CREDENTIAL}|{NUMBER}")
# Of a program's own name, whose version is as long as a telephone number.
PATTERNS_OF_PROGRAMS = re.compile(f"(?P<kept>{OURS})|{MAIL}|{CREDENTIAL}")
# PostgreSQL refuses NUL and half of a surrogate pair; the others would lead a reader of the page astray.
UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
TOKEN = re.compile(r"\w+")


class _Twice(ValueError):
    """A key stands twice in one object: read as JSON, one of them would be lost."""


def clean(text: str) -> str:
    """The text with a sign for what cannot be stored, or would be seen as something else than it is."""
    return UNCLEAN.sub("\ufffd", text)


def text(words: str) -> str:
    """Free words without mail addresses, telephone numbers and keys."""
    return PATTERNS.sub(_kept, clean(words))


def program(words: str) -> str:
    """The same of what a caller's program calls itself, which may have a long version."""
    return PATTERNS_OF_PROGRAMS.sub(_kept, clean(words))


def query(raw: str) -> str:
    """A query string with the values of known parameters only."""
    pairs = parse_qsl(raw[:LONGEST], keep_blank_values=True, errors="replace")
    masked = [(text(name), _by_name(name, value)) for name, value in pairs]
    return urlencode(masked, safe="[]:,@ ")[:1000]


def exchange(body: bytes, answer: bytes) -> tuple[str, str]:
    """A refused call's body and the answer to it, as they may be kept: each at most KEPT letters.

    What the answer repeats of the body is masked there too.
    """
    echoes = sorted(set(_echoes(body)), key=len, reverse=True)
    try:
        told = json.dumps(_told(orjson.loads(answer), echoes), indent=2, ensure_ascii=False)
    except orjson.JSONDecodeError:
        told = shape(answer[:LONGEST].decode("utf-8", "replace"))
    return body_of(body), clean_lines(told)[:KEPT]


def body_of(raw: bytes) -> str:
    """A body, indented, without what is personal; of one that is not JSON only its shape."""
    if len(raw) > LONGEST:
        return f"({len(raw)} bytes: too long to be kept)"
    sent = raw.decode("utf-8", "replace")
    if not sent.strip():
        return ""
    try:
        value = json.loads(sent, object_pairs_hook=_once)
        masked = json.dumps(_value(value), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        masked = shape(sent)
    return clean_lines(masked)[:KEPT]


def shape(sent: str) -> str:
    """What can be kept of a text that cannot be read: known words, short numbers and the signs between them."""
    return TOKEN.sub(_known_token, PATTERNS.sub("…", clean_lines(sent)))[:KEPT]


def clean_lines(words: str) -> str:
    """The same as `clean`, where lines may end as they like."""
    return clean(words.replace("\r\n", "\n").replace("\r", "\n"))


def _kept(found: re.Match[str]) -> str:
    return found["kept"] or MASK


def _known_token(found: re.Match[str]) -> str:
    token = found[0]
    is_harmless = token in KNOWN or token in PERSONAL or token in WORDS_OF_JSON
    is_short_number = len(token) <= 4 and token.isascii() and token.isdigit()
    return token if is_harmless or is_short_number else "…"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _is_personal(name: str) -> bool:
    return name in PERSONAL or (name not in KNOWN and SECRET_NAME.search(name) is not None)


def _by_name(name: str, value: str) -> str:
    return text(value) if name in KNOWN or not value else MASK


def _value(value: Any, name: str = "", *, masked: bool = False) -> Any:
    """What is kept of a JSON value in a field of this name; `masked` within one that is personal."""
    if isinstance(value, dict):
        return {
            text(key): _value(inner, key, masked=masked or _is_personal(key) or (bool(name) and name not in KNOWN))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_value(inner, name, masked=masked) for inner in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    if masked or _is_personal(name):
        return MASK
    if isinstance(value, str):
        return text(value) if name in KNOWN else MASK
    number = str(value)
    return MASK if PATTERNS.search(number) else value


def _echoes(raw: bytes) -> Iterator[str]:
    """The texts of a body that are masked in it, and as much of them as a message would repeat."""
    if len(raw) > LONGEST:
        return
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    for name, words in _texts(value, ""):
        if name not in KNOWN and len(words) >= SHORTEST_ECHO:
            yield words
            yield words[:ECHOED]


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif isinstance(value, str):
        yield name, value


def _told(value: Any, echoes: Sequence[str], name: str = "") -> Any:
    """What is kept of an answer, whose words are our own but for what a message repeats."""
    if isinstance(value, dict):
        return {key: _told(inner, echoes, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_told(inner, echoes, name) for inner in value]
    if not isinstance(value, str):
        return value
    if name == "message":
        if len(echoes) > MOST_ECHOES:
            return MASK
        for echo in echoes:
            value = value.replace(echo, MASK)
    return text(value)
