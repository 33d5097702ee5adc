"""Schemas of an OpenAPI document in words: the types, limits and defaults that the reference's tables show."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from config.website import docs

Schema = Mapping[str, Any]
MAX_INLINE_VALUES = 8
# Schemas that another page explains.
EXPLAINED = {
    "Error": "/docs/errors",
    "Failure": "/docs/errors",
    "Problem": "/docs/errors",
    "ErrorCode": "/docs/errors",
}
FORMATS = {"date": "date", "date-time": "date and time", "uri": "URL", "email": "email address", "double": "number"}
# What else a pattern demands than the description of its field says.
PATTERNS = {
    r"^[a-z0-9]+(-[a-z0-9]+)*$": "lower-case letters, digits and hyphens",
    r"^[a-z0-9_]+(-[a-z0-9_]+)*$": "lower-case letters, digits, underscores and hyphens",
    r"^[a-z][a-z0-9_-]{0,39}$": "lower-case letters, digits, `_` and `-`, a letter first",
    r"^[a-z][a-z0-9_]*$": "lower-case letters, digits and underscores, a letter first",
    r"^[-a-zA-Z0-9_]+$": "letters, digits, `-` and `_`",
    r"^[a-z0-9.-]{1,80}$": "lower-case letters, digits, dots and hyphens",
    r"^([01]\d|2[0-3]):[0-5]\d$": "`HH:MM`, 24 hours",
    r"^([01][0-9]|2[0-3]):[0-5][0-9]$": "`HH:MM`, 24 hours",
    r"^\d{4}-\d{2}-\d{2}$": "`YYYY-MM-DD`",
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$": "`YYYY-MM-DDTHH:MM`",
    r"^[0-9]+$": "digits",
    r"^\d+(\.\d+)?$": "decimal number",
    r"^-?\d+(\.\d+)?$": "decimal number, also below zero",
    r"^\d{1,7}(\.\d{1,3})?$": "decimal number of at most 7 digits and 3 decimals",
    r"^-?\d{1,7}(\.\d{1,3})?$": "decimal number of at most 7 digits and 3 decimals, also below zero",
    r"^(100(\.0{1,3})?|\d{1,2}(\.\d{1,3})?)$": "decimal number from 0 to 100 with at most 3 decimals",
    r"^0x[0-9a-fA-F]{40}$": "address: `0x` and 40 hexadecimal digits",
    r"^0x[0-9a-f]{64}$": "`0x` and 64 hexadecimal digits",
    r"^0x(?:[0-9a-fA-F]{2}){1,2048}$": "`0x` and up to 2,048 bytes in hexadecimal digits",
    r"^[0-9a-f]{64}$": "64 hexadecimal digits",
    r"^\+[1-9][0-9]{6,14}$": "`+` and 7 to 15 digits",
    r"^[A-Z]{2}$": "two capital letters",
    r"^[A-Z]{3}$": "three capital letters",
    r"^[a-z]{2}$": "two lower-case letters",
    r"^Q[1-9][0-9]*$": "`Q` and digits",
    r"^[\x21-\x7e]{1,255}$": "1 to 255 visible ASCII characters, no spaces",
    r"^ws_[A-Za-z0-9_-]{43}$": "`ws_` and 43 characters",
    r"^(rst|lm)_[0-9a-z]{26}$": "id that begins with `rst_` or `lm_`",
}
PUBLIC_ID = re.compile(r"\^(\w+)_\[0-7\]\[[0-9a-z]+\]\{25\}\$")
DECIMAL = re.compile(r"\^-\?\\d\{0,\d+\}\(\?:\\\.\\d\{0,(\d+)\}\)\?\$")
VALUE_LIST = re.compile(r"\^\(\(?((?:\w+\|)+\w+)\)?\)\(,\(.+\)\)\*\$")
VALUE_RANGE_LIST = re.compile(r"\^\(\[(\d)-(\d)\]\)\(,.+\)\*\$")


@dataclass(frozen=True, slots=True)
class Row:
    """A field of a schema, or a parameter, as a row of a table."""

    name: str
    type: SafeString
    is_required: bool
    default: str
    limits: SafeString
    description: str

    @property
    def html(self) -> SafeString:
        return docs.inline_markdown(self.description)


@dataclass(frozen=True, slots=True)
class Table:
    """A named schema as a table of its fields, or as a list of its values."""

    name: str
    html: SafeString
    rows: list[Row]
    values: list[str]


def name_of(schema: Schema) -> str:
    """The name of the schema that this one refers to; empty if it is described in place."""
    references = [schema, *(schema.get("allOf") or ())]
    return next((part["$ref"].rpartition("/")[2] for part in references if "$ref" in part), "")


class Schemas:
    """The named schemas of a document."""

    def __init__(self, document: Schema) -> None:
        self.named: Mapping[str, Schema] = document["components"]["schemas"]

    def alternatives(self, schema: Schema) -> list[Schema]:
        """The schemas of which a value has one."""
        parts = schema.get("anyOf") or schema.get("oneOf")
        return list(parts) if parts else [schema]

    def is_inline(self, name: str) -> bool:
        """Whether the values of a named schema are listed where it is used."""
        named = self.named[name]
        return "properties" not in named and len(named.get("enum", ())) <= MAX_INLINE_VALUES and "anyOf" not in named

    def type_of(self, schema: Schema) -> SafeString:
        """The type in words, with links to named schemas."""
        return join_words(self._types(schema), " or ")

    def _types(self, schema: Schema) -> Iterator[SafeString]:
        parts = self.alternatives(schema)
        if len(parts) > 1:
            for part in parts:
                yield from self._types(part)
        elif name := name_of(schema):
            if name in EXPLAINED:
                yield format_html('<a href="{}">{}</a>', EXPLAINED[name], name)
            elif self.is_inline(name):
                yield from self._types(self.named[name])
            else:
                yield format_html('<a href="#{0}">{0}</a>', name)
        elif "const" in schema or "enum" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            for value in values:
                yield format_html("<code>{}</code>", "null" if value is None else value)
        else:
            types = schema.get("type", "object" if "properties" in schema else "any")
            for name in [types] if isinstance(types, str) else types:
                yield self._named_type(name, schema)

    def _named_type(self, name: str, schema: Schema) -> SafeString:
        if name == "array":
            return format_html("list of {}", self.type_of(schema.get("items", {})))
        values = schema.get("additionalProperties")
        if name == "object" and isinstance(values, Mapping):
            return format_html("object with {} as values", self.type_of(values)) if values else mark_safe("object")
        return format_html("{}", FORMATS.get(schema.get("format", ""), name) if name != "null" else name)

    def rows(self, schema: Schema, prefix: str = "") -> list[Row]:
        """The fields of an object; those of objects that have no name are rows below their field."""
        required = schema.get("required", ())
        rows = []
        for name, field in schema.get("properties", {}).items():
            rows.append(self.row(f"{prefix}{name}", field, is_required=name in required))
            inner = field.get("items", field)
            if not name_of(inner) and "properties" in inner:
                rows += self.rows(inner, f"{prefix}{name}{'[]' if 'items' in field else ''}.")
            values = field.get("additionalProperties")
            if isinstance(values, Mapping) and "properties" in values:
                rows += self.rows(values, f"{prefix}{name}.*.")
        return rows

    def row(self, name: str, schema: Schema, *, is_required: bool, description: str = "") -> Row:
        inner = schema.get("items", {})
        limits = [*limits_of(schema), *(f"each: {words}" for words in limits_of(inner))]
        default = schema.get("default")
        return Row(
            name=name,
            type=self.type_of(schema),
            is_required=is_required,
            default="" if default in (None, "", []) else default if isinstance(default, str) else json.dumps(default),
            limits=join_words((code_words(words) for words in limits), "; "),
            description=description or schema.get("description", ""),
        )

    def table(self, name: str) -> Table:
        named = self.named[name]
        parts = [part for part in self.alternatives(named) if part is not named]
        types = [f"`{name_of(part)}`" for part in parts]
        description = named.get("description", "") or (f"{' or '.join(types)}." if types else "")
        return Table(
            name, docs.markdown(description), self.rows(named), [str(value) for value in named.get("enum", ())]
        )

    def reachable(self, schemas: Iterable[Schema]) -> list[str]:
        """The named schemas that these use, directly or not, which are not explained elsewhere."""
        found: dict[str, None] = {}

        def visit(value: Any) -> None:
            if isinstance(value, Mapping):
                if isinstance(reference := value.get("$ref"), str):
                    name = reference.rpartition("/")[2]
                    if name not in found and name not in EXPLAINED:
                        found[name] = None
                        visit(self.named[name])
                for inner in value.values():
                    visit(inner)
            elif isinstance(value, list):
                for inner in value:
                    visit(inner)

        for schema in schemas:
            visit(schema)
        return [name for name in found if not self.is_inline(name)]


def limits_of(schema: Schema) -> Iterator[str]:
    """The limits of a value in words, with code between backticks."""
    yield from span(schema.get("minimum"), schema.get("maximum"), "")
    yield from span(schema.get("minItems"), schema.get("maxItems"), " items")
    yield from span(schema.get("minProperties"), schema.get("maxProperties"), " keys")
    min_length, max_length = schema.get("minLength"), schema.get("maxLength")
    if max_length:
        yield from span(min_length if min_length and min_length > 1 else None, max_length, " characters")
    yield from pattern_words(schema)


def span(low: float | None, high: float | None, unit: str) -> Iterator[str]:
    if low is not None and high is not None:
        yield f"{low:,}{unit}" if low == high else f"{low:,} to {high:,}{unit}"
    elif low is not None:
        yield f"at least {low:,}{unit}"
    elif high is not None:
        yield f"at most {high:,}{unit}"


def pattern_words(schema: Schema) -> Iterator[str]:
    """What the pattern demands; nothing if the description of the field has to say it."""
    pattern = schema.get("pattern", "")
    if words := PATTERNS.get(pattern):
        yield words
    elif prefixes := PUBLIC_ID.findall(pattern):
        yield f"id that begins with {' or '.join(f'`{prefix}_`' for prefix in prefixes)}"
    elif match := DECIMAL.fullmatch(pattern):
        yield f"decimal number with at most {match[1]} decimals" if match[1] != "0" else "whole number"
    elif match := VALUE_LIST.fullmatch(pattern):
        yield f"{', '.join(f'`{value}`' for value in match[1].split('|'))}, with commas between them"
    elif match := VALUE_RANGE_LIST.fullmatch(pattern):
        yield f"`{match[1]}` to `{match[2]}`, with commas between them"


def code_words(text: str) -> SafeString:
    """Text with <code> for what is between backticks."""
    parts = enumerate(text.split("`"))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if number % 2 else part,) for number, part in parts)
    )


def join_words(words: Iterable[SafeString], separator: str) -> SafeString:
    return format_html_join(separator, "{}", ((word,) for word in words))
