"""The reference of the APIs as pages: an overview of each API, and a page for each tag of its OpenAPI document."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from catalogue.agent_discovery import x402_manifest
from config.website import docs
from config.website.reference_schemas import Row, Schemas, name_of
from framework.api.openapi import schema
from framework.api.urls import public_url
from payments.interface import TIERS
from payments.tiers.definitions import FREE

TITLES = {"management": "Management API", "management-v2": "Management API, version 2", "data": "Data API"}
# Of tags whose name says too little.
GROUP_TITLES = {
    "auth": "Sign in with a wallet",
    "context": "Surroundings",
    "flow": "Offers",
    "insight": "Insights",
    "match": "Matching",
    "me": "Your wallets and limits",
    "webhook-events": "Webhook events",
}
# The operation that the overview of an API shows.
EXAMPLES = {"management": "create_order", "management-v2": "create_order", "data": "search_restaurants"}
WEBHOOKS = "webhooks"
# The group of what our webhooks send, which are described like operations of the receiver.
WEBHOOK_EVENTS = "webhook-events"
JSON = "application/json"
# In USDC by product and rate.
Prices = Mapping[str, Mapping[str, Decimal]]
# The statuses that any operation may have; the overview explains them.
COMMON_STATUSES = ("429", "500", "503")


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one tag: its name in the URL, its title, and `(method, path, operation)` of each."""

    api: str
    name: str
    title: str
    operations: list[tuple[str, str, Mapping[str, Any]]]

    @property
    def url(self) -> str:
        return f"/docs/api/{self.api}/{self.name}"

    @property
    def summaries(self) -> str:
        return "; ".join(operation["summary"].rstrip(".") for _, _, operation in self.operations)


@dataclass(frozen=True, slots=True)
class Api:
    """An API as its document describes it."""

    name: str
    document: Mapping[str, Any]
    groups: Mapping[str, Group]
    # The HTML of the groups that were requested, with the prices in it.
    rendered: dict[str, tuple[Prices, SafeString]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @property
    def url(self) -> str:
        return f"/docs/api/{self.name}"


def load(name: str) -> Api:
    """The API of this name."""
    return parse(name, schema.read_document(name))


# One for each API; a new one on the next day.
@lru_cache(maxsize=3)
def parse(name: str, content: bytes) -> Api:
    document = json.loads(content)
    groups: dict[str, Group] = {}
    for section in ("paths", WEBHOOKS):
        for path, operations in document.get(section, {}).items():
            for method, operation in operations.items():
                tag = operation["tags"][0]
                title = GROUP_TITLES.get(tag, tag.capitalize())
                group = groups.setdefault(tag, Group(name, tag, title, []))
                group.operations.append((method.upper(), path, operation))
    # The group of the example is what most readers come for.
    first = next(
        tag
        for tag, group in groups.items()
        if any(operation["operationId"] == EXAMPLES[name] for _method, _path, operation in group.operations)
    )
    return Api(name, document, {first: groups[first]} | groups)


@docs.read_only
def overview(request: HttpRequest, name: str) -> HttpResponse:
    api = load(name)
    document = api.document
    schemas = Schemas(document)
    tables = [schemas.table(each) for each in ("Failure", "Problem")]
    prices = current_prices(api) or {}
    example_group, example = next(
        (group, operation)
        for group in api.groups.values()
        for operation in group.operations
        if operation[2]["operationId"] == EXAMPLES[name]
    )
    context = {
        "api": api,
        "groups": docs.groups(),
        "sections": [
            (group, [(*operation, format_price(operation[2], prices)) for operation in group.operations])
            for group in api.groups.values()
        ],
        "example": describe(api, schemas, {}, prices, *example),
        "example_url": f"{example_group.url}#{EXAMPLES[name]}",
        "base": public_url(""),
        "description": docs.inline_markdown(document["info"]["description"]),
        "security": document["components"]["securitySchemes"],
        "headers": header_rows({name: document["components"]["headers"][name] for name in schema.RATE_HEADERS}, api),
        "tables": tables,
    }
    return render(request, "docs/reference_overview.html", context)


@docs.read_only
def group_page(request: HttpRequest, name: str, group: str) -> HttpResponse:
    api = load(name)
    if group not in api.groups:
        raise Http404
    context = {"api": api, "group": api.groups[group], "groups": docs.groups(), "content": render_group(api, group)}
    return render(request, "docs/reference_group.html", context)


@docs.read_only
def explorer(request: HttpRequest, name: str) -> HttpResponse:
    """Swagger UI, in which requests are sent."""
    return render(request, "docs/explorer.html", {"name": name, "title": TITLES[name]})


def current_prices(api: Api, group: str | None = None) -> Prices | None:
    """The prices if the API, or one of its groups, sells anything."""
    groups = [api.groups[group]] if group else api.groups.values()
    if any("x-products" in operation for found in groups for _, _, operation in found.operations):
        return x402_manifest.cached_prices.get_or_stale(max_age_s=x402_manifest.MAX_AGE_S)
    return None


def render_group(api: Api, name: str) -> SafeString:
    """The operations of a group as HTML, rendered once for each version of the document and of the prices."""
    prices = current_prices(api, name) or {}
    if name not in api.rendered or api.rendered[name][0] != prices:
        schemas, group = Schemas(api.document), api.groups[name]
        shared = shared_responses(group)
        operations = [describe(api, schemas, shared, prices, *operation) for operation in group.operations]
        used = [body.schema for operation in operations for body in operation["bodies"]]
        tables = [schemas.table(schema) for schema in schemas.reachable(used)]
        context = {"operations": operations, "tables": tables, "is_webhooks": name == WEBHOOK_EVENTS}
        api.rendered[name] = prices, render_to_string("docs/reference_operations.html", context)
    return api.rendered[name][1]


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request or of an answer: its status, its type with a link, or the rows of its fields."""

    status: str
    description: SafeString
    media_type: str
    type: SafeString
    rows: list[Row]
    headers: list[Row]
    examples: list[tuple[str, str, SafeString]]
    # What the tables of objects below must explain.
    schema: Mapping[str, Any]

    @property
    def header_label(self) -> str:
        return f"Headers of {self.status}"


def shared_responses(group: Group) -> Mapping[str, int]:
    """How many responses of the group are of each named schema."""
    return Counter(
        name_of(content["schema"])
        for _, _, operation in group.operations
        for status, response in operation["responses"].items()
        for content in response.get("content", {}).values()
        if status.startswith("2")
    )


def describe(
    api: Api,
    schemas: Schemas,
    shared: Mapping[str, int],
    prices: Prices,
    method: str,
    path: str,
    operation: Mapping[str, Any],
) -> dict[str, Any]:
    """What the page shows of an operation."""
    name = operation["operationId"]
    parameters = [resolve(api, parameter) for parameter in operation.get("parameters", ())]
    request = operation.get("requestBody")
    responses = operation["responses"]
    body = describe_body(api, schemas, {}, f"{name}-request", "", request) if request else None
    answers = [
        describe_body(api, schemas, shared, f"{name}-{status}", status, response)
        for status, response in responses.items()
        if not status.startswith(("4", "5")) or status == "402" or path in api.document.get(WEBHOOKS, {})
    ]
    return {
        "id": name,
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "description": docs.markdown(operation.get("description", "")),
        "needs": describe_needs(operation.get("security", [])),
        "prices": describe_prices(operation.get("x-products", ()), prices),
        "price": format_price(operation, prices),
        "parameters": [
            (title, rows)
            for place, title in (("path", "Path"), ("query", "Query"), ("header", "Headers"))
            if (rows := [parameter_row(schemas, one) for one in parameters if one["in"] == place])
        ],
        "body": body,
        "answers": answers,
        "errors": [
            (status, docs.inline_markdown(response["description"]))
            for status, response in responses.items()
            if status.startswith(("4", "5")) and status not in (*COMMON_STATUSES, "402")
        ],
        "samples": [
            (sample["label"], f"{name}-{sample['lang'].lower()}", docs.highlight(sample["source"], sample["lang"]))
            for sample in operation.get("x-codeSamples", ())
        ],
        "bodies": [body, *answers] if body else answers,
    }


def describe_body(
    api: Api, schemas: Schemas, shared: Mapping[str, int], anchor: str, status: str, described: Mapping[str, Any]
) -> Body:
    """A body with the rows of its fields, or with a link if several operations answer with its schema."""
    contents = described.get("content", {})
    media_type = JSON if JSON in contents else next(iter(contents), "")
    content = contents.get(media_type, {})
    found: Mapping[str, Any] = content.get("schema", {})
    own = {
        name: header
        for name, header in described.get("headers", {}).items()
        if name not in schema.RATE_HEADERS and name not in ("Retry-After", "WWW-Authenticate")
    }
    name = name_of(found)
    if name in schemas.named and shared.get(name, 0) < 2 and "properties" in schemas.named[name]:
        found = schemas.named[name]
    rows = schemas.rows(found)
    return Body(
        status=status,
        description=docs.inline_markdown(described.get("description", "") or found.get("description", "")),
        media_type="" if media_type == JSON else media_type,
        type=mark_safe("") if rows or not found else schemas.type_of(found),
        rows=rows,
        headers=header_rows(own, api),
        examples=[
            (example.get("summary", name), f"{anchor}-{number}", docs.highlight(to_json(example["value"]), "json"))
            for number, (name, example) in enumerate(content.get("examples", {}).items(), start=1)
            if "value" in example
        ],
        schema=found,
    )


def describe_needs(security: list[Mapping[str, list[str]]]) -> SafeString:
    """The credentials that an operation needs, as its `security` says."""
    scopes = [scope for scheme in security for scopes in scheme.values() for scope in scopes]
    if scopes:
        text = f"An [API key](/docs/keys) with the scope {' or '.join(f'`{scope}`' for scope in scopes)}."
    elif {} in security:
        text = "Nothing. A [wallet session, a signed challenge or an API key](/docs/tiers) raises the limits."
    elif security:
        text = "A [wallet session, a signed challenge or an API key](/docs/tiers)."
    else:
        text = "Nothing."
    return docs.inline_markdown(text)


def describe_prices(products: Sequence[str], prices: Prices) -> dict[str, Any]:
    """The products that an operation sells, with their prices by rate; empty if it is free."""
    rates = [tier.rate for tier in TIERS.values()]
    rows = [
        (product, [x402_manifest.amount(prices.get(product, {}).get(rate)) for rate in rates]) for product in products
    ]
    return {"rates": rates, "products": rows, "are_known": bool(prices)} if rows else {}


def format_price(operation: Mapping[str, Any], prices: Prices) -> str:
    """The standard price of an operation, or the lowest and the highest one of its products; empty if it is free."""
    found = [
        price
        for product in operation.get("x-products", ())
        if (price := prices.get(product, {}).get(FREE.rate)) is not None
    ]
    if not found:
        return ""
    low, high = x402_manifest.amount(min(found)), x402_manifest.amount(max(found))
    return f"{low} USDC" if low == high else f"{low} to {high} USDC"


def resolve(api: Api, described: Mapping[str, Any]) -> Mapping[str, Any]:
    """A parameter or a header in place of a reference to it."""
    if "$ref" not in described:
        return described
    _, _, section, name = described["$ref"].split("/")
    found: Mapping[str, Any] = api.document["components"][section][name]
    return found


def parameter_row(schemas: Schemas, parameter: Mapping[str, Any]) -> Row:
    return schemas.row(
        parameter["name"],
        parameter["schema"],
        is_required=parameter.get("required", False),
        description=parameter.get("description", ""),
    )


def header_rows(headers: Mapping[str, Any], api: Api) -> list[Row]:
    schemas = Schemas(api.document)
    resolved = {name: resolve(api, header) for name, header in headers.items()}
    return [parameter_row(schemas, {"name": name, **header}) for name, header in resolved.items()]


def to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def search_pages() -> Iterator[tuple[docs.Guide, list[tuple[str, str, str]]]]:
    """Each page of the reference as a guide, with `(heading, anchor, text)` of its operations, for the search.

    Of version 2 of the management API only what version 1 does not have.
    """
    known: set[str] = set()
    for name in ("management", "data", "management-v2"):
        api = load(name)
        for group in api.groups.values():
            guide = docs.Guide(
                f"api/{name}/{group.name}",
                f"{api.title}: {group.title}",
                group.summaries,
                schema.FOLDER / f"{name}.json",
            )
            sections = [
                (operation["summary"], operation["operationId"], operation_text(api, method, path, operation))
                for method, path, operation in group.operations
                if not (name == "management-v2" and operation["operationId"] in known)
            ]
            known |= {anchor for _, anchor, _ in sections}
            if sections:
                yield guide, sections


def operation_text(api: Api, method: str, path: str, operation: Mapping[str, Any]) -> str:
    """The words of an operation for the search: its description, its parameters and the fields of its bodies."""
    schemas = Schemas(api.document)
    parameters = [resolve(api, parameter) for parameter in operation.get("parameters", ())]
    bodies = [
        operation.get("requestBody", {}),
        *(body for status, body in operation["responses"].items() if status < "3"),
    ]
    found = [content["schema"] for body in bodies for content in body.get("content", {}).values()]
    rows = [row for part in found for row in schemas.rows(schemas.named.get(name_of(part), part))]
    words = [
        f"{method} {path}.",
        operation.get("description", ""),
        *(f"{parameter['name']}: {parameter.get('description', '')}" for parameter in parameters),
        *(f"{row.name}: {row.description}" for row in rows),
    ]
    return docs.plain_text(" ".join(words))
