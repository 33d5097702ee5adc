"""Offers as callers see them: of one restaurant, around a place, or one by its id."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import Any, TypeAlias
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from catalogue import attribution as catalogue_attribution
from catalogue.models import Market, Restaurant, Source
from catalogue.offers.booking import NoSuchOffer
from catalogue.offers.on_sale import IS_OFFERING, IS_ON_SALE, PREFIX, Status
from catalogue.offers.slot_rules import AHEAD
from catalogue.search.geocoding import distance, landmarks
from catalogue.search.geocoding.distance import Location, Walk
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import AttributedListing, Cursor, PageInfo
from framework.errors import InvalidRequest, unknown_name
from framework.public_ids import encode

# Names that the fields below do not hide.
Day: TypeAlias = date
ClockTime: TypeAlias = time

# As search has it around a reference point.
RADIUS_M = 1500

# Of all clocks the last and the first: somewhere it is still yesterday, or tomorrow already.
WESTMOST, EASTMOST = timezone(timedelta(hours=-12)), timezone(timedelta(hours=14))

# In the order in which they count. `party_size` is 0 where nobody asked for a party.
STATUS = f"""
CASE WHEN slot.withdrawn_at IS NOT NULL OR ({IS_OFFERING}) IS NOT TRUE THEN 'withdrawn'
     WHEN least(slot.book_before, slot.starts_at) <= %(now)s THEN 'expired'
     WHEN slot.seats_left < greatest(slot.party_min, %(party_size)s) THEN 'sold_out'
     WHEN slot.bookable_from > %(now)s THEN 'scheduled'
     ELSE 'available' END
"""
COLUMNS = f"""slot.id, slot.date, slot.time, slot.percent, slot.applies_to, slot.party_min, slot.party_max,
    slot.seats_left, slot.book_before, slot.terms, slot.starts_at, {STATUS}"""

OF_RESTAURANT = f"""
SELECT {COLUMNS}
FROM catalogue_flowslot AS slot
JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
WHERE slot.restaurant_id = %(restaurant)s AND slot.withdrawn_at IS NULL AND {IS_OFFERING}
  AND (slot.date = %(date)s::date OR (%(date)s::date IS NULL AND slot.starts_at > %(now)s))
  AND (%(party_size)s = 0 OR %(party_size)s BETWEEN slot.party_min AND slot.party_max)
  AND (%(after)s::timestamptz IS NULL OR slot.starts_at >= %(after)s
    AND (slot.starts_at, -slot.percent, slot.id) > (%(after)s, %(after_percent)s, %(after_id)s::uuid))
ORDER BY slot.starts_at, -slot.percent, slot.id
LIMIT %(rows)s
"""  # noqa: S608  # constants of ours
ONE = f"""
SELECT {COLUMNS}, restaurant.slug, market.timezone
FROM catalogue_flowslot AS slot
JOIN catalogue_restaurant AS restaurant ON restaurant.id = slot.restaurant_id
JOIN catalogue_market AS market ON market.slug = restaurant.market_id
LEFT JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
LEFT JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
WHERE slot.id = %(slot)s
"""  # noqa: S608  # constants of ours

# By the field of Question that each of them needs.
FILTERS = {
    "market": "r.market = %(market)s",
    "date": "slot.date = %(date)s",
    "time": "slot.time >= %(time)s",
    "percent_min": "slot.percent >= %(percent_min)s",
}
HAS_ROOM = "%(party_size)s BETWEEN slot.party_min AND slot.party_max AND slot.seats_left >= %(party_size)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of the offers of all restaurants; the names are those of the parameters."""

    near: str | None = None
    ll: tuple[float, float] | None = None
    market: str | None = None
    radius: int | None = None
    date: Day | None = None
    time: ClockTime | None = None
    party_size: int | None = None
    percent_min: int | None = None
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A slot as callers see it; date and time are the restaurant's wall clock."""

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
class Found:
    """A slot on sale, its restaurant in short, and how far that is; None without a reference point."""

    offer: Shown
    place: dict[str, Any]
    distance_m: int | None
    walk: Walk | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PageInfo):
    """Slots on sale, and what the question was taken to mean."""

    rows: Sequence[Found]
    near: str | None
    resolved: landmarks.Place | None
    alternatives: tuple[landmarks.Place, ...]
    attribution: Sequence[Source]


def of_restaurant(
    restaurant: Restaurant,
    *,
    day: date | None = None,
    party_size: int | None = None,
    limit: int = 50,
    cursor: str | None = None,
    now: datetime,
) -> AttributedListing[Shown]:
    """The slots of one day with those that are over, or of all days to come; soonest first, then the higher.

    Withdrawn ones are not among them. One query, and two for the sources where there are any. Raises InvalidCursor,
    and InvalidRequest for a day that is over or without plans.
    """
    now = now.replace(microsecond=0)
    if day is not None:
        zone = ZoneInfo(restaurant.market.timezone)
        check_day(day, now=now, earliest=zone, latest=zone)
    question = pagination_cursor.fingerprint("flow of", restaurant.pk, day, party_size)
    since = (
        pagination_cursor.decode_cursor(cursor, question=question, now=now) if cursor else Cursor(after=(), as_of=now)
    )
    values: dict[str, Any] = {
        "restaurant": restaurant.pk,
        "date": day,
        "party_size": party_size or 0,
        "now": now,
        "rows": limit + 1,
        "after": datetime.fromisoformat(str(since.after[0])) if since.after else None,
        "after_percent": since.after[1] if since.after else 0,
        "after_id": str(since.after[2]) if since.after else None,
    }
    rows = execute(OF_RESTAURANT, values)
    offers = [shown(row, restaurant=restaurant.slug, timezone=restaurant.market.timezone) for row in rows[:limit]]
    return AttributedListing(
        rows=offers,
        attribution=catalogue_attribution.of_restaurants([restaurant.slug]) if rows else [],
        limit=limit,
        as_of=since.as_of,
        next_cursor=pagination_cursor.encode_cursor(key_of(rows[limit - 1]), as_of=since.as_of, question=question)
        if len(rows) > limit
        else None,
    )


def one(offer: UUID, *, now: datetime) -> Shown:
    """One slot, on sale or not. One query. Raises NoSuchOffer."""
    found = execute(ONE, {"slot": offer, "now": now, "party_size": 0})
    if not found:
        raise NoSuchOffer
    *row, slug, zone = found[0]
    return shown(row, restaurant=slug, timezone=zone)


def find(question: Question, *, now: datetime) -> Page:
    """The slots on sale that match, soonest first, then the nearest, then the higher.

    Two queries; one more for `near`, and one for `market`. Raises InvalidRequest, naming the parameter:
    PlaceNotResolved, InvalidCursor, an unknown market, parameters that need one another.
    """
    now = now.replace(microsecond=0)
    check(question, now=now)
    near = landmarks.resolve(question.near, market=question.market) if question.near else None
    center = near.place.location if near else Location(*question.ll) if question.ll else None
    asked = pagination_cursor.fingerprint("flow offers", replace(question, limit=0, cursor=None), center)
    since = (
        pagination_cursor.decode_cursor(question.cursor, question=asked, now=now)
        if question.cursor
        else Cursor(after=(), as_of=now)
    )
    sql, values = statement(question, center=center, after=since.after, now=now)
    rows = execute(sql, values)
    its = rows[: question.limit]
    keys = {source for row in its for source in row[-1]}
    next_cursor = None
    if len(rows) > question.limit:
        at, percent, last = key_of(its[-1])
        next_cursor = pagination_cursor.encode_cursor(
            (at, its[-1][-4], percent, last), as_of=since.as_of, question=asked
        )
    return Page(
        rows=[found(row) for row in its],
        limit=question.limit,
        as_of=since.as_of,
        next_cursor=next_cursor,
        near=question.near,
        resolved=near.place if near else None,
        alternatives=near.alternatives if near else (),
        attribution=list(Source.objects.filter(key__in=keys).order_by("key")) if keys else [],
    )


def check(question: Question, *, now: datetime) -> None:
    """Raise InvalidRequest for parameters that do not go together, a day without plans, and an unknown market."""
    if question.date is not None:
        check_day(question.date, now=now, earliest=WESTMOST, latest=EASTMOST)
    if question.near and question.ll:
        raise InvalidRequest("Give `near` or `ll`, not both.", param="ll")
    if question.radius is not None and not question.near and not question.ll:
        raise InvalidRequest("`radius` needs a reference point: add `near` or `ll`.", param="radius")
    if question.market and not Market.objects.filter(slug=question.market).exists():
        known = list(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise InvalidRequest(unknown_name("market", question.market, known).message, param="market")


def check_day(day: date, *, now: datetime, earliest: tzinfo, latest: tzinfo) -> None:
    """Raise InvalidRequest for a day that is over even where it is earliest, or later than offers are planned."""
    first, last = now.astimezone(earliest).date(), (now + AHEAD).astimezone(latest).date()
    if not first <= day <= last:
        why = "is over" if day < first else "does not"
        raise InvalidRequest(f"`date` must lie within the next {AHEAD.days} days; {day} {why}.", param="date")


def statement(
    question: Question, *, center: Location | None, after: Sequence[pagination_cursor.Key], now: datetime
) -> tuple[str, dict[str, Any]]:
    """The SQL of a page of offers, and its values. The plane stands in for the ground: nearest is nearest on both."""
    values: dict[str, Any] = {name: getattr(question, name) for name in FILTERS}
    values |= {"now": now, "rows": question.limit + 1, "party_size": question.party_size or 0}
    conditions = [IS_ON_SALE, IS_OFFERING]
    conditions += [sql for name, sql in FILTERS.items() if values[name] is not None]
    if question.party_size is not None:
        conditions.append(HAS_ROOM)
    plane, metres = "0::float8", "NULL::float8"
    if center:
        radius_m = float(question.radius or RADIUS_M)
        point, scale = distance.project(center), distance.stretch(center, radius_m=radius_m)
        values |= {"lat": center.lat, "lng": center.lng, "x": point.x, "y": point.y, "radius": radius_m}
        values["reach"] = radius_m * scale.high
        plane, metres = distance.PLANE_SQL, distance.METRES_SQL
        # Not as a circle, which the index of positions knows: of thousands around a point few are listed, and each
        # would be read to find that out.
        conditions += [f"{plane} <= %(reach)s", f"{metres} <= %(radius)s"]
    if after:
        at, far, percent, last = after
        values |= {
            "after": datetime.fromisoformat(str(at)),
            "after_far": far,
            "after_percent": percent,
            "after_id": str(last),
        }
        # The first half is for the index.
        conditions.append(
            f"slot.starts_at >= %(after)s AND (slot.starts_at, {plane}, -slot.percent, slot.id)"
            " > (%(after)s, %(after_far)s::float8, %(after_percent)s, %(after_id)s::uuid)"
        )
    sql = f"""
        SELECT {COLUMNS}, r.timezone, {plane}, {metres}, r.card, r.sources
        FROM catalogue_flowslot AS slot
        JOIN catalogue_listing AS listing ON listing.restaurant_id = slot.restaurant_id
        JOIN catalogue_searchrow AS r ON r.restaurant_id = slot.restaurant_id
        WHERE {" AND ".join(conditions)}
        ORDER BY slot.starts_at, {plane}, -slot.percent, slot.id
        LIMIT %(rows)s
    """  # noqa: S608  # constants of ours
    return sql, values


def execute(sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows that the statement answers."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def key_of(row: Sequence[Any]) -> tuple[str, int, str]:
    """What the order of slots goes by: the moment, the percentage, the id."""
    return row[10].isoformat(), -row[3], str(row[0])


def found(row: Sequence[Any]) -> Found:
    """A row of `statement` as callers see it."""
    *its, zone, _, metres, card, _ = row
    place = json.loads(f"{{{card}}}")
    return Found(
        offer=shown(its, restaurant=place["slug"], timezone=zone),
        place=place,
        distance_m=None if metres is None else round(metres),
        walk=None if metres is None else distance.walk(metres),
    )


def shown(row: Sequence[Any], *, restaurant: str, timezone: str) -> Shown:
    """A row of COLUMNS as callers see it."""
    slot, day, at, percent, applies_to, party_min, party_max, seats_left, book_before, terms, _, status = row
    return Shown(
        id=encode(PREFIX, slot),
        restaurant=restaurant,
        date=day,
        time=at,
        timezone=timezone,
        percent=percent,
        applies_to=applies_to,
        party_min=party_min,
        party_max=party_max,
        seats_left=seats_left,
        book_before=book_before,
        terms=terms,
        status=Status(status),
    )
