"""What the database does by itself when a restaurant changes: versions, former slugs, the read model."""

import threading
from datetime import timedelta

import orjson
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from catalogue.history import publish
from catalogue.models import FormerSlug, Insight, Kitchen, Record, Restaurant, SearchRow, SourceRecord, Version
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def card(place: Restaurant) -> dict[str, object]:
    row = SearchRow.objects.get(pk=place.pk)
    return orjson.loads("{" + row.card + "}")  # type: ignore[no-any-return]


def test_a_new_restaurant_is_rendered_and_begins_its_history() -> None:
    place = builders.restaurant(name="Bæst", cuisines=["pizza", "italian"], rating="4.5", review_count=7)
    assert card(place) == {
        "slug": place.slug,
        "name": "Bæst",
        "neighborhood": None,
        "market": "copenhagen",
        "rating": 4.5,
        "review_count": 7,
        "price_level": None,
        "cuisine": "Pizza",
        "cuisines": ["pizza", "italian"],
        "phone": None,
        "location": {"lat": 55.6737, "lng": 12.5681},
    }
    assert Record.objects.get(pk=place.pk).slug == place.slug
    assert set(Kitchen.objects.values_list("cuisine", flat=True)) == {"pizza", "italian"}
    (version,) = Version.objects.all()
    assert (version.version, version.kind, version.actor, version.patch) == (1, "created", "system", {})


def test_a_change_is_a_version_with_what_was_and_what_is_and_who_did_it() -> None:
    place = builders.restaurant(name="Old")
    with transaction.atomic():
        publish.set_actor("staff:7")
        Restaurant.objects.filter(pk=place.pk).update(name="New")
    place.refresh_from_db()
    version = place.versions.get(version=2)
    assert place.version == 2
    assert (version.kind, version.actor, version.patch) == ("renamed", "staff:7", {"name": ["Old", "New"]})
    assert version.at == place.updated_at > builders.NOW
    assert card(place)["name"] == "New"


def test_a_write_that_changes_nothing_is_no_version() -> None:
    place = builders.restaurant(name="Same")
    Restaurant.objects.filter(pk=place.pk).update(name="Same", updated_at=F("updated_at"), locked_fields=["name"])
    place.refresh_from_db()
    assert (place.version, place.updated_at, place.versions.count()) == (1, builders.NOW, 1)


def test_former_slug_redirects_only_to_its_restaurant() -> None:
    place = builders.restaurant(slug="first")
    Restaurant.objects.filter(pk=place.pk).update(slug="second")
    assert FormerSlug.objects.get(slug="first").restaurant_id == place.pk
    with pytest.raises(IntegrityError), transaction.atomic():
        builders.restaurant(slug="first")
    other = builders.restaurant(slug="other")
    with pytest.raises(IntegrityError), transaction.atomic():
        Restaurant.objects.filter(pk=other.pk).update(slug="first")
    Restaurant.objects.filter(pk=place.pk).update(slug="first")
    assert list(FormerSlug.objects.values_list("slug", flat=True)) == ["second"]


def test_who_closes_for_good_leaves_the_lists_and_keeps_the_record() -> None:
    place = builders.restaurant()
    Restaurant.objects.filter(pk=place.pk).update(status="permanently_closed")
    assert not SearchRow.objects.exists()
    assert not Kitchen.objects.exists()
    assert Record.objects.get(pk=place.pk).status == "permanently_closed"
    assert place.versions.get(version=2).kind == "closed"
    Restaurant.objects.filter(pk=place.pk).update(status="open")
    assert SearchRow.objects.get(pk=place.pk).intervals_until is None
    assert place.versions.get(version=3).kind == "reopened"


def test_sources_and_dishes_of_an_insight_are_rendered_with_the_restaurant() -> None:
    place = builders.restaurant()
    builders.listed(place, "osm", "node/1")
    assert SearchRow.objects.get(pk=place.pk).sources == ["osm"]
    assert Record.objects.get(pk=place.pk).sources == ["osm"]
    builders.insight(place, detail={"dishes": [{"name": "Tarte Tatin"}]})
    assert "'tatin':" in str(SearchRow.objects.get(pk=place.pk).document)
    Insight.objects.update(hidden=True)
    assert "'tatin':" not in str(SearchRow.objects.get(pk=place.pk).document)


def test_a_rank_moves_at_most_once_an_hour() -> None:
    place = builders.restaurant(rating="4.0", review_count=10)
    Restaurant.objects.filter(pk=place.pk).update(rating="4.5")
    row = SearchRow.objects.get(pk=place.pk)
    assert (row.rank_stars, row.former_stars) == (45, 40)
    Restaurant.objects.filter(pk=place.pk).update(rating="4.9")
    row.refresh_from_db()
    assert (str(row.rating), row.rank_stars, row.former_stars) == ("4.9", 45, 40)


def test_who_began_earlier_and_writes_later_does_not_turn_the_history_back() -> None:
    place = builders.restaurant(created_at=builders.NOW, updated_at=builders.NOW)
    later, earlier = builders.NOW + timedelta(hours=2), builders.NOW + timedelta(hours=1)
    for name, at in (("By staff", later), ("By an import", earlier), ("By staff again", later + timedelta(hours=1))):
        Restaurant.objects.filter(pk=place.pk).update(name=name, updated_at=at)
    moments = list(Version.objects.filter(restaurant=place).order_by("version").values_list("at", flat=True))
    assert moments == [builders.NOW, later, later, later + timedelta(hours=1)]


def test_who_is_deleted_is_found_nowhere_though_its_sources_went_before_it() -> None:
    place = builders.restaurant()
    builders.listed(place, "osm", "node/1")
    place.delete()
    assert not SearchRow.objects.exists()
    assert not Kitchen.objects.exists()
    assert not Record.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_that_change_a_restaurant_at_once_the_later_does_not_show_what_was_before() -> None:
    place = builders.restaurant(name="Before")
    other = builders.source("osm")
    changed, result = threading.Event(), threading.Event()

    def rename() -> None:
        with transaction.atomic():
            Restaurant.objects.filter(pk=place.pk).update(name="After")
            changed.set()
            # Meanwhile the other comes to the row and waits for it.
            result.wait(0.3)
        connection.close()

    thread = threading.Thread(target=rename)
    thread.start()
    changed.wait()
    SourceRecord.objects.create(
        restaurant=place, source=other, record="node/1", digest="0" * 64, fields=[], updated_at=builders.NOW
    )
    result.set()
    thread.join()
    row = SearchRow.objects.get(pk=place.pk)
    assert (row.name, row.sources) == ("after", ["osm"])
    record = Record.objects.get(pk=place.pk)
    assert '"name":"After"' in record.before
    assert record.sources == ["osm"]
