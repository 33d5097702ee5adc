"""Refunds below REFUND_MIN_USDC: recorded, kept out of the queue, and written off by staff."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from payments.ledger import payment_history, transitions
from payments.models import Payment
from tests.payments.admin.test_admin import HASH, PAYMENTS, found, refund
from tests.payments.ledger_builders import payment, refund_due
from tests.support import builders

State = Payment.State
DUST = Decimal("0.000999")


@pytest.fixture
def staff(db: None) -> Client:
    return builders.staff()


@pytest.fixture(autouse=True)
def _minimum(settings: Settings) -> None:
    settings.REFUND_MIN_USDC = Decimal("0.001")


def write_off(client: Client, *rows: Payment, confirmed: bool = True) -> list[str]:
    """Write these refunds off; return the messages."""
    chosen = {"action": "write_off", "_selected_action": [str(row.pk) for row in rows]}
    return builders.messages_of(client.post(PAYMENTS, chosen | ({"confirmed": "yes"} if confirmed else {})))


@pytest.mark.exhaustive
def test_dust_is_recorded_and_does_not_fill_the_refund_queue(staff: Client) -> None:
    due = refund_due(1, amount_usdc=Decimal("0.001"))
    dust = [refund_due(number, amount_usdc=DUST) for number in range(2, 40)]
    assert found(staff, "refund=due") == {due.tx_hash}
    assert found(staff, "refund=small") == {row.tx_hash for row in dust}
    page = staff.get(PAYMENTS).content.decode()
    assert "<b>0.001000 USDC</b> in refunds due now:\n  1 payment of 1 wallet." in page
    assert "below the minimum" in page
    rows = b"".join(staff.get(f"{PAYMENTS}refunds_due.csv")).decode().splitlines()
    assert rows[1:] == [f"{due.payer},0.001000,{due.public_id}"]
    assert {row.state for row in Payment.objects.all()} == {State.REFUND_DUE}


def test_staff_write_off_refunds_below_the_minimum_only(staff: Client) -> None:
    due, dust, settled = refund_due(1), refund_due(2, amount_usdc=DUST), payment(3, amount_usdc=DUST)
    spendable = refund_due(4, amount_usdc=DUST, error="wrong_amount", settled_at=timezone.now())
    assert write_off(staff, due, dust, settled, spendable) == [
        "1 written off.",
        "3 not changed: no refund below the minimum is due now.",
    ]
    dust.refresh_from_db()
    assert (dust.state, dust.error) == (State.REFUND_DUE, "written_off: too_old")
    assert payment_history.get_reason(dust) == ("written_off", "too_old")
    last = dust.events.latest("pk")
    assert (last.error, last.actor) == ("written_off: too_old", "staff:staff@example.com")
    assert found(staff, "refund=small") == set()
    assert found(staff, "refund=written_off") == {dust.tx_hash}
    assert write_off(staff, dust)[0] == "0 written off."


def test_a_written_off_refund_buys_nothing_and_can_still_be_sent(staff: Client, settings: Settings) -> None:
    dust = refund_due(1, amount_usdc=DUST, error="wrong_amount", settled_at=timezone.now() - timedelta(minutes=20))
    write_off(staff, dust)
    dust.refresh_from_db()
    assert not transitions.spend_refund_due(dust, now=timezone.now() - timedelta(minutes=15))
    # A lower minimum brings nothing back that was decided.
    settings.REFUND_MIN_USDC = Decimal(0)
    assert found(staff, "refund=due") == set()
    assert refund(staff, dust, tx_hash=HASH)[0].startswith("1 refunds recorded")
    dust.refresh_from_db()
    assert dust.state == State.REFUNDED


def test_a_write_off_is_confirmed_first(staff: Client) -> None:
    dust = refund_due(1, amount_usdc=DUST)
    chosen = {"action": "write_off", "_selected_action": [str(dust.pk)]}
    page = staff.post(PAYMENTS, chosen).content.decode()
    assert "1 refund, 0.000999 USDC in total, will be written off." in page
    dust.refresh_from_db()
    assert dust.error == "too_old"
