"""The patterns of our schemas compile in strict decoders, which support no lookaround.

A model provider that decodes strictly refuses a whole request, if the schema of one tool in it has such a pattern.
llguidance is the decoder of several providers; it compiles patterns with the regular expressions of Rust.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from llguidance import LLMatcher

from catalogue.mcp.server import SERVER
from config.management.commands.openapi import DOCUMENTS
from framework.api.openapi import schema as openapi_schema


def patterns(schema: Any) -> Iterator[str]:
    """All patterns in a document."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        yield from (pattern for value in schema.values() for pattern in patterns(value))
    elif isinstance(schema, list):
        yield from (pattern for value in schema for pattern in patterns(value))


def compile_error(schema: dict[str, Any]) -> str:
    """Why the decoder does not compile this schema; empty if it does."""
    return LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DOCUMENTS)
def test_strict_decoders_compile_every_pattern_of_an_openapi_document(name: str) -> None:
    found = set(patterns(openapi_schema.generate(*DOCUMENTS[name])))
    assert len(found) > 10
    errors = {pattern: compile_error({"type": "string", "pattern": pattern}) for pattern in found}
    assert {pattern: error for pattern, error in errors.items() if error} == {}


@pytest.mark.parametrize("name", list(SERVER.tools_by_name))
def test_strict_decoders_compile_the_arguments_of_a_tool(name: str) -> None:
    assert compile_error(SERVER.tools_by_name[name].input_schema) == ""


@pytest.mark.parametrize("name", list(SERVER.tools_by_name))
def test_a_tool_lists_no_patterns_because_the_server_checks_them_and_explains(name: str) -> None:
    assert list(patterns(SERVER.tools_by_name[name].definition)) == []
