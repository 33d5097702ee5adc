"""What the extractive provider finds of the labels of the gold set. `pytest -s` on this file prints the figures."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain

import orjson
import pytest

from catalogue.field_groups.insights import limit_citations
from catalogue.insights.pipeline.persistence import to_json
from catalogue.insights.providers import extractive
from tests.catalogue.insights import gold

# The provider was written with the wordings of one half; the other half and the reviews by hand test it.
SETS: dict[str, Callable[[], Iterator[gold.Labelled]]] = {
    "wordings seen": lambda: gold.built_from_wordings(0),
    "wordings unseen": lambda: gold.built_from_wordings(1),
    "by hand": gold.written_by_hand,
    "all": lambda: chain(gold.built_from_wordings(), gold.written_by_hand()),
}


@cache
def measured(name: str) -> gold.Figures:
    figures = gold.measure(SETS[name](), extractive.generate)
    sys.stdout.write(f"\n{name}: {figures.restaurants} restaurants\n{figures.table()}\n")
    if name == "all":
        sys.stdout.write("".join(f"  {fault}\n" for fault in figures.faults))
    return figures


@pytest.mark.exhaustive
def test_the_gold_set_has_sixty_restaurants() -> None:
    assert measured("all").restaurants >= 60


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(SETS))
def test_dishes_are_real_and_the_first_is_the_one_that_guests_name_most(name: str) -> None:
    figures = measured(name)
    assert figures.dishes.precision >= 0.95
    assert figures.dishes.recall >= 0.9
    assert figures.counts.precision >= 0.9
    assert figures.first_dish.precision >= 0.9
    assert figures.superlatives.false == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(SETS))
def test_complaints_are_true_and_most_are_found(name: str) -> None:
    figures = measured(name)
    assert figures.complaints.precision >= 0.95
    assert figures.complaints.recall >= 0.6


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(SETS))
def test_what_sets_a_place_apart_is_named(name: str) -> None:
    figures = measured(name)
    assert figures.features.precision >= 0.9
    assert figures.distinctive.recall >= 0.8


@pytest.mark.exhaustive
def test_an_insight_with_a_citation_for_each_claim_is_short() -> None:
    """As the tool `get_insight` returns it: about 900 tokens of 3 characters."""
    for place in SETS["all"]():
        draft = extractive.generate(place.context)
        detail = limit_citations(orjson.loads(orjson.dumps(to_json(draft))), 1)
        text = orjson.dumps({"ai_insight": draft.text, "summary": draft.text, "detail": detail}).decode()
        # The ids of real reviews are longer than those of the set.
        assert len(re.sub(r"rev_\d+", "rev_0wh5enka7b863b2qgdt9wrx29a", text)) <= 2_700
