"""The field group `core`: the record that the database has rendered, with the members that depend on the time."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from catalogue import places
from catalogue.hours import Hours, InvalidHoursError, OpenState
from catalogue.hours.open_intervals import CLOSED_STATUSES
from catalogue.hours.schedule import NEXT_CHANGE_WITHIN, state_in
from catalogue.offers import Offer
from catalogue.offers.on_sale import next_offer_join, offer_from_row
from framework import timezones
from framework.db import prepared_statements

logger = logging.getLogger("tablewire.catalogue")

UNKNOWN_STATE = OpenState("unknown", open_now=None, next_change=None)
CLOSED_STATE = OpenState("closed", open_now=False, next_change=None)

# With the current or next open interval, and the next offer.
READ = f"""
SELECT record.restaurant_id, (SELECT version FROM catalogue_restaurant WHERE id = record.restaurant_id),
    record.status, record.timezone, record.hours_known, record.before, record.hours, record.after,
    r.intervals_until, next.opens, next.closes, r.open_intervals IS NOT NULL,
    offer.percent, offer.time, offer.date, offer.id, offer.seats_left
FROM catalogue_record AS record
LEFT JOIN catalogue_searchrow AS r ON r.restaurant_id = record.restaurant_id
LEFT JOIN LATERAL (
    SELECT lower(each) AS opens, upper(each) AS closes
    FROM unnest(r.open_intervals) AS each WHERE upper(each) > %(now)s::timestamptz ORDER BY lower(each) LIMIT 1
) AS next ON true
{next_offer_join()}
WHERE record.slug = %(slug)s
"""  # noqa: S608  # built from constants
READ_SEVERAL = READ.replace("SELECT record", "SELECT record.slug, record", 1).replace("= %(slug)s", "= ANY(%(slugs)s)")


@dataclass(frozen=True, slots=True)
class CoreFields:
    """The free fields of a restaurant as JSON members without braces, and the parts that depend on the time.

    `version` is that of the restaurant that they show.
    In the order of the response: `before`, then `"hours"` of `hours` and `state`, then `after`, then the offer.
    """

    restaurant: UUID
    version: int
    before: str
    hours: str
    after: str
    state: OpenState
    offer: Offer | None


def read_core(slug: str, *, now: datetime) -> CoreFields:
    """Return the free fields. One query. Raises what places.missing_error returns."""
    row = prepared_statements.fetch_one(READ, {"slug": slug, "now": now})
    if row is None:
        raise places.missing_error(slug)
    return _core_fields(row, now=now)


def read_several(slugs: Sequence[str], *, now: datetime) -> Mapping[str, CoreFields]:
    """Return the free fields by slug, without those of missing restaurants. One query."""
    rows = prepared_statements.fetch_all(READ_SEVERAL, {"slugs": list(slugs), "now": now})
    return {slug: _core_fields(row, now=now) for slug, *row in rows}


def _core_fields(row: Sequence[Any], *, now: datetime) -> CoreFields:
    pk, version, status, zone, known, before, hours, after, until, opens, closes, has_intervals, percent, *slot = row
    has_current_intervals = until is not None and until >= now + NEXT_CHANGE_WITHIN
    # Hours without weekly periods are unknown after the last special day, which the intervals do not contain.
    if status in CLOSED_STATUSES or not has_current_intervals or '"periods":[]' in hours:
        state = state_from_hours(hours, status=status, known=known, restaurant=pk, now=now)
    elif known and has_intervals:
        start = '"timezone":"'
        next_interval = None if opens is None else (opens, closes)
        zone = hours[len(start) :].partition('"')[0] if hours.startswith(start) else zone
        state = state_in(next_interval, at=now, zone=timezones.zone(zone))
    else:
        state = UNKNOWN_STATE
    return CoreFields(
        restaurant=pk,
        version=version,
        before=before,
        hours=hours,
        after=after,
        state=state,
        offer=offer_from_row(percent, *slot) if percent is not None else None,
    )


def state_from_hours(members: str, *, status: str, known: bool, restaurant: UUID, now: datetime) -> OpenState:
    """Return the state by the hours, given as JSON members. A closure overrides them."""
    if status in CLOSED_STATUSES:
        return CLOSED_STATE
    if not known:
        return UNKNOWN_STATE
    try:
        return Hours.from_json({**orjson.loads("{" + members + "}"), "known": True}).state(now)
    except InvalidHoursError as error:
        logger.warning("invalid hours of restaurant %s: %s", restaurant, error)
        return UNKNOWN_STATE
