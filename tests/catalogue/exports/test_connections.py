"""What writes files reads by connections of its own: wherever ours gets, and none is left over."""

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
from django.db import connection
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pytest_django import Settings

from catalogue.exports.datasets import Column, reviews
from catalogue.models import Review
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.dataset_reader import conninfo, reading, unusual_reviews, written
from tests.catalogue.exports.worker_processes import are_all_closed, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

FORMATS = ("jsonl.gz", "csv.gz", "parquet")


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def reviews_in_database() -> list[Review]:
    """Reviews with all that may stand in one."""
    return unusual_reviews()


ODD = "p'a\"ss \\wörd=&%/@"


@pytest.fixture
def odd_role() -> Iterator[str]:
    """A role with a password that wants quoting."""
    with connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS odd_reader")
        with psycopg.connect(conninfo()) as plain:
            plain.execute(sql.SQL("CREATE ROLE odd_reader LOGIN PASSWORD {}").format(ODD))
        cursor.execute("GRANT pg_read_all_data TO odd_reader")
        yield "odd_reader"
        cursor.execute("DROP OWNED BY odd_reader; DROP ROLE odd_reader")


@pytest.mark.exhaustive
def test_parquet_is_read_wherever_a_connection_of_ours_gets(reviews_in_database: list[Review], odd_role: str) -> None:
    way = conninfo_to_dict(conninfo())
    at = make_conninfo(
        dbname=way["dbname"],
        user=odd_role,
        password=ODD,
        # The first of them answers nobody.
        host="127.0.0.1,127.0.0.1",
        port=f"1,{way['port']}",
        sslmode="prefer",
        connect_timeout="2",
        target_session_attrs="read-write",
        options="-c statement_timeout=5000 -c datestyle=SQL,DMY -c timezone=Asia/Tokyo -c lock_timeout=3000",
    )
    columns = tuple(
        Column(name, f"current_setting('{name}')", "string")
        for name in ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout", "timezone")
    )
    who = (Column("who", "current_user::text", "string"), Column("day", "review.visited_on", "date or null"))
    with reading(replace(reviews.DATASET, columns=(*columns, *who)), at=at) as read:
        _, content = written(read, "parquet")
        _, lines = written(replace(read, dataset=reviews.DATASET), "jsonl.gz")
        # As Django puts itself in a role, where its settings say so.
        read.connection.execute("SET LOCAL ROLE pg_read_all_data")
        _, as_role = written(read, "parquet")
    row = pq.read_table(io.BytesIO(content)).to_pylist()[-1]
    assert tuple(row.values()) == ("80s", "80s", "3s", "UTC", "odd_reader", date(2026, 2, 28))
    assert export_builders.parse_lines(lines)[-1]["visited_on"] == "2026-02-28"
    assert pq.read_table(io.BytesIO(as_role)).to_pylist()[-1]["who"] == "pg_read_all_data"


class OtherHandsError(Exception):
    """Of the tests."""


@pytest.mark.exhaustive
def test_a_reading_that_breaks_is_an_error_of_the_database_and_leaves_neither_connection_nor_file(
    reviews_in_database: list[Review], folder: Path
) -> None:
    broken = (Column("broken", "1 / (review.stars - 5)", "integer"),)
    unknown = (Column("broken", "review.nothing", "integer"),)
    for columns in (broken, unknown):
        for kind in ("parquet", "csv.gz"):
            with reading(replace(reviews.DATASET, columns=columns)) as read, pytest.raises(psycopg.Error):
                written(read, kind)

    def lost() -> None:
        raise OtherHandsError

    for kind in FORMATS:
        with reading(reviews.DATASET, heartbeat=lost) as read, pytest.raises(OtherHandsError):
            written(read, kind)
    assert export_builders.list_stored(folder) == set()
    wait_until(are_all_closed)
