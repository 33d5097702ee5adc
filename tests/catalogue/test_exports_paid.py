"""Exports that are paid for: what they cost, what one payment buys, and when its money goes back."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as conf
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from x402.http import x402HTTPClientSync

from catalogue.exports import money, start, write
from catalogue.exports.money import MoneyGone
from catalogue.models import Export
from catalogue.tasks import sweep_exports
from config.api.refusal import InvalidRequest
from payments import ledger
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, Plan, Wallet
from payments.tiers import ENTERPRISE
from tests.catalogue import exporting, make
from tests.catalogue.exporting import EXPORTS, RESTAURANTS
from tests.payments import buying
from tests.payments.buying import at_once
from tests.payments.facilitators import serving
from tests.payments.signing import client_of
from tests.wallets import fresh_wallet, transfer_usdc, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("books")]

State = Payment.State
PRICE = Decimal("0.5")
Spent = Callable[[], Decimal]


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return exporting.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def key(wallets: Mapping[str, Key]) -> Key:
    return wallets["enterprise"]


@pytest.fixture
def buyer(books: None, key: Key) -> Client:
    """A wallet on the Enterprise tier, signed in."""
    return client_of(key)


@pytest.fixture
def spent(key: Key) -> Spent:
    """What the wallet has paid since."""
    before = usdc_balance(key.address)
    return lambda: before - usdc_balance(key.address)


def ask(client: Client, headers: Mapping[str, str] | None = None, **wanted: Any) -> Any:
    return client.post(
        EXPORTS, {**RESTAURANTS, **wanted}, content_type="application/json", headers=dict(headers or {})
    )


def payment(client: Client, key: Key, **wanted: Any) -> Mapping[str, str]:
    """What the official client makes of the price that it is told."""
    told = ask(client, **wanted)
    assert told.status_code == 402, told.content
    headers, _ = x402HTTPClientSync(buying.client_of(key)).handle_402_response(
        dict(told.headers), told.content, EXPORTS
    )
    return headers


def bought(client: Client, key: Key, **wanted: Any) -> Export:
    """An export that was paid for."""
    answer = ask(client, payment(client, key, **wanted), **wanted)
    assert answer.status_code == 202, answer.content
    answer.close()
    return Export.objects.known_as(answer.json()["id"]).get()


def paid_for(export: Export) -> Payment:
    export.refresh_from_db()
    assert export.payment is not None
    return export.payment


def code(answer: Any) -> tuple[int, str]:
    """Status and code of a refusal, in whichever form."""
    error = answer.json()["error"]
    return answer.status_code, error if isinstance(error, str) else error["code"]


def failed(export: Export) -> Export:
    write.begin(export, now=timezone.now())
    write.fail(export, "Part 1 could not be written: the disk is full.", now=timezone.now())
    export.refresh_from_db()
    return export


def seen(export: Export) -> None:
    """The chain has shown the money of an export, as the sweeper of payments sees it."""
    Payment.objects.filter(export=export).update(block=1)


# The price
def test_without_payment_the_price_is_told_and_nothing_is_begun(buyer: Client) -> None:
    answer = ask(buyer, dataset="reviews")
    assert code(answer) == (402, "payment_required")
    told = answer.json()
    assert (told["accepts"][0]["maxAmountRequired"], told["tier_required"]) == ("800000", "enterprise")
    assert told["accepts"][0]["resource"] == f"{conf.PUBLIC_BASE_URL}{EXPORTS}"
    assert {"x402", "PAYMENT-REQUIRED"} <= set(answer.headers)
    assert not Export.objects.exists()


def test_what_is_wrong_is_told_before_the_price_and_the_tier_before_it_too(
    buyer: Client, wallets: Mapping[str, Key]
) -> None:
    assert code(ask(buyer, filter={"market": "nowhere"})) == (400, "invalid_request")
    premium = client_of(wallets["premium"])
    assert code(ask(premium, filter={"market": "nowhere"})) == (400, "invalid_request")
    assert code(ask(premium)) == (403, "tier_required")
    assert not Export.objects.exists()


def test_a_payment_does_not_say_whose_the_export_is(buyer: Client, key: Key, spent: Spent) -> None:
    answer = ask(Client(), payment(buyer, key))
    assert code(answer) == (401, "missing_credentials")
    assert "Nothing was charged." in answer.json()["error"]["message"]
    assert spent() == 0
    assert not Payment.objects.exists()


def test_the_official_client_buys_an_export_from_the_order_to_the_files(buyer: Client, key: Key, spent: Spent) -> None:
    make.listed(make.restaurant())
    headers = payment(buyer, key)
    answer = ask(buyer, headers)
    assert answer.status_code == 202
    assert {"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt"} <= set(answer.headers)
    assert answer["Location"] == f"{conf.PUBLIC_BASE_URL}{EXPORTS}/{answer.json()['id']}"
    answer.close()
    export = Export.objects.get()
    row = paid_for(export)
    assert (export.status, row.state, row.amount_usdc, spent()) == ("queued", State.DELIVERED, PRICE, PRICE)
    exporting.work(export)
    assert (export.status, export.rows) == ("succeeded", 1)
    told = buyer.get(f"/v1/payments/{row.public_id}").json()
    assert (told["state"], told["products"]) == ("delivered", ["export_restaurants"])
    assert told["resource"] == {"method": "POST", "url": f"{conf.PUBLIC_BASE_URL}{EXPORTS}#{export.public_id}"}
    # The same payment shows it again, long after.
    Payment.objects.update(delivered_at=timezone.now() - timedelta(days=2))
    again = ask(buyer, headers)
    assert (again.status_code, again.json()["id"], again.json()["status"]) == (202, export.public_id, "succeeded")
    assert (again["PAYMENT-RESPONSE"], spent()) == (answer["PAYMENT-RESPONSE"], PRICE)


def test_a_transaction_that_was_sent_buys_one_too(buyer: Client, key: Key, spent: Spent) -> None:
    headers = {"X-Payment": transfer_usdc(key, conf.PAY_TO, PRICE)}
    first, again = ask(buyer, headers), ask(buyer, headers)
    assert (first.status_code, again.status_code, first.json()["id"]) == (202, 202, again.json()["id"])
    assert (Export.objects.count(), spent()) == (1, PRICE)


def test_while_it_is_under_way_the_same_order_shows_it_and_charges_nothing(
    buyer: Client, key: Key, spent: Spent
) -> None:
    export = bought(buyer, key)
    other = buying.signed_by(key, value=500_000)
    for headers in ({}, other):
        shown = ask(buyer, headers)
        assert (shown.status_code, shown.json()["id"]) == (202, export.public_id)
        assert "PAYMENT-RESPONSE" not in shown.headers
    assert (spent(), Payment.objects.count()) == (PRICE, 1)
    # Money that was sent already goes back.
    sent = ask(buyer, {"X-Payment": transfer_usdc(key, conf.PAY_TO, PRICE)})
    assert (*code(sent), sent.json()["reason"]) == (402, "payment_already_used", "refund_due")
    assert Payment.objects.get(form="tx").error == f"not_delivered: {money.TWICE}"


def test_what_a_plan_gives_is_queued_at_once_and_in_no_ledger(buyer: Client, key: Key) -> None:
    exporting.given(key)
    assert buyer.get("/v1/me").json()["prices"]["products"][0]["amount"] == "0"
    answer = ask(buyer, buying.signed_by(key, value=500_000))
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert "PAYMENT-RESPONSE" not in answer.headers
    place = make.restaurant(slug="noma")
    make.landmark("Tivoli Gardens", "Tivoli", kind="park", market=place.market_id)
    given = buyer.get("/v1/restaurants/noma?fields=context")
    assert (given.status_code, given["Cache-Control"]) == (200, "private, no-store")
    assert given.json()["context"]
    assert (Payment.objects.count(), Export.objects.get().payment) == (0, None)


def test_a_plan_gives_only_what_its_tier_is_sold(buyer: Client, wallets: Mapping[str, Key]) -> None:
    client = client_of(wallets["pro"])
    exporting.given(wallets["pro"])
    Plan.objects.update(tier="pro")
    assert code(ask(client)) == (403, "tier_required")
    assert not Export.objects.exists()


# Refusals of payments
@pytest.mark.parametrize("state", ["paid", "failed"])
def test_a_payment_for_one_export_buys_no_other(buyer: Client, key: Key, spent: Spent, state: str) -> None:
    headers = payment(buyer, key)
    assert ask(buyer, headers).status_code == 202
    if state == "failed":
        failed(Export.objects.get())
    for changed in ({"dataset": "reviews"}, {"filter": {"status": "open"}}, {"format": "jsonl.gz"}):
        answer = ask(buyer, headers, **changed)
        if changed == {"format": "jsonl.gz"} and state == "paid":
            # That is what was bought, in other words.
            assert answer.status_code == 202
        else:
            assert code(answer) == (402, "payment_already_used")
    assert (Export.objects.count(), Payment.objects.count(), spent()) == (1, 1, PRICE)


def test_what_was_not_settled_leaves_an_order_that_ends_after_an_hour(buyer: Client, key: Key, spent: Spent) -> None:
    wrong = ask(buyer, buying.signed_by(key, value=1))
    assert code(wrong) == (402, "payment_rejected")
    export = Export.objects.get()
    assert (export.status, buyer.get(f"{EXPORTS}/{export.public_id}").json()["status"]) == (
        "awaiting_payment",
        "awaiting_payment",
    )
    money.put_right(now=export.created_at + timedelta(minutes=59))
    export.refresh_from_db()
    assert export.status == "awaiting_payment"
    money.put_right(now=export.created_at + timedelta(minutes=61))
    export.refresh_from_db()
    assert (export.status, export.error) == ("cancelled", "It was not paid for within an hour.")
    assert spent() == 0
    assert bought(buyer, key).pk != export.pk


def test_orders_that_nobody_pays_hold_up_others_for_an_hour_only(buyer: Client, key: Key) -> None:
    for number in range(3):
        ask(buyer, buying.signed_by(key, value=1), filter={"updated_since": f"2026-01-0{number + 1}T00:00:00Z"})
    assert code(ask(buyer)) == (400, "invalid_request")
    Export.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert code(ask(buyer)) == (402, "payment_required")


# The same at once
def test_eight_copies_of_one_payment_at_once_buy_one_export(buyer: Client, key: Key, spent: Spent) -> None:
    headers = payment(buyer, key)
    session = buyer.defaults["HTTP_AUTHORIZATION"]
    answers = at_once(8, lambda: ask(Client(HTTP_AUTHORIZATION=session), headers))
    statuses = Counter(answer.status_code for answer in answers if not isinstance(answer, Exception))
    assert set(statuses) <= {202, 503}
    assert statuses[202] > 0
    assert (Export.objects.get().status, Payment.objects.count(), spent()) == ("queued", 1, PRICE)


def test_of_several_payments_at_once_one_buys_and_the_others_are_not_kept(
    buyer: Client, key: Key, spent: Spent
) -> None:
    session = buyer.defaults["HTTP_AUTHORIZATION"]
    payments = iter([buying.signed_by(key, value=500_000) for _ in range(4)])
    answers = at_once(4, lambda: ask(Client(HTTP_AUTHORIZATION=session), next(payments)))
    assert {answer.status_code for answer in answers if not isinstance(answer, Exception)} <= {202, 402, 503}
    export = Export.objects.get()
    assert (export.status, paid_for(export).state in Payment.TAKEN) == ("queued", True)
    others = Payment.objects.filter(export=None)
    assert {row.state for row in others} <= {State.REFUND_DUE}
    assert spent() == PRICE * (1 + len(others))


# Crashes, and what is not known
def test_money_that_arrived_when_the_request_died_queues_the_export_by_the_same_payment(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = payment(buyer, key)
    died(buyer, headers, monkeypatch)
    assert ask(buyer, headers).status_code == 202
    assert (Export.objects.get().status, spent(), Payment.objects.count()) == ("queued", PRICE, 1)


def died(buyer: Client, headers: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Export:
    """The order of a process that was killed after the settlement, before it wrote that it has arrived for this."""

    def killed(*_: Any) -> bool:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("catalogue.exports.money.queue", killed)
        with pytest.raises(SystemExit):
            ask(buyer, headers)
    export = Export.objects.get()
    assert (export.status, Payment.objects.get().state) == ("awaiting_payment", State.SETTLED)
    return export


@pytest.mark.parametrize("proof", ["none", "another"])
def test_money_that_arrived_when_the_request_died_is_not_asked_for_again(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch, proof: str
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    shown = ask(buyer, buying.signed_by(key, value=500_000) if proof == "another" else {})
    assert (shown.status_code, shown.json()["id"]) == (202, export.public_id)
    assert (paid_for(export).state, spent()) == (State.SETTLED, PRICE)


def test_the_sweeper_queues_what_was_paid_when_the_request_died(
    buyer: Client, key: Key, spent: Spent, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    money.put_right(now=timezone.now())
    export.refresh_from_db()
    # It may be alive yet.
    assert export.status == "awaiting_payment"
    Payment.objects.update(settled_at=timezone.now() - ledger.STALE)
    sweep_exports()
    row = paid_for(export)
    assert (export.status, row.state, spent()) == ("queued", State.DELIVERED, PRICE)
    # Nor is it owed back as what nobody has answered.
    Payment.objects.update(block=1)
    assert ledger.owe_undelivered(before=timezone.now() + timedelta(days=2)) == 0


def test_money_that_comes_for_a_cancelled_order_is_owed_back(
    buyer: Client, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = payment(buyer, key)
    export = died(buyer, headers, monkeypatch)
    assert buyer.delete(f"{EXPORTS}/{export.public_id}").status_code == 204
    again = ask(buyer, headers)
    assert (*code(again), again.json()["reason"]) == (402, "payment_already_used", "refund_due")
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.REFUND_DUE, f"not_delivered: {money.TOO_LATE}")
    assert Export.objects.get().status == "cancelled"


def test_the_sweeper_owes_back_what_came_for_a_cancelled_order(
    buyer: Client, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = died(buyer, payment(buyer, key), monkeypatch)
    buyer.delete(f"{EXPORTS}/{export.public_id}")
    Payment.objects.update(settled_at=timezone.now() - ledger.STALE)
    money.put_right(now=timezone.now())
    assert Payment.objects.get().state == State.REFUND_DUE


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
    for other in ({}, buying.signed_by(key, value=500_000)):
        assert code(ask(buyer, other)) == (503, "settlement_pending")
    # An order that money may be coming for is not given up.
    money.put_right(now=timezone.now() + timedelta(hours=2))
    export.refresh_from_db()
    assert export.status == "awaiting_payment"
    assert ask(buyer, headers).status_code == 202
    assert (Export.objects.get().status, spent(), Payment.objects.count()) == ("queued", PRICE, 1)


# Owed back
@pytest.mark.parametrize("end", ["failed", "deleted while queued", "deleted while running", "cancelled by staff"])
def test_what_does_not_succeed_is_owed_back_by_itself_in_words(
    buyer: Client, key: Key, spent: Spent, end: str
) -> None:
    headers = payment(buyer, key)
    ask(buyer, headers).close()
    export = Export.objects.get()
    words = money.CANCELLED
    if end == "failed":
        words = failed(export).error
    elif end == "cancelled by staff":
        start.cancel(export, actor="staff:ada@example.com", now=timezone.now())
    else:
        if end == "deleted while running":
            write.begin(export, now=timezone.now())
        assert buyer.delete(f"{EXPORTS}/{export.public_id}").status_code == 204
    row = paid_for(export)
    assert (row.state, row.error) == (State.REFUND_DUE, f"failed_job: {words}")
    told = buyer.get(f"/v1/payments/{row.public_id}").json()
    assert words in str(told)
    # The same payment neither runs it again nor is charged again.
    again = ask(buyer, headers)
    assert (*code(again), again.json()["refund"]) == (402, "payment_already_used", row.public_id)
    assert (Export.objects.count(), Payment.objects.count(), spent()) == (1, 1, PRICE)


@pytest.mark.parametrize("end", ["deleted", "expired"])
def test_what_has_succeeded_is_not_owed_back(buyer: Client, key: Key, end: str) -> None:
    export = bought(buyer, key)
    exporting.work(export)
    if end == "deleted":
        buyer.delete(f"{EXPORTS}/{export.public_id}")
    else:
        Export.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
        sweep_exports()
    money.put_right(now=timezone.now())
    assert paid_for(export).state == State.DELIVERED
    assert export.status == "expired"


def test_what_was_ordered_is_fetched_also_when_the_tier_has_fallen(books: None) -> None:
    key = fresh_wallet(Decimal(1))
    buyer = client_of(key)
    wallet = Wallet.objects.get(address=key.address)
    Plan.objects.create(name="A month", wallet=wallet, valid_from=timezone.now())
    export = bought(buyer, key)
    exporting.work(export)
    Plan.objects.update(valid_until=timezone.now())
    shown = buyer.get(f"{EXPORTS}/{export.public_id}")
    assert (shown.status_code, shown["X-Tier"], len(shown.json()["files"])) == (200, "free", 1)
    assert buyer.get(f"{EXPORTS}/{export.public_id}/files/manifest.json").status_code == 200


# Staff
def test_to_begin_a_failed_export_anew_takes_its_money_again(buyer: Client, key: Key) -> None:
    export = failed(bought(buyer, key))
    assert start.restart(export, actor="staff:ada@example.com")
    row = paid_for(export)
    assert (export.status, row.state, row.error) == ("queued", State.DELIVERED, "")
    assert row.events.latest("id").actor == "staff:ada@example.com"
    assert failed(export).status == "failed"
    assert paid_for(export).state == State.REFUND_DUE


@pytest.mark.parametrize("why", ["sent back", "goodwill"])
def test_an_export_whose_money_is_gone_is_not_begun_anew(buyer: Client, key: Key, why: str) -> None:
    export = bought(buyer, key)
    seen(export)
    if why == "goodwill":
        ledger.owe_back(paid_for(export).pk, reason=Payment.OwedFor.GOODWILL, by="staff:ada")
    failed(export)
    if why == "sent back":
        assert ledger.refund(paid_for(export).pk, tx_hash="0x" + "a" * 64, by="ada", now=timezone.now())
    was = paid_for(export).state
    with pytest.raises(MoneyGone):
        start.restart(export)
    assert (paid_for(export).state, export.status) == (was, "failed")


def test_of_a_refund_and_a_restart_at_once_one_wins(buyer: Client, key: Key) -> None:
    export = bought(buyer, key)
    seen(export)
    failed(export)
    payment_id = paid_for(export).pk
    moves: Iterator[Callable[[], bool]] = iter(
        [
            lambda: ledger.refund(payment_id, tx_hash="0x" + "b" * 64, by="ada", now=timezone.now()),
            lambda: start.restart(export),
        ]
    )
    at_once(2, lambda: next(moves)())
    assert (paid_for(export).state, export.status) in {
        (State.REFUNDED, "failed"),
        (State.DELIVERED, "queued"),
    }


def test_staff_order_without_paying(prices: None) -> None:
    orders = [
        start.start(None, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now())
        for _ in range(2)
    ]
    assert orders[0] == orders[1]
    assert (orders[0].status, orders[0].wallet, orders[0].payment) == ("queued", None, None)


# Deltas
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
    first = start.start(key.address, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now())
    if not change.pop("unfinished", False):
        exporting.work(first)
        age = timedelta(days=91 if change.pop("old", False) else 1)
        Export.objects.update(changes_from=timezone.now() - age)
    if change.pop("anothers", False):
        Export.objects.update(wallet=exporting.somebody())
    wanted: dict[str, Any] = {**RESTAURANTS, "format": "jsonl.gz", **change, "since_export": first.public_id}
    if words is None:
        delta = start.start(wallet.address, tier=ENTERPRISE, now=timezone.now(), **wanted)
        assert delta.since_export == first
        return
    with pytest.raises(InvalidRequest, match=words) as caught:
        start.start(wallet.address, tier=ENTERPRISE, now=timezone.now(), **wanted)
    assert caught.value.param == "since_export"
