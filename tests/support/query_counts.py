"""What a call costs the database, without the look-up of its key, which is remembered for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import CaptureQueriesContext


@contextmanager
def costing(expected: int) -> Iterator[None]:
    """Fail unless just so many statements are run."""
    with CaptureQueriesContext(connection) as captured:
        yield
    known = ('"accounts_apikey"', '"accounts_apikeychangecounter"')
    asked = [query["sql"] for query in captured.captured_queries]
    statements = [sql for sql in asked if not any(table in sql for table in known)]
    assert len(statements) == expected, "\n".join(statements)
