"""The functions, triggers and views of the database are those of `<app>/sql/*.sql`."""

import re
from collections import Counter
from pathlib import Path

import pytest
from django.db import connection

from framework.db.sql_files import ROOT

pytestmark = pytest.mark.django_db
FILES = {file: file.read_text() for file in sorted(ROOT.glob("*/sql/*.sql"))}

# Without what belongs to an extension, and what pghistory and pgtrigger make of the models.
DEFINITIONS = """
SELECT 'FUNCTION', proname, pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND proname !~ '^_?(pgtrigger|pgh)_'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
UNION ALL
SELECT 'TRIGGER', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgname !~ '^pgtrigger_'
UNION ALL
SELECT 'VIEW', relname, pg_get_viewdef(oid) FROM pg_class
WHERE relkind IN ('v', 'm') AND relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'SEQUENCE', relname, '' FROM pg_class
WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i'))
UNION ALL
SELECT 'CONSTRAINT', conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND cardinality(conkey) > 1
ORDER BY 1, 2, 3
"""
DEFINED = re.compile(
    r"^\s*(?:CREATE OR REPLACE (FUNCTION|TRIGGER|VIEW)|CREATE (SEQUENCE) IF NOT EXISTS|ADD (CONSTRAINT)) (\w+)",
    re.MULTILINE,
)


def definitions() -> list[tuple[str, str, str]]:
    """Kind, name and definition of all that the database has."""
    with connection.cursor() as cursor:
        cursor.execute(DEFINITIONS)
        return list(cursor.fetchall())


def defined_by(text: str) -> list[tuple[str, str]]:
    """Kind and name of what a file defines."""
    return [("".join(kinds), name) for *kinds, name in DEFINED.findall(text)]


def test_the_database_has_what_the_files_define_and_nothing_else() -> None:
    in_files = Counter(each for text in FILES.values() for each in defined_by(text))
    assert Counter((kind, name) for kind, name, _ in definitions()) == in_files


def test_running_the_files_again_changes_no_definition() -> None:
    before = definitions()
    assert len(before) > 70
    with connection.cursor() as cursor:
        for text in FILES.values():
            cursor.execute(text)
    assert definitions() == before


def test_an_edited_file_is_a_difference() -> None:
    text = (ROOT / "catalogue" / "sql" / "api_timestamp.sql").read_text()
    before = definitions()
    with connection.cursor() as cursor:
        cursor.execute(text.replace("MI:SS", "MI"))
    [edited] = set(definitions()) - set(before)
    assert edited[:2] == ("FUNCTION", "api_timestamp")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_begins_with_a_comment_and_defines_one_function_named_like_it(file: Path) -> None:
    assert FILES[file].startswith("-- ")
    functions = [name for kind, name in defined_by(FILES[file]) if kind == "FUNCTION"]
    assert functions in ([], [file.stem])
