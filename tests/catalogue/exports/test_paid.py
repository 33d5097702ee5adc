"""Exports that are paid for: what they cost, and what one payment buys."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as conf
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.requests import commands, payment_state
from catalogue.exports.requests.spec import ExportSpec
from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, Plan
from payments.tiers.definitions import ENTERPRISE
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS
from tests.catalogue.exports.paid_orders import PRICE, Spent, State, ask, bought, code, failed, paid_for, payment
from tests.payments import buyer as payments_buyer
from tests.payments.buyer import at_once
from tests.payments.signing import client_of
from tests.support.wallets import transfer_usdc, usdc_balance

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


# The price
@pytest.mark.exhaustive
def test_without_payment_the_price_is_reported_and_nothing_is_begun(buyer: Client) -> None:
    answer = ask(buyer, dataset="reviews")
    assert code(answer) == (402, "payment_required")
    result = answer.json()
    assert (result["accepts"][0]["maxAmountRequired"], result["tier_required"]) == ("800000", "enterprise")
    assert result["accepts"][0]["resource"] == f"{conf.PUBLIC_BASE_URL}{EXPORTS}"
    assert {"x402", "PAYMENT-REQUIRED"} <= set(answer.headers)
    assert not Export.objects.exists()


@pytest.mark.exhaustive
def test_what_is_wrong_is_reported_before_the_price_and_the_tier_before_it_too(
    buyer: Client, wallets: Mapping[str, Key]
) -> None:
    assert code(ask(buyer, filter={"market": "nowhere"})) == (400, "invalid_request")
    premium = client_of(wallets["premium"])
    assert code(ask(premium, filter={"market": "nowhere"})) == (400, "invalid_request")
    assert code(ask(premium)) == (403, "tier_required")
    assert not Export.objects.exists()


@pytest.mark.exhaustive
def test_a_payment_does_not_say_whose_the_export_is(buyer: Client, key: Key, spent: Spent) -> None:
    answer = ask(Client(), payment(buyer, key))
    assert code(answer) == (401, "missing_credentials")
    assert "Nothing was charged." in answer.json()["error"]["message"]
    assert spent() == 0
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_the_official_client_buys_an_export_from_the_order_to_the_files(buyer: Client, key: Key, spent: Spent) -> None:
    builders.listed(builders.restaurant())
    headers = payment(buyer, key)
    answer = ask(buyer, headers)
    assert answer.status_code == 202
    assert {"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt"} <= set(answer.headers)
    assert answer["Location"] == f"{conf.PUBLIC_BASE_URL}{EXPORTS}/{answer.json()['id']}"
    answer.close()
    export = Export.objects.get()
    row = paid_for(export)
    assert (export.status, row.state, row.amount_usdc, spent()) == ("queued", State.DELIVERED, PRICE, PRICE)
    export_builders.run_to_end(export)
    assert (export.status, export.rows) == ("succeeded", 1)
    result = buyer.get(f"/v1/payments/{row.public_id}").json()
    assert (result["state"], result["products"]) == ("delivered", ["export_restaurants"])
    assert result["resource"] == {"method": "POST", "url": f"{conf.PUBLIC_BASE_URL}{EXPORTS}#{export.public_id}"}
    # The same payment shows it again, long after.
    Payment.objects.update(delivered_at=timezone.now() - timedelta(days=2))
    again = ask(buyer, headers)
    assert (again.status_code, again.json()["id"], again.json()["status"]) == (202, export.public_id, "succeeded")
    assert (again["PAYMENT-RESPONSE"], spent()) == (answer["PAYMENT-RESPONSE"], PRICE)


@pytest.mark.exhaustive
def test_a_transaction_that_was_sent_buys_one_too(buyer: Client, key: Key, spent: Spent) -> None:
    headers = {"X-Payment": transfer_usdc(key, conf.PAY_TO, PRICE)}
    first, again = ask(buyer, headers), ask(buyer, headers)
    assert (first.status_code, again.status_code, first.json()["id"]) == (202, 202, again.json()["id"])
    assert (Export.objects.count(), spent()) == (1, PRICE)


@pytest.mark.exhaustive
def test_while_it_is_under_way_the_same_order_shows_it_and_charges_nothing(
    buyer: Client, key: Key, spent: Spent
) -> None:
    export = bought(buyer, key)
    other = payments_buyer.signed_by(key, value=500_000)
    for headers in ({}, other):
        shown = ask(buyer, headers)
        assert (shown.status_code, shown.json()["id"]) == (202, export.public_id)
        assert "PAYMENT-RESPONSE" not in shown.headers
    assert (spent(), Payment.objects.count()) == (PRICE, 1)
    # Money that was sent already goes back.
    sent = ask(buyer, {"X-Payment": transfer_usdc(key, conf.PAY_TO, PRICE)})
    assert (*code(sent), sent.json()["reason"]) == (402, "payment_already_used", "refund_due")
    assert Payment.objects.get(form="tx").error == f"not_delivered: {payment_state.PAID_TWICE}"


@pytest.mark.exhaustive
def test_what_a_plan_gives_is_queued_at_once_and_in_no_ledger(buyer: Client, key: Key) -> None:
    export_builders.grant_free_plan(key)
    assert buyer.get("/v1/me").json()["prices"]["products"][0]["amount"] == "0"
    answer = ask(buyer, payments_buyer.signed_by(key, value=500_000))
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert "PAYMENT-RESPONSE" not in answer.headers
    place = builders.restaurant(slug="noma")
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market=place.market_id)
    given = buyer.get("/v1/restaurants/noma?fields=context")
    assert (given.status_code, given["Cache-Control"]) == (200, "private, no-store")
    assert given.json()["context"]
    assert (Payment.objects.count(), Export.objects.get().payment) == (0, None)


def test_a_plan_gives_only_what_its_tier_is_sold(buyer: Client, wallets: Mapping[str, Key]) -> None:
    client = client_of(wallets["pro"])
    export_builders.grant_free_plan(wallets["pro"])
    Plan.objects.update(tier="pro")
    assert code(ask(client)) == (403, "tier_required")
    assert not Export.objects.exists()


# Refusals of payments
@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_a_payment_that_is_refused_leaves_no_order_and_holds_no_one_up(
    buyer: Client, key: Key, settings: Settings, spent: Spent
) -> None:
    for number in range(3):
        wrong = payments_buyer.signed_by(key, value=1)
        assert code(ask(buyer, wrong, filter={"updated_since": f"2026-01-0{number + 1}T00:00:00Z"})) == (
            402,
            "payment_rejected",
        )
    there, settings.FACILITATOR_URL = settings.FACILITATOR_URL, "http://127.0.0.1:1"
    assert code(ask(buyer, payments_buyer.signed_by(key, value=500_000))) == (503, "facilitator_unavailable")
    settings.FACILITATOR_URL = there
    assert not Export.objects.exists()
    assert not Payment.objects.exists()
    assert spent() == 0
    assert bought(buyer, key).status == "queued"


def left(key: Key, number: int) -> Export:
    """The order of a request that has died before it took the payment."""
    kind = ExportSpec("restaurants", "jsonl.gz", {"updated_since": f"2026-01-0{number}T00:00:00Z"}, (), since=None)
    return commands.find_or_create(
        key.address, kind, tier=ENTERPRISE, status=Export.Status.AWAITING_PAYMENT, now=timezone.now()
    )


def test_an_order_whose_request_has_died_unpaid_ends_after_an_hour(buyer: Client, key: Key) -> None:
    export = left(key, 1)
    assert buyer.get(f"{EXPORTS}/{export.public_id}").json()["status"] == "awaiting_payment"
    payment_state.reconcile(now=export.created_at + timedelta(minutes=59))
    export.refresh_from_db()
    assert export.status == "awaiting_payment"
    payment_state.reconcile(now=export.created_at + timedelta(minutes=61))
    export.refresh_from_db()
    assert (export.status, export.error) == ("cancelled", "It was not paid for within an hour.")


@pytest.mark.exhaustive
def test_orders_that_no_one_pays_hold_up_others_for_an_hour_only(buyer: Client, key: Key) -> None:
    for number in (1, 2, 3):
        left(key, number)
    assert code(ask(buyer)) == (400, "invalid_request")
    Export.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert code(ask(buyer)) == (402, "payment_required")


def test_a_refused_payment_takes_no_order_away_that_another_user_else_has_ordered_too(buyer: Client, key: Key) -> None:
    made = left(key, 1)
    found = left(key, 1)
    assert made == found
    for order in (made, found):
        commands.withdraw_order(order)
    assert Export.objects.get() == made


# The same at once
@pytest.mark.exhaustive
def test_eight_copies_of_one_payment_at_once_buy_one_export(buyer: Client, key: Key, spent: Spent) -> None:
    headers = payment(buyer, key)
    session = buyer.defaults["HTTP_AUTHORIZATION"]
    answers = at_once(8, lambda: ask(Client(HTTP_AUTHORIZATION=session), headers))
    statuses = Counter(answer.status_code for answer in answers if not isinstance(answer, Exception))
    assert set(statuses) <= {202, 503}
    assert statuses[202] > 0
    assert (Export.objects.get().status, Payment.objects.count(), spent()) == ("queued", 1, PRICE)


@pytest.mark.exhaustive
def test_of_several_payments_at_once_one_buys_and_the_others_are_not_stored(
    buyer: Client, key: Key, spent: Spent
) -> None:
    session = buyer.defaults["HTTP_AUTHORIZATION"]
    payments = iter([payments_buyer.signed_by(key, value=500_000) for _ in range(4)])
    answers = at_once(4, lambda: ask(Client(HTTP_AUTHORIZATION=session), next(payments)))
    assert {answer.status_code for answer in answers if not isinstance(answer, Exception)} <= {202, 402, 503}
    export = Export.objects.get()
    assert (export.status, paid_for(export).state in Payment.EARNED) == ("queued", True)
    others = Payment.objects.filter(export=None)
    assert {row.state for row in others} <= {State.REFUND_DUE}
    assert spent() == PRICE * (1 + len(others))
