"""An agent that orders by the Universal Commerce Protocol, and checks every answer with the models of ucp-sdk."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.test import Client
from pydantic import AnyUrl, BaseModel
from ucp_sdk.models.schemas.common.types.amount import Amount
from ucp_sdk.models.schemas.common.types.error_response import ErrorResponse
from ucp_sdk.models.schemas.common.types.location_summary import LocationSummary
from ucp_sdk.models.schemas.shopping.checkout import Checkout
from ucp_sdk.models.schemas.shopping.types.line_item import LineItem
from ucp_sdk.models.schemas.shopping.types.order_confirmation import OrderConfirmation
from ucp_sdk.models.schemas.ucp import ResponseCheckoutSchema
from x402.schemas import PaymentRequired

from accounts.models import Venue
from catalogue.ucp.protocol import CHECKOUT, FULFILLMENT, PATH, VERSION
from orders.models import Menu, OrderingSettings
from payments.devchain.wallets import Wallet
from tests.payments.buyer import client_of
from tests.support import builders

# At 1.10 EUR for one USDC.
USDC_PRICE = Decimal("1.1")


class Modification(BaseModel):
    """Of the food draft, of which the SDK has no models."""

    id: str
    title: str
    price: Amount


class Dish(BaseModel):
    id: str
    title: str
    price: Amount
    modifications: list[Modification]
    note: str | None = None


class FoodLine(LineItem):  # type: ignore[misc]
    dish: Dish


class FoodOrder(OrderConfirmation):  # type: ignore[misc]
    tracking_url: AnyUrl


class FoodCheckout(Checkout):  # type: ignore[misc]
    food_establishment: LocationSummary
    line_items: list[FoodLine]
    order: FoodOrder | None = None


def check(response: Any) -> dict[str, Any]:
    """The body of an answer, which a model of the protocol accepts."""
    body: dict[str, Any] = response.json()
    assert response.headers["Content-Type"] == "application/json"
    if "ucp" not in body:
        # A protocol error, of which there is no model.
        assert response.status_code >= 400
        assert set(body) <= {"code", "content", "continue_url"}
        assert body["code"]
        assert body["content"]
    elif body["ucp"]["status"] == "error":
        assert ErrorResponse.model_validate(body)
    else:
        ResponseCheckoutSchema.model_validate(body["ucp"])
        check_checkout(FoodCheckout.model_validate(body))
    return body


def check_checkout(checkout: FoodCheckout) -> None:
    """What the protocol promises of amounts and states beyond its models."""
    *entries, total = checkout.totals
    assert total.type == "total"
    assert sum(entry.amount for entry in entries) == total.amount
    for line in checkout.line_items:
        amounts = {entry.type: entry.amount for entry in line.totals}
        modifications = sum(each.price for each in line.dish.modifications)
        assert amounts["subtotal"] == (line.dish.price + modifications) * line.quantity
        assert amounts["total"] == amounts["subtotal"] + amounts.get("items_discount", 0)
        assert line.item.price * line.quantity == amounts["total"]
    lines = sum(entry.amount for line in checkout.line_items for entry in line.totals if entry.type == "subtotal")
    assert next(entry.amount for entry in entries if entry.type == "subtotal") == lines
    assert (checkout.order is not None) == (checkout.status == "completed")
    is_over = checkout.status in ("completed", "canceled")
    assert (checkout.continue_url is None) == is_over
    problems = [message for message in checkout.messages or [] if message.type == "error"]
    assert problems or checkout.status != "incomplete"


def profile(**changes: Any) -> dict[str, Any]:
    """The profile of a platform."""
    capabilities = {
        CHECKOUT: [{"version": "2026-04-08"}, {"version": VERSION}],
        FULFILLMENT: [{"version": VERSION, "extends": CHECKOUT}],
    }
    metadata = {"version": VERSION, "services": {}, "capabilities": capabilities, "payment_handlers": {}}
    return {"ucp": metadata | changes}


@contextmanager
def serving_profiles(documents: Mapping[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A server of these documents by their paths: its address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = documents.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Agent:
    """A platform with a profile."""

    profile: str
    client: Any = field(default_factory=Client)
    base: str = ""

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> Any:
        """Call an operation, and check its answer."""
        sent = {"UCP-Agent": f'profile="{self.profile}"', **headers, **({"Idempotency-Key": key} if key else {})}
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
        url = f"{self.base}{PATH}{path}"
        if isinstance(self.client, Client):
            response: Any = self.client.generic(
                method, url, content or "", content_type="application/json", headers=sent
            )
        else:
            types = {"Content-Type": "application/json"}
            response = self.client.request(method, url, content=content, headers={**sent, **types})
        check(response)
        return response

    def create(
        self, venue: Venue, *lines: Mapping[str, Any], key: str | None = None, **members: Any
    ) -> dict[str, Any]:
        response = self.call("POST", "/checkout-sessions", new_body(venue, *lines, **members), key=key)
        assert response.status_code == 201, response.content
        created: dict[str, Any] = response.json()
        return created

    def get(self, session: str) -> dict[str, Any]:
        return dict(self.call("GET", f"/checkout-sessions/{session}").json())

    def update(self, session: str, body: Mapping[str, Any], *, key: str | None = None) -> Any:
        return self.call("PUT", f"/checkout-sessions/{session}", body, key=key)

    def complete(self, session: str, instrument: Mapping[str, Any] | None = None, *, key: str | None = None) -> Any:
        body = {"payment": {"instruments": [instrument or CASH]}}
        return self.call("POST", f"/checkout-sessions/{session}/complete", body, key=key)

    def cancel(self, session: str, *, key: str | None = None) -> Any:
        return self.call("POST", f"/checkout-sessions/{session}/cancel", key=key)


CASH = {"id": "i1", "handler_id": "pay_at_venue", "type": "cash"}
BUYER = {"first_name": "Ada", "last_name": "Lovelace", "phone_number": "+390612345678"}


def line(dish: str, *modifications: str, quantity: int = 1, note: str = "") -> dict[str, Any]:
    chosen = [{"id": each} for each in modifications]
    return {"quantity": quantity, "dish": {"id": dish, "note": note, **({"modifications": chosen} if chosen else {})}}


def new_body(venue: Venue | str, *lines: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """The body of create: a pizza for Ada, who picks it up as soon as she can."""
    identifier = venue if isinstance(venue, str) else venue.public_id
    given = {"food_establishment": {"id": identifier}, "line_items": list(lines) or [line("margherita")]}
    return given | {"buyer": BUYER} | members


def handler_of(checkout: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The handler of the checkout with this id."""
    found = [entry for entries in checkout["ucp"]["payment_handlers"].values() for entry in entries]
    return next((entry for entry in found if entry["id"] == name), {})


def sign(checkout: Mapping[str, Any], wallet: Wallet) -> dict[str, Any]:
    """The instrument that pays the checkout, signed by the official client from the handler's config."""
    client = client_of(wallet)
    client.set_spend_controls(False)
    required = PaymentRequired.model_validate(handler_of(checkout, "x402")["config"])
    payment = client.create_payment_payload(required).model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"id": "i1", "handler_id": "x402", "type": "x402", "credential": {"type": "x402", "payment": payment}}


def pizzeria(*, takes_usdc: bool = True, **fields: Any) -> Menu:
    """The menu of a venue whose page is open: a pizza with sizes and extras, and a menu with a drink."""
    venue = builders.venue("Pizzeria", timezone="Europe/Rome", currency="EUR", address="Via Roma 1, Roma")
    usdc = {"takes_usdc": True, "usdc_price": USDC_PRICE} if takes_usdc else {}
    OrderingSettings.objects.create(venue=venue, is_page_open=True, **usdc, **fields)
    menu = builders.menu(venue, acqua="3.00", menu="14.00")
    pizza = menu.items.get(ref="margherita")
    pizza.allergens = ["gluten", "milk"]
    pizza.save()
    builders.modifier_group(menu, "size", {"small": "-1.00", "normal": "0.00", "large": "3.00"}, pizza)
    builders.modifier_group(menu, "extras", {"olives": "1.50", "ham": "2.00"}, pizza, max_choices=2)
    ice = builders.modifier_group(menu, "ice", {"with-ice": "0.00", "no-ice": "0.20"})
    drink = builders.modifier_group(menu, "drink", {"cola": "0.00"}, menu.items.get(ref="menu"), min_choices=1)
    drink.modifiers.filter(ref="cola").update(nested_group=ice)
    return menu
