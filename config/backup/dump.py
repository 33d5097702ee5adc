"""Writes a backup: every row of one moment, then the files, into a zip that gets its name when it is whole."""

import json
import os
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from config.backup import format
from config.backup.format import Manifest, Sum, Summing, Table

SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Rows of text shrink to a quarter at the first level, and little more at three times the work.
LEVEL = 1
EVERY_S = 5.0

Say = Callable[[str], object]


class TakenName(Exception):
    """There is a file of this name already."""


@dataclass(kw_only=True)
class Writing:
    """A zip under way, and whom to tell of it."""

    zip: zipfile.ZipFile
    say: Say

    def table(self, table: Table, cursor: CursorWrapper) -> Sum:
        """Copy a table's rows."""
        summing, told = Summing(), time.monotonic()
        with (
            self.zip.open(table.member, "w", force_zip64=True) as member,
            cursor.copy(table.copy_out()) as copy,
        ):
            for piece in copy:
                member.write(piece)
                summing.add(piece)
                if time.monotonic() - told > EVERY_S:
                    told = time.monotonic()
                    self.say(f"  {table.name}: {summing.rows:,} rows so far")
        return summing.end()

    def file(self, name: str, path: Path) -> Sum | None:
        """Copy a file; None where it was swept away meanwhile."""
        try:
            source = path.open("rb")
        except FileNotFoundError:
            return None
        summing = Summing()
        # Photos and the parts of exports are compressed already.
        entry = zipfile.ZipInfo(f"files/{name}")
        with source, self.zip.open(entry, "w", force_zip64=True) as member:
            while piece := source.read(1 << 20):
                member.write(piece)
                summing.add(piece)
        return summing.end(has_rows=False)


def write(path: Path, *, now: datetime, say: Say) -> Manifest:
    """Write a backup of this installation to `path`, readable by its owner alone. Raises TakenName.

    The rows are of one moment, whatever is written meanwhile, and nobody is kept waiting but who changes the schema.
    A file that is deleted meanwhile, as exports that are over are, is left out. It has its name once all of it is on
    the disk; what a kill leaves is called `.partial` and is overwritten by the next.
    """
    if path.exists():
        raise TakenName(f"{path} is there already: name another file.")
    draft = path.with_name(f"{path.name}{format.DRAFT}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as made:
            manifest = fill(Writing(zip=made, say=say), made_at=now.isoformat())
            made.writestr(format.MANIFEST, json.dumps(manifest.as_json(), indent=1))
        file.flush()
        os.fsync(file.fileno())
    # Unlike a rename it fails where somebody else has taken the name since.
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise TakenName(f"{path} was made by somebody else meanwhile: what is written here is {draft}.") from None
    draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return manifest


def fill(writing: Writing, *, made_at: str) -> Manifest:
    """Copy all rows in one snapshot, then the files that are there after it."""
    with connection.cursor() as cursor:
        tables = format.tables(cursor)
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(SNAPSHOT)
        cursor.execute(format.SPELLING)
        # Before the first row is read: what is emptied or altered meanwhile would be seen in part.
        names = sql.SQL(", ").join(sql.Identifier(table.name) for table in tables)
        cursor.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(names))
        steps = format.migrations(cursor)
        sums = {}
        for table in tables:
            sums[table.name] = writing.table(table, cursor)
            if sums[table.name].rows:
                writing.say(f"  {table.name}: {sums[table.name].rows:,} rows")
        # After the rows: these go on counting for others, and must not stand below what a row says.
        numbers = {name: counter(cursor, name) for name in format.sequences(cursor)}
        cursor.execute("SHOW server_version")
        (server,) = cursor.fetchone()
    return Manifest(
        version=settings.VERSION,
        made_at=made_at,
        server=server,
        migrations=steps,
        tables=sums,
        sequences=numbers,
        files=files(writing),
        mark=format.mark(made_at),
    )


def counter(cursor: CursorWrapper, name: str) -> tuple[int, bool]:
    """The last number that a sequence gave, and whether it gave it."""
    cursor.execute(sql.SQL("SELECT last_value, is_called FROM {}").format(sql.Identifier(name)))
    last, is_called = cursor.fetchone()
    return last, is_called


def is_whole(path: Path) -> bool:
    """Whether it is a file, and none that somebody is writing or has left unfinished."""
    return path.is_file() and not path.is_symlink() and path.suffix != format.DRAFT


def files(writing: Writing) -> dict[str, Sum]:
    """Copy the files of exports and photos that are kept in folders."""
    found: dict[str, Sum] = {}
    for storage, folder in format.folders():
        paths = [path for path in sorted(folder.rglob("*")) if is_whole(path)]
        for path in paths:
            name = f"{storage}/{path.relative_to(folder).as_posix()}"
            if copied := writing.file(name, path):
                found[name] = copied
        if paths:
            writing.say(f"  files of {storage}: {len(paths):,}")
    return found
