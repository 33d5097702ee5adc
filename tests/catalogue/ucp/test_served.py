"""The journey of an agent at a running web server: discover, create, update, pay, look up the order."""

from pathlib import Path

import httpx
import pytest
from ucp_sdk.models.schemas.profile import BusinessSchema

from catalogue.ucp.protocol import CHECKOUT
from orders.models import Order
from payments.models import Payment
from tests.catalogue import builders as places
from tests.catalogue.ucp.agents import Agent, line, new_body, pizzeria, sign
from tests.support.live_server import served
from tests.support.wallets import fresh_wallet

pytestmark = [
    pytest.mark.stack,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("ledger_matches_chain"),
]


def test_an_agent_finds_a_restaurant_and_orders_and_pays_a_meal(profiles: str, tmp_path: Path) -> None:
    menu = pizzeria()
    places.listing(places.restaurant(slug="pizzeria-roma"), venue=menu.venue)
    port = "18136"
    environment = {
        "UCP_ENABLED": "true",
        "WEBHOOKS_TO_LOOPBACK": "true",
        "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
    }
    with served(tmp_path / "web.log", port=port, **environment) as web, httpx.Client(timeout=30) as client:
        document = client.get(f"{web}/.well-known/ucp").json()
        assert BusinessSchema.model_validate(document).ucp.capabilities
        (service,) = document["ucp"]["services"]["dev.ucp.food"]
        assert CHECKOUT in document["ucp"]["capabilities"]
        assert service["endpoint"].startswith(web)

        record = client.get(f"{web}/v1/restaurants/pizzeria-roma?fields=menu").json()
        dishes = [dish["id"] for category in record["menu"]["categories"] for dish in category["items"]]
        assert dishes == ["acqua", "margherita", "menu"]

        agent = Agent(f"{profiles}/agent", client=client, base=web)
        body = new_body("pizzeria-roma", line("margherita", "large"), buyer={})
        created = agent.call("POST", "/checkout-sessions", body, key="create").json()
        assert created["status"] == "incomplete"
        assert created["continue_url"].startswith(web)

        body = new_body(
            "pizzeria-roma", line("margherita", "large"), line("acqua"), tip={"selected_option_id": "tip_5"}
        )
        ready = agent.update(created["id"], body, key="update").json()
        assert (ready["status"], ready["totals"][-1]["amount"]) == ("ready_for_complete", 1628)

        completed = agent.complete(created["id"], sign(ready, fresh_wallet()), key="complete").json()
        assert completed["status"] == "completed", completed
        assert agent.get(created["id"])["order"] == completed["order"]
        page = client.get(completed["order"]["tracking_url"])
        assert page.status_code == 200
        assert "Paid" in page.text
    order = Order.objects.get()
    assert (order.public_id, order.payment_state) == (completed["order"]["id"], "paid")
    assert Payment.objects.get().state == "delivered"
