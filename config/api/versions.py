"""Conditional requests: a record's version is its entity tag (RFC 9110, section 13)."""

import re

from django.http import HttpRequest
from rest_framework.request import Request

TAG = re.compile(r'(W/)?"([^"]*)"')


def tag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


def wanted(request: HttpRequest | Request) -> frozenset[int] | None:
    """The versions that If-Match allows, None where any is. A weak or foreign tag allows none."""
    header = request.META.get("HTTP_IF_MATCH", "*").strip()
    if header == "*":
        return None
    return frozenset(int(word) for weak, word in TAG.findall(header) if not weak and re.fullmatch(r"[0-9]{1,9}", word))


def is_known(request: HttpRequest | Request, version: int | str) -> bool:
    """Whether If-None-Match says that the caller has this version already."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "").strip()
    return header == "*" or str(version) in (word for _, word in TAG.findall(header))
