"""Tools: their definition, and the validation of their arguments."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any

from django.http import HttpRequest
from django.utils.text import Truncator
from rest_framework import serializers

from framework.api.error_handler import flatten_detail, message_with_param
from framework.api.fields import MAX_UNKNOWN_KEYS, StrictSerializer
from framework.errors import InvalidRequest, Problem, unknown_name
from framework.mcp import coercion, schemas
from framework.mcp.elicitation import Elicitation
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool. `arguments` are coerced; `meta` is the `_meta` of the message.

    `supports_tasks` says whether the client takes a task instead of the result.
    """

    request: HttpRequest
    tool: str
    arguments: Mapping[str, Any]
    meta: Mapping[str, Any]
    elicitation: Elicitation
    now: datetime
    supports_tasks: bool = False


@dataclass(frozen=True, slots=True)
class Pricing:
    """What a tool costs: a sentence for the model, and `_meta` for programs."""

    text: str
    meta: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool of the server, and the operation of the OpenAPI document that has the same schemas.

    `arguments` are the descriptions of the arguments, which also appear in error messages; `required` and `defaults`
    say which may be omitted. `aliases` are the names of arguments in the operation where they differ;
    `own_schemas` are the schemas of arguments that the operation does not have. `serializer` validates
    arguments as the operation does (Parameters as texts, a Shape as JSON); arguments without a field are passed on.
    `converters` replace texts of arguments, also in lists, before they are validated. `output` is the schema of the
    result, `alternative_output` that of a payment challenge. `notice` is the first member of each result: that its
    texts are not ours. `pricing` is what the tool costs now, if it is sold. `unlisted_enums` are arguments whose
    values are those of another argument, which lists them. `hints` say in errors which form an argument without a
    description has. `meta` is the constant part of `_meta` in the list.
    """

    name: str
    title: str
    description: str
    operation: str
    arguments: Mapping[str, str]
    serializer: type[serializers.Serializer[Any]] | None
    output: Callable[[], Schema]
    run: Callable[[ToolCall, Values], ToolResult]
    required: Sequence[str] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    own_schemas: Mapping[str, Schema] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    alternative_output: Schema | None = None
    converters: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    notice: str = ""
    pricing: Callable[[], "Pricing"] | None = None
    unlisted_enums: Sequence[str] = ()
    hints: Mapping[str, str] = field(default_factory=dict)
    is_read_only: bool = True
    is_idempotent: bool = True
    is_destructive: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The serializer fields, by their names in the operation."""
        return dict(self.serializer().fields) if self.serializer else {}

    @cached_property
    def argument_schemas(self) -> Mapping[str, Schema]:
        """The schemas of the arguments by name: those of the operation, with the descriptions of the tool.

        The server validates by them; `input_schema` lists a part of them.
        """
        documented = schemas.argument_schemas(self.operation)
        result: dict[str, Schema] = {}
        for name, description in self.arguments.items():
            alias = self.operation_name(name)
            schema = self.own_schemas.get(name) or schemas.argument_schema(documented[alias], self.fields.get(alias))
            default = {"default": self.defaults[name]} if name in self.defaults else {}
            words = {"description": description} if description else {}
            hint = {"hint": self.hints[name]} if name in self.hints else {}
            result[name] = {**schema, **default, **words, **hint}
        return result

    @cached_property
    def input_schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {
                name: schemas.listed_schema(each, has_enum=name not in self.unlisted_enums)
                for name, each in self.argument_schemas.items()
            },
            **({"required": list(self.required)} if self.required else {}),
            "additionalProperties": False,
        }

    @cached_property
    def output_schema(self) -> Schema:
        schema = self.output()
        if self.alternative_output is None:
            return schema
        result = {word: schema[word] for word in schema if word != "type"}
        return {"type": "object", "anyOf": [result, self.alternative_output]}

    @cached_property
    def definition(self) -> Schema:
        """The tool without its price, which changes."""
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
            **({"_meta": self.meta} if self.meta else {}),
        }

    @property
    def listed(self) -> Schema:
        """The tool as it is listed, with its current price."""
        if self.pricing is None:
            return self.definition
        pricing = self.pricing()
        meta = {**self.meta, **pricing.meta}
        return {
            **self.definition,
            "description": f"{self.description} {pricing.text}",
            **({"_meta": meta} if meta else {}),
        }

    def operation_name(self, name: str) -> str:
        return self.aliases.get(name, name)

    @property
    def takes_json(self) -> bool:
        """Whether the serializer validates JSON values, not texts."""
        return self.serializer is not None and issubclass(self.serializer, StrictSerializer)

    def coerce_arguments(self, arguments: Mapping[str, Any]) -> Values:
        """The arguments in the forms of their schemas."""
        return coercion.coerce_arguments(arguments, self.argument_schemas)

    def validate_arguments(self, arguments: Mapping[str, Any]) -> Values:
        """Validate coerced arguments. Raises InvalidRequest with all problems."""
        known = self.argument_schemas
        unknown_names = islice((name for name in arguments if name not in known), MAX_UNKNOWN_KEYS)
        found = [unknown_name("argument", name[:80], list(known)) for name in unknown_names]
        found += [Problem(name, "This is required.") for name in self.required if name not in arguments]
        valid: Values = {}
        for name, given in {**self.defaults, **arguments}.items():
            if name not in known:
                continue
            value = self._convert(name, given)
            if problem := self._check_schema(name, value):
                found.append(Problem(name, problem))
            else:
                valid[name] = value
        values = self._run_serializer(valid, found)
        if found:
            raise InvalidRequest(" ".join(map(message_with_param, found)), param=found[0].param, details=found)
        return values

    def _convert(self, name: str, value: Any) -> Any:
        convert = self.converters.get(name)
        if convert and isinstance(value, list):
            return [convert(element) if isinstance(element, str) else element for element in value]
        return convert(value) if convert and isinstance(value, str) else value

    def _check_schema(self, name: str, value: Any) -> str | None:
        """What is wrong with a value by the published schema. A Shape checks JSON values itself."""
        if self.takes_json and self.operation_name(name) in self.fields:
            return None
        return check_value(value, self.argument_schemas[name])

    def _run_serializer(self, values: Values, found: list[Problem]) -> Values:
        """Run the serializer, and add its problems to `found`. Arguments without a field are returned unchanged."""
        if self.serializer is None:
            return values
        rest = {name: value for name, value in values.items() if self.operation_name(name) not in self.fields}
        data = {self.operation_name(name): value for name, value in values.items() if name not in rest}
        if not self.takes_json:
            data = {name: to_query_text(value) for name, value in data.items()}
        form = self.serializer(data=data)
        try:
            form.is_valid()
        except InvalidRequest as refusal:
            if not found:
                raise
            found += refusal.details
            return rest
        names = {alias: name for name, alias in self.aliases.items()}
        reported = {problem.param for problem in found}
        new = [
            Problem(names.get(str(problem.param), problem.param), problem.message)
            for problem in flatten_detail(form.errors)
        ]
        found += [problem for problem in new if problem.param not in reported]
        return rest if form.errors else {**rest, **form.validated_data}


# Of a value in an error message.
MAX_SHOWN_LENGTH = 80
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_value(value: Any, schema: Schema) -> str | None:
    """What is wrong with a coerced value by this schema; None if it is valid."""
    match schema.get("type"):
        case "boolean":
            return None if isinstance(value, bool) else f"This must be true or false, not {show_value(value)}."
        case "integer":
            return _check_number(value, schema, "a whole number", (int,))
        case "number":
            return _check_number(value, schema, "a number", (int, float))
        case "array":
            return _check_array(value, schema)
        case "string":
            return _check_string(value, schema)
    return None


def _check_number(value: Any, schema: Schema, kind: str, types: tuple[type, ...]) -> str | None:
    # A schema has both bounds or none.
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    is_number = isinstance(value, types) and not isinstance(value, bool)
    bounds = "" if minimum is None or maximum is None else f" from {minimum} to {maximum}"
    is_valid = is_number and (not bounds or minimum <= value <= maximum)
    return None if is_valid else f"This must be {kind}{bounds}, not {show_value(value)}."


def _check_array(value: Any, schema: Schema) -> str | None:
    if not isinstance(value, list) or not value:
        return f"This must be an array of at least one value, not {show_value(value)}; or leave it out."
    if len(value) > schema.get("maxItems", len(value)):
        return f"This must hold at most {schema['maxItems']} values, not {len(value)}."
    items = {**schema["items"], "description": schema.get("description", "")}
    found = [problem for element in value if (problem := check_value(element, items))]
    return f"In the array, {len(found)} of {len(value)}: {found[0]}" if found else None


def _check_string(value: Any, schema: Schema) -> str | None:
    if not isinstance(value, str):
        is_list = isinstance(value, list) and value and all(isinstance(item, (str, int, float)) for item in value)
        example = ",".join(map(to_query_text, value)) if is_list else ""
        hint = f': "{example[:80]}"' if example and _check_string(example, schema) is None else ""
        return f"This must be a string, not {show_value(value)}{hint}."
    if value not in schema.get("enum", (value,)):
        return unknown_name("value", value[:80], schema["enum"]).message
    if len(value) > schema.get("maxLength", len(value)):
        return f"This must be at most {schema['maxLength']} characters long, not {len(value)}."
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value, re.ASCII):
        if CONTROL.search(value):
            return "This holds a control character."
        form = schema.get("hint") or schema.get("description")
        return f"`{value[:80]}` is not of the right form.{f' It takes: {form}' if form else ''}"
    return None


def show_value(value: Any) -> str:
    """A value for an error message: shortened, of arrays and objects their size only."""
    match value:
        case list():
            return f"an array of {len(value)}"
        case dict():
            return f"an object of {len(value)}"
    return Truncator(json.dumps(value, ensure_ascii=False)).chars(MAX_SHOWN_LENGTH)


def to_query_text(value: Any) -> str:
    """A value as it is written in a query string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(dict.fromkeys(map(to_query_text, value)))
    if isinstance(value, float):
        return f"{Decimal(str(value)):f}"
    return str(value)
