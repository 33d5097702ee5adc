"""Conditional requests: a record's version is its entity tag (RFC 9110, section 13)."""

import re

from django.http import HttpRequest
from rest_framework.request import Request

TAG = r'(W/)?"([!#-~\x80-\xff]*)"'
EACH = re.compile(TAG)
TAGS = re.compile(rf"[ \t,]*{TAG}([ \t]*,[ \t,]*{TAG})*[ \t,]*")
VERSION = re.compile(r"[1-9][0-9]{0,8}")


def tag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


def tags(header: str) -> list[tuple[str, str]]:
    """Each tag of the list, as `W/` or nothing and its text; none where the header is not such a list."""
    return EACH.findall(header) if TAGS.fullmatch(header) else []


def wanted(request: HttpRequest | Request) -> frozenset[int] | None:
    """The versions that If-Match allows, None where any is. A weak or foreign tag allows none."""
    header = request.META.get("HTTP_IF_MATCH", "*").strip()
    if header == "*":
        return None
    return frozenset(int(word) for weak, word in tags(header) if not weak and VERSION.fullmatch(word))


def is_known(request: HttpRequest | Request, version: int | str) -> bool:
    """Whether If-None-Match says that the caller has this version already."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "").strip()
    return header == "*" or str(version) in (word for _, word in tags(header))
