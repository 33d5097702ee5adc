"""SQL files: the database functions, triggers and constraints that no model can express, in `<app>/sql/NAME.sql`.

Each file defines one thing and may run again: CREATE OR REPLACE, IF NOT EXISTS. To change one, edit the file and add a
migration that runs it. On an empty database earlier migrations then run the new text, too; where it needs a table or
column that they do not have yet, remove the file from them.

Long statements that the code executes stand in `<app>/sql/queries/NAME.sql`.
"""

from functools import cache
from pathlib import Path

from django.db.migrations import RunSQL

ROOT = Path(__file__).resolve().parents[2]


def run_sql_files(app: str, *names: str) -> RunSQL:
    """A migration operation that runs `<app>/sql/NAME.sql` of each name, in this order.

    Backwards it does nothing: a function without its tables does no harm, and the way forward replaces it.
    """
    return RunSQL([(ROOT / app / "sql" / f"{name}.sql").read_text(encoding="utf-8") for name in names], RunSQL.noop)


@cache
def read_sql(app: str, name: str) -> str:
    """Return the statement in `<app>/sql/queries/NAME.sql`. A process reads each file once."""
    return (ROOT / app / "sql" / "queries" / f"{name}.sql").read_text(encoding="utf-8")
