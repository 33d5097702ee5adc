"""Public documents that clients may cache, with an ETag and without a rate limit."""

import hashlib

from django.http import HttpRequest, HttpResponse

from framework.api import conditional_requests, error_handler

CACHE_CONTROL = "public, max-age=300"


def document_response(
    request: HttpRequest, content: bytes, *, content_type: str = "application/json", cache_control: str = CACHE_CONTROL
) -> HttpResponse:
    """The document; 304 if the client has it already, 405 for methods except GET and HEAD."""
    if rejection := error_handler.reject_unsafe_method(request):
        return rejection
    etag = hashlib.sha256(content).hexdigest()[:32]
    headers = {"Cache-Control": cache_control, "ETag": f'"{etag}"'}
    if conditional_requests.matches_if_none_match(request, etag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(content, content_type=content_type, headers=headers)
