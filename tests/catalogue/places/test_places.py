"""Slugs that move, restaurants that become one, and those that are erased."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection, transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from catalogue import places
from catalogue.models import (
    FlowSlot,
    Listing,
    MatchCandidate,
    Photo,
    Record,
    Report,
    Restaurant,
    Review,
    SearchRow,
    SourceRecord,
    Version,
)
from framework.errors import ApiError, InvalidRequest, NotFound
from payments.pricing import default_products
from tests.catalogue import builders
from tests.catalogue.builders import NOW

STAFF = "staff:7"
LATER = NOW + timedelta(hours=1)
NESTED = ("", "/hours", "/reviews", "/photos", "/context", "/insight", "/flow", "/history")


def rename(place: Restaurant, slug: str) -> None:
    places.rename(place, slug, actor=STAFF, now=LATER)


def merge(loser: Restaurant, into: Restaurant) -> None:
    places.merge(loser, into, actor=STAFF, now=LATER)


def report(place: Restaurant, **fields: object) -> Report:
    return Report.objects.create(
        restaurant=place, **{"kind": "closed", "reporter": "a" * 64, "created_at": NOW, **fields}
    )


# Finding
@pytest.mark.django_db
def test_a_slug_that_is_in_use_costs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    place = builders.restaurant(slug="noma")
    with django_assert_num_queries(1):
        found = places.find_restaurant("noma")
        assert (found, found.market.slug, found.cuisine.label if found.cuisine else None) == (
            place,
            "copenhagen",
            "Seafood",
        )


@pytest.mark.django_db
def test_a_chain_of_names_and_mergers_is_followed_to_its_end_in_one_go() -> None:
    one, two, three = (
        builders.restaurant(slug="one"),
        builders.restaurant(slug="two"),
        builders.restaurant(slug="three"),
    )
    rename(one, "uno")
    merge(one, two)
    merge(two, three)
    rename(three, "tre")
    for slug in ("one", "uno", "two", "three"):
        with pytest.raises(places.Renamed) as caught:
            places.find_restaurant(slug)
        assert (caught.value.former, caught.value.name) == (slug, "tre")
    assert places.find_restaurant("tre") == three
    with pytest.raises(NotFound):
        places.find_restaurant("four")


@pytest.mark.sample(4)
@pytest.mark.django_db
@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("slash", ["", "/"])
def test_every_address_of_a_slug_that_moved_leads_on_with_its_question(
    client: Client, nested: str, slash: str
) -> None:
    default_products.create_missing()
    place = builders.restaurant(slug="restaurants")
    rename(place, "noma")
    response = client.get(f"/v1/restaurants/restaurants{nested}{slash}")
    assert response.status_code == 308
    assert response["Location"] == f"/v1/restaurants/noma{nested}{slash}"
    error = response.json()["error"]
    assert (error["code"], error["slug"]) == ("renamed", "noma")
    assert (
        client.get("/v1/restaurants/restaurants?fields=core").headers["Location"] == "/v1/restaurants/noma?fields=core"
    )
    assert client.get(response["Location"]).status_code in (200, 402)


@pytest.mark.sample(3)
@pytest.mark.django_db
@pytest.mark.parametrize("nested", NESTED)
def test_every_address_of_an_erased_restaurant_says_that_it_is_gone(client: Client, nested: str) -> None:
    place = builders.restaurant(slug="noma")
    rename(place, "nomad")
    places.erase(place, actor=STAFF, now=LATER)
    for slug in ("noma", "nomad"):
        response = client.get(f"/v1/restaurants/{slug}{nested}")
        assert (response.status_code, response.json()["error"]["code"]) == (410, "gone")


# Renaming
@pytest.mark.django_db
def test_restaurant_gets_back_only_its_own_former_name() -> None:
    place, other = builders.restaurant(slug="noma"), builders.restaurant(slug="geranium")
    rename(place, "nomad")
    rename(place, "noma")
    assert places.find_restaurant("noma") == place
    rename(other, "geranium-2")
    for slug in ("geranium", "geranium-2"):
        with pytest.raises(places.SlugTaken):
            rename(place, slug)
    for slug in ("No Slug", "", "-", "a" * 121):
        with pytest.raises(InvalidRequest):
            rename(place, slug)
    place.refresh_from_db()
    assert (place.slug, place.version) == ("noma", 3)
    newest = place.versions.latest("version")
    assert (newest.actor, newest.kind, newest.patch) == (STAFF, "renamed", {"slug": ["nomad", "noma"]})


# Merging
@pytest.mark.django_db
def test_what_hangs_on_the_loser_moves_and_what_the_survivor_lacks_is_filled() -> None:
    stored = builders.restaurant(
        slug="kept", name="Noma", phone=None, website="https://kept.example", attributes={"takeaway": True}
    )
    lost = builders.restaurant(
        slug="lost",
        name="noma restaurant",
        phone="+4532155656",
        phone_verified_at=NOW,
        website="https://lost.example",
        hours=builders.week("18:00", "23:00"),
        attributes={"takeaway": False, "delivery": True},
        external_ids={"osm": "node/1"},
        locked_fields=["phone", "website"],
    )
    builders.listed(lost, "osm", "node/1")
    builders.review(stored, "Fine.", stars=5)
    builders.review(lost, "Poor.", stars=2)
    builders.photo(lost)
    builders.listing(lost)
    builders.slot(lost)
    third = builders.restaurant(slug="third")
    report(lost, kind="duplicate", same_as=stored)
    report(lost)
    report(stored)
    report(third, same_as=lost, kind="duplicate")
    first, second = sorted((stored, lost), key=lambda one: one.pk)
    MatchCandidate.objects.create(first=first, second=second, score=0.9, found_at=NOW)
    first, second = sorted((lost, third), key=lambda one: one.pk)
    MatchCandidate.objects.create(
        first=first, second=second, score=0.9, found_at=NOW, state="distinct", decided_at=NOW
    )

    merge(lost, stored)

    assert lost.merged_into == stored
    assert (stored.phone, stored.phone_verified_at, stored.website) == ("+4532155656", NOW, "https://kept.example")
    assert (stored.hours, stored.external_ids) == (lost.hours, {"osm": "node/1"})
    assert (stored.attributes, stored.alt_names) == ({"takeaway": True, "delivery": True}, ["noma restaurant"])
    assert stored.locked_fields == ["phone"]
    assert (stored.review_count, str(stored.rating), stored.star_counts) == (2, "3.5", [0, 1, 0, 0, 1])
    for model in (Review, Photo, SourceRecord, Listing, FlowSlot):
        assert set(model._default_manager.values_list("restaurant", flat=True)) == {stored.pk}
    assert sorted(stored.reports.values_list("kind", "state")) == [("closed", "open"), ("duplicate", "applied")]
    assert third.reports.get().same_as == stored
    assert MatchCandidate.objects.get(state="merged").decided_at == LATER
    again = MatchCandidate.objects.get(state="distinct")
    assert {again.first_id, again.second_id} == {stored.pk, third.pk}
    assert not Record.objects.filter(pk=lost.pk).exists()
    assert not SearchRow.objects.filter(pk=lost.pk).exists()
    assert Record.objects.get(pk=stored.pk).sources == ["osm"]
    newest = lost.versions.latest("version")
    assert (newest.kind, newest.actor) == ("merged", STAFF)


@pytest.mark.django_db
def test_a_survivor_with_offers_of_its_own_keeps_them_and_those_of_the_loser_are_withdrawn() -> None:
    stored, lost = builders.restaurant(), builders.restaurant()
    builders.listing(stored)
    theirs = builders.listing(lost)
    slot = builders.slot(lost, starts_at=LATER + timedelta(hours=2))
    rule = builders.rule(lost)
    merge(lost, stored)
    for row in (theirs, slot, rule):
        row.refresh_from_db()
    assert (theirs.is_active, theirs.restaurant_id, slot.withdrawn_at, rule.active) == (False, lost.pk, LATER, False)


@pytest.mark.django_db
def test_what_staff_have_emptied_is_not_filled() -> None:
    stored = builders.restaurant(phone=None, locked_fields=["phone"])
    merge(builders.restaurant(phone="+4532155656"), stored)
    assert stored.phone is None


@pytest.mark.django_db
def test_what_is_merged_or_erased_or_itself_is_not_merged() -> None:
    one, two, three = builders.restaurant(), builders.restaurant(), builders.restaurant()
    merge(one, two)
    places.erase(three, actor=STAFF, now=LATER)
    before = list(Restaurant.objects.order_by("pk").values_list("version", "merged_into"))
    for loser, into in ((one, two), (two, one), (two, three), (three, two), (two, two)):
        with pytest.raises(places.CannotMerge):
            merge(loser, into)
    assert list(Restaurant.objects.order_by("pk").values_list("version", "merged_into")) == before


@pytest.mark.django_db(transaction=True)
def test_of_two_mergers_in_opposite_directions_one_is_refused() -> None:
    one, two = builders.restaurant(slug="one"), builders.restaurant(slug="two")
    ready = Barrier(2)

    def run(pair: tuple[Restaurant, Restaurant]) -> ApiError | None:
        ready.wait()
        try:
            merge(*pair)
        except ApiError as refusal:
            return refusal
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(run, ((one, two), (two, one))))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["CannotMerge", "NoneType"]
    assert Restaurant.objects.filter(merged_into=None).count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_who_is_merged_while_the_survivor_is_erased_is_erased_with_it() -> None:
    one, two = sorted((builders.restaurant(name="One"), builders.restaurant(name="Two")), key=lambda place: place.pk)
    is_merged = Event()

    def erase() -> None:
        try:
            is_merged.wait()
            places.erase(Restaurant.objects.get(pk=two.pk), actor=STAFF, now=LATER)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            merge(one, two)
            erasing = thread.submit(erase)
            is_merged.set()
            time.sleep(0.3)
        erasing.result()
    assert list(Restaurant.objects.values_list("name", "erased_at")) == [("", LATER), ("", LATER)]
    assert not Version.objects.exclude(patch={}).exists()


# Erasing
@pytest.mark.django_db
def test_of_an_erased_restaurant_nothing_stays_but_that_it_was_there(
    settings: Settings, tmp_path: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "photos": {**settings.STORAGES["photos"], "OPTIONS": {"location": tmp_path}},
    }
    place, merged = builders.restaurant(name="Chez Ada", phone="+4532155656"), builders.restaurant(name="Ada's")
    merge(merged, place)
    Restaurant.objects.filter(pk=place.pk).update(name="Ada Lovelace")
    builders.listed(place, "osm", "node/1")
    builders.review(place, "Ada was rude.")
    builders.insight(place)
    storages["photos"].save("ada.jpg", ContentFile(b"picture"))
    builders.photo(place, file="ada.jpg")
    builders.listing(place)
    builders.rule(place)
    slot = builders.slot(place, terms="Ask for Ada")
    report(place, text="Ada has left")

    with django_capture_on_commit_callbacks(execute=True):
        places.erase(place, actor=STAFF, now=LATER)

    row = connection.cursor().execute("SELECT to_jsonb(r)::text FROM catalogue_restaurant r").fetchall()
    versions = connection.cursor().execute("SELECT to_jsonb(v)::text FROM catalogue_version v").fetchall()
    records = connection.cursor().execute("SELECT to_jsonb(s)::text FROM catalogue_sourcerecord s").fetchall()
    assert not any("Ada" in text or "4532155656" in text for (text,) in [*row, *versions, *records])
    assert not any(model.objects.exists() for model in (Review, Photo, Report, Listing, Record, SearchRow))
    assert not (tmp_path / "ada.jpg").exists()
    slot.refresh_from_db()
    assert (slot.withdrawn_at, slot.terms) == (LATER, "")
    # So that no import takes it for new.
    assert SourceRecord.objects.get().restaurant == place
    assert set(Version.objects.filter(kind="erased").values_list("restaurant", "actor")) == {
        (place.pk, STAFF),
        (merged.pk, STAFF),
    }
    with pytest.raises(places.Gone):
        places.find_restaurant(merged.slug)
    with pytest.raises(places.Gone):
        places.erase(place, actor=STAFF, now=LATER)
    with pytest.raises(places.Gone):
        rename(place, "again")
