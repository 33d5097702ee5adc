"""Writes a backup: a dump of one snapshot, then the stored files, then the manifest."""

import json
import os
import shutil
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from config.backup.manifest import (
    DUMP,
    FILES,
    MANIFEST,
    PARTIAL,
    Manifest,
    Report,
    copy_file,
    secret_key_hmac,
    sha256,
    storage_folders,
)
from config.backup.programs import BackupError, connection_arguments, find_programs, run_program

SNAPSHOT = """
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0
"""


def write_backup(path: Path, *, created_at: datetime, report: Report) -> Manifest:
    """Write a backup of this installation to the folder `path`, which only its owner can read.

    The rows are those of one snapshot; other transactions go on, and only migrations wait. The folder gets its name
    when all of it is on the disk: a killed backup leaves a folder with the suffix `.partial`, which the next one
    deletes. Raises BackupError or OSError.
    """
    if path.exists():
        raise BackupError(f"{path} exists: name another folder.")
    folder = path.with_name(f"{path.name}{PARTIAL}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    content = dump_database(folder / DUMP, report)
    manifest = Manifest(
        **content,
        version=settings.VERSION,
        created_at=created_at.isoformat(),
        dump=sha256(folder / DUMP),
        files=copy_files(folder / FILES, report),
        secret_key_hmac=secret_key_hmac(created_at.isoformat()),
    )
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1))
    os.sync()
    folder.rename(path)
    return manifest


def dump_database(path: Path, report: Report) -> dict[str, Any]:
    """Run pg_dump on a snapshot; return what the manifest says of the database, from the same snapshot."""
    programs = find_programs()
    database, environment = connection_arguments()
    with connection.cursor() as cursor:
        # Not Django's introspection, which also lists the temporary tables of this connection.
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
        tables = [table for (table,) in cursor]
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(SNAPSHOT)
        # Before the snapshot: it would show a table that is truncated after it as empty.
        names = sql.SQL(", ").join(map(sql.Identifier, tables))
        cursor.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(names))
        cursor.execute(
            "SELECT pg_export_snapshot(), current_schema(), array_agg(extname::text ORDER BY extname)"
            " FROM pg_extension WHERE extnamespace = current_schema()::regnamespace"
        )
        snapshot, schema, extensions = cursor.fetchone()
        migrations = sorted(MigrationRecorder(connection).applied_migrations())
        rows = {}
        for table in tables:
            cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
            (rows[table],) = cursor.fetchone()
        report("pg_dump")
        options = ("--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s", "--extension=*")
        target = (f"--schema={schema}", f"--snapshot={snapshot}", f"--file={path}", database)
        run_program([programs / "pg_dump", *options, *target], environment=environment, report=report)
    return {
        "server_version": connection.connection.info.parameter_status("server_version"),
        "migrations": migrations,
        "extensions": extensions or [],
        "tables": rows,
    }


def copy_files(target: Path, report: Report) -> dict[str, str]:
    """Copy the files of exports and photos that are stored in folders; one that is deleted by now is left out."""
    copied = {}
    for storage, folder in storage_folders().items():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix != PARTIAL:
                name = f"{storage}/{path.relative_to(folder).as_posix()}"
                report(name)
                try:
                    copy_file(path, target / name)
                except FileNotFoundError:
                    continue
                copied[name] = sha256(target / name)
    return copied
