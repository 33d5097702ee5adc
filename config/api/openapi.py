"""The OpenAPI documents: what drf-spectacular cannot know by itself, said once for all operations."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from config.api.fields import Text
from config.api.ids import pattern
from config.api.pages import LAST_PAGE, MOST
from config.api.refusal import STATUS, Code

METHODS = ("get", "post", "put", "delete", "head")


class Problem(serializers.Serializer[Any]):
    """One thing that is wrong with a request."""

    param = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class Failure(serializers.Serializer[Any]):
    """What went wrong."""

    code = serializers.ChoiceField(choices=[code.value for code in Code], help_text="Machine-readable.")
    message = serializers.CharField(help_text="Human-readable, naming the problem.")
    param = serializers.CharField(allow_null=True, help_text="The offending parameter, for example items[0].quantity.")
    request_id = serializers.CharField(help_text="Also in the header X-Request-Id; quote it to us.")
    details = Problem(many=True, help_text="Every problem that was found, the headline among them.")


class Error(serializers.Serializer[Any]):
    """The body of every refusal."""

    error = Failure()


def page_parameters(*, default: int | None) -> list[OpenApiParameter]:
    """`limit` and `page`; `default` is the limit of a caller who gives none, None where all rows are returned."""
    limit: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": MOST}
    if default is not None:
        limit["default"] = default
    page = {"type": "integer", "minimum": 1, "maximum": LAST_PAGE, "default": 1}
    return [
        OpenApiParameter("limit", limit, description="Records on a page."),
        OpenApiParameter("page", page, description="From 1."),
    ]


def answers(good: Mapping[int, Any], *, refusals: Sequence[int] = ()) -> dict[int, Any]:
    """The documented answers of an operation: its own, and the statuses by which it refuses."""
    return {**good, **{status: OpenApiResponse(Error, description=describe(status)) for status in refusals}}


def describe(status: int) -> str:
    """The codes that come with a status."""
    return "`error.code` is " + ", ".join(f"`{code}`" for code, its in STATUS.items() if its == status) + "."


LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, required=True, response=[201], description="Where the record is."
)
ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, required=True, response=[200, 201], description="The version, quoted."
)


NOT_MODIFIED = OpenApiResponse(description="You have this version.")
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description='An ETag as you got it, `"1"`; another version is 412.'
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description='An ETag as you got it, `"1"`; that version is 304.'
)


def path_id(prefix: str, name: str = "id") -> OpenApiParameter:
    """An id in the path."""
    return OpenApiParameter(name, {"type": "string", "pattern": pattern(prefix)}, OpenApiParameter.PATH)


class Operation(AutoSchema):
    """One operation, as drf-spectacular sees it."""

    def get_filter_backends(self) -> list[Any]:
        """A list filters, although its envelope is an object."""
        view: Any = self.view
        return view.filter_backends if view.action == "list" else []

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        if isinstance(field, Text) and "oneOf" in schema:
            # drf-spectacular adds "or empty", which our pattern allows already: then neither is the only one.
            ours, _ = schema.pop("oneOf")
            schema |= ours

    def get_tags(self) -> list[str]:
        """Group by the first noun of the path."""
        return [next(step for step in self.path.split("/") if step and step not in ("api", "v1"))]


# What every operation has ------------------------------------------------------------------------------------------
RATE_HEADERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "X-RateLimit-Limit": ("Requests in a window.", {"type": "integer", "minimum": 1}),
    "X-RateLimit-Remaining": ("Requests left in this window.", {"type": "integer", "minimum": 0}),
    "X-RateLimit-Reset": ("When the window ends, in Unix seconds.", {"type": "integer"}),
    "RateLimit-Policy": ("The window, by the IETF draft on RateLimit header fields.", {"type": "string"}),
    "RateLimit": ("What is left of it, by the same draft.", {"type": "string"}),
    "X-Request-Id": ("Names this request in our log.", {"type": "string"}),
}


def generate(title: str, description: str, patterns: Sequence[URLPattern | URLResolver]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these paths."""
    document: dict[str, Any] = SchemaGenerator(patterns=list(patterns)).get_schema(request=None, public=True)
    document["info"] |= {"title": title, "description": description}
    document["servers"] = [{"url": "/"}]
    return document


def finish(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's last hook: paths without the optional slash, common answers, rate headers, links."""
    result["paths"] = {path.rstrip("/"): operations for path, operations in result["paths"].items()}
    result["components"]["headers"] = {
        name: {"description": words, "required": True, "schema": schema}
        for name, (words, schema) in RATE_HEADERS.items()
    }
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if method in METHODS:
                common(operation)
    return result


def common(operation: dict[str, Any]) -> None:
    """Add to one operation the answers that any may give, and the headers to each of its answers."""
    statuses = [400, 429, 500, 503] if "security" not in operation else [400, 401, 429, 500, 503]
    for status in statuses:
        operation["responses"].setdefault(
            str(status),
            {
                "description": describe(status),
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        )
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, response in operation["responses"].items():
        headers = response.setdefault("headers", {})
        headers |= {name: {"$ref": f"#/components/headers/{name}"} for name in RATE_HEADERS}
        if status in ("429", "503"):
            headers["Retry-After"] = {"required": True, "schema": {"type": "integer", "minimum": 1}}


# The documents as files --------------------------------------------------------------------------------------------
FOLDER = Path(settings.BASE_DIR) / "docs" / "openapi"


def written(document: Mapping[str, Any]) -> str:
    """The document as it is committed."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def serve(request: HttpRequest, name: str) -> HttpResponse:
    """The committed document, which a test holds equal to the code. Whole: a slow reader must not hold a thread."""
    return HttpResponse((FOLDER / f"{name}.json").read_bytes(), content_type="application/json")
