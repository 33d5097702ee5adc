"""Which message goes where, and what comes back: lists, reads, prompts, completion, calls, and our own faults."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from tests.mcp.client import Era, rpc
from tests.mcp.server import SERVER, asked, response_json

STATELESS: Era = "2026-07-28"
LEGACY: Era = "2025-11-25"
ERAS: tuple[Era, ...] = (STATELESS, LEGACY)
INVALID_PARAMS, INTERNAL = -32602, -32603
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def result(method: str, params: dict[str, Any] | None = None, *, era: Era = STATELESS) -> Any:
    """The result, without what stands beside it."""
    found = response_json(asked(method, params, era=era))["result"]
    found.pop("_meta", None)
    return found


def refused(method: str, params: dict[str, Any] | None = None) -> str:
    """The words in which the parameters are refused, which are the same in both eras."""
    new, old = (asked(method, params, era=era) for era in ERAS)
    assert (new.status_code, old.status_code) == (400, 200)
    error = response_json(new)["error"]
    assert error == response_json(old)["error"]
    assert error["code"] == INVALID_PARAMS
    return str(error["message"])


def test_discovery_tells_all_at_once() -> None:
    assert result("server/discover") == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
        "instructions": "Be small.",
        "ttlMs": 300_000,
        "cacheScope": "public",
    }


@pytest.mark.parametrize(("method", "name"), LISTS.items())
def test_a_list_has_one_page_and_is_cacheable(method: str, name: str) -> None:
    found = result(method)
    assert {key: value for key, value in found.items() if key != name} == {
        "resultType": "complete",
        "ttlMs": 300_000,
        "cacheScope": "public",
    }
    assert found[name]
    assert result(method, {"cursor": None}) == found == result(method)


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["", "a", 1, False, {}])
def test_a_cursor_is_none_of_ours(method: str, cursor: object) -> None:
    assert refused(method, {"cursor": cursor}) == "`params.cursor` is none of ours: each list has one page."


def test_tools_are_listed_in_the_order_of_the_server() -> None:
    assert [tool["name"] for tool in result("tools/list")["tools"]] == [tool.name for tool in SERVER.tools]


def test_resources_are_listed_apart_from_their_templates() -> None:
    assert [one["uri"] for one in result("resources/list")["resources"]] == ["small://one", "small://broken"]
    assert result("resources/templates/list")["resourceTemplates"] == [
        {
            "uriTemplate": "small://word/{word}",
            "name": "word",
            "title": "Word",
            "description": "A word.",
            "mimeType": "application/json",
        }
    ]


def test_resources_are_private_to_the_caller_and_not_cached() -> None:
    assert result("resources/read", {"uri": "small://one"}) == {
        "resultType": "complete",
        "contents": [{"uri": "small://one", "mimeType": "application/json", "text": '{"one":1}'}],
        "ttlMs": 0,
        "cacheScope": "private",
    }
    assert result("resources/read", {"uri": "small://word/hej"})["contents"][0]["text"] == '"hej"'


@pytest.mark.parametrize(
    "uri", ["small://two", "small://word/", "small://word/a/b", "small://one?a=1", "SMALL://one", "small://one\n"]
)
def test_a_resource_that_is_not_there_is_named(uri: str) -> None:
    assert refused("resources/read", {"uri": uri}) == "There is no such resource."
    assert response_json(asked("resources/read", {"uri": uri}, era=LEGACY))["error"]["data"] == {"uri": uri}


@pytest.mark.parametrize("params", [{}, {"uri": None}])
def test_a_uri_is_text(params: dict[str, Any]) -> None:
    assert refused("resources/read", params) == "`params.uri` must be a string."


def test_an_address_that_is_empty_is_not_there() -> None:
    answer = asked("resources/read", {"uri": ""}, era=STATELESS, headers={"Mcp-Name": ""})
    assert response_json(answer)["error"]["data"] == {"uri": ""}


def test_a_prompt_is_filled_in() -> None:
    assert result("prompts/get", {"name": "begin", "arguments": {"word": "hej"}}) == {
        "resultType": "complete",
        "description": "Begins.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Begin with hej."}}],
    }


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"name": "end"}, "There is no prompt `end`."),
        ({"name": "begin"}, "The argument `word` is required."),
        ({"name": "begin", "arguments": {"word": ""}}, "The argument `word` is required."),
        ({"name": "begin", "arguments": {"word": {}}}, "`params.arguments` must be an object of strings."),
        ({"name": "begin", "arguments": []}, "`params.arguments` must be an object."),
        ({"name": "begin", "arguments": {"a": "b"}}, "Unknown argument `a`. Known: more, word."),
    ],
)
def test_a_prompt_that_cannot_be_filled_in_says_why(params: dict[str, Any], words: str) -> None:
    assert refused("prompts/get", params) == words


REFS = [{"type": "ref/prompt", "name": "begin"}, {"type": "ref/resource", "uri": "small://word/{word}"}]


@pytest.mark.parametrize("ref", REFS, ids=["prompt", "template"])
def test_an_argument_is_completed_from_its_beginning(ref: dict[str, str]) -> None:
    asks = {"ref": ref, "argument": {"name": "word", "value": "par"}}
    assert result("completion/complete", asks)["completion"] == {
        "values": ["paris", "park", "party"],
        "total": 3,
        "hasMore": False,
    }
    # What is filled in beside it may count; what is no text does not.
    beside = {"context": {"arguments": {"more": "and", "less": 5}}}
    assert result("completion/complete", asks | beside)["completion"]["values"] == ["paris", "park", "party", "and"]
    nothing: tuple[Any, ...] = ({}, {"arguments": None}, {"arguments": []}, None)
    for context in nothing:
        assert result("completion/complete", {**asks, "context": context})["completion"]["total"] == 3


def test_what_is_not_completed_has_no_values() -> None:
    asks = {"ref": REFS[0], "argument": {"name": "more", "value": "a"}}
    assert result("completion/complete", asks)["completion"] == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"ref": REFS[0]}, "`params.argument` must have a name and a value."),
        (
            {"ref": REFS[0], "argument": {"name": "word", "value": 1}},
            "`params.argument` must have a name and a value.",
        ),
        ({"ref": REFS[0], "argument": "word"}, "`params.argument` must be an object."),
        ({"ref": "begin", "argument": {"name": "word", "value": ""}}, "`params.ref` must be an object."),
        ({"argument": {"name": "word", "value": ""}}, "`params.ref` names nothing that can be completed."),
        (
            {"ref": {"type": "ref/resource", "uri": "small://two"}, "argument": {"name": "word", "value": ""}},
            "`params.ref` names nothing that can be completed.",
        ),
        ({"ref": {"type": "ref/prompt"}, "argument": {"name": "word", "value": ""}}, "There is no prompt `None`."),
    ],
)
def test_what_cannot_be_completed_says_why(params: dict[str, Any], words: str) -> None:
    assert refused("completion/complete", params) == words


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_tool_may_be_called_without_arguments(arguments: dict[str, Any]) -> None:
    assert result("tools/call", {"name": "echo", **arguments})["structuredContent"] == {"word": ""}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"name": "ech"}, "There is no tool `ech`."),
        ({"name": "x" * 100}, f"There is no tool `{'x' * 80}`."),
        ({"name": "echo", "arguments": []}, "`params.arguments` must be an object."),
        ({"name": "echo", "arguments": ""}, "`params.arguments` must be an object."),
    ],
)
def test_a_call_that_cannot_be_made_is_an_error_of_the_protocol(params: dict[str, Any], words: str) -> None:
    assert refused("tools/call", params) == words


def test_invalid_arguments_are_reported_to_the_model() -> None:
    found = response_json(asked("tools/call", {"name": "echo", "arguments": {"word": {}}}, era=STATELESS))["result"]
    assert (found["isError"], found["resultType"]) == (True, "complete")
    assert found["content"] == [{"type": "text", "text": "`word`: This must be a string, not an object of 0."}]
    assert found["_meta"]["tablewire/error"]["code"] == "invalid_request"
    # Beside it stands what stands beside each result.
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "small"


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_that_breaks_tells_nothing_of_the_inside_and_is_logged(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "tablewire.mcp"):
        answer = asked("tools/call", {"name": "crash"}, era=era)
    found = response_json(answer)["result"]
    assert (answer.status_code, found["isError"]) == (200, True)
    assert found["_meta"]["tablewire/error"]["code"] == "internal_error"
    assert "RuntimeError" not in answer.content.decode()
    assert [record.getMessage() for record in caplog.records] == ["the tool crash broke"]


@pytest.mark.parametrize("era", ERAS)
def test_anything_else_that_breaks_is_an_internal_error_in_a_200(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "tablewire.mcp"):
        answer = asked("resources/read", {"uri": "small://broken"}, era=era)
    assert (answer.status_code, response_json(answer)["error"]["code"]) == (200, INTERNAL)
    assert b"RuntimeError" not in answer.content
    assert [record.getMessage() for record in caplog.records] == ["resources/read broke"]


def test_responses_are_not_cacheable() -> None:
    for answer in (asked("tools/list"), asked("nothing"), asked("ping", is_notification=True)):
        assert answer["Cache-Control"] == "no-store"


@pytest.mark.django_db
@pytest.mark.parametrize("era", ERAS)
def test_the_endpoint_announces_what_it_serves(client: Client, era: Era) -> None:
    capabilities = {"tools", "resources", "prompts", "completions", "extensions"}
    method = "server/discover" if era == STATELESS else "initialize"
    found = rpc(client, method, {"protocolVersion": era}, era=era)["result"]
    assert set(found["capabilities"]) == capabilities
    tools = rpc(client, "tools/list", era=era)["result"]["tools"]
    info = found.get("serverInfo") or found["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert {json.dumps(tool["icons"]) for tool in tools} == {json.dumps(info["icons"])}
    assert (found.get("serverInfo") or found["_meta"]["io.modelcontextprotocol/serverInfo"])["name"] == "tablewire"
