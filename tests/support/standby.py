"""A standby of the tests' PostgreSQL: a copy of its files that follows it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from config.dev_stack.postgres import Postgres, binaries
from config.dev_stack.servers import free_port
from tests.support.live_server import database_url
from tests.support.live_stack import eventually
from tests.support.stack_marker import require_stack_marker


@dataclass(frozen=True)
class Standby:
    """A server that follows the one of DATABASE_URL and answers reads."""

    server: Postgres

    @property
    def url(self) -> str:
        """The address of the copy of this run's database."""
        return urlsplit(self.server.url)._replace(path=urlsplit(database_url()).path).geturl()

    def ask(self, statement: str) -> Any:
        """The value that a statement gives here."""
        with psycopg.connect(self.url, autocommit=True) as database:
            row = database.execute(statement.encode()).fetchone()
        return row and row[0]

    def start(self) -> None:
        """Start, and return when it follows."""
        self.server.begin()
        assert eventually(self.follows)

    def follows(self) -> bool:
        """Whether it has what the primary has just written."""
        try:
            with psycopg.connect(database_url(), autocommit=True) as database:
                row = database.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
            assert row is not None
            return self.ask(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'") is True
        except psycopg.OperationalError:
            return False


@contextmanager
def run_standby(folder: Path) -> Iterator[Standby]:
    """A standby that runs inside the block, with its files in `folder`."""
    require_stack_marker()
    primary = urlsplit(os.environ["DATABASE_URL"])
    home = folder / "standby"
    copying = [str(binaries() / "pg_basebackup"), "-D", str(home), "-R", "-c", "fast", "--no-sync"]
    subprocess.run([*copying, "-d", primary.geturl()], check=True, capture_output=True)
    home.chmod(0o700)
    server = Postgres(
        home=home,
        log=folder / "standby.log",
        port=free_port(),
        password=primary.password or "",
        durable=False,
        shared_buffers="32MB",
    )
    standby = Standby(server)
    try:
        standby.start()
        yield standby
    finally:
        server.stop()
