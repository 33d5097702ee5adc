"""The reference of both APIs: Redoc to read, Swagger UI to try, from our own static files."""

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from config.website.decorators import read_only

TITLES = {"management": "Management API", "data": "Data API"}


# Hashes of the two style elements that Redoc creates: an empty one to which it adds rules, and that of scrollbars. A
# new version may create others; the browser's console then shows their hashes.
REDOC_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
)


# Redoc's search runs in a worker from a blob. Swagger UI needs neither.
@csp_update({"style-src": ["'self'", *REDOC_STYLES], "worker-src": ["'self'", "blob:"]})
@read_only
def redoc(request: HttpRequest, name: str) -> HttpResponse:
    """The reference of an API."""
    return render_reference(request, name, "docs/redoc.html")


@read_only
def swagger(request: HttpRequest, name: str) -> HttpResponse:
    """The reference of an API with buttons that call it."""
    return render_reference(request, name, "docs/swagger.html")


def render_reference(request: HttpRequest, name: str, template: str) -> HttpResponse:
    """Render a page for one of the APIs. Raises Http404."""
    if name not in TITLES:
        raise Http404
    return render(request, template, {"name": name, "title": TITLES[name]})
