"""Public documents that clients may cache, with an ETag and without a rate limit."""

from django.http import HttpRequest, HttpResponse

from framework.api import conditional_requests, error_handler

CACHE_CONTROL = "public, max-age=300"


def document_response(
    request: HttpRequest, content: bytes, *, content_type: str = "application/json", cache_control: str = CACHE_CONTROL
) -> HttpResponse:
    """The document; 304 if the client has it already, 405 for methods except GET and HEAD."""
    if rejection := error_handler.reject_unsafe_method(request):
        return rejection
    return conditional_requests.conditional_response(
        request,
        content,
        etag=conditional_requests.content_etag(content),
        content_type=content_type,
        headers={"Cache-Control": cache_control},
    )
