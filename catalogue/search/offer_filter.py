"""SQL of the offer parameters of a search: a discount on a date, around a time, for a party."""

from datetime import date, datetime, time, timedelta
from typing import Any

from catalogue.offers.on_sale import IS_ON_SALE, SOONEST, next_offer_join
from catalogue.search.query import OFFER_TIME_TOLERANCE, Query, Sort

IS_LISTED = "EXISTS (SELECT FROM catalogue_listing l WHERE l.restaurant_id = slot.restaurant_id AND l.is_active)"
CONDITIONS = {
    "party_size": "%(party_size)s::integer BETWEEN slot.party_min AND slot.party_max"
    " AND slot.seats_left >= %(party_size)s::integer",
    "offer_min": "slot.percent >= %(offer_min)s::integer",
    "date": "slot.date = %(date)s::date",
    "time": "slot.time BETWEEN %(earliest)s::time AND %(latest)s::time",
}


def _slot_condition(query: Query) -> str:
    given = [sql for name, sql in CONDITIONS.items() if getattr(query, name) is not None]
    return " AND ".join([IS_ON_SALE, *given])


def has_matching_offer(query: Query) -> str:
    """Return the condition that the search row `r` has a matching offer."""
    return f"""EXISTS (SELECT FROM catalogue_flowslot slot
        WHERE slot.restaurant_id = r.restaurant_id AND {IS_LISTED} AND {_slot_condition(query)})"""


def best_discounts(query: Query) -> str:
    """Return a query for the highest matching discount of each restaurant."""
    return f"""SELECT slot.restaurant_id, max(slot.percent) AS percent FROM catalogue_flowslot slot
        WHERE {IS_LISTED} AND {_slot_condition(query)} GROUP BY slot.restaurant_id"""  # noqa: S608  # built from constants


def parameters(query: Query) -> dict[str, Any]:
    """Return the parameters of these fragments, except `now`."""
    values: dict[str, Any] = {"offer_min": query.offer_min, "party_size": query.party_size, "date": query.date}
    if query.time is not None:
        at = datetime.combine(date.min + timedelta(days=1), query.time)
        earliest, latest = at - OFFER_TIME_TOLERANCE, at + OFFER_TIME_TOLERANCE
        # The window ends at midnight: a request for 00:30 must not match the evening before.
        values["earliest"] = earliest.time() if earliest.date() == at.date() else time.min
        values["latest"] = latest.time() if latest.date() == at.date() else time.max
    return values


def offer_join(query: Query) -> str:
    """Return the lateral join of the offer that a hit contains: the next matching one, or the highest for
    `sort=offer`.
    """
    order = f"slot.percent DESC, {SOONEST}" if query.sort is Sort.OFFER else SOONEST
    return next_offer_join(condition=_slot_condition(query), order=order)
