"""The sitemap of the restaurants: files of ranges of their keys, in the format of sitemaps.org."""

from bisect import bisect_right
from collections.abc import Iterator
from uuid import UUID
from xml.sax.saxutils import escape

from django.db import connection

from catalogue.models import SearchRow
from framework.api.urls import public_url
from framework.cache import CachedValue

# A file has at most MAX_ROWS addresses. It begins with PLANNED_ROWS, because restaurants are added before the files
# are planned again, an hour later.
MAX_ROWS, PLANNED_ROWS = 50_000, 40_000
MAX_AGE_S = 3600.0
BATCH_SIZE = 2_000
XML = "application/xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

STARTS = """
SELECT restaurant_id FROM (
    SELECT restaurant_id, row_number() OVER (ORDER BY restaurant_id) AS number FROM catalogue_searchrow
) AS numbered
WHERE number %% %(rows)s = 1 ORDER BY restaurant_id
"""


def _read_starts() -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(STARTS, {"rows": PLANNED_ROWS})
        return [pk for (pk,) in cursor.fetchall()]


# The first key of each file. One query, which reads the index of keys only: 60 ms for 354,000 restaurants.
cached_starts: CachedValue[list[UUID]] = CachedValue(_read_starts)


def list_files() -> list[str]:
    """Return the paths of the files with restaurants; none while the database is not available."""
    return [f"/sitemap-restaurants-{start.hex}.xml" for start in cached_starts.get_or_stale(max_age_s=MAX_AGE_S) or ()]


def read_addresses(start: UUID) -> Iterator[tuple[str, str]]:
    """Return the paths of the restaurants from this key to the start of the next file, with their last change.

    One query for each 2,000, by the primary key.
    """
    starts = cached_starts.get(max_age_s=MAX_AGE_S)
    following = starts[bisect_right(starts, start) :][:1]
    rows = SearchRow.objects.order_by("pk").values_list("pk", "restaurant__slug", "restaurant__updated_at")
    if following:
        rows = rows.filter(pk__lt=following[0])
    batch = list(rows.filter(pk__gte=start)[:BATCH_SIZE])
    sent = 0
    while batch:
        for _, slug, updated_at in batch:
            yield f"/restaurants/{slug}", f"{updated_at:%Y-%m-%dT%H:%M:%SZ}"
        sent += len(batch)
        batch = list(rows.filter(pk__gt=batch[-1][0])[: min(BATCH_SIZE, MAX_ROWS - sent)])


def render_urlset(addresses: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Write a sitemap of paths and moments of their last change, which may be empty."""
    yield f"{HEAD}<urlset {NAMESPACE}>\n"
    for path, changed_at in addresses:
        changed = f"<lastmod>{changed_at}</lastmod>" if changed_at else ""
        yield f"<url><loc>{escape(public_url(path))}</loc>{changed}</url>\n"
    yield "</urlset>\n"


def render_index(paths: list[str]) -> str:
    """Write the index of sitemaps."""
    files = "".join(f"<sitemap><loc>{escape(public_url(path))}</loc></sitemap>\n" for path in paths)
    return f"{HEAD}<sitemapindex {NAMESPACE}>\n{files}</sitemapindex>\n"
