"""JSON Schema 2020-12 of arguments and results, out of the OpenAPI document: one shape for both doors.

OpenAPI 3.1 speaks the same dialect. An argument is a parameter of the operation, or a property of its body, as a value
of JSON: what is written with commas in a query string is an array. Of a result no more is told than a caller needs to
read it: no patterns, and of large parts only that they are objects.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from rest_framework import serializers

from config.api.openapi import FOLDER
from config.api.parameters import Listed

Schema = dict[str, Any]
COMPONENTS = "#/components/schemas/"
# What a reader of results does without.
UNTOLD = ("description", "pattern", "format", "example", "examples", "title", "minimum", "maximum", "maxLength")
ALTERNATIVES = re.compile(r"\w+(\|\w+)*")


@cache
def document(name: str) -> Mapping[str, Any]:
    """The committed OpenAPI document of this name."""
    found: Mapping[str, Any] = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    return found


def operation(name: str, *, of: str = "data") -> Mapping[str, Any]:
    """An operation by its id. Raises KeyError."""
    for operations in document(of)["paths"].values():
        for told in operations.values():
            if isinstance(told, dict) and told.get("operationId") == name:
                return told
    raise KeyError(name)


def arguments(name: str) -> Mapping[str, Schema]:
    """What the operation can be told, by name: its parameters in path and query, and the properties of its body."""
    told = operation(name)
    parameters = [resolved(parameter) for parameter in told.get("parameters", ())]
    found = {one["name"]: one["schema"] for one in parameters if one["in"] in ("path", "query")}
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        found |= resolved(body)["properties"]
    return found


def resolved(schema: Schema) -> Schema:
    """A schema, or what it refers to."""
    if "$ref" not in schema:
        return schema
    _, kind, name = schema["$ref"].rsplit("/", 2)
    found: Schema = document("data")["components"][kind][name]
    return found


def typed(schema: Schema, field: serializers.Field[Any, Any, Any, Any] | None) -> Schema:
    """The schema of a parameter as a value of JSON."""
    if isinstance(field, Listed):
        return {"type": "array", "items": listed(field), "minItems": 1}
    if schema.get("enum") == ["true", "false"]:
        return {"type": "boolean"}
    kept = {word: value for word, value in resolved(schema).items() if word not in ("description", "example")}
    # What stands for whoever calls is no part of the shape.
    kept.pop("default", None)
    return kept


def listed(field: Listed) -> Schema:
    """The elements of what is written with commas between them."""
    if re.fullmatch(r"\[\d-\d\]", field.of):
        return {"type": "integer", "minimum": int(field.of[1]), "maximum": int(field.of[3])}
    if ALTERNATIVES.fullmatch(field.of):
        return {"type": "string", "enum": field.of.split("|")}
    return {"type": "string", "pattern": f"^({field.of})$"}


def result(component: str, *, opaque: Sequence[str] = (), only: Mapping[str, Sequence[str]] | None = None) -> Schema:
    """The schema of a component and of what it refers to, as one object.

    `opaque` are components of which is only told that they are objects; `only` are the members of some of them that a
    tool gives.
    """
    definitions: dict[str, Schema] = {}
    root = read(component, definitions, opaque=opaque, only=only or {})
    return {**root, **({"$defs": definitions} if definitions else {})}


def read(
    component: str, definitions: dict[str, Schema], *, opaque: Sequence[str], only: Mapping[str, Sequence[str]]
) -> Schema:
    """A component without what is not told; those that it refers to are added to the definitions."""
    whole = document("data")["components"]["schemas"][component]
    if component in only:
        kept = only[component]
        whole = {
            **whole,
            "properties": {name: whole["properties"][name] for name in kept},
            "required": [name for name in whole.get("required", ()) if name in kept],
        }

    def walk(schema: Any) -> Any:
        if isinstance(schema, list):
            return [walk(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(COMPONENTS)
            if name in opaque:
                return {"type": "object"}
            if name not in definitions:
                # Named before it is read: it may refer to itself.
                definitions[name] = {}
                definitions[name] = read(name, definitions, opaque=opaque, only=only)
            return {"$ref": f"#/$defs/{name}"}
        return dict(members(schema))

    def members(schema: Schema) -> Iterator[tuple[str, Any]]:
        for word, value in schema.items():
            if word == "properties":
                yield word, {name: walk(inner) for name, inner in value.items()}
            elif word == "oneOf":
                yield "anyOf", walk(value)
            elif word not in UNTOLD:
                yield word, walk(value)

    read_: Schema = walk(whole)
    return read_
