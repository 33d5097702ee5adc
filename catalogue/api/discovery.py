"""Where programs that look for things to buy begin: /.well-known/x402."""

import hashlib

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse

from catalogue import discovery
from config.api import errors, versions
from config.api.ids import encode, new_id
from config.api.refusal import Refusal, Unavailable

CACHED = "public, max-age=300"
METHODS = ("GET", "HEAD")


def well_known(request: HttpRequest) -> HttpResponse:
    """Every paid resource and its prices. Not counted: a process makes it once a minute for all."""
    if request.method not in METHODS:
        allowed = ", ".join(METHODS)
        return refused(
            errors.MethodNotAllowed(
                f"This address has no {request.method}; it has {allowed}.", headers={"Allow": allowed}
            )
        )
    try:
        content = discovery.written()
    except DatabaseError:
        return refused(Unavailable())
    tag = hashlib.sha256(content).hexdigest()[:32]
    headers = {"Cache-Control": CACHED, "ETag": f'"{tag}"'}
    if versions.is_known(request, tag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(content, content_type="application/json", headers=headers)


def refused(refusal: Refusal) -> HttpResponse:
    """The error body; this address has no doorway that would number the request."""
    return errors.answer(refusal, request_id=encode("req", new_id()))
