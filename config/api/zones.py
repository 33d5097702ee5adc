"""Time zones by name."""

from zoneinfo import available_timezones

from django.core.exceptions import ValidationError


def is_a_zone(name: str) -> None:
    """Raise ValidationError for a name that the zone database does not have; whatever tells its time would fail."""
    if name not in available_timezones():
        raise ValidationError("There is no time zone %(name)s.", params={"name": name})
