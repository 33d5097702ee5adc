"""GET /photos/{id}/{size}.webp: the thumbnails of photos, without authentication and rate limit."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from framework.api import conditional_requests, error_handler
from framework.errors import NotFound
from framework.images.thumbnails import CONTENT_TYPE, SIZES, Thumbnail
from framework.public_ids import encode, new_id

# The bytes behind a URL never change.
CACHE_CONTROL = "public, max-age=31536000, immutable"


def serve_thumbnail(request: HttpRequest, path: str, load: Callable[[str, str], Thumbnail | None]) -> HttpResponse:
    """Serve `load(public_id, size)`; None is 404. Errors are JSON, as in the API."""
    request.request_id = encode("req", new_id())  # type: ignore[attr-defined]
    response = _respond(request, path, load)
    response["X-Request-Id"] = error_handler.request_id_of(request)
    return response


def _respond(request: HttpRequest, path: str, load: Callable[[str, str], Thumbnail | None]) -> HttpResponse:
    if rejection := error_handler.reject_unsafe_method(request):
        return rejection
    public_id, _, file = path.partition("/")
    size = file.removesuffix(".webp")
    thumbnail = load(public_id, size) if size in SIZES and file == f"{size}.webp" else None
    if thumbnail is None:
        missing = NotFound("There is no such photo.", headers={"Cache-Control": "no-store"})
        return error_handler.error_response(missing, request)
    headers = {
        "ETag": f'"{thumbnail.etag}"',
        "Cache-Control": CACHE_CONTROL,
        "X-Content-Type-Options": "nosniff",
        # Pages of other origins may embed photos.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Access-Control-Allow-Origin": "*",
    }
    if conditional_requests.matches_if_none_match(request, thumbnail.etag):
        return HttpResponse(status=304, headers=headers)
    headers |= {"Content-Length": str(len(thumbnail.content)), "Content-Disposition": "inline"}
    content = b"" if request.method == "HEAD" else thumbnail.content
    return HttpResponse(content, content_type=CONTENT_TYPE, headers=headers)
