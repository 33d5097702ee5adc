"""Documents that anybody may read and keep: whole, with an ETag, counted by no limit."""

import hashlib

from django.http import HttpRequest, HttpResponse

from framework.api import conditional_requests, error_handler

CACHE_CONTROL = "public, max-age=300"


def document_response(
    request: HttpRequest, content: bytes, *, kind: str = "application/json", cached: str = CACHE_CONTROL
) -> HttpResponse:
    """The document with this content, 304 to who has it already, 405 to who does anything but read."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    tag = hashlib.sha256(content).hexdigest()[:32]
    headers = {"Cache-Control": cached, "ETag": f'"{tag}"'}
    if conditional_requests.matches_if_none_match(request, tag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(content, content_type=kind, headers=headers)
