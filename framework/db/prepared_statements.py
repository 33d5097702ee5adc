"""What is asked again and again: prepared at the first asking, and without Django's cursor in between."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Cursor, OperationalError
from psycopg.pq import Format

Values = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]


def fetch_all(statement: str, values: Values = ()) -> list[Row]:
    """All rows of a statement that only reads, in one round trip.

    PostgreSQL plans it once for all values, so it must be one that a single plan serves. A connection that died while
    nobody asked is replaced, which spares each request the question that Django's health check is. Raises the errors
    of django.db.
    """
    database = _kept.database or _found()
    with database.wrap_database_errors:
        try:
            return _asked(database, statement, values)
        except OperationalError:
            if database.in_atomic_block or not database.connection.closed:
                raise
        database.close()
        return _asked(database, statement, values)


def fetch_one(statement: str, values: Values = ()) -> Row | None:
    """The first row of such a statement, None where it has none."""
    return next(iter(fetch_all(statement, values)), None)


def execute_returning(statement: str, values: Values = ()) -> list[Row]:
    """As `rows` of a statement that writes: asked once, for it may have been done when the connection dies."""
    database = _kept.database or _found()
    with database.wrap_database_errors:
        return _asked(database, statement, values)


def refresh_connection() -> None:
    """Have the connection of this thread closed if it is too old or has failed, and looked at before the ORM asks it.

    What Django does before and after each request, by its signals.
    """
    (_kept.database or _found()).close_if_unusable_or_obsolete()


def use_database(database: BaseDatabaseWrapper) -> None:
    """Have this thread ask that server from now on; the cursor on the other one waits for its turn."""
    _kept.database = database
    _kept.cursor, _kept.other = _kept.other, _kept.cursor


class _Kept(threading.local):
    """What a thread asks by. A cursor that was used before knows how to read the columns that it has read before."""

    # Where Django keeps it a look-up takes a dozen calls.
    database: BaseDatabaseWrapper | None = None
    cursor: Cursor[Row] | None = None
    other: Cursor[Row] | None = None


_kept = _Kept()


def _found() -> BaseDatabaseWrapper:
    _kept.database = connections[DEFAULT_DB_ALIAS]
    return _kept.database


def _asked(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    if database.execute_wrappers or database.force_debug_cursor:
        return _counted(database, statement, values)
    cursor = _kept.cursor
    if cursor is None or cursor.connection is not database.connection:
        database.ensure_connection()
        cursor = _kept.cursor = database.connection.cursor(binary=True)
    return cursor.execute(statement, values, prepare=True).fetchall()


def _counted(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    """The same by Django's cursor, for those who count statements or look at them."""
    with database.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        found: list[Row] = cursor.fetchall()
    return found
