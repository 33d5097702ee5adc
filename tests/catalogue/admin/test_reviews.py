"""Reviews in the back office."""

import pytest

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
