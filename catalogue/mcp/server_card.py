"""How the endpoint is found before anybody connects: its server card, and the catalog of the host that names it.

The card is that of SEP-2127 (an extension of MCP; schema v1), at the place that it reserves, and again where programs
look that know an older draft of it. The catalog is an AI Catalog 1.0. Neither lists tools: who connects is told them.
"""

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from catalogue.agent_discovery.x402_manifest import CARD, MCP, absolute
from catalogue.mcp.server import SERVER
from framework.api import cacheable_documents
from framework.mcp import protocol_versions

SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_TYPE = "application/mcp-server-card+json"
CATALOG_TYPE = "application/ai-catalog+json"
# What they say changes with a new version of ours alone.
CACHED = "public, max-age=3600"
NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]")


def host() -> str:
    """The host of our address, in letters that names may have."""
    found = (urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost").encode("idna").decode()
    return NOT_IN_NAMES.sub("-", found)


def namespace(domain: str) -> str:
    """A domain as names begin with it, from the top: `com.example.api`. Addresses stay as they are."""
    try:
        ipaddress.ip_address(domain)
    except ValueError:
        return ".".join(reversed(domain.split(".")))
    return domain


def card() -> dict[str, Any]:
    """Who serves, and how to connect."""
    return {
        "$schema": SCHEMA,
        "name": f"{namespace(host())}/{SERVER.name}",
        "version": SERVER.version,
        "title": SERVER.title,
        "description": SERVER.description,
        "websiteUrl": SERVER.website(),
        "remotes": [
            {
                "type": "streamable-http",
                "url": absolute(MCP),
                "supportedProtocolVersions": list(protocol_versions.SUPPORTED),
                "headers": [
                    {
                        "name": "Authorization",
                        "description": "`Bearer` and a session or an API key of yours. You may call without.",
                        "isRequired": False,
                        "isSecret": True,
                    }
                ],
            }
        ],
    }


def catalog() -> dict[str, Any]:
    """What there is for agents at this host: one MCP server."""
    return {
        "specVersion": "1.0",
        "host": {"displayName": SERVER.title, "identifier": host(), "documentationUrl": absolute("/llms.txt")},
        "entries": [
            {
                "identifier": f"urn:air:{host()}:{SERVER.name}",
                "displayName": SERVER.title,
                "type": CARD_TYPE,
                "url": absolute(CARD),
                "description": SERVER.description,
                "tags": ["restaurants", "reviews", "offers", "booking", "x402"],
                "version": SERVER.version,
            }
        ],
    }


# A POST is refused as what it is, not for the token that pages send.
@csrf_exempt
def serve_card(request: HttpRequest) -> HttpResponse:
    """The card."""
    return cacheable_documents.document_response(
        request, orjson.dumps(card()), content_type=CARD_TYPE, cache_control=CACHED
    )


@csrf_exempt
def serve_catalog(request: HttpRequest) -> HttpResponse:
    """The catalog."""
    return cacheable_documents.document_response(
        request, orjson.dumps(catalog()), content_type=CATALOG_TYPE, cache_control=CACHED
    )
