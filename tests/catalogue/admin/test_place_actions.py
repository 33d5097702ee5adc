"""Staff rename, merge and erase restaurants, and read what they were."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

import tests.support.builders
from accounts.models import User
from catalogue import places as catalogue_places
from catalogue.models import FormerSlug, Restaurant, Version
from tests.catalogue import builders
from tests.catalogue.html import address
from tests.support.builders import messages_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    return tests.support.builders.staff()


def act(staff: Client, action: str, *places: Restaurant, **fields: Any) -> Any:
    sent = {"action": action, "_selected_action": [str(place.pk) for place in places], **fields}
    return staff.post(address(Restaurant, "changelist"), sent)


def test_a_restaurant_is_renamed_after_the_new_slug_was_given(staff: Client) -> None:
    place = builders.restaurant(slug="noma", name="Noma")
    response = act(staff, "rename", place)
    assert "It will redirect to the new slug and stays reserved." in response.content.decode()
    assert not FormerSlug.objects.exists()
    done = act(staff, "rename", place, confirmed="Yes", slug="noma-2")
    assert messages_of(done)[-1] == "The slug of Noma is now noma-2."
    place.refresh_from_db()
    assert place.slug == "noma-2"
    assert place.versions.get(version=2).actor == f"staff:{User.objects.get().pk}"
    refused = act(staff, "rename", place, confirmed="Yes", slug="Not a slug")
    assert messages_of(refused)[-1] == "A slug is small letters and digits with hyphens between them."


def test_two_restaurants_are_merged_into_the_one_that_was_chosen(staff: Client) -> None:
    stored, lost = builders.restaurant(slug="kept"), builders.restaurant(slug="lost")
    assert messages_of(act(staff, "merge", stored))[-1] == "Select two restaurants."
    assert "This cannot be undone" in act(staff, "merge", stored, lost).content.decode()
    assert messages_of(act(staff, "merge", stored, lost, confirmed="Yes"))[-1] == "Select the restaurant to keep."
    assert Restaurant.objects.filter(merged_into=None).count() == 2
    done = act(staff, "merge", stored, lost, confirmed="Yes", survivor=str(stored.pk))
    assert messages_of(done)[-1] == "lost was merged into kept."
    lost.refresh_from_db()
    assert lost.merged_into == stored
    assert staff.post(address(Restaurant, "change", lost.pk), {"name": "New"}).status_code == 403


def test_who_may_not_delete_may_not_erase() -> None:
    place = builders.restaurant(slug="noma")
    user = User.objects.create_user("ada@example.com", password="a", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_restaurant", "change_restaurant"]))
    staff = Client()
    staff.force_login(user)
    act(staff, "erase", place, confirmed="Yes")
    place.refresh_from_db()
    assert place.erased_at is None
    user.user_permissions.add(Permission.objects.get(codename="delete_restaurant"))
    assert "is deleted" in act(staff, "erase", place).content.decode()
    assert messages_of(act(staff, "erase", place, confirmed="Yes"))[-1] == "noma was erased."
    with pytest.raises(catalogue_places.Gone):
        catalogue_places.find_restaurant("noma")


@pytest.mark.exhaustive
def test_what_a_restaurant_was_is_read_on_its_page_and_in_a_list(staff: Client) -> None:
    place = builders.restaurant(slug="noma", name="Noma")
    Restaurant.objects.filter(pk=place.pk).update(phone="+4532155656", name="NOMA <2>")
    for where in (
        address(Restaurant, "change", place.pk),
        address(Version, "changelist"),
        address(Version, "change", Version.objects.latest("pk").pk),
    ):
        shown = staff.get(where).content.decode()
        assert "/phone</code>: null → &quot;+4532155656&quot;" in shown
        assert "&quot;NOMA &lt;2&gt;&quot;" in shown
    assert staff.get(address(FormerSlug, "changelist")).status_code == 200
    assert staff.post(address(Version, "change", Version.objects.latest("pk").pk), {}).status_code == 403


@pytest.mark.exhaustive
def test_who_is_merged_or_erased_is_marked_and_no_action_changes_it(staff: Client) -> None:
    stored, lost, erased = (builders.restaurant(slug=slug) for slug in ("kept", "lost", "erased"))
    catalogue_places.merge(lost, stored, actor="staff:7", now=builders.NOW)
    catalogue_places.erase(erased, actor="staff:7", now=builders.NOW)
    before = list(Restaurant.objects.exclude(pk=stored.pk).order_by("pk").values_list("version", "status"))
    page = staff.get(address(Restaurant, "changelist")).content.decode()
    assert ">Merged</span>" in page
    assert ">Erased</span>" in page
    response = act(staff, "close_temporarily", stored, lost, erased)
    assert "1 restaurant will be marked" in response.content.decode()
    done = act(staff, "close_temporarily", stored, lost, erased, confirmed="Yes")
    assert messages_of(done)[-2:] == [
        "1 restaurants are now temporarily closed.",
        "2 merged or erased restaurants were skipped.",
    ]
    assert list(Restaurant.objects.exclude(pk=stored.pk).order_by("pk").values_list("version", "status")) == before
    assert staff.post(address(Restaurant, "change", erased.pk), {"name": "New"}).status_code == 403
    shown = staff.get(address(Restaurant, "change", erased.pk)).content.decode()
    assert 'name="_save"' not in shown
    assert 'name="name"' not in shown
