"""Webhook endpoints by the API: who may do what to which, and what happens when two do so at once."""

import json
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.api import openapi_examples
from accounts.models import (
    ApiKey,
    EventType,
    IdempotentCall,
    Scope,
    Venue,
    WebhookDelivery,
    WebhookEndpoint,
)
from accounts.models.api_keys import default_scopes
from accounts.webhooks import deliveries as delivery_lists
from accounts.webhooks import delivery_queue, dispatcher, endpoints, outbox
from accounts.webhooks.http_client import Outcome
from framework.public_ids import encode, new_id
from tests.accounts.webhook_receivers import receiving
from tests.support import builders
from tests.support.query_counts import costing

WEBHOOKS = "/api/v1/webhooks"
URL = "https://hooks.example.com/tablewire"
SECRET = r"whsec_[A-Za-z0-9+/]{43}="
READ, WRITE = Scope.WEBHOOKS_READ, Scope.WEBHOOKS_WRITE
ORDERS, RESERVATIONS = Scope.ORDERS_READ, Scope.RESERVATIONS_READ


def call(api: Client, method: str, path: str = "", body: Any = None, *, status: int = 200, **headers: str) -> Any:
    raw = "" if body is None else json.dumps(body)
    response = api.generic(method, f"{WEBHOOKS}{path}", raw, content_type="application/json", headers=headers)
    assert response.status_code == status, response.content
    return response.json()


def create(api: Client, **fields: Any) -> Any:
    return call(api, "POST", body={"url": URL} | fields, status=201)


def error(api: Client, method: str, path: str = "", body: Any = None, *, status: int = 400) -> tuple[str, Any]:
    """Code and parameter of a refusal."""
    found = call(api, method, path, body, status=status)["error"]
    return found["code"], found["param"]


def client_with(venue: Venue, *scopes: str) -> Client:
    return builders.client_with(builders.key(venue, scopes=scopes).text)


def record(venue: Venue, kind: EventType = EventType.ORDER_CREATED, *, at: datetime | None = None) -> str:
    """Record an event of this type; return its public id."""
    now = at or timezone.now()
    key = outbox.record_event(venue, kind, record={"id": "ord_1"}, subject=None, actor="system", now=now)
    return encode("evt", key)


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """Run these in threads that start together; return their results, in the order of the actions."""
    results: list[Any] = [None] * len(actions)
    start = threading.Barrier(len(actions))

    def run(number: int) -> None:
        start.wait()
        try:
            results[number] = actions[number]()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# Create, read, change, delete
def test_an_endpoint_is_created_and_its_secret_is_told_once(venue: Venue, api: Client) -> None:
    body = {"url": URL, "description": "Till", "types": ["order.created", "order.cancelled", "order.created"]}
    response = api.post(WEBHOOKS, body, content_type="application/json")
    assert response.status_code == 201
    made = response.json()
    assert re.fullmatch(SECRET, made.pop("secret"))
    row = WebhookEndpoint.objects.get()
    assert made == {
        "id": row.public_id,
        "object": "webhook_endpoint",
        "url": URL,
        "description": "Till",
        "types": ["order.cancelled", "order.created"],
        "status": "enabled",
        "disabled_reason": None,
        "disabled_at": None,
        "failing_since": None,
        "previous_secret_expires_at": None,
        "created_at": made["created_at"],
    }
    assert made.keys() == openapi_examples.ENDPOINT.keys()
    assert response["Location"].endswith(f"{WEBHOOKS}/{row.public_id}")
    assert call(api, "GET", f"/{row.public_id}") == made
    assert call(api, "GET") == {"data": [made]}
    assert row.venue == venue


def test_the_secret_of_the_answer_signs_what_is_sent(
    venue: Venue, api: Client, settings: Settings, transactional_db: None
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with receiving() as receiver:
        made = create(api, url=receiver.url, types=["order.created"])
        waiting = call(api, "POST", f"/{made['id']}/test")
        dispatcher.run(clock=timezone.now, claim_s=0.2)
        (received,) = receiver.received
    assert received.verified(made["secret"])["data"]["id"] == made["id"]
    assert waiting == {
        "event_id": received.headers["webhook-id"],
        "object": "webhook_delivery",
        "type": "webhook.ping",
        "state": "pending",
        "attempts": 0,
        "last_status": None,
        "last_response": "",
        "last_error": "",
        "created_at": waiting["created_at"],
        "last_attempt_at": None,
        "next_attempt_at": waiting["created_at"],
        "delivered_at": None,
        "failed_at": None,
    }
    (found,) = call(api, "GET", f"/{made['id']}/deliveries")["data"]
    assert (found["state"], found["attempts"], found["last_status"]) == ("delivered", 1, 200)


def test_a_change_sets_what_it_names_and_nothing_else(venue: Venue, api: Client) -> None:
    made = create(api, description="Till", types=["order.created"])
    path = f"/{made['id']}"
    assert call(api, "PATCH", path, {"description": ""})["description"] == ""
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    assert call(api, "PATCH", path, {"types": []})["failing_since"] is not None
    changed = call(api, "PATCH", path, {"url": f"{URL}/new"})
    del made["secret"]
    assert changed == made | {"description": "", "types": [], "url": f"{URL}/new"}
    assert error(api, "PATCH", path, {}) == ("invalid_request", None)


def test_an_endpoint_is_disabled_and_enabled(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}"
    record(venue)
    disabled = call(api, "PATCH", path, {"status": "disabled"})
    assert (disabled["status"], disabled["disabled_reason"]) == ("disabled", "staff")
    assert WebhookDelivery.objects.get().state == "failed"
    assert call(api, "PATCH", path, {"status": "disabled", "description": "Off"}) == disabled | {"description": "Off"}
    for action, body in (("test", None), ("resend_failed", {"since": "2026-11-21T00:00:00Z"})):
        assert error(api, "POST", f"{path}/{action}", body) == ("webhook_disabled", None)
    enabled = call(api, "PATCH", path, {"status": "enabled"})
    assert (enabled["status"], enabled["disabled_reason"], enabled["disabled_at"]) == ("enabled", None, None)


def test_a_deleted_endpoint_is_gone_with_its_deliveries(venue: Venue, api: Client) -> None:
    made = create(api)
    record(venue)
    del made["secret"]
    assert call(api, "DELETE", f"/{made['id']}") == made
    assert error(api, "DELETE", f"/{made['id']}", status=404) == ("not_found", None)
    assert (WebhookEndpoint.objects.count(), WebhookDelivery.objects.count()) == (0, 0)


def test_a_list_has_the_newest_endpoint_first_and_costs_one_query(venue: Venue, api: Client) -> None:
    made = [create(api, url=f"{URL}/{number}")["id"] for number in range(5)]
    with costing(1):
        found = call(api, "GET")["data"]
    assert [endpoint["id"] for endpoint in found] == made[::-1]


def test_changes_have_the_key_as_their_actor_in_the_history(venue: Venue) -> None:
    key = builders.key(venue)
    api = builders.client_with(key.text)
    path = f"/{create(api)['id']}"
    call(api, "PATCH", path, {"description": "Till"})
    call(api, "DELETE", path)
    changes = WebhookEndpoint.pgh_event_model.objects.order_by("pgh_id")  # type: ignore[attr-defined]
    assert [(change.pgh_label, change.pgh_context) for change in changes] == [
        (label, {"actor": f"key:{key.row.start}"}) for label in ("added", "changed", "removed")
    ]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "http://169.254.169.254/latest/meta-data"}, "url"),
        ({"url": "http://localhost/"}, "url"),
        ({"url": "https://user:word@example.com/"}, "url"),
        ({"url": "https://example.com:22/"}, "url"),
        ({"url": "https://exämple.com/"}, "url"),
        ({"url": "https://example.com/" + "x" * 500}, "url"),
        ({"url": URL, "types": ["webhook.ping"]}, "types[0]"),
        ({"url": URL, "types": ["order.lost"]}, "types[0]"),
        ({"url": URL, "types": "order.created"}, "types"),
        ({"url": URL, "description": "x" * 201}, "description"),
        ({"url": URL, "secret": "whsec_mine"}, "secret"),
        ({"url": URL, "status": "disabled"}, "status"),
    ],
)
def test_a_bad_endpoint_is_refused_by_its_parameter(venue: Venue, api: Client, body: Any, param: str) -> None:
    assert error(api, "POST", "", body) == ("invalid_request", param)
    assert WebhookEndpoint.objects.count() == 0
    if body.keys() > {"url"} and "status" not in body:
        path = f"/{create(api)['id']}"
        assert error(api, "PATCH", path, body) == ("invalid_request", param)


def test_a_change_to_a_forbidden_url_changes_nothing(venue: Venue, api: Client) -> None:
    path = f"/{create(api, description='Till')['id']}"
    body = {"url": "http://127.0.0.1/", "description": "Evil", "status": "disabled"}
    assert error(api, "PATCH", path, body) == ("invalid_request", "url")
    row = WebhookEndpoint.objects.get()
    assert (row.url, row.description, row.disabled_at) == (URL, "Till", None)


# Secrets
def test_a_rotation_tells_the_new_secret_once_and_is_refused_while_the_previous_one_signs(
    venue: Venue, api: Client
) -> None:
    made = create(api)
    rotated = call(api, "POST", f"/{made['id']}/rotate")
    assert re.fullmatch(SECRET, rotated["secret"])
    assert rotated["secret"] != made["secret"]
    until = datetime.fromisoformat(rotated["previous_secret_expires_at"])
    assert timedelta(hours=23.9) < until - timezone.now() <= timedelta(hours=24)
    assert error(api, "POST", f"/{made['id']}/rotate") == ("secret_rotation_in_progress", None)
    WebhookEndpoint.objects.update(old_secret_until=timezone.now())
    call(api, "POST", f"/{made['id']}/rotate")


def test_a_replayed_creation_has_no_secret_and_none_is_stored(venue: Venue, api: Client) -> None:
    body = {"url": URL}
    first = call(api, "POST", body=body, status=201, idempotency_key="one")
    assert re.fullmatch(SECRET, first["secret"])
    response = api.post(
        WEBHOOKS, json.dumps(body), content_type="application/json", headers={"idempotency-key": "one"}
    )
    assert (response.status_code, response["Idempotent-Replayed"]) == (201, "true")
    assert response.json() == first | {"secret": None}
    assert response["Location"].endswith(first["id"])
    assert WebhookEndpoint.objects.count() == 1
    assert b"whsec_" not in bytes(IdempotentCall.objects.get().body or b"")
    other = {"url": f"{URL}/other"}
    refused = call(api, "POST", body=other, status=400, idempotency_key="one")["error"]
    assert refused["code"] == "idempotency_key_reused"


def test_no_answer_but_that_of_creation_and_rotation_has_a_secret(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}"
    answers = [call(api, "GET"), call(api, "GET", path), call(api, "PATCH", path, {"description": "x"})]
    answers += [call(api, "POST", f"{path}/test"), call(api, "GET", f"{path}/deliveries"), call(api, "DELETE", path)]
    assert "secret" not in re.sub("previous_secret_expires_at", "", json.dumps(answers))


# Deliveries
def test_deliveries_are_listed_newest_first_in_pages(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}/deliveries"
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    # Each two have one moment.
    for second in range(5):
        record(venue, at=start + timedelta(seconds=second // 2))
    rows = WebhookDelivery.objects.select_related("event").order_by("-created_at", "-pk")
    expected = [row.event.public_id for row in rows]
    first = call(api, "GET", f"{path}?limit=3")
    assert [delivery["event_id"] for delivery in first["data"]] == expected[:3]
    assert first["pagination"]["has_more"] is True
    second = call(api, "GET", f"{path}?limit=3&cursor={first['pagination']['next_cursor']}")
    assert [delivery["event_id"] for delivery in second["data"]] == expected[3:]
    assert second["pagination"] == {"limit": 3, "has_more": False, "next_cursor": None}
    with costing(3):
        call(api, "GET", path)


def test_deliveries_are_filtered_by_state_and_type(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}/deliveries"
    order, booked = record(venue), record(venue, EventType.RESERVATION_CREATED)
    WebhookDelivery.objects.filter(event__type="order.created").update(
        state="failed", next_attempt_at=None, failed_at=timezone.now(), last_error="no answer within 15 s"
    )

    def found(query: str) -> list[str]:
        return [delivery["event_id"] for delivery in call(api, "GET", f"{path}?{query}")["data"]]

    assert found("state=failed") == [order]
    assert found("type=reservation.created,order.updated") == [booked]
    assert found("state=failed&type=reservation.created") == []
    for query, param in (
        ("state=lost", "state"),
        ("type=order.lost", "type"),
        ("limit=101", "limit"),
        ("page=1", "page"),
    ):
        assert error(api, "GET", f"{path}?{query}") == ("invalid_request", param)
    cursor = call(api, "GET", f"{path}?limit=1")["pagination"]["next_cursor"]
    assert error(api, "GET", f"{path}?cursor={cursor}&state=failed") == ("invalid_request", "cursor")


def test_filters_look_at_the_newest_deliveries_only(
    venue: Venue, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert delivery_lists.MAX_SEARCHED == 10_000
    monkeypatch.setattr(delivery_lists, "MAX_SEARCHED", 2)
    path = f"/{create(api)['id']}/deliveries"
    start = timezone.now()
    events = [record(venue, at=start + timedelta(seconds=second)) for second in range(3)]
    found = call(api, "GET", f"{path}?state=pending")["data"]
    assert [delivery["event_id"] for delivery in found] == [events[2], events[1]]


def test_an_unchanged_list_of_deliveries_is_304(venue: Venue, api: Client) -> None:
    path = f"{WEBHOOKS}/{create(api)['id']}/deliveries"
    record(venue)
    etag = api.get(path)["ETag"]
    assert api.get(path, headers={"if-none-match": etag}).status_code == 304
    record(venue)
    assert api.get(path, headers={"if-none-match": etag}).status_code == 200


def test_a_delivery_is_resent_by_the_id_of_its_event(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}/deliveries"
    event = record(venue)
    now = timezone.now()
    (claimed,) = delivery_queue.claim_due(limit=1, now=now)
    under_way = call(api, "POST", f"{path}/{event}/resend")
    assert (under_way["event_id"], under_way["attempts"]) == (event, 1)
    delivery_queue.record_outcome(claimed, Outcome(status=200, answer="thanks"), now=now)
    again = call(api, "POST", f"{path}/{event}/resend")
    assert (again["state"], again["attempts"], again["delivered_at"]) == ("pending", 0, None)
    assert WebhookDelivery.objects.count() == 1


def test_a_delivery_that_is_not_there_is_404(venue: Venue, api: Client, other_venue: Venue) -> None:
    path = f"/{create(api)['id']}/deliveries"
    endpoints.create(other_venue, url=URL)
    theirs = record(other_venue)
    for event in (theirs, encode("evt", new_id()), "evt_1", "x"):
        assert error(api, "POST", f"{path}/{event}/resend", status=404) == ("not_found", None)


def test_the_failed_deliveries_since_a_moment_are_resent(venue: Venue, api: Client) -> None:
    path = f"/{create(api)['id']}"
    now = timezone.now()
    for _ in range(3):
        record(venue)
    keys = list(WebhookDelivery.objects.values_list("pk", flat=True))
    for key, days in zip(keys, (1, 10, 80), strict=True):
        WebhookDelivery.objects.filter(pk=key).update(
            state="failed", next_attempt_at=None, failed_at=now - timedelta(days=days)
        )
    since = (now - timedelta(days=11)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert call(api, "POST", f"{path}/resend_failed", {"since": since}) == {"resent": 2, "has_more": False}
    assert call(api, "POST", f"{path}/resend_failed", {"since": since}) == {"resent": 0, "has_more": False}
    assert call(api, "POST", f"{path}/resend_failed", {"since": "0001-01-01T00:00:00Z"})["resent"] == 1
    assert error(api, "POST", f"{path}/resend_failed", {"since": "yesterday"}) == ("invalid_request", "since")
    assert error(api, "POST", f"{path}/resend_failed", {}) == ("invalid_request", "since")


def test_many_failed_deliveries_are_resent_by_several_calls(
    venue: Venue, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert endpoints.MAX_RESENT == 20_000
    monkeypatch.setattr(delivery_queue, "BATCH", 2)
    monkeypatch.setattr(endpoints, "MAX_RESENT", 4)
    path = f"/{create(api)['id']}/resend_failed"
    for _ in range(5):
        record(venue)
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None, failed_at=timezone.now())
    body = {"since": "2026-01-01T00:00:00Z"}
    assert call(api, "POST", path, body) == {"resent": 4, "has_more": True}
    assert call(api, "POST", path, body) == {"resent": 1, "has_more": False}


# Whose, and by which scopes
def test_endpoints_of_another_venue_are_not_there(venue: Venue, api: Client, other_venue: Venue) -> None:
    theirs = builders.webhook(other_venue)
    event = theirs.deliveries.get().event.public_id
    path = f"/{theirs.public_id}"
    assert call(api, "GET") == {"data": []}
    for method, rest, body in (
        ("GET", "", None),
        ("PATCH", "", {"url": f"{URL}/mine"}),
        ("DELETE", "", None),
        ("POST", "/rotate", None),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
        ("POST", f"/deliveries/{event}/resend", None),
        ("POST", "/resend_failed", {"since": "2026-01-01T00:00:00Z"}),
    ):
        assert error(api, method, f"{path}{rest}", body, status=404) == ("not_found", None)
    assert WebhookEndpoint.objects.get().url == "https://hooks.example.com/"


def test_a_new_key_has_no_scope_of_webhooks_unless_it_is_created_with_one(venue: Venue) -> None:
    key = ApiKey.create(venue, name="Till")
    assert key.row.scopes == default_scopes()
    assert [scope for scope in Scope.values if scope not in default_scopes()] == ["webhooks:read", "webhooks:write"]
    api = builders.client_with(key.text)
    for method, scope in (("GET", READ), ("POST", WRITE)):
        refused = call(api, method, body={"url": URL}, status=401)["error"]
        assert (refused["code"], refused["message"]) == (
            "insufficient_scope",
            f"This API key lacks the scope `{scope}`.",
        )
    assert WebhookEndpoint.objects.count() == 0


@pytest.mark.parametrize(
    ("types", "needed"),
    [
        (["order.created", "menu.updated"], {ORDERS}),
        (["reservation.created"], {RESERVATIONS}),
        (["order.created", "reservation.created"], {ORDERS, RESERVATIONS}),
        ([], {ORDERS, RESERVATIONS}),
        (["export.finished"], {ORDERS, RESERVATIONS}),
    ],
)
def test_a_key_manages_the_endpoints_whose_records_it_may_read(
    venue: Venue, api: Client, types: list[str], needed: set[Scope]
) -> None:
    made = create(api, types=types)
    for scopes in ({ORDERS}, {RESERVATIONS}, {ORDERS, RESERVATIONS}):
        limited = client_with(venue, READ, WRITE, *scopes)
        missing = sorted(needed - scopes)
        shown = [endpoint["id"] for endpoint in call(limited, "GET")["data"]]
        assert shown == ([] if missing else [made["id"]])
        calls: list[tuple[str, str, Any]] = [
            ("GET", f"/{made['id']}", None),
            ("PATCH", f"/{made['id']}", {"description": "Till"}),
            ("PATCH", f"/{made['id']}", {"types": types}),
            ("GET", f"/{made['id']}/deliveries", None),
            ("POST", f"/{made['id']}/resend_failed", {"since": "2026-01-01T00:00:00Z"}),
        ]
        for method, path, body in calls:
            if missing:
                refused = call(limited, method, path, body, status=401)["error"]
                assert refused["message"] == f"This API key lacks the scope `{missing[0]}`."
            else:
                call(limited, method, path, body)
        if missing:
            call(limited, "POST", f"/{made['id']}/rotate", status=401)
            call(limited, "POST", f"/{made['id']}/test", status=401)
            call(limited, "DELETE", f"/{made['id']}", status=401)
            assert call(limited, "POST", body={"url": URL, "types": types}, status=401)
    assert WebhookEndpoint.objects.count() == 1


def test_a_key_cannot_widen_an_endpoint_beyond_what_it_reads(venue: Venue) -> None:
    limited = client_with(venue, READ, WRITE, ORDERS)
    path = f"/{create(limited, types=['order.created'])['id']}"
    for types in ([], ["order.created", "reservation.created"]):
        refused = call(limited, "PATCH", path, {"types": types, "description": "x"}, status=401)["error"]
        assert refused["message"] == "This API key lacks the scope `reservations:read`."
    row = WebhookEndpoint.objects.get()
    assert (row.types, row.description) == (["order.created"], "")


def test_a_key_gets_no_event_that_it_may_not_read_from_before_the_types_were_narrowed(
    venue: Venue, api: Client
) -> None:
    """The endpoint received reservations, and some wait or have failed. A key for orders must not get them."""
    path = f"/{create(api)['id']}"
    order, booked = record(venue), record(venue, EventType.RESERVATION_CREATED)
    call(api, "PATCH", path, {"types": ["order.created"]})
    limited = client_with(venue, READ, WRITE, ORDERS)
    found = call(limited, "GET", f"{path}/deliveries")["data"]
    assert [delivery["event_id"] for delivery in found] == [order]
    call(limited, "GET", f"{path}/deliveries?type=reservation.created", status=401)
    # It waits: a new URL would get it.
    call(limited, "PATCH", path, {"url": f"{URL}/evil"}, status=401)
    call(limited, "POST", f"{path}/deliveries/{booked}/resend", status=401)
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None, failed_at=timezone.now())
    assert call(limited, "POST", f"{path}/resend_failed", {"since": "2026-01-01T00:00:00Z"})["resent"] == 1
    assert WebhookDelivery.objects.get(state="failed").event.type == "reservation.created"
    assert call(limited, "PATCH", path, {"url": f"{URL}/mine"})["url"] == f"{URL}/mine"


def test_a_key_that_only_reads_changes_nothing(venue: Venue, api: Client) -> None:
    made = create(api)
    reader = client_with(venue, READ, ORDERS, RESERVATIONS)
    assert call(reader, "GET", f"/{made['id']}")["id"] == made["id"]
    for method, rest in (("PATCH", ""), ("DELETE", ""), ("POST", "/rotate"), ("POST", "/test")):
        refused = call(reader, method, f"/{made['id']}{rest}", {} if rest == "" else None, status=401)["error"]
        assert refused["message"] == "This API key lacks the scope `webhooks:write`."
    writer = client_with(venue, WRITE, ORDERS, RESERVATIONS)
    assert call(writer, "GET", status=401)["error"]["code"] == "insufficient_scope"


def test_the_endpoint_outlives_the_key(venue: Venue) -> None:
    key = builders.key(venue)
    create(builders.client_with(key.text))
    key.row.revoke(now=timezone.now())
    record(venue)
    assert WebhookDelivery.objects.get().state == "pending"


# At once
@pytest.mark.django_db(transaction=True)
def test_of_many_who_create_the_twentieth_endpoint_at_once_one_succeeds(venue: Venue) -> None:
    for number in range(19):
        endpoints.create(venue, url=f"{URL}/{number}")
    text = builders.key(venue).text

    def post() -> str:
        response = builders.client_with(text).post(WEBHOOKS, {"url": URL}, content_type="application/json")
        return "created" if response.status_code == 201 else str(response.json()["error"]["code"])

    assert sorted(at_once(*[post] * 6)) == ["created", *["too_many_webhooks"] * 5]
    assert WebhookEndpoint.objects.count() == 20


@pytest.mark.django_db(transaction=True)
def test_changes_of_different_fields_at_once_all_survive(venue: Venue) -> None:
    text, row = builders.key(venue).text, endpoints.create(venue, url=URL)[0]
    for number in range(10):
        bodies: list[dict[str, Any]] = [
            {"url": f"{URL}/{number}"},
            {"description": f"Till {number}"},
            {"types": [["order.created"], ["order.updated"]][number % 2]},
            {"status": ["disabled", "enabled"][number % 2]},
        ]

        def change(body: dict[str, Any]) -> Any:
            return call(builders.client_with(text), "PATCH", f"/{row.public_id}", body)

        at_once(*[lambda body=body: change(body) for body in bodies])
        expected = {name: value for body in bodies for name, value in body.items()}
        found = call(builders.client_with(text), "GET", f"/{row.public_id}")
        assert {name: found[name] for name in expected} == expected


@pytest.mark.django_db(transaction=True)
def test_of_two_rotations_at_once_one_succeeds(venue: Venue) -> None:
    text, row = builders.key(venue).text, endpoints.create(venue, url=URL)[0]

    def rotate() -> int:
        path = f"{WEBHOOKS}/{row.public_id}/rotate"
        return builders.client_with(text).post(path, content_type="application/json").status_code

    assert sorted(at_once(rotate, rotate, rotate)) == [200, 400, 400]


@pytest.mark.django_db(transaction=True)
def test_twins_with_one_idempotency_key_create_one_endpoint_and_one_of_them_has_the_secret(venue: Venue) -> None:
    text = builders.key(venue).text

    def post() -> Any:
        return call(builders.client_with(text), "POST", body={"url": URL}, status=201, idempotency_key="twin")

    answers = at_once(*[post] * 4)
    assert len({answer["id"] for answer in answers}) == WebhookEndpoint.objects.count() == 1
    assert sorted(bool(answer["secret"]) for answer in answers) == [False, False, False, True]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_whatever_happens_while_an_endpoint_is_deleted_is_answered(venue: Venue) -> None:
    text = builders.key(venue).text

    def send(method: str, path: str, body: str = "") -> int:
        client = builders.client_with(text)
        return client.generic(method, path, body, content_type="application/json").status_code

    for _ in range(10):
        row = builders.webhook(venue)
        event, path = row.deliveries.get().event.public_id, f"{WEBHOOKS}/{row.public_id}"
        statuses = at_once(
            partial(send, "DELETE", path),
            partial(send, "DELETE", path),
            partial(send, "PATCH", path, '{"description": "x"}'),
            partial(send, "POST", f"{path}/rotate"),
            partial(send, "POST", f"{path}/test"),
            partial(send, "POST", f"{path}/deliveries/{event}/resend"),
            partial(send, "POST", f"{path}/resend_failed", '{"since": "2026-01-01T00:00:00Z"}'),
            partial(send, "GET", f"{path}/deliveries"),
        )
        assert {*statuses} <= {200, 404}
        assert not WebhookEndpoint.objects.exists()
