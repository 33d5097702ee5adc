"""Opening hours: weekly periods with dated exceptions, when they are open, and how they are read and written."""

from catalogue.hours.osm_reader import HORIZON_DAYS, read_osm
from catalogue.hours.periods import ALWAYS, InvalidHoursError, Moment, Period, SpecialDay
from catalogue.hours.schedule import Hours, State

__all__ = [
    "ALWAYS",
    "HORIZON_DAYS",
    "Hours",
    "InvalidHoursError",
    "Moment",
    "Period",
    "SpecialDay",
    "State",
    "read_osm",
]
