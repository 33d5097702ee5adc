"""JSON Schema 2020-12 of arguments and results, from the OpenAPI document: REST and MCP share their shapes.

OpenAPI 3.1 uses the same dialect. An argument is a parameter of the operation, or a property of its body, as a JSON
value: a comma-separated list of a query string is an array. A result schema has every member of the result, with
types and constants; only the outermost object says what is required.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from rest_framework import serializers

from framework.api.openapi.schema import FOLDER
from framework.api.query_params.declarations import ListParam

Schema = dict[str, Any]
COMPONENTS = "#/components/schemas/"
NULL: Schema = {"type": "null"}
ARGUMENT_KEYWORDS = ("type", "enum", "format", "minimum", "maximum", "maxLength", "pattern", "default")
# What every strict decoder takes (tests/mcp/test_decoders.py). Bounds, formats and defaults, which some refuse, are in
# the descriptions in fewer tokens; the server checks them.
LISTED_KEYWORDS = ("type", "enum", "items", "description")
RESULT_KEYWORDS = ("type", "const")
ALTERNATIVES = re.compile(r"\w+(\|\w+)*")
DIGITS = re.compile(r"\[(\d)-(\d)\]")
# Of a list of free texts: all elements together fit into the query parameter.
MAX_ITEMS = 10


@cache
def load_openapi(name: str) -> Mapping[str, Any]:
    """Load the committed OpenAPI document of this name, once."""
    document: Mapping[str, Any] = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    return document


def argument_schemas(operation_id: str) -> Mapping[str, Schema]:
    """The parameters in path and query and the properties of the body of an operation, by name. Raises KeyError.

    A property of an object in the body has a dotted name: `filter.market`.
    """
    operations = (
        operation
        for path in load_openapi("data")["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and operation.get("operationId") == operation_id
    )
    operation = next(operations, None)
    if operation is None:
        raise KeyError(operation_id)
    parameters = [resolve(parameter) for parameter in operation.get("parameters", ())]
    found = {each["name"]: each["schema"] for each in parameters if each["in"] in ("path", "query")}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    for name, schema in resolve(body)["properties"].items() if body else ():
        members = resolve(schema).get("properties", {})
        found |= {name: schema, **{f"{name}.{member}": value for member, value in members.items()}}
    return found


def resolve(schema: Schema) -> Schema:
    """Follow a reference, or the only alternative beside null."""
    choices = [choice for word in ("allOf", "anyOf", "oneOf") for choice in schema.get(word, ()) if choice != NULL]
    if len(choices) == 1:
        return resolve(choices[0])
    if "$ref" not in schema:
        return schema
    _, kind, name = schema["$ref"].rsplit("/", 2)
    component: Schema = load_openapi("data")["components"][kind][name]
    return component


def argument_schema(schema: Schema, field: serializers.Field[Any, Any, Any, Any] | None) -> Schema:
    """The schema of a parameter or property as an argument. Null is not a type: it means that it is left out."""
    if isinstance(field, ListParam):
        return {"type": "array", "minItems": 1, **item_schema(field)}
    if schema.get("enum") == ["true", "false"]:
        return {"type": "boolean"}
    resolved = resolve(schema)
    result = {word: resolved[word] for word in ARGUMENT_KEYWORDS if word in resolved}
    if isinstance(result.get("type"), list):
        result["type"] = next(kind for kind in result["type"] if kind != "null")
    if "format" in result:
        # Means the same as the pattern.
        result.pop("pattern", None)
    return result


def listed_schema(schema: Schema, *, has_enum: bool = True) -> Schema:
    """The schema of an argument as it is listed: LISTED_KEYWORDS only, without its enum if not `has_enum`."""
    words = [word for word in LISTED_KEYWORDS if word in schema and (has_enum or word != "enum")]
    shown = {word: schema[word] for word in words}
    return {**shown, "items": listed_schema(shown["items"], has_enum=has_enum)} if "items" in shown else shown


def item_schema(field: ListParam) -> Schema:
    """The schema of the elements of a comma-separated list."""
    if digits := DIGITS.fullmatch(field.of):
        return {"items": {"type": "integer", "minimum": int(digits[1]), "maximum": int(digits[2])}}
    if ALTERNATIVES.fullmatch(field.of):
        return {"items": {"type": "string", "enum": field.of.split("|")}}
    item: Schema = {"type": "string", "pattern": f"^{field.of}$"}
    if field.max_length:
        item["maxLength"] = (field.max_length + 1) // MAX_ITEMS - 1
    return {"items": item, "maxItems": MAX_ITEMS}


def result_schema(
    component: str, *, opaque: Sequence[str] = (), only: Mapping[str, Sequence[str]] | None = None
) -> Schema:
    """The schema of a component with all that it refers to, as one object.

    Components in `opaque` are described as objects only; `only` limits the members of components.
    """
    members = only or {}
    schema = load_openapi("data")["components"]["schemas"][component]
    names = members.get(component, list(schema["properties"]))
    required = [name for name in names if name in schema.get("required", ())]
    return {**_inline({"$ref": COMPONENTS + component}, opaque, members), "required": required}


def _inline(schema: Schema, opaque: Sequence[str], only: Mapping[str, Sequence[str]]) -> Schema:
    """Replace references, and keep the keywords of results."""
    component = schema.get("$ref", "").removeprefix(COMPONENTS)
    if component in opaque:
        return {"type": "object"}
    if component:
        schema = load_openapi("data")["components"]["schemas"][component]
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema:
            return any_of([_inline(choice, opaque, only) for choice in schema[word]])
    result = {word: schema[word] for word in RESULT_KEYWORDS if word in schema}
    if "properties" in schema:
        members = schema["properties"]
        if names := only.get(component, members):
            result["properties"] = {name: _inline(members[name], opaque, only) for name in names}
    if "items" in schema:
        result["items"] = _inline(schema["items"], opaque, only)
    if schema.get("additionalProperties"):
        result["additionalProperties"] = _inline(schema["additionalProperties"], opaque, only)
    return result


def any_of(choices: Sequence[Schema]) -> Schema:
    """One of these schemas; null beside a single one becomes one of its types, as in the OpenAPI document."""
    others = [choice for choice in choices if choice != NULL]
    if len(others) != 1:
        return {"anyOf": list(choices)}
    result = dict(others[0])
    if len(choices) > 1:
        result["type"] = [result["type"], "null"]
    return result
