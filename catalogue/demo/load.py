"""Load generated rows into the database with COPY, in one transaction."""

from collections.abc import Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db import connection, transaction

from catalogue.demo import copy_rows
from catalogue.demo.photos import COLUMNS as PHOTO_COLUMNS
from catalogue.demo.plan import Anchor, Market, World, plan_batches
from catalogue.demo.reviews import COLUMNS as REVIEW_COLUMNS
from catalogue.history import publish
from catalogue.models import Landmark, SourceRecord
from catalogue.models import Market as MarketRow
from catalogue.places import slugs
from catalogue.read_model import bulk_load, rebuild
from framework.cli.progress import OnProgress, no_progress
from framework.db.locks import AdvisoryLock
from framework.db.sql_files import read_sql

SOURCE = "demo"
# Number of restaurants from which on `in_bulk` is faster.
MIN_BULK = 20_000
PROCESSES = 2
LOAD_LOCK = AdvisoryLock("demo data")
TABLES = tuple(f"catalogue_{table}" for table in ("restaurant", "review", "sourcerecord", "photo", "version"))
RENDER_BATCH_SIZE = 500

# Changes of restaurants after their creation, from which their versions are made.
CREATE_CHANGES = "CREATE TEMPORARY TABLE demo_change (restaurant_id uuid, kind text, patch jsonb) ON COMMIT DROP"
INSERT_VERSIONS = read_sql("catalogue", "insert_demo_versions")


class SeedAlreadyLoaded(Exception):
    """The rows of this seed are already in the database."""


@dataclass(frozen=True)
class LoadedRows:
    restaurants: int = 0
    reviews: int = 0
    photos: int = 0


def load_rows(
    *,
    restaurants: int,
    reviews: int,
    seed: int,
    today: date,
    if_empty: bool,
    in_bulk: bool,
    on_step: OnProgress = no_progress,
) -> LoadedRows:
    """Generate and store rows in one transaction. The dictionaries must be loaded.

    Concurrent runs wait for each other; the later one adds nothing with `if_empty`. Other transactions cannot write
    the tables until this one ends. `in_bulk` is for MIN_BULK restaurants or more: two processes generate the rows,
    indexes are built after them, and other transactions cannot read the tables either. The rows are the same.
    Raises SeedAlreadyLoaded.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        bulk_load.disable_timeouts()
        LOAD_LOCK.acquire()
        generated = SourceRecord.objects.filter(source=SOURCE)
        if if_empty and generated.exists():
            return LoadedRows()
        if generated.filter(record__startswith=f"{seed}-").exists():
            raise SeedAlreadyLoaded
        world = _load_world(seed, today)
        planned = plan_batches(world, restaurants=restaurants, reviews=reviews)
        rows = copy_rows.generate_batches(world, planned, processes=PROCESSES if in_bulk else 0)
        # Lock all tables at once, before any work, so that a deadlock costs nothing.
        cursor.execute(f"LOCK TABLE {', '.join(rebuild.TABLES + TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(CREATE_CHANGES)
        with (
            bulk_load.triggers_disabled(TABLES),
            bulk_load.indexes_dropped(TABLES, on_step=on_step) if in_bulk else nullcontext(),
        ):
            with closing(rows):
                loaded, ids = _copy_rows(rows, restaurants=restaurants, on_step=on_step)
            # One transaction at a time assigns positions in the feed of changes.
            publish.FEED_LOCK.acquire()
            cursor.execute(INSERT_VERSIONS, [f"{seed}-%"])
            cursor.execute("DROP TABLE demo_change")
        if in_bulk:
            rebuild.rebuild_read_model(on_step=on_step)
        else:
            for start in range(0, len(ids), RENDER_BATCH_SIZE):
                end = min(start + RENDER_BATCH_SIZE, len(ids))
                rebuild.render_restaurants(ids[start:end])
                on_step("rendered restaurants", end, len(ids))
        return loaded


def _load_world(seed: int, today: date) -> World:
    anchors: dict[str, list[Anchor]] = {}
    for landmark in Landmark.objects.filter(source="tablewire").exclude(kind__in=["city", "hotel"]).order_by("pk"):
        is_neighborhood = landmark.kind == Landmark.Kind.NEIGHBORHOOD
        anchors.setdefault(str(landmark.market_id), []).append(
            Anchor(
                name=landmark.name,
                is_neighborhood=is_neighborhood,
                latitude=landmark.latitude,
                longitude=landmark.longitude,
                # A neighbourhood has more restaurants than a sight of the same prominence.
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


def _copy_rows(
    batch_rows: Iterable[copy_rows.Rows], *, restaurants: int, on_step: OnProgress
) -> tuple[LoadedRows, list[UUID]]:
    """Store the rows. Returns their numbers and the ids of the restaurants."""
    total = LoadedRows()
    ids: list[UUID] = []
    for rows in batch_rows:
        free_slugs = slugs.allocate_slugs(rows.names)
        lines = [line.replace(copy_rows.SLUG, slug) for line, slug in zip(rows.restaurants, free_slugs, strict=True)]
        _copy_into("catalogue_restaurant", copy_rows.RESTAURANT_COLUMNS, "".join(lines))
        _copy_into("catalogue_sourcerecord", copy_rows.RECORD_COLUMNS, rows.records)
        _copy_into("catalogue_review", REVIEW_COLUMNS, rows.reviews)
        _copy_into("catalogue_photo", PHOTO_COLUMNS, rows.photos)
        _copy_into("demo_change", copy_rows.CHANGE_COLUMNS, rows.changes)
        total = LoadedRows(
            total.restaurants + len(lines), total.reviews + rows.review_count, total.photos + rows.photo_count
        )
        ids += map(UUID, rows.ids)
        on_step("restaurants", total.restaurants, restaurants)
    return total, ids


def _copy_into(table: str, columns: Sequence[str], lines: str) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        copy.write(lines)
