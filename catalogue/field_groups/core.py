"""What a place is: the free fields, as the database has rendered them, with what depends on the moment."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson

from catalogue import places
from catalogue.hours import Hours, InvalidHoursError, State
from catalogue.hours.open_spans import CLOSED
from catalogue.offers import Offer
from catalogue.offers.on_sale import beside, of_row
from framework import timezones
from framework.db import prepared_statements

logger = logging.getLogger("tablewire.catalogue")

# A change of the state is told within these days, as catalogue.hours does.
AHEAD = timedelta(days=14)
UNKNOWN = State("unknown", open_now=None, next_change=None)
SHUT = State("closed", open_now=False, next_change=None)

# Of the spans the one that is running or comes next, and the offer.
READ = f"""
SELECT held.restaurant_id, held.status, held.timezone, held.hours_known, held.before, held.hours, held.after,
    r.spans_until, span.opens, span.closes, r.open_spans IS NOT NULL,
    offer.percent, offer.time, offer.date, offer.id, offer.seats_left
FROM catalogue_record AS held
LEFT JOIN catalogue_searchrow AS r ON r.restaurant_id = held.restaurant_id
LEFT JOIN LATERAL (
    SELECT lower(each) AS opens, upper(each) AS closes
    FROM unnest(r.open_spans) AS each WHERE upper(each) > %(now)s::timestamptz ORDER BY lower(each) LIMIT 1
) AS span ON true
{beside()}
WHERE held.slug = %(slug)s
"""  # noqa: S608  # constants of ours


@dataclass(frozen=True, slots=True)
class Core:
    """The free fields of a restaurant: JSON as it is stored, members of objects without their braces, and the rest.

    `before`, then `"hours"` of `hours` and `state`, then `after`, then the offer.
    """

    restaurant: UUID
    before: str
    hours: str
    after: str
    state: State
    offer: Offer | None


def core(slug: str, *, now: datetime) -> Core:
    """The free fields. One query. Raises what identity.find raises."""
    row = prepared_statements.fetch_one(READ, {"slug": slug, "now": now})
    if row is None:
        raise places.missing_error(slug)
    pk, status, zone, known, before, hours, after, until, opens, closes, has_spans, percent, *slot = row
    # Hours made of special days alone are unknown after the last of them, which spans cannot say.
    if status not in CLOSED and until is not None and until >= now + AHEAD and '"periods":[]' not in hours:
        state = (
            of_span(opens, closes, zone=timezones.zone(zone_of(hours, zone)), now=now)
            if known and has_spans
            else UNKNOWN
        )
    else:
        state = of_hours(hours, status=status, known=known, restaurant=pk, now=now)
    return Core(
        restaurant=pk,
        before=before,
        hours=hours,
        after=after,
        state=state,
        offer=of_row(percent, *slot) if percent is not None else None,
    )


def of_span(opens: datetime | None, closes: datetime | None, *, zone: ZoneInfo, now: datetime) -> State:
    """Open or not, by the span that is running or comes next."""
    if opens is None or closes is None:
        return SHUT
    is_open = opens <= now
    change = closes if is_open else opens
    return State(
        "open" if is_open else "closed",
        open_now=is_open,
        next_change=change.astimezone(zone) if change < now + AHEAD else None,
    )


def of_hours(members: str, *, status: str, known: bool, restaurant: UUID, now: datetime) -> State:
    """Open or not, by the hours themselves, given as the members of their JSON. A closure outranks them."""
    if status in CLOSED:
        return SHUT
    if not known:
        return UNKNOWN
    try:
        return Hours.from_json({**orjson.loads("{" + members + "}"), "known": True}).state(now)
    except InvalidHoursError as error:
        logger.warning("The hours of restaurant %s are broken: %s", restaurant, error)
        return UNKNOWN


def zone_of(members: str, otherwise: str) -> str:
    """The time zone of hours, which begin with it."""
    start = '"timezone":"'
    return members[len(start) :].partition('"')[0] if members.startswith(start) else otherwise
