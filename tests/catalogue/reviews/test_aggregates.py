"""Reviews in figures: the row of a restaurant says what its reviews say."""

import threading
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction

from catalogue.models import Restaurant, Review, Version
from catalogue.models.reviews import ReviewChange
from catalogue.reviews import aggregates, listing
from tests.catalogue import builders
from tests.catalogue.builders import NOW


def count(*places: Restaurant) -> int:
    with transaction.atomic():
        return aggregates.update_restaurants([place.pk for place in places], now=NOW)


def figures(place: Restaurant) -> tuple[Any, ...]:
    row = Restaurant.objects.get(pk=place.pk)
    return row.rating, row.review_count, row.star_counts, row.review_facets


NOTHING = {"by_lang": {}, "with_photos": 0, "with_reply": 0}


@pytest.mark.django_db
def test_a_restaurant_counts_its_stars_languages_photos_and_replies() -> None:
    place, other = builders.restaurant(), builders.restaurant()
    seen = builders.review(place, "Très bon.", stars=5, lang="fr")
    builders.review(place, "Good.", stars=4, owner_reply="Thank you!", owner_replied_at=NOW)
    builders.review(place, "Fine.", stars=4)
    builders.review(place, stars=4)
    builders.review(other, stars=1)
    builders.photo(place, review=seen)
    builders.photo(place, review=seen)
    builders.photo(place, review=seen, is_hidden=True)
    builders.photo(place)

    assert count(place) == 1

    # 17 / 4 = 4.25, rounded away from zero.
    facets = {"by_lang": {"en": 2, "fr": 1}, "with_photos": 1, "with_reply": 1}
    assert figures(place) == (Decimal("4.3"), 4, [0, 0, 0, 3, 1], facets)
    assert Review.objects.get(pk=seen.pk).photo_count == 2
    assert figures(other) == (None, 1, [], {})


@pytest.mark.django_db
def test_counting_what_is_right_changes_nothing() -> None:
    place = builders.restaurant()
    builders.review(place, "Good.")
    assert (count(place), count(place)) == (1, 0)
    version = Restaurant.objects.get(pk=place.pk).version
    assert aggregates.repair_all() == 0
    assert Restaurant.objects.get(pk=place.pk).version == version
    assert Version.objects.filter(restaurant=place, version__gt=version).count() == 0


@pytest.mark.django_db
def test_a_rating_without_reviews_is_the_word_of_its_source_and_stays() -> None:
    place = builders.restaurant(rating="4.5", review_count=812)
    assert (count(place), aggregates.repair_all()) == (0, 0)
    assert figures(place) == (Decimal("4.5"), 812, [], {})


@pytest.mark.django_db
def test_a_restaurant_that_has_lost_its_last_review_counts_none() -> None:
    place = builders.restaurant()
    review = builders.review(place, "Good.")
    count(place)
    review.delete()
    assert count(place) == 1
    assert figures(place) == (None, 0, [0, 0, 0, 0, 0], NOTHING)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_night_mends_every_restaurant_that_differs_and_says_how_many(caplog: pytest.LogCaptureFixture) -> None:
    places = [builders.restaurant() for _ in range(5)]
    for place in places:
        builders.review(place, "Good.", stars=4)
    count(*places)
    wrong = places[3]
    Restaurant.objects.filter(pk=wrong.pk).update(review_count=7)
    unseen = builders.review(places[1], "Look!", stars=4)
    builders.photo(places[1], review=unseen)
    assert aggregates.repair_all(batch=2) == 2
    assert caplog.messages == ["the aggregates of 2 restaurants were wrong"]
    assert figures(wrong)[1] == 1
    assert figures(places[1])[3]["with_photos"] == 1
    assert aggregates.repair_all(batch=2) == 0


@pytest.mark.django_db
def test_the_night_forgets_what_reviews_were_two_hours_ago() -> None:
    review = builders.review(builders.restaurant(), "Good.")
    for helpful_count in (1, 2):
        Review.objects.filter(pk=review.pk).update(helpful_count=helpful_count)
    Review.objects.filter(pk=review.pk).update(author="Ada")
    old = ReviewChange.objects.get(helpful_count=0)
    ReviewChange.objects.filter(pk=old.pk).update(at=old.at - timedelta(hours=2))
    aggregates.repair_all()
    assert list(ReviewChange.objects.values_list("review", "helpful_count")) == [(review.pk, 1)]


@pytest.mark.django_db
def test_a_count_outside_of_the_transaction_that_writes_is_a_mistake(transactional_db: None) -> None:
    with pytest.raises(RuntimeError):
        aggregates.update_restaurants([])


@pytest.mark.django_db(transaction=True)
def test_of_two_that_write_reviews_at_once_the_second_counts_both() -> None:
    place = builders.restaurant()
    source = builders.source("demo")
    both_have_written = threading.Barrier(2)

    def write(stars: int) -> None:
        try:
            with transaction.atomic():
                Review.objects.create(restaurant=place, stars=stars, author="Ada", source=source, created_at=NOW)
                both_have_written.wait(10)
                aggregates.update_restaurants([place.pk], now=NOW)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=[stars]) for stars in (3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert figures(place)[:3] == (Decimal("4.0"), 2, [0, 0, 1, 0, 1])


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_nights_at_once_mend_each_restaurant_once() -> None:
    for _ in range(20):
        builders.review(builders.restaurant(review_count=7), "Good.", stars=4)
    mended: list[int] = []

    def mend() -> None:
        try:
            mended.append(aggregates.repair_all(batch=3))
        finally:
            connection.close()

    threads = [threading.Thread(target=mend) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(mended) == 20
    assert Version.objects.filter(kind="updated", patch__has_key="review_count").count() == 20


@pytest.mark.django_db
def test_a_summary_that_was_never_counted_is_counted_when_it_is_asked_for() -> None:
    place = builders.restaurant(review_count=2, rating="4.0", star_counts=[0, 0, 0, 2, 0])
    builders.review(place, "Très bon.", stars=4, lang="fr")
    builders.review(place, "Good.", stars=4, owner_reply="Thank you!", owner_replied_at=NOW)
    summary = listing.summarize(place)
    assert (summary["by_lang"], summary["with_photos"], summary["with_reply"]) == ({"en": 1, "fr": 1}, 0, 1)
    assert figures(place)[3] == {}
