"""Generated rows into the database: by COPY, all of them or none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date

from django.db import connection, transaction

from catalogue import slugs
from catalogue.demo import batches
from catalogue.demo.plan import Anchor, Market, World, plan
from catalogue.demo.reviews import COLUMNS as REVIEW_COLUMNS
from catalogue.models import Landmark, SourceRecord
from catalogue.models import Market as MarketRow

SOURCE = "demo"
# From here on `in_bulk` pays.
LARGE = 20_000
PROCESSES = 2
LOCK = 7_237_140_431
TABLES = ("catalogue_restaurant", "catalogue_review", "catalogue_sourcerecord", "catalogue_flowrule")

FOREIGN_KEYS = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY(%s::regclass[]) ORDER BY conname
"""
INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
FROM pg_index WHERE indrelid = ANY(%s::regclass[]) AND NOT indisunique ORDER BY 1
"""

OnBatch = Callable[[int, int], None]


class AlreadyLoadedError(Exception):
    """The rows of this seed are in the database."""


@dataclass(frozen=True)
class Loaded:
    """How many rows a run added."""

    restaurants: int = 0
    reviews: int = 0
    rules: int = 0


def is_loaded() -> bool:
    """Whether any generated restaurant exists."""
    return SourceRecord.objects.filter(source=SOURCE).exists()


def load(
    *,
    restaurants: int,
    reviews: int,
    seed: int,
    today: date,
    offers: bool,
    if_empty: bool,
    in_bulk: bool,
    on_batch: OnBatch = lambda restaurants, reviews: None,
) -> Loaded:
    """Generate and store in one transaction; the dictionaries have to be loaded.

    A second run waits for the first. With `if_empty` it then adds nothing. `in_bulk` is for LARGE numbers: two
    processes generate, indexes are built after the rows, and nobody else can use the tables until it is done; the
    rows are the same. `on_batch` hears how many rows a batch added.
    Raises AlreadyLoadedError when this seed's rows exist.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL lock_timeout = 0")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        if if_empty and is_loaded():
            return Loaded()
        if SourceRecord.objects.filter(source=SOURCE, record__startswith=f"{seed}-").exists():
            raise AlreadyLoadedError
        world = _world(seed, today)
        wanted = plan(world, restaurants=restaurants, reviews=reviews)
        rows = batches.write_all(world, wanted, processes=PROCESSES if in_bulk else 0)
        with _rebuilt(TABLES) if in_bulk else nullcontext(), closing(rows):
            return _copy(rows, offers=offers, on_batch=on_batch)


def _world(seed: int, today: date) -> World:
    anchors: dict[str, list[Anchor]] = {}
    for landmark in Landmark.objects.filter(source="tablewire").exclude(kind="city").order_by("pk"):
        is_neighborhood = landmark.kind == Landmark.Kind.NEIGHBORHOOD
        anchors.setdefault(str(landmark.market_id), []).append(
            Anchor(
                name=landmark.name,
                is_neighborhood=is_neighborhood,
                latitude=landmark.latitude,
                longitude=landmark.longitude,
                # A neighbourhood feeds more people than a sight of the same fame.
                weight=landmark.prominence * (4 if is_neighborhood else 1),
            )
        )
    return World(
        seed=seed,
        today=today,
        markets={
            market.slug: Market(market.slug, market.name, market.country, market.timezone, tuple(anchors[market.slug]))
            for market in MarketRow.objects.filter(slug__in=anchors)
        },
    )


def _copy(made: Iterable[batches.Rows], *, offers: bool, on_batch: OnBatch) -> Loaded:
    total = Loaded()
    for rows in made:
        free = slugs.free(rows.names)
        restaurants = [line.replace(batches.SLUG, slug) for line, slug in zip(rows.restaurants, free, strict=True)]
        _copy_into("catalogue_restaurant", batches.RESTAURANT_COLUMNS, "".join(restaurants))
        _copy_into("catalogue_sourcerecord", batches.RECORD_COLUMNS, rows.records)
        _copy_into("catalogue_review", REVIEW_COLUMNS, rows.reviews)
        rules = rows.rules if offers else []
        _copy_into("catalogue_flowrule", batches.RULE_COLUMNS, "".join(rules))
        total = Loaded(
            total.restaurants + len(restaurants), total.reviews + rows.review_count, total.rules + len(rules)
        )
        on_batch(len(restaurants), rows.review_count)
    return total


def _copy_into(table: str, columns: Sequence[str], lines: str) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        copy.write(lines)


@contextmanager
def _rebuilt(tables: Sequence[str]) -> Iterator[None]:
    """Take foreign keys and plain indexes off these tables, and put them back after the rows.

    Checking 15 million references and adding to a dozen indexes row by row takes longer than both at once. All in
    the transaction of the caller, so a failure leaves the tables as they were.
    """
    with connection.cursor() as cursor:
        cursor.execute(FOREIGN_KEYS, [list(tables)])
        foreign_keys = cursor.fetchall()
        cursor.execute(INDEXES, [list(tables)])
        indexes = cursor.fetchall()
        for table, name, _ in foreign_keys:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
        for _, definition in indexes:
            cursor.execute(definition)
        for table, name, definition in foreign_keys:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        cursor.execute(f"ANALYZE {', '.join(tables)}")
