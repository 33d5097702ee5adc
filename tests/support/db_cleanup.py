"""Empties the database after each test that commits, in the time that the test's own rows take.

Django's flush truncates every table, full or not, and then makes all content types and permissions anew. To truncate
even a few takes a hundred times as long as to delete the rows of a test, as it replaces the files of every table that
refers to them.
"""

from collections.abc import Iterator
from functools import cache

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

# The same in every installation; no test changes them.
PRESERVED = {"django_migrations", "django_content_type", "auth_permission"}
# Deleted rows stay in the files until they are vacuumed, which this many bytes of them are not waited for.
MAX_BYTES = 1_000_000


@pytest.fixture(scope="session", autouse=True)
def _emptying() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty())
        yield


@cache
def _full_tables_query() -> str:
    """SQL for the tables that hold rows, and whether their files are large."""
    with connection.cursor() as cursor:
        names = sorted({*connection.introspection.table_names(cursor)} - PRESERVED)
    table = 'SELECT \'"{0}"\', pg_relation_size(\'"{0}"\') > {1} WHERE EXISTS (SELECT FROM "{0}")'
    return " UNION ALL ".join(table.format(name, MAX_BYTES) for name in names)


def empty() -> None:
    """Delete all rows; of large tables by truncating them."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_full_tables_query())
        tables = cursor.fetchall()
        # Neither triggers nor foreign keys, so that the order does not matter.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for name, _ in tables:
            cursor.execute(f"DELETE FROM {name}")  # noqa: S608
        if large := [name for name, is_large in tables if is_large]:
            cursor.execute(f"TRUNCATE {', '.join(large)} CASCADE")
