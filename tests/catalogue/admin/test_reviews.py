"""Reviews in the back office."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from catalogue.models import Review
from tests.catalogue import builders
from tests.support import builders as accounts

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("", {"Good", "Schlecht"}),
        ("stars=2", {"Schlecht"}),
        ("lang=en", {"Good"}),
        ("source__key__exact=demo", {"Good", "Schlecht"}),
    ],
)
def test_reviews_are_filtered_by_stars_language_and_source(query: str, texts: set[str]) -> None:
    place = builders.restaurant()
    builders.review(place, "Good", stars=5, lang="en")
    builders.review(place, "Schlecht", stars=2, lang="de")
    page = accounts.staff().get(f"/admin/catalogue/review/?{query}")
    assert {review.text for review in page.context["cl"].result_list} == texts


def test_a_review_without_a_text_says_so() -> None:
    builders.review(builders.restaurant(), "")
    page = accounts.staff().get("/admin/catalogue/review/").content.decode()
    assert '<span class="quiet">No text</span></a>' in page


def test_the_newest_review_is_first_and_its_column_is_marked() -> None:
    place = builders.restaurant()
    now = timezone.now()
    for days in (2, 0, 1):
        Review.objects.filter(pk=builders.review(place, f"{days}").pk).update(created_at=now - timedelta(days=days))
    page = accounts.staff().get("/admin/catalogue/review/")
    assert [review.text for review in page.context["cl"].result_list] == ["0", "1", "2"]
    assert re.findall(r'class="sortable column-(\w+) sorted descending"', page.content.decode()) == ["written"]


def test_an_index_orders_the_reviews() -> None:
    rows = Review.objects.order_by("-created_at", "-pk")[:50]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "review_newest" in rows.explain()
