"""The offers that a question asks for: a discount on a day, about a time, for a party."""

from datetime import date, datetime, time, timedelta
from typing import Any

from catalogue.offers.on_sale import IS_ON_SALE, SOONEST, beside
from catalogue.search.query import OFFER_WITHIN, Query, Sort

LISTED = "EXISTS (SELECT FROM catalogue_listing l WHERE l.restaurant_id = slot.restaurant_id AND l.is_active)"
FOR_PARTY = """%(party_size)s::integer BETWEEN slot.party_min AND slot.party_max
    AND slot.seats_left >= %(party_size)s::integer"""


def _fitting(query: Query) -> str:
    """What a slot has to fulfil."""
    conditions = [IS_ON_SALE]
    if query.party_size is not None:
        conditions.append(FOR_PARTY)
    if query.offer_min is not None:
        conditions.append("slot.percent >= %(offer_min)s::integer")
    if query.date is not None:
        conditions.append("slot.date = %(date)s::date")
    if query.time is not None:
        conditions.append("slot.time BETWEEN %(earliest)s::time AND %(latest)s::time")
    return " AND ".join(conditions)


def fits(query: Query) -> str:
    """The condition that the row `r` has an offer that fits."""
    return f"""EXISTS (SELECT FROM catalogue_flowslot slot
        WHERE slot.restaurant_id = r.restaurant_id AND {LISTED} AND {_fitting(query)})"""  # constants of ours


def best(query: Query) -> str:
    """The highest discount that fits, by restaurant."""
    return f"""SELECT slot.restaurant_id, max(slot.percent) AS percent FROM catalogue_flowslot slot
        WHERE {LISTED} AND {_fitting(query)} GROUP BY slot.restaurant_id"""  # noqa: S608  # constants of ours


def parameters(query: Query) -> dict[str, Any]:
    """The values of the texts, but for `now`."""
    values: dict[str, Any] = {"offer_min": query.offer_min, "party_size": query.party_size, "date": query.date}
    if query.time is not None:
        noon = datetime.combine(date.min + timedelta(days=1), query.time)
        earliest, latest = noon - OFFER_WITHIN, noon + OFFER_WITHIN
        # Within the day: who wants to eat at half past midnight is not told of the evening before.
        values["earliest"] = earliest.time() if earliest.date() == noon.date() else time.min
        values["latest"] = latest.time() if latest.date() == noon.date() else time.max
    return values


def shown(query: Query) -> str:
    """The offer that the row `r` is shown with: a lateral join `offer`, of nulls where it has none that fits.

    The next one, of two at the same moment the higher; with `sort=offer` the highest, of equal ones the next.
    """
    first = f"slot.percent DESC, {SOONEST}" if query.sort is Sort.OFFER else SOONEST
    return beside(that=_fitting(query), first=first)
