"""The back office of payments: wallets, and sessions that are revoked."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from payments.models import Plan, Wallet, WalletSession
from tests.support import builders

PAYER = "0x" + "ab" * 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


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


def test_revoking_a_session_is_for_good_and_keeps_the_first_moment(staff: Client) -> None:
    row = session()
    chosen = {"action": "revoke", "_selected_action": str(row.pk), "confirmed": "yes"}
    response = staff.post("/admin/payments/walletsession/", chosen)
    assert builders.messages_of(response) == ["1 revoked."]
    row.refresh_from_db()
    first = row.revoked_at
    assert first is not None
    assert builders.messages_of(staff.post("/admin/payments/walletsession/", chosen))[-1] == "0 revoked."
    row.refresh_from_db()
    assert row.revoked_at == first


def test_staff_say_whose_a_wallet_is(staff: Client) -> None:
    wallet = session().wallet
    account = Account.objects.create(name="Trattoria Ltd")
    staff.post(f"/admin/payments/wallet/{wallet.pk}/change/", {"account": str(account.pk), "tier": "enterprise"})
    wallet.refresh_from_db()
    assert (wallet.account, wallet.tier) == (account, "free")


def test_the_page_of_a_wallet_tells_what_it_held_holds_and_paid(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    wallet = session().wallet
    Wallet.objects.update(pending_tier="pro", pending_tier_at=NOW)
    address = f"/admin/payments/wallet/{wallet.pk}/change/"
    assert "<polyline" not in staff.get(address).content.decode()
    for number in range(30):
        wallet.snapshots.create(
            read_at=NOW + timedelta(minutes=number), tier="pro", holdings_usd=Decimal(100 + number), staked=0
        )
    Plan.objects.create(name="Contract 1", wallet=wallet, valid_from=NOW)
    # Session, user, wallet, account choices, readings, payments, plans, sessions, and who may change an account.
    with django_assert_num_queries(7):
        page = staff.get(address).content.decode()
    assert "Holdings of 30 readings, at most 129 USD" in page
    assert "2026-11-21 12:29 UTC: 129 USD, 0 staked, pro" in page
    assert "pro, 2026-11-21 12:00 UTC if the holding remains" in page
    assert "0 payments, 0 USDC" in page
    assert "Contract 1" in page
    assert "secret-digest" not in page


def test_wallets_are_found_by_the_beginning_of_their_address(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session()
    Wallet.objects.create(address="0x" + "cd" * 20)
    for query, count in (("0xAB", 1), ("0x", 2), ("ab", 0)):
        # Session, user, count, rows, saved filters; the list's time, and this test's savepoint around it.
        with django_assert_num_queries(8):
            assert len(staff.get(f"/admin/payments/wallet/?q={query}").context["cl"].result_list) == count
