"""FastAPI and asyncpg on our read model: the JSON that the database has rendered, with what depends on the moment."""

from collections.abc import Mapping
from datetime import datetime
from math import ceil, cos, log, pi, radians, tan
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from benchmarks.references import rows
from benchmarks.references.data_middleware import (
    Answer,
    choice_param,
    cursor,
    integer_param,
    lat_lng_param,
    not_found_error,
    slug_of,
)
from benchmarks.references.rows import (
    EARTH_M,
    MAX_AHEAD,
    OFFER,
    OFFER_COLUMNS,
    OPTIONS,
    SLACK,
    SPHERE_M,
    current_time,
    local_time,
    render_offer,
)

SPAN = """LEFT JOIN LATERAL (
    SELECT lower(span) AS opens, upper(span) AS closes FROM unnest(r.open_intervals) AS span
    WHERE upper(span) > {now} LIMIT 1
) AS next ON true"""
RECORD = f"""
SELECT held.status, held.timezone, held.hours_known, held.before, held.hours, held.after, r.intervals_until,
    next.opens, next.closes, {OFFER_COLUMNS}
FROM catalogue_record AS held
LEFT JOIN catalogue_searchrow AS r ON r.restaurant_id = held.restaurant_id
{SPAN.format(now="$2::timestamptz")}
{OFFER.format(restaurant="held.restaurant_id", now="$2")}
WHERE held.slug = $1
"""  # noqa: S608  # constants of ours
METRES = rows.METRES
SEARCH = f"""
WITH near AS MATERIALIZED (
    SELECT r.restaurant_id AS id, r.card, r.sources, r.timezone, r.intervals_until, r.open_intervals,
        r.latitude, r.longitude
    FROM catalogue_searchrow AS r
    WHERE r.position <@ circle(point($3, $4), $5)
        AND r.open_intervals @> $6::timestamptz AND NOT r.is_shut
    ORDER BY r.position <-> point($3, $4) LIMIT $7::int
)
SELECT r.id, r.card, r.sources, r.timezone, r.intervals_until, {METRES} AS metres, next.closes, {OFFER_COLUMNS}
FROM near AS r
{SPAN.format(now="$6")}
{OFFER.format(restaurant="r.id", now="$6")}
ORDER BY metres, r.id
"""  # noqa: S608  # constants of ours

middleware = rows.middleware
app = FastAPI(lifespan=middleware.open, openapi_url=None, docs_url=None, redoc_url=None)


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
        rest = orjson.dumps(opening_state(row, now), option=OPTIONS)
        offer = orjson.dumps(render_offer(row), option=OPTIONS)
        before, hours, after = row["before"].encode(), row["hours"].encode(), row["after"].encode()
        return Answer(b'{%b,"hours":{%b,%b,%b,"flow_offer":%b}' % (before, hours, rest[1:], after, offer))

    return await middleware.serve(request, {"fields": choice_param("core")}, work)


def opening_state(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Open or not, and until when."""
    if row["status"] not in ("open", "unverified"):
        return {"state": "closed", "open_now": False, "next_change": None}
    if not row["hours_known"]:
        return {"state": "unknown", "open_now": None, "next_change": None}
    is_open = row["opens"] is not None and row["opens"] <= now
    change = row["closes"] if is_open else row["opens"]
    clock = local_time(change, row["timezone"]) if change is not None and change < now + MAX_AHEAD else None
    return {"state": "open" if is_open else "closed", "open_now": is_open, "next_change": clock}


@app.get("/v1/restaurants")
async def search(request: Request) -> Response:
    """Open restaurants around a point, nearest first."""
    known = {
        "ll": lat_lng_param,
        "open": choice_param("now"),
        "radius": integer_param(1, 20_000),
        "limit": integer_param(1, 50),
    }
    return await middleware.serve(request, known, find_nearest)


async def find_nearest(asked: Mapping[str, Any]) -> Answer:
    """The page."""
    now = current_time()
    (lat, lng), radius, limit = asked["ll"], float(asked.get("radius", 1_500)), asked.get("limit", 20)
    x, y = SPHERE_M * radians(lng), SPHERE_M * log(tan(pi / 4 + radians(lat) / 2))
    reach = radius * SPHERE_M / EARTH_M / cos(radians(abs(lat)) + radius / EARTH_M) * (1 + 1e-9)
    found = await middleware.pool.fetch(SEARCH, lat, lng, x, y, reach, now, limit + SLACK)
    near = [row for row in found if row["metres"] <= radius]
    shown = near[:limit]
    items = []
    for row in shown:
        closes, walked = row["closes"], row["metres"] * 1.3
        rest = {
            "walking_distance_m": round(walked),
            "walking_minutes": ceil(walked / 80),
            "distance_m": round(row["metres"]),
            "open_now": True,
            "next_change": local_time(closes, row["timezone"]) if closes < row["intervals_until"] else None,
            "flow_offer": render_offer(row),
        }
        items.append(b"{%b,%b" % (row["card"].encode(), orjson.dumps(rest, option=OPTIONS)[1:]))
    data = b",".join(items)
    after = cursor(shown[-1]["metres"], shown[-1]["id"], now) if len(near) > limit else None
    rest = {
        "pagination": {"limit": limit, "next_cursor": after, "has_more": after is not None, "as_of": now},
        "query": {
            "near": None,
            "resolved": None,
            "alternatives": [],
            "open_at": now,
            "distance_method": "estimated",
        },
        "attribution": await rows.attribution({key for row in shown for key in row["sources"]}),
    }
    return Answer(b'{"data":[%b],%b' % (data, orjson.dumps(rest, option=OPTIONS)[1:]), content=data)


# The read model keeps no reviews: these are the rows.
app.get("/v1/restaurants/{slug}/reviews")(rows.reviews)
