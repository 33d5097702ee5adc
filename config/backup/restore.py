"""Restores a backup: the files, then every row in one transaction that commits when all of them are proven."""

import json
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import psycopg
from django.core.management import call_command
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from config.backup import format
from config.backup.format import Manifest, Sum, Summing, Table

LOCK = 7_246_051_183
PIECE = 1 << 20
EVERY_S = 5.0
FRESH = os.O_CREAT | os.O_TRUNC | os.O_WRONLY
# What the steps of the schema, or Django after them, write into a database that nobody has used.
OF_NOBODY = frozenset(("auth_group", "auth_group_permissions", "auth_permission", "django_content_type"))

# Numbers of transactions mean nothing on another server. Parts of running exports are written anew without theirs, and
# walks through reviews that began before the restore have ended with it.
OF_ANOTHER_SERVER = """
    UPDATE catalogue_exportpart SET horizon = NULL
    WHERE export_id IN (SELECT id FROM catalogue_export WHERE status = 'running');
    DELETE FROM catalogue_reviewchange
"""

Say = Callable[[str], object]


class NotRestored(Exception):
    """Why nothing was restored, in a sentence; the database is as it was."""


def read(path: Path, *, replaces: bool, say: Say) -> Manifest:
    """Make this installation what the backup holds; with `replaces` also one that has rows, which are gone then.

    A database without tables gets them. Every table is written in one transaction, read again and held against the
    manifest before it commits, so a kill leaves the database as it was. Files are written beside their places and get
    their names just before that. Raises NotRestored.
    """
    try:
        kept = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise NotRestored(f"{path} is not a whole backup: {error}.") from None
    with kept:
        manifest = manifest_of(kept, path)
        prepare(manifest, replaces=replaces)
        drafts: dict[Path, Path] = {}
        try:
            # Pair by pair: of those before one that is refused it is known what to take away.
            drafts.update(files(kept, manifest))
            with transaction.atomic(durable=True), connection.cursor() as cursor:
                rows(cursor, kept, manifest, replaces=replaces, say=say)
                # The last thing before the commit: nothing but that can fail any more.
                for place, draft in drafts.items():
                    draft.replace(place)
        except (zipfile.BadZipFile, DataError, IntegrityError) as error:
            raise NotRestored(f"{path} is damaged: {error}. Nothing was changed.") from None
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
                raise
            raise NotRestored(
                "Somebody is at work in this database: stop web servers and workers first. Nothing was changed."
            ) from None
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        # Without it the first questions are planned for empty tables.
        cursor.execute("ANALYZE")
        cursor.execute("RESET statement_timeout")
    return manifest


def manifest_of(kept: zipfile.ZipFile, path: Path) -> Manifest:
    """What the backup says of itself. Raises NotRestored where it is none, or lacks a part."""
    try:
        manifest = format.read_manifest(json.loads(kept.read(format.MANIFEST)))
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise NotRestored(f"{path} is not a backup that this version reads: {error}.") from None
    named = {f"tables/{name}.copy" for name in manifest.tables} | {f"files/{name}" for name in manifest.files}
    if missing := sorted(named - set(kept.namelist())):
        raise NotRestored(f"{path} lacks {missing[0]}.")
    return manifest


def prepare(manifest: Manifest, *, replaces: bool) -> None:
    """Give an empty database its tables, and refuse one that the rows do not fit, or that others have filled."""
    with connection.cursor() as cursor:
        has_steps = format.STEPS in connection.introspection.table_names(cursor)
        if has_steps and not replaces:
            refuse_used(cursor)
    if not has_steps:
        call_command("migrate", interactive=False, verbosity=0)
    with connection.cursor() as cursor:
        ours = set(format.migrations(cursor))
    if differs := sorted(ours ^ set(manifest.migrations)):
        app, name = differs[0]
        whose = "has not" if differs[0] in set(manifest.migrations) else "has and the backup has not"
        raise NotRestored(
            f"The backup is of version {manifest.version}, whose tables are not these: this database {whose}"
            f" {app}.{name} ({len(differs)} differences). Restore with the version that made it, then migrate."
        )


def refuse_used(cursor: CursorWrapper) -> None:
    """Raise NotRestored where a table holds rows of somebody."""
    for table in format.tables(cursor):
        if table.name in OF_NOBODY:
            continue
        cursor.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(table.name)))
        if cursor.fetchone()[0]:
            raise NotRestored(
                f"This database is in use: {table.name} has rows. Restore into an empty one, or say --replace:"
                " all that is in this one is gone then."
            )


def files(kept: zipfile.ZipFile, manifest: Manifest) -> Iterator[tuple[Path, Path]]:
    """Write each file beside its place, proven; yields the place, and what is to be renamed to it."""
    folders = dict(format.folders())
    for name, expected in manifest.files.items():
        storage, *steps = PurePosixPath(name).parts
        if storage not in folders or not steps or ".." in steps or "\\" in name:
            raise NotRestored(f"The file {name} has no place here: its storage is not a folder.")
        place = folders[storage].joinpath(*steps)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = place.with_name(f"{place.name}{format.DRAFT}")
        yield place, draft
        summing = Summing()
        with kept.open(f"files/{name}") as member, os.fdopen(os.open(draft, FRESH, 0o600), "wb") as file:
            while piece := member.read(PIECE):
                summing.add(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if summing.end(has_rows=False) != expected:
            raise NotRestored(f"The file {name} is not what the manifest says. Nothing was changed.")


def rows(cursor: CursorWrapper, kept: zipfile.ZipFile, manifest: Manifest, *, replaces: bool, say: Say) -> None:
    """Write every table and prove it. Call it in a transaction; raises NotRestored."""
    cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
    if not cursor.fetchone()[0]:
        raise NotRestored("Somebody else is restoring into this database.")
    cursor.execute(format.SPELLING)
    tables = format.tables(cursor)
    if differs := sorted({table.name for table in tables} ^ set(manifest.tables)):
        raise NotRestored(f"The backup and this database do not have the same tables: {', '.join(differs)}.")
    names = sql.SQL(", ").join(sql.Identifier(table.name) for table in tables)
    cursor.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(names))
    if not replaces:
        refuse_used(cursor)
    # They would tell of each row what the tables of tallies, versions and history, which come too, say already.
    switch_triggers(cursor, tables, word="DISABLE")
    cursor.execute(sql.SQL("TRUNCATE {}").format(names))
    for table in tables:
        copy(cursor, kept, table, say=say)
    # Now rather than at the commit: each row's references are looked up, and tables with checks to come cannot be
    # altered.
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    switch_triggers(cursor, tables, word="ENABLE")
    for name, (last, is_called) in manifest.sequences.items():
        cursor.execute("SELECT setval(quote_ident(%s)::regclass, %s, %s)", [name, last, is_called])
    for table in tables:
        prove(cursor, table, manifest.tables[table.name])
    cursor.execute(OF_ANOTHER_SERVER)


def switch_triggers(cursor: CursorWrapper, tables: list[Table], *, word: str) -> None:
    """Put the triggers of our own to sleep, or wake them. References go on being checked."""
    for table in tables:
        cursor.execute(sql.SQL("ALTER TABLE {} {} TRIGGER USER").format(sql.Identifier(table.name), sql.SQL(word)))


def copy(cursor: CursorWrapper, kept: zipfile.ZipFile, table: Table, *, say: Say) -> None:
    """Write a table's rows."""
    told = time.monotonic()
    summing = Summing()
    with kept.open(table.member) as member, cursor.copy(table.copy_in()) as writing:
        while piece := member.read(PIECE):
            writing.write(piece)
            summing.add(piece)
            if time.monotonic() - told > EVERY_S:
                told = time.monotonic()
                say(f"  {table.name}: {summing.rows:,} rows so far")


def prove(cursor: CursorWrapper, table: Table, expected: Sum) -> None:
    """Read a table again and hold it against the manifest."""
    summing = Summing()
    with cursor.copy(table.copy_out()) as reading:
        for piece in reading:
            summing.add(piece)
    if (found := summing.end()) != expected:
        raise NotRestored(
            f"{table.name} came to {found.rows:,} rows of hash {found.sha256[:12]}, and the backup says"
            f" {expected.rows:,} of {expected.sha256[:12]}. Nothing was changed."
        )
