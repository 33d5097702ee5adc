"""FastAPI and asyncpg on normalised tables, one statement an answer: what a user of FastAPI would write instead."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from math import ceil, cos, log, pi, radians, tan
from os import environ
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from fastapi import FastAPI, Request, Response

from benchmarks.references.data_middleware import (
    OWN,
    Answer,
    DataMiddleware,
    choice_param,
    cursor,
    encode,
    integer_param,
    lat_lng_param,
    not_found_error,
    slug_of,
)

OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS
EARTH_M, SPHERE_M = 6_371_008.8, 6_378_137.0
# Beyond a page: the order of the plane is not quite that of the ground, and one more says that there is another page.
SLACK = 4
MAX_AHEAD = timedelta(days=14)
NO_HOURS: dict[str, Any] = {"timezone": None, "periods": [], "special_days": [], "display": [], "osm": None}
ZONES: dict[str, ZoneInfo] = {}
PUBLIC = environ.get("REFERENCE_PUBLIC_URL", "http://127.0.0.1")
OFFER = """
LEFT JOIN LATERAL (
    SELECT slot.id, slot.percent, slot.time, slot.date, slot.seats_left
    FROM catalogue_listing AS listing JOIN catalogue_flowslot AS slot ON slot.restaurant_id = listing.restaurant_id
    WHERE listing.restaurant_id = {restaurant} AND listing.is_active AND slot.withdrawn_at IS NULL
        AND slot.starts_at > {now} AND slot.book_before > {now}
        AND (slot.bookable_from IS NULL OR slot.bookable_from <= {now})
        AND slot.seats_left >= slot.party_min AND slot.seats_left > 0
    ORDER BY slot.starts_at, slot.percent DESC, slot.id LIMIT 1
) AS offer ON true
"""
OFFER_COLUMNS = "offer.id AS offer_id, offer.percent, offer.time, offer.date, offer.seats_left"
RECORD = f"""
SELECT r.id, r.slug, r.name, r.alt_names, r.status, r.market_id, r.neighborhood, r.line1, r.locality, r.region,
    r.postal_code, r.country, r.latitude, r.longitude, r.phone, r.phone_verified_at, r.website, r.menu_url,
    r.description, r.rating::float8, r.review_count, r.price_level, c.label, r.cuisines, r.hours::text, m.timezone,
    r.attributes::text, r.external_ids::text, r.verified_at, r.updated_at, r.version, o.opens, o.closes,
    told.sources::text, {OFFER_COLUMNS}
FROM catalogue_restaurant AS r
JOIN catalogue_market AS m ON m.slug = r.market_id
LEFT JOIN catalogue_cuisine AS c ON c.slug = r.cuisine_id
LEFT JOIN LATERAL (
    SELECT opens, closes FROM reference.opening WHERE restaurant_id = r.id AND closes > $2 ORDER BY closes LIMIT 1
) AS o ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('source', t.source_id, 'record', t.record, 'license', s.license, 'updated_at',
        to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'fields', t.fields)) AS sources
    FROM catalogue_sourcerecord AS t JOIN catalogue_source AS s ON s.key = t.source_id WHERE t.restaurant_id = r.id
) AS told ON true
{OFFER.format(restaurant="r.id", now="$2::timestamptz")}
WHERE r.slug = $1 AND r.merged_into_id IS NULL AND r.erased_at IS NULL
"""  # noqa: S608  # constants of ours
METRES = f"""(2 * {EARTH_M} * asin(least(1, sqrt(sin(radians(r.latitude - $1) / 2) ^ 2
    + cos(radians($1)) * cos(radians(r.latitude)) * sin(radians(r.longitude - $2) / 2) ^ 2))))"""
SEARCH = f"""
WITH near AS MATERIALIZED (
    SELECT r.id, r.slug, r.name, r.neighborhood, r.market_id, r.rating::float8, r.review_count, r.price_level,
        r.cuisine_id, r.cuisines, r.phone, r.latitude, r.longitude, o.closes
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL (
        SELECT opens, closes FROM reference.opening
        WHERE restaurant_id = r.id AND closes > $6::timestamptz ORDER BY closes LIMIT 1
    ) AS o
    WHERE r.position <@ circle(point($3, $4), $5)
        AND o.opens <= $6 AND r.status IN ('open', 'unverified')
    ORDER BY r.position <-> point($3, $4) LIMIT $7::int
)
SELECT r.*, {METRES} AS metres, m.timezone, c.label, told.sources, {OFFER_COLUMNS}
FROM near AS r
JOIN catalogue_market AS m ON m.slug = r.market_id
LEFT JOIN catalogue_cuisine AS c ON c.slug = r.cuisine_id
LEFT JOIN LATERAL (
    SELECT array_agg(source_id) AS sources FROM catalogue_sourcerecord WHERE restaurant_id = r.id
) AS told ON true
{OFFER.format(restaurant="r.id", now="$6")}
ORDER BY metres, r.id
"""  # noqa: S608  # constants of ours
REVIEWS = """
SELECT r.rating::float8, r.review_count, r.star_counts, r.review_facets::text AS facets, v.*, p.photos
FROM catalogue_restaurant AS r
LEFT JOIN LATERAL (
    SELECT id, stars, text, lang, author, visited_on, created_at, helpful_count, photo_count, owner_reply,
        owner_replied_at, source_id
    FROM catalogue_review WHERE restaurant_id = r.id ORDER BY created_at DESC, id DESC LIMIT $2::int
) AS v ON true
LEFT JOIN LATERAL (
    SELECT array_agg(photo.id ORDER BY photo.created_at, photo.id) AS photos
    FROM catalogue_photo AS photo WHERE v.photo_count > 0 AND photo.review_id = v.id AND NOT photo.is_hidden
) AS p ON true
WHERE r.slug = $1 AND r.merged_into_id IS NULL AND r.erased_at IS NULL
ORDER BY v.created_at DESC, v.id DESC
"""
SOURCES = "SELECT key, attribution, license FROM catalogue_source"

middleware = DataMiddleware()
app = FastAPI(lifespan=middleware.open, openapi_url=None, docs_url=None, redoc_url=None)
# A dictionary of a few rows.
lines: dict[str, dict[str, str]] = {}


async def attribution(keys: set[str]) -> list[dict[str, str]]:
    """The lines that these sources ask for."""
    if not lines.keys() >= keys:
        for row in await middleware.pool.fetch(SOURCES):
            lines[row["key"]] = {"source": row["key"], "text": row["attribution"], "license": row["license"]}
    return [lines[key] for key in sorted(keys)]


def current_time() -> datetime:
    """The present second."""
    return datetime.now(UTC).replace(microsecond=0)


def local_time(at: datetime, zone: str) -> datetime:
    """The moment on the clock of a zone."""
    known = ZONES.get(zone)
    if known is None:
        known = ZONES[zone] = ZoneInfo(zone)
    # To its offset: orjson writes that faster than it asks a zone.
    there = at.astimezone(known)
    return there.replace(tzinfo=timezone(there.utcoffset() or timedelta()))


def render_offer(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The next offer, where there is one."""
    if row["offer_id"] is None:
        return None
    return {
        "percent": row["percent"],
        "time": f"{row['time']:%H:%M}",
        "id": encode("fo", row["offer_id"]),
        "date": row["date"],
        "seats_left": row["seats_left"],
    }


@app.get("/livez")
async def livez() -> Response:
    """Whether it answers."""
    return Response(b"ok")


@app.get("/v1/restaurants/{slug}")
async def record(request: Request) -> Response:
    """A restaurant."""

    async def work(asked: Mapping[str, Any]) -> Answer:
        now = current_time()
        row = await middleware.pool.fetchrow(RECORD, slug_of(request), now)
        if row is None:
            raise not_found_error()
        sources = orjson.loads(row["sources"] or "[]")
        hours = orjson.loads(row["hours"]) if row["hours"] else NO_HOURS | {"timezone": row["timezone"]}
        is_known = hours.pop("known", False)
        is_shut = row["status"] not in ("open", "unverified")
        opens, closes = row["opens"], row["closes"]
        is_open = opens is not None and opens <= now
        change = closes if is_open else opens
        place = [
            row["line1"],
            " ".join(filter(None, (row["postal_code"], row["locality"]))),
            row["region"],
            row["country"],
        ]
        located = row["latitude"] is not None
        return Answer(
            orjson.dumps(
                {
                    "slug": row["slug"],
                    "name": row["name"],
                    "id": encode("rst", row["id"]),
                    "alt_names": row["alt_names"],
                    "status": row["status"],
                    "market": row["market_id"],
                    "neighborhood": row["neighborhood"],
                    "address": {
                        "line1": row["line1"],
                        "locality": row["locality"],
                        "region": row["region"],
                        "postal_code": row["postal_code"],
                        "country": row["country"],
                        "formatted": ", ".join(filter(None, place)),
                    },
                    "location": {"lat": row["latitude"], "lng": row["longitude"]} if located else None,
                    "phone": row["phone"],
                    "phone_verified": row["phone_verified_at"] is not None,
                    "phone_verified_at": row["phone_verified_at"],
                    "website": row["website"],
                    "menu_url": row["menu_url"],
                    "description": row["description"],
                    "rating": row["rating"],
                    "review_count": row["review_count"],
                    "price_level": row["price_level"],
                    "cuisine": row["label"],
                    "cuisines": row["cuisines"],
                    "hours": {
                        **hours,
                        "state": "closed" if is_shut else ("open" if is_open else "closed") if is_known else "unknown",
                        "open_now": False if is_shut else is_open if is_known else None,
                        "next_change": local_time(change, hours["timezone"])
                        if is_known and not is_shut and change is not None and change < now + MAX_AHEAD
                        else None,
                    },
                    "attributes": orjson.Fragment(row["attributes"]),
                    "external_ids": orjson.Fragment(row["external_ids"]),
                    "sources": sources,
                    "attribution": await attribution({each["source"] for each in sources}),
                    "verified_at": row["verified_at"],
                    "updated_at": row["updated_at"],
                    "version": row["version"],
                    "flow_offer": render_offer(row),
                },
                option=OPTIONS,
            )
        )

    return await middleware.serve(request, {"fields": choice_param("core")}, work)


@app.get("/v1/restaurants")
async def search(request: Request) -> Response:
    """Open restaurants around a point, nearest first."""
    known = {
        "ll": lat_lng_param,
        "open": choice_param("now"),
        "radius": integer_param(1, 20_000),
        "limit": integer_param(1, 50),
    }
    return await middleware.serve(request, known, find_restaurants)


async def find_restaurants(asked: Mapping[str, Any]) -> Answer:
    """The page."""
    now = current_time()
    (lat, lng), radius, limit = asked["ll"], float(asked.get("radius", 1_500)), asked.get("limit", 20)
    x, y = SPHERE_M * radians(lng), SPHERE_M * log(tan(pi / 4 + radians(lat) / 2))
    reach = radius * SPHERE_M / EARTH_M / cos(radians(abs(lat)) + radius / EARTH_M) * (1 + 1e-9)
    near = await middleware.pool.fetch(SEARCH, lat, lng, x, y, reach, now, limit + SLACK)
    # The circle on the plane reaches a little farther than the radius on the ground.
    rows = [row for row in near if row["metres"] <= radius]
    shown = rows[:limit]
    items = []
    for row in shown:
        closes, metres = row["closes"], row["metres"]
        walked = metres * 1.3
        items.append(
            {
                "slug": row["slug"],
                "name": row["name"],
                "neighborhood": row["neighborhood"],
                "market": row["market_id"],
                "rating": row["rating"],
                "review_count": row["review_count"],
                "price_level": row["price_level"],
                "cuisine": row["label"],
                "cuisines": row["cuisines"],
                "phone": row["phone"],
                "location": {"lat": row["latitude"], "lng": row["longitude"]},
                "walking_distance_m": round(walked),
                "walking_minutes": ceil(walked / 80),
                "distance_m": round(metres),
                "open_now": True,
                "next_change": local_time(closes, row["timezone"]) if closes.year < date.max.year else None,
                "flow_offer": render_offer(row),
            }
        )
    data = orjson.dumps(items, option=OPTIONS)
    after = cursor(shown[-1]["metres"], shown[-1]["id"], now) if len(rows) > limit else None
    rest = {
        "pagination": {"limit": limit, "next_cursor": after, "has_more": after is not None, "as_of": now},
        "query": {
            "near": None,
            "resolved": None,
            "alternatives": [],
            "open_at": now,
            "distance_method": "estimated",
        },
        "attribution": await attribution({key for row in shown for key in row["sources"] or ()}),
    }
    body = b'{"data":%b,%b' % (data, orjson.dumps(rest, option=OPTIONS)[1:])
    return Answer(body, content=data)


@app.get("/v1/restaurants/{slug}/reviews")
async def reviews(request: Request) -> Response:
    """The newest reviews of a restaurant."""

    async def work(asked: Mapping[str, Any]) -> Answer:
        now, limit = current_time(), asked.get("limit", 20)
        rows = await middleware.pool.fetch(REVIEWS, slug_of(request), limit + 1)
        if not rows:
            raise not_found_error()
        return await render_hits(rows, now, limit)

    return await middleware.serve(request, {"sort": choice_param("newest"), "limit": integer_param(1, 50)}, work)


async def render_hits(rows: list[Mapping[str, Any]], now: datetime, limit: int) -> Answer:
    """A page of reviews."""
    first = rows[0]
    shown = rows[:limit] if first["id"] is not None else []
    stars = [*(first["star_counts"] or ()), 0, 0, 0, 0, 0][:5]
    facets = orjson.loads(first["facets"])
    items = [
        {
            "id": encode("rev", row["id"]),
            "stars": row["stars"],
            "text": row["text"],
            "lang": row["lang"] or None,
            "author": row["author"],
            "visited_on": row["visited_on"],
            "created_at": row["created_at"],
            "helpful_count": row["helpful_count"],
            "photos": [render_photo(photo) for photo in row["photos"] or ()],
            "owner_reply": {"text": row["owner_reply"], "created_at": row["owner_replied_at"]}
            if row["owner_reply"] is not None
            else None,
            "source": row["source_id"],
        }
        for row in shown
    ]
    output = {
        "data": items,
        "summary": {
            "rating": first["rating"],
            "count": first["review_count"],
            "distribution": {str(given): stars[given - 1] for given in range(5, 0, -1)},
            "by_lang": dict(sorted(facets.get("by_lang", {}).items(), key=lambda one: (-one[1], one[0]))),
            "with_photos": facets.get("with_photos", 0),
            "with_reply": facets.get("with_reply", 0),
        },
        "attribution": await attribution({row["source_id"] for row in shown}),
    }
    content = orjson.dumps(output, option=OPTIONS)
    after = cursor(shown[-1]["created_at"], shown[-1]["id"], now) if len(rows) > limit else None
    pagination = {"limit": limit, "next_cursor": after, "has_more": after is not None, "as_of": now}
    body = b'%b,"pagination":%b}' % (content[:-1], orjson.dumps(pagination, option=OPTIONS))
    return Answer(body, caching=OWN, content=content)


def render_photo(photo: Any) -> dict[str, str]:
    """What a review says of its photo."""
    name = encode("ph", photo)
    return {
        "id": name,
        "url": f"{PUBLIC}/photos/{name}/large.webp",
        "small_url": f"{PUBLIC}/photos/{name}/small.webp",
    }
