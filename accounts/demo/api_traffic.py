"""The API calls of the demo with their key, and a webhook endpoint with deliveries."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Max

from accounts.demo.rows import IS_DEMO, KEY_START, PROGRAM, demo_id, insert, insert_objects, random_of
from accounts.models import ApiCall, ApiCallCount, ApiKey, Event, EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import signing_secrets
from accounts.webhooks.delivery_queue import ENDPOINT_DISABLED
from framework.data_files import read_toml
from framework.db.sql_files import read_sql

DATA = read_toml(Path(__file__).with_suffix(".toml"))
# The chart of the overview shows as many days, and the request log holds no older calls (ApiCall.RETENTION).
DAYS = 30
# The hours at which the program reads, in the venue's time zone, and the maximum of its reads in an hour.
READING_HOURS = range(8, 24)
MAX_READS = 3
REFUSALS_PER_DAY = (0, 1, 1, 2)
# The paths of the calls that the events of the program came from.
CREATION_PATHS: dict[str, str] = {
    EventType.ORDER_CREATED: "/api/v1/orders",
    EventType.RESERVATION_CREATED: "/api/v1/reservations",
}
CALL_COLUMNS = (
    *("id", "created_at", "method", "path", "query", "status", "error_code", "body", "answer", "duration_ms"),
)
FIXED_COLUMNS = ("venue_id", "key_id", "address", "user_agent")
DELIVERIES = 30
# The endpoint was disabled so long ago, a moment after a delivery had failed.
DISABLED_FOR = timedelta(minutes=30)


def set_up(venue: Venue, now: datetime) -> dict[str, int]:
    """Add the key of the program, and the disabled endpoint, as if a month ago."""
    key, endpoint = key_id(venue), endpoint_id(venue)
    ApiKey.objects.get_or_create(
        pk=key,
        defaults={
            "venue": venue,
            "family": key,
            "name": DATA["key"],
            "digest": hashlib.sha256(secrets.token_bytes(32)).digest(),
            "start": KEY_START,
            "end": "demo",
        },
    )
    WebhookEndpoint.objects.get_or_create(
        pk=endpoint,
        defaults={
            "venue": venue,
            "url": DATA["webhook_url"],
            "description": DATA["webhook_description"],
            "types": [EventType.ORDER_CANCELLED, EventType.ORDER_COMPLETED, EventType.ORDER_CREATED],
            "secret": signing_secrets.encrypt(signing_secrets.generate()),
            "disabled_at": now,
            "disabled_reason": WebhookEndpoint.DisabledReason.STAFF,
        },
    )
    created_at = now - timedelta(days=DAYS)
    ApiKey.objects.filter(pk=key).update(created_at=created_at)
    WebhookEndpoint.objects.filter(pk=endpoint).update(created_at=created_at)
    return {}


def replace(venue: Venue, now: datetime) -> dict[str, int]:
    """Replace the calls and the deliveries. The events of the demo's orders and reservations must be there."""
    remove_calls(venue)
    calls = list(plan_calls(venue, now=now))
    insert(ApiCall, (*CALL_COLUMNS, *FIXED_COLUMNS), calls)
    with connection.cursor() as cursor:
        cursor.execute(read_sql("accounts", "add_demo_call_counts"), {"venue": venue.pk})
    last = ApiCall.objects.filter(key=key_id(venue)).aggregate(at=Max("created_at"))["at"]
    ApiKey.objects.filter(pk=key_id(venue)).update(last_used_at=last, last_used_ip=DATA["address"])
    # Nothing is delivered if a person has enabled the endpoint, or deleted it.
    endpoint = WebhookEndpoint.objects.filter(pk=endpoint_id(venue), disabled_at__isnull=False).first()
    if endpoint is not None:
        insert_objects(list(plan_deliveries(endpoint, disabled_at=now - DISABLED_FOR)))
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(disabled_at=now - DISABLED_FOR)
    return {"API calls": len(calls)}


def remove(venue: Venue, now: datetime) -> dict[str, int]:
    """Remove the calls, the key, and the endpoint with its deliveries."""
    del now
    calls = remove_calls(venue)
    ApiKey.objects.filter(pk=key_id(venue)).delete()
    WebhookEndpoint.objects.filter(pk=endpoint_id(venue)).delete()
    return {"API calls": calls}


def remove_calls(venue: Venue) -> int:
    """Remove the calls of the demo, and subtract them from the hourly counts."""
    # In the order in which the request log writes them, so that the two cannot deadlock.
    list(ApiCallCount.objects.select_for_update().filter(venue=venue).order_by("hour").values_list("pk"))
    with connection.cursor() as cursor:
        cursor.execute(read_sql("accounts", "remove_demo_calls"), {"venue": venue.pk})
        ((removed,),) = cursor.fetchall()
    ApiCallCount.objects.filter(venue=venue, calls=0).delete()
    return int(removed)


def key_id(venue: Venue) -> UUID:
    return demo_id(venue.pk, "key", at=venue.created_at)


def endpoint_id(venue: Venue) -> UUID:
    return demo_id(venue.pk, "webhook endpoint", at=venue.created_at)


def plan_calls(venue: Venue, *, now: datetime) -> Iterator[tuple[Any, ...]]:
    """Yield the calls that created orders and reservations, and those that read and that were refused.

    They are rows of CALL_COLUMNS and FIXED_COLUMNS.
    """
    zone = ZoneInfo(venue.timezone)
    today = now.astimezone(zone).date()
    since = datetime.combine(today - timedelta(days=DAYS - 1), time(), zone)
    fixed = (venue.pk, key_id(venue), DATA["address"], DATA["user_agent"])
    events = Event.objects.filter(IS_DEMO, venue=venue, type__in=CREATION_PATHS, created_at__gte=since, actor=PROGRAM)
    rng = random_of(venue.pk, "calls", today)
    for event, kind, at in events.order_by("created_at").values_list("pk", "type", "created_at"):
        key = demo_id(venue.pk, "call", event, at=at)
        yield key, at, "POST", CREATION_PATHS[kind], "", 201, "", "", "", rng.randint(9, 40), *fixed
    for back in range(DAYS):
        day = today - timedelta(days=back)
        rng = random_of(venue.pk, "calls", day)
        for number, (at, columns) in enumerate(plan_day(rng, datetime.combine(day, time(), zone))):
            if at < now:
                key = demo_id(venue.pk, "call", number, at=at)
                yield key, at, *columns, rng.randint(3, 25), *fixed


def plan_day(rng: Random, midnight: datetime) -> Iterator[tuple[datetime, tuple[Any, ...]]]:
    """Yield the other calls of a day: their times, and their columns from the method to the answer."""
    weights = [read["weight"] for read in DATA["reads"]]
    for hour in READING_HOURS:
        for read in rng.choices(DATA["reads"], weights, k=rng.randint(0, MAX_READS)):
            at = midnight.replace(hour=hour, minute=rng.randrange(60), second=rng.randrange(60))
            yield at, ("GET", read["path"], read["query"], 200, "", "", "")
    for refusal in rng.choices(DATA["refusals"], k=rng.choice(REFUSALS_PER_DAY)):
        at = midnight.replace(hour=rng.choice(READING_HOURS), minute=rng.randrange(60), second=rng.randrange(60))
        body = json.dumps(json.loads(refusal["body"]), indent=2) if refusal["body"] else ""
        answer = {"error": {name: refusal.get(name) for name in ("code", "message", "param")}}
        columns = (refusal["method"], refusal["path"], "", refusal["status"], refusal["code"], body)
        yield at, (*columns, json.dumps(answer, indent=2))


def plan_deliveries(endpoint: WebhookEndpoint, *, disabled_at: datetime) -> Iterator[WebhookDelivery]:
    """Yield the deliveries of the last events before the endpoint was disabled: all but the newest succeeded."""
    events = Event.objects.filter(IS_DEMO, venue=endpoint.venue_id, type__in=endpoint.types)
    rows = events.filter(created_at__lt=disabled_at).exclude(deliveries__endpoint=endpoint)
    newest = rows.order_by("-created_at", "-id").values_list("pk", "created_at")[:DELIVERIES]
    for number, (event, at) in enumerate(newest):
        delivery = WebhookDelivery(
            id=demo_id(endpoint.venue_id, "delivery", event, at=at),
            event_id=event,
            endpoint_id=endpoint.pk,
            attempts=1,
            last_attempt_at=at,
            created_at=at,
        )
        if number == 0:
            delivery.state, delivery.failed_at = WebhookDelivery.State.FAILED, disabled_at
            delivery.last_status, delivery.last_response = 503, "Service Unavailable"
            delivery.last_error = ENDPOINT_DISABLED
        else:
            delivery.state, delivery.delivered_at = WebhookDelivery.State.DELIVERED, at
            delivery.last_status, delivery.last_response = 200, "ok"
        yield delivery
