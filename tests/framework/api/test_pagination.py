"""Pages of a list: the envelope, the links, and what each page costs."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import Venue
from tests.support import builders
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
RESERVATIONS = "/api/v1/reservations"
BASE = "http://127.0.0.1:8000"


def links(response: Any) -> dict[str, str]:
    """The Link header by its relations."""
    return {name: url for url, name in re.findall(r'<([^>]+)>; rel="(\w+)"', response["Link"])}


@pytest.mark.django_db
def test_the_links_of_a_middle_page_lead_everywhere(api: Client, venue: Venue) -> None:
    for _ in range(7):
        builders.order(venue)
    response = api.get(f"{ORDERS}?status=pending&limit=2&page=2")
    assert links(response) == {
        "first": f"{BASE}{ORDERS}?status=pending&limit=2&page=1",
        "prev": f"{BASE}{ORDERS}?status=pending&limit=2&page=1",
        "next": f"{BASE}{ORDERS}?status=pending&limit=2&page=3",
        "last": f"{BASE}{ORDERS}?status=pending&limit=2&page=4",
    }
    position = response.json()["pagination"]
    assert position.pop("next_cursor")
    assert position == {"page": 2, "limit": 2, "total": 7, "total_pages": 4, "has_more": True}


@pytest.mark.django_db
def test_the_next_links_lead_through_all_orders_once(api: Client, venue: Venue) -> None:
    made = [builders.order(venue).public_id for _ in range(7)]
    found: list[str] = []
    url: str | None = f"{ORDERS}?limit=3"
    while url:
        response = api.get(url.removeprefix(BASE))
        found += [record["id"] for record in response.json()["data"]]
        url = links(response).get("next")
    assert found == made[::-1]


@pytest.mark.parametrize("path", [ORDERS, RESERVATIONS])
@pytest.mark.django_db
def test_the_links_of_a_list_without_a_limit_can_be_followed(api: Client, path: str) -> None:
    response = api.get(path)
    assert links(response) == {"first": f"{BASE}{path}?page=1", "last": f"{BASE}{path}?page=1"}
    assert [api.get(url.removeprefix(BASE)).status_code for url in links(response).values()] == [200, 200]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (1, {"first": 1, "next": 2, "last": 3}),
        (2, {"first": 1, "prev": 1, "next": 3, "last": 3}),
        (3, {"first": 1, "prev": 2, "last": 3}),
        (4, {"first": 1, "prev": 3, "last": 3}),
        (5, {"first": 1, "last": 3}),
        (10**12, {"first": 1, "last": 3}),
    ],
)
@pytest.mark.django_db
def test_each_page_links_to_those_that_exist(api: Client, venue: Venue, page: int, expected: dict[str, int]) -> None:
    for _ in range(5):
        builders.order(venue)
    response = api.get(ORDERS, {"limit": 2, "page": page})
    assert {name: int(url.rpartition("page=")[2]) for name, url in links(response).items()} == expected


@pytest.mark.parametrize("page", [4, 10**12])
@pytest.mark.django_db
def test_a_page_past_the_end_is_empty_and_costs_no_query_of_rows(api: Client, venue: Venue, page: int) -> None:
    for _ in range(3):
        builders.order(venue)
    # The count.
    with costing(1):
        response = api.get(ORDERS, {"limit": 1, "page": page})
    assert (response.status_code, response.json()["data"]) == (200, [])
    position = {"page": page, "limit": 1, "total": 3, "total_pages": 3, "has_more": False}
    assert response.json()["pagination"] == position | {"next_cursor": None}


@pytest.mark.django_db
def test_an_empty_list_has_no_pages(api: Client) -> None:
    position = {"page": 1, "limit": 20, "total": 0, "total_pages": 0, "has_more": False, "next_cursor": None}
    assert api.get(ORDERS).json() == {"data": [], "pagination": position}
