"""The schemas of the tools: valid JSON Schema 2020-12, out of the OpenAPI document, and true."""

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from catalogue.mcp.server import SERVER
from framework.mcp import schemas

SOLD = [name for name, tool in SERVER.tools_by_name.items() if tool.alternative_output]
PRICE = {"x402Version": 2, "error": "payment_required", "resource": {"url": "mcp://tool/x"}, "accepts": [{}]}


@pytest.mark.parametrize("name", list(SERVER.tools_by_name))
def test_each_schema_is_valid_and_refers_to_nothing(name: str) -> None:
    tool = SERVER.tools_by_name[name].definition
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        meta.validate(schema)
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("name", SOLD)
def test_the_price_of_what_is_sold_is_a_result_that_its_schema_knows(name: str) -> None:
    schema = Draft202012Validator(SERVER.tools_by_name[name].output_schema)
    assert schema.is_valid(PRICE)
    assert not schema.is_valid({})


@pytest.mark.parametrize("name", [name for name in SERVER.tools_by_name if name not in SOLD])
def test_what_is_free_has_no_price(name: str) -> None:
    assert not Draft202012Validator(SERVER.tools_by_name[name].output_schema).is_valid(PRICE)


@pytest.mark.parametrize("name", list(SERVER.tools_by_name))
def test_what_an_argument_may_be_is_what_the_document_says(name: str) -> None:
    tool = SERVER.tools_by_name[name]
    documented = schemas.argument_schemas(tool.operation)
    for argument, schema in tool.argument_schemas.items():
        if argument in tool.own_schemas or schema["type"] in ("array", "boolean"):
            continue
        theirs = schemas.resolve(documented[tool.operation_name(argument)])
        for word in ("enum", "minimum", "maximum", "maxLength", "format"):
            assert schema.get(word) == theirs.get(word), (argument, word)


@pytest.mark.parametrize(
    ("tool", "argument", "schema"),
    [
        ("search_restaurants", "limit", {"type": "integer"}),
        ("search_restaurants", "rating_min", {"type": "number"}),
        ("list_reviews", "with_photos", {"type": "boolean"}),
        ("list_reviews", "stars", {"type": "array", "items": {"type": "integer"}}),
        ("list_reviews", "lang", {"type": "array", "items": {"type": "string"}}),
        ("find_landmark", "query", {"type": "string"}),
        ("start_export", "format", {"type": "string", "enum": ["parquet", "jsonl.gz", "csv.gz"]}),
        ("search_restaurants", "kind_not", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_parameter_is_a_value_of_json(tool: str, argument: str, schema: dict[str, Any]) -> None:
    result = dict(SERVER.tools_by_name[tool].input_schema["properties"][argument])
    result.pop("description")
    assert result == schema


@pytest.mark.parametrize(
    ("choices", "schema"),
    [
        ([{"type": "object"}, {"type": "null"}], {"type": ["object", "null"]}),
        ([{"type": "string"}], {"type": "string"}),
        ([{"type": "string"}, {"type": "object"}], {"anyOf": [{"type": "string"}, {"type": "object"}]}),
    ],
)
def test_null_is_one_more_type(choices: list[schemas.Schema], schema: schemas.Schema) -> None:
    assert schemas.any_of(choices) == schema


def test_an_operation_that_there_is_not_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        schemas.argument_schemas("cook_dinner")
