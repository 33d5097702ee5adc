"""Public holidays of the markets: rows that come from a library, and that staff can add or strike.

Calendars disagree, and cities have holidays of their own, so the rows decide and not the library.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from django.db import connection, transaction
from holidays import country_holidays, list_supported_countries

from catalogue.models import Holiday, Market

# This year and the next two.
YEARS = 3

INSERT_HOLIDAYS = """
INSERT INTO catalogue_holiday (market_id, date, name, is_struck)
SELECT %s, day.date, left(day.name, 120), false FROM unnest(%s::date[], %s::text[]) AS day (date, name)
ON CONFLICT (market_id, date) DO NOTHING
"""

# Rows that are marked already are locked too, so that a worker which computes them finishes before the holidays
# change. In the order of the keys, as all writers lock them.
MARK_HOURS_OUTDATED = r"""
WITH held AS MATERIALIZED (
    SELECT row.restaurant_id
    FROM catalogue_searchrow AS row JOIN catalogue_restaurant AS restaurant ON restaurant.id = row.restaurant_id
    WHERE restaurant.market_id = %s AND restaurant.hours ->> 'osm' ~* '\mPH\M'
    ORDER BY row.restaurant_id
    FOR NO KEY UPDATE OF row
)
UPDATE catalogue_searchrow AS row SET intervals_until = NULL FROM held WHERE row.restaurant_id = held.restaurant_id
"""


def add_missing_holidays(*, now: datetime) -> int:
    """Add the missing holidays of this year and the next two; return how many.

    Existing rows do not change: a struck holiday remains struck, and a renamed one keeps its name. One statement for
    each market, and one more if holidays were added, which marks the affected restaurants.
    """
    added = 0
    for market in Market.objects.order_by("slug"):
        added += add_market_holidays(market, now=now)
    return added


def add_market_holidays(market: Market, *, now: datetime) -> int:
    """Add the missing holidays of a market, as `add_missing_holidays` does; return how many.

    A country without a calendar has only the holidays that staff enter.
    """
    days = read_calendar(market.country, market.region, now.year)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(INSERT_HOLIDAYS, [market.slug, list(days), list(days.values())])
        added = int(cursor.rowcount)
        if added:
            mark_hours_outdated(market.slug)
    return added


def list_regions(country: str) -> Sequence[str]:
    """Return the codes of the regions whose holidays the library has, sorted: BE for Berlin; none if it has none."""
    return sorted(list_supported_countries().get(country, []))


def mark_hours_outdated(market: str) -> int:
    """Mark the open intervals of a market's restaurants whose hours mention holidays as missing; return how many.

    Call it after changing Holiday rows, in the same transaction, and enqueue the task on commit
    (catalogue.tasks.enqueue_open_intervals). One statement, which reads the market's restaurants: 30,000 take 0.2 s.
    """
    with connection.cursor() as cursor:
        cursor.execute(MARK_HOURS_OUTDATED, [market])
        return int(cursor.rowcount)


def holidays_by_market(*, first: date, last: date) -> dict[str, frozenset[date]]:
    """Return the holidays from `first` to `last` that are not struck, by market. One query."""
    by_market: dict[str, set[date]] = defaultdict(set)
    for holiday in Holiday.objects.filter(is_struck=False, date__range=(first, last)):
        by_market[holiday.market_id].add(holiday.date)
    return {market: frozenset(days) for market, days in by_market.items()}


def holidays_for_hours(osm: str, *, market: str, first: date, days: int) -> frozenset[date]:
    """Return the holidays of the `days` from `first` if an opening_hours string mentions holidays. At most one
    query.
    """
    return frozenset(holiday_names(market, first=first, days=days)) if re.search(r"\bPH\b", osm) else frozenset()


def holiday_names(market: str, *, first: date, days: int) -> dict[date, str]:
    """Return the names of a market's holidays in the `days` from `first`, by date, sorted. One query."""
    rows = Holiday.objects.filter(
        market=market, is_struck=False, date__range=(first, first + timedelta(days=days - 1))
    )
    return dict(rows.order_by("date").values_list("date", "name"))


@lru_cache(maxsize=100)
def read_calendar(country: str, region: str, year: int) -> Mapping[date, str]:
    """Return the names of the holidays of three years by date, sorted; a region that the library lacks adds none."""
    if country not in list_supported_countries():
        return {}
    subdivision = region if region in list_regions(country) else None
    years = range(year, year + YEARS)
    return dict(sorted(country_holidays(country, subdiv=subdivision, years=years, language="en_US").items()))
