"""The names that a question may use: markets and cuisines."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue.geo import Location, distance_m
from config.api.refusal import InvalidRequest

# In letters: a shorter word is too soon another one.
FEWEST_TO_MISSPELL = 5
# In words: comparing those of a long text with all cuisines takes too long.
MOST_TO_MISSPELL = 4

ALL = """
SELECT slug, name, timezone, latitude, longitude FROM catalogue_market
UNION ALL
SELECT slug, label, NULL, NULL, NULL FROM catalogue_cuisine
"""


@dataclass(frozen=True, slots=True)
class Area:
    """A market: its name, its wall clock and its middle."""

    slug: str
    name: str
    zone: ZoneInfo
    center: Location


@dataclass(frozen=True, slots=True)
class Asked:
    """Cuisines that were asked for in words, by slug, and the words that are left."""

    cuisines: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Names:
    """Markets and cuisines by slug."""

    markets: Mapping[str, Area]
    cuisines: Mapping[str, str]

    @classmethod
    def load(cls) -> "Names":
        """Read both dictionaries, in one query."""
        with connection.cursor() as cursor:
            cursor.execute(ALL)
            rows = cursor.fetchall()
        return cls(
            markets={
                slug: Area(slug, name, ZoneInfo(zone), Location(lat, lng))
                for slug, name, zone, lat, lng in rows
                if zone
            },
            cuisines={slug: label for slug, label, zone, *_ in rows if not zone},
        )

    def market(self, slug: str) -> Area:
        """The market of this slug. Raises InvalidRequest with the nearest known ones."""
        if slug not in self.markets:
            raise _unknown("market", slug, self.markets)
        return self.markets[slug]

    def check_cuisines(self, slugs: Iterable[str]) -> None:
        """Raise InvalidRequest, with the nearest known ones, unless all of them are known."""
        for slug in slugs:
            if slug not in self.cuisines:
                raise _unknown("cuisine", slug, self.cuisines)

    def cuisines_in(self, words: str) -> "Asked | None":
        """The cuisines that some of the words call by label or slug, a letter or two aside; the longest such words.

        Of "burgers in Soho" it is the burgers, and "in soho" is left.
        """
        called: dict[str, set[str]] = {}
        for slug, label in self.cuisines.items():
            for name in (_fold(label), _fold(slug)):
                called.setdefault(name, set()).add(slug)
        said = _fold(words).split()
        longest = min(len(said), max((len(name.split()) for name in called), default=0))
        for length in range(longest, 0, -1):
            for start in range(len(said) - length + 1):
                run = " ".join(said[start : start + length])
                likely = [run] if run in called else _misspelt(run, called) if len(said) <= MOST_TO_MISSPELL else []
                if likely:
                    rest = " ".join(said[:start] + said[start + length :])
                    return Asked(cuisines=tuple(sorted(called[likely[0]])), rest=rest)
        return None

    def nearest_market(self, place: Location) -> Area | None:
        """The market whose middle is nearest; None while there are none."""
        return min(self.markets.values(), key=lambda area: distance_m(area.center, place), default=None)


def _fold(words: str) -> str:
    """Small letters without accents and apostrophes; what else is no letter or digit separates words."""
    letters = unicodedata.normalize("NFKD", words).casefold().replace("'", "").replace("\u2019", "")
    return " ".join(re.findall(r"\w+", "".join(each for each in letters if not unicodedata.combining(each))))


def _misspelt(run: str, known: Iterable[str]) -> list[str]:
    return get_close_matches(run, list(known), n=1, cutoff=0.85) if len(run) >= FEWEST_TO_MISSPELL else []


def _unknown(param: str, slug: str, known: Iterable[str]) -> InvalidRequest:
    likely = get_close_matches(slug, list(known), n=3, cutoff=0.5)
    hint = f" Did you mean `{likely[0]}`?" if likely else ""
    return InvalidRequest(
        f"Unknown {param} `{slug}`.{hint} GET /v1/{param}s lists all.", param=param, extra={"suggestions": likely}
    )
