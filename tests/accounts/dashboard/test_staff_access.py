"""Each opening of a dashboard by our own staff is stored, and its owner can read it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.data_export import FILES
from accounts.lifecycle import closure
from accounts.models import StaffAccess, User, Venue
from accounts.tenancy import staff_access
from accounts.tenancy.permissions import get_access
from tests.support import builders, users

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def support() -> Client:
    person = users.user("support@example.com", is_staff=True)
    person.groups.add(Group.objects.get_or_create(name="Support")[0])
    return users.signed_in(person)


def home(venue: Venue) -> str:
    return f"/dashboard/{venue.public_id}"


@pytest.mark.exhaustive
def test_an_opening_is_stored_once_an_hour_for_each_user_and_venue(
    venue: Venue, other_venue: Venue, support: Client
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        for path in ("", "/orders", "/keys"):
            assert support.get(home(venue) + path).status_code == 200
        builders.staff().get(home(venue))
        support.get(home(other_venue))
        clock.shift(timedelta(minutes=59))
        support.get(home(venue))
        clock.shift(timedelta(minutes=1))
        support.get(home(venue))
    rows = StaffAccess.objects.order_by("opened_at", "id").values_list("venue__name", "email", "opened_at")
    assert list(rows) == [
        (venue.name, "support@example.com", NOON),
        (venue.name, "staff@example.com", NOON),
        (other_venue.name, "support@example.com", NOON),
        (venue.name, "support@example.com", NOON + timedelta(hours=1)),
    ]


@pytest.mark.exhaustive
def test_members_and_refused_pages_are_not_stored(venue: Venue) -> None:
    finance = users.user("finance@example.com", is_staff=True)
    finance.groups.add(Group.objects.get_or_create(name="Finance")[0])
    for client in (users.member(venue), users.member(venue, person=users.user(is_staff=True))):
        assert client.get(home(venue)).status_code == 200
    assert users.signed_in(finance).get(f"{home(venue)}/orders").status_code == 403
    assert Client().get(home(venue)).status_code == 302
    assert not StaffAccess.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_concurrent_openings_are_stored_once(venue: Venue) -> None:
    access = get_access(User.objects.create_superuser("staff@example.com"), venue.pk)
    assert access

    def record(_: int) -> None:
        staff_access.record(access, now=NOON)
        connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(record, range(8)))
    assert StaffAccess.objects.count() == 1


def test_a_row_never_changes(venue: Venue, support: Client) -> None:
    support.get(home(venue))
    with pytest.raises(ProgrammingError), transaction.atomic():
        StaffAccess.objects.update(email="somebody@example.com")
    assert StaffAccess.objects.get().email == "support@example.com"


@pytest.mark.exhaustive
def test_the_owner_reads_the_openings_and_exports_them(venue: Venue, other_venue: Venue, support: Client) -> None:
    owner = users.member(venue)
    account = f"{home(venue)}/account"
    assert "No Tablewire staff have opened your dashboard." in owner.get(account).content.decode()
    with time_machine.travel(NOON, tick=False):
        support.get(home(venue))
    support.get(home(other_venue))
    page = owner.get(account).content.decode()
    assert page.count("support@example.com") == 1
    assert "21 Nov 2026, 13:00" in page
    assert list(FILES["staff_access"](venue.account)) == [
        {"venue": venue.public_id, "email": "support@example.com", "opened_at": NOON}
    ]


@pytest.mark.exhaustive
def test_the_openings_are_deleted_with_the_account(venue: Venue, other_venue: Venue, support: Client) -> None:
    for each in (venue, other_venue):
        support.get(home(each))
    now = timezone.now()
    closure.close_account(venue.account, name=venue.account.name, now=now)
    assert closure.delete_closed_accounts(now=now + closure.DELETION_DELAY) == 1
    assert StaffAccess.objects.get().venue == other_venue


@pytest.mark.exhaustive
def test_the_history_of_a_venue_shows_the_openings_to_staff_only(venue: Venue, support: Client) -> None:
    history = f"/admin/accounts/venue/{venue.pk}/history/"
    support.get(home(venue))
    assert "support@example.com</bdi>" in support.get(history).content.decode()


@pytest.mark.exhaustive
def test_the_back_office_links_the_dashboard_of_a_venue(venue: Venue, support: Client) -> None:
    link = f'<a href="{home(venue)}">Open dashboard'
    pages = (
        f"/admin/accounts/venue/{venue.pk}/change/",
        f"/admin/accounts/account/{venue.account_id}/change/",
        f"/admin/search/?q={venue.name}",
    )
    for page in pages:
        assert link in support.get(page).content.decode()
    closure.close_account(venue.account, name=venue.account.name, now=timezone.now())
    for page in pages:
        assert link not in support.get(page).content.decode()
