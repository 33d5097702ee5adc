"""What is taken for a message, and what is told to who sends something else."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.test import Client, RequestFactory

from framework.mcp import jsonrpc
from framework.mcp.jsonrpc import MAX_BYTES, JSONRPCError, Message
from tests.mcp import server

INVALID_REQUEST, PARSE_ERROR = -32600, -32700
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def read(body: bytes, *, kind: str = "application/json", **environ: Any) -> Message:
    """The message in a POST of these bytes."""
    return jsonrpc.read_message(RequestFactory().post("/mcp", body, content_type=kind, **environ))


def fault(body: bytes, **rest: Any) -> JSONRPCError:
    """What is wrong with these bytes."""
    with pytest.raises(JSONRPCError) as caught:
        read(body, **rest)
    return caught.value


def in_chunks(body: bytes) -> dict[str, Any]:
    """The environment in which a server hands on a body whose length was not announced."""
    return {
        "CONTENT_LENGTH": "",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input_terminated": True,
        "wsgi.input": BytesIO(body),
    }


@pytest.mark.parametrize("id_", [0, 1, -7, "", "a", "é", 2**63 - 1, -(2**63), 2**64 - 1])
def test_an_id_is_text_or_a_whole_number_and_comes_back_as_it_was(id_: str | int) -> None:
    body = json.dumps({**PING, "id": id_}).encode()
    assert read(body).id == id_
    assert server.response_json(server.sent(body, {})) == {"jsonrpc": "2.0", "id": id_, "result": {}}


@pytest.mark.parametrize("id_", [None, True, False, 1.0, 1.5, [], {}, ["a"]])
def test_another_id_is_refused_with_none(id_: object) -> None:
    found = fault(json.dumps({**PING, "id": id_}).encode())
    assert (found.code, found.status, found.id) == (INVALID_REQUEST, 400, None)
    assert found.message == "`id` must be a string or a whole number."


def test_a_message_without_an_id_is_a_notification() -> None:
    assert read(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == Message("notifications/initialized")


@pytest.mark.parametrize("params", ["", ',"params":null', ',"params":{}'])
def test_params_may_be_left_out(params: str) -> None:
    found = read(f'{{"jsonrpc":"2.0","id":1,"method":"ping"{params}}}'.encode())
    assert (found.params, found.meta) == ({}, {})


@pytest.mark.parametrize("meta", [None, 1, "a", [], True])
def test_meta_that_is_no_object_says_nothing(meta: object) -> None:
    assert read(json.dumps({**PING, "params": {"_meta": meta}}).encode()).meta == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"jsonrpc": "1.0"}, '`jsonrpc` must be "2.0".'),
        ({"jsonrpc": 2.0}, '`jsonrpc` must be "2.0".'),
        ({"jsonrpc": None}, '`jsonrpc` must be "2.0".'),
        ({"method": None}, "`method` must be a string: only requests and notifications are sent here."),
        ({"method": ["ping"]}, "`method` must be a string: only requests and notifications are sent here."),
        ({"params": []}, "`params` must be an object."),
        ({"params": "a"}, "`params` must be an object."),
        ({"params": False}, "`params` must be an object."),
    ],
)
def test_what_is_no_message_is_refused_by_its_id(change: dict[str, Any], words: str) -> None:
    found = fault(json.dumps({**PING, "id": 7, **change}).encode())
    assert (found.code, found.status, found.id, found.message) == (INVALID_REQUEST, 400, 7, words)


def test_an_answer_is_refused_as_nothing_was_asked() -> None:
    assert fault(b'{"jsonrpc":"2.0","id":1,"result":{}}').code == INVALID_REQUEST


@pytest.mark.parametrize("body", [b"1", b'"ping"', b"null", b"true"])
def test_json_that_is_no_object_is_no_message(body: bytes) -> None:
    found = fault(body)
    assert (found.code, found.status, found.message) == (INVALID_REQUEST, 400, "The body must be a JSON object.")


@pytest.mark.parametrize("body", [b"[]", b' [{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"[1,"])
def test_a_batch_is_refused_whole(body: bytes) -> None:
    found = fault(body)
    assert (found.code, found.status) == (INVALID_REQUEST, 400)
    assert found.message == "A batch is not understood: send each message in a POST of its own."


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b"\x00",
        b"\xff\xfe{}",
        b'{"jsonrpc":"2.0","id":1,"method":"\xc3"}',
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}',
        b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 40 + b"1" + b"}" * 41,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 40_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 100_000,
    ],
    ids=lambda body: body[:60],
)
def test_what_is_not_json_or_could_be_read_in_two_ways_is_refused(body: bytes) -> None:
    found = fault(body)
    assert (found.code, found.status, found.id) == (PARSE_ERROR, 400, None)


def test_a_body_of_256_kib_is_read_and_one_more_byte_is_too_large() -> None:
    body = json.dumps(PING).encode()
    assert read(body.ljust(MAX_BYTES)).method == "ping"
    assert read(b"", **in_chunks(body.ljust(MAX_BYTES))).method == "ping"
    over = body.ljust(MAX_BYTES + 1)
    for found in (fault(over), fault(b"", **in_chunks(over)), fault(b"", **in_chunks(over * 10))):
        assert (found.code, found.status) == (INVALID_REQUEST, 413)
        assert found.message == "The body is larger than 262144 bytes."


def test_a_body_that_announces_too_much_is_refused_before_it_comes() -> None:
    assert fault(b"", CONTENT_LENGTH="10000000000").status == 413
    # Python reads no number of so many digits.
    assert fault(b"", CONTENT_LENGTH="9" * 5000).status == 413


def test_a_body_that_is_shorter_or_longer_than_it_says_is_refused() -> None:
    body = json.dumps(PING).encode()
    cut = {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body) + 1)}
    assert fault(b"", **cut).message == "The body ends before its Content-Length."
    for length in ("-1", "1e3", "²", "0x10"):
        assert fault(body, CONTENT_LENGTH=length).message == "Content-Length is not a number."


@pytest.mark.parametrize(
    "kind",
    ["", "application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF8"'],
)
def test_a_body_of_json_is_read(kind: str) -> None:
    assert read(json.dumps(PING).encode(), kind=kind).method == "ping"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        # What a form of any page can send without being asked first.
        ("text/plain", "Content-Type must be application/json, not text/plain."),
        (
            "application/x-www-form-urlencoded",
            "Content-Type must be application/json, not application/x-www-form-urlencoded.",
        ),
        ("multipart/form-data; boundary=a", "Content-Type must be application/json, not multipart/form-data."),
        ("application/json-rpc", "Content-Type must be application/json, not application/json-rpc."),
        ("application/json; charset=latin-1", "The charset must be utf-8, not latin-1."),
    ],
)
def test_a_body_that_calls_itself_something_else_is_not_read(kind: str, words: str) -> None:
    found = fault(json.dumps(PING).encode(), kind=kind)
    assert (found.code, found.status, found.message) == (INVALID_REQUEST, 400, words)


def test_a_compressed_body_is_not_read() -> None:
    found = fault(json.dumps(PING).encode(), HTTP_CONTENT_ENCODING="gzip")
    assert (found.code, found.status) == (INVALID_REQUEST, 400)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [(b"{", 400, PARSE_ERROR), (b"[]", 400, INVALID_REQUEST), (b" " * (MAX_BYTES + 1), 413, INVALID_REQUEST)],
)
def test_the_endpoint_tells_what_is_wrong_in_json_rpc(client: Client, body: bytes, status: int, code: int) -> None:
    answer = client.post("/mcp", body, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (None, code)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "QUERY"])
def test_the_endpoint_has_only_post(client: Client, method: str) -> None:
    answer = client.generic(method, "/mcp")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    if method != "HEAD":
        assert answer.json()["error"]["message"] == (
            f"This address has no {method}; it has POST."
            " MCP is served by POST to /mcp over streamable HTTP, without streams of events (SSE)."
        )


def test_a_body_that_is_too_large_stays_so_when_it_is_asked_for_again() -> None:
    tail = json.dumps(PING).encode()
    request = RequestFactory().post(
        "/mcp", b"", content_type="application/json", **in_chunks(b" " * (MAX_BYTES + 1) + tail)
    )
    for _ in range(2):
        with pytest.raises(JSONRPCError) as caught:
            jsonrpc.read_message(request)
        assert caught.value.status == 413
