"""Reading the rows of a dataset as the workers of exports do."""

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from catalogue.exports import formats
from catalogue.exports.datasets import Dataset
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.formats import PartReader
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart, Review
from tests.catalogue import builders
from tests.support.live_server import database_url

UNUSUAL_TEXTS = (
    "two\nlines and\r\nmore",
    'quotes "inside", and commas',
    '"quoted"',
    "emoji 🍣👩‍🍳 and 𠮷野家",
    "עברית مرحبا \u202ertl\u202c",
    "\\N",
    "\\.",
    "=cmd|' /C calc'!A0",
    "tab\tand \x01 and \x02 and \x7f",
    " leading and trailing ",
    "null",
    "",
    "é" * 5_000,
)


def unusual_reviews() -> list[Review]:
    """Reviews with all that may stand in one."""
    place = builders.restaurant()
    for text in UNUSUAL_TEXTS:
        builders.review(place, text)
    builders.review(
        place,
        "With all",
        visited_on=date(2026, 2, 28),
        owner_reply="",
        owner_replied_at=datetime(2026, 3, 1, 12, 30, 15, 123456, UTC),
    )
    return list(Review.objects.select_related("restaurant").order_by("pk"))


@contextmanager
def reading(dataset: Dataset, *, kind: str = "rows", at: str | None = None, **changed: Any) -> Iterator[PartReader]:
    """All rows of a dataset, in a snapshot of their own."""
    export = Export(dataset="reviews")
    response = query_parameters(export, ExportPart(export=export)) | changed.pop("parameters", {})
    with closing(psycopg.connect(at or conninfo(), autocommit=True)) as apart:
        apart.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        ((name,),) = apart.execute("SELECT pg_export_snapshot()")
        yield PartReader(
            dataset=dataset,
            parameters=response,
            connection=apart,
            snapshot=name,
            **{"heartbeat": lambda: None, "kind": kind, **changed},
        )


def conninfo() -> str:
    """The tests' database."""
    return make_conninfo(database_url(), options="-c timezone=UTC")


def written(read: PartReader, kind: str) -> tuple[int, bytes]:
    """How many rows a writer counts, and the file."""
    place = f"ex_test/1-1.{kind}"
    with files.open_draft(place) as draft:
        count = formats.get_writer(Export(format=kind))(read, draft)
        draft.publish(place)
    with files.storage().open(place) as stored:
        content: bytes = stored.read()
    assert (draft.size, draft.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    return count, content
