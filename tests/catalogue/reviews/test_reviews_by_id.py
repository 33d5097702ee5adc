"""Reviews by their ids: sold as a page of reviews is, and free for who has bought the insight that cites them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from x402.http import x402HTTPClientSync

from catalogue.models import Restaurant, Review
from framework.public_ids import encode
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue import builders
from tests.mcp.client import RECEIPT, TOKEN, call, content_of, paid, price_of, refusal_of
from tests.payments.buyer import client_of as x402_of
from tests.payments.signing import client_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def id_of(review: Review) -> str:
    return encode("rev", review.pk)


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with six reviews, whose insight cites the first two."""
    made = builders.restaurant(slug="noma")
    reviews = [builders.review(made, f"The ramen was great, visit {number}.") for number in range(6)]
    dish = {"name": "ramen", "mentions": 6, "positive_share": 1.0, "citations": [id_of(one) for one in reviews[:2]]}
    detail = {"best_time": None, "dishes": [dish], "aspects": [], "watch_outs": [], "disclosure": "Made by hand."}
    builders.insight(made, detail=detail, generated_at=datetime.now(UTC), reviews_through=datetime.now(UTC))
    return made


def reviews_of(place: Restaurant) -> list[Review]:
    return list(place.reviews.order_by("created_at"))


def bought(client: Client, wallet: Wallet, path: str) -> Any:
    """The answer that this wallet pays for."""
    asked = client.get(path)
    headers, _ = x402HTTPClientSync(x402_of(wallet)).handle_402_response(dict(asked.headers), asked.content, path)
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.content
    return answer


@pytest.mark.exhaustive
def test_a_review_by_its_id_costs_what_a_page_of_reviews_costs(
    place: Restaurant, wallets: Mapping[str, Wallet], client: Client
) -> None:
    review = reviews_of(place)[0]
    path = f"/v1/reviews/{id_of(review)}"
    price = client.get(path)
    assert (price.status_code, price.json()["tier_required"]) == (402, "pro")
    assert price.json()["accepts"][0]["maxAmountRequired"] == "4000"
    assert client.get("/v1/restaurants/noma/reviews").json()["accepts"][0]["maxAmountRequired"] == "4000"
    answer = bought(client_of(wallets["premium"]), wallets["premium"], path)
    assert (answer.json()["id"], answer.json()["text"], answer.json()["restaurant"]) == (
        id_of(review),
        "The ramen was great, visit 0.",
        "noma",
    )
    assert answer["Cache-Control"] == "private, no-store"
    assert Payment.objects.get().products == ["reviews"]


@pytest.mark.exhaustive
def test_reviews_of_a_restaurant_can_be_selected_by_their_ids(
    place: Restaurant, wallets: Mapping[str, Wallet]
) -> None:
    first, *_, last = reviews_of(place)
    other = builders.review(builders.restaurant(), "Of another place.")
    ids = ",".join(map(id_of, (last, first, other)))
    path = f"/v1/restaurants/noma/reviews?ids={ids}&sort=oldest"
    answer = bought(client_of(wallets["premium"]), wallets["premium"], path).json()
    assert [one["id"] for one in answer["data"]] == [id_of(first), id_of(last)]


@pytest.mark.exhaustive
def test_the_reviews_that_a_bought_insight_cites_are_free_for_its_buyer(
    place: Restaurant, wallets: Mapping[str, Wallet], client: Client
) -> None:
    cited, also_cited, not_cited, *_ = map(id_of, reviews_of(place))
    wallet = wallets["premium"]
    buyer = client_of(wallet)
    receipt = bought(buyer, wallet, "/v1/restaurants/noma/insight")["X-Receipt"]
    assert Payment.objects.count() == 1
    for caller, headers in ((buyer, {}), (client, {"X-Receipt": receipt})):
        one = caller.get(f"/v1/reviews/{cited}", headers=headers)
        assert (one.status_code, one["Cache-Control"]) == (200, "private, no-store")
        both = caller.get(f"/v1/restaurants/noma/reviews?ids={cited},{also_cited}", headers=headers)
        assert {review["id"] for review in both.json()["data"]} == {cited, also_cited}
        # Others of the restaurant are not.
        assert caller.get(f"/v1/reviews/{not_cited}", headers=headers).status_code == 402
        mixed = caller.get(f"/v1/restaurants/noma/reviews?ids={cited},{not_cited}", headers=headers)
        assert mixed.status_code == 402
    assert client.get(f"/v1/reviews/{cited}").status_code == 402
    assert client.get(f"/v1/reviews/{cited}", headers={"X-Receipt": f"{receipt}x"}).status_code == 402
    assert client_of(wallets["pro"]).get(f"/v1/reviews/{cited}").status_code == 402
    assert Payment.objects.count() == 1


def test_agents_verify_citations_with_the_receipt_of_get_insight(
    place: Restaurant, wallets: Mapping[str, Wallet], client: Client
) -> None:
    wallet = wallets["premium"]
    insight = paid(client, wallet, "get_insight", slug="noma")
    (dish,) = content_of(insight)["ai_insight_detail"]["dishes"]
    price_of(call(client, "list_reviews", slug="noma", ids=dish["citations"]))
    token = {TOKEN: insight["_meta"][TOKEN]}
    cited = call(client, "list_reviews", slug="noma", ids=dish["citations"], meta=token)
    assert {one["id"] for one in content_of(cited)["data"]} == set(dish["citations"])
    assert RECEIPT not in cited.get("_meta", {})
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_a_receipt_of_another_restaurant_another_product_or_another_day_gives_no_reviews(
    place: Restaurant, wallets: Mapping[str, Wallet]
) -> None:
    cited = id_of(reviews_of(place)[0])
    wallet = wallets["premium"]
    buyer = client_of(wallet)
    bought(buyer, wallet, "/v1/restaurants/noma/reviews?limit=1")
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 402
    bought(buyer, wallet, "/v1/restaurants/noma?fields=core,ai_insight")
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 200
    Payment.objects.update(resource="http://testserver/v1/restaurants/noma-2/insight")
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 402
    Payment.objects.update(resource="http://testserver/v1/restaurants/noma/insight")
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 200
    yesterday = datetime.now(UTC) - timedelta(hours=24, minutes=1)
    Payment.objects.update(created_at=yesterday)
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 402


@pytest.mark.exhaustive
def test_a_payment_that_is_refunded_gives_no_reviews(place: Restaurant, wallets: Mapping[str, Wallet]) -> None:
    cited = id_of(reviews_of(place)[0])
    wallet = wallets["premium"]
    buyer = client_of(wallet)
    bought(buyer, wallet, "/v1/restaurants/noma/insight")
    Payment.objects.update(state=Payment.State.REFUND_DUE)
    assert buyer.get(f"/v1/reviews/{cited}").status_code == 402
    Payment.objects.update(state=Payment.State.DELIVERED)


def test_an_unknown_review_is_not_found_and_a_malformed_id_is_refused(place: Restaurant, client: Client) -> None:
    unknown = "rev_" + "0" * 26
    for text in (unknown, "rev_x", "nothing"):
        missing = client.get(f"/v1/reviews/{text}")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    error = client.get("/v1/restaurants/noma/reviews?ids=rev_x").json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", "ids")
    result = call(client, "list_reviews", slug="noma", ids=["rev_x"])
    assert refusal_of(result)["param"] == "ids"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("asked", "kept"), [({}, 1), ({"citations": 5}, 5), ({"citations": 0}, 0)])
def test_an_insight_by_a_tool_cites_one_review_for_each_point_or_as_many_as_asked_for(
    wallets: Mapping[str, Wallet], client: Client, asked: dict[str, Any], kept: int
) -> None:
    made = builders.restaurant(slug="noma")
    ids = [id_of(builders.review(made, "The ramen was great.")) for _ in range(8)]
    dish = {"name": "ramen", "mentions": 8, "positive_share": 1.0, "citations": ids}
    window = {"days": [0], "start": "18:00", "until": None, "basis": ["reviews"], "citations": ids}
    time = {"text": "Come early.", "windows": [window], "basis": ["reviews"], "citations": ids}
    detail = {"best_time": time, "dishes": [dish], "aspects": [], "watch_outs": [], "disclosure": "Made by hand."}
    builders.insight(made, detail=detail, generated_at=datetime.now(UTC), reviews_through=datetime.now(UTC))
    wallet = wallets["premium"]
    shown = content_of(paid(client, wallet, "get_insight", slug="noma", **asked))["ai_insight_detail"]
    cited = [shown["dishes"][0], shown["best_time"], shown["best_time"]["windows"][0]]
    assert [each["citations"] for each in cited] == [ids[:kept]] * 3
    at_rest = bought(client_of(wallet), wallet, "/v1/restaurants/noma/insight").json()["ai_insight_detail"]
    assert at_rest["dishes"][0]["citations"] == ids
    few = bought(client_of(wallet), wallet, "/v1/restaurants/noma/insight?citations=1").json()["ai_insight_detail"]
    assert few["dishes"][0]["citations"] == ids[:1]
    # All of them are free for the buyer, also those that were left out.
    assert client_of(wallet).get(f"/v1/restaurants/noma/reviews?ids={','.join(ids)}").status_code == 200
