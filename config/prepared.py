"""Reads that are asked again and again: prepared at the first asking, and without Django's cursor in between."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import OperationalError
from psycopg.pq import Format

Values = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]


def rows(statement: str, values: Values = ()) -> list[Row]:
    """All rows of a statement that only reads, in one round trip.

    PostgreSQL plans it once for all values, so it must be one that a single plan serves. A connection that died while
    nobody asked is replaced, which spares each request the question that Django's health check is. Raises the errors
    of django.db.
    """
    # Looked up once: behind Django's `connection` each attribute is a look-up.
    database = connections[DEFAULT_DB_ALIAS]
    if database.execute_wrappers or database.force_debug_cursor:
        return _counted(database, statement, values)
    with database.wrap_database_errors:
        try:
            return _asked(database, statement, values)
        except OperationalError:
            if database.in_atomic_block or not database.connection.closed:
                raise
        database.close()
        return _asked(database, statement, values)


def row(statement: str, values: Values = ()) -> Row | None:
    """The first row of such a statement, None where it has none."""
    return next(iter(rows(statement, values)), None)


def _asked(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    if database.connection is None:
        database.ensure_connection()
    found: list[Row] = database.connection.execute(statement, values, prepare=True, binary=True).fetchall()
    return found


def _counted(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    """The same by Django's cursor, for those who count statements or look at them."""
    with database.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        found: list[Row] = cursor.fetchall()
    return found
