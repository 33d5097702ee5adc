"""Whose is what: every operation of the management API, for every kind of caller.

A record of another venue answers byte for byte like one that never was; only what no two answers share is left out.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, Event, Scope, Venue
from framework.public_ids import encode, new_id
from tests.support import builders, openapi_operations
from tests.support.openapi_operations import Operation

pytestmark = pytest.mark.django_db

NO_TWO_SHARE = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "X-Request-Id"}
READING = [Scope.ORDERS_READ.value, Scope.RESERVATIONS_READ.value]


def named(operation: Operation) -> str:
    return operation.name


def revoked(venue: Venue, other: Venue) -> Client:
    key = ApiKey.create(venue, name="test")
    key.row.revoke(now=timezone.now())
    return builders.client_with(key.text)


def expired(venue: Venue, other: Venue) -> Client:
    yesterday = timezone.now() - timedelta(days=1)
    return builders.client_with(ApiKey.create(venue, name="test", expires_at=yesterday).text)


def reader(venue: Venue, other: Venue) -> Client:
    return builders.client_with(ApiKey.create(venue, name="test", scopes=READING).text)


def scopeless(venue: Venue, other: Venue) -> Client:
    return builders.client_with(ApiKey.create(venue, name="test", scopes=[]).text)


CALLERS: Mapping[str, Callable[[Venue, Venue], Client]] = {
    "owner": lambda venue, other: builders.client(venue),
    "another venue": lambda venue, other: builders.client(other),
    "nobody": lambda venue, other: Client(),
    "revoked": revoked,
    "expired": expired,
    "reader": reader,
    "without a scope": scopeless,
    "staff": lambda venue, other: builders.staff(),
}
REFUSED = {
    "another venue": (404, "not_found"),
    "nobody": (401, "missing_credentials"),
    "revoked": (401, "revoked_api_key"),
    "expired": (401, "expired_api_key"),
    "without a scope": (401, "insufficient_scope"),
    "staff": (401, "missing_credentials"),
}


def due(operation: Operation, caller: str) -> tuple[int, str | None]:
    """The status that this caller is to get for a record of the venue, or for the venue's list, and the code."""
    if caller == "owner" or (caller == "reader" and operation.method == "GET" and operation.noun != "webhooks"):
        return operation.status, None
    if caller == "reader":
        return 401, "insufficient_scope"
    if caller == "another venue" and ("{id}" not in operation.template or operation.noun == "menu"):
        # It has its own list, makes its own records, and may have a dish of the same id.
        return operation.status, None
    return REFUSED[caller]


@pytest.mark.sample(8)
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("operation", openapi_operations.ALL, ids=named)
def test_each_operation_serves_the_owner_alone(
    operation: Operation, caller: str, venue: Venue, other_venue: Venue
) -> None:
    path = operation.path_of(venue)
    operation.prepare(other_venue)
    events = Event.objects.filter(venue=venue).count()
    response = operation.send(CALLERS[caller](venue, other_venue), path)
    status, code = due(operation, caller)
    assert (response.status_code, response.json().get("error", {}).get("code")) == (status, code)
    if status == 401:
        assert response["WWW-Authenticate"].startswith("Bearer ")
    # Neither a hold nor a webhook endpoint is news, nor is the time.
    is_news = operation.noun not in ("holds", "test", "webhooks") or operation.name == "test_webhook"
    writes = operation.method != "GET" and caller == "owner" and is_news
    assert Event.objects.filter(venue=venue).count() == events + writes


def result(response: Any, record_id: str) -> tuple[int, bytes, dict[str, str]]:
    """What a caller can see of an answer, but for what no two answers share."""
    content = re.sub(rb"req_[0-9a-z]{26}", b"req_", response.content).replace(record_id.encode(), b"")
    return (
        response.status_code,
        content,
        {name: value for name, value in response.headers.items() if name not in NO_TWO_SHARE},
    )


# Bodies and headers with which a record may be asked for.
ASKED: Mapping[str, tuple[Any, dict[str, str]]] = {
    "the example": (..., {}),
    "a malformed body": ("{", {"content_type": "application/json"}),
    "a wrong status": ({"status": "nonsense"}, {}),
    "If-Match": (..., {"if-match": '"1"'}),
    "If-Match of another version": (..., {"if-match": '"7"'}),
    "If-None-Match": (..., {"if-none-match": '"1"'}),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("caller", REFUSED)
@pytest.mark.parametrize("operation", openapi_operations.OF_ONE_RECORD, ids=named)
def test_a_record_of_another_venue_answers_like_one_that_never_was(
    operation: Operation, caller: str, venue: Venue, other_venue: Venue
) -> None:
    record = openapi_operations.MADE[operation.noun](venue)
    before = type(record).objects.values().get(pk=record.pk)
    unknown = encode(record.public_id.partition("_")[0], new_id())
    api = CALLERS[caller](venue, other_venue)
    theirs, nobodys = (
        {
            name: result(operation.send(api, operation.path(public_id), body, **headers), public_id)
            for name, (body, headers) in ASKED.items()
        }
        for public_id in (record.public_id, unknown)
    )
    assert theirs == nobodys
    assert {status for status, _, _ in theirs.values()} == {REFUSED[caller][0]}
    assert type(record).objects.values().get(pk=record.pk) == before


@pytest.mark.parametrize("operation", openapi_operations.LISTS, ids=named)
def test_a_list_never_shows_or_counts_a_record_of_another_venue(
    operation: Operation, venue: Venue, other_venue: Venue
) -> None:
    rows = {
        its: [openapi_operations.MADE[operation.noun](its) for _ in range(number)]
        for its, number in ((venue, 3), (other_venue, 2))
    }
    queries: list[dict[str, Any]] = [{}, {"page": 1}, {"limit": 100}, {"status": "pending"}]
    day = openapi_operations.IN_A_MONTH.date().isoformat()
    queries += [{"date": day}] if "date" in operation.parameters else []
    for its, made in rows.items():
        api = builders.client(its)
        for query in queries:
            answer = api.get(operation.template, query).json()
            assert {record["id"] for record in answer["data"]} == {row.public_id for row in made}
            assert answer["pagination"]["total"] == len(made)
        beyond = api.get(operation.template, {"page": 2, "limit": 2}).json()
        assert len(beyond["data"]) == len(made) - 2


def test_the_paths_of_the_document_are_those_that_are_served() -> None:
    first, second = (
        {
            (path, method.upper())
            for path, methods in openapi_operations.DOCUMENTS[version]["paths"].items()
            for method in methods
            if method in ("get", "post", "put", "patch", "delete")
        }
        for version in ("v1", "v2")
    )
    added = {(path, method) for path, method in second if (path.replace("/v2/", "/v1/"), method) not in first}
    assert first | added == {(operation.template, operation.method) for operation in openapi_operations.ALL}
    assert {(path.replace("/v1/", "/v2/"), method) for path, method in first} <= second
