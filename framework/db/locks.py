"""Work that one worker does at a time, in all of an installation."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import InterfaceError, OperationalError, connection

# The first of the two numbers of PostgreSQL's advisory locks.
LOCK = 7_302
PUMP, RETIREMENT = 1, 2


@contextmanager
def alone(work: int) -> Iterator[bool]:
    """Whether nobody else is at it; others are kept away meanwhile. The end of the connection ends it too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, work])
        (mine,) = cursor.fetchone()
    try:
        yield mine
    finally:
        if mine:
            with suppress(OperationalError, InterfaceError), connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, work])
