"""Orders that guests pay by a plain transfer of USDC, found by its amount and its hash."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from framework.resilience.deadline import has_response_deadline
from payments.chain import rpc
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue.order_payments.payment_builders import (
    AMOUNT,
    address_of,
    cancel,
    enter,
    findings,
    paid,
    place,
    placed,
    shown_amount,
    states,
    words,
)
from tests.payments.buyer import is_quote_of
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def test_a_transfer_of_the_shown_amount_pays_the_order_by_its_hash_without_an_account() -> None:
    order, sender = placed(), fresh_wallet()
    amount = shown_amount(order)
    assert is_quote_of(AMOUNT, str(amount))
    sent = transfer_usdc(sender, settings.PAY_TO, amount)
    answer = enter(order, sent)
    assert (answer.status_code, answer["Location"]) == (302, f"{address_of(order)}?lang=en")
    assert "Paid: 8.636364 USDC." in words(Client().get(answer["Location"]))
    assert states(order) == ("paid", ["delivered"])
    # Nothing more is asked.
    assert Client().get(f"{address_of(order)}/pay").status_code == 302
    assert enter(order, sent).status_code == 302
    assert findings() == []


@pytest.mark.exhaustive
def test_the_amount_is_of_the_order_and_not_of_a_network_address() -> None:
    order, sender = placed(), fresh_wallet()
    amount = shown_amount(order, client=Client(REMOTE_ADDR="192.0.2.1"))
    sent = transfer_usdc(sender, settings.PAY_TO, amount)
    answer = Client(REMOTE_ADDR="198.51.100.7").post(f"{address_of(order)}/pay", {"transaction": sent})
    assert answer.status_code == 302
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_the_hash_of_anothers_transfer_pays_no_order_and_stays_good_for_its_own() -> None:
    order, sender = placed(), fresh_wallet()
    other = place(order.venue)
    sent = transfer_usdc(sender, settings.PAY_TO, shown_amount(order))
    refused = enter(other, sent)
    assert refused.status_code == 409
    assert "This transfer does not pay your order" in words(refused)
    assert states(other) == ("due", ["refund_due"])
    assert enter(order, sent).status_code == 302
    assert states(order) == ("paid", ["delivered"])
    assert states(other) == ("due", ["delivered"])


@pytest.mark.exhaustive
def test_a_transfer_of_the_bare_price_is_not_told_from_others_and_goes_back() -> None:
    order, sender = placed(), fresh_wallet()
    sent = transfer_usdc(sender, settings.PAY_TO, Decimal(AMOUNT))
    assert "It goes back to the wallet that sent it." in words(enter(order, sent))
    assert states(order) == ("due", ["refund_due"])


@pytest.mark.exhaustive
def test_a_second_transfer_for_a_paid_order_is_refund_due(wallet: Wallet) -> None:
    order, sender = placed(), fresh_wallet()
    amount = shown_amount(order)
    paid(order, wallet)
    answer = enter(order, transfer_usdc(sender, settings.PAY_TO, amount))
    assert "It goes back to the wallet that sent it." in words(answer)
    assert states(order) == ("paid", ["delivered", "refund_due"])
    assert findings() == []


@pytest.mark.exhaustive
def test_of_two_transfers_of_quoted_amounts_the_second_is_refund_due(monkeypatch: pytest.MonkeyPatch) -> None:
    order, sender = placed(), fresh_wallet()
    first = shown_amount(order)
    # Five minutes later another amount is quoted.
    monkeypatch.setattr("payments.x402.quotes._hash_quote", lambda *_, **__: f"later-{order.pk}")
    second = shown_amount(order)
    assert first != second
    assert enter(order, transfer_usdc(sender, settings.PAY_TO, first)).status_code == 302
    answer = enter(order, transfer_usdc(sender, settings.PAY_TO, second))
    assert "Your transfer goes back to the wallet that sent it." in words(answer)
    assert states(order) == ("paid", ["delivered", "refund_due"])


@pytest.mark.parametrize(
    ("transaction", "message"),
    [
        ("", "This is not the hash of a transaction."),
        ("0x12", "This is not the hash of a transaction."),
        ("<script>", "This is not the hash of a transaction."),
        ("0x" + "ab" * 32, "The network does not show this transaction yet."),
    ],
)
def test_a_hash_that_pays_nothing_is_refused_in_plain_words(transaction: str, message: str) -> None:
    order = placed()
    answer = enter(order, transaction)
    assert answer.status_code == 409
    assert message in words(answer)
    assert states(order) == ("due", [])


@pytest.mark.exhaustive
def test_the_transaction_that_has_paid_the_order_leads_to_it_also_when_it_goes_back(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    cancel(order)
    row = Payment.objects.get()
    assert row.tx_hash
    answer = enter(order, row.tx_hash)
    assert (answer.status_code, answer["Location"]) == (302, f"{address_of(order)}?lang=en")


def test_a_node_that_hangs_is_waited_for_as_in_the_data_api(monkeypatch: pytest.MonkeyPatch) -> None:
    order, seen = placed(), []

    def hangs(*_: Any, **__: Any) -> None:
        seen.append(has_response_deadline())
        raise rpc.RpcUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(rpc, "_send", hangs)
        answer = enter(order, "0x" + "ab" * 32)
    assert (answer.status_code, seen) == (409, [True])


@pytest.mark.exhaustive
def test_without_valkey_the_page_asks_for_no_transfer(monkeypatch: pytest.MonkeyPatch) -> None:
    order = placed()
    monkeypatch.setattr("payments.x402.quotes.quote_amount", lambda price, **_: price)
    answer = Client().get(f"{address_of(order)}/pay?lang=en")
    assert answer.status_code == 503
    assert "Payments in USDC are not available at the moment." in words(answer)
