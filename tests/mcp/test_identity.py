"""Who calls the MCP endpoint, and what they have: the credentials, tiers and one count of the data API."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, Venue
from accounts.oauth.resources import bearer_challenge
from payments.devchain.wallets import Wallet as Key
from payments.models import Wallet
from payments.x402.proofs import PAYMENT_META
from tests.mcp.client import Era, message, post, refusal_of, words_of
from tests.payments.signing import client_of, header_of
from tests.payments.test_rate_limits import believed, paid_before, payment
from tests.support import builders

pytestmark = pytest.mark.django_db

MARKETS = "/v1/markets"
FIND: Mapping[str, Any] = {"name": "find_landmark", "arguments": {"query": "Tivoli"}}
CHALLENGE = bearer_challenge("/mcp")
UNKNOWN = f"ws_{43 * 'A'}"


@pytest.fixture(autouse=True)
def _still() -> Any:
    """No window ends while a test lasts."""
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield


def asked(client: Client, params: Mapping[str, Any] = FIND, **rest: Any) -> Any:
    """The HTTP answer to a free call."""
    return post(client, "tools/call", params, **rest)


def left(response: Any) -> tuple[str, int, int]:
    """The limit that counted, how much it is, and what is left of it."""
    policy = response["RateLimit-Policy"].partition(";")[0].strip('"')
    return policy, int(response["X-RateLimit-Limit"]), int(response["X-RateLimit-Remaining"])


# Credentials
@pytest.mark.parametrize(("name", "limit"), [("free", 10), ("pro", 120), ("premium", 600), ("enterprise", 6000)])
def test_a_session_calls_on_the_tier_of_its_wallet(wallets: Mapping[str, Key], name: str, limit: int) -> None:
    response = asked(client_of(wallets[name]))
    assert (response.status_code, response["X-Tier"], left(response)) == (200, name, ("data", limit, limit - 1))
    assert "isError" not in response.json()["result"]


def test_a_key_calls_on_the_tier_of_its_account(wallets: Mapping[str, Key], venue: Venue, settings: Settings) -> None:
    believed(wallets["pro"], settings)
    Wallet.objects.update(account=venue.account)
    assert asked(builders.client(venue))["X-Tier"] == "pro"


def test_a_signed_challenge_names_its_wallet_once(wallets: Mapping[str, Key], client: Client) -> None:
    (header,) = header_of(wallets["pro"]).values()
    first = asked(client, SIGN_IN_WITH_X=header)
    assert (first.status_code, first["X-Tier"], left(first)) == (200, "pro", ("data", 120, 119))
    second = asked(client, SIGN_IN_WITH_X=header)
    assert (second.status_code, second["WWW-Authenticate"]) == (401, CHALLENGE)


def test_a_signed_challenge_is_not_spent_on_what_is_the_same_for_everybody(
    wallets: Mapping[str, Key], client: Client
) -> None:
    (header,) = header_of(wallets["pro"]).values()
    for method in ("initialize", "tools/list", "prompts/list", "ping"):
        assert post(client, method, SIGN_IN_WITH_X=header).status_code == 200
    assert asked(client, SIGN_IN_WITH_X=header)["X-Tier"] == "pro"


def test_a_payment_in_the_message_gives_the_tier_and_count_that_its_header_gives_at_rest(
    wallets: Mapping[str, Key], client: Client, settings: Settings
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    headers = payment(wallets["pro"], settings)
    (text,) = headers.values()
    by_message = asked(client, meta={PAYMENT_META: text})
    assert (by_message["X-Tier"], left(by_message)) == ("pro", ("data", 120, 119))
    assert client.get(MARKETS, headers=headers)["X-RateLimit-Remaining"] == "118"
    # Of the message, not of its HTTP.
    assert asked(client, PAYMENT_SIGNATURE=text)["X-Tier"] == "free"


@pytest.mark.parametrize("proof", ["junk", {}, [], 7, {"x402Version": 2}])
def test_a_payment_that_cannot_be_read_means_nothing_on_a_free_call(client: Client, proof: Any) -> None:
    response = asked(client, meta={PAYMENT_META: proof})
    assert "isError" not in response.json()["result"]
    assert left(response) == ("data", 10, 9)


def test_an_anonymous_caller_is_never_asked_to_sign_in(client: Client) -> None:
    for method, params in (("initialize", {}), ("tools/list", {}), ("tools/call", FIND)):
        response = post(client, method, params)
        assert (response.status_code, response["X-Tier"]) == (200, "free")
        assert "WWW-Authenticate" not in response


def tokens(venue: Venue) -> dict[str, str]:
    """Credentials that are wrong, by the code of their refusal."""
    revoked, expired = builders.key(venue), builders.key(venue)
    ApiKey.objects.filter(pk=revoked.row.pk).update(revoked_at=timezone.now() - timedelta(days=1))
    ApiKey.objects.filter(pk=expired.row.pk).update(expires_at=timezone.now() - timedelta(days=1))
    return {
        UNKNOWN: "invalid_credentials",
        "rk_nonsense": "invalid_credentials",
        "eyJhbGciOi": "invalid_credentials",
        "": "invalid_credentials",
        revoked.text: "revoked_api_key",
        expired.text: "expired_api_key",
    }


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_credential_that_is_not_good_any_more_is_401_for_every_message(
    client: Client, venue: Venue, era: Era
) -> None:
    for token, code in tokens(venue).items():
        for method, params in (("tools/list", {}), ("tools/call", FIND)):
            response = post(client, method, params, era=era, Authorization=f"Bearer {token}")
            assert (response.status_code, response["WWW-Authenticate"]) == (401, CHALLENGE)
            assert response["Content-Type"] == "application/json"
            content = response.json()
            assert (content["jsonrpc"], content["error"]["data"]["code"]) == ("2.0", code)
            assert isinstance(content["id"], int)


def test_a_wrong_credential_counts_on_its_address(client: Client) -> None:
    assert left(asked(client, Authorization=f"Bearer {UNKNOWN}")) == ("data", 10, 9)
    assert left(asked(client)) == ("data", 10, 8)


def test_a_session_and_a_challenge_of_two_wallets_are_refused_in_words(wallets: Mapping[str, Key]) -> None:
    (header,) = header_of(wallets["premium"]).values()
    response = asked(client_of(wallets["pro"]), SIGN_IN_WITH_X=header)
    assert response.status_code == 200
    result = response.json()["result"]
    assert refusal_of(result)["code"] == "invalid_request"
    assert "different wallets" in words_of(result)


def test_identifying_a_wallet_costs_one_query_and_an_anonymous_caller_none(
    client: Client, wallets: Mapping[str, Key], settings: Settings
) -> None:
    known = client_of(wallets["pro"])
    settings.TIER_CACHE_S = 600
    for caller, queries in ((known, 1), (client, 0)):
        with CaptureQueriesContext(connection) as made:
            assert post(caller, "tools/list").status_code == 200
        assert len(made) == queries


# One count
def test_calls_at_rest_and_over_mcp_are_one_count_for_an_address(client: Client) -> None:
    content = []
    for _ in range(5):
        content += [asked(client), client.get(MARKETS)]
    assert [left(response) for response in content] == [("data", 10, 9 - number) for number in range(10)]
    refused = asked(client)
    assert (refused.status_code, left(refused)) == (200, ("data", 10, 0))
    wait_s = int(refused["Retry-After"])
    result = refused.json()["result"]
    assert words_of(result) == f"Rate limit: 10 calls a minute on the free tier; next call in {wait_s} s."
    assert refusal_of(result)["code"] == "rate_limit_exceeded"
    assert 1 <= wait_s <= 61
    assert client.get(MARKETS).status_code == 429


def test_a_wallet_has_one_count_wherever_and_however_it_calls(wallets: Mapping[str, Key], settings: Settings) -> None:
    settings.TIER_CACHE_S = 600
    here, there = client_of(wallets["pro"]), client_of(wallets["pro"], address="192.0.2.77")
    for number in range(0, 8, 2):
        assert left(asked(here)) == ("data", 120, 119 - number)
        assert left(there.get(MARKETS)) == ("data", 120, 118 - number)
    # Its address has not paid for it.
    assert left(asked(Client())) == ("data", 10, 9)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_rest_and_mcp_share_one_rate_limit() -> None:
    def one(number: int) -> bool:
        client = Client()
        try:
            if number % 2:
                return "isError" not in asked(client).json()["result"]
            return client.get(MARKETS).status_code == 200
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sum(threads.map(one, range(24))) == 10


def test_reading_a_resource_counts_as_a_call_and_is_refused_as_one(client: Client) -> None:
    reads = [post(client, "resources/read", {"uri": "restaurants://account"}) for _ in range(11)]
    assert [left(response) for response in reads] == [("data", 10, max(9 - number, 0)) for number in range(11)]
    assert {response.status_code for response in reads} == {200}
    content = reads[-1].json()["error"]
    assert (content["data"]["code"], content["message"].startswith("Rate limit: 10 calls a minute")) == (
        "rate_limit_exceeded",
        True,
    )


def test_all_other_messages_are_counted_apart_and_take_nothing(client: Client) -> None:
    for method in ("initialize", "ping", "tools/list", "prompts/list", "resources/list", "nonsense"):
        assert left(post(client, method))[:2] == ("mcp", 240)
    assert left(post(client, "tools/call", FIND, is_notification=True))[:2] == ("mcp", 240)
    assert left(asked(client)) == ("data", 10, 9)


@pytest.mark.exhaustive
def test_a_flood_of_other_messages_is_429(client: Client, wallets: Mapping[str, Key]) -> None:
    answers = [post(client, "ping") for _ in range(241)]
    assert [response.status_code for response in answers] == [200] * 240 + [429]
    content = answers[-1].json()
    assert content["error"]["data"]["code"] == "rate_limit_exceeded"
    assert content["error"]["message"].startswith("Rate limit: 240 messages a minute; next call in ")
    assert answers[-1]["Retry-After"].isdigit()
    # Who has signed in there has a count of their own, which no tier raises; and calls go on.
    own = post(client_of(wallets["enterprise"]), "tools/list")
    assert (own.status_code, own["X-RateLimit-Limit"], own["X-RateLimit-Remaining"]) == (200, "240", "239")
    assert left(asked(client)) == ("data", 10, 9)


def test_callers_behind_the_proxy_are_counted_by_their_own_address(client: Client, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    for number in (1, 1, 2):
        response = asked(client, X_Forwarded_For=f"203.0.113.9, 198.51.100.{number}")
    assert left(response) == ("data", 10, 9)


# Prices
@pytest.mark.exhaustive
def test_bookings_have_one_count_at_both_doors(client: Client) -> None:
    guest = {"party_size": 2, "customer_name": "Ada", "customer_phone": "+4512345678"}
    wish = {"name": "book_table", "arguments": {"offer_id": "fo_01jd5k3v8rf8hb2m0c9t6w4y7z", **guest}}
    content = []
    for number in range(30):
        wish["arguments"]["customer_phone"] = f"+45123456{number:02}"  # type: ignore[index]
        content.append(asked(client, wish))
        offer = "/v1/flow/offers/off_01jd5k3v8rf8hb2m0c9t6w4y7z/bookings"
        content.append(client.post(offer, "{}", content_type="application/json"))
    assert [left(response) for response in content] == [("bookings", 60, 59 - number) for number in range(60)]
    refused = asked(client, wish)
    assert refused.status_code == 200
    assert words_of(refused.json()["result"]).startswith("Rate limit: 60 tries to book an hour; next call in ")
    # What books nothing is not touched.
    assert left(asked(client)) == ("data", 10, 9)


# Parts that are away
def test_without_the_counters_calls_are_served_and_counted_here(client: Client, settings: Settings) -> None:
    limits = settings.CACHES["limits"] | {"LOCATION": "redis://127.0.0.1:1"}
    settings.CACHES = settings.CACHES | {"limits": limits}
    answers = [asked(client) for _ in range(11)]
    assert {response.status_code for response in answers} == {200}
    assert [left(response)[2] for response in answers] == [*range(9, -1, -1), 0]
    assert words_of(answers[-1].json()["result"]).startswith("Rate limit: 10 calls a minute")


def test_the_body_and_the_headers_of_a_message_are_all_that_counts(client: Client) -> None:
    body, headers = message("tools/call", FIND)
    kind = headers.pop("Content-Type")
    for path in ("/mcp", "/mcp/"):
        response = client.post(path, json.dumps(body), content_type=kind, headers=headers)
        assert (response.status_code, left(response)[:2]) == (200, ("data", 10))
