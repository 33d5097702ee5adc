"""Merging a cuisine into another: restaurants, narrower cuisines and synonyms follow; the old slug still answers."""

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from catalogue import reference_data
from catalogue.models import Cuisine, Restaurant
from catalogue.places.cuisine_merge import CannotMergeCuisine, merge_cuisine
from catalogue.search.text import vocabulary
from catalogue.tasks import merge_cuisines
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.html import address
from tests.support import builders as accounts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _cuisines() -> None:
    Cuisine.objects.create(slug="steakhouse", label="Steakhouse", synonyms=["grill room"])
    Cuisine.objects.create(slug="steak-house", label="Steak House", synonyms=["asador"], labels={"de": "Steakhaus"})
    Cuisine.objects.create(slug="argentinian-steak", label="Argentinian steak", parent_id="steak-house")


def test_restaurants_narrower_cuisines_and_synonyms_follow_a_merged_cuisine() -> None:
    both = builders.restaurant(cuisines=["steak-house", "seafood", "steakhouse"])
    second = builders.restaurant(cuisines=["seafood", "steak-house"])
    other = builders.restaurant(cuisines=["seafood"])
    versions = [row.version for row in (both, second, other)]

    assert merge_cuisine("steak-house", into="steakhouse", actor="staff:1", now=NOW) == 2

    for row in (both, second, other):
        row.refresh_from_db()
    assert (both.cuisine_id, both.cuisines) == ("steakhouse", ["steakhouse", "seafood"])
    assert (second.cuisine_id, second.cuisines) == ("seafood", ["seafood", "steakhouse"])
    assert [row.version for row in (both, second, other)] == [versions[0] + 1, versions[1] + 1, versions[2]]
    survivor = Cuisine.objects.get(slug="steakhouse")
    assert survivor.synonyms == ["grill room", "steak-house", "Steak House", "asador", "Steakhaus"]
    assert Cuisine.objects.get(slug="argentinian-steak").parent_id == "steakhouse"
    assert not Cuisine.objects.filter(slug="steak-house").exists()


def test_the_old_slug_finds_what_the_new_one_finds(client: Client) -> None:
    builders.restaurant(cuisines=["steak-house"], name="Old")
    merge_cuisine("steak-house", into="steakhouse", actor="staff:1", now=NOW)
    vocabulary._cache.clear()  # noqa: SLF001  # the merge of another process
    for query in ("cuisine=steak-house", "cuisine=steakhouse", "q=asador"):
        assert [hit["name"] for hit in client.get(f"/v1/restaurants?{query}").json()["data"]] == ["Old"]
    assert client.get("/v1/restaurants?cuisine_not=steak-house").json()["data"] == []
    assert client.get("/v1/restaurants?cuisine=steak-hose").json()["error"]["param"] == "cuisine"


def test_a_merged_cuisine_of_our_own_table_does_not_come_back() -> None:
    reference_data.load_dictionaries()
    merge_cuisine("ramen", into="japanese", actor="staff:1", now=NOW)
    reference_data.load_dictionaries()
    assert not Cuisine.objects.filter(slug="ramen").exists()


def test_a_cuisine_is_not_merged_into_itself_or_into_a_narrower_one() -> None:
    for into in ("steak-house", "argentinian-steak"):
        with pytest.raises(CannotMergeCuisine):
            merge_cuisine("steak-house", into=into, actor="staff:1", now=NOW)


def test_staff_merge_a_cuisine_in_its_form(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    staff = accounts.staff()
    place = builders.restaurant(cuisines=["steak-house"])
    page = address(Cuisine, "change", "steak-house")
    assert "merge_into" in staff.get(page).context["adminform"].form.fields
    form = {"slug": "steak-house", "label": "Steak House", "labels": "{}", "synonyms": "asador"}
    narrower = staff.post(page, form | {"merge_into": "argentinian-steak"})
    assert "narrower" in str(narrower.context["adminform"].form.errors["merge_into"])
    with django_capture_on_commit_callbacks() as enqueued:
        assert staff.post(page, form | {"merge_into": "steakhouse"}).status_code == 302
    assert len(enqueued) == 1
    merge_cuisines(loser="steak-house", into="steakhouse", actor="staff:1")
    assert Restaurant.objects.get(pk=place.pk).cuisine_id == "steakhouse"
    # A task that is delivered twice.
    merge_cuisines(loser="steak-house", into="steakhouse", actor="staff:1")
