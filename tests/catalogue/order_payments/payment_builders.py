"""Orders at a page that takes USDC, and what pays them."""

import re
from collections.abc import Mapping
from decimal import Decimal
from html import unescape
from typing import Any

from django.test import Client
from django.utils import timezone
from x402.http import x402HTTPClientSync

from framework.consistency import all_checks
from orders import commands
from orders.models import Order, OrderingSettings
from orders.ordering_page import links
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.payments.buyer import client_of
from tests.support import builders

PRICE = Decimal("1.1")
# 9.50 EUR at 1.10 EUR for one USDC, rounded up.
AMOUNT = "8.636364"


def placed(**fields: Any) -> Order:
    """An order of one pizza for 9.50 EUR at a venue whose page takes USDC."""
    venue = builders.venue("Pizzeria", timezone="Europe/Rome", currency="EUR")
    given = {"is_page_open": True, "takes_usdc": True, "usdc_price": PRICE}
    OrderingSettings.objects.create(venue=venue, **(given | fields))
    builders.menu(venue)
    return place(venue)


def place(venue: Any) -> Order:
    record = commands.place_order(
        venue,
        now=timezone.now(),
        actor="guest",
        customer_id="guest_1",
        items=[{"menu_item_id": "margherita", "quantity": 1}],
        payment_method="cash",
        channel="page",
        usdc_price=PRICE,
    )
    return Order.objects.select_related("venue").with_public_id(record["id"]).get()


def address_of(order: Order) -> str:
    token = links.token_of(order.public_id)
    return f"/order/{order.venue.public_id}/placed/{token}"


def post(order: Order, headers: Mapping[str, str] | None = None, *, client: Client | None = None) -> Any:
    """What an x402 client gets."""
    return (client or Client()).post(f"{address_of(order)}/pay", headers=headers or {})


def payment(wallet: Wallet, order: Order) -> dict[str, str]:
    """The header that pays the order, as the official client makes it."""
    challenge = post(order)
    assert challenge.status_code == 402, challenge.content
    client = client_of(wallet)
    client.set_spend_controls(False)
    url = f"http://127.0.0.1:8000{address_of(order)}/pay"
    headers, _ = x402HTTPClientSync(client).handle_402_response(dict(challenge.headers), challenge.content, url)
    return dict(headers)


def paid(order: Order, wallet: Wallet) -> Order:
    answer = post(order, payment(wallet, order))
    assert answer.status_code == 200, answer.content
    order.refresh()
    return order


def words(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def shown_amount(order: Order, *, client: Client | None = None) -> Decimal:
    """The amount that the page asks for."""
    page = (client or Client()).get(f"{address_of(order)}/pay?lang=en")
    found = re.search(r"([0-9.]+) USDC", words(page))
    assert found, words(page)
    return Decimal(found[1])


def enter(order: Order, transaction: str) -> Any:
    """What a guest gets who enters a transaction in the form."""
    return Client().post(f"{address_of(order)}/pay", {"transaction": transaction, "lang": "en"})


def cancel(order: Order) -> None:
    commands.change_status(order, "cancelled", now=timezone.now(), actor="staff:ada@example.com")


def states(order: Order) -> tuple[str, list[str]]:
    """The state of the order's payment, and those of the ledger."""
    order.refresh()
    ledger = Payment.objects.order_by("created_at").values_list("state", flat=True)
    return order.payment_state, list(ledger)


def findings() -> list[Any]:
    return [str(finding) for check in all_checks(now=timezone.now()).values() for finding in check]
