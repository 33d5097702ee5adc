"""A tool: what it is called, what it takes, what it gives, and the one function that is called."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework import serializers

from framework.api.error_handler import flatten_detail, message_with_param
from framework.api.fields import MAX_UNKNOWN_KEYS, StrictSerializer
from framework.errors import InvalidRequest, Problem, unknown_name
from framework.mcp import schemas
from framework.mcp.elicitation import Asker
from framework.mcp.responses import Result
from framework.mcp.schemas import Schema

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: `told` are its plain arguments, `meta` what came beside them, `now` its moment."""

    request: HttpRequest
    tool: str
    told: Mapping[str, Any]
    meta: Mapping[str, Any]
    asker: Asker
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool of the endpoint, beside the operation of the OpenAPI document that it shares its shapes with.

    `takes` are its arguments with what each means and how it is written, which is also what a caller is told who got
    it wrong; those in `needs` are required, and those in `presets` have a value when they are left out. `known_as` is
    what the operation calls an argument that has another name here; `beside` are the schemas of arguments that it does
    not have. `reads` is the serializer that reads them as it does for the operation: of Parameters as texts, of a
    Shape as JSON; what it does not know is handed on as it came. `gives` is the schema of its result, and `or_gives`
    of what it may give instead, which is no result yet.
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
    or_gives: Schema | None = None
    is_read_only: bool = True
    is_idempotent: bool = True
    is_destructive: bool = False

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields that read its arguments, by their names there."""
        return dict(self.reads().fields) if self.reads else {}

    @cached_property
    def arguments(self) -> Mapping[str, Schema]:
        """The schemas of its arguments, by name: each as the operation documents it, in the words of the tool."""
        known = schemas.arguments(self.operation)
        found: dict[str, Schema] = {}
        for name, words in self.takes.items():
            theirs = self.theirs(name)
            shape = self.beside.get(name) or schemas.argument(known[theirs], self.fields.get(theirs))
            preset = {"default": self.presets[name]} if name in self.presets else {}
            found[name] = {**shape, **preset, "description": words}
        return found

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
        """The schema of its structured content, whichever it is."""
        given = self.gives()
        if self.or_gives is None:
            return given
        return {"type": "object", "anyOf": [{word: given[word] for word in given if word != "type"}, self.or_gives]}

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
                "readOnlyHint": self.is_read_only,
                **({} if self.is_read_only else {"destructiveHint": self.is_destructive}),
                "idempotentHint": self.is_idempotent,
                "openWorldHint": False,
            },
        }

    def read(self, told: Mapping[str, Any]) -> Values:
        """The arguments, read and judged; `told` are plain. Raises InvalidRequest with all that is wrong with them."""
        known = self.arguments
        strangers = islice((name for name in told if name not in known), MAX_UNKNOWN_KEYS)
        wrong = [unknown_name("argument", name[:80], list(known)) for name in strangers]
        wrong += [Problem(name, "This is required.") for name in self.needs if name not in told]
        given: Values = {}
        for name, value in {**self.presets, **told}.items():
            if problem := self.misfit(name, value):
                wrong.append(Problem(name, problem))
            elif name in known:
                given[name] = value
        values = self.validated(given, wrong)
        if wrong:
            raise InvalidRequest(" ".join(map(message_with_param, wrong)), param=wrong[0].param, details=wrong)
        return values

    def misfit(self, name: str, value: Any) -> str | None:
        """What is wrong with a value by the schema that is published. A Shape judges JSON itself."""
        is_judged = name not in self.arguments or (self.takes_json and self.theirs(name) in self.fields)
        if is_judged:
            return None
        if name in self.needs and is_blank(value):
            return "This is empty, and required."
        return misfit(value, self.arguments[name])

    def theirs(self, name: str) -> str:
        """What the operation calls an argument."""
        return self.known_as.get(name, name)

    @property
    def takes_json(self) -> bool:
        """Whether its arguments are read as JSON, and not as texts."""
        return self.reads is not None and issubclass(self.reads, StrictSerializer)

    def validated(self, given: Values, wrong: list[Problem]) -> Values:
        """What the fields read; other arguments as they came. Adds to `wrong` what the fields find."""
        if self.reads is None:
            return given
        asked = {self.theirs(name): value for name, value in given.items() if self.theirs(name) in self.fields}
        rest = {name: value for name, value in given.items() if self.theirs(name) not in self.fields}
        form = self.reads(data=asked if self.takes_json else {name: as_text(value) for name, value in asked.items()})
        try:
            form.is_valid()
        except InvalidRequest as refusal:
            if not wrong:
                raise
            wrong += refusal.details
            return rest
        ours = {theirs: name for name, theirs in self.known_as.items()}
        told = {problem.param for problem in wrong}
        found = [Problem(ours.get(str(each.param), each.param), each.message) for each in flatten_detail(form.errors)]
        wrong += [problem for problem in found if problem.param not in told]
        return rest if form.errors else {**rest, **form.validated_data}


# JSON counts so far without loss.
WHOLE_TO = 2**53
NUMBER = re.compile(r"[0-9]{1,9}")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def plain(told: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they are meant: null leaves one out, and 10.0 is the whole number that JSON Schema takes it for."""
    return {
        name: [whole(element) for element in value] if isinstance(value, list) else whole(value)
        for name, value in told.items()
        if value is not None
    }


def whole(value: Any) -> Any:
    """A number without its empty fraction; all else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= WHOLE_TO else value


def misfit(value: Any, schema: Schema) -> str | None:
    """What is wrong with a plain value of JSON by this schema, None where it fits."""
    match schema.get("type"):
        case "boolean":
            return None if isinstance(value, bool) else "This must be true or false."
        case "integer":
            return out_of(value, schema, "a whole number", (int,))
        case "number":
            return out_of(value, schema, "a number", (int, float))
        case "array":
            return misfits(value, schema)
        case "string":
            return unlike(value, schema)
    return None


def out_of(value: Any, schema: Schema, kind: str, types: tuple[type, ...]) -> str | None:
    """What is wrong with a number, which has both its bounds or none."""
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    is_in = isinstance(value, types) and not isinstance(value, bool)
    if lowest is None or highest is None:
        return None if is_in else f"This must be {kind}."
    return None if is_in and lowest <= value <= highest else f"This must be {kind} from {lowest} to {highest}."


def misfits(value: Any, schema: Schema) -> str | None:
    """What is wrong with an array."""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and not is_blank(value):
        each = str(value)[:80].split(",")
        meant = [int(one) if NUMBER.fullmatch(one) and schema["items"]["type"] == "integer" else one for one in each]
        return f"This must be an array, also of one value: {orjson.dumps(meant).decode()}."
    if not isinstance(value, list) or not value:
        return "This must be an array of at least one value; or leave it out."
    if len(value) > schema.get("maxItems", len(value)):
        return f"This must hold at most {schema['maxItems']} values."
    judged = {**schema["items"], "description": schema.get("description", "")}
    found = (misfit(element, judged) for element in value)
    return next((f"In the array: {problem}" for problem in found if problem), None)


def unlike(value: Any, schema: Schema) -> str | None:
    """What is wrong with a text."""
    if not isinstance(value, str):
        is_plain = isinstance(value, list) and value and all(isinstance(one, (str, int, float)) for one in value)
        meant = ",".join(map(as_text, value)) if is_plain else ""
        hint = f': "{meant[:80]}"' if meant and unlike(meant, schema) is None else ""
        return f"This must be a string{hint}."
    if is_blank(value):
        return "This is empty; leave it out or give it a value."
    if value not in schema.get("enum", (value,)):
        return unknown_name("value", value[:80], schema["enum"]).message
    if len(value) > schema.get("maxLength", len(value)):
        return f"This must be at most {schema['maxLength']} characters long."
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value, re.ASCII):
        if CONTROL.search(value):
            return "This holds a control character."
        return f"`{value[:80]}` is not of the right form. It takes: {schema.get('description', '')}"
    return None


def is_blank(value: Any) -> bool:
    """Whether it is a text that says nothing."""
    return isinstance(value, str) and not value.strip()


def as_text(value: Any) -> str:
    """A value as it is written in a query string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(dict.fromkeys(map(as_text, value)))
    if isinstance(value, float):
        return f"{Decimal(str(value)):f}"
    return str(value)
