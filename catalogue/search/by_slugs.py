"""Several restaurants at once, by their slugs."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from catalogue.search import offer_filter
from catalogue.search.fetch import SOURCES, Row, hits
from catalogue.search.query import Query
from catalogue.search.results import Batch, attribute
from catalogue.search.sql import SHOWN, SPAN
from catalogue.search.text import labels as text_labels

MOST_SLUGS = 100

# Each slug that was asked for, the restaurant that it means, and its row where lists see it. A former slug leads to
# its restaurant, a merged restaurant to the one that it has become; chains of these are short and end.
FIND = f"""
WITH RECURSIVE asked AS (
    SELECT slug, coalesce(r.id, former.restaurant_id) AS id
    FROM unnest(%(slugs)s::varchar[]) AS given (slug)
        LEFT JOIN catalogue_restaurant r USING (slug) LEFT JOIN catalogue_formerslug former USING (slug)
), meant AS (
    SELECT slug, id, 0 AS steps FROM asked
    UNION ALL
    SELECT meant.slug, merged.merged_into_id, meant.steps + 1
    FROM meant JOIN catalogue_restaurant merged ON merged.id = meant.id
    WHERE merged.merged_into_id IS NOT NULL AND meant.steps < 20
)
SELECT meant.slug, place.slug, place.erased_at IS NULL AND place.merged_into_id IS NULL, r.restaurant_id, NULL::float8,
    {SHOWN}
FROM meant JOIN catalogue_restaurant place ON place.id = meant.id
    LEFT JOIN catalogue_searchrow r ON r.restaurant_id = place.id {SPAN} {offer_filter.shown(Query())}
WHERE place.merged_into_id IS NULL
"""  # noqa: S608  # constants of ours


def look_up(slugs: Sequence[str], *, lang: str | None = None, now: datetime) -> Batch:
    """The restaurants of at most 100 slugs, each once, in the order asked; what has closed for good is only named.

    A query for them, one for sources where this process does not remember them, one for `lang`. Raises InvalidRequest.
    """
    if lang:
        text_labels.check(lang)
    now = now.replace(microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"slugs": list(slugs), "now": now})
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    rows: dict[str, Row] = {}
    missing, closed, renamed = [], [], {}
    for slug in dict.fromkeys(slugs):
        present, is_there, place, *shown = found.get(slug, (slug, False, None))
        if not is_there:
            missing.append(slug)
            continue
        if present != slug:
            renamed[slug] = present
        if place is None:
            closed.append(present)
        else:
            rows.setdefault(present, (place, *shown))
    labels = text_labels.cuisines(lang) if lang and lang != text_labels.ENGLISH else None
    return Batch(
        hits=hits(list(rows.values()), now=now, labels=labels),
        missing=missing,
        closed=list(dict.fromkeys(closed)),
        renamed=renamed,
        attribution=attribute(map(SOURCES, rows.values())),
    )
