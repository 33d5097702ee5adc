"""Middleware of the MCP endpoint: callers, tiers and rate limits of the data API, and refusals for models."""

import logging
from typing import cast

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponseBase

from accounts.api_keys.authentication import MissingCredentials, Unauthorized
from accounts.models.oauth import ACCESS_PREFIX
from accounts.oauth.resources import bearer_challenge
from catalogue.mcp.paywall import describe_refusal
from catalogue.mcp.server import SERVER
from framework.api import error_handler, origin_check
from framework.api.json_parser import MalformedBody, read_body
from framework.api.rate_limits.middleware import SHARED_SUFFIX, Admission, RateLimitExceeded, Usage, undo_count
from framework.errors import ApiError, ErrorCode, NotFound
from framework.mcp import jsonrpc, protocol_versions, tasks
from framework.mcp.jsonrpc import MAX_BYTES, JSONRPCError, Message
from framework.mcp.responses import MCPResponse, error_response, result_response
from framework.mcp.server import refusal_error, refusal_result
from payments.interface import (
    BOOKINGS,
    FREE,
    DataApiMiddleware,
    FixedLimit,
    anonymous_caller,
    bearer_token,
    caller_of,
    person_allowance,
)

logger = logging.getLogger("tablewire.api")

# These methods return data and count as requests of the data API.
CALL_TOOL, READ_RESOURCE = "tools/call", "resources/read"
COUNTED = (CALL_TOOL, READ_RESOURCE, *tasks.METHODS)
BOOKING_TOOL = "book_table"
# A resource that is the same for all callers and costs nothing to read: the view of MCP Apps.
VIEW_SCHEME = "ui://"
# All other messages: lists, views, prompts, completion, and what cannot be parsed.
MESSAGES = FixedLimit("mcp", limit=240)
# A message is parsed before its limit is known. Parsing a small one costs as little as refusing it; large ones, which
# cost up to 0.2 s, have a limit by address (arguments and a payment are always small).
SMALL_BYTES = 16 * 1024
LARGE = FixedLimit("mcp-large", limit=30)
TOKEN_PREFIXES = ("ws_", "rk_", ACCESS_PREFIX)
# The same endpoint for clients that sign in only when they get 401: it requires a token.
SIGN_IN_PATH = "/mcp/account"
# For clients of the former transport, which read a stream of events from `/mcp` or from `/mcp/sse`.
SSE_SUFFIX = "/sse"
NO_SSE = "MCP is served by POST to /mcp over streamable HTTP, without streams of events (SSE)."
# Refusals with these statuses are plain HTTP responses: clients act on the status.
HTTP_STATUSES = (401, 403, 405)


class ForeignOrigin(ApiError):
    """A page of another site calls, maybe without the knowledge of its user."""

    code = ErrorCode.FOREIGN_ORIGIN


class OnlyPost(error_handler.MethodNotAllowed):
    """The endpoint takes only POST."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, ["POST"])
        self.message = f"{self.message} {NO_SSE}"


class McpMiddleware(DataApiMiddleware):
    """Parses the message, because its method selects the rate limit; the view finds it on the request."""

    prefix = "/mcp"

    def admit(self, request: HttpRequest) -> Admission:
        """Parse the message and identify the caller. The view reports protocol errors."""
        request.caller = anonymous_caller(request)  # type: ignore[attr-defined]
        if request.path_info.rstrip("/") == self.prefix + SSE_SUFFIX:
            return Admission(self.anonymous_allowance(request), NotFound(NO_SSE))
        if request.path_info.removesuffix("/") not in (self.prefix, SIGN_IN_PATH):
            return Admission(self.anonymous_allowance(request))
        if request.method != "POST":
            return Admission(self.anonymous_allowance(request), OnlyPost(request))
        if not origin_check.is_allowed_origin(request.headers.get("Origin")):
            return Admission(
                self.anonymous_allowance(request), ForeignOrigin("Pages of other sites may not call this address.")
            )
        if _is_large(request):
            large = self.count_call(request, LARGE.allowance(request), policy=LARGE.policy)
            if large.count > large.limit:
                request.large = large  # type: ignore[attr-defined]
                return Admission(
                    self.anonymous_allowance(request), _limit_exceeded(large, f"{large.limit} large messages a minute")
                )
        token = bearer_token(request)
        try:
            request.message = jsonrpc.read_message(request)  # type: ignore[attr-defined]
        except JSONRPCError as error:
            request.message = error  # type: ignore[attr-defined]
        if token is None and request.path_info.rstrip("/") == SIGN_IN_PATH:
            text = "Sign in: this address requires a token. /mcp serves you without one."
            return Admission(self.anonymous_allowance(request), MissingCredentials(text))
        if token is not None and not token.startswith(TOKEN_PREFIXES):
            # A client with a wrong token must not be served as an anonymous one.
            text = "The Bearer token is neither a session, nor an API key, nor an access token of ours."
            return Admission(self.anonymous_allowance(request), Unauthorized(text))
        message, own_limit = _message_of(request), self.fixed_limit(request)
        if message is None or own_limit is MESSAGES:
            return self._admit_message(request)
        if own_limit is BOOKINGS:
            return self.admit_booking(request, meta=message.meta)
        return self.identify(request, meta=message.meta)

    def _admit_message(self, request: HttpRequest) -> Admission:
        """Check the token of a message whose answer does not depend on the caller, and count it by the person.

        By the address while the database is down. A signed challenge is valid once, so it is not consumed here.
        """
        request.META.pop("HTTP_SIGN_IN_WITH_X", None)
        try:
            return self.admit_person(request, MESSAGES, meta={})
        except DatabaseError:
            logger.warning("database away", exc_info=True)
            return Admission(self.anonymous_allowance(request))

    def fixed_limit(self, request: HttpRequest) -> FixedLimit | None:
        """The rate limit of the message; None for that of the caller's tier."""
        message = _message_of(request)
        if message is None or message.id is None or message.method not in COUNTED:
            return MESSAGES
        if message.method == READ_RESOURCE and str(message.params.get("uri")).startswith(VIEW_SCHEME):
            return MESSAGES
        is_booking = message.method == CALL_TOOL and message.params.get("name") == BOOKING_TOOL
        return BOOKINGS if is_booking else None

    def respond(self, request: HttpRequest, admission: Admission, usage: Usage) -> HttpResponseBase:
        if isinstance(admission.error, Unauthorized):
            # Clients find the authorization server by it.
            is_missing = isinstance(admission.error, MissingCredentials)
            challenge = bearer_challenge(request.path_info.rstrip("/"), error="" if is_missing else "invalid_token")
            admission.error.headers["WWW-Authenticate"] = challenge
        if admission.error is not None:
            return _refuse(request, admission.error)
        return super().respond(request, admission, usage)

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """Report the limit that the message has reached.

        A booking call that tried no booking counts as a request if it has looked for a table, and otherwise as a
        message. When that exceeds its limit, it counts for both, as a challenge does.
        """
        if large := getattr(request, "large", None):
            return response, large
        is_booking = usage.policy.removesuffix(SHARED_SUFFIX) == BOOKINGS.policy
        if not is_booking or getattr(request, "has_tried", False):
            return super().adjust_usage(request, response, usage)
        if usage.count > usage.limit:
            # Concurrent calls are in the count, so this refusal must not remain in it.
            undo_count(usage)
            return response, usage
        caller, policy, limit, of_address = caller_of(request), MESSAGES.policy, MESSAGES.limit, MESSAGES.limit
        if getattr(request, "has_looked", False):
            policy, limit, of_address = self.policy, caller.terms.per_minute, FREE.per_minute
        allowance = person_allowance(caller, limit, MESSAGES.window_s, of_address=of_address)
        counted = self.count_call(request, allowance, policy=policy)
        if counted.count > counted.limit:
            return self.rate_limit_response(request, counted), counted
        undo_count(usage)
        return response, counted

    def rate_limit_response(self, request: HttpRequest, usage: Usage, *, of: str = "") -> HttpResponseBase:
        """Refuse with the text of the limit."""
        texts = {
            self.policy: f"{usage.limit} calls a minute on the {caller_of(request).tier.name} tier",
            BOOKINGS.policy: f"{usage.limit} tries to book an hour",
            MESSAGES.policy: f"{usage.limit} messages a minute",
        }
        policy = usage.policy.removesuffix(SHARED_SUFFIX)
        limit = texts.get(policy, f"{usage.limit} {of} a minute")
        if policy != usage.policy:
            limit += ", shared by all free wallets and unconfirmed accounts at this network address"
        return _refuse(request, _limit_exceeded(usage, limit))

    def is_challenge(self, request: HttpRequest, response: HttpResponseBase) -> bool:
        return isinstance(response, MCPResponse) and response.is_challenge


def parsed_message(request: HttpRequest) -> Message | JSONRPCError:
    """The message that the middleware has parsed, or its error."""
    return cast("Message | JSONRPCError", request.message)  # type: ignore[attr-defined]


def _message_of(request: HttpRequest) -> Message | None:
    message = getattr(request, "message", None)
    return message if isinstance(message, Message) else None


def _is_large(request: HttpRequest) -> bool:
    try:
        return len(read_body(request, limit=MAX_BYTES)) > SMALL_BYTES
    except MalformedBody:
        # Such a body is refused without parsing.
        return False


def _limit_exceeded(usage: Usage, limit: str) -> RateLimitExceeded:
    wait_s = max(usage.wait_s, 1)
    return RateLimitExceeded(f"Rate limit: {limit}; next call in {wait_s} s.", headers={"Retry-After": str(wait_s)})


def _refuse(request: HttpRequest, refusal: ApiError) -> MCPResponse:
    """Refuse before a tool runs. A refused tool call is a tool result, because clients show models no HTTP status."""
    message, request_id = _message_of(request), error_handler.request_id_of(request)
    error = refusal_error(refusal, request)
    is_counted = message is not None and message.method in COUNTED
    if message and message.id is not None and is_counted and refusal.status not in HTTP_STATUSES:
        try:
            protocol = protocol_versions.detect_protocol(request, message)
        except JSONRPCError as mismatch:
            return error_response(mismatch, id_=message.id, headers=refusal.headers)
        if message.method == CALL_TOOL:
            text = describe_refusal(refusal, meta=message.meta)
            result = refusal_result(refusal, request_id=request_id, text=text)
            meta = {**SERVER.response_meta(protocol), **result.meta}
            return result_response(message.id, result.to_json(), protocol=protocol, meta=meta, headers=refusal.headers)
        if isinstance(refusal, RateLimitExceeded):
            return error_response(error, id_=message.id, protocol=protocol, headers=refusal.headers)
    error.status = refusal.status
    return error_response(error, id_=message.id if message else None, headers=refusal.headers)
