"""Consistency checks: SQL that finds rows which contradict each other.

Apps add their checks to SOURCES in AppConfig.ready; `manage.py check_consistency` runs all of them. A check is one
statement, so that it sees one moment while writes go on.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

# Findings shown per check.
MAX_FINDINGS = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """A contradiction: the check that found it, the public id of the row, and what is wrong."""

    check: str
    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.check}: {self.subject}: {self.what}"


# Findings by the name of the check; each check runs when it is iterated.
Checks = Mapping[str, Iterator[Finding]]
# Given the current time.
SOURCES: list[Callable[[datetime], Checks]] = []


def all_checks(*, now: datetime) -> Checks:
    return {name: findings for source in SOURCES for name, findings in source(now).items()}


def query(
    check: str, statement: str, values: Mapping[str, Any] | None = None, *, subject: Callable[[UUID], str]
) -> Iterator[Finding]:
    """The rows of a statement as findings: its columns are the key of the row and the description.

    `subject` returns the public id of a key. One query without a timeout. The last finding says how many there are
    beyond MAX_FINDINGS.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', '0', true)")
        cursor.execute(
            f"SELECT finding.*, count(*) OVER () FROM ({statement}) AS finding LIMIT {MAX_FINDINGS}",  # noqa: S608  # ours
            values or {},
        )
        rows: list[tuple[UUID, str, int]] = cursor.fetchall()
    for key, what, _ in rows:
        yield Finding(check, subject(key), what)
    if rows and rows[0][2] > MAX_FINDINGS:
        yield Finding(check, "others", f"{rows[0][2] - MAX_FINDINGS} more")
