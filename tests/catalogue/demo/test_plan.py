"""The words and the plan of the generated catalogue."""

import re
from datetime import date

import pytest

from catalogue import reference_data
from catalogue.demo import vocabulary
from catalogue.demo.plan import BATCH, World, plan
from catalogue.demo.plan import Market as MarketFacts
from catalogue.models import Cuisine, Landmark, Market


@pytest.mark.django_db
def test_the_vocabulary_names_only_what_the_dictionaries_know() -> None:
    reference_data.load()
    cuisines = set(Cuisine.objects.values_list("slug", flat=True))
    for cuisine in vocabulary.cuisines().values():
        assert {cuisine.slug, *cuisine.also} <= cuisines
    assert set(vocabulary.cities()) == set(Market.objects.values_list("slug", flat=True))
    for city in vocabulary.cities().values():
        assert len(city.languages) == 100
        assert set(city.languages) <= set(vocabulary.languages())
        neighborhoods = Landmark.objects.filter(market=city.slug, kind="neighborhood").values_list("name", flat=True)
        assert set(city.postcodes) <= set(neighborhoods)


def test_no_word_of_the_vocabulary_could_end_a_column_or_an_array() -> None:
    for file in vocabulary.DIRECTORY.glob("*.toml"):
        # Without a backslash TOML cannot say a quotation mark or a line break either.
        assert not re.search(r"[\t\\]", file.read_text(encoding="utf-8")), file.name


def test_a_plan_has_exactly_the_totals_and_no_batch_is_too_long() -> None:
    nowhere = {slug: MarketFacts(slug, slug, "XX", "UTC", ()) for slug in vocabulary.cities()}
    world = World(seed=3, today=date(2026, 11, 21), markets=nowhere)
    for restaurants, reviews in [(12, 0), (354, 7_501), (35_400, 750_000)]:
        made = plan(world, restaurants=restaurants, reviews=reviews)
        assert sum(len(batch.reviews) for batch in made) == restaurants
        assert sum(sum(batch.reviews) for batch in made) == reviews
        assert {batch.market for batch in made} == set(vocabulary.cities())
        assert max(len(batch.reviews) for batch in made) <= BATCH
        assert min(count for batch in made for count in batch.reviews) >= 0
