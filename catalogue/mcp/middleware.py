"""The doorway of the MCP endpoint: the callers, tiers and counts of the data API, and refusals that a model reads."""

import logging
from typing import cast

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponseBase

from accounts.api_keys.authentication import Unauthorized
from catalogue.mcp.paywall import worded
from catalogue.mcp.server import SERVER
from framework.api import error_handler, origin_check
from framework.api.json_parser import MalformedBody, read_body
from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import Admission, Allowance, RateLimitExceeded, Usage
from framework.errors import ApiError, ErrorCode
from framework.mcp import jsonrpc, protocol_versions, responses
from framework.mcp.jsonrpc import MOST_BYTES, Fault, Message
from framework.mcp.protocol_versions import HANDSHAKE, Era
from framework.mcp.responses import Answer
from framework.mcp.server import fault_of, in_words
from payments.identity.caller import anonymous_caller, bearer_token, caller_of
from payments.rate_limits import BOOKINGS, DataApiMiddleware, FixedLimit

logger = logging.getLogger("tablewire.api")

# What gives data counts as a request of the data API does.
CALL, READ = "tools/call", "resources/read"
BOOKS = "book_table"
# Everything else: lists, prompts, completion, and what cannot be read.
MESSAGES = FixedLimit("mcp", limit=240)
# A message is read before it is known what it counts on. To read a small one costs as little as to refuse it; of
# others, which cost up to 0.2 s, an address has so many: arguments and a payment never need one.
SMALL_BYTES = 16 * 1024
LARGE = FixedLimit("mcp-large", limit=30)
OURS = ("ws_", "rk_")
# What HTTP itself tells. A model would read none of these, and its client goes by the status.
OF_HTTP = (401, 403, 405)


class ForeignOrigin(ApiError):
    """A page of another site calls, which may do so without its reader's knowledge."""

    code = ErrorCode.FOREIGN_ORIGIN


class McpRateLimitMiddleware(DataApiMiddleware):
    """Reads the message, as what it asks for says what it counts on; the view finds it on the request."""

    prefix = "/mcp"

    def admit(self, request: HttpRequest) -> Admission:
        """Find the message and the caller. What is wrong with the message the view tells."""
        request.caller = anonymous_caller(request)  # type: ignore[attr-defined]
        if request.path_info not in (self.prefix, f"{self.prefix}/"):
            return Admission(self.anonymous_allowance(request))
        if request.method != "POST":
            return Admission(self.anonymous_allowance(request), error_handler.MethodNotAllowed(request, ["POST"]))
        if not origin_check.is_allowed_origin(request.headers.get("Origin")):
            return Admission(
                self.anonymous_allowance(request), ForeignOrigin("Pages of other sites may not call this address.")
            )
        if is_large(request):
            large = self.count_call(request, allowance(LARGE, request), policy=LARGE.policy)
            if large.count > large.limit:
                request.large = large  # type: ignore[attr-defined]
                return Admission(
                    self.anonymous_allowance(request), over(large, f"{large.limit} large messages a minute")
                )
        token = bearer_token(request)
        try:
            request.message = jsonrpc.read(request)  # type: ignore[attr-defined]
        except Fault as fault:
            request.message = fault  # type: ignore[attr-defined]
        if token is not None and not token.startswith(OURS):
            # A client that means to be somebody must learn that it is nobody.
            words = "The Bearer token is neither a session nor an API key of ours."
            return Admission(self.anonymous_allowance(request), Unauthorized(words))
        message, own = message_of(request), self.fixed_limit(request)
        if message is None or own is MESSAGES:
            return Admission(self.anonymous_allowance(request), self.refusal_of_token(request))
        admission = self.identify(request, meta=message.meta)
        return Admission(self.anonymous_allowance(request)) if own and not admission.error else admission

    def refusal_of_token(self, request: HttpRequest) -> ApiError | None:
        """What is wrong with the token of a message that is answered alike to everybody, as far as can be known.

        A signed challenge is good once: it is kept for a call.
        """
        request.META.pop("HTTP_SIGN_IN_WITH_X", None)
        try:
            return self.identify(request, meta={}).error
        except DatabaseError:
            logger.warning("database away", exc_info=True)
            return None

    def fixed_limit(self, request: HttpRequest) -> FixedLimit | None:
        """What the message counts on, if not on what the caller's tier has: a booking as at REST."""
        message = message_of(request)
        if message is None or message.id is None or message.method not in (CALL, READ):
            return MESSAGES
        return BOOKINGS if message.method == CALL and message.params.get("name") == BOOKS else None

    def respond(self, request: HttpRequest, admission: Admission, usage: Usage) -> HttpResponseBase:
        """Refuse, or go on inwards."""
        if admission.error is not None:
            return refused(request, admission.error)
        return super().respond(request, admission, usage)

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """Tell of the limit that a message has met; count as any other message what has not tried to take a table.

        One such message too many counts as both, as a challenge does.
        """
        if large := getattr(request, "large", None):
            return response, large
        if usage.policy != BOOKINGS.policy or getattr(request, "has_tried", False):
            return super().adjust_usage(request, response, usage)
        if usage.count > usage.limit:
            # What is asked meanwhile stands in the count: what is refused because of it must not stay there.
            self.undo_count(usage)
            return response, usage
        told = self.count_call(request, allowance(MESSAGES, request), policy=MESSAGES.policy)
        if told.count > told.limit:
            return self.rate_limit_response(request, told), told
        self.undo_count(usage)
        return response, told

    def rate_limit_response(self, request: HttpRequest, usage: Usage, *, of: str = "") -> HttpResponseBase:
        """In the words of the limit."""
        words = {
            self.policy: f"{usage.limit} calls a minute on the {caller_of(request).tier.name} tier",
            BOOKINGS.policy: f"{usage.limit} tries to book an hour",
            MESSAGES.policy: f"{usage.limit} messages a minute",
        }
        return refused(request, over(usage, words.get(usage.policy, f"{usage.limit} {of} a minute")))

    def is_challenge(self, request: HttpRequest, response: HttpResponseBase) -> bool:
        """Whether this answer tells the price to who has sent no payment."""
        return isinstance(response, Answer) and response.is_challenge


def arrived(request: HttpRequest) -> Message | Fault:
    """What the doorway has read: the message, or what is wrong with it."""
    return cast("Message | Fault", request.message)  # type: ignore[attr-defined]


def message_of(request: HttpRequest) -> Message | None:
    """The message, None where there is none that can be read."""
    found = getattr(request, "message", None)
    return found if isinstance(found, Message) else None


def is_large(request: HttpRequest) -> bool:
    """Whether to read the message costs more than to refuse it."""
    try:
        return len(read_body(request, limit=MOST_BYTES)) > SMALL_BYTES
    except MalformedBody:
        # Such a body is refused unread.
        return False


def allowance(limit: FixedLimit, request: HttpRequest) -> Allowance:
    """What the address of a request has of a limit."""
    return Allowance(bucket=address_bucket(request), limit=limit.limit, window_s=limit.window_s)


def over(usage: Usage, words: str) -> RateLimitExceeded:
    """The refusal of who has used up a limit."""
    wait_s = max(usage.wait_s, 1)
    said = f"Rate limit: {words}; next call in {wait_s} s."
    return RateLimitExceeded(said, headers={"Retry-After": str(wait_s)})


def refused(request: HttpRequest, refusal: ApiError) -> Answer:
    """A refusal before any tool was asked. Of a call its model reads it, as no client shows it the status of HTTP."""
    message, request_id = message_of(request), error_handler.request_id_of(request)
    id_ = message.id if message else None
    if message is None or id_ is None or refusal.status in OF_HTTP:
        return failed(request, refusal, id_=id_)
    era = era_of(request, message)
    if message.method == CALL:
        said = in_words(refusal, request_id=request_id, words=worded(refusal, meta=message.meta))
        meta = {**SERVER.meta(era), **said.meta}
        return responses.result(id_, said.members, era=era, meta=meta, headers=refusal.headers)
    if message.method == READ and isinstance(refusal, RateLimitExceeded):
        return responses.error(fault_of(refusal, request), id=id_, era=era, headers=refusal.headers)
    return failed(request, refusal, id_=id_)


def failed(request: HttpRequest, refusal: ApiError, *, id_: jsonrpc.Id | None) -> Answer:
    """An error of the protocol with the status that the refusal has at REST."""
    fault = fault_of(refusal, request)
    fault.status = refusal.status
    return responses.error(fault, id=id_, headers=refusal.headers)


def era_of(request: HttpRequest, message: Message) -> Era:
    """The era of a message that is refused, whatever else is wrong with it."""
    try:
        return protocol_versions.of(request, message)
    except Fault:
        return Era(HANDSHAKE[0])
