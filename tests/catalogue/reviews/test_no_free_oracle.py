"""A call without a payment gets the price of a filtered page, whether there is something on it or not."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from tests.catalogue import builders
from tests.mcp.client import call, content_of, payment_for, price_of
from tests.payments.signing import client_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain", "_place")]


@pytest.fixture
def _place(ledger_matches_chain: None) -> None:
    """A restaurant with one review of five stars, one photo of food, and a park."""
    place = builders.restaurant(slug="noma")
    builders.review(place, "The ramen was great.")
    builders.photo(place, kind="food")
    builders.landmark("Tivoli Gardens", kind="park", market="copenhagen")


PAIRS: list[tuple[str, str, str]] = [
    ("reviews", "q=ramen", "q=poisoning"),
    ("reviews", "stars=5", "stars=1"),
    ("photos", "kind=food", "kind=menu"),
    ("context", "kind=park", "kind=museum"),
    ("context", "radius=3000", "kind=transit&radius=1"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("path", "found", "nothing"), PAIRS)
def test_without_a_payment_an_empty_page_costs_what_a_full_one_costs(
    client: Client, path: str, found: str, nothing: str
) -> None:
    full, empty = (client.get(f"/v1/restaurants/noma/{path}?{query}") for query in (found, nothing))
    assert (full.status_code, empty.status_code) == (402, 402)
    assert without_address(full.json()) == without_address(empty.json())
    for headers in ({"If-None-Match": "*"}, {"X-Payment": "0x" + "5a" * 32}, {"X-Receipt": "pay_x"}):
        assert client.get(f"/v1/restaurants/noma/{path}?{nothing}", headers=headers).status_code == 402


def without_address(challenge: dict[str, Any]) -> dict[str, Any]:
    """A 402 without its id, and without the parts that repeat the address of the request."""
    (offer,) = challenge["extensions"]["offer-receipt"]["info"]["offers"]
    offer["payload"] |= {"resourceUrl": "", "validUntil": 0}
    offer["signature"] = ""
    return {**challenge, "request_id": "", "accepts": ""}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_reviews", {"q": "poisoning"}),
        ("list_reviews", {"stars": [1]}),
        ("list_photos", {"kind": "menu"}),
        ("get_surroundings", {"kinds": ["museum"]}),
    ],
)
def test_with_a_signed_payment_an_empty_page_is_free(
    wallets: Mapping[str, Wallet], tool: str, arguments: dict[str, Any]
) -> None:
    wallet = wallets["premium"]
    client = client_of(wallet)
    challenge = price_of(call(client, tool, slug="noma", **arguments))
    result = call(client, tool, slug="noma", **arguments, meta={PAYMENT_META: payment_for(wallet, challenge)})
    content = content_of(result)
    assert content.get("data", content.get("entries")) == []
    assert Payment.objects.count() == 0


def test_where_there_are_no_reviews_at_all_a_filter_costs_nothing(client: Client) -> None:
    builders.restaurant(slug="bare")
    assert client.get("/v1/restaurants/bare/reviews?stars=1").status_code == 200
