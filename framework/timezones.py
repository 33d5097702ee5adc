"""Time zones by name."""

from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from babel.core import get_global
from babel.numbers import get_territory_currencies
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy


@cache
def zone_names() -> frozenset[str]:
    """The names in the zone database; the operating system may have more, such as `localtime`."""
    return frozenset((files("tzdata") / "zones").read_text().split()) - {"Factory"}


# The areas of the zone database; its other folders hold former names.
AREAS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


def find_zone(text: str) -> str:
    """Return the name of the zone that `text` is, in any case, or whose city it is; else `text` unchanged."""
    wanted = text.strip().replace(" ", "_").lower()
    for name in sorted(zone_names()):
        city = name.rpartition("/")[2] if name.startswith(AREAS) else name
        if wanted in (name.lower(), city.lower()):
            return name
    return text


@cache
def zone(name: str) -> ZoneInfo:
    """The zone of a valid name, cached: zoneinfo only caches eight strongly."""
    return ZoneInfo(name)


def validate_zone(name: str) -> None:
    """Raise ValidationError for a name that the zone database does not have."""
    if name not in zone_names():
        raise ValidationError(gettext_lazy("There is no time zone %(name)s."), params={"name": name})


@cache
def currency_of_zone(name: str) -> str:
    """Return the currency of the country of a zone (ISO 4217), by Unicode CLDR; empty if there is none."""
    country = get_global("zone_territories").get(name)
    currencies: list[str] = get_territory_currencies(country) if country else []
    return currencies[0] if currencies else ""
