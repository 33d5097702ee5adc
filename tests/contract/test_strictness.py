"""What a careless API would guess at, drop or choke on is refused by every operation of the management API.

Whatever the reason, a refusal has one shape and changes nothing.
"""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Event, Venue, WebhookEndpoint
from orders.models import Order
from reservations.models import Hold, Reservation
from tests.support import openapi_operations
from tests.support.openapi_operations import Operation

pytestmark = pytest.mark.django_db

RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
SURROGATE = "\ud83d"


def named(operation: Operation) -> str:
    return operation.name


every_operation = pytest.mark.parametrize("operation", openapi_operations.ALL, ids=named)
every_body = pytest.mark.parametrize("operation", openapi_operations.WITH_BODY, ids=named)
every_list = pytest.mark.parametrize("operation", openapi_operations.LISTS, ids=named)
every_field = pytest.mark.parametrize(
    ("operation", "field", "schema"),
    [
        pytest.param(operation, field, schema, id=f"{operation.name} {field}")
        for operation in openapi_operations.WITH_BODY
        for field, schema, _ in openapi_operations.fields(operation)
    ],
)


@pytest.fixture
def path(operation: Operation, venue: Venue) -> str:
    """Where the operation is called: of one record, a new one."""
    return operation.path_of(venue)


def stored() -> tuple[list[Any], ...]:
    """All that a refused call must leave as it is."""
    return (
        list(Order.objects.order_by("pk").values_list("pk", "status", "version")),
        list(Reservation.objects.order_by("pk").values_list("pk", "status", "version")),
        list(Hold.objects.order_by("pk").values_list("pk", "expires_at")),
        list(Event.objects.order_by("pk").values_list("pk")),
        list(
            WebhookEndpoint.objects.order_by("pk").values_list("pk", "url", "types", "disabled_at", "old_secret_until")
        ),
    )


@pytest.fixture(autouse=True)
def _nothing_changes(request: pytest.FixtureRequest) -> Iterator[None]:
    """A call that is refused changes nothing."""
    if "path" in request.fixturenames:
        request.getfixturevalue("path")
    before = stored()
    yield
    assert stored() == before


def refusal(response: Any, *, status: int = 400, code: str = "invalid_request", param: str | None = None) -> str:
    """The message of an answer that has the one shape of all refusals, with this status, code and parameter."""
    assert (response.status_code, response["Content-Type"]) == (status, "application/json")
    assert [response[name].isdigit() for name in RATE_HEADERS] == [True, True, True]
    body = response.json()
    assert list(body) == ["error"]
    error = body["error"]
    assert list(error) == ["code", "message", "param", "request_id", "details"]
    assert (error["code"], error["param"], error["request_id"]) == (code, param, response["X-Request-Id"])
    assert error["request_id"].startswith("req_")
    assert all(list(problem) == ["param", "message"] for problem in error["details"])
    assert (param in [problem["param"] for problem in error["details"]]) == (param is not None)
    message: str = error["message"]
    assert message
    return message


# Bodies
@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[" * 5000, id="5 kB of ["),
        pytest.param("[" * 100_000, id="100 kB of ["),
        pytest.param("[" * 50_000 + "]" * 50_000, id="100 kB of balanced brackets"),
        pytest.param('{"a":' * 20_000, id="100 kB of nested objects"),
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
        pytest.param(f'{{"status": {10**400}}}', id="10**400"),
        pytest.param('{"status": ' + "9" * 100_000 + "}", id="100,000 digits"),
        pytest.param(b'{"status": "\xff"}', id="bad UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"status": "completed"}', id="byte order mark"),
        pytest.param('{"status": "completed"}'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"a\\u0000": 1}', id="NUL in a key"),
        pytest.param('{"\\ud800": 1}', id="lone surrogate in a key"),
        pytest.param('{"\\ud800": 1, "\\ud800": 2}', id="lone surrogate as a key, twice"),
        pytest.param('{"a": [' + "0," * 200_000 + '"\\u0000"', id="200,000 elements without an end"),
    ],
)
@every_body
def test_a_body_that_is_not_one_json_object_is_refused(
    operation: Operation, path: str, api: Client, body: str | bytes
) -> None:
    refusal(operation.send(api, path, body, content_type="application/json"))


@every_body
def test_a_key_that_stands_twice_is_refused_by_name(operation: Operation, path: str, api: Client) -> None:
    name = next(iter(operation.body or {}))
    twice = json.dumps(operation.body)[:-1] + f', "{name}": "completed"}}'
    assert refusal(operation.send(api, path, twice), param=name) == f"The key `{name}` stands twice in one object."


@pytest.mark.sample(4)
@pytest.mark.parametrize("charset", ["utf-16", "latin-1", '"UTF-16"', "no-such"])
@every_body
def test_a_charset_other_than_utf_8_is_refused(operation: Operation, path: str, api: Client, charset: str) -> None:
    response = operation.send(api, path, content_type=f"application/json; charset={charset}")
    assert refusal(response) == f"The charset must be utf-8, not {charset.strip(chr(34))}."


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", "application/xml"]
)
@every_body
def test_a_form_or_a_text_is_refused(operation: Operation, path: str, api: Client, kind: str) -> None:
    message = refusal(operation.send(api, path, "status=completed", content_type=kind))
    assert message == f"Content-Type must be application/json, not {kind}."


@pytest.mark.exhaustive
@every_body
def test_a_bomb_of_gzip_is_refused_as_it_is(operation: Operation, path: str, api: Client) -> None:
    bomb = gzip.compress(b" " * 30_000_000)
    response = operation.send(api, path, bomb, content_type="application/json", **{"content-encoding": "gzip"})
    assert refusal(response) == "A compressed body is not understood; send it plain."


def body_limit(operation: Operation) -> int:
    """The bytes that its body may have."""
    return 4 * 1024 * 1024 if operation.name == "replace_menu" else 1024 * 1024


@pytest.mark.parametrize("excess", [1, 30_000_000])
@every_body
def test_a_body_over_the_limit_is_refused(operation: Operation, path: str, api: Client, excess: int) -> None:
    limit = body_limit(operation)
    assert refusal(operation.send(api, path, b" " * (limit + excess))) == f"The body is larger than {limit} bytes."


@every_body
def test_a_body_in_chunks_is_refused_where_the_server_does_not_end_it(
    operation: Operation, path: str, api: Client
) -> None:
    headers = {"transfer-encoding": "chunked"}
    response = api.generic(operation.method, path, content_type="application/json", headers=headers)
    assert refusal(response) == "Send Content-Length: a body in chunks is not understood here."


# Fields
@pytest.mark.exhaustive
@every_body
def test_an_unknown_field_is_refused_with_the_nearest_known_one(operation: Operation, path: str, api: Client) -> None:
    for field, _, _ in openapi_operations.fields(operation):
        wrong = f"{field}z"
        body = openapi_operations.changed(operation.body or {}, wrong, "completed")
        message = refusal(operation.send(api, path, body), param=wrong)
        assert f"Did you mean `{field.rpartition('.')[2]}`?" in message


@pytest.mark.exhaustive
@every_body
def test_a_body_of_unknown_fields_is_answered_with_the_first_ten(operation: Operation, path: str, api: Client) -> None:
    response = operation.send(api, path, {f"x{number}": 1 for number in range(30_000)})
    refusal(response, param="x0")
    content = [problem["param"] for problem in response.json()["error"]["details"]]
    assert [param for param in content if param.startswith("x")] == [f"x{number}" for number in range(10)]


@pytest.mark.sample(4)
@every_field
def test_a_field_of_another_type_is_refused_by_name(
    operation: Operation, field: str, schema: dict[str, Any], path: str, api: Client
) -> None:
    values: dict[str, list[Any]] = {
        "string": ["2"],
        "integer": [5, -(10**18)],
        "number": [2.0, 1.5],
        "boolean": [True],
        "null": [None],
        "array": [["2"]],
        "object": [{"2": "2"}],
    }
    for kind in values.keys() - openapi_operations.types(schema):
        for value in values[kind]:
            body = openapi_operations.changed(operation.body or {}, field, value)
            refusal(operation.send(api, path, body), param=field)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("operation", "field"),
    [
        pytest.param(operation, field, id=f"{operation.name} {field}")
        for operation in openapi_operations.WITH_BODY
        for field, _, required in openapi_operations.fields(operation)
        if required
    ],
)
def test_a_field_that_is_missing_is_refused_by_name(operation: Operation, field: str, path: str, api: Client) -> None:
    body = openapi_operations.changed(operation.body or {}, field)
    assert refusal(operation.send(api, path, body), param=field) == f"`{field}`: This is required."


@pytest.mark.sample(4)
@every_field
def test_text_that_no_database_holds_is_refused_by_name(
    operation: Operation, field: str, schema: dict[str, Any], path: str, api: Client
) -> None:
    for text in ("a\x00b", SURROGATE, f"\udca9{SURROGATE}"):
        if "string" in openapi_operations.types(schema):
            body = openapi_operations.changed(operation.body or {}, field, text)
            refusal(operation.send(api, path, body), param=field)
        if "object" in openapi_operations.types(schema):
            body = openapi_operations.changed(operation.body or {}, field, {"note": text})
            refusal(operation.send(api, path, body), param=f"{field}.note")
            body = openapi_operations.changed(operation.body or {}, field, {text: "note"})
            refusal(operation.send(api, path, body), param=field)


@pytest.mark.sample(4)
@every_field
def test_a_number_or_a_length_beyond_its_bounds_is_refused_by_name(
    operation: Operation, field: str, schema: dict[str, Any], path: str, api: Client
) -> None:
    wrong: list[Any] = [schema[bound] + step for bound, step in (("minimum", -1), ("maximum", 1)) if bound in schema]
    wrong += ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    wrong += [""] if "minLength" in schema else []
    example = (operation.body or {}).get(field)
    if "array" in openapi_operations.types(schema) and example:
        wrong += [example * 20_000, *([[]] if "minItems" in schema else [])]
    for value in wrong:
        raw = json.dumps(openapi_operations.changed(operation.body or {}, field, value), separators=(",", ":"))
        response = operation.send(api, path, raw)
        too_large = len(raw) > body_limit(operation)
        refusal(response, param=None if too_large else field)


def test_200_000_empty_items_are_refused_before_they_are_read(api: Client) -> None:
    raw = '{"customer_id":"c","payment_method":"card","items":[' + "{}," * 199_999 + "{}]}"
    response = api.post("/api/v1/orders", raw, content_type="application/json")
    assert refusal(response, param="items") == "`items`: This must have at most 100 elements."


# Query strings
@pytest.mark.sample(2)
@every_operation
def test_an_unknown_parameter_is_refused_by_name(operation: Operation, path: str, api: Client) -> None:
    for name in ("format", "expand", "Limit", "limit[]", "a b"):
        response = operation.send(api, f"{path}?{name.replace(' ', '+')}=xml")
        assert refusal(response, param=name).startswith(f"Unknown parameter `{name}`.")


@every_list
def test_an_unknown_parameter_gets_a_suggestion(operation: Operation, path: str, api: Client) -> None:
    for name in operation.parameters:
        message = refusal(operation.send(api, f"{path}?{name}z=1"), param=f"{name}z")
        assert f"Did you mean `{name}`?" in message


@every_list
def test_a_parameter_that_stands_twice_or_is_empty_is_refused_by_name(
    operation: Operation, path: str, api: Client
) -> None:
    for name in operation.parameters:
        assert refusal(operation.send(api, f"{path}?{name}=1&{name}=1"), param=name).endswith("give it once.")
        assert refusal(operation.send(api, f"{path}?{name}="), param=name).endswith("or give it a value.")
        assert refusal(operation.send(api, f"{path}?{name}"), param=name).endswith("or give it a value.")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "value", ["%00", "1%00", "%ED%A0%80", "%FF", "%D9%A1", "9" * 5000, str(10**400), "x" * 60_000]
)
@every_list
def test_a_parameter_of_what_no_parameter_is_is_refused(
    operation: Operation, path: str, api: Client, value: str
) -> None:
    for name in operation.parameters:
        if (name, value) == ("customer_id", "%D9%A1"):
            # Customers have any id that is a text.
            continue
        response = operation.send(api, f"{path}?{name}={value}")
        # What is not UTF-8 is not taken apart, so no parameter can be named.
        refusal(response, param=None if value in ("%FF", "%ED%A0%80") else name)


@pytest.mark.sample(2)
@every_operation
def test_an_address_of_60_kb_is_refused(operation: Operation, path: str, api: Client) -> None:
    message = refusal(operation.send(api, f"{path}?{'x' * 60_000}=1"), param="x" * 80)
    assert len(message) < 300


# Addresses and methods
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/", "/api/v1", "/api/v1/", "/api/v3/orders", "/api/v1/menus", "/api/v1//orders"),
        *("/api/v1/orders//", "/api/v1/orders/a/b/c", "/api/v1/orders.json", f"/api/v1/{'o' * 60_000}"),
        *("/api/v1/orders/..%2f..", "/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z.json"),
        "/api/v1/reservations/res_01jd5k3v8rf8hb2m0c9t6w4y7z",
    ],
    ids=lambda path: path[:60],
)
def test_an_unknown_path_is_401_without_a_key_and_404_with_one(api: Client, client: Client, path: str) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        refusal(client.generic(method, path), status=401, code="missing_credentials")
        refusal(api.generic(method, path), status=404, code="not_found")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "record",
    [
        *("x", "%00", "%ff%fe", "x" * 60_000),
        *("ord_81jd5k3v8rf8hb2m0c9t6w4y7z", "ORD_01jd5k3v8rf8hb2m0c9t6w4y7z", "res_01jd5k3v8rf8hb2m0c9t6w4y7z"),
    ],
    ids=lambda record: record[:40],
)
@pytest.mark.parametrize("operation", openapi_operations.OF_ONE_RECORD, ids=named)
def test_what_is_no_id_is_404_like_an_id_that_is_not_there(operation: Operation, api: Client, record: str) -> None:
    response = operation.send(api, operation.path(record))
    unknown = operation.send(api, operation.path("ord_01jd5k3v8rf8hb2m0c9t6w4y7z"))
    assert refusal(response, status=404, code="not_found") == refusal(unknown, status=404, code="not_found")


@pytest.mark.parametrize(
    "operation",
    [
        next(each for each in openapi_operations.ALL if each.template == template)
        for template in openapi_operations.PATHS
    ],
    ids=lambda operation: operation.template,
)
def test_a_method_that_a_path_does_not_have_is_405_with_those_that_it_has(
    operation: Operation, path: str, api: Client
) -> None:
    served = {*openapi_operations.PATHS[operation.template]}
    served |= {"HEAD"} if "GET" in served else set()
    for method in sorted({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} - served):
        response = api.generic(method, path)
        message = refusal(response, status=405, code="method_not_allowed")
        assert {*response["Allow"].split(", ")} == served
        assert message == f"This address has no {method}; it has {response['Allow']}."


# Whoever asks, and from wherever
@every_operation
def test_a_call_without_credentials_is_401_with_a_hint(operation: Operation, path: str, client: Client) -> None:
    for header, code in (
        (None, "missing_credentials"),
        ("", "missing_credentials"),
        ("Bearer", "invalid_credentials"),
        ("Basic YTpi", "invalid_credentials"),
        ("Bearer rk_live_nonsense", "invalid_credentials"),
        ("Bearer " + "x" * 60_000, "invalid_credentials"),
    ):
        response = operation.send(client, path, **({} if header is None else {"authorization": header}))
        refusal(response, status=401, code=code)
        assert response["WWW-Authenticate"] == 'Bearer realm="tablewire"'


@every_operation
def test_a_host_that_is_not_ours_is_refused(operation: Operation, path: str, api: Client) -> None:
    for host in ("evil.example", "a_b", "127.0.0.1:port", ""):
        assert refusal(operation.send(api, path, host=host)) == "The request is malformed."
