"""The planner's estimates of how many rows tables have: counting millions of rows would take longer than a page."""

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

# A table that was never analysed has -1: it is new or small.
ESTIMATED_ROWS = "SELECT relname, nullif(reltuples, -1)::bigint FROM pg_class WHERE oid = ANY(%s::regclass[])"


def estimate_rows(models: Iterable[type[Model]]) -> dict[type[Model], int | None]:
    """Return about how many rows the table of each model has; None if it was never analysed. One query."""
    by_table = {model._meta.db_table: model for model in models}
    with connection.cursor() as cursor:
        cursor.execute(ESTIMATED_ROWS, [list(by_table)])
        return {by_table[table]: rows for table, rows in cursor.fetchall()}
