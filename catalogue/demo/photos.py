"""Generated photos: what is to be seen fits the kitchen, and the picture is painted from a number."""

import random
from collections.abc import Sequence

from catalogue.demo import vocabulary
from catalogue.demo.days import Calendar
from catalogue.demo.identity import ids
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

SERVED = (
    "{}, served on a white plate",
    "{} on a wooden table, seen from above",
    "A portion of {}, close up",
    "{}, with cutlery and a napkin beside it",
)
DRUNK = ("{} on the bar", "{} on a table by the window", "Two guests with {}", "{}, close up")
INTERIORS = (
    "The dining room of {name} in the evening",
    "Tables by the window at {name}",
    "The counter of {name}",
    "Guests at their tables in {name}",
)
EXTERIORS = ("The front of {name} by day", "The entrance of {name} at night", "{name}, seen from across the street")
MENUS = ("The menu of {name} on a board", "A page of the menu of {name}")
DRINKS = {
    "bar": ("a negroni", "an old fashioned", "a spritz", "a gin and tonic"),
    "pub": ("a pint of bitter", "a pint of stout", "a half of cider"),
    "wine-bar": ("a glass of red wine", "a glass of orange wine", "a flight of three wines"),
    "coffee-shop": ("a flat white", "a filter coffee", "a cortado"),
    "cafe": ("a cappuccino", "a hot chocolate", "an iced tea"),
    "tea": ("a pot of green tea", "a cup of jasmine tea", "a bubble tea"),
    "juice": ("a green juice", "an orange juice", "a mango smoothie"),
    "izakaya": ("a highball", "a flask of sake", "a draught beer"),
    "japanese": ("a cup of green tea", "a flask of sake", "a draught beer"),
}
ANY_DRINK = ("a glass of red wine", "a glass of white wine", "a lemonade", "a bottle of mineral water", "a cold beer")

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
    caption, alt = _words(rng, place, kind)
    width, height = rng.choice(SIZES)
    columns = (
        *(pk, restaurant_id, review_id, kind, caption, alt, author, LICENSE, "demo", str(width), str(height)),
        *("", str(rng.getrandbits(48)), "f", at),
    )
    return "\t".join(columns) + "\n"


def _words(rng: random.Random, place: Place, kind: str) -> tuple[str, str]:
    """Caption and description."""
    if kind == "food":
        dish = rng.choice(place.cuisine.dishes)
        return _capital(dish), _capital(rng.choice(SERVED).format(dish))
    if kind == "drink":
        drink = rng.choice(DRINKS.get(place.cuisine.slug, ANY_DRINK))
        return _capital(drink.partition(" ")[2]), _capital(rng.choice(DRUNK).format(drink))
    if kind == "menu":
        return "Menu", rng.choice(MENUS).format(name=place.name)
    if kind == "exterior":
        return place.line1, rng.choice(EXTERIORS).format(name=place.name)
    return NULL, rng.choice(INTERIORS).format(name=place.name)


def _authors(rng: random.Random, city: vocabulary.City) -> tuple[str, ...]:
    return vocabulary.languages()[rng.choice(city.languages)].authors


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
