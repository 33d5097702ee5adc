"""Opening hours: weekly periods with dated exceptions, open intervals, OSM syntax and JSON."""

from catalogue.hours.osm_reader import HORIZON_DAYS, read_osm
from catalogue.hours.periods import ALWAYS, InvalidHoursError, Moment, Period, SpecialDay
from catalogue.hours.schedule import Hours, OpenState
