"""A record's version as its entity tag: a caller who saw an older one moves nothing."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.models import Venue
from orders.models import Order, VersionConflict
from tests.support import builders

ORDERS = "/api/v1/orders"
JSON = "application/json"


def move(api: Client, order: Order, status: str, if_match: str) -> tuple[int, str | None]:
    """The status of the answer and its error code."""
    response = api.put(
        f"{ORDERS}/{order.public_id}/status", {"status": status}, content_type=JSON, headers={"if-match": if_match}
    )
    return response.status_code, response.json().get("error", {}).get("code")


@pytest.mark.parametrize("if_match", ['"1"', '"7", "1"', '"x,y" ,,W/"2",\t"1",', "*"])
def test_an_order_moves_from_the_version_that_the_caller_saw(api: Client, venue: Venue, if_match: str) -> None:
    order = builders.order(venue)
    assert move(api, order, "completed", if_match) == (200, None)
    order.refresh_from_db()
    assert (order.status, order.version) == ("completed", 2)


@pytest.mark.parametrize(
    "if_match",
    ['"2"', 'W/"1"', '"x"', "1", '""', '"01"', 'x"1"', 'foo "1" bar', '"1""2"', '"1" "2"', '"1', "", '"\u0661"'],
)
def test_an_order_of_another_version_stays_as_it_is(api: Client, venue: Venue, if_match: str) -> None:
    order = builders.order(venue)
    assert move(api, order, "completed", if_match) == (412, "version_conflict")
    order.refresh_from_db()
    assert (order.status, order.version) == ("pending", 1)


def test_a_status_that_it_has_already_is_refused_to_who_saw_another_version(api: Client, venue: Venue) -> None:
    order = builders.order(venue, status="completed")
    assert move(api, order, "completed", '"99"') == (412, "version_conflict")


def test_of_two_who_saw_the_same_version_the_second_learns_of_the_conflict(venue: Venue) -> None:
    order = builders.order(venue)
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    order.change_status("cancelled", now=now, versions={1})
    with pytest.raises(VersionConflict, match="version 2"):
        order.change_status("completed", now=now, versions={1})
    assert order.status == "cancelled"


def test_an_order_that_the_caller_has_is_not_sent_again(api: Client, venue: Venue) -> None:
    path = f"{ORDERS}/{builders.order(venue).public_id}"
    etag = api.get(path)["ETag"]
    for tag in (etag, f'"9", W/{etag}', "*"):
        response = api.get(path, headers={"if-none-match": tag})
        assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag)
        assert response["X-RateLimit-Limit"] == "1000"
    for tag in ('"2"', f"x{etag}", f"{etag}{etag}"):
        assert api.get(path, headers={"if-none-match": tag}).status_code == 200
