"""The neighborhoods of restaurants follow those of the landmarks, as far as nobody states them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connection

from catalogue import reference_data
from catalogue.models import Landmark, NeighborhoodChange, Restaurant, SearchRow, Version
from catalogue.places.neighborhoods import find_neighborhoods, update_neighborhoods
from catalogue.search.geocoding.distance import Location
from catalogue.tasks import update_neighborhoods as update_task
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import cafe, geojson, import_landmarks, import_restaurants, landmarks_csv

NOW = datetime(2026, 11, 21, 19, tzinfo=UTC)
# On the meridian of the restaurant: 0.01 degrees of latitude are 1,112 m.
NORTH, HERE, SOUTH = (55.6837, 12.5681), builders.TIVOLI, (55.6637, 12.5681)


def hood(name: str, at: tuple[float, float], **fields: object) -> Landmark:
    return builders.landmark(name, at=at, kind="neighborhood", **fields)


def update() -> None:
    assert update_neighborhoods(now=NOW) is False
    assert not NeighborhoodChange.objects.exists()


def neighborhood(place: Restaurant) -> str | None:
    place.refresh_from_db()
    return place.neighborhood


@pytest.mark.django_db
def test_a_neighborhood_that_is_added_is_that_of_the_restaurants_within_1500_m() -> None:
    near, far = builders.restaurant(), builders.restaurant(latitude=55.6602)
    # 1,499 m and 1,501 m to the north of the landmark.
    inside, outside = builders.restaurant(latitude=55.697181), builders.restaurant(latitude=55.697199)
    hood("Indre By", NORTH)

    update()

    assert [neighborhood(each) for each in (near, far, inside, outside)] == ["Indre By", None, "Indre By", None]
    assert SearchRow.objects.get(pk=near.pk).neighborhood == "indre by"
    version = Version.objects.get(restaurant=near, version=2)
    assert (version.kind, version.actor, near.version) == ("updated", "system", 2)
    assert near.updated_at == NOW
    assert Restaurant.objects.get(pk=far.pk).version == 1


@pytest.mark.django_db
def test_a_neighborhood_that_is_moved_away_leaves_its_restaurants_to_the_next_one() -> None:
    place, other = builders.restaurant(), builders.restaurant(latitude=55.69)
    moved, _next = hood("Indre By", NORTH), hood("Vesterbro", SOUTH)
    moved.latitude = 55.68
    moved.save()
    update()
    assert (neighborhood(place), neighborhood(other)) == ("Indre By", "Indre By")

    moved.latitude = 55.70
    moved.save()
    update()

    # 2,924 m and 1,112 m from Indre By.
    assert (neighborhood(place), neighborhood(other)) == ("Vesterbro", "Indre By")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        lambda hood: hood.delete(),
        lambda hood: Landmark.objects.filter(pk=hood.pk).update(kind="park"),
        lambda hood: Landmark.objects.filter(pk=hood.pk).update(longitude=13.0),
    ],
)
def test_without_its_neighborhood_a_restaurant_has_none(change: Callable[[Landmark], object]) -> None:
    place = builders.restaurant()
    gone = hood("Indre By", NORTH)
    update()
    assert neighborhood(place) == "Indre By"

    change(gone)
    update()

    assert neighborhood(place) is None


@pytest.mark.django_db
def test_a_renamed_neighborhood_renames_that_of_its_restaurants() -> None:
    place = builders.restaurant()
    renamed = hood("Indre By", NORTH)
    update()

    renamed.name = "City"
    renamed.save()
    update()

    assert neighborhood(place) == "City"


@pytest.mark.django_db
def test_landmarks_that_are_no_neighborhoods_and_other_columns_change_nothing() -> None:
    hood("Indre By", NORTH)
    update()

    builders.landmark("Tivoli Gardens", kind="park").delete()
    Landmark.objects.update(prominence=7, market=builders.market())

    assert not NeighborhoodChange.objects.exists()


@pytest.mark.django_db
def test_what_staff_or_a_source_state_stays() -> None:
    locked = builders.restaurant(neighborhood="By staff", locked_fields=["neighborhood"])
    stated, erased = (
        builders.restaurant(neighborhood="By its source"),
        builders.restaurant(neighborhood=None, erased_at=NOW),
    )
    builders.listed(stated)
    stated.source_records.update(fields=["name", "neighborhood"])
    merged = builders.restaurant(neighborhood="Of a duplicate", merged_into=locked)

    hood("Indre By", NORTH)
    update()

    assert [neighborhood(each) for each in (locked, stated, erased, merged)] == [
        "By staff", "By its source", None, "Of a duplicate",
    ]  # fmt: skip


@pytest.mark.django_db
def test_restaurants_that_already_have_the_neighborhood_get_no_version() -> None:
    builders.restaurant(neighborhood="Indre By")
    hood("Indre By", NORTH)

    update()

    assert list(Version.objects.values_list("kind", flat=True)) == ["created"]


@pytest.mark.django_db
def test_batches_are_bounded_and_the_next_call_goes_on_where_one_ended() -> None:
    places = [builders.restaurant() for _ in range(5)]
    hood("Indre By", NORTH)

    assert update_neighborhoods(now=NOW, batch=2, at_most=4) is True
    assert Restaurant.objects.filter(neighborhood="Indre By").count() == 4
    assert NeighborhoodChange.objects.get().after == sorted(place.pk for place in places)[3]
    assert update_neighborhoods(now=NOW, batch=2, at_most=4) is False
    assert Restaurant.objects.filter(neighborhood="Indre By").count() == 5


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_work_out_each_restaurant_once() -> None:
    for _ in range(6):
        builders.restaurant()
    hood("Indre By", NORTH)
    hood("Vesterbro", (55.672, 12.5681))
    start = Barrier(2)

    def work() -> None:
        try:
            start.wait()
            while update_neighborhoods(now=NOW, batch=2):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(work), threads.submit(work)]:
            each.result()
    update()

    assert set(Restaurant.objects.values_list("neighborhood", "version")) == {("Vesterbro", 2)}


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_reference_data_and_imports_of_landmarks_change_neighborhoods_too(tmp_path: Path) -> None:
    reference_data.load_dictionaries()
    place = builders.restaurant(latitude=55.6700, longitude=12.5500)
    reference_data.load_reference_data()
    update_task()
    assert neighborhood(place) == "Vesterbro"

    import_landmarks(landmarks_csv(tmp_path / "a.csv", "Q1,Kødbyen,neighborhood,55.6699,12.5501"))
    update_task()

    assert neighborhood(place) == "Kødbyen"


@pytest.mark.django_db
def test_a_long_name_of_a_neighborhood_is_cut_to_the_column() -> None:
    hood("A" * 150, NORTH)

    assert find_neighborhoods([Location(*HERE)]) == ["A" * 120]


@pytest.mark.django_db
def test_an_imported_restaurant_follows_the_landmarks_unless_its_source_states_the_neighborhood(
    tmp_path: Path,
) -> None:
    builders.market()
    builders.source("osm")
    landmark = hood("Indre By", (55.6761, 12.5683))
    features = [cafe("Follows"), cafe("States", **{"addr:suburb": "Christianshavn"})]
    import_restaurants(geojson(tmp_path / "a.geojson", features))
    by_name = {place.name: place for place in Restaurant.objects.all()}
    assert {name: place.neighborhood for name, place in by_name.items()} == {
        "Follows": "Indre By", "States": "Christianshavn",
    }  # fmt: skip
    assert {name: "neighborhood" in place.source_records.get().fields for name, place in by_name.items()} == {
        "Follows": False, "States": True,
    }  # fmt: skip

    Landmark.objects.filter(pk=landmark.pk).update(name="City")
    update()
    assert {name: neighborhood(place) for name, place in by_name.items()} == {
        "Follows": "City", "States": "Christianshavn",
    }  # fmt: skip

    # Now the other one states its neighborhood, and this one does not any more.
    features = [cafe("Follows", **{"addr:suburb": "Nyhavn"}), cafe("States")]
    import_restaurants(geojson(tmp_path / "b.geojson", features))
    assert {name: neighborhood(place) for name, place in by_name.items()} == {"Follows": "Nyhavn", "States": "City"}
