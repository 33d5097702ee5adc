"""Every page and admin action that accepts POST, by every role: exactly the roles of the tables may use it."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone

from accounts.models import ApiKey, Scope, User, Venue
from config import urls
from orders import commands
from orders.models import Order
from tests.accounts.tenancy.test_permissions import MAKERS, address
from tests.support import builders, users

pytestmark = pytest.mark.django_db

MEMBERS = {
    "own": {"owner", "manager", "host", "kitchen"},
    "orders": {"owner", "manager", "host", "kitchen"},
    "sales": {"owner", "manager"},
    "sold_out": {"owner", "manager", "host", "kitchen"},
    "reservations": {"owner", "manager", "host"},
    "guests": {"owner", "manager", "host"},
    "menu": {"owner", "manager"},
    "venue": {"owner", "manager"},
    "developers": {"owner", "manager"},
    "data": {"owner", "manager"},
    "team": {"owner", "manager"},
    "account": {"owner"},
}
STAFF = ["Support", "Finance", "Data editor"]
# The right that a POST to each page of a venue requires. Pages that are missing here accept no POST.
RIGHTS = {
    "demo-data-fill": "venue",
    "demo-data-remove": "venue",
    "board-move": "orders",
    "board-ticket": "orders",
    "board-settings": "venue",
    "pause-ordering": "orders",
    "example-order": "orders",
    "phone-order": "orders",
    "order-move": "orders",
    "order-cancel": "orders",
    "order-address": "orders",
    "menu-item-sold-out": "sold_out",
    "menu-item-stock": "sold_out",
    "menu-group-new": "menu",
    "menu-group": "menu",
    "menu-group-remove": "menu",
    "menu-publish": "menu",
    "menu-item-switch": "menu",
    "menu-upload": "menu",
    "menu-upload-preview": "menu",
    "menu-item-new": "menu",
    "menu-item": "menu",
    "menu-item-remove": "menu",
    "menu-item-move": "menu",
    "menu-category-new": "menu",
    "menu-category": "menu",
    "menu-category-remove": "menu",
    "menu-category-move": "menu",
    "reservation-new": "reservations",
    "walk-in": "reservations",
    "waitlist-add": "reservations",
    "hold-release": "reservations",
    "mail-withdraw": "reservations",
    "reservation-edit": "reservations",
    "reservation-move": "reservations",
    "reservation-restore": "reservations",
    "reservation-step": "reservations",
    "guest-of-venue": "guests",
    "guest-merge": "guests",
    "guest-split": "guests",
    "guest-erase": "guests",
    "venue-save": "venue",
    "setup-tables": "venue",
    "setup-branding": "venue",
    "setup-new-area": "venue",
    "setup-edit-area": "venue",
    "setup-remove-area": "venue",
    "setup-new-table": "venue",
    "setup-edit-table": "venue",
    "setup-remove-table": "venue",
    "setup-new-combination": "venue",
    "setup-edit-combination": "venue",
    "setup-remove-combination": "venue",
    "setup-new-period": "venue",
    "setup-edit-period": "venue",
    "setup-remove-period": "venue",
    "setup-new-closure": "venue",
    "setup-edit-closure": "venue",
    "setup-remove-closure": "venue",
    "setup-new-term": "venue",
    "setup-edit-term": "venue",
    "setup-remove-term": "venue",
    "setup-ordering": "venue",
    "setup-new-charge": "venue",
    "setup-edit-charge": "venue",
    "setup-remove-charge": "venue",
    "key-new": "developers",
    "key-rotate": "developers",
    "key-revoke": "developers",
    "app-revoke": "developers",
    "app-new": "account",
    "app-renew": "account",
    "app-remove": "account",
    "webhook-new": "developers",
    "webhook-edit": "developers",
    "webhook-rotate": "developers",
    "webhook-enabled": "developers",
    "webhook-test": "developers",
    "webhook-resend-failed": "developers",
    "webhook-remove": "developers",
    "delivery-resend": "developers",
    "wallet-new": "data",
    "wallet-link": "data",
    "wallet-unlink": "data",
    "wallet-refresh": "data",
    "wallet-session-end": "data",
    "listing-claim": "venue",
    "listing-step": "venue",
    "listing-save": "venue",
    "listing-day-remove": "venue",
    "listing-photo-remove": "venue",
    "listing-reply": "venue",
    "listing-offers-switch": "venue",
    "listing-offer-new": "venue",
    "listing-offer": "venue",
    "listing-offer-remove": "venue",
    "data-export-new": "data",
    "data-export-cancel": "data",
    "alerts": "own",
    "alert-device-add": "own",
    "alert-device-remove": "own",
    "data-invoices": "data",
    "data-spending-limit": "data",
    "data-export-pay": "data",
    "team": "team",
    "team-member": "team",
    "team-remove": "team",
    "invitation-resend": "team",
    "invitation-withdraw": "team",
    "account-rename": "account",
    "account-venue": "account",
    "account-export": "account",
    "account-close": "account",
}
# The pages of customers' rows in the back office that accept the POST of a group, and its actions. Finance and Data
# editors have none.
BACK_OFFICE = {
    ("accounts.apikey", "Support"): "revoke revoke_families",
    ("accounts.oauthapp", "Support"): "disable",
    ("accounts.oauthgrant", "Support"): "revoke",
    ("accounts.webhookdelivery", "Support"): "resend",
    ("accounts.webhookendpoint", "Support"): "take release assign",
    ("orders.order", "Support"): "reopen",
}
# Pages below /dashboard about the user who requests them, and the page of an invitation.
PAGES_WITHOUT_VENUE = {"dashboard", "profile", "team-leave", "profile-delete", "invitation"}
# In place of the id of an object: permissions are checked before the object is searched.
UNKNOWN = {"int": 1, "uuid": uuid4(), "slug": "unknown", "string": "unknown"}


def list_routes(patterns: list[Any]) -> Iterator[URLPattern]:
    """Yield all URL patterns that have a name."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from list_routes(pattern.url_patterns)
        elif pattern.name:
            yield pattern


def venue_urls(venue: Venue) -> dict[str, str]:
    """The URL of each dashboard page of a venue, by the name of its route."""
    found = {}
    for route in list_routes(urls.dashboard):
        kinds = {name: type(converter).__name__ for name, converter in route.pattern.converters.items()}
        if "venue" in kinds:
            values = {name: UNKNOWN[kind.removesuffix("Converter").lower()] for name, kind in kinds.items()}
            found[str(route.name)] = reverse(str(route.name), kwargs=values | {"venue": venue.public_id})
    return found


def our_staff(group: str) -> User:
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name=group)[0])
    return person


def test_each_page_below_dashboard_is_of_a_venue_or_of_the_user() -> None:
    names = {route.name for route in list_routes(urls.dashboard)}
    assert names - set(venue_urls(builders.venue())) == PAGES_WITHOUT_VENUE


@pytest.mark.exhaustive
def test_the_table_lists_exactly_the_pages_that_accept_post() -> None:
    venue = builders.venue()
    owner = users.member(venue)
    statuses = {name: owner.post(url).status_code for name, url in venue_urls(venue).items()}
    assert {name for name, status in statuses.items() if status != 405} == set(RIGHTS)
    assert {name for name, status in statuses.items() if status in (403, 500)} == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ["manager", "host", "kitchen"])
def test_a_member_may_post_only_to_the_pages_of_their_role(role: str) -> None:
    venue = builders.venue()
    member = users.member(venue, role)
    urls_of = venue_urls(venue)
    refused = {name for name in RIGHTS if member.post(urls_of[name]).status_code == 403}
    assert refused == {name for name, right in RIGHTS.items() if role not in MEMBERS[right]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", STAFF)
def test_our_staff_change_nothing_on_the_dashboard_of_a_customer(group: str) -> None:
    venue = builders.venue()
    client = users.signed_in(our_staff(group))
    urls_of = venue_urls(venue)
    statuses = {name: client.post(urls_of[name]).status_code for name in RIGHTS}
    # A data editor sees nothing of an account.
    assert statuses == dict.fromkeys(RIGHTS, 404 if group == "Data editor" else 403)


@pytest.mark.exhaustive
def test_a_superuser_may_post_where_an_owner_may() -> None:
    venue = builders.venue()
    superuser = users.signed_in(users.user(is_staff=True, is_superuser=True))
    urls_of = venue_urls(venue)
    assert {name for name in RIGHTS if superuser.post(urls_of[name]).status_code == 403} == set()


@pytest.mark.exhaustive
def test_support_sees_the_pages_of_a_venue_with_a_note_that_they_are_read_only() -> None:
    venue = builders.venue()
    support, owner = users.signed_in(our_staff("Support")), users.member(venue)
    note = "You cannot change anything here."
    for name in ("overview", "order-board", "reservation-day", "guests", "menu", "keys", "requests", "webhooks"):
        url = reverse(name, kwargs={"venue": venue.public_id})
        page = support.get(url)
        assert (page.status_code, note in page.content.decode()) == (200, True), name
        assert note not in owner.get(url).content.decode()


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", STAFF)
def test_back_office_accepts_exactly_the_posts_and_actions_of_the_table(group: str) -> None:
    venue = builders.venue()
    user = our_staff(group)
    client = users.signed_in(user)
    allowed = {}
    for model, make in MAKERS.items():
        row, model_admin = make(venue), admin.site.get_model_admin(model)
        pages = {"add": address(model, "add")} | {verb: address(model, verb, row.pk) for verb in ("change", "delete")}
        verbs = {verb for verb, url in pages.items() if client.post(url).status_code != 403}
        request = RequestFactory().post("/")
        request.user = User.objects.get(pk=user.pk)
        if found := verbs | set(model_admin.get_actions(request)):
            allowed[model._meta.label_lower] = found
    assert allowed == {model: set(names.split()) for (model, of), names in BACK_OFFICE.items() if of == group}


@pytest.mark.exhaustive
def test_an_action_of_other_roles_has_no_effect_when_it_is_posted() -> None:
    venue = builders.venue()
    order, key = builders.order(venue), ApiKey.create(venue, name="till").row
    support = users.signed_in(our_staff("Support"))
    for row, action in ((order, "complete"), (order, "cancel"), (key, "rotate")):
        chosen = {"action": action, "_selected_action": [str(row.pk)], "confirmed": "yes", "reason": "x"}
        support.post(address(type(row), "changelist"), chosen | {"overlap": "0"})
    order.refresh_from_db()
    key.refresh_from_db()
    assert (order.status, key.revoked_at, key.expires_at) == ("pending", None, None)
    assert ApiKey.objects.filter(venue=venue).count() == 1


def test_support_revokes_a_key_and_does_not_widen_it() -> None:
    venue = builders.venue()
    key = ApiKey.create(venue, name="till", scopes=["orders:read"]).row
    support = users.signed_in(our_staff("Support"))
    sent = {"name": "till", "scopes": list(Scope.values), "allowance": "999999"}
    assert support.post(address(ApiKey, "change", key.pk), sent).status_code == 403
    chosen = {"action": "revoke", "_selected_action": [str(key.pk)], "confirmed": "yes"}
    support.post(address(ApiKey, "changelist"), chosen)
    key.refresh_from_db()
    assert (key.scopes, key.allowance, key.revoked_at is None) == (["orders:read"], 1000, False)


def test_support_reopens_an_order() -> None:
    order = builders.order(builders.venue())
    commands.change_status(order, Order.Status.COMPLETED, now=timezone.now(), actor="test")
    chosen = {"action": "reopen", "_selected_action": [str(order.pk)], "confirmed": "yes"}
    users.signed_in(our_staff("Support")).post(address(Order, "changelist"), chosen)
    order.refresh_from_db()
    assert order.status == "pending"


@pytest.mark.exhaustive
def test_a_member_of_another_account_and_a_signed_out_client_post_nothing() -> None:
    venue = builders.venue()
    urls_of = venue_urls(venue)
    for client, status in ((users.member(builders.venue("Aurora")), 404), (Client(), 302)):
        assert {name: client.post(urls_of[name]).status_code for name in RIGHTS} == dict.fromkeys(RIGHTS, status)
