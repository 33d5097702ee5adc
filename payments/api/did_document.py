"""/.well-known/did.json: the public keys of offers, receipts and statements."""

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from framework.api import cacheable_documents
from payments.x402.signing_keys import build_did_document

DID_JSON = "application/did+json"


# A POST is rejected for its method, not for a missing CSRF token.
@csrf_exempt
def serve(request: HttpRequest) -> HttpResponse:
    """The DID document (did:web). Not rate-limited; the keys change with the settings only."""
    return cacheable_documents.document_response(request, orjson.dumps(build_did_document()), content_type=DID_JSON)
