"""What programs and models read before they call: /.well-known/x402, /llms.txt and the pages behind it."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue.agent_discovery import llms_txt, x402_manifest
from framework.api import cacheable_documents, error_handler
from framework.errors import NotFound, ServiceUnavailable

MARKDOWN = "text/markdown; charset=utf-8"
KINDS = {".md": MARKDOWN, ".svg": "image/svg+xml"}
# A picture is a document of its own where a browser opens it alone.
STILL = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


# A POST is refused as what it is, not for the token that pages send.
@csrf_exempt
def well_known(request: HttpRequest) -> HttpResponse:
    """Every paid resource and its prices. Not counted: a process makes it once a minute for all."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    try:
        content = x402_manifest.render()
    except ServiceUnavailable as away:
        return error_handler.unnumbered_response(away, request)
    return cacheable_documents.document_response(request, content)


@csrf_exempt
def llms(request: HttpRequest) -> HttpResponse:
    """What we are, and where everything is."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    return cacheable_documents.document_response(request, llms_txt.render(), kind=MARKDOWN)


@csrf_exempt
def page(request: HttpRequest, path: str) -> HttpResponse:
    """A page of the documentation, or a picture in one, as it is written."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    file = llms_txt.files().get(path)
    if file is None:
        return error_handler.unnumbered_response(NotFound(), request)
    response = cacheable_documents.document_response(request, file.read_bytes(), kind=KINDS[file.suffix])
    response["Content-Security-Policy"] = STILL
    return response
