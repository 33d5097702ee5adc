"""`manage.py demo_data`: offers, photos, versions and the read model."""

from datetime import UTC, datetime, time
from typing import Any

import pytest
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from catalogue.demo import vocabulary
from catalogue.demo.photos import DEFAULT_DRINKS, DRINKS
from catalogue.models import FlowSlot, Listing, Photo, Record, Restaurant, Review, Version
from catalogue.read_model import rebuild
from catalogue.reviews import aggregates
from tests.catalogue.demo.generated_data import TODAY, demo_data


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_offers_are_on_sale_in_every_market_and_optional() -> None:
    demo_data(restaurants=12, reviews=0, offers=False)
    assert not Listing.objects.exists()
    demo_data(restaurants=400, reviews=1_000, seed=8)
    on_sale = FlowSlot.objects.filter(seats_left__gt=0, book_before__gt=timezone.now(), withdrawn_at=None)
    assert set(on_sale.values_list("restaurant__market", flat=True)) == set(vocabulary.cities())


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_stored_counts_equal_recounted_ones() -> None:
    demo_data(restaurants=300, reviews=9_000)
    assert aggregates.repair_all() == 0
    assert Review.objects.filter(photo_count__gt=1).exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_photos_fit_the_cuisine_and_photos_of_guests_belong_to_their_reviews() -> None:
    demo_data(restaurants=600, reviews=12_000)
    photos = Photo.objects.all()
    assert 600 < photos.count() < 1_500
    assert set(photos.values_list("kind", flat=True)) == {"food", "drink", "interior", "exterior", "menu"}
    assert set(photos.values_list("width", "height")) == {(1200, 900), (900, 1200)}
    assert photos.values("card_seed").distinct().count() == photos.count()
    assert not photos.filter(Q(card_seed=None) | Q(alt="") | Q(author=None) | Q(alt__contains="{")).exists()
    assert not photos.exclude(kind="interior").filter(caption=None).exists()
    assert not photos.filter(kind="interior").exclude(caption=None).exists()
    guests = photos.exclude(review=None)
    assert guests.count() > 200
    assert not guests.exclude(author=F("review__author"), created_at=F("review__created_at")).exists()
    assert not guests.exclude(restaurant=F("review__restaurant")).exists()
    midnight = datetime.combine(TODAY, time(), UTC)
    assert not photos.filter(Q(created_at__gte=midnight) | Q(created_at__lt=F("restaurant__created_at"))).exists()
    for photo in photos.select_related("restaurant"):
        place: Any = photo.restaurant
        subject = photo.caption or "Interior"
        assert photo.alt == f"{subject}, {place.name}"
        match photo.kind:
            case "food":
                expected = vocabulary.cuisines()[place.cuisine_id].dishes
            case "drink":
                expected = DRINKS.get(place.cuisine_id, DEFAULT_DRINKS)
            case "exterior":
                expected = (place.line1,)
            case kind:
                expected = (kind,)
        assert subject.lower() in {name.lower() for name in expected}


def test_every_cuisine_that_has_its_own_drinks_is_in_the_vocabulary() -> None:
    assert set(DRINKS) <= set(vocabulary.cuisines())


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_each_restaurant_equals_its_latest_version() -> None:
    demo_data(restaurants=400, reviews=2_000)
    latest = Restaurant.objects.annotate(count=Count("versions"), last=Max("versions__version"))
    assert not latest.exclude(count=F("version"), last=F("version")).exists()
    changed = Version.objects.filter(version=2).select_related("restaurant")
    assert 30 < changed.count() < 100
    assert set(changed.values_list("kind", flat=True)) == {"updated", "closed"}
    for version in changed:
        for column, (before, after) in version.patch.items():
            assert getattr(version.restaurant, column) == after != before
    assert not Restaurant.objects.exclude(status="open").filter(version=1).exists()
    numbers = list(Version.objects.order_by("at", "restaurant", "version").values_list("seq", flat=True))
    assert None not in numbers
    assert numbers == sorted(number for number in numbers if number is not None)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_read_model_equals_the_generated_rows() -> None:
    demo_data()
    assert list(rebuild.find_differences()) == []
    assert Record.objects.count() == 120
