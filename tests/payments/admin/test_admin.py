"""The back office of payments: prices that are added to, sessions that are revoked, money that was sent back."""

import re
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from payments.devchain.wallets import Wallet as ChainWallet
from payments.ledger import transitions
from payments.models import Payment, PaymentEvent, Product, Refund, Wallet, WalletSession
from payments.pricing import default_products
from tests.payments.ledger_builders import NOW, PAYER, payment, refund_due
from tests.support import builders
from tests.support.wallets import transfer_usdc

PAYMENTS = "/admin/payments/payment/"
HASH = "0x" + "5a" * 32
State = Payment.State


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def session() -> WalletSession:
    """A session of a wallet."""
    wallet, _ = Wallet.objects.get_or_create(address=PAYER)
    return WalletSession.objects.create(
        wallet=wallet, nonce="n", digest="secret-digest", created_at=NOW, expires_at=NOW + timedelta(hours=1)
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["product", "wallet", "walletsession", "payment"])
def test_the_pages_of_a_model_open(
    staff: Client, model: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    default_products.create_missing()
    rows = {"product": Product.objects.get(pk="reviews"), "walletsession": session(), "payment": payment()}
    row = rows.get(model) or Wallet.objects.get()
    listed = reverse(f"admin:payments_{model}_changelist")
    for page in (listed, f"{listed}?q=noma", reverse(f"admin:payments_{model}_change", args=[row.pk])):
        with django_assert_max_num_queries(12):
            response = staff.get(page)
        assert response.status_code == 200
        assert "secret-digest" not in response.content.decode()


@pytest.mark.parametrize("model", ["wallet", "walletsession", "payment"])
def test_rows_of_the_product_cannot_be_added_or_deleted(staff: Client, model: str) -> None:
    row = {"walletsession": session(), "payment": payment()}.get(model) or Wallet.objects.get()
    assert staff.get(reverse(f"admin:payments_{model}_add")).status_code == 403
    assert staff.post(reverse(f"admin:payments_{model}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


@pytest.mark.exhaustive
def test_a_list_of_payments_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (range(1), range(1, 40)):
        for number in count:
            payment(number)
        # Session, user, refunds due, what arrived, an estimate, the count, rows, assignees, saved filters; the list's
        # time, and this test's savepoint around.
        with django_assert_num_queries(12):
            staff.get(PAYMENTS)


def test_the_ledger_tells_what_arrived_in_24_hours_and_what_is_due(staff: Client) -> None:
    now = timezone.now()
    for number, hours in enumerate((1, 23, 25)):
        payment(number, amount_usdc=Decimal("0.002"), settled_at=now - timedelta(hours=hours))
    refund_due(9)
    page = staff.get(PAYMENTS).content.decode()
    assert re.findall("<dt>([^<]+)</dt><dd>([^<]+?)(?: <span>[^<]+</span>)?</dd>", page) == [
        ("Received in 24 hours", "0.004 USDC"),
        ("Payments in 24 hours", "2"),
        ("Refunds due", "1"),
    ]


def test_the_ledger_is_read_only(staff: Client) -> None:
    row = payment()
    staff.post(f"{PAYMENTS}{row.pk}/change/", {"state": "refunded", "amount_usdc": "5", "payer": "0x"})
    row.refresh_from_db()
    assert (row.state, row.amount_usdc, row.payer) == (State.SETTLED, Decimal("0.002"), PAYER)


# The ledger
def found(client: Client, query: str) -> set[str]:
    """The transactions that the list shows for a query."""
    page = client.get(f"{PAYMENTS}?{query}").context["cl"]
    return {row.tx_hash for row in page.result_list}


@pytest.mark.exhaustive
def test_payments_are_found_by_their_ids(staff: Client) -> None:
    one = payment(1, payer="0x" + "cd" * 20, state=State.REFUND_DUE, products=["context", "reviews"])
    payment(2, form=Payment.Form.V2)
    default_products.create_missing()
    for query in (
        f"q={one.tx_hash}",
        f"q={'0x' + 'CD' * 20}",
        f"q={one.public_id}",
        "state__exact=refund_due",
        "form__exact=tx",
    ):
        assert found(staff, query) == {one.tx_hash}, query
    assert found(staff, "q=0xcd") == set()


def refund(client: Client, *rows: Payment, tx_hash: str = HASH) -> list[str]:
    """Record the refunds of these payments; return the messages."""
    chosen = {"action": "record_refund", "_selected_action": [str(row.pk) for row in rows], "refund_tx_hash": tx_hash}
    chosen["checked_tx_hash"] = tx_hash.lower()
    return builders.messages_of(client.post(PAYMENTS, chosen | {"confirmed": "yes"}))


def mark_due(client: Client, *rows: Payment, reason: str = "goodwill", message: str = "") -> Any:
    """Mark the refunds of these payments as due; return the response."""
    chosen = {"action": "mark_refund_due", "_selected_action": [str(row.pk) for row in rows]}
    return client.post(PAYMENTS, chosen | {"confirmed": "yes", "reason": reason, "message": message})


def test_a_refund_is_recorded_once_with_its_transaction(staff: Client) -> None:
    due, settled = refund_due(1), payment(2)
    text = refund(staff, due, settled, tx_hash=HASH.upper().replace("X", "x"))
    assert text == [
        "1 refunds recorded. They are checked on the chain again later.",
        f"The refund of {settled.public_id} was not recorded. No refund is due.",
    ]
    due.refresh_from_db()
    settled.refresh_from_db()
    assert (due.state, due.refund.tx_hash, due.refunded_at is not None) == (State.REFUNDED, HASH, True)
    assert (due.refund.by, due.refund.confirmed_at) == ("staff:staff@example.com", None)
    assert (settled.state, hasattr(settled, "refund")) == (State.SETTLED, False)
    text = refund(staff, due, tx_hash="0x" + "6b" * 32)
    assert text[-1:] == [f"The refund of {due.public_id} was not recorded. A refund is already recorded."]
    due.refresh_from_db()
    assert due.refund.tx_hash == HASH


def test_staff_enter_the_transaction_and_see_the_due_amounts(staff: Client) -> None:
    rows = [refund_due(1), refund_due(2), refund_due(3, payer="0x" + "cd" * 20), payment(4)]
    chosen = {"action": "record_refund", "_selected_action": [str(row.pk) for row in rows]}
    page = staff.post(PAYMENTS, chosen).content.decode()
    assert "3 payments, 0.006000 USDC in total, are due for refund." in page
    assert "<td>2</td><td>0.004000</td>" in page
    assert not Refund.objects.exists()


@pytest.mark.exhaustive
def test_staff_see_the_transfers_of_a_transaction_before_they_record_it(
    staff: Client, wallets: Mapping[str, ChainWallet]
) -> None:
    due = refund_due()
    stranger = wallets["pro"].address
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal("0.002"))
    chosen = {"action": "record_refund", "_selected_action": [str(due.pk)], "confirmed": "yes"}
    page = staff.post(PAYMENTS, chosen | {"refund_tx_hash": tx_hash.upper().replace("X", "x")})
    body = page.content.decode()
    assert f"<td>{PAYER}</td><td>0.002000</td>" in body
    assert f"<td>{stranger}</td>" in body
    assert f'name="checked_tx_hash" value="{tx_hash}"' in body
    # Another transaction than the one that was shown is shown first.
    page = staff.post(PAYMENTS, chosen | {"refund_tx_hash": HASH, "checked_tx_hash": tx_hash})
    assert "This transaction is not on the chain yet." in page.content.decode()
    assert not Refund.objects.exists()
    assert refund(staff, due, tx_hash=tx_hash) == ["1 refunds recorded and confirmed on the chain."]
    for place in ("/admin/payments/refund/", f"{PAYMENTS}{due.pk}/change/"):
        assert f'<span class="id" title="{stranger}">' in staff.get(place).content.decode()


@pytest.mark.exhaustive
def test_payments_not_on_the_chain_are_not_refund_due_and_are_listed_separately(staff: Client) -> None:
    unseen, lost = payment(1, block=None), refund_due(2, block=None, error="not_delivered")
    assert builders.messages_of(mark_due(staff, unseen)) == [
        "0 marked for refund.",
        f"{unseen.public_id} was not changed."
        " The chain does not show that this payment has arrived: no refund is due.",
    ]
    assert found(staff, "refund=unseen") == {lost.tx_hash}
    assert found(staff, "refund=due") == set()
    assert ", not delivered: not seen on the chain" in staff.get(PAYMENTS).content.decode()


def test_a_payment_that_may_still_be_spent_is_not_refunded(staff: Client) -> None:
    early = refund_due(1, error="wrong_amount", settled_at=timezone.now() - timedelta(minutes=14))
    assert ": may still be used" in staff.get(PAYMENTS).content.decode()
    assert refund(staff, early) == [
        f"The refund of {early.public_id} was not recorded. The payment may still be used for a few minutes."
    ]
    early.refresh_from_db()
    assert (early.state, hasattr(early, "refund")) == (State.REFUND_DUE, False)
    Payment.objects.update(settled_at=timezone.now() - timedelta(minutes=15))
    assert ": send refund" in staff.get(PAYMENTS).content.decode()
    assert refund(staff, early)[-1].startswith("1 refunds recorded")


@pytest.mark.parametrize("tx_hash", ["", "0x12", "5a" * 32])
def test_a_refund_without_a_valid_transaction_is_not_recorded(staff: Client, tx_hash: str) -> None:
    due = refund_due()
    chosen = {"action": "record_refund", "_selected_action": [str(due.pk)], "refund_tx_hash": tx_hash}
    page = staff.post(PAYMENTS, chosen | {"confirmed": "yes"}).content.decode()
    assert "0x and 64 hexadecimal digits" in page
    due.refresh_from_db()
    assert due.state == State.REFUND_DUE


@pytest.mark.exhaustive
def test_staff_mark_refunds_due_with_a_reason_and_a_confirmation(staff: Client) -> None:
    served, due, pending = (
        payment(1, state=State.DELIVERED, delivered_at=NOW),
        refund_due(2),
        payment(3, state="claimed"),
    )
    page = mark_due(staff, served, reason="")
    assert "1 payment, 0.002000 USDC in total, will be marked for refund." in page.content.decode()
    assert "This field is required" in page.content.decode()
    served.refresh_from_db()
    assert served.state == State.DELIVERED
    text = builders.messages_of(
        mark_due(staff, served, due, pending, reason="goodwill", message="The photos were blurred.")
    )
    assert text == [
        "1 marked for refund.",
        "2 not changed: not settled, or the refund is already due or sent.",
    ]
    served.refresh_from_db()
    assert (served.state, served.error) == (State.REFUND_DUE, "goodwill: The photos were blurred.")
    assert served.events.get(after="refund_due").actor == "staff:staff@example.com"


@pytest.mark.exhaustive
def test_refunds_due_have_no_buttons_while_there_are_none(staff: Client) -> None:
    page = staff.get(PAYMENTS).content.decode()
    assert ("Refunds due now" in page, "<dt>Refunds due</dt><dd>0</dd>" in page) == (False, True)
    refund_due(1)
    assert "Refunds due now" in staff.get(PAYMENTS).content.decode()


def test_refunds_due_are_summed_above_the_list_and_exported_as_csv(staff: Client) -> None:
    other = "0x" + "cd" * 20
    first, second = (
        refund_due(1),
        refund_due(2, payer=other, amount_usdc=Decimal("1000000.5"), settled_at=NOW - timedelta(days=1)),
    )
    refund_due(3, error="wrong_amount", settled_at=timezone.now())
    payment(4)
    page = staff.get(f"{PAYMENTS}?refund=due")
    assert "<b>1000000.502000 USDC</b> in refunds due now:" in page.content.decode()
    assert "2 payments of 2 wallets" in " ".join(page.content.decode().split())
    assert found(staff, "refund=due") == {first.tx_hash, second.tx_hash}
    assert len(found(staff, "refund=spendable")) == 1
    table = staff.get(f"{PAYMENTS}refunds_due.csv")
    assert table["Content-Disposition"] == 'attachment; filename="refunds_due.csv"'
    assert table.getvalue().decode().split("\r\n") == [
        "payer,amount_usdc,payment",
        f"{other},1000000.500000,{second.public_id}",
        f"{PAYER},0.002000,{first.public_id}",
        "",
    ]


def test_the_page_of_a_payment_shows_its_state_changes(staff: Client) -> None:
    row = payment(1, state="claimed", settled_at=None, tx_hash=None)
    transitions.mark_settled(row, tx_hash=HASH, now=NOW)
    transitions.mark_delivered(row.pk, now=NOW)
    page = staff.get(f"{PAYMENTS}{row.pk}/change/")
    (timeline,) = [each for each in page.context["inline_admin_formsets"] if each.opts.model is PaymentEvent]
    assert [event.after for event in timeline.formset.queryset] == ["claimed", "settled", "delivered"]
    assert "State changes" in page.content.decode()


@pytest.mark.exhaustive
def test_a_released_payment_is_found_by_its_payer(staff: Client) -> None:
    gone, stored = payment(1, state="claimed", settled_at=None, tx_hash=None), payment(2, payer="0x" + "cd" * 20)
    name = gone.public_id
    transitions.release_claim(gone)
    gone.attempts = 0
    events = "/admin/payments/paymentevent/"
    listed = staff.get(f"{events}?q={PAYER.upper().replace('X', 'x')}&new_state=released").context["cl"].result_list
    assert [(event.before, event.after, event.payment_exists) for event in listed] == [("claimed", "", False)]
    for query in (name, stored.public_id, stored.tx_hash):
        listed = staff.get(f"{events}?q={query}").context["cl"].result_list
        assert [event.after for event in listed] == (["", "claimed"] if query == name else ["settled"]), query
    page = staff.get(f"{events}{listed[0].pk}/change/")
    assert page.status_code == 200
    assert staff.post(f"{events}{listed[0].pk}/change/", {"error": "x"}).status_code == 403


def test_an_unconfirmed_refund_record_is_red_and_can_be_deleted(staff: Client) -> None:
    wrong, right = refund_due(1), refund_due(2)
    refund(staff, wrong, right)
    Refund.objects.filter(payment=wrong).update(error="The transaction was reverted.")
    Refund.objects.filter(payment=right).update(confirmed_at=NOW, moved_usdc=1)
    refunds = "/admin/payments/refund/"
    assert '<b class="wrong">' in staff.get(f"{refunds}?confirmation=differs").content.decode()
    chosen = {"action": "delete_refund_records", "_selected_action": [str(row.pk) for row in Refund.objects.all()]}
    assert "1 refund not confirmed on the chain" in staff.post(refunds, chosen).content.decode()
    assert Refund.objects.count() == 2
    text = builders.messages_of(staff.post(refunds, chosen | {"confirmed": "yes"}))
    assert text == ["1 refunds are due again.", "1 not changed: confirmed on the chain."]
    wrong.refresh_from_db()
    right.refresh_from_db()
    assert (wrong.state, wrong.refunded_at, right.state) == (State.REFUND_DUE, None, State.REFUNDED)
    assert refund(staff, wrong, tx_hash="0x" + "6b" * 32)[-1].startswith("1 refunds recorded")


@pytest.mark.exhaustive
def test_view_permission_allows_no_refund_and_no_revocation(db: None) -> None:
    user = User.objects.create_user("looker@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_payment", "view_walletsession"]))
    client = Client()
    client.force_login(user)
    due, served, signed_in = refund_due(1), payment(2), session()
    refund(client, due)
    mark_due(client, served)
    chosen = {"action": "revoke", "_selected_action": str(signed_in.pk), "confirmed": "yes"}
    client.post("/admin/payments/walletsession/", chosen)
    due.refresh_from_db()
    signed_in.refresh_from_db()
    served.refresh_from_db()
    assert (due.state, served.state, signed_in.revoked_at) == (State.REFUND_DUE, State.SETTLED, None)
