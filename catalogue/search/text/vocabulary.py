"""The vocabulary of queries: markets, cuisines and attributes."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue.search.geocoding.distance import Location, distance_m
from framework.cache import CachedValue
from framework.errors import InvalidRequest

# An error message lists all known names up to this many letters, or else this many of the nearest.
MAX_LIST_LENGTH = 1500
MAX_LISTED_NAMES = 20

# New names are accepted at once, and found by other words within this time. Reading them takes 3 ms.
MAX_AGE_S = 5.0
# Shorter labels in languages other than English are too often words of names ("Is", "Té"). A single ideograph is a
# word.
MIN_FOREIGN_LABEL_LENGTH = 4
FIRST_IDEOGRAPH = "\u2e80"
DIET = "diet_"
# Their labels are common words of names and dishes.
GENERAL_ATTRIBUTES = ("kind", "reservation", "smoking", "diet_fish", "diet_meat", "diet_local", "diet_raw")

ALL = """
SELECT 'market', slug, name, timezone, latitude, longitude, radius_m, country, NULL FROM catalogue_market
UNION ALL
SELECT 'cuisine', slug, label, parent_id, NULL, NULL, NULL, NULL, synonyms || ARRAY(
    SELECT value FROM jsonb_each_text(labels)
    WHERE char_length(value) >= %(min_length)s OR ascii(value) >= %(first_ideograph)s
) FROM catalogue_cuisine
UNION ALL
SELECT kind, key, label, NULL, NULL, NULL, NULL, NULL, values FROM catalogue_attribute
UNION ALL
SELECT 'city', l.market_id, n.name, NULL, NULL, NULL, NULL, NULL, NULL
FROM catalogue_landmark AS l JOIN catalogue_landmarkname AS n ON n.landmark_id = l.id
WHERE l.kind = 'city' AND l.market_id IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class MarketArea:
    """A market: a circle with a time zone and a country (ISO 3166-1)."""

    slug: str
    name: str
    zone: ZoneInfo
    center: Location
    radius_m: int
    country: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Markets, cuisines and attributes by slug or key, and cuisine slugs by the terms that name them."""

    markets: Mapping[str, MarketArea]
    cuisines: Mapping[str, str]
    # The more general cuisine of each that has one.
    parents: Mapping[str, str]
    attributes: Mapping[str, str]
    # The values of an attribute beside yes and no, such as `limited`.
    degrees: Mapping[str, Sequence[str]]
    cuisines_by_term: Mapping[str, frozenset[str]]
    # By the folded names of markets and of their cities in any language.
    markets_by_name: Mapping[str, str]
    attributes_by_term: Mapping[str, str]
    diets_by_term: Mapping[str, str]

    @classmethod
    def load(cls) -> "Vocabulary":
        """Return the vocabulary, at most 5 s old. One query if it is not cached."""
        return _cache.get(max_age_s=MAX_AGE_S)

    @classmethod
    def read(cls) -> "Vocabulary":
        with connection.cursor() as cursor:
            cursor.execute(ALL, {"min_length": MIN_FOREIGN_LABEL_LENGTH, "first_ideograph": ord(FIRST_IDEOGRAPH)})
            rows = cursor.fetchall()
        by_term: dict[str, set[str]] = {}
        for kind, slug, label, *_, translated in rows:
            if kind == "cuisine":
                for term in {*map(fold, (label, slug, *translated))} - {""}:
                    by_term.setdefault(term, set()).add(slug)
        return cls(
            markets={
                slug: MarketArea(slug, name, ZoneInfo(zone), Location(lat, lng), radius_m, country)
                for kind, slug, name, zone, lat, lng, radius_m, country, _ in rows
                if kind == "market"
            },
            cuisines={slug: label for kind, slug, label, *_ in rows if kind == "cuisine"},
            parents={slug: parent for kind, slug, _, parent, *_ in rows if kind == "cuisine" and parent},
            attributes={key: label for kind, key, label, *_ in rows if kind in ("amenity", "diet")},
            degrees={key: values for kind, key, *_, values in rows if kind in ("amenity", "diet")},
            cuisines_by_term={term: frozenset(slugs) for term, slugs in by_term.items()},
            markets_by_name={
                fold(name): slug
                for kind, slug, label, *_ in rows
                if kind in ("market", "city")
                for name in (label, slug)
            },
            attributes_by_term={
                fold(name): key
                for kind, key, label, *_ in rows
                if kind == "amenity" and key not in GENERAL_ATTRIBUTES
                for name in (label, key.replace("_", " "))
            },
            diets_by_term={
                fold(name): key.removeprefix(DIET)
                for kind, key, label, *_ in rows
                if kind == "diet" and key not in GENERAL_ATTRIBUTES
                for name in (label, key.removeprefix(DIET).replace("_", " "))
            },
        )

    @property
    def diets(self) -> Mapping[str, str]:
        """Labels by the values of `diet`: `vegan` is the attribute `diet_vegan`."""
        return {key.removeprefix(DIET): label for key, label in self.attributes.items() if key.startswith(DIET)}

    def market(self, slug: str) -> MarketArea:
        """Return a market. Raises InvalidRequest with the nearest known slugs."""
        markets = self.markets if slug in self.markets else type(self).read().markets
        if slug not in markets:
            raise _unknown("market", slug, markets)
        return markets[slug]

    def find_cuisines(self, slugs: Iterable[str], *, param: str = "cuisine") -> tuple[str, ...]:
        """Return the cuisines of these slugs, or synonyms such as that of a merged one, with narrower ones. Sorted.

        Raises InvalidRequest with the nearest known slugs for an unknown one.
        """
        names = [name for name in slugs if name not in self.cuisines and fold(name) not in self.cuisines_by_term]
        known = type(self).read() if names else self
        found: set[str] = set()
        for name in slugs:
            cuisines = {name} if name in known.cuisines else known.cuisines_by_term.get(fold(name))
            if not cuisines:
                raise _unknown(param, name, known.cuisines)
            found |= cuisines
        return known.with_narrower(found)

    def check_attributes(self, keys: Iterable[str], *, param: str = "attributes") -> None:
        """Raise InvalidRequest with the nearest known keys for an unknown attribute, or with its degrees."""
        self._check_degrees(param, keys)
        self._check(param, _without_degrees(keys), lambda vocabulary: vocabulary.attributes)

    def check_diets(self, names: Iterable[str], *, param: str = "diet") -> None:
        """Raise InvalidRequest with the nearest known diets for an unknown one, or with its degrees."""
        self._check_degrees(param, names, prefix=DIET)
        self._check(param, _without_degrees(names), lambda vocabulary: vocabulary.diets)

    def _check_degrees(self, param: str, names: Iterable[str], *, prefix: str = "") -> None:
        for name in names:
            key, _, degree = name.partition(":")
            known = self.degrees.get(prefix + key)
            if degree and known is not None and degree not in ("yes", *known):
                allowed = ", ".join(f"`{key}:{each}`" for each in ("yes", *known))
                raise InvalidRequest(f"`{key}` has no degree `{degree[:80]}`. Known: {allowed}.", param=param)

    def _check(self, param: str, names: Iterable[str], known: Callable[["Vocabulary"], Mapping[str, str]]) -> None:
        missing = [name for name in names if name not in known(self)]
        if missing:
            # A name may be newer than the cache.
            current = known(type(self).read())
            for name in missing:
                if name not in current:
                    raise _unknown(param, name, current)

    def with_narrower(self, cuisines: Iterable[str]) -> tuple[str, ...]:
        """Return these cuisines with those that are kinds of them: sushi with japanese. Sorted."""
        found = set(cuisines)
        while added := {slug for slug, parent in self.parents.items() if parent in found} - found:
            found |= added
        return tuple(sorted(found))

    def containing_market(self, place: Location) -> MarketArea | None:
        """Return the market that contains the location."""
        area = self.nearest_market(place)
        return area if area and distance_m(area.center, place) <= area.radius_m else None

    def nearest_market(self, place: Location) -> MarketArea | None:
        """Return the market that contains the location, else the one with the nearest border; None without markets.

        Of several that contain it, it is the one with the nearest center, as for imports.
        """

        def order(area: MarketArea) -> tuple[float, float]:
            metres = distance_m(area.center, place)
            return max(0.0, metres - area.radius_m), metres

        return min(self.markets.values(), key=order, default=None)


def _without_degrees(names: Iterable[str]) -> list[str]:
    return [name.partition(":")[0] for name in names]


_cache = CachedValue(Vocabulary.read)


def fold(text: str) -> str:
    """Return lower-case words without accents and apostrophes, separated by spaces."""
    letters = unicodedata.normalize("NFKD", text).casefold().replace("'", "").replace("\u2019", "")
    return " ".join(re.findall(r"\w+", "".join(letter for letter in letters if not unicodedata.combining(letter))))


def _unknown(param: str, name: str, known: Iterable[str]) -> InvalidRequest:
    names = sorted(known)
    similar = get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    hint = f" Did you mean `{similar[0]}`?" if similar else ""
    listed = f"Known: {', '.join(names)}." if names else "None is known here."
    if len(listed) > MAX_LIST_LENGTH:
        nearest = get_close_matches(name.lower(), names, n=MAX_LISTED_NAMES, cutoff=0)
        listed = f"Among those known: {', '.join(nearest)}."
    return InvalidRequest(
        f"Unknown {param} `{name[:80]}`.{hint} {listed}", param=param, extra={"suggestions": similar}
    )
