"""The doorway of the MCP endpoint: the callers, tiers and counts of the data API, and refusals that a model reads."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.http.request import validate_host
from django.utils import timezone

from accounts.authentication import Unauthorized
from config.api import errors
from config.api.limits import Allowance, Entry, TooManyRequests, Usage, address_bucket
from config.api.refusal import Code, Refusal, Unavailable
from config.mcp import answers, eras, messages
from config.mcp.answers import Answer
from config.mcp.eras import HANDSHAKE, Era
from config.mcp.messages import Fault, Message
from config.mcp.server import fault_of, in_words
from payments.callers import anonymous, bearer, caller_of, identify
from payments.limits import BOOKINGS, MINUTE_S, DataDoorway

# What gives data counts as a request of the data API does.
CALL, READ = "tools/call", "resources/read"
# Everything else: lists, prompts, completion, and what cannot be read.
POLICY = "mcp"
MOST_A_MINUTE = 240
BOOKS = "book_table"
OURS = ("ws_", "rk_")


class ForeignOrigin(Refusal):
    """A page of another site calls, which may do so without its reader's knowledge."""

    code = Code.FOREIGN_ORIGIN


class McpDoorway(DataDoorway):
    """Reads the message, as what it asks for says what it counts on; the view finds it on the request."""

    prefix = "/mcp"

    def enter(self, request: HttpRequest) -> Entry:
        """Find the message and the caller. What is wrong with the message the view tells."""
        request.caller = anonymous(request)  # type: ignore[attr-defined]
        if request.method != "POST":
            words = f"This address has no {request.method}; it has POST."
            return Entry(self.unknown(request), errors.MethodNotAllowed(words, headers={"Allow": "POST"}))
        if not is_from_us(request.headers.get("Origin")):
            return Entry(self.unknown(request), ForeignOrigin("Pages of other sites may not call this address."))
        try:
            request.message = messages.read(request)  # type: ignore[attr-defined]
            request.paid_by_meta = request.message.meta  # type: ignore[attr-defined]
        except Fault as fault:
            request.fault = fault  # type: ignore[attr-defined]
        try:
            if (token := bearer(request)) is not None and not token.startswith(OURS):
                # A client that means to be somebody must learn that it is nobody.
                raise Unauthorized("The Bearer token is neither a session nor an API key of ours.")
            caller = identify(request, now=timezone.now())
        except Refusal as refusal:
            return Entry(self.unknown(request), refusal)
        request.caller = caller  # type: ignore[attr-defined]
        if self.policy_of(request) != self.policy:
            return Entry(self.unknown(request))
        return Entry(Allowance(bucket=caller.bucket, limit=caller.terms.per_minute, window_s=MINUTE_S))

    def unknown(self, request: HttpRequest) -> Allowance:
        """By address: as many as the kind of message has."""
        bucket = address_bucket(request)
        policy = self.policy_of(request)
        if policy == POLICY:
            return Allowance(bucket=bucket, limit=MOST_A_MINUTE, window_s=MINUTE_S)
        if policy == BOOKINGS.policy:
            return Allowance(bucket=bucket, limit=BOOKINGS.limit, window_s=BOOKINGS.window_s)
        return super().unknown(request)

    def policy_of(self, request: HttpRequest) -> str:
        """What the message counts on: a booking as at REST, other calls and reads as requests do."""
        message = message_of(request)
        if message is None or message.id is None or message.method not in (CALL, READ):
            return POLICY
        if message.method == CALL and message.params.get("name") == BOOKS:
            return BOOKINGS.policy
        return self.policy

    def answer(self, request: HttpRequest, entry: Entry, usage: Usage) -> HttpResponseBase:
        """Refuse, or go on inwards."""
        if entry.refusal is not None:
            return refused(request, entry.refusal)
        return super().answer(request, entry, usage)

    def too_many(self, request: HttpRequest, usage: Usage, *, of: str = "requests") -> HttpResponseBase:
        """In the words of the limit. No client shows a 429 to its model, so only floods get one."""
        tier = caller_of(request).tier.name
        limits = {
            self.policy: f"{usage.limit} calls a minute on the {tier} tier",
            BOOKINGS.policy: f"{usage.limit} tries to book an hour",
        }
        words = limits.get(usage.policy, f"{usage.limit} {of if of != 'requests' else 'messages'} a minute")
        refusal = TooManyRequests(
            f"Rate limit: {words}; next call in {usage.wait_s} s.",
            headers={"Retry-After": str(max(usage.wait_s, 1))},
        )
        return refused(request, refusal, in_band=usage.policy != POLICY)

    def is_challenge(self, request: HttpRequest, response: HttpResponseBase) -> bool:
        """Whether this answer tells the price to who has sent no payment."""
        return isinstance(response, Answer) and response.is_challenge


def is_from_us(origin: str | None) -> bool:
    """Whether a page with this Origin may call: programs send none, our own pages come from one of our hosts."""
    if origin is None or origin in settings.MCP_ALLOWED_ORIGINS:
        return True
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return bool(host) and validate_host(f"[{host}]" if ":" in str(host) else str(host), settings.ALLOWED_HOSTS)


def message_of(request: HttpRequest) -> Message | None:
    """The message that the doorway has read, None where it could not."""
    return getattr(request, "message", None)


def era_of(request: HttpRequest, message: Message) -> Era:
    """The era of a message that is refused, whatever else is wrong with it."""
    try:
        return eras.of(request, message)
    except Fault:
        return Era(HANDSHAKE[0])


def refused(request: HttpRequest, refusal: Refusal, *, in_band: bool = True) -> Answer:
    """A refusal before any tool was asked: of a call its model reads it, where HTTP does not have to tell it."""
    message = message_of(request)
    request_id = errors.id_of(request)
    id_ = message.id if message else None
    tells = in_band and isinstance(refusal, TooManyRequests | Unavailable)
    if message and id_ is not None and tells:
        era = era_of(request, message)
        if message.method == CALL:
            said = in_words(refusal, request_id=request_id)
            return answers.result(id_, said.members, era=era, meta=said.meta, headers=refusal.headers)
        return answers.error(fault_of(refusal, request), id=id_, era=era, headers=refusal.headers)
    fault = fault_of(refusal, request)
    fault.status = refusal.status
    return answers.error(fault, id=id_, headers=refusal.headers)


def caller_name(request: HttpRequest) -> str:
    """Who calls, in a word: a wallet, an account, or nobody, whose address may change."""
    caller = caller_of(request)
    return caller.wallet or str(caller.account or "")
