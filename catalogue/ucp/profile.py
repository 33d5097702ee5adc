"""/.well-known/ucp: the profile of this installation as a business."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from catalogue.ucp.handlers import describe_profile_handlers
from catalogue.ucp.protocol import CAPABILITIES, DRAFT, SERVICE, VERSION, describe_capabilities, endpoint, is_enabled
from framework.api import cacheable_documents
from framework.api.error_handler import error_response
from framework.errors import NotFound


def build_profile() -> dict[str, Any]:
    service = {
        "version": VERSION,
        "transport": "rest",
        "spec": f"{DRAFT}/specification/food/checkout/rest",
        "schema": f"{DRAFT}/services/food/rest.openapi.json",
        "endpoint": endpoint(),
    }
    return {
        "ucp": {
            "version": VERSION,
            "services": {SERVICE: [service]},
            "capabilities": describe_capabilities(list(CAPABILITIES), is_full=True),
            "payment_handlers": describe_profile_handlers(),
        }
    }


def serve_profile(request: HttpRequest) -> HttpResponse:
    """The profile, which platforms may cache."""
    if not is_enabled():
        return error_response(NotFound(), request)
    return cacheable_documents.document_response(request, orjson.dumps(build_profile()))
