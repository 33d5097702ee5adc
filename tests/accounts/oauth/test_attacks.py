"""Attacks on the authorization server, which SECURITY.md lists."""

import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Membership, OAuthGrant, OAuthToken, Venue
from framework.api.urls import public_url
from payments.models import Wallet
from tests.support import oauth, users


@pytest.fixture
def owner(venue: Venue) -> Client:
    return users.member(venue)


@pytest.fixture
def app(venue: Venue) -> oauth.App:
    return oauth.dynamic_app()


def in_two_threads(call: Callable[[], Any]) -> list[int]:
    """The sorted statuses of two answers to the same request at once."""
    barrier, statuses = threading.Barrier(2), []

    def run() -> None:
        try:
            barrier.wait()
            statuses.append(call().status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(statuses)


def test_a_replayed_code_is_refused_and_ends_the_tokens(venue: Venue, owner: Client, app: oauth.App) -> None:
    code = app.ask(owner, access=venue.public_id)["code"]
    tokens = app.exchange(code).json()
    assert oauth.call(tokens["access_token"]).status_code == 200
    again = app.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert oauth.call(tokens["access_token"]).status_code == 401
    assert app.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", range(3))
def test_of_two_exchanges_at_once_one_gets_tokens_that_end(
    venue: Venue, owner: Client, app: oauth.App, _: int
) -> None:
    code = app.ask(owner, access=venue.public_id)["code"]
    assert in_two_threads(lambda: app.exchange(code)) == [200, 400]
    assert OAuthToken.objects.filter(kind="access").count() == 1
    assert OAuthGrant.objects.get().revoked_at is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", range(3))
def test_of_two_refreshes_at_once_at_most_one_gets_tokens(venue: Venue, owner: Client, app: oauth.App, _: int) -> None:
    token = app.connect(owner, venue)["refresh_token"]
    assert in_two_threads(lambda: app.refresh(token)) == [200, 400]
    assert OAuthToken.objects.filter(kind="refresh", used_at=None).count() == 1


def test_a_reused_refresh_token_ends_the_whole_family(venue: Venue, owner: Client, app: oauth.App) -> None:
    stolen = app.connect(owner, venue)
    second = app.refresh(stolen["refresh_token"]).json()
    third = app.refresh(second["refresh_token"]).json()
    assert app.refresh(stolen["refresh_token"]).json()["error"] == "invalid_grant"
    assert app.refresh(third["refresh_token"]).json()["error"] == "invalid_grant"
    assert [oauth.call(each["access_token"]).status_code for each in (stolen, second, third)] == [401, 401, 401]


def test_a_code_is_of_no_use_to_another_app(venue: Venue, owner: Client, app: oauth.App) -> None:
    code = app.ask(owner, access=venue.public_id)["code"]
    thief = oauth.dynamic_app()
    assert thief.exchange(code, code_verifier=app.verifier).json()["error"] == "invalid_grant"
    assert app.exchange(code).status_code == 200


def test_a_refresh_token_is_of_no_use_to_another_app(venue: Venue, owner: Client, app: oauth.App) -> None:
    tokens = app.connect(owner, venue)
    assert oauth.dynamic_app().refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert oauth.call(tokens["access_token"]).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": "s256"},
        {"code_challenge": None},
        {"code_challenge": "short"},
    ],
)
@pytest.mark.parametrize("is_registered", [False, True])
def test_without_pkce_by_s256_there_is_no_code(
    venue: Venue, owner: Client, app: oauth.App, changes: dict[str, Any], is_registered: bool
) -> None:
    client = oauth.registered_app(venue) if is_registered else app
    answer = owner.post(client.address(**changes), {"access": venue.public_id, "decision": "allow"})
    if is_registered:
        assert oauth.query_of(answer.headers["Location"])["error"] == "invalid_request"
    else:
        assert (answer.status_code, "Location" in answer.headers) == (400, False)
    assert not OAuthGrant.objects.exists()


@pytest.mark.parametrize("verifier", [None, "", "x" * 43, "short"])
def test_a_code_needs_its_verifier(venue: Venue, owner: Client, app: oauth.App, verifier: str | None) -> None:
    code = app.ask(owner, access=venue.public_id)["code"]
    assert app.exchange(code, code_verifier=verifier).status_code == 400
    assert not OAuthToken.objects.exists()
    assert app.exchange(code).status_code == 200


@pytest.mark.parametrize(
    "uri",
    [
        "https://pos.example.com/callback/",
        "https://pos.example.com/callback/..",
        "https://pos.example.com/callback?next=https://evil.example",
        "https://pos.example.com/callback#",
        "https://pos.example.com/callback#token",
        "https://pos.example.com/Callback",
        "https://POS.example.com/callback",
        "https://pos.example.com:443/callback",
        "https://pos.example.com.evil.example/callback",
        "https://pos.example.com@evil.example/callback",
        "https://evil.example/callback",
        "https://evil.example\\@pos.example.com/callback",
        "http://pos.example.com/callback",
        "//pos.example.com/callback",
        "javascript:alert(1)//https://pos.example.com/callback",
        " https://pos.example.com/callback",
        "",
        None,
    ],
)
def test_only_the_exact_redirect_uri_is_ever_redirected_to(
    venue: Venue, owner: Client, app: oauth.App, uri: str | None
) -> None:
    for changes in ({}, {"scope": "admin"}, {"response_type": "token"}):
        address = app.address(redirect_uri=uri, **changes)
        for answer in (owner.get(address), owner.post(address, {"access": venue.public_id, "decision": "deny"})):
            assert (answer.status_code, "Location" in answer.headers) == (400, False)
            assert "evil" not in answer.content.decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_an_app_on_this_machine_may_use_any_port(venue: Venue, owner: Client, host: str) -> None:
    app = oauth.dynamic_app(f"http://{host}/callback")
    for uri in (f"http://{host}:49152/callback", f"http://{host}/callback"):
        answer = owner.post(app.address(redirect_uri=uri), {"access": venue.public_id, "decision": "allow"})
        assert answer.headers["Location"].startswith(f"{uri}?code=oac_")
    for uri in (
        f"http://{host}:49152/other",
        f"http://{host}:49152@evil.example/callback",
        f"https://{host}/callback",
    ):
        assert owner.get(app.address(redirect_uri=uri)).status_code == 400


def test_an_app_that_anybody_may_register_does_not_make_us_an_open_redirect(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    answer = owner.get(app.address(scope="admin"))
    assert (answer.status_code, "Location" in answer.headers) == (400, False)
    page = answer.content.decode()
    assert "Back to pos.example.com" in page
    trusted = owner.get(oauth.registered_app(venue).address(scope="admin"))
    found = oauth.query_of(trusted.headers["Location"])
    assert (found["error"], found["iss"], found["state"]) == ("invalid_scope", public_url(""), "af0ifjsldkj")


def test_consent_needs_the_token_against_csrf(venue: Venue, app: oauth.App) -> None:
    person = Client(enforce_csrf_checks=True)
    person.force_login(users.membership(venue).user)
    for decision in ("allow", "deny"):
        answer = person.post(app.address(), {"access": venue.public_id, "decision": decision})
        assert answer.status_code == 403
    assert not OAuthGrant.objects.exists()


def test_a_get_request_grants_nothing(venue: Venue, owner: Client, app: oauth.App) -> None:
    answer = owner.get(app.address() + f"&access={venue.public_id}&decision=allow&prompt=none")
    assert answer.status_code == 200
    assert not OAuthGrant.objects.exists()


def test_a_refresh_narrows_scopes_and_never_widens_them(venue: Venue, owner: Client, app: oauth.App) -> None:
    tokens = app.connect(owner, venue, scope="orders:read orders:write")
    wider = app.refresh(tokens["refresh_token"], scope="orders:read menu:write")
    assert (wider.status_code, wider.json()["error"]) == (400, "invalid_scope")
    narrow = app.refresh(tokens["refresh_token"], scope="orders:read").json()
    assert narrow["scope"] == "orders:read"
    # The refresh token keeps what was granted.
    assert app.refresh(narrow["refresh_token"]).json()["scope"] == "orders:read orders:write"


def test_a_token_is_for_one_resource(venue: Venue, owner: Client, app: oauth.App) -> None:
    management = app.connect(owner, venue, resource=oauth.management())["access_token"]
    mcp = app.connect(owner, oauth.whole(venue), resource=oauth.mcp())["access_token"]
    data = app.connect(owner, oauth.whole(venue), resource=public_url("/v1"))["access_token"]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def statuses(token: str) -> list[int]:
        client = Client(headers={"authorization": f"Bearer {token}"})
        return [
            client.get(oauth.ORDERS).status_code,
            client.get("/v1/me").status_code,
            client.post("/mcp", ping, content_type="application/json").status_code,
        ]

    assert statuses(management) == [200, 401, 401]
    assert statuses(data) == [401, 200, 401]
    assert statuses(mcp) == [401, 401, 200]


@pytest.mark.parametrize(
    "resource",
    [
        "https://evil.example/mcp",
        "mcp",
        [public_url("/mcp"), public_url("/v1")],
        public_url("/mcp") + ".evil.example",
        public_url("") + ".evil.example/mcp",
        public_url("") + "@evil.example/mcp",
        public_url("/mcp#x"),
    ],
)
def test_a_foreign_resource_gets_no_token(venue: Venue, owner: Client, resource: Any) -> None:
    app = oauth.registered_app(venue)
    answer = owner.get(app.address(resource=resource))
    assert oauth.query_of(answer.headers["Location"])["error"] == "invalid_target"


def test_an_exchange_cannot_change_the_resource(venue: Venue, owner: Client, app: oauth.App) -> None:
    code = app.ask(owner, access=venue.public_id)["code"]
    assert app.exchange(code, resource=oauth.mcp()).json()["error"] == "invalid_target"
    tokens = app.exchange(code, resource=oauth.management()).json()
    assert app.refresh(tokens["refresh_token"], resource=oauth.mcp()).json()["error"] == "invalid_target"


def test_each_answer_of_the_authorization_endpoint_names_its_issuer(venue: Venue, owner: Client) -> None:
    app = oauth.registered_app(venue)
    for found in (
        app.ask(owner, access=venue.public_id),
        app.ask(owner, access=venue.public_id, decision="deny"),
        oauth.query_of(owner.get(app.address(response_type="token")).headers["Location"]),
    ):
        assert found["iss"] == public_url("")
    metadata = Client().get("/.well-known/oauth-authorization-server").json()
    assert (metadata["issuer"], metadata["authorization_response_iss_parameter_supported"]) == (public_url(""), True)


@pytest.mark.parametrize("body", ["grant_type=password&username=a&password=b", "grant_type=implicit", "", "%00=%00"])
def test_other_grants_do_not_exist(app: oauth.App, body: str) -> None:
    answer = app.http.post("/oauth/token", f"client_id={app.client_id}&{body}", content_type=oauth.FORM)
    assert (answer.status_code, answer.json()["error"]) in ((400, "unsupported_grant_type"), (400, "invalid_request"))


@pytest.mark.parametrize("value", ["\x00", "é", '"\\', "a" * 3000, "%"])
@pytest.mark.parametrize("name", ["state", "client_id", "scope", "resource", "response_type", "code_challenge"])
def test_odd_characters_are_refused_and_never_fail(owner: Client, app: oauth.App, name: str, value: str) -> None:
    assert owner.get(app.address(**{name: value})).status_code in (200, 400)
    assert app.token(**{"grant_type": "authorization_code", "code": "x", name: value}).status_code == 400


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "scope", "code_challenge"])
def test_a_repeated_parameter_is_refused(owner: Client, app: oauth.App, name: str) -> None:
    assert owner.get(f"{app.address()}&{name}=orders:read&{name}=x").status_code == 400


def test_the_secret_of_an_app_is_required(venue: Venue, owner: Client) -> None:
    app = oauth.registered_app(venue)
    code = app.ask(owner, access=venue.public_id)["code"]
    for secret in (None, "ocs_wrong", ""):
        assert app.exchange(code, client_secret=secret).json()["error"] == "invalid_client"
    assert app.exchange(code).status_code == 200


@pytest.mark.parametrize("credentials", [b"\xff\xff:x", b"app\x00:x", b"no-colon", b":", "é:x".encode(), b"a%00:b%ff"])
def test_odd_basic_credentials_are_refused_and_never_fail(db: None, credentials: bytes) -> None:
    header = f"Basic {base64.b64encode(credentials).decode()}"
    for value in (header, "Basic %%%", "Basic", "Basic  "):
        answer = Client(headers={"authorization": value}).post(
            "/oauth/token", "grant_type=client_credentials", content_type=oauth.FORM
        )
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


@pytest.mark.django_db
@pytest.mark.parametrize("credentials", [b"\0:\0", b"\xff:\xff", "é:é".encode()])
@pytest.mark.parametrize("start", ["Basic ", "Basic\t ", " Basic ", "Basic \t"])
def test_basic_credentials_that_are_no_text_are_refused(start: str, credentials: bytes) -> None:
    header = start + base64.b64encode(credentials).decode()
    body = "grant_type=client_credentials"
    answer = Client().post("/oauth/token", body, content_type=oauth.FORM, headers={"authorization": header})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_a_blank_scope_is_refused_and_leaves_the_refresh_token_unused(
    venue: Venue, owner: Client, app: oauth.App
) -> None:
    refresh_token = app.connect(owner, venue)["refresh_token"]
    answer = app.refresh(refresh_token, scope=" ")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")
    assert app.refresh(refresh_token).status_code == 200


def test_a_member_who_left_and_came_back_grants_again(venue: Venue, owner: Client, app: oauth.App) -> None:
    tokens = app.connect(owner, venue)
    former = Membership.objects.get(account=venue.account)
    former.delete()
    Membership.objects.create(account=venue.account, user=former.user, role=former.role)
    assert oauth.call(tokens["access_token"]).status_code == 401
    assert app.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert oauth.call(app.connect(owner, venue)["access_token"]).status_code == 200


def test_a_member_of_some_restaurants_grants_no_access_to_the_data_service(venue: Venue, app: oauth.App) -> None:
    person = users.member(venue)
    token = app.connect(person, oauth.whole(venue), resource=public_url("/v1"))["access_token"]
    data = Client(headers={"authorization": f"Bearer {token}"})
    assert data.get("/v1/me/wallets").status_code == 200
    membership = Membership.objects.get(account=venue.account)
    membership.is_limited = True
    membership.save()
    membership.venues.set([venue])
    assert data.get("/v1/me/wallets").status_code == 401
    address = app.address(resource=public_url("/v1"))
    assert person.post(address, {"access": oauth.whole(venue), "decision": "allow"}).status_code == 400


def test_an_app_unlinks_no_wallet_of_the_account(venue: Venue, owner: Client, app: oauth.App) -> None:
    address = "0x" + "a" * 40
    Wallet.objects.create(address=address, account=venue.account)
    token = app.connect(owner, oauth.whole(venue), resource=public_url("/v1"))["access_token"]
    answer = Client(headers={"authorization": f"Bearer {token}"}).delete(f"/v1/me/wallets/{address}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "missing_credentials")
    assert Wallet.objects.filter(account=venue.account).count() == 1
