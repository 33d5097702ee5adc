"""Opening hours: weekly periods with dated exceptions, when they are open, and how they are read and written."""

from catalogue.hours.opening import Hours, State
from catalogue.hours.osm import read_osm
from catalogue.hours.periods import ALWAYS, InvalidHoursError, Moment, Period, SpecialDay

__all__ = ["ALWAYS", "Hours", "InvalidHoursError", "Moment", "Period", "SpecialDay", "State", "read_osm"]
