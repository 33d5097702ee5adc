"""The reference of both APIs: Redoc to read, Swagger UI to try, from files of our own host."""

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from config.website.decorators import read_only

TITLES = {"management": "Management API", "data": "Data API"}


# The texts of the two style elements that Redoc makes: one that its rules are then put into, and that of scrollbars.
# A new version of it may bring others; then the browser names their sums.
STYLES_OF_REDOC = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
)


# Its search runs in a worker that it makes from its own text. Swagger UI needs nothing of this.
@csp_update({"style-src": ["'self'", *STYLES_OF_REDOC], "worker-src": ["'self'", "blob:"]})
@read_only
def read(request: HttpRequest, name: str) -> HttpResponse:
    """All of an API to read."""
    return shown(request, name, "docs/redoc.html")


@read_only
def attempt(request: HttpRequest, name: str) -> HttpResponse:
    """All of an API with a button that calls it."""
    return shown(request, name, "docs/swagger.html")


def shown(request: HttpRequest, name: str, template: str) -> HttpResponse:
    """One of the pages, for an API that there is."""
    if name not in TITLES:
        raise Http404
    return render(request, template, {"name": name, "title": TITLES[name]})
