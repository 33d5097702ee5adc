"""GET /events: programs catch up with what they have missed."""

import json
import random
import re
import threading
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.api import openapi_examples
from accounts.models import Event, EventType, Venue
from accounts.webhooks import http_client, outbox
from framework.public_ids import encode
from tests.support import builders
from tests.support.query_counts import costing

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def record(venue: Venue, kind: EventType = EventType.ORDER_CREATED, *, at: datetime = NOON, **values: Any) -> Event:
    key = outbox.record_event(venue, kind, record=values, subject=values.pop("subject", None), actor="system", now=at)
    return Event.objects.get(pk=key)


def get(api: Client, query: str = "", *, status: int = 200) -> Any:
    response = api.get(f"/api/v1/events{query}")
    assert response.status_code == status, response.content
    return response.json()


def ids(body: Any) -> list[str]:
    return [event["id"] for event in body["data"]]


def test_an_event_is_the_body_of_its_webhook_with_its_id(venue: Venue) -> None:
    event = record(venue, id="ord_1", status="pending")
    (found,) = get(builders.client(venue))["data"]
    assert found.keys() == openapi_examples.EVENT.keys()
    assert found == {
        "id": event.public_id,
        "type": "order.created",
        "timestamp": "2026-11-21T12:00:00Z",
        "data": {"id": "ord_1", "status": "pending"},
    }
    assert {name: found[name] for name in ("type", "timestamp", "data")} == json.loads(http_client.render_body(event))


def test_orders_reservations_and_the_menu_have_events_and_pings_and_exports_are_left_out(venue: Venue) -> None:
    kinds = [EventType.ORDER_CREATED, EventType.RESERVATION_CANCELLED, EventType.MENU_ITEM_SOLD_OUT]
    for kind in (*kinds, EventType.WEBHOOK_PING):
        record(venue, kind)
    outbox.record_account_event(
        venue.account_id, EventType.EXPORT_FINISHED, record={}, subject=None, actor="system", now=NOON
    )
    record(builders.venue("Other"))
    assert [event["type"] for event in get(builders.client(venue))["data"]] == kinds


def test_pages_follow_each_other_and_the_last_cursor_continues_with_what_comes_later(venue: Venue) -> None:
    api = builders.client(venue)
    old = [record(venue, at=NOON + timedelta(seconds=second)).public_id for second in range(5)]
    first = get(api, "?limit=3")
    assert (ids(first), first["pagination"]["has_more"]) == (old[:3], True)
    second = get(api, f"?limit=3&cursor={first['pagination']['next_cursor']}")
    assert (ids(second), second["pagination"]["has_more"]) == (old[3:], False)
    cursor = second["pagination"]["next_cursor"]
    idle = get(api, f"?limit=3&cursor={cursor}")
    assert (ids(idle), idle["pagination"]["has_more"]) == ([], False)
    new = record(venue, at=timezone.now()).public_id
    assert ids(get(api, f"?limit=3&cursor={idle['pagination']['next_cursor']}")) == [new]


def test_the_link_to_the_first_page_is_one_that_the_list_accepts(venue: Venue) -> None:
    api = builders.client(venue)
    old = [record(venue, at=NOON + timedelta(seconds=second)).public_id for second in range(3)]
    cursor = get(api, "?limit=2")["pagination"]["next_cursor"]
    link = api.get(f"/api/v1/events?limit=2&cursor={cursor}")["Link"]
    (first,) = re.findall(r'<[^?]+([^>]+)>; rel="first"', link)
    assert ids(get(api, first)) == old[:2]


def test_an_event_that_commits_late_is_not_missed(venue: Venue) -> None:
    api, now = builders.client(venue), timezone.now()
    early = record(venue, at=now)
    cursor = get(api)["pagination"]["next_cursor"]
    late = record(venue, at=now - timedelta(minutes=2))
    assert ids(get(api, f"?cursor={cursor}")) == [late.public_id, early.public_id]


def test_a_walk_begins_at_a_moment_or_before_an_event(venue: Venue) -> None:
    api, now = builders.client(venue), timezone.now()
    old = record(venue, at=now - timedelta(hours=1))
    known, new = record(venue, at=now), record(venue, at=now)
    both = sorted([known.public_id, new.public_id])
    assert ids(get(api)) == [old.public_id, *both]
    assert ids(get(api, f"?created_from={now.strftime('%Y-%m-%dT%H:%M:%S.%fZ')}")) == both
    assert ids(get(api, f"?after={known.public_id}")) == both


def test_events_of_types_and_of_one_record(venue: Venue) -> None:
    api, key = builders.client(venue), uuid4()
    placed = record(venue, subject=key)
    record(venue)
    booked = record(venue, EventType.RESERVATION_CREATED)
    assert ids(get(api, f"?subject={encode('ord', key)}")) == [placed.public_id]
    assert ids(get(api, "?type=reservation.created,reservation.cancelled")) == [booked.public_id]


def test_a_key_sees_the_events_whose_records_it_may_read(venue: Venue) -> None:
    record(venue)
    booked = record(venue, EventType.RESERVATION_CREATED)
    api = builders.client_with(builders.key(venue, scopes=["reservations:read"]).text)
    assert ids(get(api)) == [booked.public_id]
    refused = get(api, "?type=order.created", status=401)["error"]
    assert (refused["code"], refused["message"]) == (
        "insufficient_scope",
        "This API key lacks the scope `orders:read`.",
    )
    writer = builders.client_with(builders.key(venue, scopes=["orders:write"]).text)
    assert get(writer, status=401)["error"]["code"] == "insufficient_scope"


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("?type=order.lost", "type"),
        ("?type=order-created", "type"),
        ("?type=webhook.ping", "type"),
        ("?subject=abc", "subject"),
        ("?after=evt_1", "after"),
        # The moment of this id is after the year 9999.
        ("?after=evt_7dtkax5ytpd5xx1fykv714y10d", "after"),
        ("?created_from=yesterday", "created_from"),
        ("?limit=0", "limit"),
        ("?limit=101", "limit"),
        ("?cursor=abc", "cursor"),
        ("?page=2", "page"),
        ("?created_from=2026-11-21T12:00:00Z&after=evt_01m8fnwywmet1vgb1eajpvcaa3", "after"),
    ],
)
def test_bad_parameters_are_named(venue: Venue, query: str, param: str) -> None:
    error = get(builders.client(venue), query, status=400)["error"]
    assert error["param"] == param, error


def test_a_page_costs_two_queries_besides_the_key(venue: Venue) -> None:
    api = builders.client(venue)
    for _ in range(20):
        record(venue)
    get(api)
    with costing(2):
        assert len(get(api)["data"]) == 20


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_after_random_outages_ten_thousand_events_have_each_arrived_once() -> None:
    """Writers commit out of order. The reader loses answers, dies before it stores a cursor, and sleeps."""
    venue, luck = builders.venue(), random.Random(7)
    api = builders.client(venue, allowance=1_000_000)
    writers = [threading.Thread(target=write_batches, args=(venue, seed)) for seed in range(4)]
    for writer in writers:
        writer.start()
    applied: list[str] = []
    known: set[str] = set()
    cursor, is_complete = "", False
    while not is_complete:
        is_last_walk = not any(writer.is_alive() for writer in writers)
        body = get(api, f"?limit=100&cursor={cursor}" if cursor else "?limit=100")
        if luck.random() < 0.1:
            continue  # The answer is lost.
        applied += [event for event in ids(body) if event not in known]
        known.update(ids(body))
        if luck.random() < 0.1:
            continue  # The program dies before it stores the cursor.
        cursor = body["pagination"]["next_cursor"]
        is_complete = is_last_walk and not body["pagination"]["has_more"]
    assert sorted(applied) == sorted(event.public_id for event in Event.objects.all())
    assert len(applied) == 10_000


def write_batches(venue: Venue, seed: int) -> None:
    """Record 2,500 events in transactions that end out of order."""
    luck = random.Random(seed)
    try:
        for _ in range(100):
            now = timezone.now()
            batch: dict[UUID, dict[str, Any]] = {uuid4(): {} for _ in range(25)}
            with transaction.atomic():
                outbox.record_events(venue, EventType.ORDER_CREATED, batch, actor="system", now=now)
                sleep(luck.choice((0, 0, 0.001, 0.05)))
    finally:
        connection.close()
