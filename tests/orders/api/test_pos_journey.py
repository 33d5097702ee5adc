"""The journey of a point-of-sale system by plain HTTP: menu, orders with modifiers, and following what happens."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue
from accounts.webhooks import dispatcher, endpoints
from orders.demo import menu as demo_menu
from tests.accounts.webhook_receivers import Answer, Received, receiving
from tests.support import builders

MENU, ORDERS = "/api/v1/menu", "/api/v1/orders"


def send(api: Client, method: str, path: str, body: Any, **headers: str) -> Any:
    return api.generic(method, path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_point_of_sale_pushes_the_menu_orders_and_misses_nothing(
    api: Client, venue: Venue, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    demo_menu.add_menu(venue, now=timezone.now())
    is_down = True

    def answers(_: Received, before: int) -> Answer:
        return Answer(503 if is_down else 200)

    with receiving(answers) as receiver:
        endpoints.create(venue, url=receiver.url)
        since = timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")

        # Pull the menu, push it changed: another system may not have changed it in between.
        pulled = api.get(MENU)
        document = pulled.json()
        dish = document["categories"][0]["items"][0]
        dish["price"] = "10.90"
        changes = send(api, "PUT", f"{MENU}?dry_run=true", document).json()
        assert changes["items"]["changed"] == {dish["id"]: ["price"]}
        pushed = send(api, "PUT", MENU, document, **{"If-Match": pulled["ETag"]})
        assert (pushed.status_code, pushed.json()["categories"][0]["items"][0]["price"]) == (200, "10.90")
        assert send(api, "PUT", MENU, document, **{"If-Match": pulled["ETag"]}).status_code == 412

        # Sell out a dish: the next order for it is refused.
        sold_out = document["categories"][0]["items"][1]["id"]
        assert send(api, "PATCH", f"{MENU}/items/{sold_out}", {"sold_out": "today"}).json()["is_sold_out"] is True
        refused = send(api, "POST", ORDERS, builders.order_body(items=[{"menu_item_id": sold_out, "quantity": 1}]))
        assert builders.problems_of(refused) == [("items[0].menu_item_id", f"`{sold_out}` is sold out today.")]

        # Order with modifiers, and hand it over.
        groups = {group["id"]: group for group in api.get(MENU).json()["modifier_groups"]}
        pizza = next(
            item
            for category in document["categories"]
            for item in category["items"]
            if item["modifier_groups"] and item["id"] != sold_out
        )
        size = groups[pizza["modifier_groups"][0]]["modifiers"][-1]
        line = {"menu_item_id": pizza["id"], "quantity": 1, "modifiers": [{"id": size["id"]}]}
        order = send(api, "POST", ORDERS, builders.order_body(items=[line], channel="pos")).json()
        assert [each["id"] for each in order["items"][0]["modifiers"]] == [size["id"]]
        for stage in ("accepted", "ready", "handed_over"):
            order = send(api, "PUT", f"{ORDERS}/{order['id']}/stage", {"stage": stage}).json()

        # The receiver is down for a minute; afterwards each event arrives.
        dispatcher.run(clock=timezone.now)
        missed = len(receiver.received)
        is_down = False
        for minutes in (1, 10, 60):
            later = timezone.now() + timedelta(minutes=minutes)
            dispatcher.run(clock=lambda later=later: later)  # type: ignore[misc]
        arrived = [json.loads(each.body) for each in receiver.received[missed:]]

    assert sorted(event["type"] for event in arrived) == [
        "menu.item_sold_out",
        "menu.updated",
        "order.completed",
        "order.created",
        "order.stage_changed",
        "order.stage_changed",
    ]
    assert next(event["data"] for event in arrived if event["type"] == "order.completed") == order
    page = api.get(ORDERS, {"updated_since": since}).json()
    assert page["data"] == [order]
    followed = api.get(ORDERS, {"updated_since": since, "cursor": page["pagination"]["next_cursor"]}).json()
    assert followed["data"] in ([], [order])
