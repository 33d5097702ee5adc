"""Generates the OpenAPI documents: adds to drf-spectacular the parts that all operations share."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_examples_list
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from framework.api import error_handler
from framework.api.fields import TextField
from framework.api.openapi import field_extensions  # noqa: F401  # drf-spectacular finds them by their base class
from framework.api.openapi.code_samples import code_samples, example_request
from framework.api.pagination.page_number import MAX_LIMIT, MAX_PAGE
from framework.api.urls import public_url
from framework.data_files import read_toml
from framework.errors import ErrorCode
from framework.public_ids import pattern

METHODS = ("get", "post", "put", "patch", "delete", "head")


class Problem(serializers.Serializer[Any]):
    param = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class Failure(serializers.Serializer[Any]):
    """What went wrong."""

    # Labelled as ENUM_NAME_OVERRIDES does it, which finds its name by both.
    code = serializers.ChoiceField(
        choices=[(code.value, code.name) for code in ErrorCode], help_text="Machine-readable."
    )
    message = serializers.CharField(help_text="Human-readable, naming the problem.")
    param = serializers.CharField(allow_null=True, help_text="The offending parameter, for example items[0].quantity.")
    request_id = serializers.CharField(help_text="Also in the header X-Request-Id; quote it to us.")
    details = Problem(many=True, help_text="Every problem that was found, the headline among them.")
    alternatives = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="With `slot_unavailable` and `outside_service_hours`: times of that day that may have room.",
    )


class Error(serializers.Serializer[Any]):
    error = Failure()


def page_parameters(*, default: int | None) -> list[OpenApiParameter]:
    """`limit` and `page`; `default` is the limit if none is given, None if then all rows are returned."""
    limit: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
    if default is not None:
        limit["default"] = default
    page = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 1}
    return [
        OpenApiParameter("limit", limit, description="Records on a page."),
        OpenApiParameter("page", page, description="From 1."),
    ]


CURSOR = OpenApiParameter(
    *("cursor", str),
    description="`next_cursor` of an answer with the same filters; instead of `page`.",
)


def documented_responses(good: Mapping[int, Any], *, errors: Sequence[int] = ()) -> dict[int, Any]:
    """The responses of an operation: its own, and its error statuses."""
    return {
        **good,
        **{status: OpenApiResponse(Error, description=describe_codes(status, DATA_CODES)) for status in errors},
    }


def error_codes(*codes: ErrorCode) -> dict[str, list[ErrorCode]]:
    """The `extensions` of extend_schema with an operation's own error codes; common ones are added later."""
    return {"x-error-codes": list(codes)}


def describe_codes(status: int, codes: Sequence[ErrorCode]) -> str:
    return "`error.code` is " + ", ".join(f"`{code}`" for code in codes if code.status == status) + "."


LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, required=True, response=[201], description="Where the record is."
)
ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, required=True, response=[200, 201, 304], description="The version, quoted."
)
LINK = OpenApiParameter(
    *("Link", str, OpenApiParameter.HEADER),
    required=True,
    response=[200, 304],
    description='The other pages, by RFC 8288: `rel` is "first", "prev", "next" or "last".',
)

NOT_MODIFIED = OpenApiResponse(description="You have this version.")
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description='An ETag as you got it, `"1"`; another version is 412.'
)
CONTENT_ETAG = OpenApiParameter(
    *("ETag", str, OpenApiParameter.HEADER),
    required=True,
    response=[200, 304],
    description="Changes with the content.",
)
IF_NONE_MATCH_CONTENT = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="An ETag as you got it; that content is 304."
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description='An ETag as you got it, `"1"`; that version is 304.'
)


def path_id(prefix: str, name: str = "id", *, example: str | None = None) -> OpenApiParameter:
    """The id of a record in a path. Samples of code take it from the example answer, or else the `example`."""
    described: dict[str, Any] = {"type": "string", "pattern": pattern(prefix)}
    return OpenApiParameter(name, described | ({"examples": [example]} if example else {}), OpenApiParameter.PATH)


class OperationSchema(AutoSchema):
    def get_filter_backends(self) -> list[Any]:
        view: Any = self.view
        return view.filter_backends if view.action == "list" else []

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        if isinstance(field, TextField) and "oneOf" in schema:
            # drf-spectacular adds "or empty", which our pattern already allows, so that both branches of oneOf match.
            pattern_schema, _ = schema.pop("oneOf")
            schema |= pattern_schema

    def get_operation(self, *args: Any) -> dict[str, Any] | None:
        """Register the Error component, to which `postprocess` refers."""
        operation: dict[str, Any] | None = super().get_operation(*args)
        self.resolve_serializer(Error(), "response")
        return operation

    def get_tags(self) -> list[str]:
        """The noun after the version; for what belongs to a restaurant the noun after its slug."""
        nouns = [step for step in self.path.split("/") if step and step not in ("api", "v1", "v2")]
        return [nouns[2] if nouns[1:2] == ["{slug}"] and len(nouns) > 2 else nouns[0]]


# Headers of every response: the description and the schema
RATE_HEADERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "X-RateLimit-Limit": ("Requests in a window.", {"type": "integer", "minimum": 1}),
    "X-RateLimit-Remaining": ("Requests left in this window.", {"type": "integer", "minimum": 0}),
    "X-RateLimit-Reset": ("When the window ends, in Unix seconds.", {"type": "integer"}),
    "RateLimit-Policy": ("The window, by the IETF draft on RateLimit header fields.", {"type": "string"}),
    "RateLimit": ("What is left of it, by the same draft.", {"type": "string"}),
    "X-Request-Id": ("Names this request in our log.", {"type": "string"}),
}


# Codes that any call may return, and any call that needs an API key.
COMMON_CODES = (
    ErrorCode.INVALID_REQUEST,
    ErrorCode.RATE_LIMIT_EXCEEDED,
    ErrorCode.INTERNAL_ERROR,
    ErrorCode.SERVICE_UNAVAILABLE,
)
API_KEY_CODES = (
    ErrorCode.MISSING_CREDENTIALS,
    ErrorCode.INVALID_CREDENTIALS,
    ErrorCode.EXPIRED_API_KEY,
    ErrorCode.REVOKED_API_KEY,
    ErrorCode.INSUFFICIENT_SCOPE,
)
# Codes that only the management API returns.
MANAGEMENT_CODES = {
    ErrorCode.SLOT_UNAVAILABLE,
    ErrorCode.OUTSIDE_SERVICE_HOURS,
    ErrorCode.HOLD_ENDED,
    ErrorCode.TOO_MANY_HOLDS,
    ErrorCode.TOO_MANY_WEBHOOKS,
    ErrorCode.WEBHOOK_DISABLED,
    ErrorCode.SECRET_ROTATION_IN_PROGRESS,
    ErrorCode.VERSION_CONFLICT,
}
DATA_CODES = [code for code in ErrorCode if code not in MANAGEMENT_CODES]
EXAMPLE_ERRORS: Mapping[str, Any] = read_toml(Path(__file__).with_name("error_examples.toml"))


def generate(
    title: str,
    description: str,
    patterns: Sequence[URLPattern | URLResolver],
    *,
    examples: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these paths; `examples` as `add_examples` takes them."""
    document: dict[str, Any] = SchemaGenerator(patterns=list(patterns)).get_schema(request=None, public=True)
    add_examples(document, examples)
    document["info"] |= {"title": title, "description": description}
    document["servers"] = [{"url": "/"}]
    return document


def add_examples(document: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Add to each operation its examples: of the JSON body at `request`, and of the responses by status, by name.

    Samples of code send its first request: to `path` with these `headers`, with a key if it `is_signed_in`.
    """
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            own = examples.get(operation["operationId"], {})
            for status, named in own.get("responses", {}).items():
                add_named_examples(operation["responses"][status], named)
            if "request" in own:
                add_named_examples(operation["requestBody"], own["request"])
            request = example_request(EXAMPLE_ADDRESS, method, path, operation, own)
            operation["x-codeSamples"] = code_samples(request)


def add_named_examples(described: dict[str, Any], named: Mapping[str, Any]) -> None:
    """Add these examples to a body in JSON."""
    examples = [OpenApiExample(name, value=value) for name, value in named.items()]
    described["content"]["application/json"]["examples"] = build_examples_list(examples)


def postprocess(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's last hook: removes the optional slash, adds common responses, rate headers and links."""
    result["paths"] = {path.rstrip("/"): operations for path, operations in result["paths"].items()}
    result["components"]["headers"] = {
        name: {"description": description, "required": True, "schema": schema}
        for name, (description, schema) in RATE_HEADERS.items()
    }
    for schema in result["components"]["schemas"].values():
        if "oneOf" in schema:
            # One of several serializers, of which one may have the fields of another and more.
            schema["anyOf"] = schema.pop("oneOf")
    used: set[ErrorCode] = set()
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                if "x-error-codes" in operation:
                    used |= set(add_error_responses(operation))
                add_common_parts(operation)
                share_payment_headers(operation, result["components"])
                if method == "post" and "201" in operation["responses"]:
                    operation["responses"]["201"] |= links(path, result["paths"])
    if used:
        result["components"]["examples"] = {
            code.value: {"value": example_body(code)} for code in ErrorCode if code in used
        }
    return result


def add_error_responses(operation: dict[str, Any]) -> Sequence[ErrorCode]:
    """Add the error responses of an operation by code; return its codes."""
    own = operation["x-error-codes"]
    codes = [
        code
        for code in ErrorCode
        if code in {*own, *COMMON_CODES, *(API_KEY_CODES if "security" in operation else ())}
    ]
    operation["x-error-codes"] = [code.value for code in codes]
    for status in sorted({code.status for code in codes}):
        status_codes = [code for code in codes if code.status == status]
        operation["responses"][str(status)] = error_response(status, status_codes)
        content = operation["responses"][str(status)]["content"]["application/json"]
        content["examples"] = {code.value: {"$ref": f"#/components/examples/{code.value}"} for code in status_codes}
    return codes


def error_response(status: int, codes: Sequence[ErrorCode]) -> dict[str, Any]:
    """The response of this status with one of these codes."""
    return {
        "description": describe_codes(status, codes),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def example_body(code: ErrorCode) -> dict[str, Any]:
    example = EXAMPLE_ERRORS[code]
    message, param = example["message"], example.get("param")
    error = {
        "code": code.value,
        "message": message,
        "param": param,
        "request_id": "req_01m7zvtp5dez4r5h4qxw0cf8xk",
        "details": [{"param": param, "message": message.removeprefix(f"`{param}`: ")}] if param else [],
    }
    return {"error": error | {name: example[name] for name in ("alternatives",) if name in example}}


def add_common_parts(operation: dict[str, Any]) -> None:
    """Add the common error responses, and the headers of each response."""
    for status in [400, 429, 500, 503] if "security" not in operation else [400, 401, 429, 500, 503]:
        operation["responses"].setdefault(str(status), error_response(status, DATA_CODES))
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for parameter in operation.get("parameters", ()):
        # drf-spectacular appends blank lines for a list of choices.
        parameter |= {"description": parameter["description"].strip()} if "description" in parameter else {}
    for status, response in operation["responses"].items():
        headers = response.setdefault("headers", {})
        headers |= {name: {"$ref": f"#/components/headers/{name}"} for name in RATE_HEADERS}
        if status in ("429", "503"):
            headers["Retry-After"] = {"required": True, "schema": {"type": "integer", "minimum": 1}}
        if status == "401" and "x-error-codes" in operation:
            headers["WWW-Authenticate"] = {
                "description": "`Bearer`, and what the key lacks.",
                "required": True,
                "schema": {"type": "string", "pattern": "^Bearer "},
            }


# Request and response headers of payments.
PAYMENT_HEADERS = ("X-Payment", "PAYMENT-SIGNATURE", "X-Receipt", "SIGN-IN-WITH-X")
CHALLENGE_HEADERS = (
    "x402",
    "PAYMENT-REQUIRED",
    "PAYMENT-RESPONSE",
    "X-PAYMENT-RESPONSE",
    "X-Receipt",
    "Receipt-Statement",
)


def share_payment_headers(operation: dict[str, Any], components: dict[str, Any]) -> None:
    """Move the payment headers of paid operations to shared components."""
    if "x-products" not in operation:
        return
    parameters = components.setdefault("parameters", {})
    for place, parameter in enumerate(operation["parameters"]):
        if parameter.get("name") in PAYMENT_HEADERS:
            parameters[parameter["name"]] = parameter
            operation["parameters"][place] = {"$ref": f"#/components/parameters/{parameter['name']}"}
    for response in operation["responses"].values():
        for name in CHALLENGE_HEADERS:
            if name in response["headers"]:
                components["headers"][name] = response["headers"][name]
                response["headers"][name] = {"$ref": f"#/components/headers/{name}"}


def links(path: str, paths: Mapping[str, Any]) -> dict[str, Any]:
    """Links from the response that creates a record to each operation on its id."""
    return {
        "links": {
            operation["operationId"]: {
                "operationId": operation["operationId"],
                "parameters": {"id": "$response.body#/id"},
            }
            for other, operations in paths.items()
            if other.startswith(f"{path}/{{id}}")
            for method, operation in operations.items()
            if method in METHODS
        }
    }


# The documents as files
FOLDER = Path(settings.BASE_DIR) / "docs" / "openapi"


def render_document(document: Mapping[str, Any]) -> str:
    """The text of the committed file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# The date of the examples in the committed files. Served documents have one in the future, so that examples work, and
# all dates of its month are moved with it: an export expires a week after it was made.
EXAMPLE_DAY = "2027-01-16"
# The address in the committed files, which served documents replace by that of this server.
EXAMPLE_ADDRESS = "https://api.example.com"
EXAMPLE_DATES = re.compile(rf"{EXAMPLE_DAY[:8]}\d\d".encode())
SATURDAY = 5


def example_day(today: date) -> date:
    """A Saturday two to three weeks from now, as EXAMPLE_DAY is a Saturday."""
    soon = today + timedelta(days=14)
    return soon + timedelta(days=(SATURDAY - soon.weekday()) % 7)


def read_document(name: str) -> bytes:
    """The text of the committed document, with examples that work today at this server."""
    return _read_document(name, example_day(timezone.now().date()), public_url(""))


# One for each document; a new one on the next day.
@lru_cache(maxsize=3)
def _read_document(name: str, day: date, address: str) -> bytes:
    offset = day - date.fromisoformat(EXAMPLE_DAY)

    def move(match: re.Match[bytes]) -> bytes:
        return (date.fromisoformat(match[0].decode()) + offset).isoformat().encode()

    content = EXAMPLE_DATES.sub(move, (FOLDER / f"{name}.json").read_bytes())
    return content.replace(EXAMPLE_ADDRESS.encode(), address.encode())


# So that a POST gets 405, and not an error about the CSRF token.
@csrf_exempt
def serve_document(
    request: HttpRequest, name: str, additions: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType({})
) -> HttpResponse:
    """The committed document (a test compares it with the code), with examples that work today.

    `additions` adds what only the running product knows, by the name of the document. Sent in one piece, so that a
    slow client does not hold a thread.
    """
    if rejection := error_handler.reject_unsafe_method(request):
        return rejection
    content = read_document(name)
    return HttpResponse(additions[name](content) if name in additions else content, content_type="application/json")
