"""The sitemap of the restaurants: files of ranges of their keys, in the format of sitemaps.org."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from uuid import UUID
from xml.sax.saxutils import escape

from django.db import connection
from django.db.models import QuerySet

from catalogue.models import SearchRow
from framework.api.urls import public_url
from framework.cache import CachedValue
from framework.db.read_replica import read_from_replica

Row = tuple[UUID, str, datetime]

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
cached_starts: CachedValue[list[UUID]] = CachedValue(partial(read_from_replica, _read_starts))


def list_files() -> list[str] | None:
    """Return the paths of the files with restaurants; None if the database is not available and they are not known.

    They are numbered, so that their paths stay when an erased restaurant moves the later ones.
    """
    starts = cached_starts.get_or_stale(max_age_s=MAX_AGE_S)
    return None if starts is None else [f"/sitemap-restaurants-{number}.xml" for number in range(1, len(starts) + 1)]


def find_range(number: int) -> list[UUID]:
    """Return the first key of a file, and that of the next one if there is one; nothing if there is no such file."""
    return cached_starts.get(max_age_s=MAX_AGE_S)[number - 1 : number + 1]


def read_addresses(start: UUID, following: UUID | None = None) -> Iterator[tuple[str, str]]:
    """Return the paths of the restaurants from this key to the start of the next file, with their last change.

    One query for each 2,000, by the primary key.
    """
    rows = SearchRow.objects.order_by("pk").values_list("pk", "restaurant__slug", "restaurant__updated_at")
    if following:
        rows = rows.filter(pk__lt=following)
    batch = _read(rows.filter(pk__gte=start)[:BATCH_SIZE])
    sent = 0
    while batch:
        for _, slug, updated_at in batch:
            yield f"/restaurants/{slug}", f"{updated_at:%Y-%m-%dT%H:%M:%SZ}"
        sent += len(batch)
        batch = _read(rows.filter(pk__gt=batch[-1][0])[: min(BATCH_SIZE, MAX_ROWS - sent)])


def _read(rows: QuerySet[SearchRow, Row]) -> list[Row]:
    return read_from_replica(partial(list, rows))


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
