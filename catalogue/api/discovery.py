"""Where programs that look for things to buy begin: /.well-known/x402."""

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue import discovery
from config.api import documents, errors
from config.api.refusal import Unavailable


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
    return documents.given(request, content)
