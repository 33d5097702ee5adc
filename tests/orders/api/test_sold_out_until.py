"""A dish that is sold out until a moment is available again by itself."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, Venue
from orders.models import MenuItem
from tests.orders.api.test_menu_writing import MENU, dish, document, events, patch, put
from tests.support import builders

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
AT_18 = "2026-11-21T17:00:00Z"


def order(api: Client) -> Any:
    return api.post("/api/v1/orders", builders.order_body(), content_type="application/json")


def state(api: Client) -> tuple[bool, str | None]:
    item = api.get(MENU).json()["categories"][0]["items"][0]
    return item["is_sold_out"], item["sold_out_until"]


def test_a_dish_is_available_again_by_itself_after_the_moment(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    with time_machine.travel(NOON, tick=False) as clock:
        changed = patch(api, "margherita", {"sold_out_until": "2026-11-21T18:00:00+01:00"}).json()
        assert (changed["is_sold_out"], changed["sold_out_until"]) == (True, AT_18)
        assert state(api) == (True, AT_18)
        problem = ("items[0].menu_item_id", "`margherita` is sold out until 18:00.")
        assert builders.problems_of(order(api)) == [problem]
        assert events(venue) == [("menu.item_sold_out", "margherita")]
        assert Event.objects.get().record["sold_out_until"] == AT_18
        clock.move_to(datetime(2026, 11, 21, 17, tzinfo=UTC))
        assert state(api) == (False, None)
        assert order(api).status_code == 201
        assert events(venue) == [("menu.item_sold_out", "margherita")]


@time_machine.travel(NOON, tick=False)
def test_sold_out_today_says_until_when_and_null_ends_each_mark(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    midnight = "2026-11-21T23:00:00Z"
    assert patch(api, "margherita", {"sold_out": "today"}).json()["sold_out_until"] == midnight
    assert patch(api, "margherita", {"sold_out_until": AT_18}).json()["sold_out_until"] == AT_18
    assert patch(api, "margherita", {"sold_out": "today"}).json()["sold_out_until"] == midnight
    assert patch(api, "margherita", {"sold_out_until": None}).json()["sold_out_until"] is None
    patch(api, "margherita", {"sold_out_until": AT_18})
    assert patch(api, "margherita", {"sold_out": None}).json()["is_sold_out"] is False
    sold_out, updated = ("menu.item_sold_out", "margherita"), ("menu.updated", 1)
    assert events(venue) == [sold_out, updated, updated, updated, sold_out, updated]


@time_machine.travel(NOON, tick=False)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sold_out_until": "2026-11-21T12:00:00Z"}, "This must be in the future."),
        ({"sold_out_until": "2026-11-21T18:00:00"}, "This must be a moment like 2026-11-21T19:30:00Z"),
        ({"sold_out_until": AT_18, "sold_out": None}, "Give `sold_out` or `sold_out_until`, not both."),
    ],
)
def test_a_bad_moment_is_refused_by_name(api: Client, venue: Venue, changes: Any, message: str) -> None:
    builders.menu(venue)
    ((param, text),) = builders.problems_of(patch(api, "margherita", changes))
    assert (param, text.startswith(message)) == ("sold_out_until", True)
    assert events(venue) == []


def test_a_document_sets_it_keeps_it_and_ends_it(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    with time_machine.travel(NOON, tick=False) as clock:
        patch(api, "margherita", {"sold_out": "today"})
        read = api.get(MENU)
        assert put(api, read.json())["ETag"] == read["ETag"]
        pizza = dish("Margherita", id="margherita", tax_percent="10")
        put(api, document(pizza))
        assert state(api) == (True, "2026-11-21T23:00:00Z")
        put(api, document(pizza | {"sold_out_until": AT_18}))
        assert state(api) == (True, AT_18)
        assert menu.items.get().sold_out_on is None
        changes = put(api, document(pizza | {"sold_out_until": None}), "?dry_run=true").json()["items"]["changed"]
        assert changes == {"margherita": ["sold_out_until"]}
        put(api, document(pizza | {"sold_out_until": None}))
        assert state(api) == (False, None)
        sold_out, updated = ("menu.item_sold_out", "margherita"), ("menu.updated", 1)
        assert events(venue) == [sold_out, updated, updated]
        put(api, document(pizza | {"sold_out_until": AT_18}))
        read = api.get(MENU)
        clock.move_to(datetime(2026, 11, 21, 18, tzinfo=UTC))
        # A document that was read before the moment can still be sent back.
        assert put(api, read.json()).status_code == 200
        assert state(api) == (False, None)


@time_machine.travel(NOON, tick=False)
def test_an_order_for_after_the_moment_is_taken(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    MenuItem.objects.update(sold_out_until=datetime(2026, 11, 22, 17, tzinfo=UTC))
    assert builders.problems_of(order(api)) == [
        ("items[0].menu_item_id", "`margherita` is sold out until 2026-11-22 18:00.")
    ]
    later = builders.order_body(fulfilment={"type": "pickup", "requested_at": "2026-11-22T19:00:00Z"})
    assert api.post("/api/v1/orders", later, content_type="application/json").status_code == 201
