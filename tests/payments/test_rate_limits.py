"""The doorway of the data API: whose count a call is on, and how far it goes."""

import base64
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from coincurve import PrivateKey
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import Venue
from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import Allowance, count_call
from framework.api.urls import public_url
from payments.chain import evm
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet as Key
from payments.devchain.wallets import from_key
from payments.identity.caller import Caller
from payments.models import Payment, Plan, Wallet
from payments.tiers.terms import STANDARD
from tests.payments import ledger_builders
from tests.payments.buyer import REVIEWS, buy, paid_by
from tests.payments.signing import CHALLENGE, SESSION, client_of
from tests.support import builders, oauth, users
from tests.support.live_server import NOWHERE
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db

MARKETS = "/v1/markets"
ELSEWHERE = "192.0.2.77"


def remaining(response: Any) -> int:
    return int(response["X-RateLimit-Remaining"])


def believed(key: Key, settings: Settings, *, tier: str = "pro") -> Wallet:
    """A wallet of which something was read just now, and is believed."""
    settings.TIER_CACHE_S = 600
    return Wallet.objects.create(address=key.address, tier=tier, read_at=datetime.now(UTC))


def paid_before(key: Key, *, address: str = "127.0.0.1", **fields: Any) -> None:
    """A payment of this wallet that was settled lately for a caller at this address."""
    now = datetime.now(UTC)
    ledger_builders.payment(
        Payment.objects.count(),
        payer=key.address,
        origin=address_bucket(RequestFactory().get("/", REMOTE_ADDR=address)),
        **{"created_at": now, "claimed_at": now, "settled_at": now} | fields,
    )


def payment(key: Key, settings: Settings, *, signed_by: Key | None = None, **changes: Any) -> dict[str, str]:
    """The header of a signed payment, as x402 clients of version 2 send it."""
    now = int(datetime.now(UTC).timestamp())
    terms = {"to": settings.PAY_TO, "value": 2000, "valid_after": now - 600, "valid_before": now + 60} | changes
    nonce = secrets.token_bytes(32)
    digest = evm.hash_transfer_authorization(payment_network(), sender=key.address, nonce=nonce, **terms)
    made = PrivateKey(bytes.fromhex((signed_by or key).private_key[2:])).sign_recoverable(digest, hasher=None)
    network = payment_network()
    content = {
        "x402Version": 2,
        "accepted": {
            "scheme": "exact",
            "network": network.caip2,
            "asset": network.asset,
            "amount": str(terms["value"]),
            "payTo": terms["to"],
            "maxTimeoutSeconds": 60,
        },
        "payload": {
            "signature": f"0x{made[:64].hex()}{made[64] + 27:02x}",
            "authorization": {
                "from": key.address,
                "to": terms["to"],
                "value": str(terms["value"]),
                "validAfter": str(terms["valid_after"]),
                "validBefore": str(terms["valid_before"]),
                "nonce": f"0x{nonce.hex()}",
            },
        },
    }
    return {"payment-signature": base64.b64encode(json.dumps(content).encode()).decode()}


# Sessions
@pytest.mark.parametrize(
    ("name", "limit"), [("free", "10"), ("pro", "120"), ("premium", "600"), ("enterprise", "6000")]
)
def test_a_session_is_served_on_the_tier_of_its_wallet(wallets: Mapping[str, Key], name: str, limit: str) -> None:
    response = client_of(wallets[name]).get(MARKETS)
    assert (response.status_code, response["X-Tier"], response["X-RateLimit-Limit"]) == (200, name, limit)
    assert response["RateLimit-Policy"] == f'"data";q={limit};w=60'


@pytest.mark.exhaustive
def test_pro_has_120_requests_a_minute_from_wherever_it_calls(settings: Settings, wallets: Mapping[str, Key]) -> None:
    settings.TIER_CACHE_S = 600
    here, there = client_of(wallets["pro"]), client_of(wallets["pro"], address=ELSEWHERE)
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [(here, there)[number % 2].get(MARKETS) for number in range(121)]
    assert [answer.status_code for answer in answers] == [200] * 120 + [429]
    assert [remaining(answer) for answer in answers] == [*range(119, -1, -1), 0]
    assert answers[-1]["X-Tier"] == "pro"


def test_a_wallet_of_the_free_tier_has_a_count_of_its_own_wherever_it_calls(
    wallets: Mapping[str, Key], client: Client
) -> None:
    free, there = client_of(wallets["free"]), client_of(wallets["free"], address=ELSEWHERE)
    assert [remaining(caller.get(MARKETS)) for caller in (free, client, there)] == [9, 9, 8]


def test_free_wallets_at_one_address_have_ten_times_its_limit_together(client: Client) -> None:
    """Anybody can create wallets, so they do not multiply what an address has."""
    with time_machine.travel(datetime.now(UTC), tick=False):
        many = [client_of(fresh_wallet()) for _ in range(11)]
        used = [[each.get(MARKETS).status_code for _ in range(10)] for each in many[:10]]
        refused = many[10].get(MARKETS)
        elsewhere = client_of(fresh_wallet(), address=ELSEWHERE).get(MARKETS)
    assert used == [[200] * 10] * 10
    assert (refused.status_code, refused["RateLimit-Policy"]) == (429, '"data-shared";q=100;w=60')
    assert (refused["X-RateLimit-Limit"], refused["X-RateLimit-Remaining"]) == ("100", "0")
    # Who is anonymous there, and wallets elsewhere, are not limited by them.
    assert (client.get(MARKETS).status_code, elsewhere.status_code) == (200, 200)


def test_a_wallet_above_free_takes_nothing_from_its_address(wallets: Mapping[str, Key], client: Client) -> None:
    client_of(wallets["pro"]).get(MARKETS)
    assert remaining(client.get(MARKETS)) == 9


def test_a_believed_session_costs_one_query(settings: Settings, wallets: Mapping[str, Key]) -> None:
    api = client_of(wallets["pro"])
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    with CaptureQueriesContext(connection) as queries:
        assert api.get("/v1/nothing")["X-Tier"] == "pro"
    assert len(queries) == 1


@pytest.mark.parametrize("token", ["ws_" + 43 * "A", "ws_short", "ws_"])
def test_a_wrong_token_is_refused_and_counted_on_the_address(client: Client, token: str) -> None:
    refused = client.get(MARKETS, headers={"authorization": f"Bearer {token}"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_credentials")
    assert (refused["X-Tier"], remaining(refused)) == ("free", 9)
    assert remaining(client.get(MARKETS)) == 8


@pytest.mark.parametrize("authorization", ["Bearer eyJhbGciOi", "Basic dTpw", "Bearer", "ws_"])
def test_credentials_of_others_mean_nothing_here(client: Client, authorization: str) -> None:
    response = client.get(MARKETS, headers={"authorization": authorization})
    assert (response.status_code, response["X-Tier"]) == (200, "free")


# Accounts that anybody can create
def signed_up(number: int = 0, *, is_confirmed: bool = False) -> Venue:
    """A sandbox of an owner who has signed up."""
    venue = builders.venue(f"Bot {number}", is_sandbox=True)
    owner = users.membership(venue).user
    EmailAddress.objects.create(user=owner, email=owner.email, verified=is_confirmed, primary=True)
    return venue


def try_to_book(client: Client) -> str:
    """The limits that an attempt to book counts on."""
    response = client.post("/v1/restaurants/nowhere/bookings", {}, "application/json")
    return str(response["RateLimit-Policy"])


BOOKINGS_OF_FREE, BOOKINGS_OF_KNOWN = '"bookings";q=60;w=3600', '"bookings";q=600;w=3600'


@pytest.mark.exhaustive
def test_unconfirmed_accounts_and_free_wallets_at_one_address_share_ten_times_its_limit(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        accounts = [builders.client(signed_up(number)) for number in range(9)]
        many = [*accounts, client_of(fresh_wallet())]
        used = [[each.get(MARKETS).status_code for _ in range(10)] for each in many]
        late = builders.client(signed_up(9))
        refused = late.get(MARKETS)
        elsewhere = builders.client(signed_up(10), REMOTE_ADDR=ELSEWHERE).get(MARKETS)
        known = builders.client(signed_up(11, is_confirmed=True)).get(MARKETS)
    assert used == [[200] * 10] * 10
    assert (refused.status_code, refused["RateLimit-Policy"]) == (429, '"data-shared";q=100;w=60')
    assert (client.get(MARKETS).status_code, elsewhere.status_code, known.status_code) == (200, 200, 200)


@pytest.mark.exhaustive
def test_what_is_refused_on_the_shared_count_is_not_counted(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        for _ in range(10):
            wallet = client_of(fresh_wallet())
            for _ in range(10):
                wallet.get(MARKETS)
        late = client_of(fresh_wallet())
        answers = [late.get(MARKETS) for _ in range(3)]
        usage = count_call("data-shared", Allowance(address_bucket(RequestFactory().get("/")), 100, 60))
    assert [answer.status_code for answer in answers] == [429] * 3
    assert usage.count == 101


def test_an_account_books_for_many_guests_once_an_owner_has_confirmed_an_address(db: None) -> None:
    venue = signed_up()
    assert try_to_book(builders.client(venue)) == BOOKINGS_OF_FREE
    EmailAddress.objects.update(verified=True)
    assert try_to_book(builders.client(venue)) == BOOKINGS_OF_KNOWN


def test_an_account_books_for_many_guests_with_a_plan(db: None) -> None:
    venue = signed_up()
    Plan.objects.create(name="Contract 7", account=venue.account, valid_from=datetime.now(UTC))
    assert try_to_book(builders.client(venue)) == BOOKINGS_OF_KNOWN


def test_an_account_books_for_many_guests_by_a_wallet_above_free(wallets: Mapping[str, Key]) -> None:
    venue = signed_up()
    Wallet.objects.create(address=wallets["pro"].address, account=venue.account)
    assert try_to_book(builders.client(venue)) == BOOKINGS_OF_KNOWN


def test_an_app_of_an_unconfirmed_account_has_the_limit_of_free_callers(db: None) -> None:
    venue = signed_up()
    person = users.signed_in(venue.account.members.get())
    tokens = oauth.dynamic_app().connect(person, oauth.whole(venue), resource=public_url("/v1"))
    app = Client(headers={"authorization": f"Bearer {tokens['access_token']}"})
    assert try_to_book(app) == BOOKINGS_OF_FREE
    EmailAddress.objects.update(verified=True)
    assert try_to_book(app) == BOOKINGS_OF_KNOWN


def test_a_plan_on_the_free_tier_has_its_rate_wherever_it_calls(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    Wallet.objects.create(address=wallets["free"].address)
    fields = {"wallet_id": wallets["free"].address, "valid_from": datetime.now(UTC), "per_minute": 1000}
    Plan.objects.create(name="Contract 8", tier="free", **fields)
    api = client_of(wallets["free"])
    settings.TIER_CACHE_S = 600
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [api.get(MARKETS) for _ in range(102)]
    assert {answer.status_code for answer in answers} == {200}
    assert answers[-1]["RateLimit"].startswith('"data";r=898;')
    assert try_to_book(api) == BOOKINGS_OF_KNOWN


# Payments
def test_a_signed_payment_gives_the_tier_of_its_payer_a_count_of_its_own_at_each_address(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["pro"], settings)
    for address in ("127.0.0.1", ELSEWHERE):
        paid_before(wallets["pro"], address=address)
    settings.RPC_URL = f"http://{NOWHERE}"
    response = client.get(MARKETS, headers=payment(wallets["pro"], settings))
    assert (response["X-Tier"], remaining(response)) == ("pro", 119)
    assert remaining(client.get(MARKETS, headers=payment(wallets["pro"], settings))) == 118
    elsewhere = client.get(MARKETS, headers=payment(wallets["pro"], settings), REMOTE_ADDR=ELSEWHERE)
    assert (elsewhere["X-Tier"], remaining(elsewhere)) == ("pro", 119)
    assert remaining(client.get(MARKETS)) == 9


@pytest.mark.exhaustive
@pytest.mark.parametrize("value", [1, 2000])
@pytest.mark.parametrize(
    "before",
    [
        None,
        {"address": ELSEWHERE},
        {"state": Payment.State.REFUND_DUE},
        {"created_at": datetime.now(UTC) - timedelta(minutes=61)},
    ],
)
def test_an_authorization_that_nobody_settles_is_no_pass_to_the_rate_of_a_tier(
    settings: Settings, wallets: Mapping[str, Key], client: Client, value: int, before: dict[str, Any] | None
) -> None:
    believed(wallets["premium"], settings, tier="premium")
    if before is not None:
        paid_before(wallets["premium"], **before)
    headers = payment(wallets["premium"], settings, value=value)
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [client.get(MARKETS, headers=headers) for _ in range(11)]
    assert [(one.status_code, one["X-Tier"]) for one in answers] == [(200, "free")] * 10 + [(429, "free")]


def test_who_copies_a_payment_uses_up_nothing_of_its_payers_session(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    api = client_of(wallets["pro"])
    settings.TIER_CACHE_S = 600
    headers = payment(wallets["pro"], settings)
    for address in ("127.0.0.1", ELSEWHERE):
        paid_before(wallets["pro"], address=address)
    assert remaining(Client().get(MARKETS, headers=headers, REMOTE_ADDR=ELSEWHERE)) == 119
    assert remaining(Client().get(MARKETS, headers=headers)) == 119
    assert remaining(api.get(MARKETS)) == 119


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_recorded_payment_does_not_give_its_senders_tier_to_other_callers(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["premium"], settings, tier="premium")
    home = Caller(bucket="home", terms=STANDARD, origin=address_bucket(RequestFactory().get("/")))
    buy(paid_by(wallets["premium"], products=REVIEWS, caller=home), products=REVIEWS, caller=home)
    headers = paid_by(wallets["premium"], products=REVIEWS)
    assert client.get(MARKETS, headers=headers)["X-Tier"] == "premium"
    buy(headers, products=REVIEWS)
    response = client.get(MARKETS, headers=headers)
    assert (response.status_code, response["X-Tier"], remaining(response)) == (200, "free", 9)


def test_signed_payment_costs_the_middleware_one_query(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/v1/nothing", headers=payment(wallets["pro"], settings))["X-Tier"] == "pro"
    assert len(queries) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"to": "0x" + 20 * "0b"},
        {"valid_before": 1_000_000_000},
        {"valid_before": 2**256 - 1},
        {"valid_after": 2**255},
    ],
)
def test_a_payment_that_could_never_pay_us_now_counts_on_the_address(
    settings: Settings, wallets: Mapping[str, Key], client: Client, changes: dict[str, Any]
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    response = client.get(MARKETS, headers=payment(wallets["pro"], settings, **changes))
    assert (response.status_code, response["X-Tier"], remaining(response)) == (200, "free", 9)


def test_a_payment_in_the_name_of_another_wallet_counts_on_the_address(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    response = client.get(MARKETS, headers=payment(wallets["pro"], settings, signed_by=wallets["free"]))
    assert (response["X-Tier"], remaining(response)) == ("free", 9)


def test_fresh_wallets_do_not_get_round_the_limit_of_their_address(settings: Settings, client: Client) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [
            client.get(MARKETS, headers=payment(from_key("fresh", secrets.token_bytes(32)), settings))
            for _ in range(11)
        ]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert not Wallet.objects.exists()


def test_a_known_wallet_that_is_not_believed_any_more_counts_on_the_address(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    Wallet.objects.update(read_at=datetime.now(UTC) - timedelta(seconds=601))
    assert client.get(MARKETS, headers=payment(wallets["pro"], settings))["X-Tier"] == "free"


DEEP = f'{{"transaction":{1000 * "["}{1000 * "]"}}}'


@pytest.mark.parametrize("sent", ["junk", "{}", "0x" + 64 * "a", '{"x402Version":2}', "x" * 9_000, DEEP])
def test_a_payment_header_that_cannot_be_read_means_nothing_on_a_free_request(client: Client, sent: str) -> None:
    response = client.get(MARKETS, headers={"x-payment": sent})
    assert (response.status_code, remaining(response)) == (200, 9)


# Limits apart
def test_autocomplete_takes_nothing_from_the_requests(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        typed = [client.get("/v1/autocomplete?q=no") for _ in range(20)]
        assert [remaining(answer) for answer in typed] == list(range(119, 99, -1))
        assert typed[0]["RateLimit-Policy"] == '"autocomplete";q=120;w=60'
        assert remaining(client.get(MARKETS)) == 9


def test_autocomplete_counts_by_person_and_a_tier_raises_it(wallets: Mapping[str, Key], client: Client) -> None:
    premium = client_of(wallets["premium"])
    answers = [caller.get("/v1/autocomplete?q=no") for caller in (premium, client, premium)]
    assert [remaining(answer) for answer in answers] == [599, 119, 598]
    assert answers[0]["X-Tier"] == "premium"


def test_an_unchanged_answer_takes_nothing_from_the_requests(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        first = client.get(MARKETS)
        again = [client.get(MARKETS, headers={"if-none-match": first["ETag"]}) for _ in range(15)]
        assert [(answer.status_code, remaining(answer)) for answer in again] == [(304, 9)] * 15
        assert again[0]["RateLimit-Policy"] == '"data";q=10;w=60'
        assert remaining(client.get(MARKETS)) == 8


@pytest.mark.exhaustive
def test_more_than_120_unchanged_answers_a_minute_count_as_requests(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        tag = client.get(MARKETS)["ETag"]
        answers = [client.get(MARKETS, headers={"if-none-match": tag}) for _ in range(131)]
    assert [answer.status_code for answer in answers] == [304] * 129 + [429] * 2
    assert [remaining(answer) for answer in answers[118:]] == [9, 9, *range(8, -1, -1), 0, 0]


def test_signing_in_has_a_limit_of_its_own(client: Client) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False):
        answers = [client.get(CHALLENGE) for _ in range(30)] + [client.post(SESSION)]
    assert [answer.status_code for answer in answers] == [200] * 30 + [429]
    assert answers[0]["RateLimit-Policy"] == '"auth";q=30;w=60'
    assert answers[0]["X-Tier"] == "free"
    assert remaining(client.get(MARKETS)) == 9


def test_no_tier_raises_the_limit_of_signing_in(wallets: Mapping[str, Key]) -> None:
    assert client_of(wallets["enterprise"]).get(CHALLENGE)["X-RateLimit-Limit"] == "30"


def test_files_of_exports_have_a_limit_of_their_own(client: Client) -> None:
    file = "/v1/exports/exp_01jd5k3v8rf8hb2m0c9t6w4y7z/files/part-0.jsonl.gz"
    fetched = [client.get(file) for _ in range(20)]
    assert [remaining(response) for response in fetched] == list(range(599, 579, -1))
    assert fetched[0]["RateLimit-Policy"] == '"files";q=600;w=60'
    assert remaining(client.get("/v1/exports/exp_01jd5k3v8rf8hb2m0c9t6w4y7z/filesystem")) == 9
