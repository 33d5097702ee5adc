"""GET /v1/payments: what a payer is told of their payments, and nobody else."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit, payment_history
from payments.models import Payment, Refund
from payments.models import Wallet as WalletRow
from tests.payments.ledger_builders import NOW, payment
from tests.payments.signing import client_of, header_of
from tests.support import builders

pytestmark = pytest.mark.django_db
LIST = "/v1/payments"
State = Payment.State
OTHER = "0x" + "cd" * 20


@pytest.fixture
def payer(wallets: Mapping[str, Wallet]) -> str:
    """The address of the wallet that has paid."""
    return wallets["free"].address


@pytest.fixture
def caller(wallets: Mapping[str, Wallet]) -> Client:
    """A caller who has signed in with it."""
    return client_of(wallets["free"])


def ids(response: Any) -> list[str]:
    """Which payments a page shows."""
    assert response.status_code == 200, response.json()
    return [row["id"] for row in response.json()["data"]]


def test_a_payer_sees_all_there_is_of_a_payment(caller: Client, payer: str) -> None:
    row = payment(
        1,
        payer=payer,
        state=State.REFUNDED,
        error="goodwill: The photos were blurred.",
        block=7,
        products=["context", "photos"],
        delivered_at=NOW + timedelta(seconds=1),
        refunded_at=NOW + timedelta(days=1),
        payment_identifier="order-7_0123456789",
    )
    Refund.objects.create(
        payment=row,
        amount_usdc=Decimal("0.002"),
        to=payer,
        tx_hash="0x" + "5a" * 32,
        by="staff:ada",
        created_at=NOW + timedelta(days=1),
    )
    response = caller.get(f"{LIST}/{row.public_id}")
    assert (response.status_code, response["Cache-Control"]) == (200, "private, no-store")
    assert response.json() == {
        "id": row.public_id,
        "object": "payment",
        "state": "refunded",
        "amount": "0.002",
        "asset": "USDC",
        "asset_address": to_checksum_address("0x" + "11" * 20),
        "network": "eip155:84532",
        "payer": to_checksum_address(payer),
        "pay_to": to_checksum_address("0x" + "22" * 20),
        "products": ["context", "photos"],
        "channel": "rest",
        "resource": {"method": "GET", "url": "https://api.example.com/v1/restaurants/noma?fields=context"},
        "tier": "free",
        "form": "tx",
        "transaction": row.tx_hash,
        "block": 7,
        "payment_identifier": "order-7_0123456789",
        "created_at": "2026-11-21T12:00:00Z",
        "settled_at": "2026-11-21T12:00:00Z",
        "delivered_at": "2026-11-21T12:00:01Z",
        "readable_until": None,
        "refund": {
            "amount": "0.002",
            "transaction": "0x" + "5a" * 32,
            "at": "2026-11-22T12:00:00Z",
            "confirmed_at": None,
        },
        "refund_requested_at": None,
        "refund_declined_at": None,
        "reason": "goodwill",
        "detail": "The photos were blurred.",
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("state", "values", "content"),
    [
        (State.CLAIMED, {"settled_at": None, "tx_hash": None}, ("pending", None, None, None)),
        (State.UNKNOWN, {"settled_at": None, "error": "500 from a place"}, ("pending", None, None, None)),
        (State.SETTLED, {"error": "not on the chain"}, ("settled", "2026-11-22T12:00:00Z", None, None)),
        (State.DELIVERED, {"delivered_at": NOW}, ("delivered", "2026-11-22T12:00:00Z", None, None)),
        (State.REFUND_DUE, {"error": "too_old"}, ("refund_due", None, "too_old", None)),
        (State.EXPIRED, {"error": "It was cancelled."}, ("expired", None, "not_settled", "It was cancelled.")),
    ],
)
def test_states_have_public_names_and_internal_errors_are_hidden(
    caller: Client, payer: str, state: str, values: dict[str, Any], content: tuple[Any, ...]
) -> None:
    row = payment(payer=payer, state=state, **values)
    record = caller.get(f"{LIST}/{row.public_id}").json()
    assert (record["state"], record["readable_until"], record["reason"], record["detail"]) == content
    for word in payment_history.STATES:
        assert ids(caller.get(LIST, {"state": word})) == ([row.public_id] if word == content[0] else []), word


def test_unclaimed_money_has_no_channel_and_no_resource(caller: Client, payer: str) -> None:
    row = payment(0, payer=payer, state=State.REFUND_DUE, error="too_old", **chain_audit.UNCLAIMED)
    record = caller.get(f"{LIST}/{row.public_id}").json()
    assert (record["resource"], record["channel"], record["products"], record["tier"]) == (None, None, [], "free")
    assert (record["state"], record["reason"]) == ("refund_due", "too_old")
    assert caller.get(LIST).json()["data"] == [record]


def test_without_a_proven_wallet_nothing_is_shown(client: Client) -> None:
    row = payment()
    for path in (LIST, f"{LIST}/{row.public_id}", f"{LIST}/nonsense", f"{LIST}?nonsense=1"):
        response = client.get(path)
        assert response.status_code == 401, path
        assert response.json()["error"]["code"] == "missing_credentials"
        assert "POST /v1/auth/session" in response.json()["error"]["message"]
        assert response["WWW-Authenticate"].startswith("Bearer")


def test_anothers_payment_is_as_unknown_as_none(caller: Client, payer: str) -> None:
    theirs, unknown = payment(payer=OTHER), replace_id(payment(1, payer=payer))
    answers = []
    for name in (theirs.public_id, unknown, "pay_nonsense", theirs.public_id.upper(), "ord_" + unknown[4:]):
        response = caller.get(f"{LIST}/{name}")
        body = response.json()
        body["error"].pop("request_id")
        answers.append((response.status_code, response["Cache-Control"], body))
    assert answers[0][:2] == (404, "private, no-store")
    assert answers[0][2]["error"]["code"] == "not_found"
    assert all(answer == answers[0] for answer in answers)
    assert ids(caller.get(LIST)) == [Payment.objects.get(payer=payer).public_id]


def replace_id(row: Payment) -> str:
    """An id as any, which nothing is called."""
    return Payment(pk=type(row.pk)(int=row.pk.int ^ 1)).public_id


def test_a_signed_challenge_opens_the_list_without_a_session(
    client: Client, wallets: Mapping[str, Wallet], payer: str
) -> None:
    row = payment(payer=payer)
    assert ids(client.get(LIST, headers=header_of(wallets["free"]))) == [row.public_id]


def test_a_key_shows_the_payments_of_the_wallets_of_its_account(venue: Any, payer: str) -> None:
    for address in (payer, OTHER):
        WalletRow.objects.create(address=address, account=venue.account)
    older = payment(1, payer=OTHER, created_at=NOW - timedelta(hours=1))
    newest = payment(2, payer=payer, created_at=NOW + timedelta(hours=1))
    middle = payment(3, payer=OTHER)
    payment(4, payer="0x" + "ee" * 20)
    client = builders.client(venue)
    expected = [newest.public_id, middle.public_id, older.public_id]
    assert ids(client.get(LIST)) == expected
    assert walked(client, limit="1") == expected
    assert client.get(f"{LIST}/{middle.public_id}").json()["id"] == middle.public_id


def test_a_key_without_wallets_has_no_payments(venue: Any) -> None:
    row = payment()
    client = builders.client(venue)
    answer = client.get(LIST)
    assert (answer.status_code, answer.json()["data"], answer.json()["pagination"]["has_more"]) == (200, [], False)
    assert client.get(f"{LIST}/{row.public_id}").status_code == 404


def test_an_unknown_method_is_refused_before_authentication(client: Client) -> None:
    for path in (LIST, f"{LIST}/{payment().public_id}"):
        answer = client.options(path)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


# The list
def walked(client: Client, **parameters: str) -> list[str]:
    """What all pages show, one after the other."""
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        response = client.get(LIST, parameters | ({"cursor": cursor} if cursor else {}))
        found += ids(response)
        assert len(response.json()["data"]) <= int(parameters["limit"])
        cursor = response.json()["pagination"]["next_cursor"]
        assert response.json()["pagination"]["has_more"] == (cursor is not None)
    return found


def test_pages_go_on_where_the_last_one_ended(caller: Client, payer: str) -> None:
    # Those of one moment are told apart by their ids.
    rows = [payment(number, payer=payer, created_at=NOW + timedelta(seconds=number // 3)) for number in range(9)]
    expected = [row.public_id for row in sorted(rows, key=lambda row: (row.created_at, row.pk), reverse=True)]
    first = caller.get(LIST, {"limit": "2"}).json()
    assert (first["pagination"]["limit"], first["pagination"]["has_more"]) == (2, True)
    payment(99, payer=payer, created_at=NOW + timedelta(days=1))
    rest = caller.get(LIST, {"limit": "2", "cursor": first["pagination"]["next_cursor"]}).json()["data"]
    assert [row["id"] for row in first["data"] + rest] == expected[:4]
    Payment.objects.filter(proof_key="tx:99").delete()
    assert walked(caller, limit="4") == expected


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("product=reviews", [1]),
        ("product=context", [2, 1]),
        ("product=nothing", []),
        ("from=2026-11-21", [2, 1]),
        ("from=2026-11-22", [2]),
        ("from=2026-11-21T13:00:00Z", [2]),
        ("from=2026-11-22T02:00:00%2B02:00", [2]),
        ("to=2026-11-21", [1]),
        ("to=2026-11-22", [2, 1]),
        ("to=2026-11-22T00:00:00Z", [1]),
        ("from=2026-11-21&to=2026-11-21&product=reviews&state=settled", [1]),
    ],
)
def test_the_list_is_narrowed_by_product_and_time(caller: Client, payer: str, query: str, numbers: list[int]) -> None:
    reviews = payment(1, payer=payer, products=["context", "reviews"], created_at=NOW)
    context = payment(2, payer=payer, created_at=NOW + timedelta(hours=12))
    by_number = {1: reviews.public_id, 2: context.public_id}
    assert ids(caller.get(f"{LIST}?{query}")) == [by_number[number] for number in numbers]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sate=settled", "Did you mean `state`?"),
        ("state=paid", "This must be one of: pending, settled, delivered, refund_due, refunded, expired."),
        ("from=yesterday", "This must be a day like 2026-11-21"),
        ("to=2026-02-30", "There is no such moment in the calendar."),
        ("limit=101", "This must be a whole number from 1 to 100."),
        ("product=Reviews%20", "This must be the name of a product"),
        ("cursor=nonsense", "This cursor is not one of ours"),
        ("state=settled&state=expired", "`state` stands twice"),
    ],
)
def test_what_is_not_understood_is_refused(caller: Client, query: str, message: str) -> None:
    response = caller.get(f"{LIST}?{query}")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"
    assert message in str(response.json()["error"]["details"])


def test_a_cursor_is_of_its_payer_and_its_question(caller: Client, wallets: Mapping[str, Wallet], payer: str) -> None:
    for number in range(3):
        payment(number, payer=payer)
    cursor = caller.get(LIST, {"limit": "1"}).json()["pagination"]["next_cursor"]
    for client, parameters in ((caller, {"state": "settled"}), (client_of(wallets["pro"]), {})):
        response = client.get(LIST, {"cursor": cursor, **parameters})
        assert response.status_code == 400
        assert "continues another question" in response.json()["error"]["message"]


def test_the_last_day_of_the_calendar_ends_it(caller: Client, payer: str) -> None:
    row = payment(payer=payer)
    assert ids(caller.get(LIST, {"to": "9999-12-31", "from": "0001-01-01"})) == [row.public_id]


def test_a_page_costs_the_same_for_one_payment_and_for_forty(caller: Client, payer: str) -> None:
    caller.get(LIST)
    for count in (range(1), range(1, 40)):
        for number in count:
            row = payment(number, payer=payer)
        for path in (f"{LIST}?limit=50", f"{LIST}/{row.public_id}"):
            with CaptureQueriesContext(connection) as queries:
                caller.get(path)
            # Beside those of who calls.
            assert len([query for query in queries if '"payments_payment"' in query["sql"]]) == 1


def test_what_is_free_counts_on_the_rate_and_charges_nothing(caller: Client, payer: str) -> None:
    payment(payer=payer)
    # Another minute begins between two of the three calls at most.
    left = [int(caller.get(LIST)["X-RateLimit-Remaining"]) for _ in range(3)]
    assert 1 in (left[0] - left[1], left[1] - left[2])
    assert Payment.objects.count() == 1
