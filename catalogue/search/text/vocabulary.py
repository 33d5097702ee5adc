"""The names that a question may use: markets, cuisines and attributes."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue.search.geocoding.distance import Location, distance_m
from framework.cache import Lately
from framework.errors import InvalidRequest

# In letters: a shorter word is too soon another one.
FEWEST_TO_MISSPELL = 5
# In words: comparing those of a long text with all cuisines takes too long.
MOST_TO_MISSPELL = 4
# A refusal lists all names that it could have been while they are not longer than this, in letters; else so many.
LONGEST_LIST = 1500
MOST_LIKELY = 20

# What staff add is understood by its name at once, and meant by other words within this time.
REMEMBERED_S = 30.0
# A label in another language than English: a shorter one is too often a word of a name ("Is", "Té"). From here on, one
# sign is a word.
FEWEST_IN_ANOTHER_LANGUAGE = 4
FIRST_IDEOGRAPH = "\u2e80"
DIET = "diet_"

ALL = """
SELECT 'market', slug, name, timezone, latitude, longitude, radius_m, country, NULL FROM catalogue_market
UNION ALL
SELECT 'cuisine', slug, label, NULL, NULL, NULL, NULL, NULL,
    ARRAY(SELECT value FROM jsonb_each_text(labels)) FROM catalogue_cuisine
UNION ALL
SELECT kind, key, label, NULL, NULL, NULL, NULL, NULL, NULL FROM catalogue_attribute
"""


@dataclass(frozen=True, slots=True)
class Area:
    """A market: its name, its wall clock, its middle, how far it reaches, and its country (ISO 3166-1)."""

    slug: str
    name: str
    zone: ZoneInfo
    center: Location
    radius_m: int
    country: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Cuisines that were asked for in words, by slug, and the words that are left."""

    cuisines: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Names:
    """Markets, cuisines and attributes by slug or key; `called` are the cuisines by the words that call them."""

    markets: Mapping[str, Area]
    cuisines: Mapping[str, str]
    attributes: Mapping[str, str]
    called: Mapping[str, frozenset[str]]

    @classmethod
    def load(cls) -> "Names":
        """All names as they were at most half a minute ago; one query, where this process has none so young."""
        return _lately.not_older(REMEMBERED_S)

    @classmethod
    def read(cls) -> "Names":
        """All names as they are, in one query."""
        with connection.cursor() as cursor:
            cursor.execute(ALL)
            rows = cursor.fetchall()
        called: dict[str, set[str]] = {}
        for kind, slug, label, *_, others in rows:
            if kind == "cuisine":
                words = {fold(label), fold(slug)}
                words |= {fold(other) for other in others if _is_telling(other)}
                for word in words - {""}:
                    called.setdefault(word, set()).add(slug)
        return cls(
            markets={
                slug: Area(slug, name, ZoneInfo(zone), Location(lat, lng), radius_m, country)
                for kind, slug, name, zone, lat, lng, radius_m, country, _ in rows
                if kind == "market"
            },
            cuisines={slug: label for kind, slug, label, *_ in rows if kind == "cuisine"},
            attributes={key: label for kind, key, label, *_ in rows if kind in ("amenity", "diet")},
            called={word: frozenset(slugs) for word, slugs in called.items()},
        )

    @property
    def diets(self) -> Mapping[str, str]:
        """The diets by the word that `diet` takes: `vegan` is the attribute `diet_vegan`."""
        return {key.removeprefix(DIET): label for key, label in self.attributes.items() if key.startswith(DIET)}

    def market(self, slug: str) -> Area:
        """The market of this slug. Raises InvalidRequest with the nearest known ones."""
        markets = self.markets if slug in self.markets else type(self).read().markets
        if slug not in markets:
            raise _unknown("market", slug, markets)
        return markets[slug]

    def check_cuisines(self, slugs: Iterable[str], *, param: str = "cuisine") -> None:
        """Raise InvalidRequest, with the nearest known ones, unless all of them are known."""
        self._check(param, slugs, lambda names: names.cuisines)

    def check_attributes(self, keys: Iterable[str], *, param: str = "attributes") -> None:
        """Raise InvalidRequest, with the nearest known ones, unless all of them are keys of attributes."""
        self._check(param, keys, lambda names: names.attributes)

    def check_diets(self, words: Iterable[str], *, param: str = "diet") -> None:
        """Raise InvalidRequest, with the nearest known ones, unless all of them are diets: `vegan`, `halal`."""
        self._check(param, words, lambda names: names.diets)

    def _check(self, param: str, given: Iterable[str], known: Callable[["Names"], Mapping[str, str]]) -> None:
        missing = [name for name in given if name not in known(self)]
        if missing:
            # It may be younger than what is remembered.
            fresh = known(type(self).read())
            for name in missing:
                if name not in fresh:
                    raise _unknown(param, name, fresh)

    def cuisines_in(self, words: str) -> "Asked | None":
        """The cuisines that some of the words call by label or slug, a letter or two aside; the longest such words.

        Of "burgers in Soho" it is the burgers, and "in soho" is left.
        """
        said = fold(words).split()
        longest = min(len(said), max((len(name.split()) for name in self.called), default=0))
        for length in range(longest, 0, -1):
            for start in range(len(said) - length + 1):
                run = " ".join(said[start : start + length])
                likely = (
                    [run]
                    if run in self.called
                    else _misspelt(run, self.called)
                    if len(said) <= MOST_TO_MISSPELL
                    else []
                )
                if likely:
                    rest = " ".join(said[:start] + said[start + length :])
                    return Asked(cuisines=tuple(sorted(self.called[likely[0]])), rest=rest)
        return None

    def market_around(self, place: Location) -> Area | None:
        """The market that the place lies in."""
        area = self.nearest_market(place)
        return area if area and distance_m(area.center, place) <= area.radius_m else None

    def nearest_market(self, place: Location) -> Area | None:
        """The market whose middle is nearest; None while there are none."""
        return min(self.markets.values(), key=lambda area: distance_m(area.center, place), default=None)


# When (time.monotonic) they were read, and what was read.
_lately = Lately(Names.read)


def _is_telling(label: str) -> bool:
    return len(label) >= FEWEST_IN_ANOTHER_LANGUAGE or label[:1] >= FIRST_IDEOGRAPH


def fold(words: str) -> str:
    """Small letters without accents and apostrophes; what else is no letter or digit separates words."""
    letters = unicodedata.normalize("NFKD", words).casefold().replace("'", "").replace("\u2019", "")
    return " ".join(re.findall(r"\w+", "".join(each for each in letters if not unicodedata.combining(each))))


def _misspelt(run: str, known: Iterable[str]) -> list[str]:
    return get_close_matches(run, list(known), n=1, cutoff=0.85) if len(run) >= FEWEST_TO_MISSPELL else []


def _unknown(param: str, name: str, known: Iterable[str]) -> InvalidRequest:
    names = sorted(known)
    likely = get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    hint = f" Did you mean `{likely[0]}`?" if likely else ""
    listed = f"Known: {', '.join(names)}." if names else "None is known here."
    if len(listed) > LONGEST_LIST:
        listed = f"Among those known: {', '.join(get_close_matches(name.lower(), names, n=MOST_LIKELY, cutoff=0))}."
    return InvalidRequest(f"Unknown {param} `{name[:80]}`.{hint} {listed}", param=param, extra={"suggestions": likely})
