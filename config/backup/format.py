"""What a backup is: one zip with a member for each table, as PostgreSQL copies it out, one for each file, and a
manifest, which is written last and says of every member how long it is and what it hashes to.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.db.backends.utils import CursorWrapper
from django.utils.crypto import salted_hmac
from psycopg import sql

FORMAT = 1
MANIFEST = "manifest.json"
# How the name of a file ends that is not whole yet.
DRAFT = ".partial"
# Storages whose files belong to rows. Those of a bucket are the bucket's to keep.
STORED = ("exports", "photos")
# Rows that the schema's own steps have written; these are made by them again.
STEPS = "django_migrations"
# Everything that decides how a value is written. The rest is ours on every server.
SPELLING = """
    SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC';
    SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'
"""
TABLES = """
    SELECT c.relname,
        array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = ''),
        (
            SELECT array_agg(k.attname::text ORDER BY array_position(i.indkey, k.attnum))
            FROM pg_index i JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = ANY(i.indkey)
            WHERE i.indrelid = c.oid AND i.indisprimary
        )
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> %s
    GROUP BY c.oid, c.relname ORDER BY c.relname
"""
SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename"


@dataclass(frozen=True)
class Table:
    """A table: the columns that are written, and those by which its rows stand in one order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def member(self) -> str:
        """Its place in the zip."""
        return f"tables/{self.name}.copy"

    def copy_out(self) -> sql.Composed:
        """The statement that tells its rows, always in the same order."""
        return sql.SQL("COPY (SELECT {} FROM {} ORDER BY {}) TO STDOUT").format(
            *(listed(self.columns), sql.Identifier(self.name), listed(self.key or self.columns))
        )

    def copy_in(self) -> sql.Composed:
        """The statement that takes them."""
        return sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(self.name), listed(self.columns))


def listed(names: tuple[str, ...]) -> sql.Composed:
    """Names of columns, one behind the other."""
    return sql.SQL(", ").join(map(sql.Identifier, names))


@dataclass(frozen=True)
class Sum:
    """What a member is held against: its rows (of a file none), its bytes and their hash."""

    rows: int
    bytes: int
    sha256: str


class Summing:
    """Adds up what goes by. A row of COPY ends with the only newline in it: those of values are escaped."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0
        self.hash = hashlib.sha256()

    def add(self, piece: bytes | memoryview) -> None:
        """Take a piece."""
        self.hash.update(piece)
        self.bytes += len(piece)
        self.rows += bytes(piece).count(b"\n")

    def end(self, *, has_rows: bool = True) -> Sum:
        """What it came to."""
        return Sum(rows=self.rows if has_rows else 0, bytes=self.bytes, sha256=self.hash.hexdigest())


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup says of itself. `mark` is of the SECRET_KEY that its secrets are sealed with."""

    version: str
    made_at: str
    server: str
    migrations: tuple[tuple[str, str], ...]
    tables: dict[str, Sum]
    sequences: dict[str, tuple[int, bool]]
    files: dict[str, Sum]
    mark: str
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        """As it stands in the zip."""
        return asdict(self)


def read_manifest(said: dict[str, Any]) -> Manifest:
    """The manifest of a zip. Raises KeyError, TypeError or ValueError where it is none of ours."""
    if said["format"] != FORMAT:
        raise ValueError(f"it is of format {said['format']}, and this reads {FORMAT}")
    return Manifest(
        version=said["version"],
        made_at=said["made_at"],
        server=said["server"],
        migrations=tuple((app, name) for app, name in said["migrations"]),
        tables={name: Sum(**its) for name, its in said["tables"].items()},
        sequences={name: (int(last), bool(called)) for name, (last, called) in said["sequences"].items()},
        files={name: Sum(**its) for name, its in said["files"].items()},
        mark=said["mark"],
    )


def tables(cursor: CursorWrapper) -> list[Table]:
    """All tables of ours, in the order of their names."""
    cursor.execute(TABLES, [STEPS])
    return [Table(name, tuple(columns), tuple(key or ())) for name, columns, key in cursor.fetchall()]


def sequences(cursor: CursorWrapper) -> list[str]:
    """All counters that number rows."""
    cursor.execute(SEQUENCES)
    return [name for (name,) in cursor.fetchall()]


def migrations(cursor: CursorWrapper) -> tuple[tuple[str, str], ...]:
    """The steps that made the schema as it is."""
    cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
    return tuple((app, name) for app, name in cursor.fetchall())


def folders() -> Iterator[tuple[str, Path]]:
    """The folders of files that belong to rows, by the names of their storages."""
    for name in STORED:
        if isinstance(storage := storages[name], FileSystemStorage):
            yield name, Path(storage.location)


def mark(made_at: str) -> str:
    """What only who has the same SECRET_KEY comes to."""
    return salted_hmac("tablewire.backup", made_at, secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()
