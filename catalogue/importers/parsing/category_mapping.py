"""Maps the categories of the large place collections to eateries and cuisines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from framework.data_files import read_toml

_DATA = read_toml(Path(__file__).parent / "categories.toml")
EXCLUDED = frozenset(_DATA["excluded"])
CATEGORIES: dict[str, list[str]] = _DATA["categories"]
CUISINES: dict[str, str] = _DATA["cuisines"]
HOTELS = frozenset(_DATA["hotels"])
DIETS: dict[str, str] = _DATA["diets"]
_SUFFIX = "_restaurant"


@dataclass(frozen=True, slots=True)
class FoodCategory:
    """A category of eateries: `kind` as in OpenStreetMap (`attributes.kind`), the main cuisine first."""

    kind: str
    cuisines: tuple[str, ...] = ()
    diets: frozenset[str] = field(default_factory=frozenset)

    @property
    def attributes(self) -> dict[str, bool | str]:
        return {"kind": self.kind, **dict.fromkeys(sorted(self.diets), True)}

    @property
    def cuisine_labels(self) -> dict[str, str]:
        return {cuisine: format_label(cuisine) for cuisine in self.cuisines}


@lru_cache(maxsize=10_000)
def map_category(*path: str) -> FoodCategory | None:
    """Map a category path, the widest first; None if it is no eatery.

    A German restaurant under European ones has the German cuisine; an unknown one has that of the wider category.
    """
    words = [_to_word(each) for each in path]
    if not words or words[-1] in EXCLUDED:
        return None
    mapped = [each for each in map(_map_name, reversed(words)) if each]
    if not mapped:
        return None
    cuisines = next((each.cuisines for each in mapped if each.cuisines), ())
    return FoodCategory(mapped[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in mapped)))


def map_categories(paths: Sequence[Sequence[str]]) -> FoodCategory | None:
    """Map several categories: the kind of the first eatery, and the cuisines of all."""
    mapped = [each for each in (map_category(*path) for path in paths) if each]
    if not mapped:
        return None
    cuisines = tuple(dict.fromkeys(cuisine for each in mapped for cuisine in each.cuisines))
    return FoodCategory(mapped[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in mapped)))


def is_hotel(path: Sequence[str]) -> bool:
    """Whether a category path, the widest first, ends in a kind of hotel."""
    return bool(path) and _to_word(path[-1]) in HOTELS


def format_label(cuisine: str) -> str:
    """Return the label of a cuisine that has none yet: "Puerto Rican"."""
    return cuisine.replace("-", " ").title()


def _to_word(category: str) -> str:
    return category.strip().casefold().replace(" ", "_").replace("é", "e")


def _map_name(category: str) -> FoodCategory | None:
    if category in CATEGORIES:
        kind, *cuisines = CATEGORIES[category]
        return FoodCategory(kind, tuple(cuisines))
    if not category.endswith(_SUFFIX):
        return None
    name = category.removesuffix(_SUFFIX)
    cuisine = CUISINES.get(name, name.replace("_", "-"))
    diets = frozenset([DIETS[name]]) if name in DIETS else frozenset[str]()
    return FoodCategory("fast_food" if name == "fast_food" else "restaurant", (cuisine,) if cuisine else (), diets)
