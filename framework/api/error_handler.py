"""The error body of both APIs, and every way by which an error comes to it.

    {"error": {"code", "message", "param", "request_id", "details": [{"param", "message"}]}}

The first three keys are the contract's (seed 000, "Errors"); the others are additive.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
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

INTERNAL_ERROR_MESSAGE = "Something broke on our side. Tell us the request_id."
API_PREFIXES = ("/api", "/v1")
# What programs read beside them: no answer there may be a page either.
DOCUMENT_PREFIXES = ("/mcp", "/.well-known", "/openapi.json", "/docs", "/CHANGELOG.md", "/llms.txt")


class MethodNotAllowed(ApiError):
    """A method that this path does not have."""

    code = ErrorCode.METHOD_NOT_ALLOWED


class InternalError(ApiError):
    """We broke; nothing of the inside is told."""

    code = ErrorCode.INTERNAL_ERROR


def is_api(request: HttpRequest) -> bool:
    """Whether the path is for programs, so that no answer to it may be a page."""
    return any(is_below(request, prefix) for prefix in (*API_PREFIXES, *DOCUMENT_PREFIXES))


def is_below(request: HttpRequest, prefix: str) -> bool:
    """Whether the path is this prefix or goes on behind it."""
    return request.path_info == prefix or request.path_info.startswith(f"{prefix}/")


def error_body(refusal: ApiError, *, request_id: str) -> dict[str, Any]:
    """The JSON object that tells this refusal."""
    if refusal.body_override is not None:
        return {**refusal.body_override, "request_id": request_id}
    return {
        "error": {
            "code": refusal.code.value,
            "message": refusal.message,
            "param": refusal.param,
            "request_id": request_id,
            "details": [{"param": problem.param, "message": problem.message} for problem in refusal.details],
            **refusal.extra,
        }
    }


def error_response(refusal: ApiError, *, request_id: str) -> HttpResponse:
    """The whole answer, for where no view is running."""
    content = orjson.dumps(error_body(refusal, request_id=request_id))
    return HttpResponse(
        content,
        status=refusal.status,
        content_type="application/json",
        # Django's own middleware, which counts it elsewhere, may not have been reached.
        headers={**refusal.headers, "Content-Length": str(len(content))},
    )


def handle_exception(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. What nobody foresaw flies on, to be logged once and answered with 500."""
    refusal = to_api_error(error, context)
    if refusal is None:
        return None
    headers = dict(refusal.headers)
    if isinstance(refusal, Renamed):
        headers["Location"] = renamed_url(context["request"], refusal)
    return Response(
        error_body(refusal, request_id=request_id_of(context["request"])), status=refusal.status, headers=headers
    )


# Behind the version and the noun: /v1/restaurants/noma.
NAME_AT = 3


def renamed_url(request: HttpRequest, refusal: Renamed) -> str:
    """The address of this request with the new name in place of the former, its query string with it."""
    path, mark, asked = request.get_full_path().partition("?")
    steps = path.split("/")
    steps[steps.index(refusal.former, NAME_AT)] = refusal.name
    return "/".join(steps) + mark + asked


def request_id_of(request: Any) -> str:
    """The id that the doorway gave to this request."""
    return str(getattr(request, "request_id", ""))


def to_api_error(error: Exception, context: Mapping[str, Any]) -> ApiError | None:
    """Word an error of DRF, Django or the database as a refusal; None where it is nobody's but ours."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, exceptions.ValidationError):
        return invalid_request(list(flatten_detail(error.detail)))
    if isinstance(error, Http404 | exceptions.NotFound):
        return NotFound()
    if isinstance(error, exceptions.MethodNotAllowed):
        allowed = ", ".join(context["view"].allowed_methods)
        return MethodNotAllowed(
            f"This address has no {context['request'].method}; it has {allowed}.", headers={"Allow": allowed}
        )
    if isinstance(error, exceptions.ParseError):
        return InvalidRequest(str(error.detail))
    if isinstance(error, OperationalError | InterfaceError):
        logger.warning("database away: %s", error, extra={"request_id": request_id_of(context["request"])})
        return ServiceUnavailable()
    if isinstance(error, RedisError):
        logger.warning("counters away: %s", error, extra={"request_id": request_id_of(context["request"])})
        return ServiceUnavailable()
    return None


def invalid_request(found: Sequence[Problem]) -> InvalidRequest:
    """One refusal of several problems: the first is the headline, all stand in the details."""
    return InvalidRequest(sentence(found[0]), param=found[0].param, details=found)


def sentence(problem: Problem) -> str:
    """A problem in words that also say where it is."""
    is_named = problem.param is None or f"`{problem.param}`" in problem.message
    return problem.message if is_named else f"`{problem.param}`: {problem.message}"


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


# What Django itself answers outside of any view
ERROR_OF_STATUS: Mapping[int, ApiError] = {
    400: InvalidRequest("The request is malformed."),
    403: InvalidRequest("The request was refused."),
    404: NotFound(),
    405: MethodNotAllowed("This address does not have that method."),
    500: InternalError(INTERNAL_ERROR_MESSAGE),
    503: ServiceUnavailable(),
}


def error_of_status(status: int) -> ApiError:
    """The refusal that stands for a bare status."""
    return ERROR_OF_STATUS.get(status, ERROR_OF_STATUS[400] if status < 500 else ERROR_OF_STATUS[500])


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: among others a Host that is not ours."""
    return say(request, 400) or defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403."""
    return say(request, 403) or defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return say(request, 404) or defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500."""
    return say(request, 500) or defaults.server_error(request)


def say(request: HttpRequest, status: int) -> HttpResponse | None:
    """The error body on an API path, None elsewhere."""
    return unnumbered_response(error_of_status(status), request) if is_api(request) else None


def unnumbered_response(refusal: ApiError, request: HttpRequest) -> HttpResponse:
    """The whole answer, also where no doorway has numbered the request."""
    return error_response(refusal, request_id=request_id_of(request) or encode("req", new_id()))


READS = ("GET", "HEAD")


def reject_unsafe_method(request: HttpRequest) -> HttpResponse | None:
    """The refusal of any other method, for documents that no doorway guards."""
    if request.method in READS:
        return None
    allowed = ", ".join(READS)
    words = f"This address has no {request.method}; it has {allowed}."
    return unnumbered_response(MethodNotAllowed(words, headers={"Allow": allowed}), request)
