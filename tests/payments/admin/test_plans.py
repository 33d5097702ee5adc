"""The back office of payments: plans that are agreed and end, and what tiers promise."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db.models.signals import pre_save
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from payments.models import Plan, TierTerms, Wallet
from payments.pricing import default_products
from payments.tiers import terms
from tests.support import builders

PLANS = "/admin/payments/plan/"
TERMS = "/admin/payments/tierterms/"
ADDRESS = "0x" + "ab" * 20


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def plan(**values: Any) -> Plan:
    """A plan of a wallet that holds since yesterday."""
    if "account" not in values:
        values["wallet"], _ = Wallet.objects.get_or_create(address=ADDRESS)
    return Plan.objects.create(**{"name": "Contract 1", "valid_from": timezone.now() - timedelta(days=1)} | values)


def form(**values: str) -> dict[str, str]:
    """The page of a new plan for the wallet."""
    Wallet.objects.get_or_create(address=ADDRESS)
    body = {"name": "Contract 2", "wallet": ADDRESS, "tier": "enterprise", "price_factor": "0.8", "per_minute": "9000"}
    return body | {"valid_from_0": "2026-11-01", "valid_from_1": "00:00:00"} | values


@pytest.mark.exhaustive
def test_a_concurrent_overlapping_plan_is_refused_on_its_form(staff: Client) -> None:
    wanted = form(note="As we said on the phone")
    faster = Plan(name="Contract 1", wallet_id=ADDRESS, valid_from=datetime(2026, 11, 1, tzinfo=UTC))

    def agree(**_: Any) -> None:
        # After the form was found in order, and before it is stored.
        Plan.objects.bulk_create([faster])

    pre_save.connect(agree, sender=Plan)
    try:
        page = staff.post(f"{PLANS}add/", wanted)
    finally:
        pre_save.disconnect(agree, sender=Plan)
    assert page.status_code == 200
    assert page.context["errors"] == [["Somebody has just written another plan for that time."]]
    # What was filled in is still there.
    assert "As we said on the phone" in page.content.decode()
    assert not Plan.objects.filter(name="Contract 2").exists()


def test_a_plan_is_agreed_with_a_wallet_or_an_account(staff: Client) -> None:
    assert staff.post(f"{PLANS}add/", form()).status_code == 302
    agreed = Plan.objects.get()
    assert (agreed.wallet_id, agreed.per_minute, agreed.price_factor) == (ADDRESS, 9000, Decimal("0.8"))
    account = Account.objects.create(name="Trattoria Ltd")
    assert staff.post(f"{PLANS}add/", form(wallet="", account=str(account.pk))).status_code == 302
    page = staff.get(PLANS).content.decode()
    assert "Trattoria Ltd" in page
    assert "0xabab…abab" in page


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "This wallet has another plan at that time."),
        ({"wallet": ""}, "A plan is either of a wallet or of an account."),
        ({"price_factor": "-1"}, "A price factor is not below zero."),
        ({"per_minute": "0"}, "At least one request a minute, or empty"),
        (
            {"valid_from_0": "2099-02-01", "valid_until_0": "2099-01-01", "valid_until_1": "00:00:00"},
            "A plan ends after it begins.",
        ),
        ({"valid_until_0": "2026-11-02", "valid_until_1": "00:00:00"}, "This time is in the past."),
    ],
)
def test_a_plan_that_cannot_be_is_refused_beside_the_form(staff: Client, values: dict[str, str], why: str) -> None:
    plan()
    page = staff.post(f"{PLANS}add/", form(**values))
    assert page.status_code == 200
    assert why in page.content.decode()
    assert Plan.objects.count() == 1


@pytest.mark.exhaustive
def test_a_plan_that_holds_is_ended_once_and_stays(staff: Client) -> None:
    holds, coming = plan(), plan(name="Next", valid_from=timezone.now() + timedelta(days=9), account=account())
    chosen = {"action": "end", "_selected_action": [str(holds.pk), str(coming.pk)], "confirmed": "yes"}
    assert builders.messages_of(staff.post(PLANS, chosen)) == ["1 ended.", "1 were not in effect."]
    holds.refresh_from_db()
    first = holds.valid_until
    assert first is not None
    assert first <= timezone.now()
    staff.post(PLANS, chosen)
    holds.refresh_from_db()
    coming.refresh_from_db()
    assert (holds.valid_until, coming.valid_until) == (first, None)
    assert staff.post(f"{PLANS}add/", form(valid_from_0="2099-01-01")).status_code == 302


@pytest.mark.exhaustive
def test_plans_are_filtered_by_time(staff: Client) -> None:
    now = timezone.now()
    plan(name="past", valid_from=now - timedelta(days=9), valid_until=now - timedelta(days=2))
    plan(name="now")
    plan(name="future", valid_from=now + timedelta(days=2), account=account())
    for stretch, name in (("current", "now"), ("upcoming", "future"), ("ended", "past")):
        found = staff.get(f"{PLANS}?time={stretch}").context["cl"].result_list
        assert [row.name for row in found] == [name]
    assert [row.name for row in staff.get(f"{PLANS}?q=0xABab").context["cl"].result_list] == ["now", "past"]


def test_of_a_plan_that_has_begun_only_its_end_and_words_are_edited(staff: Client) -> None:
    row = plan()
    changed = form(
        name="Renamed", tier="pro", price_factor="0.1", valid_until_0="2099-01-01", valid_until_1="00:00:00"
    )
    assert staff.post(f"{PLANS}{row.pk}/change/", changed).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.tier, row.price_factor) == ("Renamed", "enterprise", Decimal(1))
    assert row.valid_until is not None
    assert terms.end_plans([row.pk], now=timezone.now()) == 1
    assert staff.post(f"{PLANS}{row.pk}/change/", form(name="Again", note="Paid in full")).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.note) == ("Renamed", "Paid in full")


def test_only_a_plan_that_has_not_started_can_be_deleted(staff: Client) -> None:
    held, coming = plan(), plan(name="Next", valid_from=timezone.now() + timedelta(days=9), account=account())
    assert staff.post(f"{PLANS}{held.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post(PLANS, {"action": "delete_selected", "_selected_action": str(held.pk), "post": "yes"})
    assert staff.post(f"{PLANS}{coming.pk}/delete/", {"post": "yes"}).status_code == 302
    assert Plan.objects.get() == held


@pytest.mark.exhaustive
def test_the_list_of_plans_costs_the_same_for_one_and_for_many(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        plan(name=f"Contract {number}", account=account())
        # Session, user, count, rows, saved filters; the list's time, and this test's savepoint around it.
        with django_assert_num_queries(8):
            assert staff.get(PLANS).status_code == 200


@pytest.mark.exhaustive
def test_what_a_tier_promises_is_worded_by_staff_but_tiers_are_fixed(staff: Client) -> None:
    default_products.create_missing()
    text = {"support": "e-mail, within a day", "priority": "priority", "sla": "99.5 %", "tier": "free"}
    assert staff.post(f"{TERMS}pro/change/", text).status_code == 302
    pro = TierTerms.objects.get(pk="pro")
    assert (pro.support, pro.priority, pro.sla) == ("e-mail, within a day", "priority", "99.5 %")
    assert TierTerms.objects.count() == 4
    listed = staff.get(TERMS)
    assert [row.tier for row in listed.context["cl"].result_list] == ["free", "pro", "premium", "enterprise"]
    assert staff.get(f"{TERMS}add/").status_code == 403
    assert staff.post(f"{TERMS}pro/delete/", {"post": "yes"}).status_code == 403
    assert "/v1/me" in staff.get(f"{TERMS}pro/change/").content.decode()


def account() -> Account:
    """An account of its own."""
    return Account.objects.create(name="Trattoria Ltd")
