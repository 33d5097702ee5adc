"""The bytes of photos, below /photos: no key, no rate; whoever was given an address may look."""

from django.http import HttpRequest, HttpResponse
from django.urls import re_path

from catalogue import photos
from catalogue.models import Photo
from framework.api import conditional_requests, error_handler
from framework.errors import NotFound
from framework.public_ids import decode, encode, new_id

# The bytes of an address never change, so nobody need ask twice.
FOREVER = "public, max-age=31536000, immutable"


def serve(request: HttpRequest, name: str) -> HttpResponse:
    """A photo in one of its sizes; JSON where there is none or staff have hidden it."""
    request_id = encode("req", new_id())
    response = _answer(request, name, request_id=request_id)
    response["X-Request-Id"] = request_id
    return response


def _answer(request: HttpRequest, name: str, *, request_id: str) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        words = f"This address has no {request.method}; it has GET, HEAD."
        return error_handler.answer(
            error_handler.MethodNotAllowed(words, headers={"Allow": "GET, HEAD"}), request_id=request_id
        )
    photo, size = found(name)
    if photo is None:
        missing = NotFound("There is no such photo.", headers={"Cache-Control": "no-store"})
        return error_handler.answer(missing, request_id=request_id)
    picture = photos.picture(photo, size)
    headers = {
        "ETag": f'"{picture.etag}"',
        "Cache-Control": FOREVER,
        "X-Content-Type-Options": "nosniff",
        # Pages of others may show it.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Access-Control-Allow-Origin": "*",
    }
    if conditional_requests.is_known(request, picture.etag):
        return HttpResponse(status=304, headers=headers)
    headers |= {"Content-Length": str(len(picture.content)), "Content-Disposition": "inline"}
    content = b"" if request.method == "HEAD" else picture.content
    return HttpResponse(content, content_type=photos.CONTENT_TYPE, headers=headers)


def found(name: str) -> tuple[Photo | None, str]:
    """The photo and the size that a path names; None for what was never there, and for what is not shown any more."""
    public_id, _, file = name.partition("/")
    size = file.removesuffix(".webp")
    pk = decode("ph", public_id)
    if pk is None or size not in photos.SIZES or file != f"{size}.webp":
        return None, size
    return Photo.objects.filter(pk=pk, is_hidden=False, restaurant__erased_at=None).first(), size


urlpatterns = [re_path(r"^(?P<name>[\s\S]*)$", serve, name="photo")]
