"""The names that a question may use: markets and cuisines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue.geo import Location, distance_m
from config.api.refusal import InvalidRequest

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

    def nearest_market(self, place: Location) -> Area | None:
        """The market whose middle is nearest; None while there are none."""
        return min(self.markets.values(), key=lambda area: distance_m(area.center, place), default=None)


def _unknown(param: str, slug: str, known: Iterable[str]) -> InvalidRequest:
    likely = get_close_matches(slug, list(known), n=3, cutoff=0.5)
    hint = f" Did you mean `{likely[0]}`?" if likely else ""
    return InvalidRequest(
        f"Unknown {param} `{slug}`.{hint} GET /v1/{param}s lists all.", param=param, extra={"suggestions": likely}
    )
