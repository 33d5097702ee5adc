"""The protocol version of a request.

Since 2026-07-28 each request is self-contained and describes its client in `_meta`; before, a handshake (initialize)
came first. The server needs nothing of the handshake, so the same code serves both.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from framework.mcp.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, JSONRPCError, Message

STATELESS_VERSION = "2026-07-28"
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED_VERSIONS = (STATELESS_VERSION, *HANDSHAKE_VERSIONS)

VERSION_META = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_META = "io.modelcontextprotocol/serverInfo"

# The parameter that the header Mcp-Name repeats, so that proxies can route by it.
NAME_PARAMS: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}


@dataclass(frozen=True, slots=True)
class ClientProtocol:
    """The protocol version of a client, whether it can show forms to its user, and the extensions that it declares."""

    version: str
    supports_elicitation: bool = False
    extensions: frozenset[str] = frozenset()

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS_VERSION


def detect_protocol(request: HttpRequest, message: Message) -> ClientProtocol:
    """The protocol of a request. Raises JSONRPCError if headers and body of a stateless request differ.

    A repeated header arrives joined by a comma, and matches nothing.
    """
    version = request.headers.get("MCP-Protocol-Version")
    if version in HANDSHAKE_VERSIONS:
        return ClientProtocol(version)
    if version is None:
        if VERSION_META in message.meta:
            raise JSONRPCError(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing.")
        # Clients of 2025-03-26 send no such header.
        return ClientProtocol(HANDSHAKE_VERSIONS[-1])
    if version != STATELESS_VERSION:
        data = {"supported": list(SUPPORTED_VERSIONS), "requested": version}
        raise JSONRPCError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    # Notifications need only the version.
    if message.id is not None:
        check_headers(request, message)
    capabilities = message.meta.get(CAPABILITIES_META)
    return ClientProtocol(
        STATELESS_VERSION,
        supports_elicitation=supports_forms(capabilities),
        extensions=declared_extensions(capabilities),
    )


def check_headers(request: HttpRequest, message: Message) -> None:
    """Compare the headers of a stateless request with its body. Raises JSONRPCError."""
    meta = message.meta
    if missing := [name for name in (VERSION_META, CAPABILITIES_META) if name not in meta]:
        raise JSONRPCError(INVALID_PARAMS, f"`params._meta` lacks {' and '.join(missing)}.")
    if meta[VERSION_META] != STATELESS_VERSION:
        text = f"MCP-Protocol-Version is {STATELESS_VERSION}, and `params._meta` says another version."
        raise JSONRPCError(HEADER_MISMATCH, text)
    if request.headers.get("Mcp-Method") != message.method:
        raise _header_mismatch("Mcp-Method")
    param = NAME_PARAMS.get(message.method)
    if param and decode_header(request.headers.get("Mcp-Name")) != message.params.get(param):
        raise _header_mismatch("Mcp-Name")


def _header_mismatch(header: str) -> JSONRPCError:
    return JSONRPCError(HEADER_MISMATCH, f"The header {header} is missing, or does not say what the body says.")


def supports_forms(capabilities: Any) -> bool:
    """Whether a client with these capabilities can show a form to its user."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)


def declared_extensions(capabilities: Any) -> frozenset[str]:
    """The names of the extensions that a client with these capabilities supports."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return frozenset(extensions) if isinstance(extensions, dict) else frozenset()


def decode_header(value: str | None) -> str | None:
    """The text of a header, which may be encoded as `=?base64?...?=`; None if the encoding is invalid."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
