"""Exports that are paid for, when something breaks: what is finished by itself, and when its money goes back."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import partitioning
from catalogue.exports.requests import commands, payment_state
from catalogue.exports.requests.payment_state import PaymentRefunded
from catalogue.models import Export
from catalogue.tasks import clean_up_exports
from framework.errors import InvalidRequest
from payments.devchain.wallets import Wallet as Key
from payments.ledger import transitions
from payments.models import Payment, Plan, Wallet
from payments.tiers.definitions import ENTERPRISE
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS, RESTAURANTS
from tests.catalogue.exports.paid_orders import (
    PRICE,
    Spent,
    State,
    ask,
    bought,
    code,
    died,
    failed,
    paid_for,
    payment,
    seen,
)
from tests.payments import buyer as payments_buyer
from tests.payments.buyer import at_once
from tests.payments.facilitators import serving
from tests.payments.signing import client_of
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def key(wallets: Mapping[str, Key]) -> Key:
    return wallets["enterprise"]


@pytest.fixture
def buyer(ledger_matches_chain: None, key: Key) -> Client:
    """A wallet on the Enterprise tier, signed in."""
    return client_of(key)


@pytest.fixture
def spent(key: Key) -> Spent:
    """What the wallet has paid since."""
    before = usdc_balance(key.address)
    return lambda: before - usdc_balance(key.address)


# Crashes, and what is not known
@pytest.mark.exhaustive
def test_money_that_arrived_when_the_request_died_queues_the_export_by_the_same_payment(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = payment(buyer, key)
    died(buyer, headers, monkeypatch)
    assert ask(buyer, headers).status_code == 202
    assert (Export.objects.get().status, spent(), Payment.objects.count()) == ("queued", PRICE, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("proof", ["none", "another"])
def test_money_that_arrived_when_the_request_died_is_not_ordered_again(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch, proof: str
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    shown = ask(buyer, payments_buyer.signed_by(key, value=500_000) if proof == "another" else {})
    assert (shown.status_code, shown.json()["id"]) == (202, export.public_id)
    assert (paid_for(export).state, spent()) == (State.SETTLED, PRICE)


@pytest.mark.exhaustive
def test_the_sweeper_queues_what_was_paid_when_the_request_died(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    payment_state.reconcile(now=timezone.now())
    export.refresh_from_db()
    # It may be alive yet.
    assert export.status == "awaiting_payment"
    Payment.objects.update(settled_at=timezone.now() - transitions.CLAIM_TIMEOUT)
    clean_up_exports()
    row = paid_for(export)
    assert (export.status, row.state, spent()) == ("queued", State.DELIVERED, PRICE)
    # Nor is it owed back as what nobody has answered.
    Payment.objects.update(block=1)
    assert transitions.mark_undelivered_refund_due(before=timezone.now() + timedelta(days=2)) == 0


@pytest.mark.exhaustive
def test_money_that_comes_for_a_cancelled_order_is_refund_due(
    buyer: Client, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = payment(buyer, key)
    export = died(buyer, headers, monkeypatch)
    assert buyer.delete(f"{EXPORTS}/{export.public_id}").status_code == 204
    again = ask(buyer, headers)
    assert (*code(again), again.json()["reason"]) == (402, "payment_already_used", "refund_due")
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.REFUND_DUE, f"not_delivered: {payment_state.PAID_TOO_LATE}")
    assert Export.objects.get().status == "cancelled"


@pytest.mark.exhaustive
def test_the_sweeper_owes_back_what_came_for_a_cancelled_order(
    buyer: Client, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    buyer.delete(f"{EXPORTS}/{export.public_id}")
    Payment.objects.update(settled_at=timezone.now() - transitions.CLAIM_TIMEOUT)
    payment_state.reconcile(now=timezone.now())
    assert Payment.objects.get().state == State.REFUND_DUE


@pytest.mark.exhaustive
def test_while_it_is_not_known_whether_one_is_settled_no_other_payment_is_taken(
    buyer: Client, key: Key, settings: Settings, spent: Spent
) -> None:
    headers = payment(buyer, key)
    with serving(lambda _: (500, b"")) as broken:
        there, settings.FACILITATOR_URL = settings.FACILITATOR_URL, broken.url
        assert code(ask(buyer, headers)) == (503, "settlement_pending")
        settings.FACILITATOR_URL = there
    export = Export.objects.get()
    assert (export.status, Payment.objects.get().state) == ("awaiting_payment", State.UNKNOWN)
    words = {
        "A payment for this export is being settled. This request has charged nothing. GET /v1/exports shows whether"
        " it is ordered.": {},
        "Another payment for this export is being settled. This request has charged nothing, and has not used yours:"
        " it would order the export once more after that one has ended. GET /v1/exports shows whether it is"
        " ordered.": payments_buyer.signed_by(key, value=500_000),
        "Another payment for this export is being settled. This request has not used your transaction: repeat"
        " it. If the other payment buys the export, yours is refunded.": {"X-Payment": "0x" + "5" * 64},
    }
    for text, other in words.items():
        answer = ask(buyer, other)
        assert code(answer) == (503, "settlement_pending")
        assert (answer.json()["error"]["message"], answer["Retry-After"]) == (text, "2")
    assert Payment.objects.count() == 1
    # An order that money may be coming for is not given up.
    payment_state.reconcile(now=timezone.now() + timedelta(hours=2))
    export.refresh_from_db()
    assert export.status == "awaiting_payment"
    assert ask(buyer, headers).status_code == 202
    assert (Export.objects.get().status, spent(), Payment.objects.count()) == ("queued", PRICE, 1)


# Owed back
@pytest.mark.exhaustive
@pytest.mark.parametrize("end", ["failed", "deleted while queued", "deleted while running", "cancelled by staff"])
def test_what_does_not_succeed_is_refund_due_by_itself_with_a_message(
    buyer: Client, key: Key, spent: Spent, end: str
) -> None:
    headers = payment(buyer, key)
    ask(buyer, headers).close()
    export = Export.objects.get()
    words = payment_state.CANCELLED
    if end == "failed":
        words = failed(export).error
    elif end == "cancelled by staff":
        commands.cancel_export(export, actor="staff:ada@example.com", now=timezone.now())
    else:
        if end == "deleted while running":
            partitioning.start_export(export, now=timezone.now())
        assert buyer.delete(f"{EXPORTS}/{export.public_id}").status_code == 204
    row = paid_for(export)
    assert (row.state, row.error) == (State.REFUND_DUE, f"failed_job: {words}")
    result = buyer.get(f"/v1/payments/{row.public_id}").json()
    assert words in str(result)
    # The same payment neither runs it again nor is charged again.
    again = ask(buyer, headers)
    assert (*code(again), again.json()["refund"]) == (402, "payment_already_used", row.public_id)
    assert (Export.objects.count(), Payment.objects.count(), spent()) == (1, 1, PRICE)


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", ["deleted", "expired"])
def test_what_has_succeeded_is_not_refund_due(buyer: Client, key: Key, end: str) -> None:
    export = bought(buyer, key)
    export_builders.run_to_end(export)
    if end == "deleted":
        buyer.delete(f"{EXPORTS}/{export.public_id}")
    else:
        Export.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
        clean_up_exports()
    payment_state.reconcile(now=timezone.now())
    assert paid_for(export).state == State.DELIVERED
    assert export.status == "expired"


@pytest.mark.exhaustive
def test_what_was_ordered_is_fetched_also_when_the_tier_has_fallen(ledger_matches_chain: None) -> None:
    key = fresh_wallet(Decimal(1))
    buyer = client_of(key)
    wallet = Wallet.objects.get(address=key.address)
    Plan.objects.create(name="A month", wallet=wallet, valid_from=timezone.now())
    export = bought(buyer, key)
    export_builders.run_to_end(export)
    Plan.objects.update(valid_until=timezone.now())
    shown = buyer.get(f"{EXPORTS}/{export.public_id}")
    assert (shown.status_code, shown["X-Tier"], len(shown.json()["files"])) == (200, "free", 1)
    assert buyer.get(f"{EXPORTS}/{export.public_id}/files/manifest.json").status_code == 200


# Staff
@pytest.mark.exhaustive
def test_to_begin_a_failed_export_again_takes_its_money_again(buyer: Client, key: Key) -> None:
    export = failed(bought(buyer, key))
    assert commands.restart_export(export, actor="staff:ada@example.com", now=timezone.now())
    row = paid_for(export)
    assert (export.status, row.state, row.error) == ("queued", State.DELIVERED, "")
    assert row.events.latest("id").actor == "staff:ada@example.com"
    assert failed(export).status == "failed"
    assert paid_for(export).state == State.REFUND_DUE


@pytest.mark.exhaustive
@pytest.mark.parametrize("why", ["sent back", "goodwill"])
def test_an_export_whose_money_is_gone_is_not_restarted(buyer: Client, key: Key, why: str) -> None:
    export = bought(buyer, key)
    seen(export)
    if why == "goodwill":
        transitions.mark_refund_due(paid_for(export).pk, reason=Payment.RefundReason.GOODWILL, by="staff:ada")
    failed(export)
    if why == "sent back":
        assert transitions.record_refund(paid_for(export).pk, tx_hash="0x" + "a" * 64, by="ada", now=timezone.now())
    previous = paid_for(export).state
    with pytest.raises(PaymentRefunded):
        commands.restart_export(export, now=timezone.now())
    assert (paid_for(export).state, export.status) == (previous, "failed")


@pytest.mark.exhaustive
def test_of_a_refund_and_a_restart_at_once_one_wins(buyer: Client, key: Key) -> None:
    export = bought(buyer, key)
    seen(export)
    failed(export)
    payment_id = paid_for(export).pk
    moves: Iterator[Callable[[], bool]] = iter(
        [
            lambda: transitions.record_refund(payment_id, tx_hash="0x" + "b" * 64, by="ada", now=timezone.now()),
            lambda: commands.restart_export(export, now=timezone.now()),
        ]
    )
    at_once(2, lambda: next(moves)())
    assert (paid_for(export).state, export.status) in {
        (State.REFUNDED, "failed"),
        (State.DELIVERED, "queued"),
    }


def test_staff_order_without_paying(prices: None) -> None:
    orders = [
        commands.create_export(None, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now())
        for _ in range(2)
    ]
    assert orders[0] == orders[1]
    assert (orders[0].status, orders[0].wallet, orders[0].payment) == ("queued", None, None)


def test_equal_orders_of_staff_at_once_are_one_export(prices: None) -> None:
    def order() -> Export:
        return commands.create_export(
            None, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now()
        )

    assert at_once(4, order) == [Export.objects.get()] * 4


# Deltas
@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"dataset": "reviews"}, "is of restaurants"),
        ({"filter": {"status": "open"}}, "another filter"),
        ({"old": True}, "older than 90 days"),
        ({"unfinished": True}, "is queued"),
        ({"anothers": True}, "no such export"),
    ],
)
def test_a_delta_begins_at_an_export_of_the_same_kind(
    buyer: Client, key: Key, change: dict[str, Any], words: str | None
) -> None:
    wallet = Wallet.objects.get(address=key.address)
    first = commands.create_export(
        key.address, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now()
    )
    if not change.pop("unfinished", False):
        export_builders.run_to_end(first)
        age = timedelta(days=91 if change.pop("old", False) else 1)
        Export.objects.update(changes_from=timezone.now() - age)
    if change.pop("anothers", False):
        Export.objects.update(wallet=export_builders.wallet_without_key())
    wanted: dict[str, Any] = {**RESTAURANTS, "format": "jsonl.gz", **change, "since_export": first.public_id}
    if words is None:
        delta = commands.create_export(wallet.address, tier=ENTERPRISE, now=timezone.now(), **wanted)
        assert delta.since_export == first
        return
    with pytest.raises(InvalidRequest, match=words) as caught:
        commands.create_export(wallet.address, tier=ENTERPRISE, now=timezone.now(), **wanted)
    assert caught.value.param == "since_export"
