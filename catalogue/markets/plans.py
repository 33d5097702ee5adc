"""What a new market would be: what is known of its city, and of its country by Babel, phonenumbers and holidays."""

from dataclasses import dataclass
from datetime import datetime

import phonenumbers
from babel.core import Locale
from babel.languages import get_official_languages
from babel.numbers import get_territory_currencies
from django.core.exceptions import ValidationError

from catalogue.hours import holidays
from catalogue.markets.areas import Area
from catalogue.models import Market
from catalogue.places.slugs import slugify
from catalogue.search.geocoding import world
from catalogue.search.geocoding.distance import Location, distance_m
from catalogue.search.geocoding.world import WorldPlace
from catalogue.search.text.labels import CODES
from catalogue.search.text.vocabulary import fold
from framework.errors import InvalidRequest

# The radius of a city by its number of inhabitants, up to which each counts. Those of our own markets are like it.
RADIUS_KM = ((200_000, 10), (500_000, 15), (1_000_000, 20), (3_000_000, 25), (8_000_000, 30))
LARGEST_RADIUS_KM = 35
# A point or an area within this distance of a city's centre may be a part of it.
CITY_REACH_M = 50_000
# A town that GeoNames does not have takes the country and the time zone of a city within this distance.
NEAREST_CITY_M = 150_000
MAX_CANDIDATES = 10


class CityNotFound(InvalidRequest):
    """No city has this name, or none where the market is to be."""


class AmbiguousCity(InvalidRequest):
    """Several cities have this name."""


class InvalidMarket(InvalidRequest):
    """A market cannot have this value."""


@dataclass(frozen=True, slots=True)
class MarketPlan:
    """A market that is not stored, the names of its city, and what follows from its country.

    `source` is that of the city's names and location. `languages` are the official ones (ISO 639-1), `regions` those
    with holidays of their own.
    """

    market: Market
    city_names: tuple[str, ...]
    city_location: Location
    source: str
    languages: tuple[str, ...]
    holidays: int
    regions: tuple[str, ...]


def plan_market(
    name: str,
    *,
    now: datetime,
    country: str | None = None,
    area: Area | None = None,
    at: Location | None = None,
    radius_m: int | None = None,
    slug: str | None = None,
    region: str | None = None,
    timezone: str | None = None,
    currency: str | None = None,
    calling_code: str | None = None,
) -> MarketPlan:
    """Return what the market of a city would be. Each argument overrides what is known.

    `country` (ISO 3166-1) or a place, `area` or `at`, tell cities of one name apart. With a place the name may be that
    of a town too small to be known. No query. Raises CityNotFound with suggestions, AmbiguousCity with the candidates,
    InvalidMarket.
    """
    name = " ".join(name.split())
    if not fold(name):
        raise InvalidMarket("The name has no letters.", param="name")
    if country is not None:
        country = _check_country(country)
    point = area.center if area else at
    city = _find_city(name, country=country, near=point)
    nearest = city or _find_nearest(name, near=point, needs=not (country and timezone))
    country = country or (nearest.country if nearest else "")
    is_abroad = nearest is None or nearest.country != country
    center = point or (city.location if city else None)
    if center is None:
        raise CityNotFound(f"The location of {name} is not known.", param="name")
    known_region = city.region if city else ""
    market = Market(
        slug=slug or slugify(city.name if city else name)[:40].rstrip("-"),
        name=city.name if city else name,
        country=country,
        region=_check_region(known_region if region is None else region, country),
        timezone=timezone or (nearest.timezone if nearest and not is_abroad else ""),
        currency=(currency or _find_currency(country, now=now)).upper(),
        calling_code=calling_code or _find_calling_code(country),
        latitude=center.lat,
        longitude=center.lng,
        radius_m=radius_m or (area.radius_m if area else _radius_m(city.population if city else 0)),
    )
    if not market.timezone:
        raise InvalidMarket("The time zone is not known: state it, for example Europe/Copenhagen.", param="timezone")
    try:
        market.clean_fields()
        market.validate_constraints()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise InvalidMarket(
            messages[0], param=field if field in {each.name for each in market._meta.fields} else None
        ) from error
    # The middle of an area is not that of its city.
    is_inside = city and city.location and distance_m(city.location, center) <= market.radius_m
    return MarketPlan(
        market=market,
        city_location=city.location if city and city.location and is_inside else center,
        city_names=tuple(dict.fromkeys((market.name, name))),
        source="geonames" if city else "tablewire",
        languages=_list_languages(country),
        holidays=len(holidays.read_calendar(country, market.region, now.year)),
        regions=tuple(holidays.list_regions(country)),
    )


def describe_city(city: WorldPlace) -> str:
    """Return a city as errors name it: "Valencia (ES, 39.474,-0.38, 824,340 inhabitants)"."""
    at = f"{city.location.lat},{city.location.lng}" if city.location else ""
    return f"{city.name} ({city.country}, {at}, {city.population:,} inhabitants)"


def _find_city(name: str, *, country: str | None, near: Location | None) -> WorldPlace | None:
    """Return the city of this name; None only for a name that is not known, `near` a point."""
    named = world.find_cities(name)
    cities = [city for city in named if country in (None, city.country)]
    if near is not None:
        metres = {city: distance_m(city.location, near) for city in cities if city.location}
        city = min(metres, key=metres.__getitem__, default=None)
        if city is None or metres[city] <= CITY_REACH_M:
            return city
        if country:
            return None
        message = f"{describe_city(city)} is {metres[city] / 1000:,.0f} km away from there."
        if (
            city.location
            and abs(near.lng) <= 90
            and distance_m(city.location, Location(near.lng, near.lat)) <= CITY_REACH_M
        ):
            raise CityNotFound(f"{message} Are latitude and longitude swapped?")
        raise CityNotFound(f"{message} State the country if another {name} is meant.", param="name")
    if not cities:
        _raise_unknown(name, named, country=country)
    if len(cities) > 1:
        listed = "; ".join(describe_city(city) for city in cities[:MAX_CANDIDATES])
        more = f"; and {len(cities) - MAX_CANDIDATES} more" if len(cities) > MAX_CANDIDATES else ""
        by = "the location" if len({city.country for city in cities}) < len(cities) else "the country or the location"
        raise AmbiguousCity(f"There are {len(cities)} cities called {name}: {listed}{more}. State {by}.", param="name")
    return cities[0]


def _raise_unknown(name: str, named: object, *, country: str | None) -> None:
    hint = "A smaller town needs its location, or a polygon."
    if isinstance(named, list) and named:
        listed = "; ".join(map(describe_city, named[:MAX_CANDIDATES]))
        raise CityNotFound(f"There is no city called {name} in {country}; there is {listed}. {hint}", param="name")
    similar = world.suggest_cities(name)
    meant = f" Did you mean {' or '.join(map(describe_city, similar))}?" if similar else ""
    raise CityNotFound(
        f"No city of 100,000 inhabitants or more is called {name[:80]}.{meant} {hint}",
        param="name",
        extra={"suggestions": [city.name for city in similar]},
    )


def _find_nearest(name: str, *, near: Location | None, needs: bool) -> WorldPlace | None:
    if near is None:
        return None
    city, metres = world.find_nearest_city(near)
    if metres <= NEAREST_CITY_M:
        return city
    if needs:
        raise CityNotFound(
            f"No known city is within {NEAREST_CITY_M // 1000} km of there, the nearest is {describe_city(city)}:"
            f" state the country and the time zone of {name}."
        )
    return None


def _check_country(text: str) -> str:
    code = text.strip().upper()
    if len(code) != 2 or code not in Locale("en").territories:
        raise InvalidMarket(
            f"`{text[:40]}` is no country: a code of ISO 3166-1 is expected, such as DK.", param="country"
        )
    return code


def _check_region(region: str, country: str) -> str:
    regions = holidays.list_regions(country)
    found = next((each for each in regions if each.upper() == region.upper()), "")
    if region and not found:
        known = f"The regions are {', '.join(regions)}." if regions else "It has no such regions."
        raise InvalidMarket(f"No region {region[:10]} of {country} has holidays of its own. {known}", param="region")
    return found


def _find_currency(country: str, *, now: datetime) -> str:
    # The first one is that in which prices are stated: the balboa of Panama is the dollar.
    found = get_territory_currencies(country, now.date(), now.date())
    if not found:
        raise InvalidMarket(f"The currency of {country} is not known: state it, for example EUR.", param="currency")
    return str(found[0])


def _find_calling_code(country: str) -> str:
    code = phonenumbers.country_code_for_region(country)
    if not code:
        raise InvalidMarket(
            f"The calling code of {country} is not known: state it, for example 45.", param="calling_code"
        )
    return str(code)


def _list_languages(country: str) -> tuple[str, ...]:
    return tuple(code for code in get_official_languages(country, de_facto=True) if code in CODES)


def _radius_m(population: int) -> int:
    return 1000 * next((km for limit, km in RADIUS_KM if population < limit), LARGEST_RADIUS_KM)
