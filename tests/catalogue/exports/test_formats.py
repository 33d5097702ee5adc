"""What the files of exports hold, as readers find it that we did not write."""

import csv
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from catalogue.exports.datasets import DATASETS, Column, restaurants, reviews
from catalogue.exports.formats import columns
from catalogue.models import Export, Review
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.dataset_reader import reading, unusual_reviews, written
from tests.support.live_server import database_url

pytestmark = pytest.mark.django_db(transaction=True)

FORMATS = ("jsonl.gz", "csv.gz", "parquet")
WORDS = {"string", "integer", "number", "boolean", "date", "timestamp"}


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def stored_reviews() -> list[Review]:
    """Reviews with all that may stand in one."""
    return unusual_reviews()


def file_of(content: bytes, folder: Path, kind: str) -> str:
    """The file where DuckDB finds it."""
    path = folder.parent / f"read.{kind}"
    path.write_bytes(content)
    return str(path)


def asked_of_duckdb(statement: str, path: str) -> list[tuple[Any, ...]]:
    """What DuckDB answers; the path is a parameter."""
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        found: list[tuple[Any, ...]] = duck.execute(statement, [path]).fetchall()
        return found


def public_id(review: Review) -> str:
    """As the API has it."""
    return encode("rev", review.pk)


def moment(at: datetime | None) -> str | None:
    """As the API says it."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None


@pytest.mark.exhaustive
def test_lines_of_json_hold_exactly_what_the_database_does(stored_reviews: list[Review], folder: Path) -> None:
    with reading(reviews.DATASET) as read:
        count, content = written(read, "jsonl.gz")
    rows = [json.loads(line) for line in gzip.decompress(content).split(b"\n")[:-1]]
    assert count == len(rows) == len(stored_reviews)
    for row, review in zip(rows, stored_reviews, strict=True):
        assert row["text"] == review.text
        assert row["restaurant"] == review.restaurant.slug
        assert (row["id"], row["stars"], row["lang"]) == (public_id(review), 5, review.lang or None)
        assert row["visited_on"] == (review.visited_on and str(review.visited_on))
        assert row["created_at"] == moment(review.created_at)
        reply = {"text": "", "created_at": "2026-03-01T12:30:15Z"} if review.visited_on else None
        assert row["owner_reply"] == reply
    ducks = asked_of_duckdb(
        "SELECT text, stars, lang FROM read_json(?, format = 'newline_delimited', maximum_object_size = 1000000)",
        file_of(content, folder, "jsonl.gz"),
    )
    assert ducks == [(review.text, 5, review.lang or None) for review in stored_reviews]


@pytest.mark.exhaustive
def test_csv_holds_exactly_what_the_database_does_and_tells_null_from_empty(
    stored_reviews: list[Review], folder: Path
) -> None:
    with reading(reviews.DATASET) as read:
        count, content = written(read, "csv.gz")
    text = gzip.decompress(content).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == [column.name for column in reviews.DATASET.columns]
    assert [row["text"] for row in rows] == [review.text for review in stored_reviews]
    assert [row["created_at"] for row in rows] == [moment(review.created_at) for review in stored_reviews]
    assert (rows[-1]["visited_on"], rows[-1]["owner_replied_at"]) == ("2026-02-28", "2026-03-01T12:30:15Z")
    assert count == len(rows) == len(stored_reviews)
    ducks = asked_of_duckdb(
        "SELECT text, stars, lang, owner_reply, visited_on, owner_replied_at FROM read_csv(?, header = true,"
        " new_line = '\\n', all_varchar = true, quote = '\"', escape = '\"', allow_quoted_nulls = false,"
        " strict_mode = false, max_line_size = 1000000)",
        file_of(content, folder, "csv.gz"),
    )
    assert ducks == [
        (
            review.text,
            "5",
            review.lang or None,
            review.owner_reply,
            review.visited_on and "2026-02-28",
            review.visited_on and "2026-03-01T12:30:15Z",
        )
        for review in stored_reviews
    ]


@pytest.mark.exhaustive
def test_parquet_holds_exactly_what_the_database_does_with_its_types(
    stored_reviews: list[Review], folder: Path
) -> None:
    with reading(reviews.DATASET) as read:
        count, content = written(read, "parquet")
    table = pq.read_table(io.BytesIO(content))
    kinds = dict(zip(table.schema.names, table.schema.types, strict=True))
    assert (kinds["text"], kinds["stars"], kinds["visited_on"]) == (pa.string(), pa.int64(), pa.date32())
    assert kinds["created_at"] == pa.timestamp("us", tz="UTC")
    rows = table.to_pylist()
    assert count == len(rows) == len(stored_reviews)
    for row, review in zip(rows, stored_reviews, strict=True):
        assert (row["text"], row["lang"], row["owner_reply"]) == (review.text, review.lang or None, review.owner_reply)
        assert (row["visited_on"], row["owner_replied_at"]) == (review.visited_on, review.owner_replied_at)
        assert (row["created_at"], row["stars"], row["id"]) == (review.created_at, 5, public_id(review))
    ducks = asked_of_duckdb(
        "SELECT text, stars, lang, visited_on, epoch_us(owner_replied_at) FROM read_parquet(?)",
        file_of(content, folder, "parquet"),
    )
    assert ducks == [
        (review.text, 5, review.lang or None, review.visited_on, review.visited_on and 1_772_368_215_123_456)
        for review in stored_reviews
    ]


@pytest.mark.exhaustive
def test_a_part_in_parquet_is_one_group_of_rows_with_statistics_and_names_no_moment(
    stored_reviews: list[Review],
) -> None:
    with reading(reviews.DATASET) as read:
        _, content = written(read, "parquet")
    whole = pq.read_metadata(io.BytesIO(content))
    assert (whole.num_row_groups, whole.num_rows) == (1, len(stored_reviews))
    assert whole.created_by.startswith("parquet-cpp-arrow version ")
    assert set(whole.metadata) == {b"ARROW:schema", b"licence"}
    group = whole.row_group(0)
    columns = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert columns["created_at"].statistics.min == stored_reviews[0].created_at
    assert columns["visited_on"].statistics.null_count == len(stored_reviews) - 1


# Types of each kind, by which flat columns of any dataset can be told.
MANY = (
    Column("id", "restaurant.id::text", "string"),
    Column("short", "7::smallint", "integer"),
    Column("exact", "3.25::numeric", "number"),
    Column("yes", "true", "boolean"),
    Column("no", "restaurant.slug IS NULL", "boolean or null"),
    Column("none", "NULL", "timestamp or null"),
    Column("names", "ARRAY['a \"b\", c', '', NULL, 'é🍣']", "array of string"),
    Column("numbers", "ARRAY[1, 2]::smallint[]", "array of integer"),
    Column("no_rows", "'{}'::text[]", "array of string"),
    Column("nowhere", "NULL", "array of string or null"),
)


@pytest.mark.exhaustive
def test_values_of_every_type_are_what_they_are_in_each_format(folder: Path) -> None:
    place = builders.restaurant()
    dataset = replace(restaurants.DATASET, columns=MANY)
    with reading(dataset) as read:
        _, lines = written(read, "csv.gz")
        _, content = written(read, "parquet")
    names, values = csv.reader(io.StringIO(gzip.decompress(lines).decode(), newline=""))
    assert names == [column.name for column in MANY]
    assert values[:6] == [str(place.pk), "7", "3.25", "true", "false", ""]
    assert [json.loads(value) for value in values[6:9]] == [['a "b", c', "", None, "é🍣"], [1, 2], []]
    assert values[9] == ""
    expected: tuple[Any, ...] = (
        str(place.pk),
        7,
        3.25,
        True,
        False,
        None,
        ['a "b", c', "", None, "é🍣"],
        [1, 2],
        [],
        None,
    )
    table = pq.read_table(io.BytesIO(content))
    assert [tuple(row.values()) for row in table.to_pylist()] == [expected]
    assert table.schema.types[5:] == [
        pa.timestamp("us", tz="UTC"),
        *(pa.list_(pa.string()), pa.list_(pa.int64()), pa.list_(pa.string()), pa.list_(pa.string())),
    ]
    assert asked_of_duckdb("FROM read_parquet(?)", file_of(content, folder, "parquet")) == [expected]


@pytest.mark.exhaustive
def test_what_sql_cannot_say_is_put_into_each_format(folder: Path) -> None:
    builders.restaurant(name="Fisk")
    many: dict[str, Callable[[Any], Any]] = {
        "name": str.upper,
        "hours": lambda value: {"wrapped": value},
    }
    dataset = replace(
        restaurants.DATASET,
        columns=(
            Column("slug", "restaurant.slug", "string"),
            Column("name", "restaurant.name", "string"),
            Column("hours", "'[1, \"a\"]'", "string"),
            Column("empty", "''", "string"),
            Column("none", "NULL::timestamptz", "timestamp or null"),
            Column("quoted", "'a \"b\", c' || chr(10)", "string"),
        ),
        transforms=many,
    )
    with reading(dataset) as read:
        count, lines = written(read, "jsonl.gz")
        _, table = written(read, "csv.gz")
        _, parquet = written(read, "parquet")
    (row,) = export_builders.parse_lines(lines)
    assert (count, row["name"], set(row["hours"])) == (1, "FISK", {"wrapped"})
    assert gzip.decompress(table).decode() == (
        f'slug,name,hours,empty,none,quoted\n{row["slug"]},FISK,"{{""wrapped"":[1,""a""]}}","",,"a ""b"", c\n"\n'
    )
    (flat,) = pq.read_table(io.BytesIO(parquet)).to_pylist()
    assert (flat["name"], flat["hours"], flat["quoted"]) == ("FISK", '{"wrapped":[1,"a"]}', 'a "b", c\n')


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(Export.Dataset.values))
def test_every_column_is_of_a_type_that_each_format_knows_and_files_without_rows_have_them_all(name: str) -> None:
    dataset = DATASETS[name]
    assert {columns.item_type(column.type) for column in dataset.columns} <= WORDS
    with reading(dataset) as read:
        empty = [written(read, kind) for kind in FORMATS]
    assert [count for count, _ in empty] == [0, 0, 0]
    assert gzip.decompress(empty[0][1]) == b""
    names = [column.name for column in dataset.columns]
    assert gzip.decompress(empty[1][1]).decode() == ",".join(names) + "\n"
    assert pq.read_schema(io.BytesIO(empty[2][1])).names == names


@pytest.mark.exhaustive
def test_files_of_an_export_have_one_schema_with_rows_or_without(stored_reviews: list[Review], folder: Path) -> None:
    no_rows = {"market": "nowhere"}
    with reading(reviews.DATASET) as read, reading(reviews.DATASET, parameters=no_rows) as read_no_rows:
        one = pq.read_schema(io.BytesIO(written(read, "parquet")[1]))
        count, content = written(read_no_rows, "parquet")
    assert count == 0
    assert one.equals(pq.read_schema(io.BytesIO(content)), check_metadata=True)
    assert asked_of_duckdb("SELECT count(*) FROM read_parquet(?)", file_of(content, folder, "parquet")) == [(0,)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS)
def test_ids_of_what_is_gone_are_files_of_their_own_shape(kind: str, folder: Path) -> None:
    gone = (
        "SELECT * FROM (VALUES ('rev_1', timestamptz '2026-03-01T12:30:15.5Z'), ('rev_2', now())) AS x(id, removed_at)"
    )
    with reading(replace(reviews.DATASET, removed=gone), kind="removed") as read:
        count, content = written(read, kind)
    assert count == 2
    if kind == "parquet":
        table = pq.read_table(io.BytesIO(content))
        assert table.schema.types == [pa.string(), pa.timestamp("us", tz="UTC")]
        found = table.to_pylist()[0]
        assert found == {"id": "rev_1", "removed_at": datetime(2026, 3, 1, 12, 30, 15, 500_000, UTC)}
        return
    text = gzip.decompress(content).decode()
    first = json.loads(text.splitlines()[0]) if kind == "jsonl.gz" else next(csv.DictReader(io.StringIO(text)))
    assert first == {"id": "rev_1", "removed_at": "2026-03-01T12:30:15Z"}


WRITE = """
import django
django.setup()
from django.db import connection, transaction
from catalogue.exports import formats
from catalogue.exports.datasets import DATASETS
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.storage import files
from catalogue.models import Export
with transaction.atomic():
    for kind in ("jsonl.gz", "csv.gz", "parquet"):
        with connection.cursor() as cursor, files.open_draft("ex_test/file") as draft:
            cursor.execute("SELECT pg_export_snapshot()")
            formats.get_writer(Export(format=kind))(
                formats.PartReader(
                    dataset=DATASETS["reviews"],
                    parameters=query_parameters(Export(dataset="reviews")),
                    connection=connection.connection,
                    snapshot=cursor.fetchone()[0],
                    heartbeat=lambda: None,
                ),
                draft,
            )
            print(draft.sha256)
"""


@pytest.mark.stack
def test_equal_rows_make_equal_files_any_worker_writes_them_and_when(
    stored_reviews: list[Review], tmp_path: Path
) -> None:
    with reading(reviews.DATASET) as read:
        contents = [written(read, kind)[1] for kind in FORMATS]
    for content in contents[:2]:
        # No name in the header, and no time.
        assert (content[3], content[4:8]) == (0, b"\0\0\0\0")
    other_process = subprocess.run(
        [sys.executable, "-c", WRITE],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database_url(),
            "EXPORTS_DIR": str(tmp_path / "other"),
            "PYTHONHASHSEED": "7",
        },
        cwd=django_settings.BASE_DIR,
        capture_output=True,
        check=False,
        text=True,
    )
    assert other_process.returncode == 0, other_process.stderr
    assert other_process.stdout.split() == [hashlib.sha256(content).hexdigest() for content in contents]
