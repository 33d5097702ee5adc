"""The schema snapshot: what the migrations make of an empty database, as one SQL file that loads in half a second.

`manage.py schema_snapshot` writes it, and `manage.py migrate` loads it. The migrations themselves take ten times as
long, because Django renders the models again for every operation. The snapshot has the rows of django_migrations, so
`migrate` then applies the migrations that are newer than the file.
"""

import re
from pathlib import Path

from django.db import connection, transaction

from framework.db.locks import AdvisoryLock

FILE = Path(__file__).with_name("schema_snapshot.sql")
# The version of PostgreSQL that wrote the file. On any other one the migrations run.
MAJOR = 18
LOAD_LOCK = AdvisoryLock("schema snapshot")

# The headings of pg_dump, the commands of psql, and the settings of the session.
HEADING = re.compile(r"\n*--\n-- (?:Name|Data for Name|PostgreSQL database dump)\b.*\n--\n\n?")
PREAMBLE = re.compile(
    r"^(?:\\.*|-- Dumped .*|SET .*;|SELECT pg_catalog\.set_config.*|COMMENT ON EXTENSION .*)\n+", re.MULTILINE
)
APPLIED_AT = re.compile(r"^(\t\(\d+, '\w+', '\w+', )'[^']+'\)", re.MULTILINE)
MIGRATION = re.compile(r"^\t\(\d+, '(\w+)', '(\w+)', now\(\)\)", re.MULTILINE)
# `IN` and `BETWEEN` as PostgreSQL prints them: read again, that would give other expressions of the same meaning.
ONE_OF = re.compile(r'\(("?\w+"?)\)::text (= ANY|<> ALL) \(\(ARRAY\[([^\]]*)\]\)::text\[\]\)')
BOUND = r"((?:[^()]|\([^()]*\))+)"
BETWEEN = re.compile(rf"\(\((\w+) >= {BOUND}\) AND \(\1 <= {BOUND}\)\)")
# pg_dump qualifies all names, and the bodies of functions name tables that come after them.
SETTINGS = """\
SET LOCAL statement_timeout = 0;
SET LOCAL search_path = '';
SET LOCAL check_function_bodies = off;
"""


def clean_dump(dump: str) -> str:
    """Return the text of pg_dump with only what the snapshot needs; migrations are dated when it is loaded."""
    text = PREAMBLE.sub("", HEADING.sub("\n", dump)).strip() + "\n"
    text = BETWEEN.sub(r"(\1 BETWEEN \2 AND \3)", ONE_OF.sub(r"\1 \2 (ARRAY[\3])", text))
    return SETTINGS + APPLIED_AT.sub(r"\1now())", text)


def is_applied() -> bool:
    """Whether the database has every migration of the snapshot. Raises ProgrammingError where it had none ever."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations")
        return set(MIGRATION.findall(FILE.read_text(encoding="utf-8"))) <= set(cursor.fetchall())


def load_into_empty_database() -> bool:
    """Load the snapshot if the database has no tables; whether it did. All or nothing.

    Concurrent calls wait for each other, and one of them loads it.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.get_database_version()[0] != MAJOR:
            return False
        cursor.execute("SET LOCAL lock_timeout = '60s'")
        LOAD_LOCK.acquire()
        cursor.execute("SELECT NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public')")
        if not cursor.fetchone()[0]:
            return False
        # pg_dump qualifies all names; the bodies of functions name tables that come after them.
        cursor.execute("SET LOCAL search_path = ''; SET LOCAL check_function_bodies = off")
        cursor.execute(FILE.read_text(encoding="utf-8"))
        cursor.execute("SET LOCAL search_path = DEFAULT")
    return True
