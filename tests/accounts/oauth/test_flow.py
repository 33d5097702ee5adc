"""Apps that connect by OAuth: how a person grants access, what tokens open, and what ends them."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.lifecycle import closure
from accounts.models import ApiCall, ApiKey, Membership, OAuthApp, OAuthCode, OAuthGrant, OAuthToken, Venue
from accounts.oauth import access, registration
from accounts.request_log.writer import request_log
from framework.api.urls import public_url
from tests.support import builders, oauth, users
from tests.support.query_counts import costing

ALL = ["orders:read", "orders:write", "menu:write", "reservations:read", "reservations:write"]


@pytest.fixture
def owner(venue: Venue) -> Client:
    return users.member(venue)


@pytest.fixture
def app(venue: Venue) -> oauth.App:
    return oauth.dynamic_app()


def test_an_app_gets_tokens_for_the_restaurant_that_its_owner_chose(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    found = app.ask(owner, access=venue.public_id, scope="orders:read reservations:read")
    assert (found["state"], found["iss"]) == ("af0ifjsldkj", public_url(""))
    answer = app.exchange(found["code"])
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    tokens = answer.json()
    assert {name: value for name, value in tokens.items() if not name.endswith("_token")} == {
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "orders:read reservations:read",
        "venues": [{"id": venue.public_id, "name": "Trattoria", "sandbox": False}],
    }
    assert oauth.call(tokens["access_token"]).status_code == 200


def test_codes_tokens_and_secrets_are_stored_as_hashes(venue: Venue, owner: Client, app: oauth.App) -> None:
    found = app.ask(owner, access=venue.public_id)
    tokens = app.exchange(found["code"]).json()
    assert bytes(OAuthCode.objects.get().digest) == hashlib.sha256(found["code"].encode()).digest()
    assert {bytes(row.digest) for row in OAuthToken.objects.all()} == {
        hashlib.sha256(tokens[name].encode()).digest() for name in ("access_token", "refresh_token")
    }
    till = oauth.registered_app(venue)
    assert bytes(oauth.row_of(till).secret_digest or b"") == hashlib.sha256(till.secret.encode()).digest()


def test_whoever_is_signed_out_signs_in_first(app: oauth.App) -> None:
    answer = Client().get(app.address())
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, "/account/login/")


def test_the_consent_page_says_who_asks_for_what(venue: Venue, owner: Client, app: oauth.App) -> None:
    answer = owner.get(app.address(scope="orders:read menu:write"))
    page = answer.content.decode()
    assert answer.status_code == 200
    for text in ("Kitchen POS", "pos.example.com", "Read orders and the menu", "Change the menu", "Trattoria"):
        assert text in page
    assert "Create reservations" not in page
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "form-action 'self' https:" in answer.headers["Content-Security-Policy"]


def test_a_person_is_asked_for_access_sixty_times_a_minute_at_most(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    with time_machine.travel(timezone.now(), tick=False):
        for _ in range(59):
            owner.get("/oauth/authorize")
        assert owner.get(app.address()).status_code == 200
        answers = [
            owner.get(app.address()),
            owner.post(app.address(), {"access": venue.public_id, "decision": "allow"}),
        ]
        # A colleague behind the same address is asked.
        assert users.member(venue).get(app.address()).status_code == 200
    assert [answer.status_code for answer in answers] == [429, 429]
    assert answers[0]["RateLimit-Policy"] == '"oauth-authorize";q=60;w=60'
    assert (answers[0]["X-RateLimit-Limit"], answers[0]["X-RateLimit-Remaining"]) == ("60", "0")
    assert 1 <= int(answers[0]["Retry-After"]) <= 60
    assert "Too many requests" in answers[0].content.decode()
    assert not OAuthGrant.objects.exists()


def test_the_token_endpoint_tells_its_limit(app: oauth.App) -> None:
    answer = app.exchange("oac_unknown")
    assert answer["RateLimit-Policy"] == '"oauth-token";q=600;w=60'
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("600", "599")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/oauth/token", "POST"), ("/oauth/revoke", "POST"), ("/oauth/authorize", "GET, HEAD, POST")],
)
def test_a_wrong_method_at_the_authorization_server_is_an_error_of_oauth(path: str, allowed: str) -> None:
    answer = Client().generic("PUT", path)
    assert (answer.status_code, answer["Content-Type"], answer["Allow"]) == (405, "application/json", allowed)
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/security.txt",
    ],
)
def test_a_wrong_method_at_metadata_is_an_error_of_the_api(path: str) -> None:
    answer = Client().generic("PUT", path)
    assert (answer.status_code, answer["Content-Type"], answer["Allow"]) == (405, "application/json", "GET, HEAD")
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_a_person_may_deny(venue: Venue, owner: Client, app: oauth.App) -> None:
    found = app.ask(owner, access=venue.public_id, decision="deny")
    assert (found["error"], found["state"], found["iss"]) == ("access_denied", "af0ifjsldkj", public_url(""))
    assert not OAuthGrant.objects.exists()


@pytest.mark.parametrize("role", ["host", "kitchen"])
def test_only_who_manages_keys_may_grant(venue: Venue, app: oauth.App, role: str) -> None:
    person = users.member(venue, role=role)
    assert "Only owners and managers" in person.get(app.address()).content.decode()
    assert person.post(app.address(), {"access": venue.public_id, "decision": "allow"}).status_code == 400
    assert not OAuthGrant.objects.exists()


def test_nobody_grants_access_to_the_restaurant_of_others(
    venue: Venue, other_venue: Venue, owner: Client, app: oauth.App
) -> None:
    for choice in (other_venue.public_id, oauth.whole(other_venue), ""):
        assert owner.post(app.address(), {"access": choice, "decision": "allow"}).status_code == 400
    assert not OAuthGrant.objects.exists()


def test_scopes_hold_as_those_of_keys_do(venue: Venue, owner: Client, app: oauth.App) -> None:
    token = app.connect(owner, venue, scope="orders:read")["access_token"]
    answer = oauth.call(token, "/api/v1/reservations")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "insufficient_scope")
    assert answer.json()["error"]["message"] == "This access token lacks the scope `reservations:read`."


def test_a_token_for_three_restaurants_names_one_in_a_header(venue: Venue, owner: Client, app: oauth.App) -> None:
    others = [
        Venue.objects.create(account=venue.account, name=name, timezone="Europe/Rome") for name in ("Bar", "Due")
    ]
    tokens = app.connect(owner, oauth.whole(venue))
    assert [each["name"] for each in tokens["venues"]] == ["Bar", "Due", "Trattoria"]
    token = tokens["access_token"]
    for each in [venue, *others]:
        assert oauth.call(token, **{"tablewire-venue": each.public_id}).status_code == 200
    missing = oauth.call(token)
    assert (missing.status_code, missing.json()["error"]["param"]) == (400, "Tablewire-Venue")


def test_a_token_opens_no_restaurant_of_others(
    venue: Venue, other_venue: Venue, owner: Client, app: oauth.App
) -> None:
    second = Venue.objects.create(account=venue.account, name="Bar", timezone="Europe/Rome")
    token = app.connect(owner, venue)["access_token"]
    for name in (other_venue.public_id, second.public_id, "ven_1", ""):
        answer = oauth.call(token, **{"tablewire-venue": name})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


def test_an_app_has_a_thousand_calls_an_hour_at_each_restaurant(venue: Venue, owner: Client, app: oauth.App) -> None:
    bar = Venue.objects.create(account=venue.account, name="Bar", timezone="Europe/Rome")
    first, second = (app.connect(owner, oauth.whole(venue))["access_token"] for _ in range(2))

    def remaining(token: str, at: Venue) -> tuple[str, str]:
        headers = oauth.call(token, **{"tablewire-venue": at.public_id}).headers
        return headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]

    assert remaining(first, venue) == ("1000", "999")
    # Another grant to the same app does not add calls; another restaurant does.
    assert remaining(second, venue) == ("1000", "998")
    assert remaining(second, bar) == ("1000", "999")


def test_a_call_with_a_token_costs_two_queries_besides_that_of_its_key(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    token = app.connect(owner, venue)["access_token"]
    oauth.call(token)
    client = Client(headers={"authorization": f"Bearer {token}"})
    key = builders.key(venue)
    with_key = Client(headers={"authorization": f"Bearer {key.text}"})
    with_key.get(oauth.ORDERS)
    with costing(1):
        with_key.get(oauth.ORDERS)
    with costing(3):
        client.get(oauth.ORDERS)


@pytest.mark.django_db(transaction=True)
def test_calls_of_an_app_are_in_the_request_log_of_the_restaurant(venue: Venue, owner: Client, app: oauth.App) -> None:
    token = app.connect(owner, venue)["access_token"]
    oauth.call(token)
    request_log.flush()
    call = ApiCall.objects.get()
    assert (call.venue, call.key.name, call.status) == (venue, "Kitchen POS", 200)
    assert "Kitchen POS" in owner.get(f"/dashboard/{venue.public_id}/requests").content.decode()
    grant = OAuthGrant.objects.get()
    assert grant.last_used_at is not None


def test_the_key_of_an_app_is_no_credential_and_in_no_list(venue: Venue, owner: Client, app: oauth.App) -> None:
    oauth.call(app.connect(owner, venue)["access_token"])
    key = ApiKey.objects.get()
    assert (key.app_id, key.allowance) == (oauth.row_of(app).pk, 1000)
    page = owner.get(f"/dashboard/{venue.public_id}/keys").content.decode()
    assert "No active API key" in page
    assert owner.get(f"/dashboard/{venue.public_id}/keys/{key.public_id}/rotate").status_code == 404


def test_what_an_app_changes_is_in_the_history_under_its_name(venue: Venue, owner: Client, app: oauth.App) -> None:
    token = app.connect(owner, venue)["access_token"]
    client = Client(headers={"authorization": f"Bearer {token}", "idempotency-key": "one"})
    first, again = (client.post(oauth.ORDERS, builders.order_body(), content_type="application/json") for _ in "12")
    assert (first.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    assert venue.events.get(type="order.created").actor == "app:Kitchen POS"


def test_a_refresh_gives_new_tokens_and_ends_the_former_refresh_token(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    old = app.connect(owner, venue)
    answer = app.refresh(old["refresh_token"])
    new = answer.json()
    assert answer.status_code == 200
    assert new["refresh_token"] != old["refresh_token"]
    assert oauth.call(new["access_token"]).status_code == 200


def test_an_access_token_expires_after_an_hour(venue: Venue, owner: Client, app: oauth.App) -> None:
    tokens = app.connect(owner, venue)
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        answer = oauth.call(tokens["access_token"])
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert app.refresh(tokens["refresh_token"]).status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=91), tick=False):
        assert app.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_revoked_refresh_token_ends_everything_and_an_access_token_itself(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    first, second = app.connect(owner, venue), app.connect(owner, venue)
    for token in (first["access_token"], second["refresh_token"], "oat_unknown"):
        body = f"client_id={app.client_id}&token={token}&token_type_hint=whatever"
        assert app.http.post("/oauth/revoke", body, content_type=oauth.FORM).status_code == 200
    assert [oauth.call(each["access_token"]).status_code for each in (first, second)] == [401, 401]
    assert app.refresh(first["refresh_token"]).status_code == 200
    assert app.refresh(second["refresh_token"]).status_code == 400


def test_an_app_of_an_account_gets_tokens_without_a_person(venue: Venue) -> None:
    app = oauth.registered_app(venue, own_scopes=["orders:read"], uris=())
    tokens = app.token(grant_type="client_credentials").json()
    assert (tokens["scope"], "refresh_token" in tokens) == ("orders:read", False)
    assert oauth.call(tokens["access_token"]).status_code == 200
    assert app.token(grant_type="client_credentials", scope="orders:write").json()["error"] == "invalid_scope"
    wrong = app.token(grant_type="client_credentials", client_secret="ocs_wrong")
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")
    dynamic = oauth.dynamic_app().token(grant_type="client_credentials")
    assert dynamic.json()["error"] in ("invalid_client", "unauthorized_client")


def end_by_removal(venue: Venue) -> None:
    Membership.objects.all().delete()


def end_by_role(venue: Venue) -> None:
    Membership.objects.update(role="host")


def end_by_other_venues(venue: Venue) -> None:
    Membership.objects.update(is_limited=True)


def end_by_deactivation(venue: Venue) -> None:
    user = Membership.objects.get().user
    user.is_active = False
    user.save()


def end_by_closing(venue: Venue) -> None:
    closure.close_account(venue.account, name=venue.account.name, now=timezone.now())


def end_by_removing_the_venue(venue: Venue) -> None:
    venue.delete()


def end_by_revoking(venue: Venue) -> None:
    OAuthGrant.objects.all().revoke(now=timezone.now())


def end_by_disabling_the_app(venue: Venue) -> None:
    registration.disable_app(OAuthGrant.objects.get().app, now=timezone.now())


@pytest.mark.parametrize(
    "end",
    [
        end_by_removal,
        end_by_role,
        end_by_other_venues,
        end_by_deactivation,
        end_by_closing,
        end_by_removing_the_venue,
        end_by_revoking,
        end_by_disabling_the_app,
    ],
)
@pytest.mark.parametrize("for_all", [False, True])
def test_access_ends_at_once(venue: Venue, owner: Client, app: oauth.App, end: Any, for_all: bool) -> None:
    tokens = app.connect(owner, oauth.whole(venue) if for_all else venue)
    assert oauth.call(tokens["access_token"]).status_code == 200
    end(venue)
    assert oauth.call(tokens["access_token"]).status_code == 401
    assert app.refresh(tokens["refresh_token"]).status_code == 400


def test_what_has_ended_is_deleted_after_a_month(venue: Venue, owner: Client, app: oauth.App) -> None:
    app.connect(owner, venue)
    unused = oauth.dynamic_app()
    access.purge_expired(now=timezone.now() + timedelta(days=40))
    registration.purge_unused_apps(now=timezone.now() + timedelta(days=29))
    assert (OAuthToken.objects.count(), OAuthGrant.objects.count()) == (1, 1)
    access.purge_expired(now=timezone.now() + timedelta(days=121))
    registration.purge_unused_apps(now=timezone.now() + timedelta(days=121))
    assert (OAuthToken.objects.count(), OAuthGrant.objects.count(), OAuthCode.objects.count()) == (0, 0, 0)
    assert registration.find_app_id(unused.client_id) is not None
    assert not OAuthApp.objects.exists()
