"""Which revision of the protocol a message speaks.

Since 2026-07-28 each message stands alone and says in its `_meta` what its sender is; before, a handshake (initialize)
came first. Nothing of that handshake has to be remembered here, so both are served by the same code.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from framework.mcp.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, Fault, Message

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = (STATELESS, *HANDSHAKE)

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"

# What a header must say again of these methods, so that proxies may route by it.
NAMED_BY: Mapping[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Era:
    """How the sender of a message is to be answered; `asks` where a question to its person can be put."""

    version: str
    asks: bool = False

    @property
    def is_stateless(self) -> bool:
        """Whether each message stands alone."""
        return self.version == STATELESS


def of(request: HttpRequest, message: Message) -> Era:
    """The era of a message. Raises Fault where its headers and its body do not agree, as 2026-07-28 asks.

    A header that was sent twice comes here as one with a comma in it, and agrees with nothing.
    """
    told = request.headers.get("MCP-Protocol-Version")
    if told in HANDSHAKE:
        return Era(told)
    if told is None:
        if VERSION in message.meta:
            raise Fault(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing.")
        # Clients of 2025-03-26 send no such header.
        return Era(HANDSHAKE[-1])
    if told != STATELESS:
        supported = {"supported": list(SUPPORTED), "requested": told}
        raise Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", more=supported)
    # Of notifications nothing but the version is asked.
    if message.id is not None:
        agree(request, message)
    return Era(STATELESS, asks=can_be_asked(message.meta.get(CAPABILITIES)))


def agree(request: HttpRequest, message: Message) -> None:
    """Hold the headers of a request of 2026-07-28 against its body. Raises Fault."""
    meta = message.meta
    if missing := [name for name in (VERSION, CAPABILITIES) if name not in meta]:
        raise Fault(INVALID_PARAMS, f"`params._meta` lacks {' and '.join(missing)}.")
    if meta[VERSION] != STATELESS:
        raise Fault(HEADER_MISMATCH, f"MCP-Protocol-Version is {STATELESS}, and `params._meta` says another version.")
    if request.headers.get("Mcp-Method") != message.method:
        raise disagrees("Mcp-Method")
    name = NAMED_BY.get(message.method)
    if name and decoded(request.headers.get("Mcp-Name")) != message.params.get(name):
        raise disagrees("Mcp-Name")


def disagrees(header: str) -> Fault:
    """The fault of a header that proxies would have been misled by."""
    return Fault(HEADER_MISMATCH, f"The header {header} is missing, or does not say what the body says.")


def can_be_asked(capabilities: Any) -> bool:
    """Whether a client with these capabilities shows a form to its person."""
    asked = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(asked, dict) and (not asked or "form" in asked)


def decoded(value: str | None) -> str | None:
    """The text of a header, which may be written as `=?base64?...?=`; None where that cannot be read."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
