"""API keys on the data API: the plan of their account, or the best of its wallets."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import ApiKey, Venue
from payments.chain import rpc
from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.identity import caller as identity_caller
from payments.models import Plan, Wallet
from payments.pricing import default_products
from tests.payments.signing import header_of
from tests.support import builders, users
from tests.support.live_server import NOWHERE

pytestmark = pytest.mark.django_db

ME = "/v1/me"
MARKETS = "/v1/markets"


@pytest.fixture
def api(venue: Venue) -> Client:
    """A caller of the data API with a key of the venue."""
    return builders.client(venue)


def linked(venue: Venue, key: Key, *, tier: str | None = None, ago: timedelta = timedelta(0)) -> Wallet:
    """A wallet of the venue's account; with a tier one of which that was read a while ago."""
    read = {"tier": tier, "read_at": datetime.now(UTC) - ago} if tier else {}
    return Wallet.objects.create(address=key.address, account=venue.account, **read)


def plan(venue: Venue, **fields: Any) -> Plan:
    """A plan of the venue's account that holds now."""
    return Plan.objects.create(
        **{"name": "Contract 7", "account": venue.account, "valid_from": datetime.now(UTC)} | fields
    )


def shown(response: Any) -> tuple[int, str, str]:
    return response.status_code, response["X-Tier"], response["X-RateLimit-Limit"]


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls each trip to the chain has carried."""
    made: list[int] = []
    batch = rpc.batch
    monkeypatch.setattr(rpc, "batch", lambda calls: made.append(len(calls)) or batch(calls))  # type: ignore[func-returns-value]
    return made


# Whose it is
def test_a_key_of_an_account_without_wallets_is_free_and_counts_on_the_account(venue: Venue, api: Client) -> None:
    first = api.get(MARKETS)
    assert (*shown(first), first["X-RateLimit-Remaining"]) == (200, "free", "10", "9")
    elsewhere = builders.client(venue, REMOTE_ADDR="192.0.2.77").get(MARKETS)
    assert elsewhere["X-RateLimit-Remaining"] == "8"
    assert Client().get(MARKETS)["X-RateLimit-Remaining"] == "9"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"revoked_at": datetime(2026, 1, 1, tzinfo=UTC)}, "revoked_api_key"),
        ({"expires_at": datetime(2026, 1, 1, tzinfo=UTC)}, "expired_api_key"),
        ({"digest": bytes(32)}, "invalid_credentials"),
    ],
)
def test_a_key_that_has_ended_is_refused_as_on_the_other_api(venue: Venue, change: dict[str, Any], code: str) -> None:
    key = builders.key(venue)
    ApiKey.objects.filter(pk=key.row.pk).update(**change)
    answers = [builders.client_with(key.text).get(path) for path in (MARKETS, "/api/v1/orders")]
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [(401, code)] * 2
    assert (answers[0]["X-Tier"], answers[0]["X-RateLimit-Remaining"]) == ("free", "9")


def test_a_mistyped_key_is_refused_without_a_look(venue: Venue) -> None:
    key = builders.key(venue).text
    with CaptureQueriesContext(connection) as queries:
        refused = builders.client_with(key[:-1] + "-").get(MARKETS)
    assert (refused.status_code, refused.json()["error"]["code"], len(queries)) == (401, "invalid_credentials", 0)


@pytest.mark.parametrize("header", ["Bearer rk_test_é", ""])
def test_a_credential_of_other_letters_than_ascii_is_refused(client: Client, header: str) -> None:
    # The web server hands on what is not ASCII as an empty header.
    refused = client.get(MARKETS, headers={"authorization": header})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_credentials")


def test_the_use_of_a_key_is_written_down(venue: Venue) -> None:
    issued = ApiKey.create(venue, name="new")
    builders.client_with(issued.text, REMOTE_ADDR="192.0.2.8").get(MARKETS)
    issued.row.refresh_from_db()
    assert issued.row.last_used_ip == "192.0.2.8"


def test_a_key_needs_no_scope_to_read(venue: Venue, wallets: Mapping[str, Key]) -> None:
    linked(venue, wallets["pro"])
    limited = builders.client_with(builders.key(venue, scopes=["orders:read"]).text)
    assert shown(limited.get(MARKETS)) == (200, "pro", "120")


# By wallets
def test_a_key_has_the_best_tier_of_its_accounts_wallets_for_one_trip_to_the_chain(
    venue: Venue, other_venue: Venue, api: Client, wallets: Mapping[str, Key], trips: list[int]
) -> None:
    for name in ("free", "premium", "pro"):
        linked(venue, wallets[name])
    linked(other_venue, wallets["enterprise"])
    response = api.get(MARKETS)
    assert shown(response) == (200, "premium", "600")
    assert len(trips) == 1
    assert {wallet.tier for wallet in Wallet.objects.filter(account=venue.account)} == {"free", "pro", "premium"}


def test_me_names_the_account_and_its_wallets_the_best_first(
    venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    default_products.create_missing()
    for name in ("free", "premium", "pro"):
        linked(venue, wallets[name])
    me = api.get(ME).json()
    assert (me["identified_by"], me["account"], me["tier"], me["holdings_usd"]) == (
        "key",
        {"name": venue.account.name},
        "premium",
        "2000",
    )
    assert me["wallets"] == [to_checksum_address(wallets[name].address) for name in ("premium", "pro", "free")]
    assert me["wallet"] == me["wallets"][0]


def test_of_equal_wallets_the_first_by_address_stands_for_the_account(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S = 600
    default_products.create_missing()
    both = sorted([wallets["pro"], wallets["premium"]], key=lambda key: key.address)
    for key in both:
        linked(venue, key, tier="pro")
    assert api.get(ME).json()["wallets"] == [to_checksum_address(key.address) for key in both]


@pytest.mark.exhaustive
def test_who_calls_again_within_a_second_costs_no_query_and_then_one(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    linked(venue, wallets["pro"], tier="pro")
    linked(venue, wallets["premium"], tier="premium")
    api.get(MARKETS)
    with CaptureQueriesContext(connection) as queries:
        assert api.get("/v1/nothing")["X-Tier"] == "premium"
    assert [query["sql"] for query in queries if "keychange" not in query["sql"]] == []
    time.sleep(identity_caller.CALLER_TTL_S)
    with CaptureQueriesContext(connection) as queries:
        assert api.get("/v1/nothing")["X-Tier"] == "premium"
    assert len(queries) == 2
    assert "keychange" in queries[0]["sql"]


@pytest.mark.exhaustive
def test_what_staff_agree_on_shows_within_a_second(settings: Settings, venue: Venue, api: Client) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    assert api.get("/v1/nothing")["X-Tier"] == "free"
    plan(venue)
    time.sleep(identity_caller.CALLER_TTL_S)
    assert api.get("/v1/nothing")["X-Tier"] == "enterprise"


def test_while_the_chain_is_away_the_wallets_of_a_key_keep_their_tiers_for_a_day(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"
    linked(venue, wallets["premium"], tier="premium", ago=timedelta(hours=25))
    linked(venue, wallets["pro"], tier="pro", ago=timedelta(hours=23))
    linked(venue, wallets["enterprise"])
    assert shown(api.get(MARKETS)) == (200, "pro", "120")
    Wallet.objects.update(read_at=datetime.now(UTC) - timedelta(hours=25))
    assert shown(api.get(MARKETS)) == (200, "free", "10")


def test_a_challenge_beside_a_key_lets_its_wallet_count_too(
    venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    linked(venue, wallets["pro"])
    assert shown(api.get(MARKETS, headers=header_of(wallets["premium"]))) == (200, "premium", "600")
    assert shown(api.get(MARKETS)) == (200, "pro", "120")
    assert not Wallet.objects.filter(account=venue.account, pk=wallets["premium"].address).exists()


# What rises
def pending(record: dict[str, Any]) -> tuple[str | None, str | None]:
    """The pending tier of a profile or a wallet, and when it applies."""
    return record["pending_tier"], record["pending_tier_at"]


def set_pending_tier(wallet: Wallet, tier: str, *, minutes: int) -> datetime:
    """Have the wallet rise to a tier in so many minutes, and return when that is."""
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=minutes)
    Wallet.objects.filter(pk=wallet.pk).update(pending_tier=tier, pending_tier_at=at)
    return at


def test_a_key_sees_the_first_rise_of_its_wallets_above_its_own_tier(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TIER_CACHE_S = 600
    monkeypatch.setattr(identity_caller, "CALLER_TTL_S", 0.0)
    default_products.create_missing()
    one, two = linked(venue, wallets["free"], tier="free"), linked(venue, wallets["premium"], tier="free")
    later = set_pending_tier(one, "premium", minutes=9)
    assert pending(api.get(ME).json()) == ("premium", f"{later:%Y-%m-%dT%H:%M:%SZ}")
    sooner = set_pending_tier(two, "pro", minutes=5)
    assert pending(api.get(ME).json()) == ("pro", f"{sooner:%Y-%m-%dT%H:%M:%SZ}")
    linked(venue, wallets["pro"], tier="pro")
    me = api.get(ME).json()
    assert (me["tier"], pending(me)) == ("pro", ("premium", f"{later:%Y-%m-%dT%H:%M:%SZ}"))
    plan(venue, tier="premium")
    assert pending(api.get(ME).json()) == (None, None)


def test_while_the_chain_is_down_a_key_has_no_pending_tier(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    default_products.create_missing()
    wallet = linked(venue, wallets["pro"], tier="pro", ago=timedelta(minutes=5))
    set_pending_tier(wallet, "premium", minutes=-1)
    me = api.get(ME).json()
    assert (me["tier"], pending(me)) == ("pro", (None, None))
    [listed] = api.get("/v1/me/wallets").json()["data"]
    assert (listed["tier"], pending(listed)) == ("pro", (None, None))


# By plan
def test_a_plan_gives_a_key_its_tier_rate_and_prices_without_the_chain(
    settings: Settings, venue: Venue, api: Client
) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"
    default_products.create_missing()
    until = datetime.now(UTC) + timedelta(days=30)
    plan(venue, per_minute=50_000, price_factor=Decimal("0.5"), sla="99.9 % a month", valid_until=until)
    assert shown(api.get(MARKETS)) == (200, "enterprise", "50000")
    me = api.get(ME).json()
    assert me["plan"] == {
        "name": "Contract 7",
        "tier": "enterprise",
        "price_factor": "0.5",
        "valid_until": f"{until:%Y-%m-%dT%H:%M:%SZ}",
    }
    assert (me["sla"], me["support"], me["wallet"], me["wallets"]) == ("99.9 % a month", "dedicated", None, [])
    assert me["prices"]["products"][1] == {"product": "context", "amount": "0.00025", "from_tier": "free"}


def test_a_plan_that_is_over_or_has_not_begun_gives_nothing(venue: Venue, api: Client) -> None:
    now = datetime.now(UTC)
    plan(venue, valid_from=now - timedelta(days=9), valid_until=now - timedelta(days=1))
    plan(venue, valid_from=now + timedelta(days=1))
    assert shown(api.get(MARKETS)) == (200, "free", "10")


def test_a_wallet_above_the_plan_keeps_its_tier(venue: Venue, api: Client, wallets: Mapping[str, Key]) -> None:
    plan(venue, tier="pro", per_minute=200)
    assert shown(api.get(MARKETS)) == (200, "pro", "200")
    linked(venue, wallets["premium"])
    assert shown(api.get(MARKETS)) == (200, "premium", "600")


def test_the_plan_of_one_wallet_is_for_payments_of_the_accounts_wallets_only(
    settings: Settings, venue: Venue, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S = 600
    wallet = linked(venue, wallets["pro"], tier="pro")
    other = linked(venue, wallets["free"], tier="free")
    of_wallet = plan(venue, account=None, wallet=wallet)
    request = RequestFactory().get(MARKETS, headers={"authorization": f"Bearer {builders.key(venue).text}"})
    caller = identity_caller.identify_caller(request, now=datetime.now(UTC))
    assert caller.terms.plan == of_wallet.pk
    assert [caller.terms_for(payer) for payer in (wallet.address, other.address, wallets["premium"].address)] == [
        caller.terms,
        caller.terms,
        None,
    ]


def test_the_plan_of_an_account_is_for_payments_of_any_wallet(venue: Venue, wallets: Mapping[str, Key]) -> None:
    plan(venue)
    request = RequestFactory().get(MARKETS, headers={"authorization": f"Bearer {builders.key(venue).text}"})
    caller = identity_caller.identify_caller(request, now=datetime.now(UTC))
    assert (caller.wallet, caller.is_identified, caller.terms_for(wallets["free"].address)) == (
        None,
        True,
        caller.terms,
    )


# Keys of members of some restaurants
def created_on_dashboard(venue: Venue, *, limited: bool) -> str:
    """The text of a key that a manager of all restaurants, or of this one, has created."""
    person = users.member(venue, "manager", [venue] if limited else [])
    answer = person.post(f"/dashboard/{venue.public_id}/keys/new", {"name": "Till", "scopes": ["orders:read"]})
    page = person.get(answer["Location"]).content.decode()
    found = re.search(r"rk_live_\w{46}", page)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("path", ["/v1/me", "/v1/payments", "/v1/me/wallets", "/v1/exports", MARKETS])
def test_the_key_of_a_member_of_some_restaurants_does_not_open_the_data_service(venue: Venue, path: str) -> None:
    limited = builders.client_with(created_on_dashboard(venue, limited=True))
    refused = limited.get(path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "insufficient_scope")
    assert limited.get("/api/v1/orders").status_code == 200
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert limited.post("/mcp", ping, content_type="application/json").status_code == 401
    whole = builders.client_with(created_on_dashboard(venue, limited=False))
    assert whole.get(path).json().get("error", {}).get("code") != "insufficient_scope"


def test_rotation_gives_no_member_of_some_restaurants_the_data_service(venue: Venue) -> None:
    key = builders.key(venue).row
    person = users.member(venue, "manager", [venue])
    person.post(f"/dashboard/{venue.public_id}/keys/{key.public_id}/rotate", {"overlap": "2"})
    newest = ApiKey.objects.latest("created_at")
    assert (newest.family, newest.has_data_access) == (key.family, False)
    owner = users.member(venue)
    owner.post(f"/dashboard/{venue.public_id}/keys/{newest.public_id}/rotate", {"overlap": "2"})
    assert ApiKey.objects.latest("created_at").has_data_access is False
