"""The arguments of the tools are in the subsets of JSON Schema that the model providers decode strictly.

Sources, read in November 2026:
- OpenAI: https://developers.openai.com/api/docs/guides/structured-outputs (Supported schemas)
- Google: https://ai.google.dev/api/caching#Schema, the fields of `Schema`, which knows no `additionalProperties`
- Anthropic: https://platform.claude.com/docs/en/build-with-claude/structured-outputs (JSON Schema limitations)

Clients make the strict forms themselves: for OpenAI all properties are required and optional ones nullable. So the
rules are checked on what these conversions give.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from llguidance import LLMatcher

from catalogue.mcp.server import SERVER

Schema = dict[str, Any]
TOOLS = list(SERVER.tools_by_name.values())
BY_NAME = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)

OPENAI_KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description", "anyOf"}
OPENAI_MAX_PROPERTIES, OPENAI_MAX_DEPTH, OPENAI_MAX_ENUM_VALUES = 5_000, 10, 1_000
GEMINI_KEYWORDS = {"type", "properties", "required", "items", "enum", "description"}
# Numeric, length and array bounds are refused with 400.
ANTHROPIC_KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
# Of all strict tools of one request.
ANTHROPIC_MAX_OPTIONAL = 24


def parts(schema: Schema, depth: int = 1) -> Iterator[tuple[Schema, int]]:
    """The schema and all schemas in it, with their depth."""
    yield schema, depth
    for part in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        yield from parts(part, depth + 1)


def openai_strict(schema: Schema) -> Schema:
    """The schema as clients send it with `strict`: what was optional is nullable."""
    needed = set(schema.get("required", ()))
    properties = {
        name: part if name in needed else {**part, "type": [part["type"], "null"]}
        for name, part in schema["properties"].items()
    }
    return {**schema, "properties": properties, "required": list(properties)}


@BY_NAME
def test_openai_decodes_the_arguments_strictly(tool: Any) -> None:
    schema = openai_strict(tool.input_schema)
    found = list(parts(schema))
    assert set().union(*(part for part, _ in found)) <= OPENAI_KEYWORDS
    objects = [part for part, _ in found if part["type"] == "object"]
    assert all(part["additionalProperties"] is False for part in objects)
    assert all(part["required"] == list(part["properties"]) for part in objects)
    assert sum(len(part["properties"]) for part in objects) <= OPENAI_MAX_PROPERTIES
    assert max(depth for _, depth in found) <= OPENAI_MAX_DEPTH
    assert sum(len(part.get("enum", ())) for part, _ in found) <= OPENAI_MAX_ENUM_VALUES


@BY_NAME
def test_gemini_knows_every_keyword_of_the_arguments(tool: Any) -> None:
    schema = {word: value for word, value in tool.input_schema.items() if word != "additionalProperties"}
    for part, _ in parts(schema):
        assert set(part) <= GEMINI_KEYWORDS
        # A type is one name, and only texts have enums.
        assert part["type"] in ("object", "array", "string", "integer", "number", "boolean")
        assert "enum" not in part or part["type"] == "string"
        assert part["type"] != "array" or "items" in part
        assert set(part.get("required", ())) <= set(part.get("properties", ()))


@BY_NAME
def test_anthropic_decodes_the_arguments_strictly(tool: Any) -> None:
    schema = tool.input_schema
    for part, _ in parts(schema):
        assert set(part) <= ANTHROPIC_KEYWORDS
        assert part["type"] != "object" or part["additionalProperties"] is False
    assert len(schema["properties"]) - len(schema.get("required", ())) <= ANTHROPIC_MAX_OPTIONAL


@BY_NAME
def test_llguidance_compiles_the_arguments_and_their_strict_form(tool: Any) -> None:
    for schema in (tool.input_schema, openai_strict(tool.input_schema)):
        assert LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema)) == ""
