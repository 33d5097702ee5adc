"""What a question means: its names looked up, its area, its moment."""

import datetime as dt
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from catalogue.hours.local_time import instant
from catalogue.search.geocoding import distance, landmarks
from catalogue.search.geocoding.distance import Location
from catalogue.search.query import MOST_BOX_M, OPEN_AHEAD, OPEN_BEHIND, Box, Query
from catalogue.search.text import labels
from catalogue.search.text.vocabulary import Asked, Names
from framework.errors import InvalidRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A question with everything looked up that it names; `asked` is the cuisine that words of `q` call."""

    query: Query
    near: landmarks.Resolution | None
    center: Location | None
    names: Names | None
    asked: Asked | None

    def open_at(self, *, now: datetime) -> datetime | None:
        """The moment at which the hits are to be open, None when that was not asked. Raises InvalidRequest.

        A time of day is the next such time on the wall clock of the market that was named or is nearest; a moment
        without a zone is on that clock.
        """
        wanted = self.query.open
        if wanted is None:
            return None
        if wanted == "now":
            at = now
        elif isinstance(wanted, dt.time):
            at = self._next(wanted, now=now)
        else:
            at = wanted if wanted.tzinfo else self._there(wanted, now=now)
        if not now - OPEN_BEHIND <= at <= now + OPEN_AHEAD:
            raise _too_far()
        if at + timedelta(minutes=self.query.open_for or 0) > now + OPEN_AHEAD:
            raise InvalidRequest(
                f"Opening hours are worked out for the next {OPEN_AHEAD.days} days, and this ends later.",
                param="open_for",
            )
        return at

    def _there(self, local: datetime, *, now: datetime) -> datetime:
        zone = self._zone()
        if abs(local.year - now.year) > 1:
            # The last years of the calendar have no next midnight.
            raise _too_far()
        minute = instant(zone, local.toordinal(), local.hour * 60 + local.minute)
        return minute + timedelta(seconds=local.second, microseconds=local.microsecond)

    def _zone(self) -> ZoneInfo:
        area = None
        if self.names:
            market, center = self.query.market, self.center or _middle(self.query.bbox)
            area = self.names.market(market) if market else self.names.nearest_market(center) if center else None
        if area is None:
            raise InvalidRequest(
                "A time without an offset needs a place whose clock it is on: add `near`, `ll` or `market`.",
                param="open",
            )
        return area.zone

    def _next(self, clock: dt.time, *, now: datetime) -> datetime:
        zone = self._zone()
        today, minute = now.astimezone(zone).toordinal(), clock.hour * 60 + clock.minute
        coming = instant(zone, today, minute)
        # The minute that is running counts as now.
        return coming if coming > now - timedelta(minutes=1) else instant(zone, today + 1, minute)


def read(query: Query) -> Reading:
    """Look up what the question names: at most one query for each of names and `near`.

    Raises InvalidRequest, naming the parameter: parameters that need one another, PlaceNotResolved, names that are not
    known, with those that are like them.
    """
    query.check()
    if query.lang:
        labels.check(query.lang)
    _check_box(query.bbox)
    on_a_clock = isinstance(query.open, (dt.time, datetime)) and query.open.tzinfo is None
    named = query.market or query.cuisine or query.cuisine_not or query.q or on_a_clock
    names = Names.load() if named or query.tags else None
    if names:
        if query.market:
            names.market(query.market)
        names.check_cuisines(query.cuisine)
        names.check_cuisines(query.cuisine_not, param="cuisine_not")
        names.check_attributes(query.attributes)
        names.check_diets(query.diet)
    near = landmarks.resolve(query.near, market=query.market) if query.near else None
    return Reading(
        query=query,
        near=near,
        center=near.place.location if near else Location(*query.ll) if query.ll else None,
        names=names,
        asked=names.cuisines_in(query.q) if names and query.q else None,
    )


def _check_box(box: Box | None) -> None:
    """Raise InvalidRequest for a box that is upside down or too large to put in order."""
    if box is None:
        return
    if box.west >= box.east or box.south >= box.north:
        raise InvalidRequest(
            "`bbox` is west,south,east,north: its west lies west of its east and its south south of its north."
            " A box across the 180th meridian is two.",
            param="bbox",
        )
    broadest = min((box.south, box.north, 0.0 if box.south < 0 < box.north else box.south), key=abs)
    width = distance.distance_m(Location(broadest, box.west), Location(broadest, min(box.east, box.west + 180)))
    height = distance.distance_m(Location(box.south, box.west), Location(box.north, box.west))
    if max(width, height) > MOST_BOX_M:
        raise InvalidRequest(
            f"The sides of `bbox` are at most {MOST_BOX_M / 1000:.0f} km long; for more, ask for a `market`.",
            param="bbox",
        )


def _too_far() -> InvalidRequest:
    return InvalidRequest(
        f"`open` must lie within the next {OPEN_AHEAD.days} days; this moment does not.", param="open"
    )


def _middle(box: Box | None) -> Location | None:
    return Location((box.south + box.north) / 2, (box.west + box.east) / 2) if box else None
