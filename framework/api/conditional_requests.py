"""Conditional requests (RFC 9110, section 13): a record's version is its entity tag."""

import re

from django.http import HttpRequest
from rest_framework.request import Request

ETAG = r'(W/)?"([!#-~\x80-\xff]*)"'
ETAG_RE = re.compile(ETAG)
ETAG_LIST_RE = re.compile(rf"[ \t,]*{ETAG}([ \t]*,[ \t,]*{ETAG})*[ \t,]*")
VERSION = re.compile(r"[1-9][0-9]{0,8}")


def etag(version: int) -> str:
    return f'"{version}"'


def parse_etags(header: str) -> list[tuple[str, str]]:
    """Each tag of the list, as `W/` or "" and its text; none if the header is malformed."""
    return ETAG_RE.findall(header) if ETAG_LIST_RE.fullmatch(header) else []


def if_match_versions(request: HttpRequest | Request) -> frozenset[int] | None:
    """The versions that If-Match allows, None if it allows any. A weak or foreign tag allows none."""
    header = request.META.get("HTTP_IF_MATCH", "*").strip()
    if header == "*":
        return None
    return frozenset(int(text) for weak, text in parse_etags(header) if not weak and VERSION.fullmatch(text))


def matches_if_none_match(request: HttpRequest | Request, version: int | str) -> bool:
    """Whether If-None-Match names this version."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "").strip()
    return header == "*" or str(version) in (text for _, text in parse_etags(header))
