"""Time zones by name."""

from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError


@cache
def zone_names() -> frozenset[str]:
    """The names in the zone database; the operating system may have more, such as `localtime`."""
    return frozenset((files("tzdata") / "zones").read_text().split()) - {"Factory"}


@cache
def zone(name: str) -> ZoneInfo:
    """The zone of a valid name, cached: zoneinfo only caches eight strongly."""
    return ZoneInfo(name)


def validate_zone(name: str) -> None:
    """Raise ValidationError for a name that the zone database does not have."""
    if name not in zone_names():
        raise ValidationError("There is no time zone %(name)s.", params={"name": name})
