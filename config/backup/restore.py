"""Restores a backup: the database in one transaction of psql, the files beside their places until it commits."""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn, cast

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from config.backup.manifest import (
    DUMP,
    FILES,
    PARTIAL,
    Manifest,
    Report,
    copy_file,
    read_manifest,
    sha256,
    storage_folders,
)
from config.backup.programs import BackupError, ProgramFailed, connection_arguments, find_programs, run_program
from framework.db.sql_files import read_sql

ADVISORY_LOCK = 7_246_051_183
# SQLSTATEs of the exceptions that our own SQL raises, and of a lock that another session holds.
RAISED = "P0001"
LOCKED = ("55P03", "40P01")
ERROR = re.compile(r": +([0-9A-Z]{5}): (.*)$", re.MULTILINE)


def restore_backup(path: Path, *, replace: bool, report: Report) -> Manifest:
    """Make this installation what the backup contains; with `replace` also one that has rows, which are deleted then.

    The dump and the files are compared with the manifest first. Then one transaction drops the tables, restores the
    dump and compares the number of rows of each table; the files get their names just before it commits. A kill leaves
    the database and the files as they were, except for files with the suffix `.partial`, which the next restore
    overwrites. Raises BackupError or OSError.
    """
    try:
        manifest = read_manifest(path)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BackupError(f"{path} is not a complete backup that this version reads: {error}.") from None
    refuse_newer(manifest)
    places = file_places(manifest)
    expected = {DUMP: manifest.dump} | {f"{FILES}/{name}": digest for name, digest in manifest.files.items()}
    for name, digest in expected.items():
        report(f"verify {name}")
        if not (path / name).is_file() or sha256(path / name) != digest:
            raise BackupError(f"{path} is damaged: {name} is missing or differs from the manifest.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        (schema,) = cursor.fetchone()
    try:
        with open_psql() as psql:
            psql.run(
                sql.SQL(read_sql("config", "prepare_restore")).format(
                    replace=sql.Literal(str(replace)), advisory_lock=sql.Literal(ADVISORY_LOCK)
                )
            )
            for extension in manifest.extensions:
                psql.run(sql.SQL("CREATE EXTENSION IF NOT EXISTS {};").format(sql.Identifier(extension)))
            for name, place in places.items():
                copy_file(path / FILES / name, partial_of(place))
            psql.run_pg_restore(path / DUMP, schema=schema, report=report)
            report("compare rows")
            counts = sql.Literal(json.dumps(manifest.tables))
            psql.run(
                sql.SQL(read_sql("config", "verify_restore")).format(schema=sql.Identifier(schema), row_counts=counts)
            )
            # Nothing but the commit can fail after this.
            for place in places.values():
                partial_of(place).replace(place)
            psql.run(sql.SQL("COMMIT;"))
    finally:
        for place in places.values():
            partial_of(place).unlink(missing_ok=True)
    with transaction.atomic(), connection.cursor() as cursor:
        # Without statistics the first queries are planned for empty tables.
        cursor.execute("SET LOCAL statement_timeout = 0; ANALYZE")
    return manifest


def refuse_newer(manifest: Manifest) -> None:
    """Raise BackupError where the backup has migrations that this version does not know."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    replaced = {name for migration in loader.disk_migrations.values() for name in migration.replaces}
    if newer := [name for name in manifest.migrations if name not in replaced | loader.disk_migrations.keys()]:
        raise BackupError(
            f"The backup is of version {manifest.version} and has migrations that this version has not:"
            f" {'.'.join(newer[0])} ({len(newer)} in all). Restore with the version that made it."
        )


def file_places(manifest: Manifest) -> dict[str, Path]:
    """Where each file of the backup belongs. Raises BackupError for a path outside of our folders."""
    folders = storage_folders()
    places = {}
    for name in manifest.files:
        storage, *steps = PurePosixPath(name).parts
        if storage not in folders or not steps or ".." in steps:
            raise BackupError(f"The file {name} has no place here: its storage is not a folder.")
        places[name] = folders[storage].joinpath(*steps)
    return places


def partial_of(place: Path) -> Path:
    """Where a file is written before the transaction commits."""
    return place.with_name(f"{place.name}{PARTIAL}")


@dataclass(frozen=True)
class Psql:
    """A running psql: its input, its output, and the file that has its errors."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    errors: IO[bytes]
    programs: Path

    def run(self, statements: sql.Composable) -> None:
        """Run statements and wait for their end. Raises BackupError."""
        with suppress(BrokenPipeError):
            self.stdin.write(f"{statements.as_string(None)}\n\\echo done\n".encode())
        if b"done\n" not in iter(self.stdout.readline, b""):
            self.refuse("psql ended")

    def run_pg_restore(self, dump: Path, *, schema: str, report: Report) -> None:
        """Run the script that pg_restore makes of a dump. Raises BackupError."""
        options = ("--no-owner", "--no-privileges", f"--schema={schema}", "--file=-")
        try:
            run_program([self.programs / "pg_restore", *options, dump], stdout=self.stdin, report=report)
        except ProgramFailed as error:
            self.refuse(str(error))

    def refuse(self, message: str) -> NoReturn:
        """Raise BackupError with the first error of psql; with `message` where psql had none."""
        self.stdin.close()
        self.stdout.read()
        self.errors.seek(0)
        written = self.errors.read().decode(errors="replace").strip()
        message = written or message
        if error := ERROR.search(written):
            code, message = error.groups()
            if code in LOCKED:
                message = "Other sessions are using this database: stop web servers and workers first."
            elif code != RAISED:
                message = f"PostgreSQL refused the backup: {message}."
        raise BackupError(f"{message} Nothing was changed.")


@contextmanager
def open_psql() -> Iterator[Psql]:
    """Run psql on our database in a block. Where its input ends without COMMIT, also by a kill, it rolls back."""
    programs = find_programs()
    database, environment = connection_arguments()
    options = ("--no-psqlrc", "--quiet", "--tuples-only", "--set=ON_ERROR_STOP=1", "--set=VERBOSITY=verbose")
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - our own command
            [programs / "psql", *options, database],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Without a buffer nothing is left to be written when the input of a psql that has ended is closed.
            bufsize=0,
        ) as process,
    ):
        try:
            yield Psql(cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout), errors, programs)
        finally:
            process.kill()
