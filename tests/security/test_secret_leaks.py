"""Secrets and people, planted wherever a caller can put them: none shows in a log, at the broker or in a refusal.

Each operation is called as it should be, wrongly, and while its tables take or give no row.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from django.conf import settings
from django.db import connection

from accounts.models import ApiKey, Venue
from tests.catalogue import builders as places
from tests.support import builders, openapi_operations
from tests.support.live_server import served

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

PLANTED = "zqcanary"
PERSON = {
    "customer_name": f"{PLANTED} Lovelace",
    "customer_email": f"{PLANTED}@example.com",
    "customer_phone": "+393331237788",
    "special_requests": f"{PLANTED} nuts",
    "delivery_address": f"1 {PLANTED} Street",
    "customer_id": f"cust_{PLANTED}",
}
# A key of ours that never was: its letters and its checksum are right.
UNKNOWN = "rk_live_" + PLANTED.ljust(40, "0")
SIGNED = base64.b64encode(json.dumps({"x402Version": 2, "payload": {"signature": f"0x{PLANTED}"}}).encode()).decode()
SECRETS = {
    "PAYMENT-SIGNATURE": SIGNED,
    "X-PAYMENT": SIGNED,
    "SIGN-IN-WITH-X": f"{PLANTED} signed",
    "Cookie": f"sessionid={PLANTED}session; csrftoken={PLANTED}token",
    "X-Forwarded-For": "198.51.100.7",
    # A body that nobody read would be taken for the next call.
    "Connection": "close",
}
PAGES = ("/admin/login/", "/account/login/", "/mcp", "/", "/v1/auth/sessions")


@pytest.fixture
def key(venue: Venue) -> str:
    """A key of the venue, which has an order, a reservation and a place beside it."""
    builders.order(venue)
    builders.reservation(venue)
    places.restaurant(slug="noma")
    return ApiKey.create(venue, name="test", allowance=100_000).text


def planted(body: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """The example of a body with the guest of this test in it."""
    example = dict(body or {})
    return {**example, **{name: text for name, text in PERSON.items() if name in example}, **more}


def calls(venue: Venue) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Method, path and body of every operation of both APIs, rightly and wrongly, and of pages that take secrets."""
    for operation in openapi_operations.ALL:
        # An advance of the clock sends mail in the web process, and without a mail server here that prints it.
        if "/test/clock" in operation.template:
            continue
        path = operation.path_of(venue)
        yield operation.method, path, planted(operation.body) if operation.body is not None else None
        yield operation.method, path, planted(operation.body, **PERSON, password=PLANTED)
        yield operation.method, f"{path}?api_key={PLANTED}&email={PERSON['customer_email']}", None
    document = json.loads((Path(settings.BASE_DIR) / "docs" / "openapi" / "data.json").read_text())
    for template, methods in document["paths"].items():
        path = re.sub(r"\{slug\}", "noma", template)
        path = re.sub(r"\{[a-z_]+\}", "x" + PLANTED, path)
        for method in methods.keys() & {"get", "post", "put", "patch", "delete"}:
            yield method.upper(), path, None if method == "get" else dict(PERSON)
            yield method.upper(), f"{path}?fields=reviews&token={PLANTED}", None if method == "get" else dict(PERSON)
    for page in PAGES:
        yield "GET", page, None
        yield "POST", page, {"username": PLANTED, "password": f"{PLANTED}-secret", **PERSON}


def called(base_url: str, wanted: Sequence[tuple[str, str, Any]], *credentials: str) -> list[httpx.Response]:
    """What all of them are answered, with each credential."""
    answers = []
    with httpx.Client(base_url=base_url, timeout=20, headers=SECRETS) as caller:
        for method, path, body in wanted:
            for credential in credentials:
                headers = {"Authorization": f"Bearer {credential}"}
                answers.append(caller.request(method, path, json=body, headers=headers))
    return answers


@contextmanager
def broken() -> Iterator[None]:
    """What is written breaks at the last moment, with all its values in the database's own words."""
    tables = ("orders_order", "reservations_reservation", "catalogue_report", "payments_payment", "accounts_user")
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT it_breaks CHECK (false) NOT VALID")
        cursor.execute("ALTER TABLE catalogue_searchrow RENAME TO elsewhere")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT it_breaks")
            cursor.execute("ALTER TABLE elsewhere RENAME TO catalogue_searchrow")


def kept_at_the_broker() -> str:
    """All that the store of the counts and the broker hold, as text."""
    found = []
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as store:
        for name in store.scan_iter():
            kind = store.type(name)
            read: Any = {
                b"string": store.get,
                b"list": lambda its: store.lrange(its, 0, -1),
                b"hash": store.hgetall,
                b"set": store.smembers,
                b"zset": lambda its: store.zrange(its, 0, -1),
            }[kind]
            text = f"{name!r} {read(name)!r}"
            # What Celery sends stands there in base64.
            words = re.findall(r"[A-Za-z0-9+/]{24,}", text)
            decoded = [base64.b64decode(word[: len(word) // 4 * 4]) for word in words]
            found.append(f"{text} {decoded}")
    return "\n".join(found)


def test_no_secret_and_nobodys_name_is_in_logs_at_the_broker_or_in_a_refusal(
    venue: Venue, key: str, tmp_path: Path
) -> None:
    own = {"SECRET_KEY": f"{PLANTED}-of-the-site-{'x' * 50}", "METRICS_TOKEN": f"{PLANTED}-of-the-metrics"}
    log = tmp_path / "web.log"
    with served(log, TRUSTED_PROXIES="1", **own) as base_url:
        # Before the example of a menu is put: its pizza is served in the evening only.
        first, wanted = list(calls(venue)), list(calls(venue))
        sound = called(base_url, first, key, UNKNOWN)
        with broken():
            after = called(base_url, wanted, key)
    statuses = {answer.status_code for answer in sound}
    assert {200, 201, 400, 401, 404} <= statuses
    assert not {status for status in statuses if status >= 500}
    assert 500 in {answer.status_code for answer in after}
    passwords = [urlsplit(os.environ[name]).password for name in ("DATABASE_URL", "REDIS_URL")]
    secret = [PLANTED, key, key[8:30], SIGNED, PERSON["customer_phone"], *(word for word in passwords if word)]
    text = log.read_text()
    assert "IntegrityError" in text
    assert [line for line in text.splitlines() if any(word in line for word in secret)] == []
    refusals = [answer for answer in (*sound, *after) if answer.status_code >= 400]
    leaking = {(answer.request.method, answer.request.url.path) for answer in refusals if leaks(answer, key)}
    assert leaking == set()
    broker = kept_at_the_broker()
    assert [word for word in secret if word in broker] == []


def leaks(answer: httpx.Response, key: str) -> bool:
    """Whether a refusal repeats a key, a payment or a secret of the site; what was asked for it may name."""
    return any(word in answer.text for word in (key, UNKNOWN, SIGNED, f"{PLANTED}-", f"{PLANTED}session"))
