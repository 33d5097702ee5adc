"""The operations of the REST binding: create, get, update, complete and cancel a checkout session."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.db import Error as DatabaseError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from redis import RedisError

from accounts import idempotency
from catalogue.ucp import completion
from catalogue.ucp.completion import Completion
from catalogue.ucp.negotiation import Agent, identify_agent
from catalogue.ucp.protocol import PATH, NotPossible, ProtocolError, error_message, is_enabled
from catalogue.ucp.requests import CheckoutRequest, CompleteRequest, invalid, merge, parse, read_lines
from catalogue.ucp.responses import build_checkout, build_error
from catalogue.ucp.sessions import Assessment, find_establishment, find_session
from framework.api.error_handler import error_response, to_api_error
from framework.api.json_parser import json_body, read_body
from framework.api.rate_limits.client_ip import client_network
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.errors import ApiError, ErrorCode, InvalidRequest, NotFound
from framework.resilience.deadline import response_deadline
from orders.models import CheckoutSession
from payments.interface import anonymous_caller

# Of one address; each may cost a dozen queries.
MAX_CALLS_PER_HOUR = 1_000
# Of one address: each is a row.
MAX_SESSIONS_PER_HOUR = 300
MAX_BODY_BYTES = 256 * 1024
SESSIONS = f"{PATH}/checkout-sessions"
State = CheckoutSession.State

View = Callable[..., HttpResponse]


def operation(method: str) -> Callable[[View], View]:
    """Call the view with the agent of the request, and answer errors as the protocol writes them."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, **params: str) -> HttpResponse:
            try:
                address = client_network(request)
                count_within_an_hour("ucp-calls", address, limit=MAX_CALLS_PER_HOUR, what="calls")
                agent = identify_agent(request.headers, address=address)
                response = view(request, agent, **params)
            except (ApiError, DatabaseError, RedisError) as error:
                response = answer_error(error)
            # Of a guest.
            response["Cache-Control"] = "no-store"
            return response

        return wrapper

    return decorate


def answer_error(error: Exception) -> HttpResponse:
    """Return the answer to an anticipated error; all others propagate."""
    if isinstance(error, NotPossible):
        return answer(build_error(error.messages, continue_url=error.continue_url), status=error.protocol_status)
    if isinstance(error, ProtocolError):
        body = {"code": error.protocol_code, "content": error.message}
        return answer(body, status=error.protocol_status, headers=error.headers)
    known = to_api_error(error, {})
    if known is None or known.code == ErrorCode.INTERNAL_ERROR:
        raise error
    if isinstance(known, idempotency.IdempotencyKeyReused | idempotency.IdempotencyInProgress):
        status = 409
    elif isinstance(known, InvalidRequest):
        message = error_message("invalid_request", known.message, severity="unrecoverable")
        return answer(build_error([message]), status=400)
    else:
        status = known.status
    return answer({"code": known.code.value, "content": known.message}, status=status, headers=known.headers)


def answer(body: dict[str, Any], *, status: int = 200, headers: Any = None) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/json", headers=headers or {})


@csrf_exempt
def sessions(request: HttpRequest) -> HttpResponse:
    """`/checkout-sessions`."""
    return dispatch(request, {"POST": create})


@csrf_exempt
def session(request: HttpRequest, *, session: str) -> HttpResponse:
    """`/checkout-sessions/{id}`."""
    return dispatch(request, {"GET": get, "PUT": update}, session=session)


@csrf_exempt
def session_action(request: HttpRequest, *, session: str, action: str) -> HttpResponse:
    """`/checkout-sessions/{id}/complete` and `/cancel`."""
    return dispatch(request, {"POST": {"complete": complete, "cancel": cancel}[action]}, session=session)


def dispatch(request: HttpRequest, views: dict[str, View], **params: str) -> HttpResponse:
    if not is_enabled():
        return error_response(NotFound(), request)
    view = views.get(request.method or "")
    if view is None:
        allowed = ", ".join(views)
        body = {"code": "method_not_allowed", "content": f"This address has {allowed}."}
        return answer(body, status=405, headers={"Allow": allowed})
    # Texts of the menu and of the rules are in one language, with ours.
    with translation.override("en"), response_deadline():
        return view(request, **params)


@operation("POST")
def create(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Create a session for one establishment."""
    body: CheckoutRequest = parse(CheckoutRequest, json_body(request, limit=MAX_BODY_BYTES))
    if body.food_establishment is None:
        raise invalid([("$.food_establishment.id", "Say at which establishment.")])
    establishment = body.food_establishment.id

    def effect() -> HttpResponse:
        venue, menu = find_establishment(establishment)
        now = venue.now()
        count_within_an_hour(
            "ucp-sessions", client_network(request), limit=MAX_SESSIONS_PER_HOUR, what="checkout sessions"
        )
        row = CheckoutSession(
            venue=venue,
            agent=agent.profile,
            content=merge({}, body, items=read_lines(menu, body.line_items)),
            created_at=now,
            updated_at=now,
            expires_at=now.replace(microsecond=0) + CheckoutSession.LIFETIME,
        )
        assessment = Assessment.of(row, now=now)
        row.shown_total, row.shown_usdc = assessment.order.total, assessment.usdc
        row.save(force_insert=True)
        headers = {"Location": f"{SESSIONS}/{row.public_id}"}
        return answer(build_checkout(assessment, agent), status=201, headers=headers)

    return once(request, agent, effect)


@operation("GET")
def get(request: HttpRequest, agent: Agent, *, session: str) -> HttpResponse:
    """Return the session as it is now, with the prices and times of now."""
    row = find_session(session, agent=agent.profile)
    now = row.venue.now()
    if row.state == State.PLACED:
        completion.finish(row, now=now, is_refused=False)
    return answer(completion.show(row, agent, now=now))


@operation("PUT")
def update(request: HttpRequest, agent: Agent, *, session: str) -> HttpResponse:
    """Replace what the agent has sent; what it leaves out stays."""
    body: CheckoutRequest = parse(CheckoutRequest, json_body(request, limit=MAX_BODY_BYTES))
    row = find_session(session, agent=agent.profile)

    def effect() -> HttpResponse:
        now = row.venue.now()
        with transaction.atomic():
            locked = completion.lock(row)
            if locked.state != State.OPEN or locked.has_expired(now):
                raise completion.conflict("checkout_not_modifiable", "This session is over, or being completed.")
            venue, menu = find_establishment(locked.venue.public_id)
            establishment = body.food_establishment
            if establishment is not None and find_establishment(establishment.id)[0].pk != venue.pk:
                raise invalid([("$.food_establishment.id", "The establishment of a session cannot be changed.")])
            locked.content = merge(locked.content, body, items=read_lines(menu, body.line_items))
            assessment = Assessment.of(locked, now=now)
            locked.shown_total, locked.shown_usdc = assessment.order.total, assessment.usdc
            locked.updated_at = now
            locked.save()
        return answer(build_checkout(assessment, agent))

    return once(request, agent, effect)


@operation("POST")
def complete(request: HttpRequest, agent: Agent, *, session: str) -> HttpResponse:
    """Place the order. A repeated request gets the same answer."""
    body: CompleteRequest = parse(CompleteRequest, json_body(request, limit=MAX_BODY_BYTES))
    row = find_session(session, agent=agent.profile)
    if body.instrument is None:
        raise invalid([("$.payment.instruments", "Select one instrument.")])
    key = request.headers.get(idempotency.HEADER)
    call = identify_call(request, agent, key) if key is not None else None
    stored = idempotency.find_response(call) if call else None
    if stored is None:
        checkout = completion.complete(
            row,
            Completion(
                instrument=body.instrument,
                agent=agent,
                caller=anonymous_caller(request),
                address=client_network(request),
                digest=hashlib.sha256(f"{key or ''}\n".encode() + read_body(request)).hexdigest(),
                now=row.venue.now(),
            ),
        )
        response = answer(checkout)
        if call is None or checkout["status"] != "completed":
            # Nothing was ordered: the key can be used again, with another payment.
            return response
        stored = idempotency.run_once(call, lambda: to_store(response))
    return replay(stored)


@operation("POST")
def cancel(request: HttpRequest, agent: Agent, *, session: str) -> HttpResponse:
    """Cancel a session that is not completed."""
    row = find_session(session, agent=agent.profile)

    def effect() -> HttpResponse:
        now = row.venue.now()
        completion.cancel(row, now=now)
        return answer(completion.show(row, agent, now=now))

    return once(request, agent, effect)


def once(request: HttpRequest, agent: Agent, effect: Callable[[], HttpResponse]) -> HttpResponse:
    """Return the response of `effect`, which has one effect for each Idempotency-Key of the agent."""
    key = request.headers.get(idempotency.HEADER)
    if key is None:
        return effect()
    call = identify_call(request, agent, key)
    return replay(idempotency.run_once(call, lambda: to_store(effect())))


def to_store(response: HttpResponse) -> idempotency.StoredResponse:
    """Return an answer that repetitions get without the contact, which a session keeps for a shorter time."""
    body = orjson.loads(response.content)
    body.pop("buyer", None)
    headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
    return idempotency.StoredResponse(
        body=response.content, replayed_body=orjson.dumps(body), status=response.status_code, headers=headers
    )


def replay(stored: idempotency.StoredResponse) -> HttpResponse:
    return HttpResponse(
        stored.body, content_type="application/json", status=stored.status, headers=dict(stored.headers)
    )


def identify_call(request: HttpRequest, agent: Agent, key: str) -> idempotency.IdempotentRequest:
    """Return the identity of a request. Raises InvalidRequest for a key that is none.

    Anybody can name a profile, so the caller's network is part of who creates a session; the other operations name
    the id of theirs, which is a secret.
    """
    owner = f"{agent.profile} {client_network(request)}" if request.path.rstrip("/") == SESSIONS else agent.profile
    scope = f"ucp-{hashlib.sha256(owner.encode()).hexdigest()[:60]}"
    return idempotency.identify_request(request, scope=scope, key=key)
