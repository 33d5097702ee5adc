"""Generated photos of restaurants: captions, authors and the seeds of the cards that are drawn for them."""

import random
from collections.abc import Sequence

from catalogue.demo import vocabulary
from catalogue.demo.places import Place
from catalogue.demo.plan import Calendar, generate_ids
from catalogue.demo.reviews import ReviewPhotos

LICENSE = "CC0-1.0"
NULL = "\\N"
# Photos of a restaurant that came without a review; restaurants with many reviews have more.
PHOTO_COUNTS = (0,) * 40 + (1,) * 38 + (2,) * 16 + (3,) * 6
MANY_REVIEWS = 60
# Of a hundred photos. Guests photograph what they eat.
KINDS = ("food",) * 46 + ("interior",) * 24 + ("exterior",) * 15 + ("drink",) * 10 + ("menu",) * 5
REVIEW_KINDS = ("food",) * 76 + ("drink",) * 10 + ("interior",) * 10 + ("exterior",) * 2 + ("menu",) * 2
SIZES = ((1200, 900),) * 4 + ((900, 1200),)

DEFAULT_DRINKS = ("red wine", "white wine", "rosé", "mint lemonade", "beer", "coffee")
DRINKS = {
    "bar": ("negroni", "daiquiri", "mint lemonade", "beer"),
    "pub": ("beer", "dark beer"),
    "wine-bar": ("red wine", "white wine", "rosé"),
    **dict.fromkeys(("coffee-shop", "cafe", "bakery", "breakfast", "donut"), ("coffee", "hot chocolate")),
    **dict.fromkeys(("tea", "juice", "ice-cream", "dessert", "salad", "arab", "emirati"), ("mint lemonade", "coffee")),
    **dict.fromkeys(("ramen", "izakaya", "yakitori", "korean", "german", "burger", "barbecue"), ("beer",)),
}

COLUMNS = (
    "id", "restaurant_id", "review_id", "kind", "caption", "alt", "author", "license", "source_id", "width", "height",
    "file", "card_seed", "is_hidden", "created_at",
)  # fmt: skip


def generate_photos(
    rng: random.Random,
    place: Place,
    *,
    restaurant_id: str,
    number: int,
    review_count: int,
    review_photos: Sequence[ReviewPhotos],
    city: vocabulary.City,
    calendar: Calendar,
) -> list[str]:
    """Return lines for COPY: photos by the owner and by visitors, then those of the reviews.

    `number` is that of the restaurant in the whole run, and `review_count` the number of its reviews.
    """
    photos: list[tuple[str, str, str, tuple[str, ...]]] = []
    for _ in range(rng.choice(PHOTO_COUNTS) + (rng.randint(1, 3) if review_count >= MANY_REVIEWS else 0)):
        is_by_owner = rng.random() < 0.6
        visitors = vocabulary.languages()[rng.choice(city.languages)].authors
        author = place.name if is_by_owner else rng.choice(visitors)
        date = calendar.dates[rng.randint(place.created, calendar.last)]
        photos.append((NULL, author, f"{date} {rng.randint(8, 21):02}:{rng.randint(0, 59):02}:00+00", KINDS))
    for each in review_photos:
        photos += [(each.review_id, each.author, each.created_at, REVIEW_KINDS)] * each.count
    lines = []
    for review_id, author, created_at, kinds in photos:
        # All photos of a restaurant have the same timestamp in their ids and differ in their random bits.
        (pk,) = generate_ids(rng, number, 1)
        kind = rng.choice(kinds)
        subject = _subject(rng, kind, place)
        caption = NULL if kind == "interior" else subject
        width, height = rng.choice(SIZES)
        columns = (
            *(pk, restaurant_id, review_id, kind, caption, f"{subject}, {place.name}", author, LICENSE, "demo"),
            *(str(width), str(height), "", str(rng.getrandbits(48)), "f", created_at),
        )
        lines.append("\t".join(columns) + "\n")
    return lines


def _subject(rng: random.Random, kind: str, place: Place) -> str:
    match kind:
        case "food":
            subject = rng.choice(place.cuisine.dishes)
        case "drink":
            subject = rng.choice(DRINKS.get(place.cuisine.slug, DEFAULT_DRINKS))
        case "exterior":
            return place.line1
        case _:
            subject = kind
    return subject[0].upper() + subject[1:]
