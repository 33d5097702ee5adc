"""Insights in the admin: beside the reviews they cite, hidden, served again, written anew."""

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

import tests.make
from catalogue import groups, insights
from catalogue.models import Insight, Restaurant
from tests.catalogue import make
from tests.catalogue.make import NOW
from tests.catalogue.pages import address

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    return tests.make.staff()


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with an insight."""
    made = make.restaurant()
    for number in range(5):
        make.review(made, f"The gyoza was good & the staff kind, I am number {number} <3")
    make.review(made, "Of no claim.")
    insights.refresh(now=NOW, at_most=100)
    return made


def act(staff: Client, name: str) -> Client:
    """Choose all insights and an action on them."""
    chosen = [str(pk) for pk in Insight.objects.values_list("pk", flat=True)]
    response = staff.post(address(Insight, "changelist"), {"action": name, "_selected_action": chosen})
    assert response.status_code == 302
    return staff


def served(place: Restaurant) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The text, the reason without one, and what is sold."""
    record = groups.record(place.slug, groups=["ai_insight"], now=NOW)
    return record.values["ai_insight"], record.values["ai_insight_reason"], record.sold


def test_an_insight_stands_beside_the_reviews_that_it_cites(staff: Client, place: Restaurant) -> None:
    page = staff.get(address(Insight, "change", place.pk)).content.decode()
    assert "gyoza: 5 reviews" in page
    assert "The gyoza was good &amp; the staff kind, I am number 4 &lt;3" in page
    assert "Of no claim." not in page
    assert "Counted by a program in 6 reviews" in page


def test_a_hidden_insight_is_withheld_and_free_until_it_is_served_again(staff: Client, place: Restaurant) -> None:
    text = Insight.objects.get().text
    act(staff, "hide")
    assert served(place) == (None, "withheld", ())
    act(staff, "serve_again")
    assert served(place) == (text, None, ("ai_insight",))


def test_saving_the_form_writes_the_decision_and_nothing_else(staff: Client, place: Restaurant) -> None:
    response = staff.post(address(Insight, "change", place.pk), {"hidden": "on", "text": "Mine", "review_count": "9"})
    assert response.status_code == 302
    insight = Insight.objects.get()
    assert (insight.hidden, insight.review_count) == (True, 6)
    assert insight.text.startswith("Guests talk most about the gyoza")


def test_writing_anew_marks_and_rings_after_the_commit(
    staff: Client, place: Restaurant, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    Insight.objects.update(text="Nonsense.")
    with django_capture_on_commit_callbacks() as rung:
        act(staff, "write_anew")
    assert len(rung) == 1
    assert insights.refresh(now=NOW, at_most=100) == 1
    assert Insight.objects.get().text.startswith("Guests talk most about the gyoza")


def test_an_insight_is_neither_added_nor_deleted_by_hand(staff: Client, place: Restaurant) -> None:
    assert staff.get(address(Insight, "add")).status_code == 403
    assert staff.post(address(Insight, "delete", place.pk), {"post": "yes"}).status_code == 403
