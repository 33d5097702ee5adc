"""MCP for people who have signed in: the tier of their account, a rate limit of their own, and who gets 401."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue
from framework.api.urls import public_url
from payments.devchain.wallets import Wallet as Key
from payments.models import Plan, Wallet
from tests.mcp.client import post
from tests.payments.test_rate_limits import believed
from tests.security.live_product import stocked
from tests.support import oauth, users

pytestmark = pytest.mark.django_db

FIND: Mapping[str, Any] = {"name": "find_landmark", "arguments": {"query": "Tivoli"}}
METADATA = public_url("/.well-known/oauth-protected-resource/mcp")


def signed_in(venue: Venue, person: Client) -> Client:
    """A client of MCP with the token of a person."""
    token = oauth.dynamic_app().connect(person, oauth.whole(venue), resource=oauth.mcp())["access_token"]
    return Client(headers={"authorization": f"Bearer {token}"})


def test_a_person_has_the_tier_of_the_wallets_of_the_account(
    wallets: Mapping[str, Key], venue: Venue, settings: Settings
) -> None:
    believed(wallets["pro"], settings)
    Wallet.objects.update(account=venue.account)
    answer = post(signed_in(venue, users.member(venue)), "tools/call", FIND)
    assert (answer.status_code, answer["X-Tier"], answer["X-RateLimit-Limit"]) == (200, "pro", "120")


def test_each_person_has_a_rate_limit_of_their_own(venue: Venue) -> None:
    owner = users.member(venue)
    first, again, colleague = signed_in(venue, owner), signed_in(venue, owner), signed_in(venue, users.member(venue))
    left = [post(client, "tools/call", FIND)["X-RateLimit-Remaining"] for client in (first, again, colleague)]
    assert left == ["9", "8", "9"]
    # Nor do they share that of their address.
    assert post(Client(), "tools/call", FIND)["X-RateLimit-Remaining"] == "9"


def test_people_who_sign_in_share_no_messages_with_others_behind_their_address(venue: Venue) -> None:
    people = [signed_in(venue, users.member(venue)) for _ in range(2)]
    answers = [post(client, "tools/list") for client in (*people, Client(), people[0])]
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["239", "239", "239", "238"]
    assert answers[0]["RateLimit-Policy"] == '"mcp";q=240;w=60'


def test_a_caller_without_a_token_is_served_as_before(venue: Venue) -> None:
    assert post(Client(), "tools/list").status_code == 200


@pytest.mark.parametrize("token", ["oat_unknown", "something", "rk_live_wrong"])
def test_a_wrong_token_gets_401_that_leads_to_the_authorization_server(token: str) -> None:
    answer = post(Client(headers={"authorization": f"Bearer {token}"}), "tools/list")
    assert answer.status_code == 401
    challenge = f'Bearer realm="tablewire", error="invalid_token", resource_metadata="{METADATA}"'
    assert answer["WWW-Authenticate"] == challenge


def test_the_address_of_clients_that_sign_in_requires_a_token(venue: Venue) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = Client().post("/mcp/account", body, content_type="application/json")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == f'Bearer realm="tablewire", resource_metadata="{METADATA}/account"'
    served = signed_in(venue, users.member(venue)).post("/mcp/account", body, content_type="application/json")
    assert (served.status_code, served.json()["result"]) == (200, {})


def test_access_to_mcp_ends_with_the_membership(venue: Venue) -> None:
    client = signed_in(venue, users.member(venue))
    assert post(client, "tools/list").status_code == 200
    venue.account.memberships.all().delete()
    assert post(client, "tools/list").status_code == 401


def test_the_bookings_of_the_account_are_those_of_the_person(venue: Venue) -> None:
    client = signed_in(venue, users.member(venue))
    result = post(client, "tools/call", {"name": "list_my_bookings", "arguments": {}}).json()["result"]
    assert "isError" not in result


@pytest.mark.usefixtures("prices")
def test_a_plan_without_prices_pays_for_the_calls_of_a_person_without_a_wallet(venue: Venue) -> None:
    stocked()
    call = {"name": "get_surroundings", "arguments": {"slug": "noma"}}
    client = signed_in(venue, users.member(venue))
    assert post(client, "tools/call", call).json()["result"]["isError"]
    Plan.objects.create(
        name="All in", account=venue.account, tier="enterprise", price_factor=0, valid_from=timezone.now()
    )
    assert "isError" not in post(client, "tools/call", call).json()["result"]
