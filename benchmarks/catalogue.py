"""How long the database takes for what the data API asks it, beside what its design expects, and by which plans.

    uv run --group benchmarks python -m benchmarks.catalogue --state-dir .state

It calls the product's own functions at random places of the catalogue and takes the time of each statement that they
send, from asking to having the rows. Told are the median and the 95th percentile of the statement that answers the
question, also as ratios to a prepared `SELECT 1` and to a look-up by primary key of the same run (absolute figures say
as much about the machine as about us), and the median of all statements of a call together. The expectations are those
of 354,000 restaurants and 7.5 million reviews; held against them is what a statement takes beyond `SELECT 1`. Any plan
with a sequential scan of more than a small dictionary makes it fail, and so do searches by words that take more than
1.5 times as long as the same words as plain text. It changes nothing but the places of new versions
in the feed of changes.
"""

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
import psycopg
from rich.console import Console
from rich.table import Table

SAMPLE = """
SELECT row.latitude, row.longitude, record.slug, row.name, row.restaurant_id
FROM catalogue_searchrow AS row JOIN catalogue_record AS record USING (restaurant_id)
WHERE row.position IS NOT NULL ORDER BY hashtext(row.restaurant_id::text || %s) LIMIT %s
"""
BY_REVIEW_COUNT = "SELECT restaurant_id FROM catalogue_searchrow ORDER BY rank_reviews DESC, restaurant_id LIMIT 20"
LANDMARKS = "SELECT name FROM catalogue_landmarkname WHERE length(name) >= 6 ORDER BY hashtext(name || %s) LIMIT %s"
# Tables of fewer rows are read faster as a whole.
SMALL_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples < 5000"
# From degrees of latitude; the boxes of a bounding box are this much to each side.
BOX = 0.00675
SEARCH_TERMS = ("pizza", "ramen", "burger", "coffee", "tapas", "curry", "sushi", "bistro")
# What understanding the words of a search may cost, as a multiple of looking them up as text.
MAX_WORDS_RATIO = 1.5
# Plans looked at for each question.
EXPLAIN_COUNT = 10


@dataclass(frozen=True)
class CapturedStatement:
    """A statement that was sent, and how many milliseconds it took."""

    query: Any
    values: Any
    ms: float


@dataclass(frozen=True)
class SamplePoint:
    """A restaurant, as a place to ask about."""

    latitude: float
    longitude: float
    slug: str
    name: str
    landmark: str


@dataclass(frozen=True)
class Case:
    """A question, the milliseconds that the design expects (None where it says nothing), and what answers it.

    `main` is the place of that statement among those of a call.
    """

    name: str
    expected_ms: float | None
    ask: Callable[[SamplePoint], object]
    main: int = 0


def cases(rng: random.Random) -> Iterator[Case]:
    """All questions; importing the product takes Django's settings."""
    from django.utils import timezone

    from catalogue import field_groups, search
    from catalogue.history import change_feed
    from catalogue.models import Restaurant, Version
    from catalogue.offers import search as offers
    from catalogue.reviews import listing
    from catalogue.search import BoundingBox, Facet, Query, Sort
    from catalogue.search.geocoding import landmarks
    from catalogue.search.text import autocomplete

    now = timezone.now()

    def found(**wishes: Any) -> Callable[[SamplePoint], object]:
        return lambda spot: search.search_restaurants(Query(ll=(spot.latitude, spot.longitude), **wishes), now=now)

    def boxed(spot: SamplePoint) -> object:
        west, south = spot.longitude - BOX, spot.latitude - BOX
        box = BoundingBox(west=west, south=south, east=west + 2 * BOX, north=south + 2 * BOX)
        return search.search_restaurants(Query(bbox=box, sort=Sort.RATING), now=now)

    def misspelt(spot: SamplePoint) -> object:
        at = rng.randrange(1, len(spot.landmark) - 1)
        name = spot.landmark[:at] + spot.landmark[at + 1 :]
        return resolved(name)

    def resolved(name: str) -> object:
        try:
            return landmarks.geocode(name, market=None)
        except landmarks.PlaceNotResolved:
            return None

    many = [Restaurant.objects.get(pk=pk) for (pk,) in fetch_all(BY_REVIEW_COUNT)]
    newest = listing.ReviewQuery(sort=listing.Order.NEWEST)
    deep = []
    for place in many:
        cursor = None
        for _ in range(20):
            page = listing.list_reviews(place, listing.ReviewQuery(sort=listing.Order.NEWEST, cursor=cursor), now=now)
            cursor = page.next_cursor or cursor
        deep.append((place, listing.ReviewQuery(sort=listing.Order.NEWEST, cursor=cursor)))
    last = Version.objects.order_by("-seq").values_list("seq", flat=True).exclude(seq=None).first() or 0

    yield Case("nearest 20", 0.11, found())
    yield Case("+ open now", 0.3, found(open="now"))
    yield Case(
        "+ cuisine, price, rating, 5 km", 0.15, found(radius=5_000, cuisine=("pizza",), price=(1, 2), rating_min=4)
    )
    yield Case("words in 3 km", 2.9, lambda spot: found(radius=3_000, q=rng.choice(SEARCH_TERMS))(spot))
    yield Case("words anywhere", 12, lambda _: search.search_restaurants(Query(q=rng.choice(SEARCH_TERMS)), now=now))
    yield Case("facets", 7.5, found(facets=tuple(Facet)), main=-1)
    yield Case("box by rating", 28, boxed)
    yield Case("landmark", 6, lambda spot: resolved(spot.landmark))
    yield Case("landmark, a letter missing", 17, misspelt)
    yield Case("slug", 0.4, lambda spot: field_groups.read_record(spot.slug, groups=("core",), now=now))
    yield Case("newest reviews", 0.23, lambda _: listing.list_reviews(rng.choice(many), newest, now=now))
    yield Case("reviews, page 20", 0.23, lambda _: listing.list_reviews(*rng.choice(deep), now=now))
    yield Case("autocomplete", None, lambda spot: autocomplete.suggest(spot.name[: rng.randint(3, 6)]))
    yield Case(
        "offers near",
        None,
        lambda spot: offers.search_offers(offers.OfferQuery(ll=(spot.latitude, spot.longitude)), now=now),
    )
    yield Case("changes", None, lambda _: change_feed.list_changes(since=rng.randrange(last + 1)), main=-1)


def fetch_all(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def capture_statements() -> list[CapturedStatement]:
    """From now on, every statement of Django's connection."""
    from django.db import connection

    connection.ensure_connection()
    asked: list[CapturedStatement] = []
    plain: Any = connection.connection.cursor_factory

    class Timed(plain):  # type: ignore[misc]  # the class is known when it runs
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            started = time.perf_counter()
            done = super().execute(query, params, **options)
            asked.append(CapturedStatement(query, params, 1000 * (time.perf_counter() - started)))
            return done

    connection.connection.cursor_factory = Timed
    return asked


def sequential_scans(statement: CapturedStatement, small: set[str]) -> set[str]:
    """The tables that the plan of a statement reads as a whole, small ones apart."""
    from django.db import connection

    text = str(statement.query).lstrip()
    if not text.startswith(("SELECT", "WITH")) or "set_config" in text or "pg_try_advisory" in text:
        return set()
    cursor = psycopg.ClientCursor(connection.connection)
    cursor.execute("EXPLAIN (FORMAT JSON) " + text, statement.values)
    row = cursor.fetchone()
    return {table for table in scanned_tables(row[0][0]["Plan"]) if table not in small} if row else set()


def scanned_tables(plan: dict[str, Any]) -> Iterator[str]:
    """The tables under the sequential scans of a plan."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for below in plan.get("Plans", []):
        yield from scanned_tables(below)


def measure_reference(asked: list[CapturedStatement], statement: str, values: Sequence[Any], times: int) -> float:
    """The median of a statement, prepared."""
    from django.db import connection

    del asked[:]
    for number in range(times):
        with connection.cursor() as cursor:
            cursor.execute(statement, [values[number % len(values)]] if values else None)
            cursor.fetchall()
    return statistics.median(each.ms for each in asked)


def measure(
    case: Case, spots: Sequence[SamplePoint], asked: list[CapturedStatement], small: set[str]
) -> tuple[list[float], list[float], set[str]]:
    """Of each call the main statement and all of them, in milliseconds; and the tables that were read whole."""
    main, whole, read = [], [], set()
    # What a process remembers, it has read before.
    case.ask(spots[0])
    for spot in spots[:EXPLAIN_COUNT]:
        del asked[:]
        case.ask(spot)
        for statement in list(asked):
            read |= sequential_scans(statement, small)
    for spot in spots:
        del asked[:]
        case.ask(spot)
        main.append(asked[case.main].ms)
        whole.append(sum(each.ms for each in asked))
    return main, whole, read


def compare_words(spots: Sequence[SamplePoint]) -> list[tuple[str, float, float]]:
    """Whole searches by words, beside the same words read as plain text, in turns: the medians in milliseconds."""
    from django.utils import timezone

    from catalogue.search import Query, fetch, query_resolution
    from catalogue.search.restaurant_search import search_restaurants
    from catalogue.search.sql import SearchStatement
    from catalogue.search.text.understanding import Term

    now = timezone.now()

    def understood(query: Query) -> None:
        search_restaurants(query, now=now)

    def plain(query: Query) -> None:
        center = query_resolution.landmarks.find_center(near=None, ll=query.ll, market=None)[1]
        statement = SearchStatement(query=query, center=center, open_at=None, now=now, terms=(Term(str(query.q)),))
        fetch.render_hits(fetch.fetch_rows(statement, limit=query.limit + 1)[: query.limit], now=now, labels=None)

    found = []
    for name, place in (("in 3 km", True), ("anywhere", False)):
        taken: dict[Callable[[Query], None], list[float]] = {understood: [], plain: []}
        for number, spot in enumerate(spots):
            ll = (spot.latitude, spot.longitude) if place else None
            query = Query(q=SEARCH_TERMS[number % len(SEARCH_TERMS)], ll=ll, radius=3_000 if place else None)
            # In turns also who is first: the second finds the pages in the cache.
            for ask, times in list(taken.items())[:: -1 if number // len(SEARCH_TERMS) % 2 else 1]:
                started = time.perf_counter()
                ask(query)
                times.append(1000 * (time.perf_counter() - started))
        # The first calls fill the caches.
        medians = [statistics.median(times[len(SEARCH_TERMS) :]) for times in taken.values()]
        found.append((name, medians[0], medians[1]))
    return found


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--state-dir", type=Path, default=Path(".state"), help="that of the running `manage.py up`")
    parser.add_argument("--times", type=int, default=300, help="calls of each question")
    parser.add_argument("--seed", default="1", help="another one asks at other places")
    words = parser.parse_args()
    os.environ |= {"TABLEWIRE_STATE_DIR": str(words.state_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    places = fetch_all(SAMPLE, words.seed, words.times)
    names = [name for (name,) in fetch_all(LANDMARKS, words.seed, words.times)]
    spots = [
        SamplePoint(latitude, longitude, slug, name, names[number % len(names)])
        for number, (latitude, longitude, slug, name, _) in enumerate(places)
    ]
    small = {name for (name,) in fetch_all(SMALL_TABLES)}
    asked = capture_statements()
    select = measure_reference(asked, "SELECT 1", (), words.times)
    by_key = "SELECT version FROM catalogue_restaurant WHERE id = %s"
    key = measure_reference(asked, by_key, [place[4] for place in places], words.times)
    table = Table("question", "ms", "p95", "of SELECT 1", "of a key", "all, ms", "expected", "within 2x")
    table.add_row("SELECT 1, the reference", f"{select:.2f}", "", "1.0", f"{select / key:.1f}")
    table.add_row("primary key, the reference", f"{key:.2f}", "", f"{key / select:.1f}", "1.0")
    wrong = {}
    for case in cases(random.Random(words.seed)):  # noqa: S311  # reproducible, not secret
        its, whole, read = measure(case, spots, asked, small)
        middle = statistics.median(its)
        own = middle - select
        verdict = "" if case.expected_ms is None else "yes" if own <= 2 * case.expected_ms else "no"
        table.add_row(
            *(case.name, f"{middle:.2f}", f"{statistics.quantiles(its, n=20)[-1]:.2f}"),
            *(f"{middle / select:.1f}", f"{middle / key:.1f}", f"{statistics.median(whole):.2f}"),
            *("" if case.expected_ms is None else str(case.expected_ms), verdict),
        )
        if read:
            wrong[case.name] = read
    Console(width=max(100, Console().width)).print(table)
    slow = False
    for name, ours, plain in compare_words(spots):
        ratio = ours / plain
        slow |= ratio > MAX_WORDS_RATIO
        line = f"words {name}: {ours:.2f} ms, as plain text {plain:.2f} ms: {ratio:.2f} (at most {MAX_WORDS_RATIO})"
        Console().print(line)
    for name, read in wrong.items():
        Console(stderr=True).print(f"{name}: sequential scan of {', '.join(sorted(read))}")
    sys.exit(1 if wrong or slow else 0)


if __name__ == "__main__":
    main()
