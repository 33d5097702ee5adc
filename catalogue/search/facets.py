"""Totals and facet counts of a search."""

from dataclasses import replace
from typing import Any

from catalogue.search.fetch import execute
from catalogue.search.query import DEFAULT_RADIUS_M, Facet
from catalogue.search.results import Bucket, Count, Facets, Without
from catalogue.search.sql import SearchStatement

# Counting stops at these limits.
MAX_TOTAL = 10_000
MAX_FACET_ROWS = 50_000
# Of each facet the most frequent values.
MAX_BUCKETS = 50
# What an empty page counts: larger areas, and the search without each of these filters.
MAX_DROPPED = 8
WIDER_RADII_M = (5_000, 20_000)
DROPPABLE: dict[str, Any] = {
    "price": (), "price_max": None, "rating_min": None, "reviews_min": None, "attributes": (), "diet": (), "kind": (),
    "kind_not": (), "cuisine": (), "cuisine_not": (), "neighborhood": None, "market": None,
}  # fmt: skip
RATINGS = ("4.5", "4.0", "3.5", "3.0")

COLUMNS = (
    "r.restaurant_id, r.cuisines, r.price_level, r.rating, r.neighborhood, r.tags, r.market,"
    " r.open_intervals @> %(now)s::timestamptz AND NOT r.is_shut AS is_open"
)
# Each query returns value, label and count. Values without a dictionary entry are left out, because no parameter
# accepts them. Neighborhoods are grouped by their folded name and labelled with a name as it is spelled.
BUCKETS = {
    Facet.CUISINE: """
        SELECT c.slug, c.label, counted.count FROM (
            SELECT value, count(*) FROM matching, unnest(cuisines) AS value GROUP BY value
        ) AS counted JOIN catalogue_cuisine c ON c.slug = counted.value
        ORDER BY counted.count DESC, c.slug LIMIT %(buckets)s""",
    Facet.PRICE: """
        SELECT price_level::text, price_level::text, count(*) FROM matching
        WHERE price_level IS NOT NULL GROUP BY price_level""",
    Facet.RATING: """
        SELECT threshold, threshold, (SELECT count(*) FROM matching WHERE rating >= threshold::numeric)
        FROM unnest(%(ratings)s::text[]) AS threshold""",
    Facet.NEIGHBORHOOD: """
        SELECT r.neighborhood, r.neighborhood, counted.count FROM (
            SELECT any_value(restaurant_id) AS example, count(*) FROM matching
            WHERE neighborhood IS NOT NULL GROUP BY neighborhood ORDER BY count DESC, neighborhood LIMIT %(buckets)s
        ) AS counted JOIN catalogue_restaurant r ON r.id = counted.example""",
    Facet.ATTRIBUTES: """
        SELECT a.key, a.label, counted.count FROM (
            SELECT value, count(*) FROM matching, unnest(tags) AS value GROUP BY value
        ) AS counted JOIN catalogue_attribute a ON a.key = counted.value
        ORDER BY counted.count DESC, a.key LIMIT %(buckets)s""",
    Facet.OPEN_NOW: "SELECT 'now', 'Open now', count(*) FROM matching WHERE is_open",
    Facet.MARKET: """
        SELECT counted.market, m.name, counted.count FROM (
            SELECT market, count(*) FROM matching GROUP BY market
        ) AS counted JOIN catalogue_market m ON m.slug = counted.market""",
}


def count_matches(statement: SearchStatement) -> Count:
    """Count the matching restaurants, up to 10,000. One query."""
    sql = f"SELECT count(*) FROM ({statement.matching('')}) AS matching"  # noqa: S608  # built from constants
    count = execute(statement, sql, rows=MAX_TOTAL + 1)[0][0]
    return Count(min(count, MAX_TOTAL), is_exact=count <= MAX_TOTAL)


def count_without_filters(statement: SearchStatement) -> list[Without]:
    """Count what would match without each filter, or within a larger radius, where that is anything.

    A query for each filter that is given, at most MAX_DROPPED.
    """
    query = statement.query
    changes: list[tuple[str, str | None, SearchStatement]] = []
    if statement.center and not query.bbox:
        wider_radii = [radius for radius in WIDER_RADII_M if radius > (query.radius or DEFAULT_RADIUS_M)]
        changes += [("radius", str(m), replace(statement, query=replace(query, radius=m))) for m in wider_radii]
    if statement.open_at:
        wider = replace(query, open=None, open_for=None)
        changes.append(("open", None, replace(statement, query=wider, open_at=None)))
    for name, default in DROPPABLE.items():
        if getattr(query, name) != default:
            changes.append((name, None, replace(statement, query=replace(query, **{name: default}))))
    if statement.terms and (query.market or statement.center):
        without_words = replace(query, q=None)
        changes.append(("q", None, replace(statement, terms=(), query=without_words, by_trigrams=False)))
    found = [(name, value, count_matches(wider)) for name, value, wider in changes[:MAX_DROPPED]]
    return [Without(name, value, total) for name, value, total in found if total.value]


def count_facets(statement: SearchStatement) -> Facets:
    """Count all matching restaurants (up to 50,000) by each requested facet, the most frequent value first. One
    query.
    """
    requested = statement.query.facets
    parts = [f"(SELECT '{name}', b.* FROM ({BUCKETS[name]}) AS b (value, label, count))" for name in requested]  # noqa: S608  # built from constants
    sql = f"""WITH matching AS MATERIALIZED ({statement.matching(COLUMNS)})
        SELECT NULL, NULL, NULL, count(*) FROM matching UNION ALL {" UNION ALL ".join(parts)}"""  # noqa: S608  # built from constants
    counts: dict[str, list[Bucket]] = {facet.value: [] for facet in requested}
    total = 0
    for facet, value, label, count in execute(
        statement, sql, rows=MAX_FACET_ROWS + 1, buckets=MAX_BUCKETS, ratings=list(RATINGS)
    ):
        if facet is None:
            total = count
        else:
            counts[facet].append(Bucket(value, label, count))
    for facet in requested:
        if facet in (Facet.PRICE, Facet.RATING):
            counts[facet].sort(key=lambda bucket: bucket.value, reverse=facet is Facet.RATING)
        else:
            counts[facet].sort(key=lambda bucket: (-bucket.count, bucket.value))
    return Facets(Count(min(total, MAX_FACET_ROWS), is_exact=total <= MAX_FACET_ROWS), counts)
