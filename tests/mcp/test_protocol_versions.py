"""Which revision a message speaks: each rung of 2026-07-28, and the handshake of those before."""

import base64
from typing import Any

import pytest
from django.test import Client

from framework.mcp.protocol_versions import supports_forms
from framework.mcp.responses import MCPResponse
from tests.mcp.client import Era, rpc
from tests.mcp.server import asked, response_json

STATELESS: Era = "2026-07-28"
HANDSHAKE: tuple[Era, ...] = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED = -32020, -32602, -32601, -32022
ECHO = {"name": "echo", "arguments": {"word": "hej"}}


def encoded(words: str) -> str:
    """A value of a header as clients write what is not plain ASCII."""
    return f"=?base64?{base64.b64encode(words.encode()).decode()}?="


def failed(answer: MCPResponse) -> tuple[int, int]:
    """Its status, and its code."""
    return answer.status_code, response_json(answer)["error"]["code"]


def test_a_message_of_2026_07_28_stands_alone() -> None:
    answer = response_json(asked("tools/call", ECHO, era=STATELESS))
    assert answer["result"] == {
        "content": [{"type": "text", "text": '{"word": "hej"}'}],
        "structuredContent": {"word": "hej"},
        "resultType": "complete",
        "_meta": {
            SERVER_INFO: {
                "name": "small",
                "title": "Small",
                "version": "1.2.3",
                "description": "A small server.",
                "websiteUrl": "https://small.example",
            }
        },
    }


@pytest.mark.parametrize("era", HANDSHAKE)
def test_a_message_of_the_handshake_is_answered_as_its_revision_knows(era: Era) -> None:
    assert response_json(asked("tools/call", ECHO, era=era))["result"] == {
        "content": [{"type": "text", "text": '{"word": "hej"}'}],
        "structuredContent": {"word": "hej"},
    }


def test_a_message_without_a_version_is_of_2025_03_26() -> None:
    answer = asked("ping", headers={"MCP-Protocol-Version": None})
    assert (answer.status_code, response_json(answer)["result"]) == (200, {})


@pytest.mark.parametrize("name", [VERSION, CAPABILITIES])
def test_a_request_that_lacks_what_is_required_beside_it_is_refused(name: str) -> None:
    beside: dict[str, Any] = {VERSION: STATELESS, CAPABILITIES: {}}
    del beside[name]
    answer = asked(
        "tools/list",
        {"_meta": beside},
        headers={"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/list"},
    )
    assert failed(answer) == (400, INVALID_PARAMS)
    assert response_json(answer)["error"]["message"] == f"`params._meta` lacks {name}."


def test_client_info_is_optional() -> None:
    beside: dict[str, Any] = {"_meta": {VERSION: STATELESS, CAPABILITIES: {}}}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/list"}
    assert asked("tools/list", beside, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": None},
        {"Mcp-Method": None},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Method": ""},
        # Where a header comes twice, WSGI joins both.
        {"Mcp-Method": "tools/call,tools/call"},
        # No proxy would have read it.
        {"Mcp-Method": encoded("tools/call")},
        {"Mcp-Name": None},
        {"Mcp-Name": "greet"},
        {"Mcp-Name": "Echo"},
        {"Mcp-Name": "echo,echo"},
        {"Mcp-Name": encoded("greet")},
        {"Mcp-Name": "=?base64?%%%?="},
        {"Mcp-Name": "=?base64?/w==?="},
        {"Mcp-Name": "=?BASE64?ZWNobw==?="},
    ],
    ids=str,
)
def test_a_header_that_does_not_say_what_the_body_says_is_refused(headers: dict[str, str | None]) -> None:
    assert failed(asked("tools/call", ECHO, era=STATELESS, headers=headers)) == (400, MISMATCH)


@pytest.mark.parametrize("name", ["echo", encoded("echo")])
def test_a_name_may_come_in_base64(name: str) -> None:
    assert asked("tools/call", ECHO, era=STATELESS, headers={"mcp-name": name}).status_code == 200


def test_a_name_that_is_not_ascii_comes_in_base64() -> None:
    params = {"uri": "small://word/smørrebrød"}
    answer = asked("resources/read", params, era=STATELESS, headers={"Mcp-Name": encoded(params["uri"])})
    assert response_json(answer)["result"]["contents"][0]["uri"] == params["uri"]


def test_a_header_of_a_name_stands_for_none() -> None:
    answer = asked("tools/call", {"arguments": {}}, era=STATELESS, headers={"Mcp-Name": "echo"})
    assert failed(answer) == (400, MISMATCH)
    assert failed(asked("tools/call", {"arguments": {}}, era=STATELESS)) == (400, INVALID_PARAMS)
    assert failed(asked("tools/call", {"name": 5}, era=STATELESS)) == (400, MISMATCH)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_a_version_beside_the_message_that_the_header_does_not_say_is_refused(version: str) -> None:
    other = "2025-06-18" if version == STATELESS else STATELESS
    answer = asked("tools/list", era=STATELESS, meta={VERSION: other}, headers={"MCP-Protocol-Version": version})
    # The header decides by which rules a message is read; those before know of nothing beside it.
    assert failed(answer) == (400, MISMATCH) if version == STATELESS else answer.status_code == 200


@pytest.mark.parametrize(
    "version", ["2024-11-05", "2099-01-01", "1", "", "2025-11-25,2025-11-25", "2026-07-28, 2026-07-28"]
)
@pytest.mark.parametrize("is_notification", [False, True])
def test_a_version_that_is_not_spoken_is_refused_with_those_that_are(version: str, is_notification: bool) -> None:
    headers = {"MCP-Protocol-Version": version}
    answer = asked(
        "tools/list", era=STATELESS, meta={VERSION: version}, headers=headers, is_notification=is_notification
    )
    assert failed(answer) == (400, UNSUPPORTED)
    assert response_json(answer)["error"]["data"] == {"supported": SUPPORTED, "requested": version}


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", "x" * 200]
)
def test_a_method_that_is_not_there_is_not_found(method: str) -> None:
    answer = asked(method, era=STATELESS, headers={"MCP-Protocol-Version": STATELESS})
    assert failed(answer) == (404, METHOD_NOT_FOUND)
    assert response_json(answer)["error"]["message"] == f"Method not found: {method[:80]}"


@pytest.mark.parametrize("era", HANDSHAKE)
@pytest.mark.parametrize(
    "method", ["server/discover", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
)
def test_clients_of_the_handshake_read_what_is_not_there_in_a_200(era: Era, method: str) -> None:
    assert failed(asked(method, era=era)) == (200, METHOD_NOT_FOUND)


@pytest.mark.parametrize("era", SUPPORTED)
@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call", "anything"])
def test_a_notification_is_taken_and_nothing_is_done(era: Era, method: str) -> None:
    answer = asked(method, {"name": "crash"}, era=era, is_notification=True)
    assert (answer.status_code, answer.content, answer.has_header("Content-Type")) == (202, b"", False)


def test_of_a_notification_only_the_version_is_asked() -> None:
    headers = {"MCP-Protocol-Version": STATELESS}
    assert asked("notifications/cancelled", is_notification=True, headers=headers).status_code == 202


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        *((version, version) for version in HANDSHAKE),
        ("2026-07-28", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("nonsense", "2025-11-25"),
        (None, "2025-11-25"),
        (["2025-06-18"], "2025-11-25"),
    ],
)
def test_the_handshake_gives_the_version_that_was_asked_for_or_the_newest(wanted: Any, given: str) -> None:
    asks = {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    answer = asked("initialize", asks)
    assert response_json(answer)["result"] == {
        "protocolVersion": given,
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
        "serverInfo": {
            "name": "small",
            "title": "Small",
            "version": "1.2.3",
            "description": "A small server.",
            "websiteUrl": "https://small.example",
        },
        "instructions": "Be small.",
    }
    # Nothing is remembered, so there is nothing to name.
    assert not answer.has_header("MCP-Session-Id")


@pytest.mark.parametrize("era", SUPPORTED)
def test_a_session_that_a_client_brings_is_passed_over(era: Era) -> None:
    answer = asked("tools/call", ECHO, era=era, headers={"MCP-Session-Id": "a", "Last-Event-ID": "1"})
    assert (answer.status_code, answer.has_header("MCP-Session-Id")) == (200, False)


@pytest.mark.parametrize("accept", [None, "", "application/json", "text/event-stream", "text/html", "*/*"])
def test_whatever_is_accepted_the_answer_is_json(accept: str | None) -> None:
    # As at REST: there is one representation, and who sends a message has said that it speaks JSON.
    answer = asked("tools/list", era=STATELESS, headers={"Accept": accept})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize(
    ("capabilities", "can"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": None}, False),
        ({"elicitation": True}, False),
        ({"sampling": {}}, False),
        ({}, False),
        (None, False),
        ([], False),
        ("elicitation", False),
    ],
)
def test_who_shows_forms_can_be_asked(capabilities: object, can: bool) -> None:
    assert supports_forms(capabilities) is can


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("era", SUPPORTED)
def test_the_endpoint_speaks_all_of_them(client: Client, era: Era) -> None:
    listed = rpc(client, "tools/list", era=era)["result"]
    assert "search_restaurants" in [tool["name"] for tool in listed["tools"]]
    assert ("resultType" in listed) is (era == STATELESS)
