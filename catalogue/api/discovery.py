"""Where programs that look for things to buy begin: /.well-known/x402."""

import hashlib

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue import discovery
from config.api import errors, versions
from config.api.refusal import Unavailable

CACHED = "public, max-age=300"


# A POST is refused as what it is, not for the token that pages send.
@csrf_exempt
def well_known(request: HttpRequest) -> HttpResponse:
    """Every paid resource and its prices. Not counted: a process makes it once a minute for all."""
    if refusal := errors.only_read(request):
        return refusal
    try:
        content = discovery.written()
    except DatabaseError:
        return errors.undoored(Unavailable(), request)
    tag = hashlib.sha256(content).hexdigest()[:32]
    headers = {"Cache-Control": CACHED, "ETag": f'"{tag}"'}
    if versions.is_known(request, tag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(content, content_type="application/json", headers=headers)
