"""The account: its venues, what it takes with it, and its end."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.lifecycle import closure
from accounts.models import Account, ApiKey, Membership, User, Venue
from orders.models import Order
from payments.models import Plan, Wallet
from reservations.models import Reservation
from tests.support import builders, users

PASSWORD = "correct horse battery staple"


def owner_of(venue: Venue) -> Client:
    """An owner who has just typed the password."""
    cache.clear()
    person = users.user(password=PASSWORD)
    users.membership(venue, person=person)
    client = Client()
    client.post("/account/login/", {"login": person.email, "password": PASSWORD})
    # Having signed in is not enough: a browser may have been left open.
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    return client


def page_of(venue: Venue, rest: str = "") -> str:
    """The address of the account's pages."""
    return f"/dashboard/{venue.public_id}/account{rest}"


def test_an_owner_adds_a_sandbox(venue: Venue) -> None:
    answer = users.member(venue).post(
        page_of(venue, "/venues"),
        {"name": "Try-out", "timezone": "Asia/Tokyo", "currency": "JPY", "is_sandbox": "on"},
    )
    added = Venue.objects.get(name="Try-out")
    assert answer["Location"] == f"/dashboard/{added.public_id}"
    assert (added.account, added.timezone, added.currency, added.is_sandbox) == (
        venue.account,
        "Asia/Tokyo",
        "JPY",
        True,
    )


@pytest.mark.parametrize("wrong", [{"timezone": "Mars/Base"}, {"currency": "eur"}, {"name": ""}, {"name": "\x00"}])
def test_a_venue_that_makes_no_sense_is_not_added(venue: Venue, wrong: dict[str, str]) -> None:
    answer = users.member(venue).post(
        page_of(venue, "/venues"), {"name": "Bar", "timezone": "UTC", "currency": "EUR"} | wrong
    )
    assert answer.status_code == 400
    assert venue.account.venues.count() == 1


def test_an_owner_takes_everything_but_secrets(venue: Venue, other_venue: Venue) -> None:
    client, key = owner_of(venue), builders.key(venue)
    order, theirs = builders.order(venue), builders.order(other_venue)
    builders.reservation(venue)
    answer = client.post(page_of(venue, "/file"))
    packed = b"".join(answer)
    archive = zipfile.ZipFile(io.BytesIO(packed))
    held = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert {name: len(rows) for name, rows in held.items()} == {
        "account.json": 1,
        "billing.json": 0,
        "invoices.json": 0,
        "members.json": 1,
        "invitations.json": 0,
        "venues.json": 1,
        "keys.json": 1,
        "apps.json": 0,
        "grants.json": 0,
        "webhooks.json": 0,
        "staff_access.json": 0,
        "requests.json": 0,
        "orders.json": 1,
        "menus.json": 0,
        "reservations.json": 1,
        "payments.json": 0,
    }
    assert held["orders.json"][0]["id"] == order.public_id != theirs.public_id
    assert key.text not in str(held)


def test_full_data_export_asks_for_the_password_first(venue: Venue) -> None:
    answer = users.member(venue, person=users.user(password=PASSWORD)).post(page_of(venue, "/file"))
    assert answer["Location"].startswith("/account/reauthenticate/")


@pytest.mark.parametrize("rest", ["", "/close"])
def test_the_account_is_the_owners_alone(venue: Venue, other_venue: Venue, rest: str) -> None:
    manager = users.member(venue, "manager")
    assert manager.get(page_of(venue, rest)).status_code == 403
    assert manager.get(page_of(other_venue, rest)).status_code == 404
    assert Client().get(page_of(venue, rest)).status_code == 302


@pytest.mark.exhaustive
def test_a_closed_account_ends_at_once_for_everybody(venue: Venue) -> None:
    client, api = owner_of(venue), builders.client(venue)
    client.post(page_of(venue, "/close"), {"name": "Trattoria Ltd"})
    assert Account.objects.get().closed_at is not None
    assert api.get("/api/v1/orders").status_code == 401
    assert client.get(page_of(venue)).status_code == 404


def test_closing_needs_the_name(venue: Venue) -> None:
    answer = owner_of(venue).post(page_of(venue, "/close"), {"name": "Trattoria"})
    assert answer.status_code == 400
    assert Account.objects.get().closed_at is None


@pytest.mark.exhaustive
def test_an_account_with_a_contract_says_why_it_stays(venue: Venue) -> None:
    Plan.objects.create(name="C-1", account=venue.account, valid_from=timezone.now())
    client = owner_of(venue)
    assert "The account has a contract with us." in client.get(page_of(venue, "/close")).content.decode()
    client.post(page_of(venue, "/close"), {"name": "Trattoria Ltd"})
    assert Account.objects.get().closed_at is None


def test_staff_can_undo_it_for_30_days(venue: Venue) -> None:
    now = timezone.now()
    closure.close_account(venue.account, name="Trattoria Ltd", now=now)
    staff = builders.staff()
    chosen = {"action": "reopen", "_selected_action": [str(venue.account_id)], "confirmed": "yes"}
    staff.post("/admin/accounts/account/", chosen)
    assert Account.objects.get(pk=venue.account_id).closed_at is None
    Account.objects.update(closed_at=now - timedelta(days=30))
    with pytest.raises(closure.CannotReopen):
        closure.reopen_account(venue.account, now=now)


@pytest.mark.exhaustive
def test_30_days_later_all_of_it_is_gone_and_nothing_else(
    venue: Venue, other_venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closure, "BATCH", 2)
    for _ in range(3):
        builders.order(venue)
    builders.table(venue)
    builders.reservation(venue)
    builders.menu(venue)
    builders.order(other_venue)
    person = users.membership(venue).user
    now = timezone.now()
    closure.close_account(venue.account, name="Trattoria Ltd", now=now)
    assert closure.delete_closed_accounts(now=now + timedelta(days=29)) == 0
    assert closure.delete_closed_accounts(now=now + timedelta(days=30)) == 1
    assert list(Venue.objects.all()) == [other_venue]
    assert [order.venue for order in Order.objects.all()] == [other_venue]
    assert not Reservation.objects.exists()
    assert not Membership.objects.exists()
    assert not ApiKey.objects.exists()
    # People may be in other teams.
    assert User.objects.filter(pk=person.pk).exists()


def test_a_wallet_outlives_its_account(venue: Venue) -> None:
    Wallet.objects.create(address="0x" + "a" * 40, account=venue.account)
    now = timezone.now()
    closure.close_account(venue.account, name="Trattoria Ltd", now=now)
    closure.delete_closed_accounts(now=now + closure.DELETION_DELAY)
    assert Wallet.objects.get().account is None


def test_user_can_delete_their_profile_unless_they_are_the_last_owner(venue: Venue) -> None:
    client = owner_of(venue)
    page = client.post("/dashboard/you/delete", follow=True).content.decode()
    assert "You are the only owner of Trattoria Ltd." in page
    users.membership(venue)
    client.post("/dashboard/you/delete")
    assert Membership.objects.get().user.email.startswith("person")
    assert User.objects.count() == 1


def test_names_of_accounts_are_text(venue: Venue, client: Any) -> None:
    Account.objects.update(name="<b>x</b>")
    page = users.member(venue).get(page_of(venue)).content.decode()
    assert "<b>x</b>" not in page
