"""What operators run by hand or by cron: the audit and the sweep, and the page of audits."""

import json
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings, settings
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit
from payments.models import Audit, Payment
from tests.payments.buyer import abandoned, buy, paid_by, settled_by_third_party, signed_by
from tests.payments.facilitators import node_answering, serving
from tests.support import builders
from tests.support import wallets as purse

State = Payment.State

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def body(name: str, *words: str) -> Any:
    """The JSON that a command prints; it must not fail."""
    out = StringIO()
    call_command(name, *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def failed(name: str, *words: str) -> tuple[Any, str]:
    """The JSON that a command prints that ends with 1, and its last words."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(name, *words, "--json", stdout=out)
    return json.loads(out.getvalue() or "null"), str(caught.value)


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> int:
    """All blocks are old enough to audit; the number of the first that is of this test."""
    monkeypatch.setattr(chain_audit, "MIN_AGE", timedelta(seconds=-5))
    return reads.read_latest_block_number() + 1


# The sweep
def test_the_command_prints_the_new_state_of_each_open_payment(wallets: Mapping[str, Wallet]) -> None:
    assert body("reconcile_payments") == {"clean": True, "payments": []}
    headers = signed_by(wallets["free"])
    row = abandoned(headers)
    text, words = failed("reconcile_payments")
    one = {"id": row.public_id, "state": "unknown", "error": "How the settlement ended is not known."}
    assert text == {"clean": False, "payments": [one]}
    assert words.startswith("1 of them are still open")
    Payment.objects.update(claimed_at=timezone.now() - timedelta(minutes=1))
    settled_by_third_party(headers)
    settled = {"id": row.public_id, "state": "settled", "error": ""}
    assert body("reconcile_payments") == {"clean": True, "payments": [settled]}


@pytest.mark.exhaustive
def test_the_sweep_goes_on_until_nothing_is_open_or_its_time_is_over(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"])
    # Somebody is settling it for another second.
    abandoned(headers, ago=timedelta(seconds=14))
    settled_by_third_party(headers)
    assert body("reconcile_payments", "--until-clean")["payments"][0]["state"] == "settled"
    abandoned(signed_by(wallets["free"]), ago=timedelta(seconds=14))
    text, _ = failed("reconcile_payments", "--until-clean", "--within", "0")
    assert [one["state"] for one in text["payments"]] == ["claimed"]


def test_the_sweep_speaks_to_people(wallets: Mapping[str, Wallet]) -> None:
    out = StringIO()
    call_command("reconcile_payments", stdout=out)
    assert out.getvalue() == "None was open.\n"
    row = abandoned(signed_by(wallets["free"]))
    with pytest.raises(CommandError):
        call_command("reconcile_payments", stdout=out)
    assert f"{row.public_id}  unknown  How the settlement ended is not known.\n1 were open." in out.getvalue()


# The audit
def test_an_audit_that_finds_nothing_wrong_ends_well(wallets: Mapping[str, Wallet], old: int) -> None:
    buy(paid_by(wallets["free"]))
    purse.transfer_usdc(wallets["pro"], settings.PAY_TO, Decimal("0.5"))
    assert body("audit_payments", "--from-block", str(old)) == {
        "first_block": old,
        "last_block": old + 1,
        "transfers": 2,
        "arrived_usdc": "0.502000",
        "ledger_usdc": "0.502000",
        "orphans": 1,
        "differences": [],
    }
    assert body("audit_payments")["first_block"] is None


def test_an_audit_that_finds_a_difference_ends_with_1_and_names_it(wallets: Mapping[str, Wallet], old: int) -> None:
    buy(paid_by(wallets["free"]))
    Payment.objects.update(block=old, amount_usdc=Decimal("0.003"))
    text, words = failed("audit_payments", "--from-block", str(old))
    assert [one.startswith(Payment.objects.get().public_id) for one in text["differences"]] == [True]
    assert words == "1 payments in the ledger differ from the chain."
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("audit_payments", "--from-block", str(old), stdout=out)
    assert "1 transfers of 0.002000 USDC have arrived, 0.003000 are in the ledger." in out.getvalue()
    Payment.objects.update(amount_usdc=Decimal("0.002"))


def test_an_audit_without_a_chain_ends_with_1(wallets: Mapping[str, Wallet], settings: LazySettings, old: int) -> None:
    real = settings.RPC_URL
    with serving(node_answering({"eth_getLogs": None, "eth_blockNumber": None})) as server:
        settings.RPC_URL = server.url
        text, words = failed("audit_payments", "--from-block", str(old))
    settings.RPC_URL = real
    assert text is None
    assert words.startswith("The chain cannot be read for a moment.")
    with pytest.raises(CommandError, match="0 or more"):
        call_command("audit_payments", "--from-block", "-1")


# The page
def test_staff_see_an_audit_with_links_to_its_payments_and_change_nothing(
    wallets: Mapping[str, Wallet], old: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    purse.transfer_usdc(wallets["pro"], settings.PAY_TO, Decimal("0.5"))
    (made,) = chain_audit.run(now=timezone.now(), from_block=old)
    orphan = Payment.objects.get()
    made.differences = [f"{orphan.public_id}, refund_due: <b>bold</b>", "something else"]
    made.save()
    staff = builders.staff()
    page = f"/admin/payments/audit/{made.pk}/change/"
    with django_assert_max_num_queries(10):
        listed = staff.get("/admin/payments/audit/")
    assert f"Blocks {old} to {old}" in listed.content.decode()
    with django_assert_max_num_queries(10):
        shown = staff.get(page).content.decode()
    assert shown.count(f'href="/admin/payments/payment/{orphan.pk}/change/"') == 2
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown
    assert "something else" in shown
    assert staff.post(page, {"orphans": "0"}).status_code == 403
    assert staff.get("/admin/payments/audit/add/").status_code == 403
    assert staff.post(f"/admin/payments/audit/{made.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Audit.objects.get(pk=made.pk).orphans == 1
    assert payment_network().caip2 in shown
