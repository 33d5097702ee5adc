"""What programs and models read before they call: /.well-known/x402, /llms.txt and the pages behind it."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue import discovery, signposts
from config.api import documents, errors
from config.api.refusal import NotFound, Unavailable

MARKDOWN = "text/markdown; charset=utf-8"
KINDS = {".md": MARKDOWN, ".svg": "image/svg+xml"}
# A picture is a document of its own where a browser opens it alone.
STILL = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


# A POST is refused as what it is, not for the token that pages send.
@csrf_exempt
def well_known(request: HttpRequest) -> HttpResponse:
    """Every paid resource and its prices. Not counted: a process makes it once a minute for all."""
    if refusal := errors.only_read(request):
        return refusal
    try:
        content = discovery.written()
    except Unavailable as away:
        return errors.undoored(away, request)
    return documents.given(request, content)


@csrf_exempt
def llms(request: HttpRequest) -> HttpResponse:
    """What we are, and where everything is."""
    if refusal := errors.only_read(request):
        return refusal
    return documents.given(request, signposts.written(), kind=MARKDOWN)


@csrf_exempt
def page(request: HttpRequest, path: str) -> HttpResponse:
    """A page of the documentation, or a picture in one, as it is written."""
    if refusal := errors.only_read(request):
        return refusal
    file = signposts.files().get(path)
    if file is None:
        return errors.undoored(NotFound(), request)
    response = documents.given(request, file.read_bytes(), kind=KINDS[file.suffix])
    response["Content-Security-Policy"] = STILL
    return response
