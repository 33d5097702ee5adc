"""Orders that guests pay in USDC: by an x402 client or a plain transfer, once, and refunded if they are cancelled."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.db import Error as DatabaseError
from django.test import Client, override_settings
from django.utils import timezone
from x402.http import x402HTTPClientSync

from accounts.lifecycle import closure
from accounts.models import Event, Venue
from catalogue.order_payments import payment as order_payment
from framework.consistency import all_checks
from framework.resilience.deadline import has_response_deadline
from orders import commands
from orders.models import Order, OrderingSettings
from orders.ordering_page import links
from payments.chain import rpc
from payments.checkout import admission
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment
from tests.payments.buyer import at_once, client_of, is_quote_of, signed_by
from tests.payments.facilitators import hangs_up, serving
from tests.support import builders
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]
PRICE = Decimal("1.1")
# 9.50 EUR at 1.10 EUR for one USDC, rounded up.
AMOUNT = "8.636364"


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


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


# By an x402 client
def test_without_a_payment_the_answer_is_the_exact_amount_of_the_order(db: None) -> None:
    order = placed()
    answer = post(order)
    body = answer.json()
    assert (answer.status_code, body["error"], body["accepts"][0]["scheme"]) == (402, "payment_required", "exact")
    assert body["accepts"][0]["maxAmountRequired"] == "8636364"
    # The facilitator gets it too, and the link is a secret of the guest.
    assert body["accepts"][0]["resource"] == f"{links.page_url(order.venue)}#{order.public_id}"
    assert body["detail"].startswith(f"Order 1 of {order.business_date} at Pizzeria.")
    assert not Payment.objects.exists()


def test_an_x402_client_pays_an_order_once_and_its_record_says_so(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    first, again = post(order, headers), post(order, headers)
    assert first.json() == again.json()
    assert first.json() == {
        "order": order.public_id,
        "number": 1,
        "payment": {"state": "paid", "amount": AMOUNT, "currency": "USDC"},
    }
    assert first.headers["PAYMENT-RESPONSE"]
    # Also without a payment.
    assert post(order).json() == first.json()
    row = Payment.objects.get()
    assert (row.state, row.products, row.amount_usdc) == ("delivered", ["order"], Decimal(AMOUNT))
    # The link is a secret of the guest.
    assert links.token_of(order.public_id) not in row.resource
    record = builders.client(order.venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["payment"] == {"state": "paid", "amount": AMOUNT, "currency": "USDC"}
    event = Event.objects.filter(subject=order.pk).latest("created_at", "id")
    assert event.type == "order.updated"
    assert findings() == []


@pytest.mark.exhaustive
def test_another_amount_is_refused_and_charges_nothing(wallet: Wallet) -> None:
    order = placed()
    answer = post(order, signed_by(wallet, value=8_636_363))
    assert (answer.status_code, answer.json()["reason"]) == (402, "wrong_amount")
    assert states(order) == ("due", [])


@pytest.mark.exhaustive
def test_a_second_authorization_for_a_paid_order_is_refused_and_charges_nothing(wallets: Mapping[str, Wallet]) -> None:
    order = placed()
    second = payment(wallets["pro"], order)
    paid(order, wallets["free"])
    answer = post(order, second)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_a_payment_pays_no_other_order(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    post(order, headers)
    other = place(order.venue)
    answer = post(other, headers)
    assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used")
    assert states(other) == ("due", ["delivered"])


@pytest.mark.exhaustive
def test_of_four_payments_at_once_one_is_charged() -> None:
    order = placed()
    several = [payment(fresh_wallet(), order) for _ in range(4)]
    waiting = list(several)

    def call() -> int:
        return int(post(Order.objects.select_related("venue").get(), waiting.pop()).status_code)

    answers = at_once(4, call)
    assert answers.count(200) == 1
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    state, ledger = states(order)
    assert (state, ledger) == ("paid", ["delivered"])
    assert findings() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_settled", [True, False])
def test_a_payment_that_was_checked_before_another_was_claimed_charges_nothing(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch, is_settled: bool
) -> None:
    order = placed()
    first, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    admit = admission.admit

    def other_first(*args: Any) -> Any:
        monkeypatch.setattr(admission, "admit", admit)
        if is_settled:
            assert post(order, first).status_code == 200
        else:
            with serving(hangs_up) as server, override_settings(FACILITATOR_URL=server.url):
                assert post(order, first).status_code == 503
        return admit(*args)

    monkeypatch.setattr(admission, "admit", other_first)
    answer = post(order, second)
    expected = (400, "invalid_transition") if is_settled else (503, "settlement_pending")
    assert (answer.status_code, answer.json()["error"]["code"]) == expected
    assert post(order, first).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_one_payment_sent_eight_times_at_once_is_charged_once(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    answers = at_once(8, lambda: post(Order.objects.select_related("venue").get(), headers).status_code)
    assert set(answers) <= {200, 503}
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


# By a transfer
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


# Cancelled
@pytest.mark.exhaustive
def test_a_cancelled_order_that_was_paid_is_refund_due_and_then_refunded(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    cancel(order)
    assert states(order) == ("refund_due", ["refund_due"])
    assert Payment.objects.get().error == "order_cancelled"
    assert "Your 8.636364 USDC go back to the wallet that sent them." in words(
        Client().get(f"{address_of(order)}?lang=en")
    )
    row = Payment.objects.get()
    Payment.objects.update(block=row.block or 1)
    sent = "0x" + "cd" * 32
    assert transitions.record_refund(row.pk, tx_hash=sent, by="staff", now=timezone.now())
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refunded", ["refunded"])
    assert findings() == []
    # It was not sent after all.
    assert transitions.withdraw_refund(row.pk, by="staff")
    assert findings() == [f"order_payments: {row.public_id}: the payment is refund_due, and its order is refunded"]
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refund_due", ["refund_due"])
    assert findings() == []


@pytest.mark.exhaustive
def test_an_order_that_is_cancelled_while_it_is_due_takes_no_payment(wallet: Wallet) -> None:
    order, sender = placed(), fresh_wallet()
    headers, amount = payment(wallet, order), shown_amount(order)
    cancel(order)
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    # Money that was sent is not lost.
    answer = enter(order, transfer_usdc(sender, settings.PAY_TO, amount))
    assert answer.status_code == 409
    assert states(order) == ("", ["refund_due"])
    record = builders.client(order.venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["payment"] is None


@pytest.mark.exhaustive
def test_an_order_that_is_cancelled_while_its_payment_is_settled_makes_it_refund_due(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers = payment(wallet, order)
    record = order_payment.record

    def cancelled_first(*args: Any, **options: Any) -> bool:
        cancel(Order.objects.select_related("venue").get())
        return record(*args, **options)

    monkeypatch.setattr(order_payment, "record", cancelled_first)
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["refund"]) == (400, Payment.objects.get().public_id)
    assert states(order) == ("", ["refund_due"])


def call_next(calls: list[Callable[[], Any]]) -> Any:
    return calls.pop()()


@pytest.mark.exhaustive
def test_a_cancellation_and_a_payment_at_once_never_keep_the_money_of_a_cancelled_order() -> None:
    for _ in range(5):
        order = placed()
        headers = payment(fresh_wallet(), order)
        calls: list[Callable[[], Any]] = [
            partial(post, order, headers),
            partial(cancel, Order.objects.select_related("venue").get(pk=order.pk)),
        ]
        at_once(2, partial(call_next, calls))
        order.refresh()
        kept = Payment.objects.filter(purchase=order.public_id, state__in=Payment.EARNED)
        assert (order.status, order.payment_state in ("", "refund_due"), kept.exists()) == ("cancelled", True, False)
    assert findings() == []


@pytest.mark.exhaustive
def test_goodwill_of_the_operator_is_shown_on_the_order(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    row = Payment.objects.get()
    assert transitions.mark_refund_due(row.pk, reason=Payment.RefundReason.GOODWILL, by="staff")
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refund_due", ["refund_due"])


@pytest.mark.exhaustive
def test_an_order_that_cannot_be_reconciled_does_not_stop_the_next(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    broken, other = order, place(order.venue)
    died(broken, payment(wallets["free"], broken), monkeypatch)
    died(other, payment(wallets["pro"], other), monkeypatch)
    record = order_payment.record

    def fails(each: Order, *args: Any, **options: Any) -> bool:
        if each.pk == broken.pk:
            raise DatabaseError
        return record(each, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(order_payment, "record", fails)
        order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    other.refresh()
    broken.refresh()
    assert (broken.payment_state, other.payment_state) == ("due", "paid")
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(broken) == ("paid", ["delivered", "delivered"])


@pytest.mark.exhaustive
def test_an_account_with_a_paid_order_that_is_not_handed_over_is_not_closed(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    account = order.venue.account
    with pytest.raises(closure.CannotClose, match=r"Open orders that guests have paid in USDC: 1\. Complete or"):
        closure.close_account(account, name=account.name, now=timezone.now())
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    closure.close_account(account, name=account.name, now=timezone.now())


@pytest.mark.exhaustive
def test_the_payment_of_a_deleted_order_is_no_finding(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    row = Payment.objects.get()
    Order.objects.update(payment_state="due", usdc_payment=None)
    assert findings() == [
        f"order_payments: {row.public_id}: the payment is delivered, and its order names none or another"
    ]
    closure.delete_account(order.venue.account)
    assert findings() == []


# Killed
def died(order: Order, headers: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose process is killed after the settlement, before the order is paid."""

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(order_payment, "record", killed)
        with pytest.raises(SystemExit):
            post(order, headers)
    order.refresh()
    assert (order.payment_state, Payment.objects.get(purchase=order.public_id).state) == ("due", "settled")


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_pays_the_order_by_itself(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    died(order, payment(wallet, order), monkeypatch)
    order_payment.reconcile(now=timezone.now() + timedelta(seconds=1))
    assert states(order) == ("due", ["settled"])
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_pays_the_order_at_the_next_request(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    died(order, headers, monkeypatch)
    # Another payment is not needed, and is not taken.
    assert post(order, second).status_code == 400
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_is_refund_due_if_the_order_was_cancelled(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    died(order, payment(wallet, order), monkeypatch)
    cancel(order)
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(order) == ("", ["refund_due"])


@pytest.mark.exhaustive
def test_a_database_that_fails_after_the_settlement_loses_nothing(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers = payment(wallet, order)

    def fails(*_: Any, **__: Any) -> bool:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(commands, "mark_paid", fails)
        answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "settlement_pending")
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_while_the_outcome_of_a_settlement_is_not_known_no_other_payment_is_taken(
    wallets: Mapping[str, Wallet],
) -> None:
    order = placed()
    headers, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    with serving(hangs_up) as server, override_settings(FACILITATOR_URL=server.url):
        assert post(order, headers).status_code == 503
    answer = post(order, second)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "settlement_pending")
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


# Where it is offered
def test_the_page_of_an_order_that_cannot_be_paid_in_usdc_offers_nothing() -> None:
    order = placed()
    offered = Client().get(f"{address_of(order)}?lang=en")
    assert "You pay at the restaurant: Cash. Pay 8.636364 USDC now" in words(offered)
    with override_settings(PAY_TO=""):
        assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
    # Handed over: perhaps paid at the counter.
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
    assert post(order).status_code == 400


@pytest.mark.exhaustive
def test_a_completed_order_takes_no_payment_and_a_transfer_for_it_is_refund_due(wallet: Wallet) -> None:
    order, sender = placed(), fresh_wallet()
    headers, amount = payment(wallet, order), shown_amount(order)
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    assert states(order) == ("due", [])
    assert enter(order, transfer_usdc(sender, settings.PAY_TO, amount)).status_code == 409
    assert states(order) == ("due", ["refund_due"])
    # Reopened, it is due again.
    commands.reopen_order(order, now=timezone.now(), actor="staff")
    assert post(order, headers).status_code == 200


def test_a_sandbox_takes_usdc_of_the_development_chain_only() -> None:
    order = placed()
    Venue.objects.update(is_sandbox=True)
    assert "USDC now" in words(Client().get(f"{address_of(order)}?lang=en"))
    with override_settings(PAYMENT_NETWORK="eip155:8453"):
        assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
        assert post(order).status_code == 400
        Venue.objects.update(is_sandbox=False)
        assert post(order).status_code == 402


def test_a_wrong_link_leads_to_no_payment(db: None) -> None:
    order = placed()
    wrong = address_of(order)[:-2] + "xx"
    assert Client().get(f"{wrong}/pay").status_code == 404
    assert Client().post(f"{wrong}/pay").status_code == 404
