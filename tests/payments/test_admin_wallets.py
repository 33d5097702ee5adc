"""The back office of payments: wallets, and sessions that are revoked."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import Account
from payments.models import Wallet, WalletSession
from tests import make

PAYER = "0x" + "ab" * 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def session() -> WalletSession:
    """A session of a wallet."""
    wallet, _ = Wallet.objects.get_or_create(address=PAYER)
    return WalletSession.objects.create(
        wallet=wallet, nonce="n", digest="secret-digest", created_at=NOW, expires_at=NOW + timedelta(hours=1)
    )


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


def test_staff_say_whose_a_wallet_is(staff: Client) -> None:
    wallet = session().wallet
    account = Account.objects.create(name="Trattoria Ltd")
    staff.post(f"/admin/payments/wallet/{wallet.pk}/change/", {"account": str(account.pk), "tier": "enterprise"})
    wallet.refresh_from_db()
    assert (wallet.account, wallet.tier) == (account, "free")
