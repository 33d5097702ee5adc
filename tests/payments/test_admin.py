"""The back office of payments: prices that are added to, sessions that are revoked, money that was sent back."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, User
from payments import prices, seed
from payments.gate.sale import public_id
from payments.models import Payment, Price, Product, Wallet, WalletSession
from payments.terms import STANDARD
from tests import make

PAYMENTS = "/admin/payments/payment/"
REVIEWS = "/admin/payments/product/reviews/change/"
PAYER = "0x" + "ab" * 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HASH = "0x" + "5a" * 32
State = Payment.State


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def payment(number: int = 0, **values: Any) -> Payment:
    """A line of the ledger."""
    told: dict[str, Any] = {
        "form": Payment.Form.TX,
        "state": State.SETTLED,
        "network": "eip155:84532",
        "asset": "0x" + "11" * 20,
        "payer": PAYER,
        "pay_to": "0x" + "22" * 20,
        "amount_usdc": Decimal("0.002"),
        "proof_key": f"tx:{number}",
        "purchase": "0" * 64,
        "resource": "https://api.example.com/v1/restaurants/noma?fields=context",
        "products": ["context"],
        "tier": "free",
        "tx_hash": f"0x{number:064x}",
        "created_at": NOW,
        "claimed_at": NOW,
        "settled_at": NOW,
    }
    return Payment.objects.create(**told | values)


def session() -> WalletSession:
    """A session of a wallet."""
    wallet, _ = Wallet.objects.get_or_create(address=PAYER)
    return WalletSession.objects.create(
        wallet=wallet, nonce="n", digest="secret-digest", created_at=NOW, expires_at=NOW + timedelta(hours=1)
    )


@pytest.mark.parametrize("model", ["product", "wallet", "walletsession", "payment"])
def test_the_pages_of_a_model_open(
    staff: Client, model: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    seed.load()
    rows = {"product": Product.objects.get(pk="reviews"), "walletsession": session(), "payment": payment()}
    row = rows.get(model) or Wallet.objects.get()
    listed = reverse(f"admin:payments_{model}_changelist")
    for page in (listed, f"{listed}?q=noma", reverse(f"admin:payments_{model}_change", args=[row.pk])):
        with django_assert_max_num_queries(10):
            response = staff.get(page)
        assert response.status_code == 200
        assert "secret-digest" not in response.content.decode()


@pytest.mark.parametrize("model", ["wallet", "walletsession", "payment"])
def test_what_the_product_writes_is_neither_added_nor_deleted_by_hand(staff: Client, model: str) -> None:
    row = {"walletsession": session(), "payment": payment()}.get(model) or Wallet.objects.get()
    assert staff.get(reverse(f"admin:payments_{model}_add")).status_code == 403
    assert staff.post(reverse(f"admin:payments_{model}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_a_list_of_payments_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (range(1), range(1, 40)):
        for number in count:
            payment(number)
        # Session, user, count, rows.
        with django_assert_num_queries(4):
            staff.get(PAYMENTS)


def test_the_ledger_is_for_reading(staff: Client) -> None:
    row = payment()
    staff.post(f"{PAYMENTS}{row.pk}/change/", {"state": "refunded", "amount_usdc": "5", "payer": "0x"})
    row.refresh_from_db()
    assert (row.state, row.amount_usdc, row.payer) == (State.SETTLED, Decimal("0.002"), PAYER)


# Prices ------------------------------------------------------------------------------------------------------------
def form(**prices_form: str) -> dict[str, str]:
    """The page of the product `reviews` with one more price."""
    managed = {"TOTAL_FORMS": "5", "INITIAL_FORMS": "4", "MIN_NUM_FORMS": "0", "MAX_NUM_FORMS": "1000"}
    product = {"name": "Reviews", "description": "What guests say", "from_tier": "pro"}
    rows = {f"prices-{name}": value for name, value in managed.items()}
    return product | rows | {f"prices-4-{name}": value for name, value in prices_form.items()}


def price_of(product: str) -> Decimal:
    """The standard price now."""
    return prices.listed([product], now=timezone.now()).quote(STANDARD).amount


def test_a_new_price_holds_from_now_and_the_old_one_stays_in_the_history(staff: Client) -> None:
    seed.load()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0.005"))
    assert response.status_code == 302
    assert price_of("reviews") == Decimal("0.005")
    history = Price.objects.filter(product="reviews", rate="standard").order_by("valid_from")
    assert [price.amount_usdc for price in history] == [Decimal("0.004"), Decimal("0.005")]
    page = staff.get(REVIEWS).content.decode()
    assert "0.004000" in page
    assert "0.005000" in page
    assert "0.005000" in staff.get("/admin/payments/product/").content.decode()


def test_a_price_that_was_is_neither_changed_nor_deleted(staff: Client) -> None:
    seed.load()
    before = list(Price.objects.order_by("pk").values())
    first = Price.objects.filter(product="reviews").order_by("rate", "-valid_from", "-pk")[0]
    changed = {"prices-0-id": str(first.pk), "prices-0-amount_usdc": "9", "prices-0-DELETE": "on"}
    staff.post(REVIEWS, form() | changed)
    assert list(Price.objects.order_by("pk").values()) == before
    assert staff.post("/admin/payments/product/reviews/delete/", {"post": "yes"}).status_code == 403


def test_a_price_of_nothing_is_refused_in_the_form(staff: Client) -> None:
    seed.load()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0"))
    assert response.status_code == 200
    assert "A price is above zero" in response.content.decode()
    assert price_of("reviews") == Decimal("0.004")


def test_staff_open_a_product_to_a_tier(staff: Client) -> None:
    seed.load()
    staff.post(REVIEWS, form() | {"from_tier": "free", "slug": "renamed"})
    assert Product.objects.get(pk="reviews").from_tier == "free"
    assert not Product.objects.filter(pk="renamed").exists()


# Sessions ----------------------------------------------------------------------------------------------------------
def test_revoking_a_session_is_for_good_and_keeps_the_first_moment(staff: Client) -> None:
    row = session()
    chosen = {"action": "revoke", "_selected_action": str(row.pk)}
    response = staff.post("/admin/payments/walletsession/", chosen)
    assert make.messages_of(response) == ["1 revoked."]
    row.refresh_from_db()
    first = row.revoked_at
    assert first is not None
    assert make.messages_of(staff.post("/admin/payments/walletsession/", chosen))[-1] == "0 revoked."
    row.refresh_from_db()
    assert row.revoked_at == first


# The ledger --------------------------------------------------------------------------------------------------------
def found(client: Client, query: str) -> set[str]:
    """The transactions that the list shows for a query."""
    page = client.get(f"{PAYMENTS}?{query}").context["cl"]
    return {row.tx_hash for row in page.result_list}


def test_payments_are_found_by_what_names_them(staff: Client) -> None:
    one = payment(1, payer="0x" + "cd" * 20, state=State.REFUND_DUE, products=["context", "reviews"])
    payment(2, form=Payment.Form.V2)
    seed.load()
    for query in (
        f"q={one.tx_hash}",
        f"q={'0x' + 'CD' * 20}",
        f"q={public_id(one)}",
        "state__exact=refund_due",
        "form__exact=tx",
    ):
        assert found(staff, query) == {one.tx_hash}, query
    assert found(staff, "q=0xcd") == set()


def refund(client: Client, *rows: Payment, tx_hash: str = HASH) -> list[str]:
    """Mark these as refunded; what the back office said."""
    chosen = {"action": "mark_refunded", "_selected_action": [str(row.pk) for row in rows], "refund_tx_hash": tx_hash}
    return make.messages_of(client.post(PAYMENTS, chosen))


def test_what_was_sent_back_is_noted_once_with_its_transaction(staff: Client) -> None:
    due, settled = payment(1, state=State.REFUND_DUE, settled_at=NOW - timedelta(days=365)), payment(2)
    assert refund(staff, due, settled, tx_hash=HASH.upper().replace("X", "x")) == ["1 marked as refunded."]
    due.refresh_from_db()
    settled.refresh_from_db()
    assert (due.state, due.refund.tx_hash, due.refunded_at is not None) == (State.REFUNDED, HASH, True)
    assert (settled.state, hasattr(settled, "refund")) == (State.SETTLED, False)
    assert refund(staff, due, tx_hash="0x" + "6b" * 32)[-1:] == ["0 marked as refunded."]
    due.refresh_from_db()
    assert due.refund.tx_hash == HASH


def test_what_may_still_be_spent_is_not_sent_back(staff: Client) -> None:
    early = payment(1, state=State.REFUND_DUE, settled_at=timezone.now() - timedelta(minutes=14))
    assert 'alt="False"' in staff.get(PAYMENTS).content.decode()
    assert refund(staff, early) == ["0 marked as refunded.", "1 may still be spent: see the column Send back."]
    early.refresh_from_db()
    assert (early.state, hasattr(early, "refund")) == (State.REFUND_DUE, False)
    Payment.objects.update(settled_at=timezone.now() - timedelta(minutes=15))
    assert 'alt="True"' in staff.get(PAYMENTS).content.decode()
    assert refund(staff, early)[-1] == "1 marked as refunded."


@pytest.mark.parametrize("tx_hash", ["", "0x12", "5a" * 32])
def test_a_refund_without_its_transaction_is_not_noted(staff: Client, tx_hash: str) -> None:
    due = payment(state=State.REFUND_DUE)
    assert refund(staff, due, tx_hash=tx_hash) == ["Name the transaction: 0x and 64 hexadecimal digits."]
    due.refresh_from_db()
    assert due.state == State.REFUND_DUE


def test_who_may_only_look_can_neither_refund_nor_revoke(db: None) -> None:
    user = User.objects.create_user("looker@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_payment", "view_walletsession"]))
    client = Client()
    client.force_login(user)
    due, signed_in = payment(state=State.REFUND_DUE), session()
    refund(client, due)
    client.post("/admin/payments/walletsession/", {"action": "revoke", "_selected_action": str(signed_in.pk)})
    due.refresh_from_db()
    signed_in.refresh_from_db()
    assert (due.state, signed_in.revoked_at) == (State.REFUND_DUE, None)


def test_staff_say_whose_a_wallet_is(staff: Client) -> None:
    wallet = session().wallet
    account = Account.objects.create(name="Trattoria Ltd")
    staff.post(f"/admin/payments/wallet/{wallet.pk}/change/", {"account": str(account.pk), "tier": "enterprise"})
    wallet.refresh_from_db()
    assert (wallet.account, wallet.tier) == (account, "free")
