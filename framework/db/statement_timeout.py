"""A shorter statement timeout for one query among several."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg import errors


class StatementTimedOut(Exception):
    """PostgreSQL cancelled the statement."""


@contextmanager
def statement_timeout(timeout_ms: int) -> Iterator[None]:
    """Run the block in a transaction where a statement may take so long. Raises StatementTimedOut."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(timeout_ms)])
            yield
    except OperationalError as error:
        if not isinstance(error.__cause__, errors.QueryCanceled):
            raise
        raise StatementTimedOut from error
