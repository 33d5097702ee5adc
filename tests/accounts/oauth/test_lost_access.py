"""What ends with the access of an app: its grant for good, and the webhook endpoints that it has created."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.lifecycle import closure
from accounts.models import Account, Membership, OAuthGrant, User, Venue, WebhookEndpoint
from accounts.oauth import access, registration
from accounts.tenancy import team
from accounts.tenancy.permissions import Access, get_access
from accounts.webhooks import endpoints
from tests.support import builders, oauth, users
from tests.support.oauth import App

WEBHOOKS = "/api/v1/webhooks"
URL = "https://hooks.example.com/pos"
SCOPES = "orders:read reservations:read webhooks:read webhooks:write"


@pytest.fixture
def owner(venue: Venue) -> Access:
    """The owner of the account, who is not the person that grants access."""
    found = get_access(users.membership(venue).user, venue.pk)
    assert found is not None
    return found


@pytest.fixture
def manager(venue: Venue) -> Membership:
    return users.membership(venue, "manager")


def connected(member: Membership, venue: Venue, *, app: App | None = None, everywhere: bool = False) -> Client:
    """An app that the member has granted access to the venue, or to all."""
    choice = oauth.whole(venue) if everywhere else venue
    tokens = (app or oauth.dynamic_app()).connect(users.signed_in(member.user), choice, scope=SCOPES)
    headers = {"authorization": f"Bearer {tokens['access_token']}", "tablewire-venue": venue.public_id}
    return Client(headers=headers)


def subscribe(client: Client, url: str = URL) -> dict[str, Any]:
    answer = client.post(WEBHOOKS, {"url": url}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    record: dict[str, Any] = answer.json()
    return record


def state() -> tuple[str, str | None]:
    endpoint = WebhookEndpoint.objects.get()
    return endpoint.status, endpoint.disabled_reason


ENDED = ("disabled", "app_ended")


# How the access of an app ends
def revoke(owner: Access, member: Membership, venue: Venue) -> None:
    OAuthGrant.objects.get().revoke(now=timezone.now())


def remove_app(owner: Access, member: Membership, venue: Venue) -> None:
    registration.disable_app(OAuthGrant.objects.get().app, now=timezone.now())


def remove_member(owner: Access, member: Membership, venue: Venue) -> None:
    team.remove_member(owner, member.pk, now=timezone.now())


def leave(owner: Access, member: Membership, venue: Venue) -> None:
    team.leave(venue.account, member.user, now=timezone.now())


def demote(owner: Access, member: Membership, venue: Venue) -> None:
    team.change_membership(owner, member.pk, role="host", venues=[], now=timezone.now())


def limit(owner: Access, member: Membership, venue: Venue) -> None:
    other = Venue.objects.create(account=venue.account, name="Bar", timezone="Europe/Rome")
    team.change_membership(owner, member.pk, role="manager", venues=[other], now=timezone.now())


def deactivate(owner: Access, member: Membership, venue: Venue) -> None:
    change_user(member, is_active=False)


def delete_user(owner: Access, member: Membership, venue: Venue) -> None:
    closure.delete_user(member.user, now=timezone.now())


def close(owner: Access, member: Membership, venue: Venue) -> None:
    closure.close_account(venue.account, name=venue.account.name, now=timezone.now())


def expire(owner: Access, member: Membership, venue: Venue) -> None:
    access.purge_expired(now=timezone.now() + timedelta(days=91))


def back_office() -> Client:
    return users.signed_in(
        User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("a@b.example")
    )


def change_user(member: Membership, *, is_active: bool) -> None:
    """As our staff do it in the back office."""
    user = member.user
    form = {"email": user.email, "last_login_0": "", "last_login_1": ""}
    form |= {"date_joined_0": f"{user.date_joined:%Y-%m-%d}", "date_joined_1": f"{user.date_joined:%H:%M:%S}"}
    page = reverse("admin:accounts_user_change", args=[user.pk])
    answer = back_office().post(page, form | ({"is_active": "on"} if is_active else {}))
    assert answer.status_code == 302, answer.content.decode()
    user.refresh_from_db()
    assert user.is_active is is_active


ENDS = [revoke, remove_app, remove_member, leave, demote, limit, deactivate, delete_user, close, expire]


@pytest.mark.parametrize("end", ENDS)
def test_the_endpoint_of_an_app_is_disabled_with_its_access(
    venue: Venue, owner: Access, manager: Membership, end: Callable[..., None]
) -> None:
    subscribe(connected(manager, venue))
    assert state() == ("enabled", None)
    end(owner, manager, venue)
    # The closing of an account disables all endpoints; its grants end first.
    assert state() == ENDED


def test_only_the_endpoints_of_that_app_are_disabled(venue: Venue, owner: Access, manager: Membership) -> None:
    client, other = connected(manager, venue), connected(manager, venue)
    subscribe(client)
    subscribe(other, "https://other.example.com/")
    subscribe(builders.client(venue), "https://own.example.com/")
    # In the order of their creation the grant of `client` is the first.
    grants = OAuthGrant.objects.order_by("created_at")
    grants[0].revoke(now=timezone.now())
    found = WebhookEndpoint.objects.order_by("created_at").values_list("url", "disabled_reason")
    assert list(found) == [
        (URL, "app_ended"),
        ("https://other.example.com/", None),
        ("https://own.example.com/", None),
    ]


def test_endpoints_at_restaurants_that_the_member_loses_end_and_others_go_on(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    other = Venue.objects.create(account=venue.account, name="Bar", timezone="Europe/Rome")
    client = connected(manager, venue, everywhere=True)
    subscribe(client)
    client.post(WEBHOOKS, {"url": URL}, content_type="application/json", headers={"tablewire-venue": other.public_id})
    team.change_membership(owner, manager.pk, role="manager", venues=[other], now=timezone.now())
    reasons = dict(WebhookEndpoint.objects.values_list("venue__name", "disabled_reason"))
    assert reasons == {"Trattoria": "app_ended", "Bar": None}
    # It does not come back with the restaurant.
    team.change_membership(owner, manager.pk, role="manager", venues=[], now=timezone.now())
    assert WebhookEndpoint.objects.get(venue=venue).disabled_reason == "app_ended"


def test_the_dashboard_says_why_and_whoever_enables_it_there_takes_it_over(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    record = subscribe(connected(manager, venue))
    revoke(owner, manager, venue)
    browser = users.signed_in(owner.user)
    page = f"/dashboard/{venue.public_id}/webhooks/{record['id']}"
    assert "the access of its app ended" in browser.get(page).content.decode()
    assert browser.post(f"{page}/switch", {"to": "on"}).status_code == 302
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.status, endpoint.grant) == ("enabled", None)


def test_an_app_that_is_granted_access_again_enables_its_endpoint_with_that(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    app = oauth.dynamic_app()
    record = subscribe(connected(manager, venue, app=app))
    revoke(owner, manager, venue)
    client, path = connected(manager, venue, app=app), f"{WEBHOOKS}/{record['id']}"
    answer = client.patch(path, {"status": "enabled"}, content_type="application/json")
    assert (answer.status_code, answer.json()["status"]) == (200, "enabled")
    newest = OAuthGrant.objects.get(revoked_at=None)
    assert WebhookEndpoint.objects.get().grant == newest
    newest.revoke(now=timezone.now())
    assert state() == ENDED


def test_an_endpoint_that_was_disabled_before_is_enabled_without_the_ended_grant(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    record = subscribe(connected(manager, venue))
    browser, page = users.signed_in(owner.user), f"/dashboard/{venue.public_id}/webhooks/{record['id']}/switch"
    browser.post(page, {"to": "off"})
    browser.post(page, {"to": "on"})
    # Its app has access still: the endpoint is the app's.
    assert WebhookEndpoint.objects.get().grant == OAuthGrant.objects.get()
    browser.post(page, {"to": "off"})
    revoke(owner, manager, venue)
    browser.post(page, {"to": "on"})
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.status, endpoint.grant) == ("enabled", None)


@pytest.mark.parametrize("end", [*ENDS])
def test_an_endpoint_that_was_disabled_by_hand_says_that_its_app_has_ended(
    venue: Venue, owner: Access, manager: Membership, end: Callable[..., None]
) -> None:
    subscribe(connected(manager, venue))
    row = WebhookEndpoint.objects.get()
    endpoints.disable(row, now=timezone.now())
    row.refresh_from_db()
    end(owner, manager, venue)
    assert state() == ENDED
    assert WebhookEndpoint.objects.get().disabled_at == row.disabled_at


def test_an_endpoint_that_was_disabled_by_hand_does_not_come_back_at_a_restaurant_that_its_member_has_lost(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    subscribe(connected(manager, venue, everywhere=True))
    row = WebhookEndpoint.objects.get()
    endpoints.disable(row, now=timezone.now())
    limit(owner, manager, venue)
    assert OAuthGrant.objects.get().revoked_at is None
    assert state() == ENDED
    endpoints.enable(row)
    # It is the restaurant's now.
    assert WebhookEndpoint.objects.get().grant is None


def test_an_app_does_not_change_the_endpoints_that_it_has_created_for_another_member(
    venue: Venue, manager: Membership
) -> None:
    app = oauth.dynamic_app()
    colleague = users.membership(venue, "manager")
    record = subscribe(connected(manager, venue, app=app))
    client, path = connected(colleague, venue, app=app), f"{WEBHOOKS}/{record['id']}"
    assert client.get(WEBHOOKS).json()["data"] == []
    moved = client.patch(path, {"url": "https://evil.example.com/b"}, content_type="application/json")
    assert (moved.status_code, client.delete(path).status_code) == (404, 404)
    assert WebhookEndpoint.objects.get().url == URL


def test_a_restaurant_stays_with_its_account_in_the_back_office(venue: Venue, manager: Membership) -> None:
    client = connected(manager, venue)
    subscribe(client)
    buyer, browser = Account.objects.create(name="Buyer"), back_office()
    page = reverse("admin:accounts_venue_change", args=[venue.pk])
    form = browser.get(page).context["adminform"].form
    assert "account" not in form.fields
    values = {field.html_name: field.value() for field in form}
    values = {name: value for name, value in values.items() if value not in (None, False)}
    answer = browser.post(page, values | {"account": str(buyer.pk), "name": "Osteria"})
    assert answer.status_code == 302, answer.content.decode()
    venue.refresh_from_db()
    assert (venue.name, venue.account.name) == ("Osteria", manager.account.name)
    assert state() == ("enabled", None)
    # A new one is given its account.
    assert "account" in browser.get(reverse("admin:accounts_venue_add")).context["adminform"].form.fields


def test_an_app_sees_and_changes_no_endpoints_but_its_own(venue: Venue, manager: Membership) -> None:
    own = subscribe(builders.client(venue))
    app, other = connected(manager, venue), connected(manager, venue)
    mine = subscribe(app)
    assert [each["id"] for each in app.get(WEBHOOKS).json()["data"]] == [mine["id"]]
    assert other.get(WEBHOOKS).json()["data"] == []
    for client, record in ((app, own), (other, mine)):
        path = f"{WEBHOOKS}/{record['id']}"
        url = client.patch(path, {"url": "https://evil.example.com"}, content_type="application/json")
        assert (url.status_code, client.delete(path).status_code) == (404, 404)
    # The restaurant's key sees both.
    assert len(builders.client(venue).get(WEBHOOKS).json()["data"]) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_an_endpoint_that_is_created_while_its_grant_ends_is_refused_or_disabled(
    venue: Venue, manager: Membership
) -> None:
    client, answers = connected(manager, venue), []

    def create() -> None:
        answers.append(client.post(WEBHOOKS, {"url": URL}, content_type="application/json").status_code)
        connection.close()

    with transaction.atomic():
        OAuthGrant.objects.get().revoke(now=timezone.now())
        thread = threading.Thread(target=create)
        thread.start()
        # The request has found its token, and waits for the grant.
        thread.join(0.5)
        assert thread.is_alive()
    thread.join()
    assert answers == [401]
    assert not WebhookEndpoint.objects.exists()


def wait_for_lock(thread: threading.Thread) -> None:
    """Wait until another connection waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while thread.is_alive():
        with connection.cursor() as cursor:
            # A transaction keeps what it has read of it.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(waiting)
            if cursor.fetchone() != (0,):
                return
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_an_endpoint_that_is_created_while_the_member_loses_the_restaurant_is_refused(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    client, answers = connected(manager, venue, everywhere=True), []

    def create() -> None:
        answers.append(client.post(WEBHOOKS, {"url": URL}, content_type="application/json").status_code)
        connection.close()

    with transaction.atomic():
        limit(owner, manager, venue)
        # The grant goes on at the other restaurant.
        assert OAuthGrant.objects.get().revoked_at is None
        thread = threading.Thread(target=create)
        thread.start()
        wait_for_lock(thread)
        assert thread.is_alive()
    thread.join()
    assert answers == [401]
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_an_endpoint_that_is_created_just_before_the_member_loses_the_restaurant_is_disabled(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    connected(manager, venue, everywhere=True)
    grant = OAuthGrant.objects.get()

    def lose() -> None:
        limit(owner, manager, venue)
        connection.close()

    with transaction.atomic():
        access.lock_grant(grant, venue, path="/api", now=timezone.now())
        thread = threading.Thread(target=lose)
        thread.start()
        wait_for_lock(thread)
        assert thread.is_alive()
        endpoints.create(venue, url=URL, grant=grant)
    thread.join()
    assert state() == ENDED


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_a_user_can_be_deleted_while_an_app_changes_its_endpoint(venue: Venue, manager: Membership) -> None:
    subscribe(connected(manager, venue))
    grant, row = OAuthGrant.objects.get(), WebhookEndpoint.objects.get()
    failures: list[Exception] = []

    def delete() -> None:
        try:
            closure.delete_user(manager.user, now=timezone.now())
        except OperationalError as error:
            failures.append(error)
        connection.close()

    with transaction.atomic():
        access.lock_grant(grant, venue, path="/api", now=timezone.now())
        thread = threading.Thread(target=delete)
        thread.start()
        wait_for_lock(thread)
        endpoints.update(row, description="Till")
    thread.join()
    assert failures == []
    assert WebhookEndpoint.objects.get().description == "Till"
    assert state() == ENDED


# A grant does not come back
def promote(owner: Access, member: Membership) -> None:
    team.change_membership(owner, member.pk, role="manager", venues=[], now=timezone.now())


def reactivate(owner: Access, member: Membership) -> None:
    change_user(member, is_active=True)


def promote_in_back_office(owner: Access, member: Membership) -> None:
    change_role_in_back_office(member, "manager")


def demote_in_back_office(owner: Access, member: Membership, venue: Venue) -> None:
    change_role_in_back_office(member, "host")


def change_role_in_back_office(member: Membership, role: str) -> None:
    account = member.account
    form: dict[str, Any] = {"name": account.name}
    rows = list(account.memberships.order_by("pk"))
    form |= {"memberships-TOTAL_FORMS": len(rows), "memberships-INITIAL_FORMS": len(rows)}
    for number, row in enumerate(rows):
        of = f"memberships-{number}"
        form |= {f"{of}-id": row.pk, f"{of}-account": account.pk, f"{of}-user": row.user_id}
        form[f"{of}-role"] = role if row == member else row.role
    form |= {"venues-TOTAL_FORMS": 0, "venues-INITIAL_FORMS": 0}
    page = reverse("admin:accounts_account_change", args=[account.pk])
    answer = back_office().post(page, form)
    assert answer.status_code == 302, answer.content.decode()
    member.refresh_from_db()
    assert member.role == role


@pytest.mark.parametrize(
    ("end", "again"),
    [
        (demote, promote),
        (limit, promote),
        (deactivate, reactivate),
        (demote_in_back_office, promote_in_back_office),
    ],
)
def test_a_grant_does_not_come_back_with_the_role_of_its_member(
    venue: Venue, owner: Access, manager: Membership, end: Callable[..., None], again: Callable[..., None]
) -> None:
    client = connected(manager, venue)
    assert client.get("/api/v1/orders").status_code == 200
    end(owner, manager, venue)
    assert client.get("/api/v1/orders").status_code == 401
    again(owner, manager)
    assert client.get("/api/v1/orders").status_code == 401
    assert OAuthGrant.objects.get().revoked_at is not None


def test_access_to_the_data_service_ends_with_a_limitation_for_good(
    venue: Venue, owner: Access, manager: Membership
) -> None:
    token = oauth.dynamic_app().connect(users.signed_in(manager.user), oauth.whole(venue), resource=oauth.mcp())
    team.change_membership(owner, manager.pk, role="manager", venues=[venue], now=timezone.now())
    promote(owner, manager)
    client = Client(headers={"authorization": f"Bearer {token['access_token']}"})
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert client.post("/mcp", ping, content_type="application/json").status_code == 401


def test_a_change_that_takes_no_right_ends_nothing(venue: Venue, owner: Access, manager: Membership) -> None:
    client = connected(manager, venue)
    subscribe(client)
    team.change_membership(owner, manager.pk, role="owner", venues=[], now=timezone.now())
    team.change_membership(owner, manager.pk, role="manager", venues=[venue], now=timezone.now())
    assert client.get("/api/v1/orders").status_code == 200
    assert state() == ("enabled", None)
