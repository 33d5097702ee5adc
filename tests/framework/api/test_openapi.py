"""The OpenAPI documents: what they promise of an operation is what it does, on whatever day they are read."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import jsonschema_rs
import pytest
import time_machine
from django.test import Client
from django.utils.dateparse import parse_date

from accounts.models import Venue
from framework.api.openapi.schema import EXAMPLE_DAY, FOLDER, METHODS, SATURDAY, example_day
from framework.errors import ErrorCode
from tests.support import builders, openapi_operations
from tests.support.openapi_operations import DOCUMENT, Operation

every_operation = pytest.mark.parametrize("operation", openapi_operations.ALL, ids=lambda operation: operation.name)


def answers(operation: Operation) -> dict[str, Any]:
    """The documented answers of an operation by status."""
    found: dict[str, Any] = openapi_operations.documented(operation.template, operation.method)["responses"]
    return found


def read(name: str) -> dict[str, Any]:
    """The committed document of this name."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return document


def bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON body of each request and of each successful answer, named by its operation and status."""
    for operations in document["paths"].values():
        for method, operation in operations.items():
            if method in METHODS:
                good = {status: answer for status, answer in operation["responses"].items() if status < "300"}
                for part, described in {"request": operation.get("requestBody", {}), **good}.items():
                    content = described.get("content", {})
                    if "application/json" in content:
                        yield f"{operation['operationId']} {part}", content["application/json"]


def examples(content: dict[str, Any]) -> list[Any]:
    """The examples of an answer, with those that are referred to in place."""
    named = DOCUMENT["components"].get("examples", {})
    return [
        named[example["$ref"].rpartition("/")[2]]["value"] if "$ref" in example else example["value"]
        for example in content["application/json"]["examples"].values()
    ]


def judge(content: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """Judges by the schema of an answer."""
    schema = content["application/json"]["schema"] | {"components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(schema)


every_document = pytest.mark.parametrize("name", ["management", "management-v2", "data"])


@every_document
def test_one_enum_lists_every_code(name: str) -> None:
    document = read(name)
    assert document["openapi"].startswith("3.1")
    schemas = document["components"]["schemas"]
    assert schemas["ErrorCode"]["enum"] == [code.value for code in ErrorCode]
    assert "CodeEnum" not in schemas


@every_document
def test_every_body_has_an_example(name: str) -> None:
    assert [body for body, content in bodies(read(name)) if not content.get("examples")] == []


@pytest.mark.exhaustive
@every_document
def test_every_example_is_of_its_schema(name: str) -> None:
    document = read(name)
    for body, content in bodies(document):
        schema = content["schema"] | {"components": document["components"]}
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        for example in content["examples"].values():
            problems = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(example["value"])]
            assert problems == [], body


def test_the_examples_of_the_data_api_are_about_one_restaurant() -> None:
    shown = {body: examples({"application/json": content}) for body, content in bodies(read("data"))}
    text = json.dumps([*shown.values()])
    ids = defaultdict(set)
    for prefix, rest in re.findall(r"\b([a-z]+)_([0-9a-z]{26})\b", text):
        ids[prefix].add(rest)
    counts = {"rst": 1, "fo": 1, "fb": 2, "res": 2, "lm": 3, "rev": 4, "ph": 1, "rep": 1, "pay": 1, "ex": 1}
    assert {prefix: len(found) for prefix, found in ids.items()} == counts
    (paid,), (me,) = shown["get_payment 200"], shown["get_me 200"]
    assert (paid["payer"], paid["tier"]) == (me["wallet"], me["tier"])
    prices = {row["product"]: row["amount"] for row in me["prices"]["products"]}
    assert [prices[product] for product in paid["products"]] == [paid["amount"]]
    assert {*re.findall(r"/v1/restaurants/([a-z0-9-]+)", text)} == {"lantern-and-lime"}
    assert {*re.findall(r"https?://([^/\"]+)", text)} == {"api.example.com", "lantern-and-lime.example"}


@every_operation
def test_every_example_of_an_answer_is_of_its_schema(operation: Operation) -> None:
    for status, answer in answers(operation).items():
        if status == "304":
            continue
        found = examples(answer["content"])
        assert found
        for example in found:
            judge(answer["content"]).validate(example)


@every_operation
def test_an_operation_says_by_code_for_what_it_refuses(operation: Operation) -> None:
    output = openapi_operations.documented(operation.template, operation.method)["x-error-codes"]
    shown = {
        (int(status), example["error"]["code"])
        for status, answer in answers(operation).items()
        if status >= "400"
        for example in examples(answer["content"])
    }
    assert shown == {(ErrorCode[code.upper()].status, code) for code in output}
    assert ("not_found" in output) == ("{id}" in operation.template or operation.noun == "test")
    takes_a_place = operation.name in ("create_reservation", "create_hold", "change_reservation", "create_order")
    sets_a_status = operation.name in (
        "set_order_status",
        "set_order_stage",
        "change_reservation",
        "cancel_reservation",
    )
    assert ("slot_unavailable" in output) == takes_a_place
    assert ("invalid_transition" in output) == sets_a_status


@every_operation
@pytest.mark.django_db
def test_an_answer_has_what_its_example_has_and_the_headers_that_are_documented(
    operation: Operation, api: Client, venue: Venue
) -> None:
    response = operation.send(api, operation.path_of(venue))
    documented = answers(operation)[str(response.status_code)]
    judge(documented["content"]).validate(response.json())
    # An operation that answers one of two things has examples of both.
    shapes = [example.keys() for example in examples(documented["content"])]
    assert not shapes or response.json().keys() in shapes
    optional = {"Idempotent-Replayed"}
    assert {name for name in documented["headers"] if name not in response.headers} <= optional


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["management", "management-v2"])
@pytest.mark.parametrize("now", ["2026-11-21", "2031-12-25", "2040-02-28"])
@pytest.mark.django_db
def test_the_examples_of_the_served_document_work_on_any_day(
    client: Client, venue: Venue, now: str, name: str
) -> None:
    with time_machine.travel(datetime.fromisoformat(now).replace(tzinfo=UTC), tick=False):
        content = client.get(f"/docs/openapi/{name}.json").content
        assert EXAMPLE_DAY not in content.decode()
        document = json.loads(content)
        Venue.objects.update(is_sandbox=True)
        api = builders.client(venue)
        builders.floor(venue)
        for path, methods in document["paths"].items():
            if "{" in path:
                continue
            body = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
            for example in body.get("examples", {}).values():
                response = api.post(path, example["value"], content_type="application/json")
                assert response.status_code == (200 if path.endswith("/test/clock") else 201)


@pytest.mark.django_db
def test_other_dates_of_the_examples_are_moved_with_the_day(client: Client) -> None:
    with time_machine.travel(datetime(2031, 12, 25, tzinfo=UTC), tick=False):
        document = client.get("/docs/openapi/data.json").json()
    answer = document["paths"]["/v1/exports/{id}"]["get"]["responses"]["200"]
    (example,) = examples(answer["content"])
    assert (example["created_at"], example["expires_at"]) == ("2032-01-10T08:00:00Z", "2032-01-17T08:00:00Z")


def test_the_day_of_the_examples_is_a_saturday_two_to_three_weeks_ahead() -> None:
    committed = parse_date(EXAMPLE_DAY)
    assert committed
    assert committed.weekday() == SATURDAY
    assert [example_day(date(2026, 11, day)) for day in (21, 22, 27, 28)] == [
        date(2026, 12, 5),
        date(2026, 12, 12),
        date(2026, 12, 12),
        date(2026, 12, 12),
    ]


@pytest.mark.parametrize("noun", ["orders", "holds", "webhooks"])
def test_what_is_created_links_to_what_can_be_done_with_it(noun: str) -> None:
    name = f"create_{noun.removesuffix('s')}"
    created = answers(next(operation for operation in openapi_operations.ALL if operation.name == name))["201"]
    links = {operation.name for operation in openapi_operations.OF_ONE_RECORD if operation.noun == noun}
    assert {*created["links"]} == links
    assert {link["parameters"]["id"] for link in created["links"].values()} == {"$response.body#/id"}
