"""Discovery documents for agents: /.well-known/x402, /llms.txt and the pages of the documentation."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue.agent_discovery import llms_txt, x402_manifest
from framework.api import cacheable_documents, error_handler
from framework.errors import NotFound, ServiceUnavailable

MARKDOWN = "text/markdown; charset=utf-8"
KINDS = {".md": MARKDOWN, ".svg": "image/svg+xml"}
# An SVG that a browser opens is a document, so it needs a policy.
CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


# A POST is rejected for its method, not for a missing CSRF token.
@csrf_exempt
def well_known(request: HttpRequest) -> HttpResponse:
    """Every paid resource and its prices. Not rate-limited, because a process renders it once a minute."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    try:
        content = x402_manifest.render()
    except ServiceUnavailable as error:
        return error_handler.error_response(error, request)
    return cacheable_documents.document_response(request, content)


@csrf_exempt
def llms(request: HttpRequest) -> HttpResponse:
    """The index of the documentation for language models."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    return cacheable_documents.document_response(request, llms_txt.render(), content_type=MARKDOWN)


@csrf_exempt
def llms_full(request: HttpRequest) -> HttpResponse:
    """The same with the text of the pages for callers."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    return cacheable_documents.document_response(request, llms_txt.render_full(), content_type=MARKDOWN)


@csrf_exempt
def page(request: HttpRequest, path: str) -> HttpResponse:
    """A page of the documentation, or a picture in one."""
    if refusal := error_handler.reject_unsafe_method(request):
        return refusal
    file = llms_txt.files().get(path)
    if file is None:
        return error_handler.error_response(NotFound(), request)
    response = cacheable_documents.document_response(
        request, llms_txt.read_page(file).encode(), content_type=KINDS[file.suffix]
    )
    response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    return response
