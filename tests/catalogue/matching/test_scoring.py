"""Whether two records mean the same place."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue.matching.scoring import PlaceRecord, Verdict, find_candidates, score_pair
from catalogue.places.phones import read_phone
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import SHARED_DATA
from tests.catalogue.query_plans import planned, unseen

PAIRS = SHARED_DATA / "overture_places" / "match_pairs_3k.parquet"

FISKEBAR = PlaceRecord(
    name="Kødbyens Fiskebar",
    line1="Flæsketorvet 100",
    postal_code="1711",
    phone="+4532155656",
    lat=55.6681,
    lng=12.5594,
)


def known(**fields: Any) -> PlaceRecord:
    """Kødbyens Fiskebar, of which only this is known."""
    return PlaceRecord(**{"name": "Kødbyens Fiskebar", **fields})


def test_a_place_is_the_same_as_itself_spelt_otherwise() -> None:
    other = PlaceRecord(
        name="KODBYENS FISKEBAR RESTAURANT", line1="Flaesketorvet 100", phone="+4532155656", lat=55.6683, lng=12.5594
    )

    found = score_pair(FISKEBAR, other)

    assert found.verdict == Verdict.SAME
    assert found.phone_equal is True
    assert found.distance_m == 22
    assert found.name == 0.929


@pytest.mark.parametrize(
    "other",
    [
        known(line1="Flæsketorvet 100"),
        known(phone="+4532155656"),
        known(lat=55.6681, lng=12.5596),
        known(alt_names=("Fiskebaren",), line1="Flæsketorvet 100, st."),
    ],
)
def test_a_name_and_one_thing_more_make_two_places_the_same(other: PlaceRecord) -> None:
    assert score_pair(FISKEBAR, other).verdict == Verdict.SAME


def test_a_name_alone_is_for_staff_to_decide() -> None:
    found = score_pair(FISKEBAR, known())

    assert found.verdict == Verdict.LIKELY
    assert (found.address, found.phone_equal, found.distance_m) == (None, None, None)


def test_a_branch_in_another_street_is_not_merged_unseen() -> None:
    branch = known(line1="Nørrebrogade 4", phone="+4533333333", lat=55.6881, lng=12.5594)

    assert score_pair(FISKEBAR, branch).verdict == Verdict.DIFFERENT


def test_the_same_phone_half_a_kilometre_away_is_for_staff_to_decide() -> None:
    assert score_pair(FISKEBAR, known(phone="+4532155656", lat=55.6726, lng=12.5594)).verdict == Verdict.LIKELY


def test_neighbours_of_other_names_are_different() -> None:
    neighbour = PlaceRecord(name="Mother", line1="Flæsketorvet 100", lat=55.6681, lng=12.5594)

    assert score_pair(FISKEBAR, neighbour).verdict == Verdict.DIFFERENT


def test_gates_with_different_numbers_are_different_places() -> None:
    left = PlaceRecord(name="Kiosk Gate 12", lat=55.6, lng=12.6)

    assert score_pair(left, PlaceRecord(name="Kiosk Gate 14", lat=55.6, lng=12.6)).verdict == Verdict.DIFFERENT


def test_a_word_for_the_kind_of_place_is_nothing_in_common() -> None:
    assert score_pair(known(name="Café"), known(name="Café Norden")).name < 0.7


def test_likeness_does_not_depend_on_the_order() -> None:
    other = PlaceRecord(name="Fiskebar", line1="Flæsketorvet 10", phone="+4532155656")

    assert score_pair(FISKEBAR, other) == score_pair(other, FISKEBAR)


@pytest.mark.parametrize("name", ["!!!", "🍣", "寿司"])
def test_names_without_latin_letters_are_compared_too(name: str) -> None:
    here = PlaceRecord(name=name, lat=55.6, lng=12.6)

    assert score_pair(here, here).verdict == Verdict.SAME
    assert score_pair(here, PlaceRecord(name="Mother", lat=55.6, lng=12.6)).verdict == Verdict.DIFFERENT


def test_no_name_is_like_nothing() -> None:
    assert score_pair(known(name=""), known(name="")).name == 0.0


def test_a_website_that_is_none_breaks_nothing() -> None:
    odd = known(website="http://[", line1="Flæsketorvet 100")

    assert score_pair(odd, FISKEBAR).verdict == Verdict.SAME


@pytest.mark.exhaustive
@pytest.mark.skipif(not PAIRS.exists(), reason="needs the real data beside the repository")
def test_merging_unseen_is_right_in_95_of_100_real_pairs() -> None:
    judged = [(is_same, score_pair(one, other).verdict) for is_same, one, other in read_pairs()]

    assert len(judged) == 3000
    merged = [is_same for is_same, verdict in judged if verdict == Verdict.SAME]
    shown = [is_same for is_same, verdict in judged if verdict != Verdict.DIFFERENT]
    same = sum(is_same for is_same, _ in judged)
    assert sum(merged) / len(merged) >= 0.95
    assert sum(merged) / same >= 0.60
    assert sum(shown) / len(shown) >= 0.83
    assert sum(shown) / same >= 0.92


def read_pairs() -> Sequence[tuple[bool, PlaceRecord, PlaceRecord]]:
    """The labelled pairs of Overture places."""
    return [(row["label"] == 1, known_of(row, ""), known_of(row, "base_")) for row in pq.read_table(PAIRS).to_pylist()]


def known_of(row: dict[str, Any], prefix: str) -> PlaceRecord:
    """One side of a pair."""
    body = {key: json.loads(row[prefix + key] or "null") for key in ("names", "addresses", "phones", "websites")}
    address = (body["addresses"] or [{}])[0]
    phone = (body["phones"] or [None])[0]
    return PlaceRecord(
        name=body["names"].get("primary") or "",
        line1=address.get("freeform"),
        postal_code=address.get("postcode"),
        phone=read_phone(phone, country=address.get("country", "US")) if phone else None,
        website=(body["websites"] or [None])[0],
    )


@pytest.mark.django_db
def test_candidates_are_the_near_with_a_like_name_and_those_of_the_phone() -> None:
    near = builders.restaurant(name="Kødbyens Fiskebar", latitude=55.6681, longitude=12.5594)
    closed = builders.restaurant(name="Fiskebar", status="permanently_closed", latitude=55.6685, longitude=12.5594)
    called = builders.restaurant(name="Den Gamle Bar", alt_names=["Fiskebaren"], latitude=55.6681, longitude=12.5594)
    phoned = builders.restaurant(name="Elsewhere", phone="+4532155656", latitude=55.7, longitude=12.5)
    builders.restaurant(name="Mother", latitude=55.6681, longitude=12.5594)
    builders.restaurant(name="Kødbyens Fiskebar", latitude=55.6701, longitude=12.5594)
    builders.restaurant(name="Fiskebaren", latitude=55.6681, longitude=12.5594, merged_into=near)

    found, none = find_candidates([FISKEBAR, PlaceRecord(name="Nobody", lat=1, lng=1)])

    assert {pk for pk, _ in found} == {near.pk, closed.pk, called.pk, phoned.pk}
    assert none == []
    assert found[-1][0] == called.pk
    assert found[-1][1].alt_names == ("Fiskebaren",)


@pytest.mark.django_db
def test_a_place_without_a_location_is_found_by_its_name_in_the_market() -> None:
    here = builders.restaurant(name="Höst", latitude=None, longitude=None)
    builders.restaurant(name="Höst", market=builders.market("berlin"))

    assert [pk for pk, _ in find_candidates([PlaceRecord(name="HOST")], market="copenhagen")[0]] == [here.pk]
    assert find_candidates([PlaceRecord(name="HOST")]) == [[]]


@pytest.mark.django_db
def test_candidates_of_many_places_are_one_query() -> None:
    builders.restaurant(name="Kødbyens Fiskebar", latitude=55.6681, longitude=12.5594)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = find_candidates([FISKEBAR] * 30)

    assert [len(each) for each in found] == [1] * 30
    assert len(queries) == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_each_place_is_searched_once_before_the_restaurants_table_is_analyzed() -> None:
    names = [f"Cafe {number}" for number in range(40)]
    with unseen():
        for number, name in enumerate(names):
            builders.restaurant(name=name, slug=f"cafe-{number}", latitude=55.6, longitude=12.56)

    with planned("AS given") as parts:
        found = find_candidates([PlaceRecord(name=name, lat=55.6, lng=12.56) for name in names])

    assert [len(each) for each in found] == [20] * 40
    assert {one["Actual Loops"] for one in parts if one.get("Alias") == "near"} == {40}


@pytest.mark.django_db
def test_no_places_are_no_query() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert find_candidates([]) == []

    assert len(queries) == 0
