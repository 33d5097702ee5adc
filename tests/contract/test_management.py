"""Seed 000, the restaurant management API: one test for each of its statements."""

from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from accounts.models import ApiKey, Venue
from tests.support import builders, openapi_operations

pytestmark = pytest.mark.django_db

ORDERS = "/api/v1/orders"
RESERVATIONS = "/api/v1/reservations"
WEBHOOKS = "/api/v1/webhooks"
NOON = "2026-11-21T12:00:00Z"
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def post(api: Client, path: str, body: dict[str, Any]) -> Any:
    return api.post(path, body, content_type="application/json")


def put(api: Client, path: str, body: dict[str, Any]) -> Any:
    return api.put(path, body, content_type="application/json")


def error_of(response: Any) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    return error


# What the service does
def test_a_client_can_create_list_retrieve_and_move_orders_and_list_and_create_reservations(api: Client) -> None:
    order = post(api, ORDERS, builders.order_body()).json()
    assert api.get(ORDERS).json()["data"] == [order]
    assert api.get(f"{ORDERS}/{order['id']}").json() == order
    moved = put(api, f"{ORDERS}/{order['id']}/status", {"status": "completed"}).json()
    assert api.get(f"{ORDERS}/{order['id']}").json() == moved
    reservation = post(api, RESERVATIONS, builders.reservation_body()).json()
    assert api.get(RESERVATIONS).json()["data"] == [reservation]


def test_version_1_has_the_six_operations_of_the_contract_and_those_that_were_added() -> None:
    found = {(operation.method, operation.template) for operation in openapi_operations.ALL}
    assert {(method, template) for method, template in found if template.startswith("/api/v1/")} == {
        ("GET", ORDERS),
        ("POST", ORDERS),
        ("GET", f"{ORDERS}/{{id}}"),
        ("PUT", f"{ORDERS}/{{id}}/status"),
        ("PUT", f"{ORDERS}/{{id}}/stage"),
        ("GET", "/api/v1/menu"),
        ("PUT", "/api/v1/menu"),
        ("PATCH", "/api/v1/menu/items/{id}"),
        ("GET", RESERVATIONS),
        ("POST", RESERVATIONS),
        ("GET", "/api/v1/availability"),
        ("GET", "/api/v1/holds"),
        ("POST", "/api/v1/holds"),
        ("GET", "/api/v1/holds/{id}"),
        ("DELETE", "/api/v1/holds/{id}"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/test/clock"),
        ("POST", "/api/v1/test/clock"),
        ("GET", WEBHOOKS),
        ("POST", WEBHOOKS),
        *((method, f"{WEBHOOKS}/{{id}}") for method in ("GET", "PATCH", "DELETE")),
        *(("POST", f"{WEBHOOKS}/{{id}}/{action}") for action in ("rotate", "test", "resend_failed")),
        ("GET", f"{WEBHOOKS}/{{id}}/deliveries"),
        ("POST", f"{WEBHOOKS}/{{id}}/deliveries/{{event_id}}/resend"),
    }


def test_version_2_has_operations_on_a_single_reservation_besides() -> None:
    found = {(operation.method, operation.template) for operation in openapi_operations.ALL}
    assert {(method, template) for method, template in found if template.startswith("/api/v2/")} == {
        (method, "/api/v2/reservations/{id}") for method in ("GET", "PATCH", "DELETE")
    }


# Resources and their fields
def test_an_order_is_created_from_the_fields_of_its_request_shape(api: Client) -> None:
    body = {
        "customer_id": "cust_123",
        "items": [{"menu_item_id": "margherita", "quantity": 2, "notes": "no basil"}],
        "delivery_address": "1 Main St",
        "payment_method": "credit_card",
    }
    response = post(api, ORDERS, body)
    assert response.status_code == 201
    record = response.json()
    assert {name: record[name] for name in body if name != "items"} == {
        name: value for name, value in body.items() if name != "items"
    }
    line = record["items"][0]
    assert (line["menu_item_id"], line["quantity"], line["notes"]) == ("margherita", 2, "no basil")


def test_a_reservation_is_created_from_the_fields_of_its_request_shape(api: Client) -> None:
    body = builders.reservation_body(
        customer_name="Ada Lovelace",
        customer_email="ada@example.com",
        customer_phone="+15550100999",
        time="19:30",
        party_size=4,
        special_requests="By the window, please",
    )
    response = post(api, RESERVATIONS, body)
    assert response.status_code == 201
    record = response.json()
    assert {name: record[name] for name in body} == body


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("customer_phone", ["+15550100999", "+49 30 901820"], ["015550100999", "15550100999", "+0155501009", "phone"]),
        ("customer_email", ["ada@example.com"], ["ada", "ada@", "ada@example"]),
        ("time", ["00:00", "09:05", "23:59"], ["24:00", "7:30", "19.30", "19:60", "7:30 PM", "19:30:00"]),
        ("party_size", [1, 500], [0, 501, -1, "4", 4.0]),
    ],
)
def test_a_field_of_a_reservation_has_the_form_of_the_contract(
    api: Client, field: str, good: list[Any], bad: list[Any]
) -> None:
    assert [post(api, RESERVATIONS, builders.reservation_body(**{field: value})).status_code for value in good] == [
        201 for _ in good
    ]
    for value in bad:
        response = post(api, RESERVATIONS, builders.reservation_body(**{field: value}))
        assert (value, response.status_code, error_of(response)["param"]) == (value, 400, field)


@pytest.mark.parametrize("date", ["2026-2-3", "20270203", "03.02.2027", "2027-02-30", "tomorrow"])
def test_a_date_is_written_year_month_day(api: Client, date: str) -> None:
    for response in (
        post(api, RESERVATIONS, builders.reservation_body(date=date)),
        api.get(RESERVATIONS, {"date": date}),
    ):
        assert (response.status_code, error_of(response)["param"]) == (400, "date")


# States and transitions
def test_an_order_is_pending_completed_or_cancelled(api: Client, venue: Venue) -> None:
    for status in ("pending", "completed", "cancelled"):
        order = builders.order(venue, status=status)
        assert api.get(f"{ORDERS}/{order.public_id}").json()["status"] == status


def test_a_reservation_is_confirmed_pending_or_cancelled(api: Client, venue: Venue) -> None:
    for status in ("confirmed", "pending", "cancelled"):
        builders.reservation(venue, status=status)
    statuses = {record["status"] for record in api.get(RESERVATIONS).json()["data"]}
    assert statuses == {"confirmed", "pending", "cancelled"}


def test_the_order_status_is_changed_by_put_with_a_status_field(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    response = put(api, f"{ORDERS}/{order.public_id}/status", {"status": "completed"})
    assert response.status_code == 200
    assert response.json()["status"] == "completed"
    assert api.get(f"{ORDERS}/{order.public_id}").json()["status"] == "completed"


@pytest.mark.parametrize("status", ["confirmed", "done", "PENDING", ""])
def test_a_status_that_orders_do_not_have_is_refused(api: Client, venue: Venue, status: str) -> None:
    order = builders.order(venue)
    for response in (
        put(api, f"{ORDERS}/{order.public_id}/status", {"status": status}),
        api.get(ORDERS, {"status": status}),
    ):
        assert (response.status_code, error_of(response)["param"]) == (400, "status")
    order.refresh_from_db()
    assert (order.status, order.version) == ("pending", 1)


# Endpoints
def test_get_orders_is_a_paginated_list(api: Client, venue: Venue) -> None:
    orders = [builders.order(venue) for _ in range(3)]
    response = api.get(ORDERS, {"limit": 2, "page": 2})
    assert response.status_code == 200
    assert [record["id"] for record in response.json()["data"]] == [orders[0].public_id]
    position = {"page": 2, "limit": 2, "total": 3, "total_pages": 2, "has_more": False}
    assert response.json()["pagination"] == position | {"next_cursor": None}


@pytest.mark.parametrize("status", ["pending", "completed", "cancelled"])
def test_get_orders_filters_by_status(api: Client, venue: Venue, status: str) -> None:
    orders = {name: builders.order(venue, status=name) for name in ("pending", "completed", "cancelled")}
    found = api.get(ORDERS, {"status": status}).json()["data"]
    assert [record["id"] for record in found] == [orders[status].public_id]


def test_parameters_that_are_left_out_filter_nothing(api: Client, venue: Venue) -> None:
    for status in ("pending", "completed", "cancelled"):
        builders.order(venue, status=status)
    for status in ("confirmed", "pending", "cancelled"):
        builders.reservation(venue, status=status)
    assert len(api.get(ORDERS).json()["data"]) == len(api.get(RESERVATIONS).json()["data"]) == 3


@pytest.mark.exhaustive
def test_the_limit_of_orders_is_20_when_it_is_left_out(api: Client, venue: Venue) -> None:
    for _ in range(21):
        builders.order(venue)
    answer = api.get(ORDERS).json()
    assert len(answer["data"]) == 20
    assert answer["pagination"]["limit"] == 20


def test_the_limit_of_orders_is_at_most_100(api: Client) -> None:
    assert api.get(ORDERS, {"limit": 100}).json()["pagination"]["limit"] == 100
    response = api.get(ORDERS, {"limit": 101})
    assert (response.status_code, error_of(response)["param"]) == (400, "limit")


def test_the_page_of_orders_is_1_when_it_is_left_out(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    answer = api.get(ORDERS).json()
    assert answer["pagination"]["page"] == 1
    assert [record["id"] for record in answer["data"]] == [order.public_id]


def test_post_orders_answers_201(api: Client) -> None:
    assert post(api, ORDERS, builders.order_body(delivery_address="1 Main St")).status_code == 201


def test_get_orders_id_answers_one_order(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    response = api.get(f"{ORDERS}/{order.public_id}")
    assert (response.status_code, response.json()["id"]) == (200, order.public_id)


@pytest.mark.exhaustive
def test_get_reservations_lists_all_when_nothing_is_asked_for(api: Client, venue: Venue) -> None:
    for _ in range(25):
        builders.reservation(venue)
    response = api.get(RESERVATIONS)
    assert (response.status_code, len(response.json()["data"])) == (200, 25)


def test_get_reservations_filters_by_date(api: Client) -> None:
    body = builders.reservation_body()
    reservation = post(api, RESERVATIONS, body).json()
    assert [record["id"] for record in api.get(RESERVATIONS, {"date": body["date"]}).json()["data"]] == [
        reservation["id"]
    ]
    assert api.get(RESERVATIONS, {"date": "2031-05-04"}).json()["data"] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("status", ["confirmed", "pending", "cancelled"])
def test_get_reservations_filters_by_status(api: Client, venue: Venue, status: str) -> None:
    made = {name: builders.reservation(venue, status=name) for name in ("confirmed", "pending", "cancelled")}
    found = api.get(RESERVATIONS, {"status": status}).json()["data"]
    assert [record["id"] for record in found] == [made[status].public_id]


def test_post_reservations_answers_201(api: Client) -> None:
    assert post(api, RESERVATIONS, builders.reservation_body()).status_code == 201


def test_no_operation_on_a_single_reservation_exists(api: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue)
    for method in ("get", "put", "patch", "delete", "post"):
        response = getattr(api, method)(f"{RESERVATIONS}/{reservation.public_id}")
        assert (method, response.status_code, error_of(response)["code"]) == (method, 404, "not_found")
    reservation.refresh_from_db()
    assert reservation.status == "pending"


def test_no_operation_deletes_an_order(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    response = api.delete(f"{ORDERS}/{order.public_id}")
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert error_of(response)["code"] == "method_not_allowed"
    assert api.get(f"{ORDERS}/{order.public_id}").status_code == 200


def test_every_answer_is_json(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    for response in (
        api.get(ORDERS),
        post(api, ORDERS, builders.order_body()),
        api.get(f"{ORDERS}/{order.public_id}"),
        put(api, f"{ORDERS}/{order.public_id}/status", {"status": "completed"}),
        api.get(RESERVATIONS),
        post(api, RESERVATIONS, builders.reservation_body()),
        api.get("/api/v1/nothing"),
    ):
        assert response["Content-Type"] == "application/json"
        assert isinstance(response.json(), dict)


# Authentication
@pytest.mark.parametrize(
    ("header", "code"), [(None, "missing_credentials"), ("Bearer rk_live_nonsense", "invalid_credentials")]
)
def test_missing_and_invalid_credentials_are_401_whatever_is_asked(
    client: Client, header: str | None, code: str
) -> None:
    asked = [(operation.method, operation.path("x")) for operation in openapi_operations.ALL]
    for method, path in [*asked, ("DELETE", ORDERS), ("GET", "/api/v1/nothing"), ("GET", "/api")]:
        response = client.generic(method, path, headers={"authorization": header} if header else {})
        assert (response.status_code, error_of(response)["code"]) == (401, code)
        assert response["WWW-Authenticate"] == 'Bearer realm="tablewire"'


@pytest.mark.exhaustive
def test_missing_credentials_stay_401_when_the_address_has_called_more_than_1000_times(client: Client) -> None:
    # In one hour of the count, whenever the test runs.
    with time_machine.travel(NOON, tick=False):
        answers = [client.get(ORDERS) for _ in range(1002)]
    assert {response.status_code for response in answers} == {401}
    assert [response["X-RateLimit-Remaining"] for response in answers[-3:]] == ["0", "0", "0"]


# Errors
def test_an_error_body_has_code_message_and_param(api: Client) -> None:
    response = api.get(ORDERS, {"limit": "0"})
    assert response.status_code == 400
    error = error_of(response)
    assert (error["code"], error["param"]) == ("invalid_request", "limit")
    assert error["message"] == "`limit` must be a whole number from 1 to 100."


def test_invalid_request_is_the_code_of_a_missing_parameter(api: Client) -> None:
    body = builders.order_body()
    del body["customer_id"]
    response = post(api, ORDERS, body)
    assert response.status_code == 400
    assert (error_of(response)["code"], error_of(response)["param"]) == ("invalid_request", "customer_id")


def test_invalid_request_is_the_code_of_an_invalid_parameter(api: Client) -> None:
    response = post(api, ORDERS, builders.order_body(items=[{"menu_item_id": "margherita", "quantity": 0}]))
    assert response.status_code == 400
    assert (error_of(response)["code"], error_of(response)["param"]) == ("invalid_request", "items[0].quantity")


def test_a_malformed_request_is_400(api: Client) -> None:
    response = api.post(ORDERS, "{", content_type="application/json")
    assert (response.status_code, error_of(response)["code"]) == (400, "invalid_request")


def test_a_resource_that_does_not_exist_is_404(api: Client) -> None:
    response = api.get(f"{ORDERS}/ord_01jd5k3v8rf8hb2m0c9t6w4y7z")
    assert (response.status_code, error_of(response)["code"], error_of(response)["param"]) == (404, "not_found", None)


def test_an_internal_error_is_500(api: Client, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.framework.api.failing_urls"
    api.raise_request_exception = False
    response = api.get("/api/v1/breaks")
    assert (response.status_code, error_of(response)["code"]) == (500, "internal_error")


def test_no_operation_answers_with_a_status_that_the_contract_does_not_list() -> None:
    # 304 and 412 are asked for by If-None-Match and If-Match; 503 is for when the database is away (decision 0002).
    listed = {"200", "201", "400", "401", "404", "429", "500"} | {"304", "412", "503"}
    for operation in openapi_operations.ALL:
        answers = openapi_operations.documented(operation.template, operation.method)["responses"]
        assert {*answers} <= listed, operation.name


# Limits
@pytest.mark.exhaustive
def test_a_key_has_1000_requests_an_hour_exactly(venue: Venue) -> None:
    assert ApiKey.create(venue, name="test").row.allowance == 1000
    with time_machine.travel(NOON, tick=False):
        api, sibling = builders.client(venue), builders.client(venue)
        statuses = [api.get(f"{ORDERS}/x").status_code for _ in range(1001)]
        assert statuses == [404] * 1000 + [429]
        assert sibling.get(f"{ORDERS}/x").status_code == 404


def test_the_remaining_requests_count_down_from_the_allowance(venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        api = builders.client(venue)
        answers = [api.get(ORDERS) for _ in range(3)]
    assert [response["X-RateLimit-Limit"] for response in answers] == ["1000"] * 3
    assert [response["X-RateLimit-Remaining"] for response in answers] == ["999", "998", "997"]
    assert len({response["X-RateLimit-Reset"] for response in answers}) == 1


def test_the_reset_is_an_integer_within_the_hour(api: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        reset = api.get(ORDERS)["X-RateLimit-Reset"]
    noon = 1795262400
    assert reset.isdigit()
    assert noon < int(reset) <= noon + 3600


@pytest.mark.exhaustive
def test_every_response_carries_the_three_headers(venue: Venue, client: Client, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.framework.api.failing_urls"
    api = builders.client(venue, raise_request_exception=False)
    spent = builders.client(venue, allowance=1)
    spent.get(ORDERS)
    answers = {
        200: api.get(ORDERS),
        201: post(api, ORDERS, builders.order_body()),
        400: api.get(ORDERS, headers={"host": "evil.example"}),
        401: client.get(ORDERS),
        404: api.get("/api/v1/nothing"),
        405: api.delete(ORDERS),
        429: spent.get(ORDERS),
        500: api.get("/api/v1/breaks"),
    }
    assert {status: response.status_code for status, response in answers.items()} == {
        status: status for status in answers
    }
    for response in [*answers.values(), api.get(ORDERS, {"limit": 0}), api.head(ORDERS), api.options(ORDERS)]:
        assert [response[name].isdigit() for name in RATE_HEADERS] == [True, True, True]


def test_an_exhausted_allowance_is_429(venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        api = builders.client(venue, allowance=2)
        statuses = [api.get(ORDERS).status_code for _ in range(3)]
        refused = api.get(ORDERS)
    assert statuses == [200, 200, 429]
    assert error_of(refused)["code"] == "rate_limit_exceeded"
    assert refused["X-RateLimit-Remaining"] == "0"
    assert int(refused["Retry-After"]) == int(refused["X-RateLimit-Reset"]) - 1795262400


# Versioning
def test_the_version_is_a_segment_of_the_path(api: Client) -> None:
    assert api.get("/api/v1/orders").status_code == 200
    assert api.get("/api/orders").status_code == 404
    assert api.get("/api/v2/orders").status_code == 200
    assert api.get("/api/v3/orders").status_code == 404
