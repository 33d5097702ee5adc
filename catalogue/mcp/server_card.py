"""Discovery of the MCP endpoint: its server card, and the AI catalog of the host.

The card follows SEP-2127 (an extension of MCP; schema v1), at its reserved path and at that of an older draft. The
catalog is an AI Catalog 1.0. Neither lists tools: clients read them after they connect. `server.json` is the file that
`mcp-publisher` sends to the MCP registry. The install links open an editor with the address filled in.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.csrf import csrf_exempt

from catalogue.agent_discovery.domain_names import host, namespace
from catalogue.agent_discovery.x402_manifest import CARD, MCP
from catalogue.mcp.server import SERVER
from framework.api import cacheable_documents, error_handler
from framework.api.urls import public_url
from framework.mcp import protocol_versions

REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_TYPE = "application/mcp-server-card+json"
CATALOG_TYPE = "application/ai-catalog+json"
# The documents change with a new version of the server only.
CACHE_CONTROL = "public, max-age=3600"


def card() -> dict[str, Any]:
    return {
        "$schema": SCHEMA,
        "name": f"{namespace(host())}/{SERVER.name}",
        "version": SERVER.version,
        "title": SERVER.title,
        "description": SERVER.description,
        "websiteUrl": SERVER.website(),
        "icons": SERVER.icons,
        "remotes": [
            {
                "type": "streamable-http",
                "url": public_url(MCP),
                "supportedProtocolVersions": list(protocol_versions.SUPPORTED_VERSIONS),
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


def registry_entry() -> dict[str, Any]:
    """The server.json of the MCP registry: the card in its schema, which knows no protocol versions."""
    entry = {**card(), "$schema": REGISTRY_SCHEMA}
    entry["remotes"] = [
        {name: value for name, value in remote.items() if name != "supportedProtocolVersions"}
        for remote in entry["remotes"]
    ]
    return entry


def cursor_link() -> str:
    """The link that adds this server to Cursor (https://cursor.com/docs/mcp/install-links)."""
    config = base64.b64encode(orjson.dumps({"url": public_url(MCP)})).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{urlencode({'name': SERVER.name, 'config': config})}"


def vscode_link() -> str:
    """The link that adds this server to VS Code."""
    config = orjson.dumps({"name": SERVER.name, "type": "http", "url": public_url(MCP)}).decode()
    return f"vscode:mcp/install?{quote(config, safe='')}"


INSTALL_LINKS: Mapping[str, Callable[[], str]] = {"cursor": cursor_link, "vscode": vscode_link}


class EditorRedirect(HttpResponseRedirect):
    """A redirect to an editor on the user's machine."""

    allowed_schemes = ["cursor", "vscode"]


def catalog() -> dict[str, Any]:
    """The AI catalog: one MCP server."""
    return {
        "specVersion": "1.0",
        "host": {"displayName": SERVER.title, "identifier": host(), "documentationUrl": public_url("/llms.txt")},
        "entries": [
            {
                "identifier": f"urn:air:{host()}:{SERVER.name}",
                "displayName": SERVER.title,
                "type": CARD_TYPE,
                "url": public_url(CARD),
                "description": SERVER.description,
                "tags": ["restaurants", "reviews", "offers", "booking", "x402"],
                "version": SERVER.version,
            }
        ],
    }


# A POST gets a 405, not an error about the CSRF token.
@csrf_exempt
def serve_card(request: HttpRequest) -> HttpResponse:
    return cacheable_documents.document_response(
        request, orjson.dumps(card()), content_type=CARD_TYPE, cache_control=CACHE_CONTROL
    )


@csrf_exempt
def serve_registry_entry(request: HttpRequest) -> HttpResponse:
    return cacheable_documents.document_response(request, orjson.dumps(registry_entry()), cache_control=CACHE_CONTROL)


@csrf_exempt
def install(request: HttpRequest, editor: str) -> HttpResponse:
    """Open an editor that asks whether to add this server. Pages of documentation may not link its scheme."""
    return error_handler.reject_unsafe_method(request) or EditorRedirect(INSTALL_LINKS[editor]())


@csrf_exempt
def serve_catalog(request: HttpRequest) -> HttpResponse:
    return cacheable_documents.document_response(
        request, orjson.dumps(catalog()), content_type=CATALOG_TYPE, cache_control=CACHE_CONTROL
    )
