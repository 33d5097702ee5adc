"""The vocabulary and the plan of demo data."""

import re
from datetime import date

import pytest

from catalogue import reference_data
from catalogue.demo import vocabulary
from catalogue.demo.plan import MAX_BATCH_SIZE, World, plan_batches
from catalogue.demo.plan import Market as MarketInput
from catalogue.models import Cuisine, Landmark, Market


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_vocabulary_uses_only_cuisines_markets_and_neighborhoods_of_the_dictionaries() -> None:
    reference_data.load_reference_data()
    cuisines = set(Cuisine.objects.values_list("slug", flat=True))
    for cuisine in vocabulary.cuisines().values():
        assert {cuisine.slug, *cuisine.secondary} <= cuisines
    assert set(vocabulary.cities()) == set(Market.objects.values_list("slug", flat=True))
    for slug, city in vocabulary.cities().items():
        assert len(city.languages) == 100
        assert set(city.languages) <= set(vocabulary.languages())
        neighborhoods = Landmark.objects.filter(market=slug, kind="neighborhood").values_list("name", flat=True)
        assert set(city.postcodes) <= set(neighborhoods)


def test_the_vocabulary_has_no_tab_and_no_backslash() -> None:
    for file in vocabulary.DIRECTORY.glob("*.toml"):
        # They would end a column of COPY. Without a backslash TOML has no quotation mark and no line break either.
        assert not re.search(r"[\t\\]", file.read_text(encoding="utf-8")), file.name


def test_a_plan_has_exactly_the_totals_and_no_batch_is_too_large() -> None:
    markets = {slug: MarketInput(slug, slug, "XX", "UTC", ()) for slug in vocabulary.cities()}
    world = World(seed=3, today=date(2026, 11, 21), markets=markets)
    for restaurants, reviews in [(12, 0), (354, 7_501), (35_400, 750_000)]:
        batches = plan_batches(world, restaurants=restaurants, reviews=reviews)
        assert sum(len(batch.review_counts) for batch in batches) == restaurants
        assert sum(sum(batch.review_counts) for batch in batches) == reviews
        assert {batch.market for batch in batches} == set(vocabulary.cities())
        assert max(len(batch.review_counts) for batch in batches) <= MAX_BATCH_SIZE
        assert min(count for batch in batches for count in batch.review_counts) >= 0
