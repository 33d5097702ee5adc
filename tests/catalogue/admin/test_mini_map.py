"""The back office of the catalogue: a place's picture, locks at their fields, queues worked off one by one."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalogue.admin.restaurants import mini_map
from catalogue.models import MatchCandidate, Report, Restaurant
from catalogue.search.geocoding.distance import Location
from tests.catalogue import builders as catalogue_builders
from tests.support import builders
from tests.support.html import form_of

pytestmark = pytest.mark.django_db
XSS = "<script>alert(1)</script>"


@pytest.fixture
def staff() -> Client:
    return builders.staff()


def page_of(row: Any) -> str:
    return reverse(f"admin:catalogue_{type(row).__name__.lower()}_change", args=[row.pk])


def pair(score: float = 0.9) -> MatchCandidate:
    first, second = sorted(
        (catalogue_builders.restaurant(), catalogue_builders.restaurant()), key=lambda each: each.pk
    )
    return MatchCandidate.objects.create(first=first, second=second, score=score, found_at=timezone.now())


def report(**fields: Any) -> Report:
    return Report.objects.create(
        **{
            "restaurant": catalogue_builders.restaurant(),
            "kind": "closed",
            "reporter": "r",
            "created_at": timezone.now(),
        }
        | fields
    )


# The picture
def test_the_picture_has_the_neighbours_within_a_kilometre_the_nearest_first() -> None:
    here = Location(55.68, 12.58)
    near = catalogue_builders.restaurant(name="Near", latitude=55.681, longitude=12.58)
    far = catalogue_builders.restaurant(name="Far", latitude=55.688, longitude=12.58)
    catalogue_builders.restaurant(name="Too far", latitude=55.6895, longitude=12.58)
    found = mini_map.find_surroundings(here)
    assert [(spot["key"], spot["metres"]) for spot in found["places"]] == [(near.pk, 111), (far.pk, 890)]
    # North is up, and a kilometre ends at the edge.
    assert [(spot["x"], spot["y"]) for spot in found["places"]] == [("240.0", "215.5"), ("240.0", "44.3")]
    assert [ring["metres"] for ring in found["rings"]] == [250, 500, 1000]
    assert (found["scale_m"], found["is_full"]) == (500, False)


@pytest.mark.exhaustive
def test_a_change_form_with_its_picture_stays_within_fifteen_queries(
    staff: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    place = catalogue_builders.restaurant(latitude=55.68, longitude=12.58)
    for _ in range(5):
        catalogue_builders.restaurant(latitude=55.68, longitude=12.581)
    with django_assert_max_num_queries(15):
        assert staff.get(page_of(place)).status_code == 200


@pytest.mark.exhaustive
def test_names_in_the_picture_are_text(staff: Client) -> None:
    place = catalogue_builders.restaurant(name=XSS, latitude=55.68, longitude=12.58)
    catalogue_builders.restaurant(name=XSS, latitude=55.68, longitude=12.581)
    page = staff.get(page_of(place)).content.decode()
    assert f"<title>{XSS.replace('<', '&lt;').replace('>', '&gt;')}, 63 m</title>" in page
    assert XSS not in page


@pytest.mark.exhaustive
def test_a_place_without_a_location_says_so(staff: Client) -> None:
    page = staff.get(page_of(catalogue_builders.restaurant(latitude=None, longitude=None))).content.decode()
    assert "No location yet." in page


# Locks
@pytest.mark.exhaustive
def test_a_lock_stands_at_its_field_and_is_opened_there(staff: Client) -> None:
    place = catalogue_builders.restaurant(locked_fields=["phone"])
    page = staff.get(page_of(place))
    boxes = re.findall(r'name="locked_fields" value="(\w+)"( checked)?', page.content.decode())
    assert ("phone", " checked") in boxes
    assert ("name", "") in boxes
    assert len(boxes) == len({name for name, _ in boxes})
    sent = form_of(page, "restaurant_form")
    assert staff.post(page_of(place), sent | {"locked_fields": ["website"]}).status_code == 302
    place.refresh_from_db()
    assert place.locked_fields == ["website"]


# Queues
@pytest.mark.exhaustive
def test_a_pair_is_judged_in_two_clicks_and_the_next_follows(staff: Client) -> None:
    first, second = pair(0.9), pair(0.8)
    page = staff.get(page_of(first)).content.decode()
    assert "Same place…" in page
    assert f'href="{page_of(second)}">Skip<' in page
    answer = staff.post(page_of(first), {"verdict": "same"})
    assert (answer.status_code, answer["Location"]) == (302, page_of(second))
    first.refresh_from_db()
    assert first.state == "merged"
    last = staff.post(page_of(second), {"verdict": "distinct"})
    assert last["Location"] == reverse("admin:catalogue_matchcandidate_changelist")
    assert builders.messages_of(last)[-1] == "The queue is empty."
    second.refresh_from_db()
    assert second.state == "distinct"


def test_a_pair_that_another_user_has_judged_is_not_judged_again(staff: Client) -> None:
    judged = pair()
    MatchCandidate.objects.update(state="distinct")
    assert "Same place" not in staff.get(page_of(judged)).content.decode()
    answer = staff.post(page_of(judged), {"verdict": "same"})
    assert builders.messages_of(answer) == ["Somebody has decided this pair already."]
    assert Restaurant.objects.filter(merged_into__isnull=False).count() == 0


@pytest.mark.exhaustive
def test_a_pair_and_a_report_stay_within_fifteen_queries(
    staff: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for row in (pair(), report()):
        with django_assert_max_num_queries(15):
            assert staff.get(page_of(row)).status_code == 200


@pytest.mark.exhaustive
def test_a_report_is_decided_beside_its_record_and_the_next_follows(staff: Client) -> None:
    first = report(text=XSS)
    second = report(kind="phone_wrong")
    page = staff.get(page_of(first)).content.decode()
    assert 'value="apply">Apply</button>' in page
    assert XSS not in page
    answer = staff.post(page_of(first), {"verdict": "apply"})
    assert answer["Location"] == page_of(second)
    first.restaurant.refresh_from_db()
    assert first.restaurant.status == "permanently_closed"
    assert "Mark as applied" in unescape(staff.get(page_of(second)).content.decode())
    staff.post(page_of(second), {"verdict": "dismiss"})
    second.refresh_from_db()
    assert second.state == "dismissed"
    late = staff.post(page_of(second), {"verdict": "apply"})
    assert builders.messages_of(late)[-1] == "Another user has already decided this report."


def test_a_verdict_that_there_is_not_changes_nothing(staff: Client) -> None:
    row = report()
    answer = staff.post(page_of(row), {"verdict": "\x00"})
    assert builders.messages_of(answer) == ["Unknown decision."]
    row.refresh_from_db()
    assert row.state == "open"
