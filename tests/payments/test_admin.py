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

from accounts.models import User
from payments import seed
from payments.gate.sale import public_id
from payments.models import Payment, Product, Wallet, WalletSession
from tests import make

PAYMENTS = "/admin/payments/payment/"
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
