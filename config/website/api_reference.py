"""The API reference (Redoc) and the API explorer (Swagger UI), served from our own host."""

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from config.website.decorators import read_only

TITLES = {"management": "Management API", "data": "Data API"}


# Hashes of the two style elements that Redoc creates: an empty one for its rules, and one for scrollbars.
# A new Redoc version may need other hashes; the browser console shows them.
STYLES_OF_REDOC = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
)


# Redoc's search runs in a worker from a blob URL. Swagger UI does not need this.
@csp_update({"style-src": ["'self'", *STYLES_OF_REDOC], "worker-src": ["'self'", "blob:"]})
@read_only
def read(request: HttpRequest, name: str) -> HttpResponse:
    """Show the reference of an API."""
    return shown(request, name, "docs/redoc.html")


@read_only
def attempt(request: HttpRequest, name: str) -> HttpResponse:
    """Show the explorer of an API."""
    return shown(request, name, "docs/swagger.html")


def shown(request: HttpRequest, name: str, template: str) -> HttpResponse:
    """Render the page of a known API. Raises Http404."""
    if name not in TITLES:
        raise Http404
    return render(request, template, {"name": name, "title": TITLES[name]})
