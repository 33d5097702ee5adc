"""Prepared statements on a psycopg cursor of the thread, for queries that every request makes.

They skip Django's cursor and its health check of the connection.
"""

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
    """All rows of a read-only statement, in one round trip.

    PostgreSQL plans it once for all values, so one plan must suit all. If the idle connection has died, the statement
    is repeated on a new one, so no health check is needed. Raises the errors of django.db.
    """
    database = _state.database or _connect()
    with database.wrap_database_errors:
        try:
            return _execute(database, statement, values)
        except OperationalError:
            if database.in_atomic_block or not database.connection.closed:
                raise
        database.close()
        return _execute(database, statement, values)


def fetch_one(statement: str, values: Values = ()) -> Row | None:
    """The first row of a read-only statement, or None."""
    return next(iter(fetch_all(statement, values)), None)


def execute_returning(statement: str, values: Values = ()) -> list[Row]:
    """The rows of a statement that writes. It runs once: it may have been executed when the connection dies."""
    database = _state.database or _connect()
    with database.wrap_database_errors:
        return _execute(database, statement, values)


def refresh_connection() -> None:
    """Close the connection of this thread if it is too old or has failed, as Django's request signals do."""
    (_state.database or _connect()).close_if_unusable_or_obsolete()


def use_database(database: BaseDatabaseWrapper) -> None:
    """Use this database in this thread from now on; the cursor of the previous one is stored for the next switch."""
    _state.database = database
    _state.cursor, _state.other = _state.other, _state.cursor


class _ThreadState(threading.local):
    """The connection and cursors of a thread. A reused cursor has its type loaders set up."""

    # Django's own look-up takes a dozen calls.
    database: BaseDatabaseWrapper | None = None
    cursor: Cursor[Row] | None = None
    other: Cursor[Row] | None = None


_state = _ThreadState()


def _connect() -> BaseDatabaseWrapper:
    _state.database = connections[DEFAULT_DB_ALIAS]
    return _state.database


def _execute(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    if database.execute_wrappers or database.force_debug_cursor:
        return _execute_by_django(database, statement, values)
    cursor = _state.cursor
    if cursor is None or cursor.connection is not database.connection:
        database.ensure_connection()
        cursor = _state.cursor = database.connection.cursor(binary=True)
    return cursor.execute(statement, values, prepare=True).fetchall()


def _execute_by_django(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    """Execute by Django's cursor, for execute wrappers and debug cursors."""
    with database.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        rows: list[Row] = cursor.fetchall()
    return rows
