"""Generated photos: what is to be seen fits the kitchen, and the picture is painted from a number."""

import random
from collections.abc import Sequence

from catalogue.demo import photo_captions, vocabulary
from catalogue.demo.calendar import Calendar
from catalogue.demo.ids import ids
from catalogue.demo.places import Place
from catalogue.demo.reviews import Taken

LICENSE = "CC0-1.0"
NULL = "\\N"
# How many photos a place has of its own, and more where very many guests were.
OWN = (0,) * 40 + (1,) * 38 + (2,) * 16 + (3,) * 6
POPULAR = 60
# Of a hundred photos; guests photograph what they eat.
KINDS = ("food",) * 46 + ("interior",) * 24 + ("exterior",) * 15 + ("drink",) * 10 + ("menu",) * 5
KINDS_OF_GUESTS = ("food",) * 76 + ("drink",) * 10 + ("interior",) * 10 + ("exterior",) * 2 + ("menu",) * 2
SIZES = ((1200, 900),) * 4 + ((900, 1200),)

COLUMNS = (
    "id", "restaurant_id", "review_id", "kind", "caption", "alt", "author", "license", "source_id", "width", "height",
    "file", "art", "is_hidden", "created_at",
)  # fmt: skip


def write(
    rng: random.Random,
    place: Place,
    *,
    restaurant_id: str,
    number: int,
    review_count: int,
    taken: Sequence[Taken],
    city: vocabulary.City,
    calendar: Calendar,
) -> list[str]:
    """Lines for COPY: the place's own photos, some by its owner, and those of its reviews."""
    own = rng.choice(OWN) + (rng.randint(1, 3) if review_count >= POPULAR else 0)
    shots: list[tuple[str, str, str, tuple[str, ...]]] = []
    for _ in range(own):
        by_owner = rng.random() < 0.6
        author = place.name if by_owner else rng.choice(_authors(rng, city))
        day = calendar.dates[rng.randint(place.since, calendar.last)]
        shots.append((NULL, author, f"{day} {rng.randint(8, 21):02}:{rng.randint(0, 59):02}:00+00", KINDS))
    shots += [(each.review_id, each.author, each.at, KINDS_OF_GUESTS) for each in taken for _ in range(each.count)]
    # The clock of the ids counts restaurants here; of one restaurant they differ by their random bits.
    return [_line(rng, place, next(ids(rng, number, 1)), restaurant_id, *shot) for shot in shots]


def _line(
    rng: random.Random,
    place: Place,
    pk: str,
    restaurant_id: str,
    review_id: str,
    author: str,
    at: str,
    kinds: tuple[str, ...],
) -> str:
    kind = rng.choice(kinds)
    shown = photo_captions.shot(
        rng, kind=kind, cuisine=place.cuisine.slug, dishes=place.cuisine.dishes, name=place.name
    )
    caption = {"menu": "Menu", "exterior": place.line1}.get(kind, shown.subject) or NULL
    width, height = rng.choice(SIZES)
    columns = (
        *(pk, restaurant_id, review_id, kind, caption, shown.alt, author, LICENSE, "demo", str(width), str(height)),
        *("", str(shown.art), "f", at),
    )
    return "\t".join(columns) + "\n"


def _authors(rng: random.Random, city: vocabulary.City) -> tuple[str, ...]:
    return vocabulary.languages()[rng.choice(city.languages)].authors
