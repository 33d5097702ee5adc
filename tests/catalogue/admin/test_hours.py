"""Opening hours that could not be read, for staff."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

import tests.support.builders
from catalogue.admin.restaurants.restaurants import HAS_TEXT, IS_NEEDED, IS_UNKNOWN
from catalogue.hours import read_osm
from catalogue.models import Restaurant
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.html import address

pytestmark = pytest.mark.django_db


def place(name: str, text: str | None, **columns: Any) -> Restaurant:
    hours = text and read_osm(text, timezone="Europe/Copenhagen", on=NOW.date()).to_json()
    return builders.restaurant(name=name, hours=hours or None, **columns)


def listed(chosen: str) -> list[str]:
    places = (
        tests.support.builders.staff().get(address(Restaurant, "changelist"), {"hours": chosen}).context["cl"].queryset
    )
    return sorted(restaurant.name for restaurant in places)


@pytest.fixture
def _places() -> None:
    place("Read", "Mo-Fr 10:00-20:00")
    place("Silent", None)
    place("Blank", None, slug="blank")
    Restaurant.objects.filter(slug="blank").update(hours={"timezone": "UTC", "known": False, "osm": None})
    place("Vague", '"by appointment"')
    place("Broken", "Mo-Fr from ten")
    place("School", "Mo-Fr 10:00-20:00; SH off")
    place("Gone", "Mo-Fr from ten", status="permanently_closed")
    place("Shut", "Mo-Fr from ten", status="temporarily_closed")


@pytest.mark.usefixtures("_places")
def test_staff_find_the_texts_that_could_not_be_read() -> None:
    assert listed("unread") == ["Broken", "Shut", "Vague"]


@pytest.mark.usefixtures("_places")
def test_staff_find_the_texts_that_were_read_in_part() -> None:
    assert listed("partly") == ["School"]


@pytest.mark.usefixtures("_places")
def test_the_hours_filter_is_offered_with_its_choices() -> None:
    client: Client = tests.support.builders.staff()
    page = client.get(address(Restaurant, "changelist")).content.decode()
    assert "?hours=unread" in page
    assert "not parsed" in page


@pytest.mark.usefixtures("_places")
def test_the_reason_is_stored_beside_the_text() -> None:
    hours = Restaurant.objects.get(name="Broken").hours
    assert hours is not None
    assert (hours["osm"], hours["known"], hours["notes"]) == (
        "Mo-Fr from ten",
        False,
        ['"Mo-Fr from ten" states no times.'],
    )


@pytest.mark.exhaustive
def test_the_texts_are_found_by_their_index() -> None:
    # Of so many that can be read; where all are alike, any index will do.
    Restaurant.objects.bulk_create(builders.unsaved(slug=f"place-{number}") for number in range(300))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalogue_restaurant")
        cursor.execute("SET LOCAL enable_seqscan = off")
    for chosen in (
        Restaurant.objects.filter(IS_NEEDED, IS_UNKNOWN, HAS_TEXT),
        Restaurant.objects.filter(IS_NEEDED, ~IS_UNKNOWN, hours__has_key="notes"),
    ):
        assert "restaurant_with_unparsed_hours" in chosen.order_by("-pk").explain()
