"""Five hundred agents at one table, at a running web server."""

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from catalogue.models import FlowBooking
from reservations.models import Hold, Reservation
from tests.catalogue import builders
from tests.mcp.client import message
from tests.reservations import consistency
from tests.support import builders as base
from tests.support.live_server import served

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True)]

AGENTS = 500


def at_once(web: str, calls: list[dict[str, Any]]) -> list[httpx.Response]:
    """Send all of these requests at once, each from an address of its own."""

    async def send() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=web, limits=limits, timeout=240) as client:
            return await asyncio.gather(*[client.request("POST", **call) for call in calls])

    return asyncio.run(send())


def test_of_500_agents_over_rest_and_mcp_one_gets_the_last_table(tmp_path: Path) -> None:
    place = builders.listing(builders.restaurant(slug="fiskebar")).restaurant
    day = (timezone.now() + timedelta(days=30)).date().isoformat()
    calls = []
    for number in range(AGENTS):
        wish = {"date": day, "time": "19:00", "party_size": 2, "customer_name": f"Guest {number}"}
        wish["customer_email"] = f"guest{number}@example.com"
        headers = {"X-Forwarded-For": f"198.51.{number // 250}.{number % 250 + 1}"}
        if number % 2:
            body, its_headers = message("tools/call", {"name": "book_table", "arguments": wish | {"slug": place.slug}})
            calls.append({"url": "/mcp", "json": body, "headers": its_headers | headers})
        else:
            headers["Idempotency-Key"] = str(number)
            calls.append({"url": f"/v1/restaurants/{place.slug}/bookings", "json": wish, "headers": headers})
    with served(tmp_path / "web.log", TRUSTED_PROXIES="1") as web:
        answers = at_once(web, calls)
    assert Counter(outcome_of(answer) for answer in answers) == {"confirmed": 1, "slot_full": AGENTS - 1}
    assert FlowBooking.objects.get().reservation == Reservation.objects.get()
    assert Reservation.objects.get().tables == ["T1"]
    assert consistency.problems() == []


def outcome_of(answer: httpx.Response) -> str:
    """The status of the booking, or the code of the refusal."""
    record = answer.json()
    if "jsonrpc" in record:
        result = record["result"]
        outcome: str = result["_meta"]["tablewire/error"]["code"] if "isError" in result else "confirmed"
        return outcome
    return str(record["error"]["code"] if "error" in record else record["status"])


def test_of_500_requests_one_holds_the_last_table_and_one_books_it(tmp_path: Path) -> None:
    venue = base.venue()
    base.table(venue)
    base.period(venue)
    headers = {"Authorization": f"Bearer {base.key(venue, allowance=5000).text}"}
    day = (timezone.now() + timedelta(days=30)).date().isoformat()
    wish = {"date": day, "time": "19:30", "party_size": 4}
    with served(tmp_path / "web.log") as web:
        holds = at_once(web, [{"url": "/api/v1/holds", "json": wish, "headers": headers}] * AGENTS)
        codes = Counter(answer.status_code for answer in holds)
        assert codes == {201: 1, 400: AGENTS - 1}
        held = next(answer.json() for answer in holds if answer.status_code == 201)
        guest = wish | {"customer_name": "Ada", "customer_email": "ada@example.com", "hold_id": held["id"]}
        booked = at_once(web, [{"url": "/api/v1/reservations", "json": guest, "headers": headers}] * AGENTS)
    outcomes = Counter(answer.json().get("status") or answer.json()["error"]["code"] for answer in booked)
    assert outcomes == {"confirmed": 1, "hold_ended": AGENTS - 1}
    assert Reservation.objects.get().tables == held["tables"] == ["T1"]
    assert not Hold.objects.exists()
    assert consistency.problems() == []
