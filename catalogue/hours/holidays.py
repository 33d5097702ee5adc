"""Public holidays of the markets: rows that staff can add to and strike, filled from the calendars of a library.

Calendars disagree, and a city keeps days that its country does not know of: so the rows decide, not the library.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache

from django.db import connection, transaction
from holidays import country_holidays

from catalogue.models import Holiday, Market

# This year and the next two: nobody asks for opening hours of later days.
YEARS = 3

# Country and subdivision as the library names them. A market that is not here has the days that staff enter.
CALENDARS: Mapping[str, tuple[str, str | None]] = {
    "london": ("GB", "ENG"),
    "paris": ("FR", None),
    "berlin": ("DE", "BE"),
    "copenhagen": ("DK", None),
    "milan": ("IT", "MI"),
    "barcelona": ("ES", "CT"),
    "new-york": ("US", "NY"),
    "san-francisco": ("US", "CA"),
    "tokyo": ("JP", None),
    "singapore": ("SG", None),
    "sydney": ("AU", "NSW"),
    "dubai": ("AE", None),
}

ADD = """
INSERT INTO catalogue_holiday (market_id, date, name, is_struck)
SELECT %s, day.date, left(day.name, 120), false FROM unnest(%s::date[], %s::text[]) AS day (date, name)
ON CONFLICT (market_id, date) DO NOTHING
"""

# Also rows that are due already: the lock makes who works them out at this moment finish before the days change.
# In the order of the keys, as everybody writes them.
MARK = r"""
WITH held AS MATERIALIZED (
    SELECT row.restaurant_id
    FROM catalogue_searchrow AS row JOIN catalogue_restaurant AS restaurant ON restaurant.id = row.restaurant_id
    WHERE restaurant.market_id = %s AND restaurant.hours ->> 'osm' ~* '\mPH\M'
    ORDER BY row.restaurant_id
    FOR NO KEY UPDATE OF row
)
UPDATE catalogue_searchrow AS row SET spans_until = NULL FROM held WHERE row.restaurant_id = held.restaurant_id
"""


def add(*, now: datetime) -> int:
    """Add the holidays of this year and the next two that are missing; how many there were.

    Days that are there stay as they are: a struck one is not un-struck, a renamed one keeps its name. One statement a
    market, and one more where days were added, which marks the restaurants that they concern.
    """
    added = 0
    for market in Market.objects.filter(slug__in=CALENDARS).order_by("slug").values_list("slug", flat=True):
        days = _calendar(*CALENDARS[market], now.year)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ADD, [market, list(days), list(days.values())])
            new = cursor.rowcount
            if new:
                changed(market)
        added += new
    return added


def changed(market: str) -> int:
    """Have the open spans worked out anew of a market's restaurants whose hours speak of holidays; how many these are.

    Call it in the transaction that changes the Holiday rows, after that, and ring the worker when it is committed
    (catalogue.tasks.ring_for_open_spans). One statement, which reads the market's restaurants: 30,000 take 0.2 s.
    """
    with connection.cursor() as cursor:
        cursor.execute(MARK, [market])
        return int(cursor.rowcount)


def by_market(*, first: date, last: date) -> dict[str, frozenset[date]]:
    """The holidays that are kept from `first` to `last`, by market. One query."""
    kept: dict[str, set[date]] = {}
    rows = Holiday.objects.filter(is_struck=False, date__range=(first, last)).values_list("market", "date")
    for market, day in rows:
        kept.setdefault(market, set()).add(day)
    return {market: frozenset(days) for market, days in kept.items()}


def named_in(osm: str, *, market: str, first: date, days: int) -> frozenset[date]:
    """The holidays of the `days` from `first` that an opening_hours string is to be read with. One query, none where
    it names no holidays.
    """
    return frozenset(of(market, first=first, days=days)) if re.search(r"\bPH\b", osm) else frozenset()


def of(market: str, *, first: date, days: int) -> dict[date, str]:
    """The names of the holidays that a market keeps in the `days` from `first`, by date, in order. One query."""
    kept = Holiday.objects.filter(
        market=market, is_struck=False, date__range=(first, first + timedelta(days=days - 1))
    )
    return dict(kept.order_by("date").values_list("date", "name"))


@lru_cache(maxsize=len(CALENDARS))
def _calendar(country: str, subdivision: str | None, year: int) -> dict[date, str]:
    years = range(year, year + YEARS)
    return dict(sorted(country_holidays(country, subdiv=subdivision, years=years, language="en_US").items()))
