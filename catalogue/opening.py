"""Open spans: opening hours worked out for the next days, so that a search for what is open is one index condition."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Q

from catalogue.fields import Span
from catalogue.hours import Hours, InvalidHoursError, read_osm
from catalogue.models import Restaurant

logger = logging.getLogger(__name__)

# A search may ask for any moment of 14 days. The worker comes each hour, and a missed one does no harm; most of a day
# more, so that each row is worked out about once a day.
PROMISED = timedelta(days=14, hours=2)
AHEAD = timedelta(days=15)

# Clocks of two machines differ: a moment that has just passed is still answered.
BEHIND = timedelta(days=1)

CLOSED = frozenset(
    {Restaurant.Status.TEMPORARILY_CLOSED, Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED}
)

STORE = """
UPDATE catalogue_restaurant AS restaurant
SET open_spans = made.spans::tstzmultirange, spans_until = %s, hours = coalesce(made.hours::jsonb, restaurant.hours)
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS made (id, spans, hours)
WHERE restaurant.id = made.id
"""


def refresh(*, now: datetime, batch: int = 1000, at_most: int | None = None) -> int:
    """Work out the open spans that are missing or end before the promised days do; how many restaurants that were.

    Whoever changes hours, status or location of a restaurant sets its `spans_until` to None; those come first.
    Each batch is a short transaction that claims its rows and passes over claimed ones, so any number of workers may
    run this at once. 0.3 ms a restaurant.
    """
    done = 0
    for due in (Q(spans_until=None), Q(spans_until__lt=now + PROMISED)):
        while at_most is None or done < at_most:
            size = batch if at_most is None else min(batch, at_most - done)
            refreshed = _refresh_some(due, now=now, size=size)
            done += refreshed
            if refreshed < size:
                break
    return done


def _refresh_some(due: Q, *, now: datetime, size: int) -> int:
    until = now + AHEAD
    with transaction.atomic():
        restaurants = list(
            Restaurant.objects.filter(due)
            .only("status", "hours", "latitude", "longitude")
            .select_for_update(skip_locked=True)[:size]
        )
        if restaurants:
            made = [_made(restaurant, now=now, until=until) for restaurant in restaurants]
            with connection.cursor() as cursor:
                cursor.execute(
                    STORE,
                    [until, [each.pk for each in restaurants], [spans for spans, _ in made], [new for _, new in made]],
                )
    return len(restaurants)


def _made(restaurant: Restaurant, *, now: datetime, until: datetime) -> tuple[str | None, str | None]:
    """The spans as PostgreSQL writes them, None when nobody knows; and the hours in JSON where they are new."""
    hours = stated(restaurant)
    again = up_to_date(hours, restaurant, now=now) if hours else None
    new = json.dumps(again.to_json()) if again and again != hours else None
    # Closure outranks hours.
    if restaurant.status in CLOSED:
        return "{}", new
    if again is None or not again.known:
        return None, new
    return _multirange(again.spans(start=now - BEHIND, end=until)), new


def stated(restaurant: Restaurant) -> Hours | None:
    """The hours of a restaurant; None when it states none, or broken ones."""
    if restaurant.hours is None:
        return None
    try:
        return Hours.from_json(restaurant.hours)
    except (InvalidHoursError, AttributeError) as error:
        logger.warning("The hours of restaurant %s are broken: %s", restaurant.pk, error)
        return None


def up_to_date(hours: Hours, restaurant: Restaurant, *, now: datetime, first: date | None = None) -> Hours:
    """Hours with dates ("Dec 24 off") were read for 60 days: read the string they come from for those from `now`.

    Or for the 60 days from `first`, and the day before, whose tail may reach into them. Hours that do not say what the
    string does were edited by somebody, and stay.
    """
    if hours.osm is None or not hours.known:
        return hours
    today = now.astimezone(ZoneInfo(hours.timezone)).date()
    lat, lng = restaurant.latitude, restaurant.longitude
    point = None if lat is None or lng is None else (lat, lng)
    read = partial(read_osm, hours.osm, timezone=hours.timezone, point=point)
    again = read(on=today)
    last = max((special.date for special in hours.special_days), default=date.min)
    ahead = [special for special in hours.special_days if special.date >= today]
    same = [special for special in again.special_days if special.date <= last]
    if again.periods != hours.periods or ahead != same:
        return hours
    if first is None:
        return again
    before = [special for special in read(on=first - timedelta(days=1)).special_days if special.date < first]
    return replace(again, special_days=(*before, *read(on=first).special_days))


def _multirange(spans: Sequence[Span]) -> str:
    return "{" + ",".join(f"[{opens.isoformat()},{closes.isoformat()})" for opens, closes in spans) + "}"
