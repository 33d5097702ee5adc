"""The reference of both APIs: Redoc to read, Swagger UI to try, from files of our own host."""

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

TITLES = {"management": "Management API", "data": "Data API"}


# Both write their styles into the page; Redoc's search runs in a worker that it makes from its own text.
@csp_update({"style-src": ["'self'", "'unsafe-inline'"], "worker-src": ["'self'", "blob:"]})
@require_safe
def read(request: HttpRequest, name: str) -> HttpResponse:
    """All of an API to read."""
    return shown(request, name, "docs/redoc.html")


@csp_update({"style-src": ["'self'", "'unsafe-inline'"]})
@require_safe
def attempt(request: HttpRequest, name: str) -> HttpResponse:
    """All of an API with a button that calls it."""
    return shown(request, name, "docs/swagger.html")


def shown(request: HttpRequest, name: str, template: str) -> HttpResponse:
    """One of the pages, for an API that there is."""
    if name not in TITLES:
        raise Http404
    return render(request, template, {"name": name, "title": TITLES[name]})
