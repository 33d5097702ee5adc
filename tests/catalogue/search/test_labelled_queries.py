"""Queries as people type them, with what they are to be read as: how many are understood, and whether hits fit."""

from collections import defaultdict
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from catalogue.search import Query, search_restaurants
from catalogue.search.results import Page
from catalogue.search.text.vocabulary import Vocabulary, fold
from framework.data_files import read_toml
from framework.errors import InvalidRequest

LABELLED = read_toml(Path(__file__).with_name("labelled_queries.toml"))
RANKS = 5

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]


@dataclass(frozen=True)
class Judged:
    """A query, whether it was read as its label says, and the NDCG of its first hits; None if nothing can match."""

    kind: str
    q: str
    expected: set[tuple[str, str]]
    found: set[tuple[str, str]]
    ndcg: float | None
    markets: set[str]

    @property
    def is_good(self) -> bool:
        return self.expected == self.found and (self.ndcg is None or self.ndcg >= 0.8)


def read_label(label: str) -> tuple[set[tuple[str, str]], bool]:
    words = label.split()
    pairs = {tuple(word.split("=", 1)) for word in words if "=" in word}
    return {(name, value.replace("_", " ") if name in ("neighborhood", "near") else value) for name, value in pairs}, (
        "refused" in words
    )


def fits(hit: dict[str, Any], expected: set[tuple[str, str]], known: Vocabulary) -> bool:
    """Whether a hit has what can be seen of the label in a hit: market, cuisine, price, neighborhood."""
    for name, value in expected:
        if name == "market" and hit["market"] != value:
            return False
        if name == "cuisine":
            named = any(word in fold(hit["name"]) for word in fold(value.replace("-", " ")).split())
            if not named and not set(hit["cuisines"]) & set(known.with_narrower([value])):
                return False
        if name == "price_max" and not (hit["price_level"] and hit["price_level"] <= int(value)):
            return False
        if name == "price" and str(hit["price_level"]) not in value.split(","):
            return False
        if name == "neighborhood" and fold(hit["neighborhood"] or "") != fold(value):
            return fold(value) in fold(hit["name"])
    return True


def judge(kind: str, q: str, label: str, market: str | None, known: Vocabulary) -> Judged:
    expected, is_refused = read_label(label)
    try:
        page: Page = search_restaurants(Query(q=q, market=market), now=timezone.now())
    except InvalidRequest:
        return Judged(kind, q, expected, expected if is_refused else set(), None, set())
    parts = [part.to_dict() for part in page.understood]
    found = {(part["parameter"], part["value"]) for part in parts if part["parameter"] not in (None, "q")}
    left = {("q", part["value"]) for part in parts if part["parameter"] == "q"}
    gains = [fits(hit.values, expected, known) for hit in page.hits[:RANKS]]
    ideal = sum(1 / log2(rank + 2) for rank in range(len(gains)))
    ndcg = sum(gain / log2(rank + 2) for rank, gain in enumerate(gains)) / ideal if ideal else None
    return Judged(kind, q, expected, found | left, ndcg, {hit.values["market"] for hit in page.hits})


@pytest.fixture
def judged() -> list[Judged]:
    call_command("demo_data", restaurants=2000, reviews=2000, seed=1, verbosity=0)
    known = Vocabulary.read()
    return [
        judge(kind, row[0], row[1], row[2] if len(row) > 2 else None, known)
        for kind, rows in LABELLED.items()
        for row in rows
    ]


def test_at_least_nine_of_ten_labelled_queries_are_understood_and_answered(judged: list[Judged]) -> None:
    by_kind = defaultdict(list)
    for each in judged:
        by_kind[each.kind].append(each)
    for kind, rows in by_kind.items():
        ndcgs = [row.ndcg for row in rows if row.ndcg is not None]
        good, mean = sum(row.is_good for row in rows), sum(ndcgs) / max(1, len(ndcgs))
        figures = f"{good} of {len(rows)} good, NDCG@{RANKS} {mean:.2f}, {len(rows) - len(ndcgs)} without hits"
        print(f"{kind:14} {figures}")  # noqa: T201 - a figure
    for each in judged:
        if not each.is_good:
            print(f"  {each.q}: {sorted(each.found)} instead of {sorted(each.expected)}, NDCG {each.ndcg}")  # noqa: T201 - a figure
    good = sum(each.is_good for each in judged)
    print(f"{good} of {len(judged)} queries are good")  # noqa: T201 - a figure
    assert len(judged) >= 300
    assert good >= 0.9 * len(judged)
    # None is answered from another market than the one that its words name.
    named = [(each, dict(each.expected)["market"]) for each in judged if "market" in dict(each.expected)]
    assert [each.q for each, market in named if each.markets - {market}] == []
