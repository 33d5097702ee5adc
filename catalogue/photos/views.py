"""GET /photos/{id}/{size}.webp: the thumbnails of photos, without authentication and rate limit."""

from django.http import HttpRequest, HttpResponse
from django.urls import re_path

from catalogue import photos
from catalogue.models import Photo
from framework.api import conditional_requests, error_handler
from framework.errors import NotFound
from framework.public_ids import decode, encode, new_id

# The bytes behind a URL never change.
CACHE_CONTROL = "public, max-age=31536000, immutable"


def serve_thumbnail(request: HttpRequest, path: str) -> HttpResponse:
    """Serve a thumbnail; errors are JSON, as in the API."""
    request.request_id = encode("req", new_id())  # type: ignore[attr-defined]
    response = _respond(request, path)
    response["X-Request-Id"] = error_handler.request_id_of(request)
    return response


def _respond(request: HttpRequest, path: str) -> HttpResponse:
    if rejection := error_handler.reject_unsafe_method(request):
        return rejection
    public_id, _, file = path.partition("/")
    size = file.removesuffix(".webp")
    pk = decode("ph", public_id)
    photo = None
    if pk is not None and size in photos.SIZES and file == f"{size}.webp":
        photo = Photo.objects.filter(pk=pk, is_hidden=False, restaurant__erased_at=None).first()
    if photo is None:
        missing = NotFound("There is no such photo.", headers={"Cache-Control": "no-store"})
        return error_handler.error_response(missing, request)
    thumbnail = photos.load_thumbnail(photo, size)
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
    return HttpResponse(content, content_type=photos.CONTENT_TYPE, headers=headers)


urlpatterns = [re_path(r"^(?P<path>[\s\S]*)$", serve_thumbnail, name="photo")]
