"""Reviews and discounts of imports where staff made one restaurant of two."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import pytest

from catalogue import places
from catalogue.importers.sources import native_jsonl
from catalogue.models import FlowRule, Restaurant, Review, SourceRecord
from tests.catalogue.importers.import_runs import NOW, counts, import_restaurants, json_lines

pytestmark = pytest.mark.usefixtures("_markets")


@pytest.fixture
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def line(number: int, **more: Any) -> dict[str, Any]:
    """A restaurant with three reviews and a discount; the reviews of all of them are called the same."""
    return {
        "id": f"stube-{number}",
        "name": f"Merlin Stube {number}",
        "location": {"lat": 52.45 + number * 0.01, "lng": 13.35},
        "reviews": [
            {
                "id": str(each),
                "stars": 4,
                "author": f"{number}-{each}",
                "created_at": f"2026-01-0{number + 1}T10:00:00Z",
            }
            for each in range(3)
        ],
        "flow_rules": [{"weekdays": [0, 1], "time": "18:00", "percent": 10 * number + 10}],
    } | more


def take(tmp_path: Path, lines: Iterable[dict[str, Any]]) -> dict[str, int]:
    return counts(import_restaurants(json_lines(tmp_path / "a.jsonl", lines), reader=native_jsonl.READER))


def merge() -> Restaurant:
    """The second restaurant, after the first was merged into it."""
    first, second = (SourceRecord.objects.get(record=f"stube-{number}").restaurant for number in (0, 1))
    places.merge(first, second, actor="staff:1", now=NOW)
    return Restaurant.objects.get(pk=second.pk)


def reviews() -> dict[str, UUID]:
    return dict(Review.objects.order_by("author").values_list("author", "pk"))


@pytest.mark.exhaustive
def test_records_of_a_merged_restaurant_keep_their_own_reviews_and_discounts(tmp_path: Path) -> None:
    lines = [line(0), line(1)]
    take(tmp_path, lines)
    place = merge()
    before = reviews()
    assert len(before) == 6
    for number in (1, 0):
        lines[number]["website"] = "https://stube.example"
        take(tmp_path, lines)
        assert reviews() == before
        assert sorted(FlowRule.objects.values_list("restaurant", "percent")) == [(place.pk, 10), (place.pk, 20)]
    place.refresh_from_db()
    assert place.review_count == 6


@pytest.mark.exhaustive
def test_both_records_of_a_merged_restaurant_may_change_in_one_batch(tmp_path: Path) -> None:
    take(tmp_path, [line(0), line(1)])
    place = merge()
    before = reviews()
    website = {"website": "https://stube.example"}
    take(tmp_path, [line(0, **website), line(1, **website)])
    assert reviews() == before
    assert FlowRule.objects.filter(restaurant=place).count() == 2


@pytest.mark.exhaustive
def test_a_record_of_a_merged_restaurant_removes_only_what_it_stated(tmp_path: Path) -> None:
    take(tmp_path, [line(0), line(1)])
    place = merge()
    before = reviews()
    take(tmp_path, [line(0, reviews=[], flow_rules=[]), line(1)])
    assert reviews() == {author: pk for author, pk in before.items() if author.startswith("1-")}
    assert FlowRule.objects.get().percent == 20
    place.refresh_from_db()
    assert place.review_count == 3


@pytest.mark.exhaustive
def test_reviews_from_before_their_records_were_stored_keep_their_ids(tmp_path: Path) -> None:
    lines = [line(0), line(1)]
    take(tmp_path, lines)
    for review in Review.objects.all():
        former = uuid5(review.restaurant_id, f"native:{review.author[-1]}")
        Review.objects.filter(pk=review.pk).update(id=former, record=None)
    before = reviews()
    place = merge()
    website = {"website": "https://stube.example"}
    take(tmp_path, [line(0, **website), line(1, **website)])
    assert reviews() == before
    assert set(Review.objects.values_list("restaurant", "record")) == {(place.pk, "stube-0"), (place.pk, "stube-1")}


def test_of_reviews_from_before_their_records_were_stored_the_lone_record_removes_its_own(tmp_path: Path) -> None:
    take(tmp_path, [line(0)])
    Review.objects.update(record=None)
    short = line(0)
    short["reviews"] = short["reviews"][:1]
    take(tmp_path, [short])
    assert list(reviews()) == ["0-0"]


def test_discounts_of_staff_stay_and_are_not_offered_twice(tmp_path: Path) -> None:
    take(tmp_path, [line(0, flow_rules=[])])
    place = Restaurant.objects.get()
    FlowRule.objects.create(restaurant=place, weekdays=[0, 1], time="18:00", percent=10, seats=20)
    take(tmp_path, [line(0)])
    assert FlowRule.objects.get().seats == 20
    take(tmp_path, [line(0, flow_rules=[])])
    assert FlowRule.objects.get().seats == 20


def test_what_staff_add_to_an_imported_discount_stays_while_the_source_states_it(tmp_path: Path) -> None:
    take(tmp_path, [line(0)])
    FlowRule.objects.update(seats=20, terms="Not on holidays.")
    more = [*line(0)["flow_rules"], {"weekdays": [5], "time": "12:00", "percent": 40}]
    take(tmp_path, [line(0, flow_rules=more)])
    assert list(FlowRule.objects.order_by("pk").values_list("percent", "seats", "terms")) == [
        (10, 20, "Not on holidays."),
        (40, 8, ""),
    ]
