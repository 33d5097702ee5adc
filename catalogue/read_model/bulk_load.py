"""Very many rows at once: triggers, foreign keys and indexes stand aside meanwhile."""

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


def take_time() -> None:
    """Let the statements of this transaction take as long as they need, and wait for as long as they have to."""
    with connection.cursor() as cursor:
        for setting in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SET LOCAL {setting} = 0")


@contextmanager
def unwatched(tables: Sequence[str]) -> Iterator[None]:
    """Switch the triggers of these tables off inside the block, foreign keys apart; nobody else writes meanwhile.

    In the transaction of the caller, so a failure leaves them switched on.
    """
    with connection.cursor() as cursor:
        # What foreign keys still have to check would forbid these statements, and those behind the block.
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
def unindexed(tables: Sequence[str], *, on_step: OnProgress = no_progress) -> Iterator[None]:
    """Take foreign keys and plain indexes off these tables, and put them back behind the block.

    Checking millions of references and adding to a dozen indexes row by row takes longer than both at once. Nobody
    else reads or writes these tables until the transaction of the caller ends; a failure leaves them as they were.
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
        whole = [definition for _, definition in indexes]
        whole += [f"ALTER TABLE {table} ADD CONSTRAINT {name} {kept}" for table, name, kept in foreign_keys]
        for number, statement in enumerate(whole, start=1):
            cursor.execute(statement)
            on_step("indexes", number, len(whole))
        cursor.execute(f"ANALYZE {', '.join(tables)}")
