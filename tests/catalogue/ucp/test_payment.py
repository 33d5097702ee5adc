"""Checkouts that are paid in USDC: the order is placed and charged once, or neither."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import Error as DatabaseError
from django.db import connection, connections
from django.test import override_settings
from django.utils import timezone

from accounts.models import Event
from catalogue.order_payments import payment as order_payment
from catalogue.ucp import completion
from framework.consistency import all_checks
from orders.models import CheckoutSession, Menu, Order, OrderingSettings
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue.ucp.agents import CASH, Agent, handler_of, line, new_body, pizzeria, sign
from tests.payments.facilitators import hangs_up, serving
from tests.support import builders
from tests.support.wallets import fresh_wallet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]
# 9.50 EUR at 1.10 EUR for one USDC, rounded up.
AMOUNT = Decimal("8.636364")


@pytest.fixture
def menu(transactional_db: None) -> Menu:
    return pizzeria()


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def findings() -> list[str]:
    return [str(finding) for check in all_checks(now=timezone.now()).values() for finding in check]


def states() -> tuple[list[str], list[str], list[str]]:
    """Those of the sessions, of the orders with their payments, and of the ledger."""
    orders = Order.objects.order_by("created_at").values_list("status", "payment_state")
    return (
        list(CheckoutSession.objects.order_by("created_at").values_list("state", flat=True)),
        [" ".join(filter(None, order)) for order in orders],
        list(Payment.objects.order_by("created_at").values_list("state", flat=True)),
    )


def problem(checkout: dict[str, Any]) -> tuple[str, str]:
    """The state and the error of a checkout that was not paid."""
    (message,) = [each for each in checkout["messages"] if each["type"] == "error"]
    return checkout["status"], message["code"]


def later(**delta: int) -> Any:
    return timezone.now() + timedelta(**delta)


def test_the_handler_says_what_to_sign_and_the_signed_payment_completes_the_checkout(
    agent: Agent, menu: Menu, wallet: Wallet
) -> None:
    checkout = agent.create(menu.venue)
    handler = handler_of(checkout, "x402")
    (asked,) = handler["config"]["accepts"]
    assert (handler["config"]["x402Version"], asked["scheme"], asked["amount"]) == (2, "exact", "8636364")
    # The id of the session is a secret, and the facilitator reads this.
    assert checkout["id"] not in str(handler)
    instrument = sign(checkout, wallet)
    first, again = agent.complete(checkout["id"], instrument), agent.complete(checkout["id"], instrument)
    assert first.json()["status"] == "completed", first.content
    assert first.json() == again.json()
    assert first.json()["payment"]["instruments"] == [
        {"id": "i1", "handler_id": "x402", "type": "x402", "selected": True}
    ]
    order = Order.objects.get()
    assert (order.payment_state, order.usdc_amount, order.payment_method) == ("paid", AMOUNT, "usdc")
    assert Payment.objects.get().amount_usdc == AMOUNT
    assert states() == (["completed"], ["pending paid"], ["delivered"])
    record = builders.client(menu.venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["payment"] == {"state": "paid", "amount": "8.636364", "currency": "USDC"}
    assert findings() == []


def test_the_tip_is_in_what_is_signed(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    checkout = agent.create(menu.venue, tip={"custom_amount": 150})
    assert handler_of(checkout, "x402")["config"]["accepts"][0]["amount"] == "10000000"
    assert agent.complete(checkout["id"], sign(checkout, wallet)).json()["status"] == "completed"
    assert Order.objects.get().usdc_amount == 10


@pytest.mark.exhaustive
def test_an_order_that_is_paid_at_the_venue_may_be_paid_in_usdc_by_its_link(agent: Agent, menu: Menu) -> None:
    agent.complete(agent.create(menu.venue)["id"])
    assert Order.objects.get().payment_state == "due"
    assert findings() == []


@pytest.mark.exhaustive
def test_a_venue_without_usdc_has_no_such_handler(agent: Agent) -> None:
    menu = pizzeria(takes_usdc=False)
    assert handler_of(agent.create(menu.venue), "x402") == {}


def test_an_order_that_costs_nothing_is_not_paid_in_usdc(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    instrument = sign(agent.create(menu.venue), wallet)
    menu.items.filter(ref="acqua").update(price=0)
    checkout = agent.create(menu.venue, line("acqua"))
    assert (checkout["status"], handler_of(checkout, "x402")) == ("ready_for_complete", {})
    refused = agent.complete(checkout["id"], instrument)
    assert (refused.status_code, refused.json()["messages"][0]["path"]) == (400, "$.payment.instruments")
    assert states()[1:] == ([], [])
    assert agent.complete(checkout["id"]).json()["status"] == "completed"


def test_a_placed_session_is_settled_after_the_venue_has_stopped_to_take_usdc(
    agent: Agent, menu: Menu, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet)
    with monkeypatch.context() as patch:
        patch.setattr(completion, "settle", dies)
        with pytest.raises(Killed):
            agent.complete(checkout["id"], instrument)
    OrderingSettings.objects.update(takes_usdc=False)
    told = agent.complete(checkout["id"], instrument)
    assert (told.status_code, told.json().get("status")) == (200, "completed")
    assert states() == (["completed"], ["pending paid"], ["delivered"])


def test_a_payment_of_less_places_no_order(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    cheap = agent.create(menu.venue)
    dear = agent.create(menu.venue, tip={"custom_amount": 100})
    assert problem(agent.complete(dear["id"], sign(cheap, wallet)).json()) == ("ready_for_complete", "payment_failed")
    assert states() == (["open", "open"], [], [])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "value"), [("signature", "0x" + "11" * 65), ("to", "0x" + "22" * 20), ("validBefore", "1")]
)
def test_a_payment_that_is_not_right_places_no_order(
    agent: Agent, menu: Menu, wallet: Wallet, name: str, value: str
) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet)
    payload = instrument["credential"]["payment"]["payload"]
    (payload if name == "signature" else payload["authorization"])[name] = value
    told = agent.complete(checkout["id"], instrument).json()
    assert problem(told) == ("ready_for_complete", "payment_failed")
    assert states() == (["open"], [], [])
    assert agent.complete(checkout["id"], sign(told, wallet)).json()["status"] == "completed"


def test_a_payment_buys_one_checkout(agent: Agent, other_agent: Agent, menu: Menu, wallet: Wallet) -> None:
    first, second = agent.create(menu.venue), other_agent.create(menu.venue)
    instrument = sign(first, wallet)
    agent.complete(first["id"], instrument)
    told = other_agent.complete(second["id"], instrument).json()
    assert problem(told) == ("ready_for_complete", "payment_failed")
    assert states() == (["completed", "open"], ["pending paid"], ["delivered"])


def test_a_wallet_without_the_money_leaves_a_cancelled_order_and_the_session_open(agent: Agent, menu: Menu) -> None:
    checkout = agent.create(menu.venue)
    poor, rich = fresh_wallet(usdc=Decimal(1)), fresh_wallet()
    told = agent.complete(checkout["id"], sign(checkout, poor)).json()
    assert problem(told) == ("ready_for_complete", "payment_failed")
    assert states() == (["open"], ["cancelled"], [])
    cancelled = Order.objects.get()
    assert cancelled.cancelled_because == "The payment in USDC was refused."
    events = Event.objects.filter(subject=cancelled.pk).order_by("created_at", "id").values_list("type", flat=True)
    assert list(events) == ["order.created", "order.cancelled"]
    # Paid by another wallet, it is another order.
    assert agent.complete(checkout["id"], sign(told, rich)).json()["order"]["label"] == "#2"
    assert states() == (["completed"], ["cancelled", "pending paid"], ["delivered"])
    assert findings() == []


@pytest.mark.exhaustive
def test_a_changed_price_of_usdc_is_told_first(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet)
    OrderingSettings.objects.update(usdc_price=Decimal(1))
    told = agent.complete(checkout["id"], instrument).json()
    assert (told["status"], told["messages"][0]["code"]) == ("ready_for_complete", "totals_changed")
    assert states() == (["open"], [], [])
    assert agent.complete(checkout["id"], sign(told, wallet)).json()["status"] == "completed"
    assert Order.objects.get().usdc_amount == Decimal("9.5")


@pytest.mark.exhaustive
def test_a_settlement_that_is_not_known_is_in_progress_and_ends(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet)
    with serving(hangs_up) as server, override_settings(FACILITATOR_URL=server.url):
        told = agent.complete(checkout["id"], instrument).json()
    assert told["status"] == "complete_in_progress"
    session = checkout["id"]
    assert agent.get(session)["status"] == "complete_in_progress"
    # Neither changed nor canceled nor paid again nor ended while the money may have moved.
    assert agent.update(session, new_body(menu.venue)).status_code == 409
    assert agent.cancel(session).status_code == 409
    assert agent.complete(session).json()["code"] == "checkout_in_progress"
    assert agent.complete(session, sign(checkout, fresh_wallet())).json()["status"] == "complete_in_progress"
    completion.finish_placed(now=later(minutes=3))
    assert states() == (["placed"], ["pending due"], ["unknown"])
    assert agent.complete(session, instrument).json()["status"] == "completed"
    assert states() == (["completed"], ["pending paid"], ["delivered"])
    assert findings() == []


def test_a_request_that_dies_after_the_order_leaves_a_session_that_the_next_one_completes(
    agent: Agent, menu: Menu, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet)
    with monkeypatch.context() as patch:
        patch.setattr(completion, "settle", dies)
        with pytest.raises(Killed):
            agent.complete(checkout["id"], instrument)
    assert states() == (["placed"], ["pending due"], [])
    assert agent.get(checkout["id"])["status"] == "complete_in_progress"
    assert agent.complete(checkout["id"], instrument).json()["status"] == "completed"
    assert states() == (["completed"], ["pending paid"], ["delivered"])


@pytest.mark.exhaustive
def test_a_request_that_dies_after_the_order_and_never_returns_cancels_it(
    agent: Agent, menu: Menu, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = agent.create(menu.venue)
    with monkeypatch.context() as patch:
        patch.setattr(completion, "settle", dies)
        with pytest.raises(Killed):
            agent.complete(checkout["id"], sign(checkout, wallet))
    completion.finish_placed(now=later(minutes=1))
    assert states() == (["placed"], ["pending due"], [])
    completion.finish_placed(now=later(minutes=3))
    assert states() == (["open"], ["cancelled"], [])
    assert agent.get(checkout["id"])["status"] == "ready_for_complete"


@pytest.mark.exhaustive
def test_a_request_that_dies_after_the_settlement_has_paid(
    agent: Agent, menu: Menu, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = agent.create(menu.venue)
    with monkeypatch.context() as patch:
        patch.setattr(order_payment, "record", raises_database_error)
        told = agent.complete(checkout["id"], sign(checkout, wallet)).json()
    assert told["status"] == "complete_in_progress"
    assert states() == (["placed"], ["pending due"], ["settled"])
    completion.finish_placed(now=later(minutes=3))
    assert states()[0] == ["placed"]
    order_payment.reconcile(now=later(minutes=3))
    assert agent.get(checkout["id"])["status"] == "completed"
    assert states() == (["completed"], ["pending paid"], ["delivered"])
    assert findings() == []


@pytest.mark.exhaustive
def test_an_order_that_the_venue_cancels_while_it_is_paid_cancels_the_session(
    agent: Agent, menu: Menu, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = agent.create(menu.venue)
    with monkeypatch.context() as patch:
        patch.setattr(completion, "settle", dies)
        with pytest.raises(Killed):
            agent.complete(checkout["id"], sign(checkout, wallet))
    order = Order.objects.select_related("venue").get()
    completion.commands.change_status(order, "cancelled", now=timezone.now(), actor="staff:ada@example.com")
    assert agent.get(checkout["id"])["status"] == "canceled"
    assert states() == (["canceled"], ["cancelled"], [])


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_paid_now", [True, False])
def test_of_six_completions_at_once_one_order_comes(
    agent: Agent, menu: Menu, wallet: Wallet, is_paid_now: bool
) -> None:
    checkout = agent.create(menu.venue)
    instrument = sign(checkout, wallet) if is_paid_now else CASH
    barrier = Barrier(6)

    def call(_: int) -> str:
        try:
            barrier.wait()
            return str(Agent(agent.profile).complete(checkout["id"], instrument).json()["status"])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(call, range(6)))
    assert set(answers) <= {"completed", "complete_in_progress"}
    assert "completed" in answers
    assert agent.complete(checkout["id"], instrument).json()["status"] == "completed"
    ledger = ["delivered"] if is_paid_now else []
    assert states() == (["completed"], [f"pending {'paid' if is_paid_now else 'due'}"], ledger)
    assert findings() == []


@pytest.mark.exhaustive
def test_of_two_instruments_at_once_one_completes_the_session(agent: Agent, menu: Menu, wallet: Wallet) -> None:
    checkout = agent.create(menu.venue)
    instruments = [sign(checkout, wallet), CASH, CASH | {"type": "card"}, sign(checkout, fresh_wallet())]
    barrier = Barrier(4)

    def call(instrument: dict[str, Any]) -> int:
        try:
            barrier.wait()
            return int(Agent(agent.profile).complete(checkout["id"], instrument).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(call, instruments))
    assert set(answers) <= {200, 409}
    assert Order.objects.filter(status="pending").count() == 1
    assert findings() == []


class Killed(BaseException):
    """The process ends here."""


def dies(*_: Any, **__: Any) -> Any:
    # As the connection of a process that is killed.
    connection.close()
    raise Killed


def raises_database_error(*_: Any, **__: Any) -> Any:
    raise DatabaseError("The server has gone away.")
