"""Search offers: of one restaurant, of all restaurants around a place, or one by id."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue import attribution
from catalogue.models import Market, Restaurant, Source
from catalogue.offers.booking import NoSuchOffer
from catalogue.offers.on_sale import ACCEPTS_BOOKINGS, IS_ON_SALE, PREFIX, Status
from catalogue.offers.slot_rules import PLANNING_HORIZON
from catalogue.search.geocoding import distance, landmarks
from catalogue.search.geocoding.distance import Location, Walk
from catalogue.search.query import DEFAULT_RADIUS_M, Query
from catalogue.search.sql import FILTERS as RESTAURANT_FILTERS
from catalogue.search.sql import HAS_CUISINE
from catalogue.search.text.vocabulary import Vocabulary
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import AttributedPage, Cursor, PageInfo
from framework.errors import InvalidRequest, unknown_name
from framework.public_ids import encode

# Aliases, because the fields below have the names of the types.
Day: TypeAlias = date
ClockTime: TypeAlias = time

# The extreme time zones of the world.
WESTMOST, EASTMOST = timezone(timedelta(hours=-12)), timezone(timedelta(hours=14))

# The first condition that holds decides. `party_size` is 0 without the parameter.
STATUS = f"""
CASE WHEN slot.withdrawn_at IS NOT NULL OR ({ACCEPTS_BOOKINGS}) IS NOT TRUE THEN 'withdrawn'
     WHEN least(slot.book_before, slot.starts_at) <= %(now)s THEN 'expired'
     WHEN slot.seats_left < greatest(slot.party_min, %(party_size)s) THEN 'sold_out'
     WHEN slot.bookable_from > %(now)s THEN 'scheduled'
     ELSE 'available' END
"""
# The fields of SlotDetails that are columns.
SLOT_FIELDS = ["date", "time", "percent", "applies_to", "party_min", "party_max", "seats_left", "book_before", "terms"]
COLUMNS = f"slot.id, slot.starts_at, {STATUS}, {', '.join(f'slot.{name}' for name in SLOT_FIELDS)}"

OF_RESTAURANT = f"""
SELECT {COLUMNS}
FROM catalogue_flowslot AS slot
JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
WHERE slot.restaurant_id = %(restaurant)s AND slot.withdrawn_at IS NULL AND {ACCEPTS_BOOKINGS}
  AND (slot.date = %(date)s::date OR (%(date)s::date IS NULL AND slot.starts_at > %(now)s))
  AND (%(party_size)s = 0 OR %(party_size)s BETWEEN slot.party_min AND slot.party_max)
  AND (%(after)s::timestamptz IS NULL OR slot.starts_at >= %(after)s
    AND (slot.starts_at, -slot.percent, slot.id) > (%(after)s, %(after_percent)s, %(after_id)s::uuid))
ORDER BY slot.starts_at, -slot.percent, slot.id
LIMIT %(rows)s
"""  # noqa: S608  # built from constants
ONE = f"""
SELECT {COLUMNS}, restaurant.slug, market.timezone
FROM catalogue_flowslot AS slot
JOIN catalogue_restaurant AS restaurant ON restaurant.id = slot.restaurant_id
JOIN catalogue_market AS market ON market.slug = restaurant.market_id
LEFT JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
LEFT JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
WHERE slot.id = %(slot)s
"""  # noqa: S608  # built from constants

# Conditions by the field of OfferQuery that they need.
FILTERS = {
    "market": "r.market = %(market)s",
    "date": "slot.date = %(date)s",
    "time": "slot.time >= %(time)s",
    "percent_min": "slot.percent >= %(percent_min)s",
}
HAS_ROOM = "%(party_size)s BETWEEN slot.party_min AND slot.party_max AND slot.seats_left >= %(party_size)s"


class OfferSort(StrEnum):
    """The order of offers: the soonest or the highest discount first."""

    TIME = "time"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferQuery:
    """The parameters of GET /v1/flow/offers."""

    near: str | None = None
    ll: tuple[float, float] | None = None
    market: str | None = None
    radius: int | None = None
    date: Day | None = None
    time: ClockTime | None = None
    party_size: int | None = None
    percent_min: int | None = None
    cuisine: tuple[str, ...] = ()
    diet: tuple[str, ...] = ()
    sort: str = OfferSort.TIME
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class SlotDetails:
    """A slot; date and time are the restaurant's local time."""

    id: str
    restaurant: str
    date: date
    time: time
    timezone: str
    percent: int
    applies_to: str
    party_min: int
    party_max: int
    seats_left: int
    book_before: datetime
    terms: str
    status: Status


@dataclass(frozen=True, slots=True)
class OfferMatch:
    """A slot on sale with its restaurant; distances are None without a reference point."""

    offer: SlotDetails
    place: dict[str, Any]
    distance_m: int | None
    walk: Walk | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PageInfo):
    """A page of slots on sale, and how `near` was resolved."""

    rows: Sequence[OfferMatch]
    near: str | None
    resolved: landmarks.ResolvedPlace | None
    alternatives: tuple[landmarks.ResolvedPlace, ...]
    attribution: Sequence[Source]


def list_restaurant_slots(
    restaurant: Restaurant,
    *,
    day: date | None = None,
    party_size: int | None = None,
    limit: int = 50,
    cursor: str | None = None,
    now: datetime,
) -> AttributedPage[SlotDetails]:
    """Return the slots of a day, including past ones, or all future slots; soonest first, then the highest discount.

    Withdrawn slots are left out. One query, and two for attribution. Raises InvalidCursor, and
    InvalidRequest for a day that is over or beyond the planning horizon.
    """
    now = now.replace(microsecond=0)
    zone = ZoneInfo(restaurant.market.timezone)
    if day is not None:
        check_day(day, now=now, earliest=zone, latest=zone)
    fingerprint = pagination_cursor.fingerprint("flow of", restaurant.pk, day, party_size)
    start = Cursor(after=(), as_of=now)
    if cursor:
        start = pagination_cursor.decode_cursor(cursor, question=fingerprint, now=now)
    after_at, after_percent, after_id = start.after or (None, 0, None)
    values: dict[str, Any] = {
        "restaurant": restaurant.pk,
        "date": day,
        "party_size": party_size or 0,
        "now": now,
        "rows": limit + 1,
        "after": after_at and datetime.fromisoformat(str(after_at)),
        "after_percent": after_percent,
        "after_id": after_id,
    }
    rows = execute(OF_RESTAURANT, values)
    next_cursor = None
    if len(rows) > limit:
        last = sort_key(rows[limit - 1])
        next_cursor = pagination_cursor.encode_cursor(last, as_of=start.as_of, question=fingerprint)
    return AttributedPage(
        rows=[slot_from_row(row, restaurant=restaurant.slug, timezone=zone.key) for row in rows[:limit]],
        attribution=attribution.restaurant_attribution([restaurant.slug]) if rows else [],
        limit=limit,
        as_of=start.as_of,
        next_cursor=next_cursor,
    )


def get_slot(offer: UUID, *, now: datetime) -> SlotDetails:
    """Return a slot of any status. One query. Raises NoSuchOffer."""
    rows = execute(ONE, {"slot": offer, "now": now, "party_size": 0})
    if not rows:
        raise NoSuchOffer
    *row, slug, zone = rows[0]
    return slot_from_row(row, restaurant=slug, timezone=zone)


def search_offers(query: OfferQuery, *, now: datetime) -> Page:
    """Return the matching slots on sale: the soonest, then the nearest, then the highest discount; or by discount.

    Two queries; one more for `near`, and one for `market`, and for names. Raises InvalidRequest naming the parameter:
    PlaceNotResolved, InvalidCursor, an unknown market, parameters that need one another.
    """
    now = now.replace(microsecond=0)
    check_query(query, now=now)
    if query.cuisine or query.diet:
        vocabulary = Vocabulary.load()
        query = replace(query, cuisine=vocabulary.find_cuisines(query.cuisine))
        vocabulary.check_diets(query.diet)
    near, center = landmarks.find_center(near=query.near, ll=query.ll, market=query.market)
    fingerprint = pagination_cursor.fingerprint("flow offers", replace(query, limit=0, cursor=None), center)
    if near and query.radius is None:
        query = replace(query, radius=near.place.radius_m)
    start = Cursor(after=(), as_of=now)
    if query.cursor:
        start = pagination_cursor.decode_cursor(query.cursor, question=fingerprint, now=now)
    sql, values = build_statement(query, center=center, after=start.after, now=now)
    rows = execute(sql, values)
    page = rows[: query.limit]
    sources = {source for row in page for source in row[-1]}
    next_cursor = None
    if len(rows) > query.limit:
        at, percent, last_id = sort_key(page[-1])
        far = page[-1][-6]
        key = (percent, at, far, last_id) if query.sort == OfferSort.PERCENT else (at, far, percent, last_id)
        next_cursor = pagination_cursor.encode_cursor(key, as_of=start.as_of, question=fingerprint)
    return Page(
        rows=[match_from_row(row) for row in page],
        limit=query.limit,
        as_of=start.as_of,
        next_cursor=next_cursor,
        near=query.near,
        resolved=near.place if near else None,
        alternatives=near.alternatives if near else (),
        attribution=list(Source.objects.filter(key__in=sources).order_by("key")) if sources else [],
    )


def check_query(query: OfferQuery, *, now: datetime) -> None:
    """Raise InvalidRequest for parameters that exclude one another, a day out of range, and an unknown market."""
    if query.date is not None:
        check_day(query.date, now=now, earliest=WESTMOST, latest=EASTMOST)
    if query.near and query.ll:
        raise InvalidRequest("Give `near` or `ll`, not both.", param="ll")
    if query.radius is not None and not query.near and not query.ll:
        raise InvalidRequest("`radius` needs a reference point: add `near` or `ll`.", param="radius")
    if query.market and not Market.objects.filter(slug=query.market).exists():
        known = list(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise InvalidRequest(unknown_name("market", query.market, known).message, param="market")


def check_day(day: date, *, now: datetime, earliest: tzinfo, latest: tzinfo) -> None:
    """Raise InvalidRequest for a day that is over in the zone `earliest`, or beyond the horizon in `latest`."""
    first, last = now.astimezone(earliest).date(), (now + PLANNING_HORIZON).astimezone(latest).date()
    if not first <= day <= last:
        reason = "is over" if day < first else "is later"
        raise InvalidRequest(
            f"`date` must be within the next {PLANNING_HORIZON.days} days; {day} {reason}.", param="date"
        )


def build_statement(
    query: OfferQuery, *, center: Location | None, after: Sequence[pagination_cursor.Key], now: datetime
) -> tuple[str, dict[str, Any]]:
    """Return the SQL of a page and its parameters. Slots are sorted by their distance on the plane."""
    values: dict[str, Any] = {name: getattr(query, name) for name in FILTERS}
    values |= {"now": now, "rows": query.limit + 1, "party_size": query.party_size or 0}
    conditions = [IS_ON_SALE, ACCEPTS_BOOKINGS]
    conditions += [sql for name, sql in FILTERS.items() if values[name] is not None]
    if query.party_size is not None:
        conditions.append(HAS_ROOM)
    if query.cuisine:
        values["cuisine"] = list(query.cuisine)
        conditions.append(HAS_CUISINE)
    served = Query(diet=query.diet)
    for name in ("tags", "limited_tags"):
        if tags := getattr(served, name):
            values[name] = tags
            conditions.append(RESTAURANT_FILTERS[name])
    plane, metres = "0::float8", "NULL::float8"
    if center:
        radius_m = float(query.radius or DEFAULT_RADIUS_M)
        values |= distance.circle_parameters(center, radius_m=radius_m) | {"radius": radius_m}
        plane, metres = distance.PLANE_SQL, distance.METRES_SQL
        # A circle would use the index on positions: it would read thousands of restaurants, of which few are listed.
        conditions += [f"{plane} <= %(reach)s", f"{metres} <= %(radius)s"]
    is_by_percent = query.sort == OfferSort.PERCENT
    nearest = f"slot.starts_at, {plane}"
    order = f"-slot.percent, {nearest}, slot.id" if is_by_percent else f"{nearest}, -slot.percent, slot.id"
    if after:
        percent, at, far, last_id = after if is_by_percent else (after[2], *after[:2], after[3])
        values |= {
            "after": datetime.fromisoformat(str(at)),
            "after_far": far,
            "after_percent": percent,
            "after_id": str(last_id),
        }
        then = "%(after)s, %(after_far)s::float8"
        if is_by_percent:
            conditions.append(f"({order}) > (%(after_percent)s, {then}, %(after_id)s::uuid)")
        else:
            # The first condition is for the index.
            conditions.append(
                f"slot.starts_at >= %(after)s AND ({order}) > ({then}, %(after_percent)s, %(after_id)s::uuid)"
            )
    sql = f"""
        SELECT {COLUMNS}, r.timezone, {plane}, {metres}, r.card, area.name, area.country, r.sources
        FROM catalogue_flowslot AS slot
        JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
        JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
        JOIN catalogue_market AS area ON area.slug = r.market
        WHERE {" AND ".join(conditions)}
        ORDER BY {order}
        LIMIT %(rows)s
    """  # noqa: S608  # built from constants
    return sql, values


def execute(sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def sort_key(row: Sequence[Any]) -> tuple[str, int, str]:
    """Return the keyset of a slot: its start, its discount and its id."""
    return row[1].isoformat(), -row[5], str(row[0])


def match_from_row(row: Sequence[Any]) -> OfferMatch:
    *slot, zone, _, metres, card, city, country, _ = row
    place = json.loads(f"{{{card}}}") | {"city": city, "country": country}
    return OfferMatch(
        offer=slot_from_row(slot, restaurant=place["slug"], timezone=zone),
        place=place,
        distance_m=None if metres is None else round(metres),
        walk=None if metres is None else distance.estimate_walk(metres),
    )


def slot_from_row(row: Sequence[Any], *, restaurant: str, timezone: str) -> SlotDetails:
    slot, _, status, *values = row
    return SlotDetails(
        id=encode(PREFIX, slot),
        restaurant=restaurant,
        timezone=timezone,
        status=Status(status),
        **dict(zip(SLOT_FIELDS, values, strict=True)),
    )
