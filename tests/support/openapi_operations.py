"""The operations of the management API, told by its paths and its OpenAPI document: a new one is tested as it is."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client, RequestFactory
from drf_spectacular.generators import EndpointEnumerator

from accounts.models import Venue
from config import urls
from framework.api.openapi import schema as openapi_schema
from orders.models import Order
from reservations.models import Reservation
from tests.support import builders

# A record of each noun for the paths that name one.
MADE: Mapping[str, Callable[[Venue], Order | Reservation]] = {
    "orders": builders.order,
    "reservations": builders.reservation,
}
TABLES = {"orders": "orders_order", "reservations": "reservations_reservation"}
DOCUMENT: dict[str, Any] = json.loads(openapi_schema.serve_document(RequestFactory().get("/"), "management").content)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with its example of a body, None where it takes none."""

    name: str
    method: str
    template: str
    body: dict[str, Any] | None
    status: int
    parameters: tuple[str, ...]

    @property
    def noun(self) -> str:
        """Which records it is about."""
        return self.template.split("/")[3]

    def path(self, record_id: str) -> str:
        """Its path for this record."""
        return self.template.replace("{id}", record_id)

    def path_of(self, venue: Venue) -> str:
        """Its path, for a new record of the venue where it is about one."""
        return self.path(MADE[self.noun](venue).public_id) if "{id}" in self.template else self.template

    def raw(self) -> bytes:
        """Its example of a body, as it is sent."""
        return b"" if self.body is None else json.dumps(self.body).encode()

    def send(self, api: Client, path: str, body: Any = ..., **headers: str) -> Any:
        """Call it at this path, with the example as its body unless another is given."""
        raw = self.raw() if body is ... else body if isinstance(body, str | bytes) else json.dumps(body)
        content_type = headers.pop("content_type", "application/json" if raw else "")
        return api.generic(self.method, path, raw, content_type=content_type, headers=headers)


def documented(path: str, method: str) -> dict[str, Any]:
    """What the document says of it."""
    found: dict[str, Any] = DOCUMENT["paths"][path.rstrip("/")][method.lower()]
    return found


def found() -> Iterator[Operation]:
    """Each operation under the paths of the management API."""
    for path, _, method, _ in EndpointEnumerator(patterns=urls.management).get_api_endpoints():
        its = documented(path, method)
        content = its.get("requestBody", {}).get("content", {}).get("application/json", {})
        examples = [example["value"] for example in content.get("examples", {}).values()]
        yield Operation(
            name=its["operationId"],
            method=method,
            template=path.rstrip("/"),
            body=examples[0] if content else None,
            status=min(int(status) for status in its["responses"]),
            parameters=tuple(each["name"] for each in its.get("parameters", ()) if each["in"] == "query"),
        )


ALL = sorted(found(), key=lambda operation: operation.name)
WITH_BODY = [operation for operation in ALL if operation.body is not None]
OF_ONE_RECORD = [operation for operation in ALL if "{id}" in operation.template]
LISTS = [operation for operation in ALL if "page" in operation.parameters]
PATHS = {
    template: sorted(operation.method for operation in ALL if operation.template == template)
    for template in sorted({operation.template for operation in ALL})
}


# Fields of bodies
def shape(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with what it refers to in place."""
    if "allOf" in schema:
        return {**shape(schema["allOf"][0]), **{name: value for name, value in schema.items() if name != "allOf"}}
    if "$ref" in schema:
        return shape(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return schema


def fields(operation: Operation) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Each field of a body as a caller writes it (`items[0].quantity`), its schema, and whether it is required."""
    content = documented(operation.template, operation.method)["requestBody"]["content"]["application/json"]
    yield from inside(shape(content["schema"]), "")


def inside(schema: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """The fields of an object and of the objects in its arrays."""
    for name, described in schema["properties"].items():
        its = shape(described)
        yield prefix + name, its, name in schema["required"]
        if its.get("type") == "array":
            yield from inside(shape(its["items"]), f"{prefix}{name}[0].")


def changed(body: Mapping[str, Any], field: str, *value: Any) -> dict[str, Any]:
    """The body with this value in the field, or without the field."""
    result = copy.deepcopy(dict(body))
    *way, last = [int(step) if step.isdigit() else step for step in re.findall(r"[a-z_]+|[0-9]+", field)]
    place: Any = result
    for step in way:
        place = place[step]
    if value:
        place[last] = value[0]
    else:
        del place[last]
    return result


def types(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types of a field."""
    its = schema.get("type", "string")
    return {its} if isinstance(its, str) else set(its)
