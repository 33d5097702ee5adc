"""JSON Schema 2020-12 of arguments and results, out of the OpenAPI document: one shape for both doors.

OpenAPI 3.1 speaks the same dialect. An argument is a parameter of the operation, or a property of its body, as a value
of JSON: what is written with commas in a query string is an array. Of a result no more is told than a caller needs to
read it: names, types and words; what is required is told of the outermost object alone.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from rest_framework import serializers

from framework.api.fields import CLEAN_LINE
from framework.api.openapi.field_extensions import not_blank
from framework.api.openapi.schema import FOLDER
from framework.api.query_params.declarations import ListParam

Schema = dict[str, Any]
COMPONENTS = "#/components/schemas/"
NULL: Schema = {"type": "null"}
# A line of text that is not blank, said in fewer letters.
SHORTER = {not_blank(CLEAN_LINE): r"^(?!\s*$)[^\x00-\x1f\x7f]+$"}
# What a caller of arguments goes by, and what a reader of results does.
OF_ARGUMENTS = ("type", "enum", "format", "minimum", "maximum", "maxLength", "pattern", "default")
OF_RESULTS = ("type", "const")
ALTERNATIVES = re.compile(r"\w+(\|\w+)*")
DIGITS = re.compile(r"\[(\d)-(\d)\]")
# Elements of a list that are no words of ours: so many, each so long that all of them are read.
MOST_ELEMENTS = 10


@cache
def document(name: str) -> Mapping[str, Any]:
    """The committed OpenAPI document of this name."""
    found: Mapping[str, Any] = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    return found


def operation(name: str) -> Mapping[str, Any]:
    """An operation of the data API by its id. Raises KeyError."""
    for operations in document("data")["paths"].values():
        for told in operations.values():
            if isinstance(told, dict) and told.get("operationId") == name:
                return told
    raise KeyError(name)


def arguments(name: str) -> Mapping[str, Schema]:
    """What the operation can be told, by name: its parameters in path and query, and the properties of its body.

    A property of an object in the body is named with a dot: `filter.market`.
    """
    told = operation(name)
    parameters = [resolved(parameter) for parameter in told.get("parameters", ())]
    found = {one["name"]: one["schema"] for one in parameters if one["in"] in ("path", "query")}
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    for name, schema in resolved(body)["properties"].items() if body else ():
        # What is in an object of the body is an argument of its own.
        inner = resolved(schema).get("properties", {})
        found |= {name: schema, **{f"{name}.{each}": told for each, told in inner.items()}}
    return found


def resolved(schema: Schema) -> Schema:
    """A schema, or what it refers to; of what may also be null, what else it is."""
    choices = [choice for word in ("allOf", "anyOf", "oneOf") for choice in schema.get(word, ()) if choice != NULL]
    if len(choices) == 1:
        return resolved(choices[0])
    if "$ref" not in schema:
        return schema
    _, kind, name = schema["$ref"].rsplit("/", 2)
    found: Schema = document("data")["components"][kind][name]
    return found


def argument(schema: Schema, field: serializers.Field[Any, Any, Any, Any] | None) -> Schema:
    """The schema of a parameter as a value of JSON, or of a property of a body. Null is to leave it out."""
    if isinstance(field, ListParam):
        return {"type": "array", "minItems": 1, **elements(field)}
    if schema.get("enum") == ["true", "false"]:
        return {"type": "boolean"}
    told = resolved(schema)
    kept = {word: told[word] for word in OF_ARGUMENTS if word in told}
    if isinstance(kept.get("type"), list):
        kept["type"] = next(kind for kind in kept["type"] if kind != "null")
    if "format" in kept:
        # Says the same in a word.
        kept.pop("pattern", None)
    elif "pattern" in kept:
        kept["pattern"] = SHORTER.get(kept["pattern"]) or kept["pattern"].replace("[0-9]", r"\d")
    return kept


def elements(field: ListParam) -> Schema:
    """What is written with commas between them, as elements of an array."""
    if digits := DIGITS.fullmatch(field.of):
        return {"items": {"type": "integer", "minimum": int(digits[1]), "maximum": int(digits[2])}}
    if ALTERNATIVES.fullmatch(field.of):
        return {"items": {"type": "string", "enum": field.of.split("|")}}
    item: Schema = {"type": "string", "pattern": f"^{field.of}$"}
    if field.max_length:
        item["maxLength"] = (field.max_length + 1) // MOST_ELEMENTS - 1
    return {"items": item, "maxItems": MOST_ELEMENTS}


def result(component: str, *, opaque: Sequence[str] = (), only: Mapping[str, Sequence[str]] | None = None) -> Schema:
    """The schema of a component and of all that it refers to, as one object.

    `opaque` are components of which is only told that they are objects; `only` are the members of some of them that
    are told, or that a tool gives.
    """
    kept = only or {}
    whole = document("data")["components"]["schemas"][component]
    names = kept.get(component, list(whole["properties"]))
    required = [name for name in names if name in whole.get("required", ())]
    return {**told({"$ref": COMPONENTS + component}, opaque, kept), "required": required}


def told(schema: Schema, opaque: Sequence[str], only: Mapping[str, Sequence[str]]) -> Schema:
    """What a reader of results goes by."""
    component = schema.get("$ref", "").removeprefix(COMPONENTS)
    if component in opaque:
        return {"type": "object"}
    if component:
        schema = document("data")["components"]["schemas"][component]
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema:
            return either([told(choice, opaque, only) for choice in schema[word]])
    kept = {word: schema[word] for word in OF_RESULTS if word in schema}
    if "properties" in schema:
        members = schema["properties"]
        if names := only.get(component, members):
            kept["properties"] = {name: told(members[name], opaque, only) for name in names}
    if "items" in schema:
        kept["items"] = told(schema["items"], opaque, only)
    if schema.get("additionalProperties"):
        kept["additionalProperties"] = told(schema["additionalProperties"], opaque, only)
    return kept


def either(choices: Sequence[Schema]) -> Schema:
    """One of these; null beside another is one more type of it, as the OpenAPI document has it."""
    solid = [choice for choice in choices if choice != NULL]
    if len(solid) != 1:
        return {"anyOf": list(choices)}
    kept = dict(solid[0])
    if len(choices) > 1:
        kept["type"] = [kept["type"], "null"]
    return kept
