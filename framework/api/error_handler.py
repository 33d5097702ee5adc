"""The error body of both APIs, and the conversion of every exception to it.

    {"error": {"code", "message", "param", "request_id", "details": [{"param", "message"}]}}

The first three keys are the contract's (seed 000, "Errors"); the others are additive.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults
from redis import RedisError
from rest_framework import exceptions
from rest_framework.response import Response

from framework.errors import ApiError, ErrorCode, InvalidRequest, NotFound, Problem, Renamed, ServiceUnavailable
from framework.public_ids import encode, new_id

logger = logging.getLogger("tablewire.api")

# Paths for programs: no response there may be an HTML page.
API_PREFIXES = (
    "/api",
    "/v1",
    "/mcp",
    "/ucp",
    "/.well-known",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/register",
    "/openapi.json",
    "/docs/openapi",
    "/CHANGELOG.md",
    "/llms.txt",
)
# The files of the documentation, which agents read. Its other paths are pages.
DOCUMENT = re.compile(r"/docs/.+\.(?:md|svg|json)")
SAFE_METHODS = ("GET", "HEAD")
# The position of the name in a path such as /v1/restaurants/noma.
NAME_INDEX = 3


class MethodNotAllowed(ApiError):
    """The path does not have this method."""

    code = ErrorCode.METHOD_NOT_ALLOWED

    def __init__(self, request: Any, allowed: Sequence[str]) -> None:
        methods = ", ".join(allowed)
        super().__init__(f"This address has no {request.method}; it has {methods}.", headers={"Allow": methods})


class InternalError(ApiError):
    """An unexpected error; the response says nothing about its cause."""

    code = ErrorCode.INTERNAL_ERROR

    def __init__(self) -> None:
        super().__init__("This is an error on our side. Contact us with the request_id.")


def is_api(request: HttpRequest) -> bool:
    is_document = DOCUMENT.fullmatch(request.path_info) is not None
    return is_document or any(is_below(request, prefix) for prefix in API_PREFIXES)


def is_below(request: HttpRequest, prefix: str) -> bool:
    """Whether the path is this prefix or continues it with a slash."""
    return request.path_info == prefix or request.path_info.startswith(f"{prefix}/")


def request_id_of(request: Any) -> str:
    """The id that the rate-limit middleware gave to this request, or ""."""
    return str(getattr(request, "request_id", ""))


def error_body(error: ApiError, *, request_id: str) -> dict[str, Any]:
    """The JSON object of this error."""
    if error.body_override is not None:
        return {**error.body_override, "request_id": request_id}
    return {
        "error": {
            "code": error.code.value,
            "message": error.message,
            "param": error.param,
            "request_id": request_id,
            "details": [{"param": problem.param, "message": problem.message} for problem in error.details],
            **error.extra,
        }
    }


def error_response(error: ApiError, request: HttpRequest) -> HttpResponse:
    """The response outside of a DRF view. A request without an id gets one."""
    content = orjson.dumps(error_body(error, request_id=request_id_of(request) or encode("req", new_id())))
    return HttpResponse(
        content,
        status=error.status,
        content_type="application/json",
        # CommonMiddleware, which sets it elsewhere, may not have been reached.
        headers={**error.headers, "Content-Length": str(len(content))},
    )


def handle_exception(exception: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. Unexpected exceptions propagate, to be logged once and answered with 500."""
    error = to_api_error(exception, context)
    if error is None:
        return None
    headers = dict(error.headers)
    if isinstance(error, Renamed):
        headers["Location"] = renamed_url(context["request"], error)
    body = error_body(error, request_id=request_id_of(context["request"]))
    return Response(body, status=error.status, headers=headers)


def renamed_url(request: HttpRequest, error: Renamed) -> str:
    """The URL of this request with the new name in place of the former one, and the same query string."""
    path, mark, query = request.get_full_path().partition("?")
    steps = path.split("/")
    steps[steps.index(error.former, NAME_INDEX)] = error.name
    return "/".join(steps) + mark + query


def to_api_error(exception: Exception, context: Mapping[str, Any]) -> ApiError | None:
    """Convert an exception of DRF, Django, PostgreSQL or Valkey; None for an unexpected one."""
    if isinstance(exception, ApiError):
        return exception
    if isinstance(exception, exceptions.ValidationError):
        return invalid_request(list(flatten_detail(exception.detail)))
    if isinstance(exception, Http404 | exceptions.NotFound):
        return NotFound()
    if isinstance(exception, exceptions.MethodNotAllowed):
        return MethodNotAllowed(context["request"], context["view"].allowed_methods)
    if isinstance(exception, exceptions.ParseError):
        return InvalidRequest(str(exception.detail))
    if isinstance(exception, OperationalError | InterfaceError | RedisError):
        service = "rate-limit store" if isinstance(exception, RedisError) else "database"
        request_id = request_id_of(context["request"])
        logger.warning("%s unavailable: %s", service, exception, extra={"request_id": request_id})
        return ServiceUnavailable()
    return None


def invalid_request(problems: Sequence[Problem]) -> InvalidRequest:
    """One error for several problems: the first is the message, all are in the details."""
    return InvalidRequest(message_with_param(problems[0]), param=problems[0].param, details=problems)


def message_with_param(problem: Problem) -> str:
    """The message, after the parameter's name unless it names the parameter itself."""
    has_param = problem.param is None or f"`{problem.param}`" in problem.message
    return problem.message if has_param else f"`{problem.param}`: {problem.message}"


def flatten_detail(detail: Any, path: str = "") -> Iterator[Problem]:
    """Walk DRF's nested error detail and name each parameter as a caller writes it: `items[0].quantity`."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            # DRF 3.18 keys the errors of a list's elements by their integer index.
            step = f"[{key}]" if isinstance(key, int) else f".{key}" if path else str(key)
            yield from flatten_detail(inner, path if key == "non_field_errors" else path + step)
    elif isinstance(detail, list):
        for inner in detail:
            yield from flatten_detail(inner, path)
    else:
        yield Problem(param=path or None, message=str(detail))


def reject_unsafe_method(request: HttpRequest) -> HttpResponse | None:
    """405 for any method except GET and HEAD, for documents outside of the rate-limited APIs."""
    if request.method in SAFE_METHODS:
        return None
    return error_response(MethodNotAllowed(request, SAFE_METHODS), request)


def status_response(status: int, request: HttpRequest) -> HttpResponse:
    """The JSON response in place of a page of Django's with this status."""
    errors: Mapping[int, ApiError] = {
        403: InvalidRequest("The request was refused."),
        404: NotFound(),
        500: InternalError(),
        503: ServiceUnavailable(),
    }
    default = InvalidRequest("The request is malformed.") if status < 500 else InternalError()
    return error_response(errors.get(status, default), request)


def _handler(status: int, page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """JSON for the paths of programs, Django's page for all others."""

    def respond(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        if is_api(request):
            return status_response(status, request)
        return page(request, exception) if exception else page(request)

    return respond


# handler400 (among others for a Host that is not ours), handler403, handler404, handler500.
bad_request = _handler(400, defaults.bad_request)
permission_denied = _handler(403, defaults.permission_denied)
page_not_found = _handler(404, defaults.page_not_found)
server_error = _handler(500, defaults.server_error)
