"""Bulk loads: write many rows without triggers, foreign keys and indexes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from framework.cli.progress import OnProgress, no_progress

FOREIGN_KEYS = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY(%s::regclass[]) ORDER BY conname
"""
INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
FROM pg_index WHERE indrelid = ANY(%s::regclass[]) AND NOT indisunique ORDER BY 1
"""


def disable_timeouts() -> None:
    """Disable the statement, lock and idle timeouts of this transaction."""
    with connection.cursor() as cursor:
        for setting in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SET LOCAL {setting} = 0")


@contextmanager
def triggers_disabled(tables: Sequence[str]) -> Iterator[None]:
    """Disable the user triggers of these tables inside the block, which locks the tables against other writers.

    Call it in a transaction: a rollback enables the triggers again.
    """
    with connection.cursor() as cursor:
        # ALTER TABLE fails while deferred constraints are pending.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        yield
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def indexes_dropped(tables: Sequence[str], *, on_step: OnProgress = no_progress) -> Iterator[None]:
    """Drop the foreign keys and non-unique indexes of these tables inside the block, and create them again after it.

    Building them at once takes less time than updating them for millions of rows. The tables are locked against other
    readers and writers until the transaction of the caller ends; a rollback restores them.
    """
    with connection.cursor() as cursor:
        cursor.execute(FOREIGN_KEYS, [list(tables)])
        foreign_keys = cursor.fetchall()
        cursor.execute(INDEXES, [list(tables)])
        indexes = cursor.fetchall()
        for table, name, _ in foreign_keys:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
        statements = [definition for _, definition in indexes]
        statements += [
            f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}" for table, name, definition in foreign_keys
        ]
        for number, statement in enumerate(statements, start=1):
            cursor.execute(statement)
            on_step("indexes", number, len(statements))
        cursor.execute(f"ANALYZE {', '.join(tables)}")
