"""What `manage.py demo_data` adds beside restaurants and reviews: offers, photos, history, the read model."""

import random
from datetime import UTC, datetime, time

import pytest
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from catalogue import painting
from catalogue.demo import photo_captions, vocabulary
from catalogue.models import FlowSlot, Listing, Photo, Record, Restaurant, Review, Version
from catalogue.read_model import rebuild
from catalogue.reviews import aggregates
from tests.catalogue.demo.generated_data import TODAY, demo_data


@pytest.mark.django_db
def test_offers_are_on_sale_in_every_market_at_once_and_can_be_left_out() -> None:
    demo_data(restaurants=12, reviews=0, offers=False)
    assert not Listing.objects.exists()
    demo_data(restaurants=400, reviews=1_000, seed=8)
    on_sale = FlowSlot.objects.filter(seats_left__gt=0, book_before__gt=timezone.now(), withdrawn_at=None)
    assert set(on_sale.values_list("restaurant__market", flat=True)) == set(vocabulary.cities())


@pytest.mark.django_db
def test_figures_of_reviews_and_photos_are_those_that_are_counted() -> None:
    demo_data(restaurants=300, reviews=9_000)
    assert aggregates.mend() == 0
    assert Review.objects.filter(photo_count__gt=1).exists()


@pytest.mark.django_db
def test_photos_show_what_the_kitchen_makes_and_those_of_guests_belong_to_their_reviews() -> None:
    demo_data(restaurants=600, reviews=12_000)
    photos = Photo.objects.all()
    assert 600 < photos.count() < 1_500
    assert set(photos.values_list("kind", flat=True)) == {"food", "drink", "interior", "exterior", "menu"}
    assert photos.values("art").distinct().count() == photos.count()
    assert not photos.filter(Q(art=None) | Q(alt="") | Q(author=None) | Q(alt__contains="{")).exists()
    guests = photos.exclude(review=None)
    assert guests.count() > 200
    assert not guests.exclude(author=F("review__author"), created_at=F("review__created_at")).exists()
    assert not guests.exclude(restaurant=F("review__restaurant")).exists()
    midnight = datetime.combine(TODAY, time(), UTC)
    assert not photos.filter(Q(created_at__gte=midnight) | Q(created_at__lt=F("restaurant__created_at"))).exists()
    for alt, caption, cuisine in photos.filter(kind="food").values_list("alt", "caption", "restaurant__cuisine"):
        assert caption is not None
        assert caption.lower() in alt.lower()
        said = {dish.lower() for dish in vocabulary.cuisines()[cuisine].dishes}
        assert caption.lower() in said | set(photo_captions.SEEN["food"].values())


@pytest.mark.parametrize("kind", sorted({*photo_captions.SEEN, *photo_captions.ROOMS}))
def test_the_words_of_a_photo_say_what_its_number_paints(kind: str) -> None:
    rng = random.Random(kind)
    for cuisine in vocabulary.cuisines().values():
        for dish in cuisine.dishes:
            shot = photo_captions.shot(rng, kind=kind, cuisine=cuisine.slug, dishes=[dish], name="Tablo")
            scene = painting.scene_of(shot.art, kind=kind)
            if kind in photo_captions.ROOMS:
                assert shot.alt in {words.format("Tablo") for words in photo_captions.ROOMS[kind][scene]}
            elif kind == "food" and photo_captions.SCENES.get(dish):
                assert (shot.alt.lower().startswith(dish.lower()), photo_captions.SCENES[dish]) == (True, scene)
            else:
                assert shot.alt.lower().startswith(photo_captions.SEEN[kind][scene])
    told = photo_captions.ROOMS[kind] if kind in photo_captions.ROOMS else photo_captions.SEEN[kind]
    assert set(painting.NAMES[kind]) == set(told)


def test_every_dish_that_is_painted_is_one_of_the_vocabulary_and_each_kitchen_too() -> None:
    dishes = {dish for cuisine in vocabulary.cuisines().values() for dish in cuisine.dishes}
    assert set(photo_captions.SCENES) <= dishes
    assert {*photo_captions.KITCHENS, *photo_captions.BARS} <= set(vocabulary.cuisines())


@pytest.mark.django_db
def test_each_restaurant_has_its_history_and_what_is_shown_is_its_latest_version() -> None:
    demo_data(restaurants=400, reviews=2_000)
    latest = Restaurant.objects.annotate(told=Count("versions"), last=Max("versions__version"))
    assert not latest.exclude(told=F("version"), last=F("version")).exists()
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


@pytest.mark.django_db
def test_searches_and_look_ups_show_what_was_generated() -> None:
    demo_data()
    assert list(rebuild.differences()) == []
    assert Record.objects.count() == 240
