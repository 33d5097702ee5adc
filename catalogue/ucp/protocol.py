"""Names of the protocol, its answers that are no checkout, and its errors.

What the rules of orders say is an answer with status 200 and `messages`; what is wrong with a request itself has a
status of its own: 400 with `messages` too, and for 404 and all others the body `{code, content}`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from framework.api.urls import public_url
from framework.errors import ApiError, ErrorCode

# The release that ucp-sdk has models of. Food is a draft on top of it.
VERSION = "2026-08-25"
PATH = f"/ucp/{VERSION}"
SERVICE = "dev.ucp.food"
CHECKOUT = "dev.ucp.food.checkout"
FULFILLMENT = "dev.ucp.food.fulfillment"
DRAFT = "https://ucp.dev/draft"
# What each capability extends.
CAPABILITIES: Mapping[str, str | None] = {CHECKOUT: None, FULFILLMENT: CHECKOUT}

Message = Mapping[str, Any]


class ProtocolError(ApiError):
    """A request that is answered with a status of the protocol, and with a code that other APIs do not have."""

    def __init__(self, status: int, code: str, content: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, headers=headers)
        self.protocol_status = status
        self.protocol_code = code


class NotPossible(ApiError):
    """There is no checkout to answer with; the answer has only these messages."""

    code = ErrorCode.INVALID_REQUEST

    def __init__(self, messages: Sequence[Message], *, status: int = 200, continue_url: str | None = None) -> None:
        super().__init__(str(messages[0]["content"]))
        self.messages = list(messages)
        self.protocol_status = status
        self.continue_url = continue_url


def error_message(code: str, content: str, *, path: str | None = None, severity: str = "recoverable") -> Message:
    """Return a message of the type `error`. `path` is a JSONPath in the answer."""
    located = {"path": path} if path else {}
    return {"type": "error", "code": code, "content": content, "severity": severity, **located}


def warning_message(code: str, content: str, *, path: str, is_disclosure: bool = False) -> Message:
    """Return a message of the type `warning`; a disclosure has to be shown beside what it is about."""
    shown = {"presentation": "disclosure"} if is_disclosure else {}
    return {"type": "warning", "code": code, "content": content, "path": path, **shown}


def not_found() -> NotPossible:
    content = "There is no such checkout session, or it is another agent's, or it is over."
    return NotPossible([error_message("not_found", content, severity="unrecoverable")])


def describe_capabilities(names: Sequence[str], *, is_full: bool = False) -> dict[str, Any]:
    """Return the registry of these capabilities, for a profile with their documents."""
    pages = {
        CHECKOUT: ("food/checkout", "food/checkout"),
        FULFILLMENT: ("food/extensions/fulfillment", "food/fulfillment"),
    }
    found = {}
    for name in names:
        page, schema = pages[name]
        documents = {"spec": f"{DRAFT}/specification/{page}", "schema": f"{DRAFT}/schemas/{schema}.json"}
        parent = CAPABILITIES[name]
        extends = {"extends": parent} if parent else {}
        found[name] = [{"version": VERSION, **(documents if is_full else {}), **extends}]
    return found


def endpoint() -> str:
    """Return the URL below which the operations are."""
    return public_url(PATH)


def is_enabled() -> bool:
    return bool(settings.UCP_ENABLED)
