"""A restaurant that takes bookings, and calls of book_table there."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.test import Client

from accounts.models import Event, IdempotentCall
from catalogue.models import FlowBooking, FlowSlot, Restaurant
from reservations.models import GuestMail, Reservation
from tests.catalogue import builders
from tests.mcp.client import STATELESS, call, content_of, refusal_of, rpc, words_of
from tests.support import builders as base

GUEST: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
# At eight on the restaurant's clock, an hour after make.NOW.
EIGHT: dict[str, Any] = {"date": "2026-11-21", "time": "20:00"}


def listed() -> Restaurant:
    """A listed restaurant with four tables."""
    place = builders.listing(builders.restaurant(slug="fiskebar", name="Fiskebar")).restaurant
    for number in (2, 3, 4):
        base.table(place.listing.venue, f"T{number}")
    return place


def book(client: Client, slot: FlowSlot | None = None, **arguments: Any) -> Any:
    """The result of book_table for two, at this offer or as it is said."""
    at = {} if slot is None else {"offer_id": slot.public_id}
    return call(client, "book_table", **{**at, "party_size": 2, **GUEST, **arguments})


def booked(result: Any) -> dict[str, Any]:
    """The record of a booking."""
    assert "isError" not in result, result
    record: dict[str, Any] = content_of(result)
    return record


def cancel(record: dict[str, Any]) -> None:
    address = f"/v1/bookings/{record['id']}"
    assert Client().delete(address, headers={"X-Manage-Token": record["manage_token"]}).status_code == 200


def refused(result: Any, code: str, *, param: str | None = None) -> str:
    """The words of a refusal; nothing was stored."""
    error = refusal_of(result)
    assert (error["code"], error["param"]) == (code, param)
    stored = [model.objects.count() for model in (FlowBooking, Reservation, Event, GuestMail, IdempotentCall)]
    assert stored == [0, 0, 0, 0, 0]
    assert not FlowSlot.objects.filter(seats_left__lt=8).exists()
    return words_of(result)


def ask(client: Client, arguments: dict[str, Any], *, before: Any = None, answer: Any = None) -> Any:
    """A round of a call by a client that shows forms; `before` is the result of the round before."""
    params: dict[str, Any] = {"name": "book_table", "arguments": arguments}
    if before is not None:
        params |= {"requestState": before["requestState"], "inputResponses": {"guest": answer}}
    return rpc(client, "tools/call", params, era=STATELESS, capabilities={"elicitation": {}})["result"]


def question(result: Any) -> dict[str, Any]:
    """What a person is asked."""
    assert result["resultType"] == "input_required"
    (asked,) = result["inputRequests"].values()
    assert asked["method"] == "elicitation/create"
    params: dict[str, Any] = asked["params"]
    return params


def compact_offers(page: dict[str, Any]) -> dict[str, Any]:
    """A page of offers of REST as the tool gives it, whose tests have one zone."""
    zone = "Europe/Copenhagen"
    places: dict[str, Any] = {}
    offers = []
    for offer in page["data"]:
        place = offer["restaurant"] if isinstance(offer["restaurant"], dict) else {"slug": offer["restaurant"]}
        own = {"location", "cuisines", "walking_distance_m"}
        places[place["slug"]] = {name: value for name, value in place.items() if name not in own} | {"timezone": zone}
        moment = datetime.fromisoformat(offer["book_before"]).astimezone(ZoneInfo(zone)).isoformat()
        left_out = {"timezone", "status"} if len(place) > 1 else {"timezone"}
        kept = {name: value for name, value in offer.items() if name not in left_out}
        offers.append(kept | {"restaurant": place["slug"], "book_before": moment})
    return {**page, "data": offers, "restaurants": list(places.values())}
