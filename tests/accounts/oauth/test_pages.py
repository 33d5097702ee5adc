"""Apps on the dashboard and in the back office."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import OAuthApp, OAuthGrant, OAuthToken, Venue
from tests.support import builders, oauth, users
from tests.support.query_counts import costing


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/apps{rest}"


@pytest.fixture
def owner(venue: Venue) -> Client:
    return users.member(venue)


def test_the_list_of_apps_costs_two_queries(venue: Venue, owner: Client) -> None:
    for number in range(4):
        oauth.dynamic_app(name=f"App {number}").connect(owner, venue)
    oauth.registered_app(venue)
    # Session, user, venue, membership, other venues; grants and apps.
    with costing(7):
        page = owner.get(at(venue)).content.decode()
    assert page.count("Revoke<span") == 4


def test_the_page_says_what_has_access(venue: Venue, owner: Client) -> None:
    assert "No app has access" in owner.get(at(venue)).content.decode()
    app = oauth.dynamic_app()
    token = app.connect(owner, venue, scope="orders:read")["access_token"]
    page = owner.get(at(venue)).content.decode()
    for text in ("Kitchen POS", "orders:read", "Trattoria", "never"):
        assert text in page
    oauth.call(token)
    assert "never" not in owner.get(at(venue)).content.decode()


def test_the_grants_are_paged_the_newest_first(venue: Venue, owner: Client) -> None:
    app, person = oauth.row_of(oauth.dynamic_app()), users.membership(venue).user
    now = timezone.now()
    common: dict[str, Any] = {"app": app, "account": venue.account, "user": person, "resource": "management"}
    for number in range(53):
        until = now + timedelta(days=1)
        grant = OAuthGrant.objects.create(**common, scopes=["orders:read"], created_at=now, expires_at=until)
        OAuthToken.issue(grant, OAuthToken.Kind.ACCESS, scopes=["orders:read"], now=now + timedelta(seconds=number))
    ids = [grant.public_id for grant in OAuthGrant.objects.order_by("-pk")]
    first = owner.get(at(venue)).content.decode()
    assert [each in first for each in ids] == [True] * 50 + [False] * 3
    assert f'href="?before={ids[49]}"' in first
    second = owner.get(at(venue, f"?before={ids[49]}")).content.decode()
    assert [each in second for each in ids] == [False] * 50 + [True] * 3
    assert "?before=" not in second
    assert owner.get(at(venue, "?before=nothing")).status_code == 400


def test_a_revoked_grant_ends_at_once_and_leaves_the_list(venue: Venue, owner: Client) -> None:
    token = oauth.dynamic_app().connect(owner, venue)["access_token"]
    address = at(venue, f"/grants/{OAuthGrant.objects.get().public_id}/revoke")
    assert "Revoke access" in owner.get(address).content.decode()
    assert owner.post(address).status_code == 302
    assert oauth.call(token).status_code == 401
    assert "No app has access" in owner.get(at(venue)).content.decode()


def test_a_grant_of_others_is_not_found(venue: Venue, other_venue: Venue, owner: Client) -> None:
    oauth.dynamic_app().connect(users.member(other_venue), other_venue)
    address = at(venue, f"/grants/{OAuthGrant.objects.get().public_id}/revoke")
    assert (owner.get(address).status_code, owner.post(address).status_code) == (404, 404)


def test_a_registered_app_shows_its_secret_once(venue: Venue, owner: Client) -> None:
    form = {"name": "Till", "redirect_uris": f"{oauth.CALLBACK}\r\nhttp://127.0.0.1/cb", "own_scopes": ["orders:read"]}
    answer = owner.post(at(venue, "/new"), form)
    app = OAuthApp.objects.get()
    assert (app.account, app.redirect_uris, app.own_scopes) == (
        venue.account,
        [oauth.CALLBACK, "http://127.0.0.1/cb"],
        ["orders:read"],
    )
    page = owner.get(answer.headers["Location"]).content.decode()
    secret = page.partition('id="client-secret" tabindex="0">')[2].partition("<")[0]
    assert secret.startswith("ocs_")
    assert secret not in owner.get(answer.headers["Location"]).content.decode()
    tokens = oauth.App(app.client_id, secret=secret).token(grant_type="client_credentials")
    assert tokens.status_code == 200


def test_a_renewed_secret_replaces_the_former_one(venue: Venue, owner: Client) -> None:
    app = oauth.registered_app(venue, own_scopes=["orders:read"])
    assert owner.post(at(venue, f"/{app.client_id}/secret")).status_code == 302
    assert app.token(grant_type="client_credentials").json()["error"] == "invalid_client"


def test_a_removed_app_loses_all_that_was_granted_to_it(venue: Venue, other_venue: Venue, owner: Client) -> None:
    app = oauth.registered_app(venue, own_scopes=["orders:read"])
    own = app.token(grant_type="client_credentials").json()["access_token"]
    elsewhere = app.connect(users.member(other_venue), other_venue)["access_token"]
    assert [oauth.call(token).status_code for token in (own, elsewhere)] == [200, 200]
    owner.post(at(venue, f"/{app.client_id}/change"))
    assert [oauth.call(token).status_code for token in (own, elsewhere)] == [401, 401]
    assert app.token(grant_type="client_credentials").json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    "form",
    [
        {"name": "", "redirect_uris": oauth.CALLBACK},
        {"name": "Till", "redirect_uris": ""},
        {"name": "Till", "redirect_uris": "javascript:alert(1)"},
        {"name": "Till", "redirect_uris": oauth.CALLBACK, "own_scopes": ["data"]},
    ],
)
def test_a_wrong_form_registers_nothing(venue: Venue, owner: Client, form: dict[str, Any]) -> None:
    assert owner.post(at(venue, "/new"), form).status_code == 400
    assert not OAuthApp.objects.exists()


def test_managers_see_what_has_access_and_register_nothing(venue: Venue) -> None:
    manager = users.member(venue, role="manager")
    page = manager.get(at(venue)).content.decode()
    assert "Your apps" not in page
    assert manager.get(at(venue, "/new")).status_code == 403


def test_staff_revoke_grants_and_disable_apps_in_the_back_office(venue: Venue, owner: Client) -> None:
    app, staff = oauth.dynamic_app(), builders.staff()
    tokens = [app.connect(owner, venue)["access_token"] for _ in range(2)]
    grant = OAuthGrant.objects.order_by("created_at").first()
    assert grant is not None
    selected = {"action": "revoke", "_selected_action": str(grant.pk), "confirmed": "yes"}
    staff.post(reverse("admin:accounts_oauthgrant_changelist"), selected)
    assert [oauth.call(token).status_code for token in tokens] == [401, 200]
    row = oauth.row_of(app)
    selected = {"action": "disable", "_selected_action": str(row.pk), "confirmed": "yes"}
    staff.post(reverse("admin:accounts_oauthapp_changelist"), selected)
    assert [oauth.call(token).status_code for token in tokens] == [401, 401]
    for page in ("oauthapp", "oauthgrant"):
        pk = row.pk if page == "oauthapp" else grant.pk
        assert staff.get(reverse(f"admin:accounts_{page}_change", args=[pk])).status_code == 200
        assert staff.get(reverse(f"admin:accounts_{page}_changelist")).status_code == 200
