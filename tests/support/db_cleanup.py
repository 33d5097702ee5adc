"""Empties the database after each test that commits, in the time that the test's own rows take.

Django's flush truncates every table, full or not, and then makes all content types and permissions anew. Here only
tables that hold rows are truncated, and content types and permissions stay.
"""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import TransactionTestCase

# The same in every installation; no test changes them.
PRESERVED = {"django_migrations", "django_content_type", "auth_permission"}


@pytest.fixture(scope="session", autouse=True)
def _emptying() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty())
        yield


def empty() -> None:
    """Truncate the tables that hold rows, in one statement; two queries when there are none but those."""
    with connection.cursor() as cursor:
        names = sorted({*connection.introspection.table_names(cursor)} - PRESERVED)
        holds = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in names)  # noqa: S608
        cursor.execute(holds)
        full = [f'"{name}"' for (name,) in cursor.fetchall()]
        if full:
            # Tables that refer to these are empty, or among them.
            cursor.execute(f"TRUNCATE {', '.join(full)} CASCADE")
