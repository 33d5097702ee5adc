"""Lists of payments in the back office: what stands first, what fills them, and that pages for reading say so."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from payments.models import Payment, PaymentEvent, Refund, Wallet, WalletSession
from tests.payments.ledger_builders import NOW, PAYER, payment, refund_due
from tests.support import builders

PAYMENTS = "/admin/payments/payment/"
State = Payment.State


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("payment", "Each paid request adds a row:"),
        ("paymentevent", "Each new payment and each state change adds a row."),
        ("refund", "Record refund"),
        ("wallet", "Each wallet that signs in or pays adds a row."),
        ("walletsession", "POST /v1/auth/session"),
        ("plan", "Add plan"),
        ("audit", "The first audit runs at 05:07 UTC"),
    ],
)
def test_an_empty_list_says_what_fills_it(staff: Client, listed: str, text: str) -> None:
    page = staff.get(f"/admin/payments/{listed}/").content.decode()
    assert re.search("<h2>No [a-z ]+ yet</h2>", page)
    assert text in page
    # There is nothing to search or to filter, unless something was searched.
    assert ('id="searchbar"' in page, 'id="changelist-filter"' in page) == (False, False)


def test_lists_begin_with_amount_state_and_payer_and_shorten_what_is_long(staff: Client) -> None:
    row = refund_due(1)
    page = staff.get(PAYMENTS)
    assert page.context["cl"].list_display[1:4] == ["amount", "state_label", "wallet"]
    assert f'<span class="id" title="{PAYER}">0xabab…abab</span>' in page.content.decode()
    page = staff.get("/admin/payments/paymentevent/")
    assert f'<span class="id" title="{row.public_id}">' in page.content.decode()
    assert f">{row.public_id}<" not in page.content.decode()


@pytest.mark.exhaustive
def test_pages_for_reading_promise_no_change(staff: Client) -> None:
    row = refund_due(1)
    refund = Refund.objects.create(payment=row, tx_hash=f"0x{1:064x}", to=PAYER, amount_usdc=1, by="x", created_at=NOW)
    wallet, _ = Wallet.objects.get_or_create(address=PAYER)
    session = WalletSession.objects.create(
        wallet=wallet, nonce="n", digest="d", created_at=NOW, expires_at=NOW + timedelta(hours=1)
    )
    event = PaymentEvent.objects.filter(payment_id=row.pk).latest("pk")
    pages = {"payment": row.pk, "refund": refund.pk, "walletsession": session.pk, "paymentevent": event.pk}
    for model, key in pages.items():
        page = staff.get(f"/admin/payments/{model}/{key}/change/")
        assert page.context["title"].startswith("View ")
        assert 'name="_save"' not in page.content.decode()
    assert 'name="_save"' in staff.get(f"/admin/payments/wallet/{PAYER}/change/").content.decode()


@pytest.mark.parametrize(
    ("action", "text"),
    [("mark_refund_due", "Nothing to refund"), ("record_refund", "Nothing to record")],
)
def test_an_action_does_not_ask_where_nothing_could_be_done(staff: Client, action: str, text: str) -> None:
    row = payment(1, state=State.EXPIRED, settled_at=None, tx_hash=None)
    page = staff.post(PAYMENTS, {"action": action, "_selected_action": [str(row.pk)]}, follow=True)
    assert text in page.content.decode()
    assert 'name="confirmed"' not in page.content.decode()
    row.refresh_from_db()
    assert row.state == State.EXPIRED


@pytest.mark.parametrize("listed", ["payments/price", "payments/payment", "accounts/account", "catalogue/restaurant"])
def test_a_nul_in_an_address_is_refused_in_words(staff: Client, listed: str) -> None:
    for query in ("product__slug__exact=%00", "state__exact=a%00", "q=%00", "%00=1"):
        page = staff.get(f"/admin/{listed}/?{query}")
        assert (page.status_code, "Invalid address" in page.content.decode()) == (400, True)
