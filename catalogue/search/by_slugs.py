"""Look up restaurants by their slugs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from catalogue import attribution
from catalogue.search import offer_filter
from catalogue.search.fetch import SOURCES, Row, render_hits
from catalogue.search.query import Query
from catalogue.search.results import Batch
from catalogue.search.sql import CITY, HIT_COLUMNS, NEXT_INTERVAL
from catalogue.search.text.labels import check_language, translations

MAX_SLUGS = 100

# One row per requested slug: the restaurant it leads to, and its search row if lists contain it. A former slug leads
# to its restaurant, and a merged restaurant to the one that replaced it. The limit of 20 steps ends a cycle of merges.
LOOK_UP = f"""
WITH RECURSIVE requested AS (
    SELECT slug, coalesce(r.id, former.restaurant_id) AS id
    FROM unnest(%(slugs)s::varchar[]) AS given (slug)
        LEFT JOIN catalogue_restaurant r USING (slug) LEFT JOIN catalogue_formerslug former USING (slug)
), resolved AS (
    SELECT slug, id, 0 AS steps FROM requested
    UNION ALL
    SELECT resolved.slug, merged.merged_into_id, resolved.steps + 1
    FROM resolved JOIN catalogue_restaurant merged ON merged.id = resolved.id
    WHERE merged.merged_into_id IS NOT NULL AND resolved.steps < 20
)
SELECT resolved.slug, place.slug, place.erased_at IS NULL AND place.merged_into_id IS NULL, r.restaurant_id,
    NULL::float8, {HIT_COLUMNS}
FROM resolved JOIN catalogue_restaurant place ON place.id = resolved.id
    LEFT JOIN catalogue_searchrow r ON r.restaurant_id = place.id
    {CITY} {NEXT_INTERVAL} {offer_filter.offer_join(Query())}
WHERE place.merged_into_id IS NULL
"""  # noqa: S608  # built from constants


@dataclass(frozen=True, slots=True)
class ResolvedSlugs:
    """What requested slugs lead to. `current` are the slugs of all restaurants that were found, each once, in the
    order of the request; `rows` the search rows of those that lists contain. The others are as in Batch.
    """

    current: list[str]
    rows: Mapping[str, Row]
    missing: list[str]
    closed: list[str]
    renamed: Mapping[str, str]


def look_up_slugs(slugs: Sequence[str], *, lang: str | None = None, now: datetime) -> Batch:
    """Return the restaurants of at most 100 slugs, each once, in the order of the slugs.

    Restaurants that have closed for good appear by slug only. One query; one more for attribution lines that are not
    cached, and one for `lang`. Raises InvalidRequest.
    """
    if lang:
        check_language(lang)
    now = now.replace(microsecond=0)
    found = resolve_slugs(slugs, now=now)
    return Batch(
        hits=render_hits(list(found.rows.values()), now=now, labels=translations(lang)),
        missing=found.missing,
        closed=found.closed,
        renamed=found.renamed,
        attribution=attribution.attribution_lines({key for row in found.rows.values() for key in SOURCES(row)}),
    )


def resolve_slugs(slugs: Sequence[str], *, now: datetime) -> ResolvedSlugs:
    """Return what these slugs lead to. One query."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK_UP, {"slugs": list(slugs), "now": now})
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    rows: dict[str, Row] = {}
    current: list[str] = []
    missing, closed, renamed = [], [], {}
    for slug in dict.fromkeys(slugs):
        current_slug, exists, restaurant_id, *columns = found.get(slug, (slug, False, None))
        if not exists:
            missing.append(slug)
            continue
        if current_slug not in current:
            current.append(current_slug)
        if current_slug != slug:
            renamed[slug] = current_slug
        if restaurant_id is None:
            closed.append(current_slug)
        else:
            rows.setdefault(current_slug, (restaurant_id, *columns))
    return ResolvedSlugs(
        current=current,
        rows=rows,
        missing=missing,
        closed=list(dict.fromkeys(closed)),
        renamed=renamed,
    )
