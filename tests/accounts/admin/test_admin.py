"""The back office of accounts: its pages, and keys that are issued, shown once and revoked."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, ApiKey, Membership, User, Venue
from accounts.models.api_keys import CannotExtendExpiry, all_scopes
from tests.support import builders
from tests.support.html import form_of

KEYS = "/admin/accounts/apikey/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def key_fields(venue: Venue, **changes: Any) -> dict[str, Any]:
    """What the form of a key sends."""
    return {"venue": str(venue.pk), "name": "Till", "allowance": "1000", "scopes": all_scopes()} | changes


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["user", "account", "venue", "apikey"])
def test_the_pages_of_a_model_open(
    staff: Client, venue: Venue, model: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """The session, the user and what the page shows."""
    key = ApiKey.create(venue, name="test").row
    user = User.objects.create_user("ada@example.com")
    Membership.objects.create(account=venue.account, user=user, role="owner")
    row = {"user": user, "account": venue.account, "venue": venue, "apikey": key}[model]
    pages = [
        reverse(f"admin:accounts_{model}_changelist"),
        f"{reverse(f'admin:accounts_{model}_changelist')}?q=trattoria+a",
        reverse(f"admin:accounts_{model}_add"),
        reverse(f"admin:accounts_{model}_change", args=[row.pk]),
    ]
    for page in pages:
        with django_assert_max_num_queries(10):
            assert staff.get(page).status_code == 200


@pytest.mark.exhaustive
def test_a_list_of_keys_costs_the_same_for_one_and_for_forty(
    staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            ApiKey.create(builders.venue(), name="test")
        # Session, user, two counts, rows, saved filters.
        with django_assert_num_queries(6):
            staff.get(KEYS)


@pytest.mark.exhaustive
def test_a_new_key_is_shown_once_and_works(staff: Client, venue: Venue) -> None:
    response = staff.post(f"{KEYS}add/", key_fields(venue, allowance="500"))
    assert response.status_code == 302
    shown = next(text for text in builders.messages_of(response) if "shown only once" in text)
    key = re.search(r"rk_live_\w{46}", shown)
    assert key is not None
    row = ApiKey.objects.get()
    assert (row.name, row.allowance, row.start, row.end) == ("Till", 500, key[0][:12], key[0][-4:])
    assert builders.client_with(key[0]).get("/api/v1/orders")["X-RateLimit-Limit"] == "500"
    assert key[0] in staff.get(KEYS).content.decode()
    for page in (KEYS, f"{KEYS}{row.pk}/change/", f"{KEYS}{row.pk}/history/"):
        assert key[0] not in staff.get(page).content.decode()
    assert LogEntry.objects.get().object_id == str(row.pk)


def test_saving_a_key_again_leaves_its_secret_and_its_venue(staff: Client, venue: Venue, other_venue: Venue) -> None:
    issued = ApiKey.create(venue, name="old")
    response = staff.post(f"{KEYS}{issued.row.pk}/change/", key_fields(other_venue, name="new", allowance="7"))
    assert response.status_code == 302
    row = ApiKey.objects.with_text(issued.text).get()
    assert (row.name, row.allowance, row.venue) == ("new", 7, venue)


def test_an_allowance_of_nothing_is_refused_in_the_form(staff: Client, venue: Venue) -> None:
    response = staff.post(f"{KEYS}add/", key_fields(venue, allowance="0"))
    assert response.status_code == 200
    assert not ApiKey.objects.exists()


@pytest.mark.exhaustive
def test_a_zone_that_does_not_exist_is_refused_in_the_form(staff: Client, venue: Venue) -> None:
    form = staff.get(f"/admin/accounts/venue/{venue.pk}/change/").context["adminform"].form
    fields = {name: "" if value in (None, []) else value for name, value in form.initial.items()}
    path = f"/admin/accounts/venue/{venue.pk}/change/"
    assert staff.post(path, fields | {"timezone": "Europe/Rom"}).status_code == 200
    assert staff.post(path, fields | {"timezone": "Asia/Tokyo", "currency": "yen"}).status_code == 200
    venue.refresh_from_db()
    assert (venue.timezone, venue.currency) == ("Europe/Rome", "EUR")
    assert staff.post(path, fields | {"timezone": "Asia/Tokyo"}).status_code == 302


@pytest.mark.exhaustive
def test_a_restaurant_stays_in_its_account(staff: Client, venue: Venue, other_venue: Venue) -> None:
    """Its keys and the webhooks of its apps would go with it."""
    account, path = venue.account, f"/admin/accounts/venue/{venue.pk}/change/"
    form = staff.get(path).context["adminform"].form
    fields = {name: "" if value in (None, []) else value for name, value in form.initial.items()}
    response = staff.post(path, fields | {"name": "Moved", "account": str(other_venue.account_id)})
    venue.refresh_from_db()
    assert (response.status_code, venue.name, venue.account) == (302, "Moved", account)


def test_revoking_is_at_once_and_counts_only_those_that_worked(staff: Client, venue: Venue) -> None:
    first, second = ApiKey.create(venue, name="first"), ApiKey.create(venue, name="second")
    for selected, message in (([first], "1 revoked."), ([first, second], "1 revoked.")):
        chosen = {"action": "revoke", "_selected_action": [str(issued.row.pk) for issued in selected]}
        assert "1 API key:" in staff.post(KEYS, chosen).content.decode()
        response = staff.post(KEYS, chosen | {"confirmed": "yes"})
        assert builders.messages_of(response)[-1] == message
    assert builders.client_with(first.text).get("/api/v1/orders").json()["error"]["code"] == "revoked_api_key"


def test_a_family_is_revoked_whole(staff: Client, venue: Venue) -> None:
    old, other = (ApiKey.create(venue, name="Till").row for _ in range(2))
    old.rotate(overlap=timedelta(days=1), now=datetime.now(UTC))
    chosen = {"action": "revoke_families", "_selected_action": [str(old.pk)]}
    assert "2 API keys:" in staff.post(KEYS, chosen).content.decode()
    response = staff.post(KEYS, chosen | {"confirmed": "yes"})
    assert builders.messages_of(response)[-1] == "2 revoked."
    assert list(ApiKey.objects.filter(revoked_at=None)) == [other]


def test_a_key_is_limited_to_scopes_by_boxes(staff: Client, venue: Venue) -> None:
    page = staff.get(f"{KEYS}add/").content.decode()
    assert len(re.findall(r'<input type="checkbox" name="scopes" value="[a-z:]+"[^>]* checked>', page)) == 5
    staff.post(f"{KEYS}add/", key_fields(venue, scopes=["orders:read"]))
    row = ApiKey.objects.get()
    assert row.scopes == ["orders:read"]
    staff.post(f"{KEYS}{row.pk}/change/", key_fields(venue, scopes=["orders:read", "reservations:read"]))
    row.refresh_from_db()
    assert row.scopes == ["orders:read", "reservations:read"]
    staff.post(f"{KEYS}{row.pk}/change/", key_fields(venue, scopes=[]))
    row.refresh_from_db()
    assert row.scopes == []


def test_an_end_is_set_and_taken_back(staff: Client, venue: Venue) -> None:
    row = ApiKey.create(venue, name="Till").row
    day = {"expires_at_0": "2031-01-31", "expires_at_1": "12:00:00"}
    for fields, end in ((day, datetime(2031, 1, 31, 12, 0, tzinfo=UTC)), ({}, None)):
        staff.post(f"{KEYS}{row.pk}/change/", key_fields(venue, **fields))
        row.refresh_from_db()
        assert row.expires_at == end


def test_saving_a_form_that_was_opened_before_does_not_undo_a_rotation(staff: Client, venue: Venue) -> None:
    issued = ApiKey.create(venue, name="Till")
    path = f"{KEYS}{issued.row.pk}/change/"
    form = form_of(staff.get(path), "apikey_form")
    issued.row.rotate(overlap=timedelta(0), now=NOON)
    ApiKey.objects.filter(pk=issued.row.pk).update(allowance=7, scopes=["orders:read"])
    assert staff.post(path, form | {"name": "another"}).status_code == 302
    row = ApiKey.objects.get(pk=issued.row.pk)
    assert (row.name, row.expires_at, row.allowance, row.scopes) == ("another", NOON, 7, ["orders:read"])
    assert builders.client_with(issued.text).get("/api/v1/orders").status_code == 401


def test_what_was_shown_is_remembered_when_a_form_is_refused(staff: Client, venue: Venue) -> None:
    row = ApiKey.create(venue, name="Till", scopes=[]).row
    path = f"{KEYS}{row.pk}/change/"
    form = form_of(staff.get(path), "apikey_form")
    end = {"expires_at_0": "2031-01-31", "expires_at_1": "12:00:00"}
    refused = staff.post(path, form | end | {"scopes": ["orders:read"], "name": ""})
    assert refused.status_code == 200
    form = form_of(refused, "apikey_form")
    ApiKey.objects.update(allowance=7)
    assert staff.post(path, form | {"name": "another"}).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.expires_at, row.scopes, row.allowance) == (
        "another",
        datetime(2031, 1, 31, 12, 0, tzinfo=UTC),
        ["orders:read"],
        7,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("ends", ["rotated", "revoked"])
@pytest.mark.parametrize("day", ["", "2031-02-01"])
def test_a_key_that_was_replaced_or_revoked_ends_no_later(staff: Client, venue: Venue, ends: str, day: str) -> None:
    end = datetime(2031, 1, 31, tzinfo=UTC)
    row = ApiKey.create(venue, name="Till", expires_at=end).row
    if ends == "rotated":
        row.rotate(overlap=timedelta(days=9999), now=NOON)
    else:
        row.revoke(now=NOON)
    path = f"{KEYS}{row.pk}/change/"
    form = form_of(staff.get(path), "apikey_form")
    later = {"expires_at_0": day, "expires_at_1": "00:00:00" if day else ""}
    refused = staff.post(path, form | later)
    assert refused.status_code == 200
    assert refused.context["adminform"].errors == {
        "expires_at": [f"The key {row.masked} was revoked or rotated: its expiry cannot be extended."]
    }
    row.refresh_from_db()
    assert row.expires_at == end
    assert staff.post(path, form | {"expires_at_0": "2031-01-30"}).status_code == 302
    row.refresh_from_db()
    assert row.expires_at == end - timedelta(days=1)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_key_is_not_prolonged_beside_its_rotation() -> None:
    # Ends so soon that the rotation leaves its end as it is.
    row = ApiKey.create(builders.venue(), name="Till", expires_at=NOON + timedelta(hours=1)).row
    held, seen = Event(), Event()

    def rotate() -> None:
        try:
            with transaction.atomic():
                ApiKey.objects.get(pk=row.pk).rotate(overlap=timedelta(days=1), now=NOON)
                held.set()
                seen.wait(timeout=0.5)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        rotated = threads.submit(rotate)
        assert held.wait(timeout=10)
        with transaction.atomic(), pytest.raises(CannotExtendExpiry):
            row.check_expiry_not_extended(None)
        rotated.result()


@time_machine.travel(NOON, tick=False)
def test_a_key_is_not_made_that_has_ended_already(staff: Client, venue: Venue) -> None:
    over = {"expires_at_0": "2026-11-21", "expires_at_1": "12:00:00"}
    refused = staff.post(f"{KEYS}add/", key_fields(venue, **over))
    assert refused.status_code == 200
    assert refused.context["adminform"].errors == {"expires_at": ["This time is in the past."]}
    assert not ApiKey.objects.exists()
    assert staff.post(f"{KEYS}add/", key_fields(venue, **over | {"expires_at_1": "12:00:01"})).status_code == 302


@time_machine.travel(NOON, tick=False)
def test_rotating_asks_for_the_overlap_and_shows_the_new_key_once(staff: Client, venue: Venue) -> None:
    old = ApiKey.create(venue, name="Till").row
    selected = {"action": "rotate", "_selected_action": [str(old.pk)]}
    asked = staff.post(KEYS, selected)
    assert (asked.status_code, ApiKey.objects.count()) == (200, 1)
    assert f"<li><bdi>{old}</bdi>, <bdi>Trattoria</bdi></li>" in asked.content.decode()
    response = staff.post(KEYS, selected | {"confirmed": "Rotate keys", "overlap": "1"})
    key = re.search(r"rk_live_\w{46}", builders.messages_of(response)[-1])
    assert key is not None
    assert builders.messages_of(response)[-1] == f"Replacement of {old} (shown only once): {key[0]}"
    old.refresh_from_db()
    new = ApiKey.objects.with_text(key[0]).get()
    assert (old.expires_at, new.family) == (NOON + timedelta(hours=1), old.family)
    assert LogEntry.objects.get().object_id == str(new.pk)
    assert key[0] not in LogEntry.objects.get().change_message
    again = staff.post(KEYS, selected | {"confirmed": "Rotate keys", "overlap": "0"})
    assert builders.messages_of(again)[-1] == (
        f"The key {old.masked} was already replaced by {new.masked}; rotate that one."
    )
    assert ApiKey.objects.count() == 2


@pytest.mark.exhaustive
def test_all_keys_that_were_selected_are_rotated_not_those_of_one_page(staff: Client, venue: Venue) -> None:
    keys = [ApiKey.create(venue, name="Till").row for _ in range(101)]
    asked = staff.post(KEYS, {"action": "rotate", "_selected_action": [str(keys[0].pk)], "select_across": "1"})
    page = asked.content.decode()
    assert (page.count("<li><bdi>Till"), "… and 81 more" in page) == (20, True)
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    response = staff.post(KEYS, sent | {"confirmed": "Rotate keys", "overlap": "0"})
    assert len(builders.messages_of(response)) == 101
    assert ApiKey.objects.active(datetime.now(UTC)).count() == 101
    assert ApiKey.objects.count() == 202


def test_an_overlap_that_is_not_offered_rotates_nothing(staff: Client, venue: Venue) -> None:
    old = ApiKey.create(venue, name="Till").row
    for overlap in ("4", "", "-1"):
        asked = staff.post(
            KEYS, {"action": "rotate", "_selected_action": [str(old.pk)], "confirmed": "Yes", "overlap": overlap}
        )
        assert asked.status_code == 200
    assert ApiKey.objects.count() == 1


def test_a_key_cannot_be_deleted(staff: Client, venue: Venue) -> None:
    row = ApiKey.create(venue, name="test").row
    assert staff.post(f"{KEYS}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert staff.post(KEYS, {"action": "delete_selected", "_selected_action": [str(row.pk)]}).status_code == 302
    assert ApiKey.objects.filter(pk=row.pk, revoked_at=None).exists()


@pytest.mark.exhaustive
def test_staff_who_may_only_look_cannot_revoke(venue: Venue) -> None:
    row = ApiKey.create(venue, name="test").row
    user = User.objects.create_user("host@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_apikey"))
    host = Client()
    host.force_login(user)
    assert host.get(KEYS).status_code == 200
    for action in ("revoke", "revoke_families", "rotate"):
        host.post(KEYS, {"action": action, "_selected_action": [str(row.pk)], "confirmed": "yes", "overlap": "0"})
    assert host.get("/admin/accounts/venue/").status_code == 403
    row.refresh_from_db()
    assert (row.revoked_at, row.expires_at, ApiKey.objects.count()) == (None, None, 1)


@pytest.mark.exhaustive
def test_who_may_not_add_keys_cannot_rotate_any(venue: Venue) -> None:
    row = ApiKey.create(venue, name="test").row
    user = User.objects.create_user("host@example.com", is_staff=True)
    host = Client()
    host.force_login(user)
    for rights, number in (({"change_apikey"}, 1), ({"add_apikey"}, 1), ({"change_apikey", "add_apikey"}, 2)):
        user.user_permissions.set(Permission.objects.filter(codename__in=rights | {"view_apikey"}))
        page = host.get(KEYS).content.decode()
        assert ('value="rotate"' in page, 'value="revoke"' in page) == (number == 2, "change_apikey" in rights)
        host.post(KEYS, {"action": "rotate", "_selected_action": [str(row.pk)], "confirmed": "yes", "overlap": "0"})
        assert ApiKey.objects.count() == number


@pytest.mark.exhaustive
def test_what_holds_orders_cannot_be_deleted_with_them(staff: Client, venue: Venue) -> None:
    builders.order(venue)
    for path in (f"/admin/accounts/venue/{venue.pk}/delete/", f"/admin/accounts/account/{venue.account_id}/delete/"):
        assert staff.post(path, {"post": "yes"}).status_code in (200, 403)
    assert (Account.objects.count(), Venue.objects.count()) == (1, 1)


def test_only_staff_come_in(db: None, client: Client) -> None:
    for path in ("/admin/", KEYS):
        assert client.get(path)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("guest@example.com"))
    for path in ("/admin/", KEYS):
        assert client.get(path)["Location"] == "/dashboard/"


def test_the_venue_of_the_latest_activity_is_first_with_its_orders_of_7_days(staff: Client) -> None:
    now = timezone.now()
    quiet, old, busy = (builders.venue(name) for name in ("Quiet", "Old", "Busy"))
    builders.order(old, now=now - timedelta(days=8))
    for hours in (1, 2):
        builders.order(busy, now=now - timedelta(hours=hours))
    page = staff.get("/admin/accounts/venue/")
    rows = [(row, row.placed_orders) for row in page.context["cl"].result_list]
    assert rows == [(busy, 2), (old, None), (quiet, None)]
    text = page.content.decode()
    assert re.findall(r'class="sortable column-(\w+) sorted descending"', text) == ["last_activity"]
    by_name = staff.get("/admin/accounts/venue/?o=1").context["cl"].result_list
    assert [row.name for row in by_name] == ["Busy", "Old", "Quiet"]


def test_the_navigation_opens_the_group_of_the_page(staff: Client) -> None:
    page = staff.get("/admin/accounts/venue/").content.decode()
    assert re.findall(r'<details class="module" open><summary>([^<]+)', page) == ["Customers"]
    assert 'class="module" open' not in staff.get("/admin/").content.decode()
