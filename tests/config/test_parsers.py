"""Bodies that a careless parser would guess at, drop or choke on, sent to each operation that takes one.

The rows of management.md, section 6, that are about bodies; what only a real server can be sent is in test_served.py.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from accounts.models import Venue
from config.api.parsers import Malformed, parse
from orders.models import Order
from reservations.models import Reservation
from tests import make


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with a body that it accepts, and one of its text fields."""

    api: Client
    method: str
    path: str
    good: dict[str, Any]
    text: str
    status: int

    def send(self, body: bytes | str | dict[str, Any], content_type: str = "application/json", **headers: str) -> Any:
        """Send this body."""
        raw = json.dumps(body) if isinstance(body, dict) else body
        return self.api.generic(self.method, self.path, raw, content_type=content_type, headers=headers)


@pytest.fixture(params=["POST /orders", "POST /reservations", "PUT /orders/<id>/status"])
def operation(request: pytest.FixtureRequest, api: Client, venue: Venue) -> Operation:
    """Each operation that takes a body, in turn."""
    if request.param == "POST /orders":
        return Operation(api, "POST", "/api/v1/orders", make.order_body(), "customer_id", 201)
    if request.param == "POST /reservations":
        return Operation(api, "POST", "/api/v1/reservations", make.reservation_body(), "customer_name", 201)
    order = make.order(venue)
    return Operation(api, "PUT", f"/api/v1/orders/{order.public_id}/status", {"status": "completed"}, "status", 200)


def refusal_of(response: Any) -> tuple[int, str, str | None]:
    """Status, code and parameter of a refusal; it is JSON and nothing was stored."""
    assert response["Content-Type"] == "application/json"
    assert not Order.objects.exclude(status="pending").exists()
    assert not Reservation.objects.exists()
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]


REFUSED = (400, "invalid_request", None)


def test_a_good_body_is_accepted(operation: Operation) -> None:
    assert operation.send(operation.good).status_code == operation.status


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[" * 5000, id="5 kB of ["),
        pytest.param('{"a":' * 5000, id="nested objects"),
        pytest.param("[" * 5000 + "]" * 5000, id="balanced brackets"),
        pytest.param("{", id="malformed"),
        pytest.param("{'status': 'completed'}", id="single quotes"),
        pytest.param('{"status": "completed",}', id="trailing comma"),
        pytest.param('{"status": "completed"} {}', id="two objects"),
        pytest.param("[]", id="list"),
        pytest.param("null", id="null"),
        pytest.param('"completed"', id="string"),
        pytest.param("7", id="number"),
        pytest.param("", id="nothing"),
        pytest.param(" \n", id="white space"),
        pytest.param('{"status": NaN}', id="NaN"),
        pytest.param('{"status": -Infinity}', id="-Infinity"),
        pytest.param('{"status": 1e400}', id="1e400"),
        pytest.param('{"status": ' + "9" * 5000 + "}", id="5000 digits"),
        pytest.param(b'{"status": "\xff"}', id="bad UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"status": "completed"}', id="byte order mark"),
        pytest.param('{"a\\u0000": 1}', id="NUL in a key"),
        pytest.param('{"\\ud800": 1}', id="lone surrogate in a key"),
        pytest.param('{"\\ud800": 1, "\\ud800": 2}', id="lone surrogate as a key, twice"),
    ],
)
def test_a_body_that_is_not_one_json_object_is_refused(operation: Operation, body: str | bytes) -> None:
    assert refusal_of(operation.send(body)) == REFUSED


def test_a_key_that_stands_twice_is_refused_by_name(operation: Operation) -> None:
    twice = json.dumps(operation.good)[:-1] + f', "{operation.text}": "completed"}}'
    assert refusal_of(operation.send(twice)) == (400, "invalid_request", operation.text)


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d", "\udca9\ud83d"], ids=["NUL", "half a pair", "pair reversed"])
def test_text_that_no_database_holds_is_refused_by_name(operation: Operation, text: str) -> None:
    body = operation.good | {operation.text: text}
    assert refusal_of(operation.send(body)) == (400, "invalid_request", operation.text)
    assert refusal_of(operation.send(operation.good | {"metadata": {"note": text}})) == (
        400,
        "invalid_request",
        "metadata.note",
    )


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", '"UTF-16"', "no-such"])
def test_a_charset_other_than_utf_8_is_refused(operation: Operation, charset: str) -> None:
    raw = json.dumps(operation.good).encode()
    assert refusal_of(operation.send(raw, f"application/json; charset={charset}")) == REFUSED


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        'Application/JSON;charset="UTF-8"',
        "application/json; version=1",
    ],
)
def test_utf_8_json_is_read_however_its_type_is_written(operation: Operation, content_type: str) -> None:
    assert operation.send(operation.good, content_type).status_code == operation.status


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_a_form_or_a_text_is_refused(operation: Operation, content_type: str) -> None:
    response = operation.send("status=completed", content_type)
    assert refusal_of(response) == REFUSED
    assert response.json()["error"]["message"] == f"Content-Type must be application/json, not {content_type}."


def test_a_body_without_a_type_is_read_as_json(operation: Operation) -> None:
    assert operation.send(operation.good, "").status_code == operation.status


def test_a_compressed_body_is_refused(operation: Operation) -> None:
    assert refusal_of(operation.send(operation.good, **{"content-encoding": "gzip"})) == REFUSED


def test_a_body_over_the_limit_is_refused_without_being_read(operation: Operation) -> None:
    response = operation.send(b" " * (1024 * 1024 + 1))
    assert refusal_of(response) == REFUSED
    assert response.json()["error"]["message"] == "The body is larger than 1048576 bytes."


def test_a_body_of_the_limit_is_read(operation: Operation) -> None:
    raw = json.dumps(operation.good).encode()
    assert operation.send(raw.ljust(1024 * 1024)).status_code == operation.status


def test_a_body_in_chunks_is_refused_where_the_server_does_not_end_it(operation: Operation) -> None:
    response = operation.api.generic(
        operation.method, operation.path, content_type="application/json", headers={"transfer-encoding": "chunked"}
    )
    assert refusal_of(response) == REFUSED
    assert response.json()["error"]["message"].startswith("Send Content-Length")


def test_an_unknown_field_is_refused_with_the_nearest_known_one(operation: Operation) -> None:
    wrong = operation.text.replace("s", "z")
    response = operation.send(operation.good | {wrong: "completed"})
    assert refusal_of(response) == (400, "invalid_request", wrong)
    assert f"Did you mean `{operation.text}`?" in response.json()["error"]["message"]


@pytest.mark.parametrize("value", [5, True, None, ["completed"], {"status": "completed"}, 1.5])
def test_text_is_a_json_string(operation: Operation, value: Any) -> None:
    assert refusal_of(operation.send(operation.good | {operation.text: value})) == (
        400,
        "invalid_request",
        operation.text,
    )


def test_a_query_of_an_operation_that_reads_none_is_refused_by_name(operation: Operation) -> None:
    response = operation.api.generic(
        operation.method, f"{operation.path}?expand=items", json.dumps(operation.good), content_type="application/json"
    )
    assert refusal_of(response) == (400, "invalid_request", "expand")


def test_both_slash_forms_are_served_without_a_redirect(operation: Operation) -> None:
    response = operation.api.generic(
        operation.method, f"{operation.path}/", json.dumps(operation.good), content_type="application/json"
    )
    assert response.status_code == operation.status


@pytest.mark.parametrize("accept", ["application/xml", "text/html", "image/png", "nonsense"])
def test_accept_is_ignored_for_there_is_only_json(operation: Operation, accept: str) -> None:
    response = operation.send(operation.good, accept=accept)
    assert (response.status_code, response["Content-Type"]) == (operation.status, "application/json")


def test_a_body_of_unknown_fields_is_answered_with_the_first_ten(operation: Operation) -> None:
    response = operation.send({f"{operation.text}{number}": 1 for number in range(30_000)})
    assert refusal_of(response) == (400, "invalid_request", f"{operation.text}0")
    strangers = [problem["param"] for problem in response.json()["error"]["details"] if problem["param"][-1].isdigit()]
    assert strangers == [f"{operation.text}{number}" for number in range(10)]


# The parser itself -------------------------------------------------------------------------------------------------
def test_an_object_is_read_with_all_that_json_has() -> None:
    raw = '{"a": [1, -2.5, true, false, null, "Ærø 🍕"], "b": {"c": {}}, "\\u0061\\n": "\\ud83c\\udf55"}'.encode()
    assert parse(raw) == {"a": [1, -2.5, True, False, None, "Ærø 🍕"], "b": {"c": {}}, "a\n": "🍕"}


def test_objects_nest_32_deep_and_no_deeper() -> None:
    assert parse(b'{"a":' * 32 + b"1" + b"}" * 32)["a"]
    with pytest.raises(Malformed, match="nested deeper than 32 levels"):
        parse(b'{"a":' * 33 + b"1" + b"}" * 33)


def test_brackets_in_text_do_not_nest() -> None:
    assert parse(b'{"a": "' + b"[" * 100 + b'", "b": "\\"' + b"{" * 100 + b'"}')["b"] == '"' + "{" * 100


def test_an_unfinished_text_of_half_a_megabyte_of_quotes_is_read_once() -> None:
    # Read anew from each quote it would take hours.
    with pytest.raises(Malformed, match="Unterminated string"):
        parse(b'{"a": "' + b'\\"' * 500_000)


def test_a_number_of_more_than_20_places_is_refused() -> None:
    assert parse(b'{"a": 99999999999999999999}') == {"a": 99999999999999999999}
    with pytest.raises(Malformed, match="too large"):
        parse(b'{"a": 100000000000000000000}')


def test_a_malformed_body_is_told_by_line_and_column() -> None:
    with pytest.raises(Malformed) as refused:
        parse(b'{"a": 1,\n "b" 2}')
    assert refused.value.message == "The body is not JSON: Expecting ':' delimiter at line 2, column 6."


def test_where_unclean_text_stands_is_told_in_bounded_words() -> None:
    # A name of half a megabyte is not written out for each of its 200,000 elements.
    with pytest.raises(Malformed) as refused:
        parse(b'{"' + b"k" * 500_000 + b'": [' + b"0," * 200_000 + b'"\\u0000"]}')
    assert refused.value.param == "k" * 200
