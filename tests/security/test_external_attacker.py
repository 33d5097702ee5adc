"""What strangers may try without paying: floods of headers, caches between us and a payer, other people's answers."""

import base64
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.db import connection

from payments.devchain.wallets import Wallet
from tests.payments.buyer import read, signed_by
from tests.security.live_product import CONTEXT, ELSEWHERE, Shop, addresses

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

FLOOD = 1000


def rows() -> dict[str, int]:
    """How many rows each table of payments holds."""
    found = {}
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if name.startswith("payments_")]
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')  # noqa: S608 - our own tables
            (found[name],) = cursor.fetchone()
    return found


def test_a_flood_of_headers_that_pay_nothing_leaves_no_row_and_asks_no_facilitator(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    payment = read(signed_by(wallets["free"]))
    payment["payload"]["signature"] = "0x" + "5b" * 65
    forged = base64.b64encode(json.dumps(payment).encode()).decode()
    payment["payload"]["authorization"]["value"] = "1"
    cheap = base64.b64encode(json.dumps(payment).encode()).decode()
    kinds: tuple[tuple[Mapping[str, str], int], ...] = (
        ({}, 402),
        ({"PAYMENT-SIGNATURE": forged}, 402),
        ({"PAYMENT-SIGNATURE": cheap}, 402),
        ({"X-Payment": "0x" + "5a" * 32}, 402),
        ({"X-Payment": "junk"}, 400),
    )
    before = rows()
    opened = [httpx.Client(base_url=web, timeout=40) for web in attacked.webs]
    clients = itertools.cycle(opened)
    calls = [(next(clients), next(addresses), *kind) for _, kind in zip(range(FLOOD), itertools.cycle(kinds))]

    def call(one: tuple[httpx.Client, str, Mapping[str, str], int]) -> tuple[int, int]:
        client, address, headers, expected = one
        return client.get(CONTEXT, headers={"X-Forwarded-For": address, **headers}).status_code, expected

    with ThreadPoolExecutor(8) as threads:
        answers = Counter(threads.map(call, calls))
    for client in opened:
        client.close()
    # A node that is busy for longer than a second is 503.
    content, busy = {(402, 402): FLOOD * 4 // 5, (400, 400): FLOOD // 5}, answers.pop((503, 402), 0)
    assert answers + Counter({(402, 402): busy}) == content
    assert busy < FLOOD // 2
    assert rows() == before
    assert attacked.facilitator.asked == []


# Between us and the payer
def test_a_shared_cache_may_keep_neither_a_paid_answer_nor_a_402(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    refused, paid = attacked.ask(CONTEXT), attacked.ask(CONTEXT, signed_by(wallets["free"]))
    assert (refused.status_code, paid.status_code) == (402, 200)
    assert refused.headers["Cache-Control"] == "no-store"
    assert paid.headers["Cache-Control"] == "private, no-store"
    for answer in (refused, paid):
        varies = {name.strip().lower() for name in answer.headers["Vary"].split(",")}
        assert {"x-payment", "payment-signature", "authorization"} <= varies


@pytest.mark.parametrize("condition", ["nothing", "If-Match", "Range", "HEAD"])
def test_nothing_that_was_paid_for_comes_without_a_payment_afterwards(
    attacked: Shop, wallets: Mapping[str, Wallet], condition: str
) -> None:
    paid = attacked.ask(CONTEXT, signed_by(wallets["free"]))
    assert paid.status_code == 200
    sent = {"If-Match": paid.headers["ETag"], "Range": "bytes=0-"}
    headers = {condition: sent[condition]} if condition in sent else {}
    for web in attacked.webs:
        method = "HEAD" if condition == "HEAD" else "GET"
        theirs = {"X-Forwarded-For": next(addresses), **headers}
        answer = httpx.request(method, web + CONTEXT, headers=theirs, timeout=40)
        assert answer.status_code == 402
        assert "entries" not in answer.text
        assert "PAYMENT-RESPONSE" not in answer.headers


def test_who_names_the_tag_of_a_paid_answer_gets_nothing_of_it(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    paid = attacked.ask(CONTEXT, signed_by(wallets["free"]))
    for tag in (paid.headers["ETag"], "*", '"another"'):
        answer = attacked.ask(CONTEXT, {"If-None-Match": tag}, web=1)
        # Who has the content may hear that it is still the same.
        assert answer.status_code == (304 if tag == paid.headers["ETag"] else 402)
        assert "entries" not in answer.text
        assert "no-store" in answer.headers["Cache-Control"]


def test_a_head_request_with_a_payment_settles_nothing(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"])
    answer = httpx.head(attacked.webs[0] + CONTEXT, headers={"X-Forwarded-For": next(addresses), **headers})
    assert (answer.status_code, attacked.facilitator.asked) == (402, [])
    assert attacked.ask(CONTEXT, headers).status_code == 200


def test_a_receipt_opens_nothing_without_its_payment(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    paid = attacked.ask(CONTEXT, signed_by(wallets["free"]))
    content = {name: paid.headers[name] for name in ("X-Receipt", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE")}
    assert attacked.ask(CONTEXT, content).status_code == 402
    # The receipt of x402 names the transaction, and that one used an authorization.
    shown = {"X-Payment": paid.headers["PAYMENT-RESPONSE"], "X-Receipt": paid.headers["X-Receipt"]}
    for path in (CONTEXT, ELSEWHERE):
        refused = attacked.ask(path, shown, web=1)
        assert (refused.status_code, refused.json()["error"]) == (402, "payment_already_used")
