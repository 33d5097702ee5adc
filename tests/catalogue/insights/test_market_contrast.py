"""What sets a restaurant apart from the others of its market."""

from datetime import UTC, datetime

import pytest

from catalogue.insights.pipeline import inputs
from catalogue.insights.pipeline.market_sample import MIN_SAMPLE, REVIEWS_EACH, read_market_rates
from catalogue.insights.providers import extractive
from catalogue.insights.providers.base import Context, MarketRates, ReviewInput
from catalogue.models import Restaurant, Review
from tests.catalogue import builders
from tests.catalogue.builders import NOW, source


def context(texts: list[str], market: MarketRates | None = None) -> Context:
    when = datetime(2026, 11, 1, tzinfo=UTC)
    reviews = [ReviewInput(f"rev_{number}", 4, text, "en", when) for number, text in enumerate(texts)]
    return Context(name="Kikuchi", rating=None, reviews=reviews, hours=None, discounts=(), market=market)


def names(texts: list[str], market: MarketRates | None = None) -> list[str]:
    return [claim.name for claim in extractive.generate(context(texts, market)).features]


LIVE_MUSIC = ["The live band was great."] * 15 + ["Lovely evening."] * 45


def test_a_feature_of_every_place_of_the_market_sets_none_apart() -> None:
    assert names(LIVE_MUSIC) == ["live music"]
    assert names(LIVE_MUSIC, MarketRates(600, {"live music": 12})) == ["live music"]
    assert names(LIVE_MUSIC, MarketRates(600, {"live music": 200})) == []


def test_a_feature_needs_three_reviews_and_a_twentieth() -> None:
    assert names(["The karaoke was great."] * 2 + ["Nice."] * 10) == []
    assert names(["The karaoke was great."] * 3 + ["Nice."] * 57) == ["karaoke"]
    assert names(["The karaoke was great."] * 3 + ["Nice."] * 58) == []


@pytest.mark.parametrize(
    "text",
    [
        "There is no live music.",
        "The place next door has a live band.",
        "The live band was terrible and spoiled a bad evening.",
        "If you want live music go elsewhere.",
    ],
)
def test_a_feature_that_is_denied_disliked_or_of_another_place_is_none(text: str) -> None:
    assert names([text] * 20) == []


def test_staff_thanked_by_name_stay_anonymous() -> None:
    draft = extractive.generate(context(["Special thanks to Ravindra for the service."] * 10))
    (claim,) = draft.features
    assert (claim.name, claim.kind, claim.mentions) == ("staff thanked by name", "staff", 10)
    assert "Ravindra" not in repr(draft)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_rates_are_those_of_a_sample_of_the_market() -> None:
    market = builders.market("rates-of-a-sample")
    places = [builders.restaurant(market=market) for _ in range(MIN_SAMPLE // REVIEWS_EACH + 1)]
    rows = [
        Review(
            restaurant=place,
            text="The live band was great." if number < 2 else "Nice.",
            stars=5,
            lang="en",
            author="Ada L.",
            created_at=NOW,
            source=source("demo"),
        )
        for place in places
        for number in range(REVIEWS_EACH)
    ]
    Review.objects.bulk_create(rows)
    Restaurant.objects.filter(market=market).update(review_count=REVIEWS_EACH)
    rates = read_market_rates(market.pk)
    assert rates == MarketRates(len(rows), {"live music": 2 * len(places)}, len(rows), {"band": 2 * len(places)})
    (loaded,) = inputs.load_inputs([places[0].pk])
    assert loaded.context.market == rates


@pytest.mark.django_db
def test_a_market_with_few_reviews_has_no_rates() -> None:
    market = builders.market("rates-of-few")
    builders.review(builders.restaurant(market=market), "The live band was great.")
    assert read_market_rates(market.pk) is None
