"""A batch of the plan as lines for COPY. No Django and no database, so that it runs in processes of its own."""

import hashlib
import multiprocessing
import random
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

import orjson

from catalogue.demo import photos, reviews
from catalogue.demo.ids import ids
from catalogue.demo.places import Builder, Change, Place
from catalogue.demo.plan import Batch, World
from catalogue.demo.reviews import Written

# Stands in a restaurant's line where its slug goes, which only the database can tell to be free.
SLUG = "\x01"
NULL = "\\N"

RESTAURANT_COLUMNS = (
    "id", "slug", "name", "alt_names", "status", "market_id", "neighborhood", "line1", "locality", "region",
    "postal_code", "country", "latitude", "longitude", "phone", "phone_verified_at", "website", "rating",
    "review_count", "star_counts", "review_facets", "price_level", "cuisine_id", "cuisines", "hours", "attributes",
    "external_ids", "verified_at", "created_at", "updated_at", "version",
)  # fmt: skip
RECORD_COLUMNS = ("restaurant_id", "source_id", "record", "digest", "fields", "updated_at")
CHANGE_COLUMNS = ("restaurant_id", "kind", "patch")

FIELDS = "{name,address,location,phone,website,cuisines,hours,price_level,attributes,reviews}"


@dataclass(frozen=True)
class Rows:
    """Lines of the tables; `names` are what the slugs are made of: (name, neighborhood) of each restaurant."""

    ids: list[str]
    names: list[tuple[str, str | None]]
    restaurants: list[str]
    records: str
    changes: str
    reviews: str
    review_count: int
    photos: str
    photo_count: int


def write(world: World, batch: Batch) -> Rows:
    """Generate a batch: the same for the same world and batch, whichever batches were made before."""
    rng = random.Random(f"{world.seed}/{batch.number}/{batch.market}")  # noqa: S311 reproducible, not secret
    # Numbers of its own, so that what is photographed does not change what is written.
    camera = random.Random(f"{world.seed}/{batch.number}/photos")  # noqa: S311 reproducible, not secret
    builder = Builder(world.markets[batch.market], today=world.today)
    pks = list(ids(rng, batch.first, len(batch.reviews)))
    names: list[tuple[str, str | None]] = []
    restaurants: list[str] = []
    records: list[str] = []
    changes: list[str] = []
    review_lines: list[str] = []
    photo_lines: list[str] = []
    for number, pk in enumerate(pks, start=batch.first):
        place = builder.place(rng)
        written = reviews.write(
            rng,
            camera,
            place,
            restaurant_id=pk,
            count=batch.reviews[number - batch.first],
            number=batch.first_review + len(review_lines),
            city=builder.city,
            calendar=builder.calendar,
        )
        line = _restaurant(pk, place, written, builder)
        names.append((place.name, place.neighborhood))
        restaurants.append(line)
        records.append(
            _record(pk, f"{world.seed}-{number}", line, at=f"{builder.calendar.dates[place.changed]} 03:00+00")
        )
        if place.change:
            changes.append(_change(pk, place.change))
        review_lines += written.lines
        photo_lines += photos.write(
            camera,
            place,
            restaurant_id=pk,
            number=number,
            review_count=written.count,
            taken=written.taken,
            city=builder.city,
            calendar=builder.calendar,
        )
    return Rows(
        ids=pks,
        names=names,
        restaurants=restaurants,
        records="".join(records),
        changes="".join(changes),
        reviews="".join(review_lines),
        review_count=len(review_lines),
        photos="".join(photo_lines),
        photo_count=len(photo_lines),
    )


def write_all(world: World, batches: Sequence[Batch], *, processes: int) -> Generator[Rows]:
    """The rows of all batches in their order, made by so many processes beside this one, or here when that is 0.

    A process waits with each batch until it is taken, so few are in memory; all end with the iteration.
    """
    if not processes:
        yield from (write(world, batch) for batch in batches)
        return
    context = multiprocessing.get_context("spawn")
    with ExitStack() as running:
        workers = []
        for start in range(processes):
            here, there = context.Pipe(duplex=False)
            worker = context.Process(target=_work, args=(there, world, batches[start::processes]), daemon=True)
            worker.start()
            running.callback(_end, worker)
            # Only the child holds the writing end: when it dies, reading here fails instead of waiting for ever.
            there.close()
            workers.append(running.enter_context(here))
        for index in range(len(batches)):
            yield workers[index % processes].recv()


def _work(pipe: Connection, world: World, batches: Sequence[Batch]) -> None:
    try:
        for batch in batches:
            pipe.send(write(world, batch))
    except (BrokenPipeError, KeyboardInterrupt):
        # Nobody reads any more.
        return


def _end(worker: SpawnProcess) -> None:
    worker.terminate()
    worker.join()


def _restaurant(pk: str, place: Place, written: Written, builder: Builder) -> str:
    dates = builder.calendar.dates
    verified_at = NULL if place.verified is None else f"{dates[place.verified]} 09:00+00"
    columns = (
        pk,
        SLUG,
        place.name,
        f'{{"{place.native_name}"}}' if place.native_name else "{}",
        place.status,
        builder.market.slug,
        place.neighborhood or NULL,
        place.line1,
        place.locality,
        place.region or NULL,
        place.postal_code or NULL,
        builder.market.country,
        str(place.latitude),
        str(place.longitude),
        place.phone or NULL,
        verified_at if place.is_phone_verified and place.phone else NULL,
        f"https://{SLUG}.example" if place.has_website else NULL,
        written.rating or NULL,
        str(written.count),
        f"{{{','.join(map(str, written.star_counts))}}}",
        orjson.dumps(written.facets).decode(),
        NULL if place.price_level is None else str(place.price_level),
        place.cuisine.slug,
        f"{{{','.join(place.cuisines)}}}",
        place.hours or NULL,
        orjson.dumps(place.attributes).decode(),
        "{}",
        verified_at,
        f"{dates[place.since]} 00:00+00",
        f"{dates[place.changed]} 03:00+00",
        "2" if place.change else "1",
    )
    return "\t".join(columns) + "\n"


def _record(pk: str, record: str, line: str, *, at: str) -> str:
    digest = hashlib.sha256(line.encode()).hexdigest()
    return f"{pk}\tdemo\t{record}\t{digest}\t{FIELDS}\t{at}\n"


def _change(pk: str, change: Change) -> str:
    return f"{pk}\t{change.kind}\t{orjson.dumps(change.patch).decode()}\n"
