"""How many restaurants a question has, in all and by what they have in common."""

from catalogue.search.fetch import run
from catalogue.search.query import Facet
from catalogue.search.results import Bucket, Count, Facets
from catalogue.search.sql import Statement

# Who pages through more than so many is not helped by the exact number.
MOST_TOTAL = 10_000
MOST_COUNTED = 50_000
# Of each facet, the most frequent ones.
MOST_BUCKETS = 50
RATINGS = ("4.5", "4.0", "3.5", "3.0")

COLUMNS = (
    "r.restaurant_id, r.cuisines, r.price_level, r.rating, r.neighborhood, r.tags, r.market,"
    " r.open_spans @> %(now)s::timestamptz AND NOT r.is_shut AS is_open"
)
# Each gives value, label, count; what is in no dictionary cannot be asked for. The folded neighborhood is counted, its
# name is shown.
COUNTS = {
    Facet.CUISINE: """
        SELECT c.slug, c.label, counted.many FROM (
            SELECT value, count(*) AS many FROM matching, unnest(cuisines) AS value GROUP BY value
        ) AS counted JOIN catalogue_cuisine c ON c.slug = counted.value
        ORDER BY counted.many DESC, c.slug LIMIT %(buckets)s""",
    Facet.PRICE: """
        SELECT price_level::text, price_level::text, count(*) FROM matching
        WHERE price_level IS NOT NULL GROUP BY price_level""",
    Facet.RATING: """
        SELECT least, least, (SELECT count(*) FROM matching WHERE rating >= least::numeric)
        FROM unnest(%(ratings)s::text[]) AS least""",
    Facet.NEIGHBORHOOD: """
        SELECT r.neighborhood, r.neighborhood, counted.many FROM (
            SELECT any_value(restaurant_id) AS one, count(*) AS many FROM matching
            WHERE neighborhood IS NOT NULL GROUP BY neighborhood ORDER BY many DESC, neighborhood LIMIT %(buckets)s
        ) AS counted JOIN catalogue_restaurant r ON r.id = counted.one""",
    Facet.ATTRIBUTES: """
        SELECT a.key, a.label, counted.many FROM (
            SELECT value, count(*) AS many FROM matching, unnest(tags) AS value GROUP BY value
        ) AS counted JOIN catalogue_attribute a ON a.key = counted.value
        ORDER BY counted.many DESC, a.key LIMIT %(buckets)s""",
    Facet.OPEN_NOW: "SELECT 'now', 'Open now', count(*) FROM matching WHERE is_open",
    Facet.MARKET: """
        SELECT counted.market, m.name, counted.many FROM (
            SELECT market, count(*) AS many FROM matching GROUP BY market
        ) AS counted JOIN catalogue_market m ON m.slug = counted.market""",
}


def total(statement: Statement) -> Count:
    """How many match, counted to 10,000. One query."""
    sql = f"SELECT count(*) FROM ({statement.matching('')}) AS matching"  # noqa: S608  # constants of ours
    found = run(statement, sql, rows=MOST_TOTAL + 1)[0][0]
    return Count(min(found, MOST_TOTAL), is_exact=found <= MOST_TOTAL)


def facets(statement: Statement) -> Facets:
    """Counts over all that match, of each facet the most frequent values first. One query; 50,000 are counted."""
    wanted = statement.query.facets
    parts = [f"(SELECT '{facet}', each.* FROM ({COUNTS[facet]}) AS each (value, label, many))" for facet in wanted]  # noqa: S608  # constants of ours
    sql = f"""WITH matching AS MATERIALIZED ({statement.matching(COLUMNS)})
        SELECT NULL, NULL, NULL, count(*) FROM matching UNION ALL {" UNION ALL ".join(parts)}"""  # noqa: S608  # constants of ours
    counts: dict[str, list[Bucket]] = {facet.value: [] for facet in wanted}
    counted = 0
    found = run(statement, sql, rows=MOST_COUNTED + 1, buckets=MOST_BUCKETS, ratings=list(RATINGS))
    for facet, value, label, many in found:
        if facet is None:
            counted = many
        else:
            counts[facet].append(Bucket(value, label, many))
    for facet in wanted:
        if facet not in (Facet.PRICE, Facet.RATING):
            counts[facet].sort(key=lambda bucket: (-bucket.count, bucket.value))
    for facet in {Facet.PRICE, Facet.RATING}.intersection(wanted):
        counts[facet].sort(key=lambda bucket: bucket.value, reverse=facet is Facet.RATING)
    return Facets(Count(min(counted, MOST_COUNTED), is_exact=counted <= MOST_COUNTED), counts)
