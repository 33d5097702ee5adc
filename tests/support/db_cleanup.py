"""Empties the database after each test that commits, in the time that the test's own rows take.

Django's flush truncates every table, full or not, and then makes all content types and permissions anew. To truncate
even a few takes a hundred times as long as to delete the rows of a test, as it replaces the files of every table that
refers to them.
"""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

# The same in every installation; no test changes them.
PRESERVED = ("django_migrations", "django_content_type", "auth_permission")
# Deleted rows stay in the files until they are vacuumed, which this many bytes of them are not waited for.
MAX_BYTES = 1_000_000
# A table without a file has had no rows yet. To plan one query about all tables takes longer than to empty them.
DELETE_ALL = f"""
DO $$
DECLARE
    used regclass[] := array(
        SELECT oid FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN {PRESERVED}
            AND pg_relation_size(oid) > 0
    );
    name regclass;
BEGIN
    FOREACH name IN ARRAY used LOOP
        EXECUTE 'DELETE FROM ' || name;
    END LOOP;
    FOREACH name IN ARRAY used LOOP
        IF pg_relation_size(name) > {MAX_BYTES} THEN
            EXECUTE 'TRUNCATE ' || name || ' CASCADE';
        END IF;
    END LOOP;
END $$
"""  # noqa: S608


@pytest.fixture(scope="session", autouse=True)
def _emptying() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty())
        # The next test goes on with the same connection, which knows the tables already.
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda case: False)
        yield


def empty() -> None:
    """Delete all rows; of large tables by truncating them."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Neither triggers nor foreign keys, so that the order does not matter.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(DELETE_ALL)
