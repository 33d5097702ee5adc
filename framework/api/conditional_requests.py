"""Conditional requests (RFC 9110, section 13): a record's version is its entity tag, of other content a hash."""

import hashlib
import re
from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

ETAG = r'(W/)?"([!#-~\x80-\xff]*)"'
ETAG_RE = re.compile(ETAG)
ETAG_LIST_RE = re.compile(rf"[ \t,]*{ETAG}([ \t]*,[ \t,]*{ETAG})*[ \t,]*")
VERSION = re.compile(r"[1-9][0-9]{0,8}")


def etag(version: int) -> str:
    return f'"{version}"'


def content_etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def conditional_response(
    request: HttpRequest | Request,
    content: bytes,
    *,
    etag: str,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The content with its entity tag; 304 if the client has it already."""
    headers = {**(headers or {}), "ETag": etag}
    if not matches_if_none_match(request, etag.removeprefix("W/").strip('"')):
        return HttpResponse(content, content_type=content_type, headers=headers)
    response = HttpResponse(status=304, headers=headers)
    del response["Content-Type"]
    return response


def parse_etags(header: str) -> list[tuple[str, str]]:
    """Each tag of the list, as `W/` or "" and its text; none if the header is malformed."""
    return ETAG_RE.findall(header) if ETAG_LIST_RE.fullmatch(header) else []


def if_match_versions(request: HttpRequest | Request) -> frozenset[int] | None:
    """The versions that If-Match allows, None if it allows any. A weak or foreign tag allows none."""
    header = request.META.get("HTTP_IF_MATCH", "*").strip()
    if header == "*":
        return None
    return frozenset(int(text) for weak, text in parse_etags(header) if not weak and VERSION.fullmatch(text))


def if_match_tags(request: HttpRequest | Request) -> frozenset[str] | None:
    """The entity tags that If-Match allows, None if it allows any. A weak tag allows none."""
    header = request.META.get("HTTP_IF_MATCH", "*").strip()
    return None if header == "*" else frozenset(text for weak, text in parse_etags(header) if not weak)


def matches_if_none_match(request: HttpRequest | Request, version: int | str) -> bool:
    """Whether If-None-Match names this version."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "").strip()
    return header == "*" or str(version) in (text for _, text in parse_etags(header))
