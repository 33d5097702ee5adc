"""The view of MCP Apps (SEP-1865, 2026-01-26): one HTML document that hosts show instead of the text of a result.

It is complete in itself: style and script are in it, its own content security policy names them by their hashes and
forbids all requests, and the host has to load it in a sandboxed frame. It draws restaurants, free tables, discounts,
bookings and prices by the shape of the result, so all tools share it. Hosts without the extension ignore `_meta.ui`
and show the text, which is the same in both cases.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpRequest

from framework.mcp.resources import Resource

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://tablewire/view"
# Of a tool: the view of its results.
TOOL_META: Mapping[str, Any] = {"ui": {"resourceUri": URI}}
# Of the document: it needs no domain, and no permission.
RESOURCE_META: Mapping[str, Any] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True},
}
FOLDER = Path(__file__).parent


@cache
def document() -> bytes:
    """The document with its style, its script and the policy of their hashes."""
    style, script = (FOLDER.joinpath(f"view.{suffix}").read_text() for suffix in ("css", "js"))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    page = FOLDER.joinpath("view.html").read_text()
    for name, text in (("policy", policy), ("style", style), ("script", script)):
        page = page.replace(f"[{name}]", text, 1)
    return page.encode()


def _hash(text: str) -> str:
    """The source of a policy that allows exactly this inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def read(_request: HttpRequest) -> bytes:
    return document()


RESOURCE = Resource(
    uri=URI,
    name="view",
    title="Tablewire",
    description="The view of restaurants, free tables, bookings and prices, for hosts of MCP Apps.",
    read=read,
    is_public=True,
    mime_type=MIME_TYPE,
    meta=RESOURCE_META,
)
