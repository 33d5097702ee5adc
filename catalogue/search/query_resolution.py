"""Resolve a query: its names, its reference point and the moment at which hits are open."""

import datetime as dt
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue.hours.local_time import to_instant
from catalogue.search.geocoding import distance, landmarks
from catalogue.search.geocoding.areas import find_areas
from catalogue.search.geocoding.distance import Location
from catalogue.search.query import (
    MAX_BOX_SIDE_M,
    MAX_CLOCK_SKEW,
    MAX_OPEN_AHEAD,
    BoundingBox,
    LocalMoment,
    Query,
)
from catalogue.search.text import understanding
from catalogue.search.text.labels import check_language
from catalogue.search.text.understanding import Part, Term, Understanding
from catalogue.search.text.vocabulary import Vocabulary, fold
from framework.errors import InvalidRequest

# Shorter texts beside a cuisine are rather names than streets.
MIN_STREET_TEXT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuery:
    """A query with everything that it names looked up.

    `query` has what the words of `q` ask for as parameters, `understood` says which words these are, and the `terms`
    are what is left to look for. `open_param` is the parameter that names the moment.
    """

    query: Query
    near: landmarks.Resolution | None
    center: Location | None
    vocabulary: Vocabulary | None
    understood: tuple[Part, ...]
    terms: tuple[Term, ...]
    open_param: str

    def open_at(self, *, now: datetime) -> datetime | None:
        """Return the moment at which hits must be open, None if the query has none. Raises InvalidRequest.

        A time of day is its next occurrence, and a moment without a zone a local time, in the zone of the named or the
        nearest market.
        """
        requested = self.query.open
        too_far = InvalidRequest(f"`open` must be within the next {MAX_OPEN_AHEAD.days} days.", param=self.open_param)
        if requested is None:
            return None
        if requested == "now":
            at = now
        elif isinstance(requested, LocalMoment):
            at = self._next(requested, now=now)
        elif isinstance(requested, dt.time):
            zone = self._zone()
            today, minute = now.astimezone(zone).toordinal(), requested.hour * 60 + requested.minute
            at = to_instant(zone, today, minute)
            # The current minute counts as now.
            if at <= now - timedelta(minutes=1):
                at = to_instant(zone, today + 1, minute)
        elif requested.tzinfo:
            at = requested
        else:
            zone = self._zone()
            if abs(requested.year - now.year) > 1:
                # The last day of the calendar has no next midnight.
                raise too_far
            at = to_instant(zone, requested.toordinal(), requested.hour * 60 + requested.minute)
            at += timedelta(seconds=requested.second, microseconds=requested.microsecond)
        if not now - MAX_CLOCK_SKEW <= at <= now + MAX_OPEN_AHEAD:
            raise too_far
        return at

    def _next(self, moment: LocalMoment, *, now: datetime) -> datetime:
        """Return the next such moment; today's is now if it has passed."""
        zone = self._zone()
        today, minute = now.astimezone(zone), moment.at.hour * 60 + moment.at.minute
        if moment.day in ("today", "tonight"):
            return max(now, to_instant(zone, today.toordinal(), minute))
        if moment.day == "tomorrow":
            return to_instant(zone, today.toordinal() + 1, minute)
        days = (int(moment.day) - today.weekday()) % 7
        at = to_instant(zone, today.toordinal() + days, minute)
        return at if at > now else to_instant(zone, today.toordinal() + days + 7, minute)

    def _zone(self) -> ZoneInfo:
        market = None
        if self.vocabulary:
            box, center = self.query.bbox, self.center
            if box and not center:
                center = Location((box.south + box.north) / 2, (box.west + box.east) / 2)
            if self.query.market:
                market = self.vocabulary.market(self.query.market)
            elif center:
                market = self.vocabulary.nearest_market(center)
        if market is None:
            raise InvalidRequest(
                "A time without an offset needs a place for its time zone: add `near`, `ll` or `market`.",
                param=self.open_param,
            )
        return market.zone


def resolve_query(query: Query) -> ResolvedQuery:
    """Check a query and look up the names in it: at most one query for the vocabulary and one for `near`.

    Raises InvalidRequest naming the parameter: parameters that need one another, PlaceNotResolved, unknown names.
    """
    query.check()
    if query.lang:
        check_language(query.lang)
    if query.bbox:
        _check_box(query.bbox)
    is_local_time = isinstance(query.open, (dt.time, datetime)) and query.open.tzinfo is None
    has_names = query.market or query.cuisine or query.cuisine_not or query.q or query.attributes or query.diet
    vocabulary = Vocabulary.load() if has_names or is_local_time else None
    cuisine: tuple[str, ...] = ()
    cuisine_not: tuple[str, ...] = ()
    if vocabulary:
        if query.market:
            vocabulary.market(query.market)
        cuisine = vocabulary.find_cuisines(query.cuisine)
        cuisine_not = vocabulary.find_cuisines(query.cuisine_not, param="cuisine_not")
        vocabulary.check_attributes(query.attributes)
        vocabulary.check_diets(query.diet)
    understood = _understand(query, vocabulary) if vocabulary and query.q else Understanding(query)
    effective = replace(understood.query, cuisine=cuisine, cuisine_not=cuisine_not)
    try:
        near, center = landmarks.find_center(near=effective.near, ll=effective.ll, market=effective.market)
    except landmarks.PlaceNotResolved as error:
        if query.near is None:
            error.param = "q"
        raise
    if near and effective.radius is None and effective.bbox is None:
        effective = replace(effective, radius=near.place.radius_m)
    return ResolvedQuery(
        query=effective,
        near=near,
        center=center,
        vocabulary=vocabulary,
        understood=understood.parts,
        terms=understood.terms,
        open_param="open" if query.open is not None else "q",
    )


def _understand(query: Query, vocabulary: Vocabulary) -> Understanding:
    """Understand `q`, unless words of it would be left out and a restaurant has exactly this name.

    At most one query, and one for each text beside other words that may be a street.
    """
    understood = understanding.understand(query, vocabulary)
    if understood.query.q != fold(str(query.q)) and _is_name(str(query.q)):
        return understanding.read_literally(query)
    return _locate_street(understood)


def _locate_street(understood: Understanding) -> Understanding:
    """Take text beside a cuisine or the like as `near` if addresses state it: "falafel rue des rosiers".

    One query for each text that is long enough.
    """
    query, terms = understood.query, understood.terms
    is_located = (
        query.near or query.ll or query.bbox or any(part.parameter == "neighborhood" for part in understood.parts)
    )
    if is_located or not any(term.is_named for term in terms):
        return understood
    for text in (term.text for term in terms if not term.is_named and len(term.text) >= MIN_STREET_TEXT):
        if find_areas(text, market=query.market):
            rest = tuple(term for term in terms if term.text != text)
            words = " ".join(term.text for term in rest)
            parts = tuple(
                Part(text, "near", text) if part == Part(text, "q", text) else part for part in understood.parts
            )
            return Understanding(replace(query, near=text, q=words), parts, rest)
    return understood


def _is_name(text: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM catalogue_searchrow WHERE name = fold(%s))", [text])
        ((found,),) = cursor.fetchall()
    return bool(found)


def _check_box(box: BoundingBox) -> None:
    if box.west >= box.east or box.south >= box.north:
        raise InvalidRequest(
            "`bbox` is west,south,east,north: west must be less than east, and south less than north."
            " A box across the 180th meridian is two boxes.",
            param="bbox",
        )
    widest_lat = min((box.south, box.north, 0.0 if box.south < 0 < box.north else box.south), key=abs)
    width = distance.distance_m(Location(widest_lat, box.west), Location(widest_lat, min(box.east, box.west + 180)))
    height = distance.distance_m(Location(box.south, box.west), Location(box.north, box.west))
    if max(width, height) > MAX_BOX_SIDE_M:
        raise InvalidRequest(
            f"The sides of `bbox` are at most {MAX_BOX_SIDE_M / 1000:.0f} km long; use `market` for a larger area.",
            param="bbox",
        )
