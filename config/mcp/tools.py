"""A tool: what it is called, what it takes, what it gives, and the one function that is called."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from rest_framework import serializers

from config.api.errors import invalid
from config.api.fields import Shape
from config.api.refusal import Problem, unknown
from config.mcp import schemas
from config.mcp.answers import Result
from config.mcp.asking import Asker
from config.mcp.schemas import Schema

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: `told` are its arguments as they came, `meta` what came beside them, `now` its moment."""

    request: HttpRequest
    tool: str
    told: Mapping[str, Any]
    meta: Mapping[str, Any]
    asker: Asker
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool of the endpoint, beside the operation of the OpenAPI document that it shares its shapes with.

    `takes` are its arguments with what each means, in the words of the operation; those in `needs` are required and
    those in `presets` have a value when they are left out. `reads` is the serializer that reads them, as it does for
    the operation: of Parameters as texts, of a Shape as JSON. `beside` are arguments that the operation does not have,
    with their schemas; they are handed on as they came. `known_as` is what the operation calls an argument that has
    another name here. `gives` is the schema of its result; where it is `sold`, that
    may also be a price (x402).
    """

    name: str
    title: str
    description: str
    operation: str
    takes: Mapping[str, str]
    reads: type[serializers.Serializer[Any]] | None
    gives: Callable[[], Schema]
    run: Callable[[Call, Values], Result]
    needs: Sequence[str] = ()
    presets: Mapping[str, object] = field(default_factory=dict)
    beside: Mapping[str, Schema] = field(default_factory=dict)
    known_as: Mapping[str, str] = field(default_factory=dict)
    is_sold: bool = False
    is_read_only: bool = True
    is_idempotent: bool = True
    is_destructive: bool = False

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields that read its arguments, by name."""
        return dict(self.reads().fields) if self.reads else {}

    @cached_property
    def arguments(self) -> Mapping[str, Schema]:
        """The schemas of its arguments, by name."""
        known = schemas.arguments(self.operation)
        fields = self.fields
        found = {name: dict(schema) for name, schema in self.beside.items()}
        for name in self.takes:
            theirs = self.known_as.get(name, name)
            if name not in found:
                found[name] = schemas.typed(known[theirs], fields.get(theirs))
        for name, words in self.takes.items():
            found[name] = {**found[name], "description": words}
            if name in self.presets:
                found[name]["default"] = self.presets[name]
        return {name: found[name] for name in self.takes}

    @cached_property
    def input_schema(self) -> Schema:
        """The schema of all its arguments."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            **({"required": list(self.needs)} if self.needs else {}),
            "additionalProperties": False,
        }

    @cached_property
    def output_schema(self) -> Schema:
        """The schema of its structured content; of one that is sold also what is told to who has not paid."""
        given = self.gives()
        if not self.is_sold:
            return given
        definitions = given.pop("$defs", None)
        told: Schema = {"type": "object", "anyOf": [given, PRICE]}
        return told | ({"$defs": definitions} if definitions else {})

    @cached_property
    def definition(self) -> Schema:
        """How it is listed."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.is_read_only,
                **({} if self.is_read_only else {"destructiveHint": self.is_destructive}),
                "idempotentHint": self.is_idempotent,
                "openWorldHint": False,
            },
        }

    def read(self, told: Mapping[str, Any]) -> Values:
        """The arguments, read and judged; those in `beside`, and of the path, as they came.

        Raises InvalidRequest and ValidationError.
        """
        known = self.arguments
        wrong = [unknown("argument", name[:80], list(known)) for name in told if name not in known]
        wrong += [Problem(name, f"`{name}` is required.") for name in self.needs if name not in told]
        given = {**self.presets, **told}
        values: Values = {}
        asked: Values = {}
        fields = self.fields
        takes_json = self.reads is not None and issubclass(self.reads, Shape)
        for name, schema in known.items():
            if name not in given:
                continue
            value, theirs = given[name], self.known_as.get(name, name)
            if takes_json and theirs in fields:
                asked[theirs] = value
            elif problem := mistyped(value, schema) or ("" if theirs in fields else unfit(value, schema)):
                wrong.append(Problem(name, f"`{name}` {problem}"))
            elif theirs in fields:
                asked[theirs] = as_text(value)
            else:
                values[name] = value
        if wrong:
            raise invalid(wrong)
        if self.reads is None:
            return values
        form = self.reads(data=asked)
        if not form.is_valid():
            ours = {theirs: name for name, theirs in self.known_as.items()}
            raise serializers.ValidationError({ours.get(name, name): told for name, told in form.errors.items()})
        return {**values, **form.validated_data}


# PaymentRequired of x402 version 2, as far as a reader has to tell it from a result.
PRICE: Schema = {
    "type": "object",
    "properties": {
        "x402Version": {"type": "integer"},
        "error": {"type": "string"},
        "resource": {"type": "object"},
        "accepts": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["x402Version", "accepts"],
}
WORDS: Mapping[str, str] = {
    "string": "must be a string.",
    "integer": "must be a whole number.",
    "number": "must be a number.",
    "boolean": "must be true or false.",
    "array": "must be an array.",
}


def is_a(kind: str, value: object) -> bool:
    """Whether a value of JSON is of this type."""
    match value:
        case bool():
            return kind == "boolean"
        case int():
            return kind in ("integer", "number")
        case float():
            return kind == "number"
        case str():
            return kind == "string"
        case list():
            return kind == "array"
    return False


def mistyped(value: Any, schema: Schema) -> str | None:
    """What is wrong with the type of a value, None where it fits."""
    kind = schema.get("type", "string")
    if not is_a(kind, value):
        return WORDS[kind]
    if value in ("", []):
        return "is empty; leave it out or give it a value."
    for element in value if kind == "array" else ():
        if problem := mistyped(element, schema["items"]):
            return f"must hold elements each of which {problem}"
        if isinstance(element, str) and "," in element:
            return "must not hold commas: give each value as an element of its own."
    return None


def unfit(value: Any, schema: Schema) -> str | None:
    """What is wrong with a value of the right type that no field reads, None where it fits."""
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of: {', '.join(map(str, schema['enum']))}."
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if (lowest is not None and value < lowest) or (highest is not None and value > highest):
        return f"must be from {lowest} to {highest}."
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", len(value)):
            return f"must be at most {schema['maxLength']} characters long."
        if not re.search(schema.get("pattern", ""), value):
            return f"must match {schema['pattern']}."
    return None


def as_text(value: Any) -> str:
    """A value as it is written in a query string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    if isinstance(value, float):
        return f"{Decimal(str(value)):f}"
    return str(value)
