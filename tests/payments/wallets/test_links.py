"""Wallets that are linked to an account: by whom, to how many, and to one account at a time."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.conf import settings as our
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import Venue
from accounts.models.api_keys import default_scopes
from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.models import Billing, SpentChallenge, Wallet
from tests.payments.signing import client_of, header_of, signature_of, signed_challenge
from tests.support import builders
from tests.support.live_server import NOWHERE

pytestmark = pytest.mark.django_db

LINKED = "/v1/me/wallets"


@pytest.fixture
def api(venue: Venue) -> Client:
    """A caller of the data API with a key of the venue that has the scopes of a new key."""
    return builders.client_with(builders.key(venue, scopes=default_scopes()).text)


@pytest.fixture
def other_api(other_venue: Venue) -> Client:
    """One with a key of another account."""
    return builders.client(other_venue)


def link(api: Client, key: Key) -> Any:
    """The answer to a key that links a wallet."""
    return api.post(LINKED, signed_challenge(Client(), key), content_type="application/json")


def outcome(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def at(key: Key) -> str:
    return f"{LINKED}/{key.address}"


def account_of(key: Key) -> str | None:
    """The name of the account to which the wallet is linked."""
    wallet = Wallet.objects.select_related("account").filter(pk=key.address).first()
    return wallet.account.name if wallet and wallet.account else None


def ours_of(number: int) -> str:
    """The address of a wallet that nobody has."""
    return f"0x{number:040x}"


# Linking
def test_a_proven_wallet_is_linked_and_raises_the_tier_of_the_accounts_keys(
    venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    response = link(api, wallets["pro"])
    record = response.json()
    assert (response.status_code, response["Location"]) == (
        201,
        f"{our.PUBLIC_BASE_URL}{LINKED}/{to_checksum_address(wallets['pro'].address)}",
    )
    assert record.pop("read_at") is not None
    assert record == {
        "address": to_checksum_address(wallets["pro"].address),
        "tier": "pro",
        "pending_tier": None,
        "pending_tier_at": None,
        "holdings_usd": "250",
        "staked": "0",
    }
    assert builders.client(venue).get("/v1/markets")["X-Tier"] == "pro"


def test_linking_again_changes_nothing(api: Client, wallets: Mapping[str, Key]) -> None:
    assert [link(api, wallets["pro"]).status_code for _ in range(2)] == [201, 200]
    assert Wallet.objects.filter(account__isnull=False).count() == 1


def test_the_header_of_x402_links_too(api: Client, wallets: Mapping[str, Key]) -> None:
    assert api.post(LINKED, headers=header_of(wallets["pro"])).status_code == 201
    assert account_of(wallets["pro"]) == "Trattoria Ltd"


@pytest.mark.exhaustive
def test_proven_to_another_account_a_wallet_moves_there(
    api: Client, other_api: Client, wallets: Mapping[str, Key]
) -> None:
    link(api, wallets["pro"])
    assert link(other_api, wallets["pro"]).status_code == 201
    assert account_of(wallets["pro"]) == "Bistro SARL"
    assert api.get(LINKED).json() == {"data": []}
    assert api.get("/v1/markets")["X-Tier"] == "free"


def test_what_another_wallet_has_signed_links_nothing(api: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(Client(), wallets["enterprise"])
    forged = body | {"signature": signature_of(wallets["free"], body["message"])}
    assert outcome(api.post(LINKED, forged, content_type="application/json")) == (401, "invalid_credentials")
    assert account_of(wallets["enterprise"]) is None


def test_a_challenge_links_once(api: Client, other_api: Client, wallets: Mapping[str, Key]) -> None:
    body = signed_challenge(Client(), wallets["pro"])
    assert api.post(LINKED, body, content_type="application/json").status_code == 201
    again = other_api.post(LINKED, body, content_type="application/json")
    assert outcome(again) == (401, "invalid_credentials")
    assert account_of(wallets["pro"]) == "Trattoria Ltd"


def test_a_body_that_cannot_be_read_is_refused_by_its_parameter(api: Client) -> None:
    response = api.post(LINKED, {"message": "Let me in"}, content_type="application/json")
    assert (*outcome(response), response.json()["error"]["param"]) == (400, "invalid_request", "signature")


def test_a_wallet_is_linked_also_while_the_chain_is_away(
    settings: Settings, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"
    response = link(api, wallets["pro"])
    assert (response.status_code, response.json()["tier"], response.json()["read_at"]) == (201, "free", None)
    assert account_of(wallets["pro"]) == "Trattoria Ltd"


# By whom
def test_a_key_that_was_issued_for_less_links_and_unlinks_nothing(
    venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    link(api, wallets["pro"])
    limited = builders.client_with(builders.key(venue, scopes=["orders:read", "orders:write"]).text)
    assert outcome(link(limited, wallets["free"])) == (401, "insufficient_scope")
    refused = limited.delete(at(wallets["pro"]))
    assert outcome(refused) == (401, "insufficient_scope")
    assert 'scope="menu:write"' in refused["WWW-Authenticate"]
    assert [account_of(wallets[name]) for name in ("pro", "free")] == ["Trattoria Ltd", None]
    assert [wallet["address"] for wallet in limited.get(LINKED).json()["data"]] == [
        to_checksum_address(wallets["pro"].address)
    ]


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_anonymous_callers_see_and_change_nothing(client: Client, method: str, wallets: Mapping[str, Key]) -> None:
    path = LINKED if method != "delete" else at(wallets["pro"])
    assert outcome(getattr(client, method)(path)) == (401, "missing_credentials")


def test_a_wallet_alone_links_itself_to_nothing(wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["pro"])
    before = SpentChallenge.objects.count()
    assert outcome(link(api, wallets["pro"])) == (401, "missing_credentials")
    assert SpentChallenge.objects.count() == before


@pytest.mark.exhaustive
def test_a_session_sees_its_own_wallet_only(api: Client, wallets: Mapping[str, Key]) -> None:
    link(api, wallets["pro"])
    link(api, wallets["premium"])
    session = client_of(wallets["pro"])
    assert [wallet["address"] for wallet in session.get(LINKED).json()["data"]] == [
        to_checksum_address(wallets["pro"].address)
    ]
    me = session.get("/v1/me").json()
    assert (me["account"], me["tier"], me["wallets"]) == (
        {"name": "Trattoria Ltd"},
        "pro",
        [to_checksum_address(wallets["pro"].address)],
    )


@pytest.mark.exhaustive
def test_a_list_has_the_wallets_of_the_account_the_best_first(
    api: Client, other_api: Client, wallets: Mapping[str, Key]
) -> None:
    for name in ("free", "premium", "pro"):
        link(api, wallets[name])
    link(other_api, wallets["enterprise"])
    listed = api.get(LINKED, headers=header_of(wallets["enterprise"])).json()["data"]
    assert [(wallet["address"], wallet["tier"]) for wallet in listed] == [
        (to_checksum_address(wallets[name].address), name) for name in ("premium", "pro", "free")
    ]


# Unlinking
def test_a_key_of_the_account_unlinks_in_any_case_of_letters(api: Client, wallets: Mapping[str, Key]) -> None:
    link(api, wallets["pro"])
    response = api.delete(f"{LINKED}/{to_checksum_address(wallets['pro'].address)}")
    assert (response.status_code, response.content) == (204, b"")
    assert outcome(api.delete(at(wallets["pro"]))) == (404, "not_found")
    assert Wallet.objects.get(pk=wallets["pro"].address).account is None


@pytest.mark.parametrize("by", ["session", "challenge"])
def test_a_wallet_unlinks_itself(api: Client, wallets: Mapping[str, Key], by: str) -> None:
    link(api, wallets["pro"])
    caller = client_of(wallets["pro"]) if by == "session" else Client(headers=header_of(wallets["pro"]))
    assert caller.delete(at(wallets["pro"])).status_code == 204
    assert account_of(wallets["pro"]) is None


@pytest.mark.exhaustive
def test_a_wallet_unlinks_itself_also_beside_a_key_of_another_account(
    api: Client, other_api: Client, wallets: Mapping[str, Key]
) -> None:
    for name in ("pro", "premium"):
        link(api, wallets[name])
    signed = header_of(wallets["pro"])
    assert other_api.delete(at(wallets["pro"]), headers=signed).status_code == 204
    refused = other_api.delete(at(wallets["premium"]), headers=header_of(wallets["pro"]))
    assert outcome(refused) == (404, "not_found")
    assert [account_of(wallets[name]) for name in ("pro", "premium")] == [None, "Trattoria Ltd"]


def test_other_callers_cannot_unlink_a_wallet(api: Client, other_api: Client, wallets: Mapping[str, Key]) -> None:
    link(api, wallets["pro"])
    for other in (other_api, client_of(wallets["premium"])):
        assert outcome(other.delete(at(wallets["pro"]))) == (404, "not_found")
    assert account_of(wallets["pro"]) == "Trattoria Ltd"


def test_a_wallet_does_not_leave_an_account_with_a_limit(
    api: Client, other_api: Client, venue: Venue, wallets: Mapping[str, Key]
) -> None:
    link(api, wallets["pro"])
    Billing.objects.create(account=venue.account, monthly_limit_usdc=5)
    signed = header_of(wallets["pro"])
    for refused in (
        client_of(wallets["pro"]).delete(at(wallets["pro"])),
        other_api.delete(at(wallets["pro"]), headers=signed),
        link(other_api, wallets["pro"]),
    ):
        assert outcome(refused) == (400, "invalid_request")
        assert "has a spending limit" in refused.json()["error"]["message"]
    assert account_of(wallets["pro"]) == "Trattoria Ltd"
    assert link(api, wallets["pro"]).status_code == 200
    assert api.delete(at(wallets["pro"])).status_code == 204


# At once
def at_once(*calls: tuple[Client, Key]) -> list[int]:
    """The answers to keys that each link a wallet at the same moment."""
    bodies = [signed_challenge(Client(), key) for _, key in calls]
    ready = Barrier(len(calls))

    def come(number: int) -> int:
        try:
            ready.wait()
            response = calls[number][0].post(LINKED, bodies[number], content_type="application/json")
            return int(response.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return sorted(threads.map(come, range(len(calls))))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_accounts_that_link_a_wallet_at_once_one_has_it(
    api: Client, other_api: Client, wallets: Mapping[str, Key]
) -> None:
    for _ in range(3):
        Wallet.objects.all().delete()
        assert at_once((api, wallets["pro"]), (other_api, wallets["pro"])) == [201, 201]
        listed = [len(caller.get(LINKED).json()["data"]) for caller in (api, other_api)]
        assert sorted(listed) == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_an_account_has_at_most_ten_wallets_also_with_concurrent_links(
    settings: Settings, venue: Venue, api: Client, wallets: Mapping[str, Key]
) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"
    Wallet.objects.bulk_create(Wallet(address=ours_of(number), account=venue.account) for number in range(9))
    assert at_once((api, wallets["pro"]), (builders.client(venue), wallets["premium"])) == [201, 400]
    assert Wallet.objects.filter(account=venue.account).count() == 10
    link(api, wallets["free"])
    assert Wallet.objects.filter(account=venue.account).count() == 10
