"""What the answers about payments are, against what the document of the data API says of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest
from django.test import Client

from config import urls
from framework.api.openapi import schema as openapi_schema
from payments.devchain.wallets import Wallet as Key
from tests.payments.ledger_builders import payment
from tests.payments.signing import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("prices")]

DOCUMENT = openapi_schema.generate("Data", "As the code says it.", urls.data)


def fits(answer: Any, path: str) -> None:
    """The answer to a GET is JSON as the document has it; each of its fields is in the document."""
    operation = DOCUMENT["paths"][path]["get"]
    schema = operation["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
    judge = jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    assert [f"{error.instance_path}: {error.message}" for error in judge.iter_errors(answer.json())] == []
    named = schema
    if "$ref" in schema:
        named = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert named["type"] == "object"
    assert answer.json().keys() <= named["properties"].keys()


@pytest.mark.exhaustive
def test_the_fields_of_the_profile_are_documented(wallets: Mapping[str, Key], client: Client) -> None:
    for caller in (client, client_of(wallets["pro"]), client_of(wallets["free"])):
        fits(caller.get("/v1/me"), "/v1/me")


def test_the_list_of_wallets_is_documented_as_the_object_that_it_is(wallets: Mapping[str, Key]) -> None:
    answer = client_of(wallets["pro"]).get("/v1/me/wallets")
    assert [one["tier"] for one in answer.json()["data"]] == ["pro"]
    fits(answer, "/v1/me/wallets")


def test_payments_are_documented(wallets: Mapping[str, Key]) -> None:
    row = payment(payer=wallets["pro"].address, claimed_at=datetime.now(UTC))
    api = client_of(wallets["pro"])
    listed = api.get("/v1/payments")
    assert len(listed.json()["data"]) == 1
    fits(listed, "/v1/payments")
    fits(api.get(f"/v1/payments/{row.public_id}"), "/v1/payments/{id}")


def test_the_document_of_x402_speaks_of_operations_that_are_documented(client: Client) -> None:
    content = client.get("/.well-known/x402").json()
    documented = {
        (path, method.upper(), operation["operationId"])
        for path, each in DOCUMENT["paths"].items()
        for method, operation in each.items()
        if method in openapi_schema.METHODS
    }
    base = content["openapi"].removesuffix("/docs/openapi/data.json")
    ways = [way for product in content["products"] for way in product["asked_for_by"]]
    assert len(ways) == 22
    for way in ways:
        path = way["url_template"].removeprefix(base).partition("?")[0]
        assert (path, way["method"], way["operation_id"]) in documented
