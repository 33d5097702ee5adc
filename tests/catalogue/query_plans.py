"""What PostgreSQL does for a statement, where its statistics do not know yet what there is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection, transaction

from tests.support.live_server import database_url


@contextmanager
def unseen() -> Iterator[None]:
    """What is written within is there, and the statistics say that there is nothing.

    So autovacuum leaves them where it looks while a first batch is not committed: no rows count, and their pages do.
    """
    with transaction.atomic():
        yield
        with psycopg.connect(database_url(), autocommit=True) as apart:
            apart.execute("ANALYZE")


@contextmanager
def planned(words: str) -> Iterator[list[dict[str, Any]]]:
    """All parts of the plans, with what they did, of statements that hold these words; each is run twice."""
    found: list[dict[str, Any]] = []

    def explain(execute: Callable[..., Any], sql: str, values: Any, many: bool, context: Any) -> Any:
        if words in sql:
            with connection.connection.cursor() as cursor:
                (((plan,),),) = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values).fetchall()
                found.extend(parts(plan["Plan"]))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(explain):
        yield found


def parts(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from parts(below)
