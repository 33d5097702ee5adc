"""The operations of the management API by its paths and its OpenAPI documents, so that a new one is tested at once."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.test import Client, RequestFactory
from django.utils import timezone
from drf_spectacular.generators import EndpointEnumerator

from accounts.models import Event, SandboxClock, Venue
from config import urls
from framework.api.openapi import schema as openapi_schema
from orders.models import Menu, MenuItem
from tests.support import builders

IN_A_MONTH = timezone.now().replace(hour=17, minute=30, second=0, microsecond=0) + timedelta(days=30)


def make_menu_item(venue: Venue) -> Any:
    """A dish, whose path has its `menu_item_id`."""
    menu = Menu.objects.filter(venue=venue).first() or builders.menu(venue)
    item: Any = MenuItem.objects.filter(menu=menu).earliest("id")
    item.public_id = item.ref
    return item


# A record of each noun for the paths that name one.
MADE: Mapping[str, Callable[[Venue], Any]] = {
    "menu": make_menu_item,
    "orders": builders.order,
    "reservations": lambda venue: builders.reservation(venue, starts_at=IN_A_MONTH),
    "holds": builders.hold,
    "webhooks": builders.webhook,
}
TABLES = {
    "availability": "reservations_serviceperiod",
    "events": "accounts_event",
    "holds": "reservations_hold",
    "menu": "orders_menu",
    "orders": "orders_order",
    "reservations": "reservations_reservation",
    "test": "accounts_sandboxclock",
    "webhooks": "accounts_webhookendpoint",
}
# The parameters without which an operation answers nothing.
QUERIES = {"get_availability": f"date={openapi_schema.example_day(timezone.now().date())}&party_size=4"}


def read_document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(openapi_schema.serve_document(RequestFactory().get("/"), name).content)
    return document


DOCUMENTS = {"v1": read_document("management"), "v2": read_document("management-v2")}
# It has all that version 1 has.
DOCUMENT = DOCUMENTS["v2"]


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
        """Its path for this record, and for the last event where it names one."""
        path = self.template.replace("{id}", record_id)
        if "{event_id}" in path:
            event = Event.objects.order_by("created_at", "id").last()
            path = path.replace("{event_id}", event.public_id if event else "evt_unknown")
        return path

    def prepare(self, venue: Venue) -> None:
        """Give the venue what the example needs."""
        if self.noun == "holds":
            builders.floor(venue)
        if self.noun == "test":
            venue.is_sandbox = True
            venue.save(update_fields=["is_sandbox"])
            # It goes only forwards.
            SandboxClock.objects.filter(venue=venue).delete()
        if self.noun == "menu" and not Menu.objects.filter(venue=venue).exists():
            builders.menu(venue)

    def path_of(self, venue: Venue) -> str:
        """Its path, for a new record of the venue where it is about one."""
        self.prepare(venue)
        return self.path(MADE[self.noun](venue).public_id) if "{id}" in self.template else self.template

    def raw(self) -> bytes:
        """Its example of a body, as it is sent."""
        return b"" if self.body is None else json.dumps(self.body).encode()

    def send(self, api: Client, path: str, body: Any = ..., **headers: str) -> Any:
        """Call it at this path, with the example as its body unless another is given."""
        raw = self.raw() if body is ... else body if isinstance(body, str | bytes) else json.dumps(body)
        content_type = headers.pop("content_type", "application/json" if raw else "")
        if self.name in QUERIES and "?" not in path:
            path = f"{path}?{QUERIES[self.name]}"
        return api.generic(self.method, path, raw, content_type=content_type, headers=headers)


def documented(path: str, method: str) -> dict[str, Any]:
    """What the document says of it."""
    found: dict[str, Any] = DOCUMENTS[path.split("/")[2]]["paths"][path.rstrip("/")][method.lower()]
    return found


def found() -> Iterator[Operation]:
    """Each operation of version 1, and those that only version 2 has."""
    first, second = (
        {(path, method) for path, _, method, _ in EndpointEnumerator(patterns=patterns).get_api_endpoints()}
        for patterns in (urls.management, urls.management_v2)
    )
    added = {(path, method) for path, method in second if (path.replace("/v2/", "/v1/"), method) not in first}
    for path, method in sorted(first | added):
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
        yield prefix + name, its, name in schema.get("required", ())
        if its.get("type") == "array" and "properties" in shape(its["items"]):
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
    is_nullable = any(choice.get("$ref", "").endswith("/NullEnum") for choice in schema.get("oneOf", ()))
    return ({its} if isinstance(its, str) else set(its)) | ({"null"} if is_nullable else set())
