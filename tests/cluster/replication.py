"""PostgreSQL on two machines, by deploy/postgresql.conf: a primary, and a standby that each commit waits for."""

import secrets
import shutil
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from config.dev_stack.postgres import Postgres, binaries, runner
from config.dev_stack.processes import Child, last_lines
from config.dev_stack.servers import free_port
from tests.cluster.network import NET, Machine
from tests.support.live_stack import eventually

SHIPPED = Path(settings.BASE_DIR) / "deploy" / "postgresql.conf"
SMALL = (
    "shared_buffers = 64MB\neffective_cache_size = 256MB\nmaintenance_work_mem = 64MB\nunix_socket_directories = ''\n"
)


class Member:
    """PostgreSQL on one machine."""

    def __init__(self, machine: Machine, password: str) -> None:
        self.machine = machine
        self.password = password
        self.home = machine.folder / f"postgres-{machine.name}"
        self.child: Child | None = None

    @property
    def url(self) -> str:
        """The address of the database."""
        return f"postgresql://tablewire:{self.password}@{self.machine.address}:5432/tablewire"

    def ask(self, statement: str) -> Any:
        """The first value of a statement."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=2) as database:
            done = database.execute(statement.encode())
            row = done.fetchone() if done.description else None
        return row and row[0]

    def initialise(self) -> None:
        """Make the files of a new primary."""
        log = self.machine.folder / f"initdb-{self.machine.name}.log"
        made = Postgres(home=self.home, log=log, port=free_port(), password=self.password)
        made.prepare()
        with (self.home / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {NET}.0/24 scram-sha-256\nhost replication all {NET}.0/24 scram-sha-256\n")
        with (self.home / "postgresql.conf").open("a") as file:
            file.write(f"include '{SHIPPED}'\n{SMALL}")

    def copy(self, primary: "Member", *, name: str = "standby") -> None:
        """Make the files of a standby of that one, as deploy/standby.sh does; commits wait for a `standby` alone."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.machine.run(
            *(str(binaries() / "pg_basebackup"), "-D", str(self.home), "-R", "-c", "fast"),
            *("-d", f"{primary.url}?application_name={name}"),
        )
        with (self.home / "postgresql.auto.conf").open("a") as file:
            file.write("synchronous_standby_names = ''\n")

    def start(self) -> None:
        """Start, and return when it answers."""
        Postgres(home=self.home, log=self.home.with_suffix(".log"), port=1, password=self.password).prepare()
        self.child = self.machine.start(
            "postgres", *runner().prefix, str(binaries() / "postgres"), "-D", str(self.home), cwd=self.home.parent
        )
        child = self.child
        assert eventually(self.answers, within_s=30), last_lines(child.log, lines=30)

    def answers(self) -> bool:
        """Whether it can be asked."""
        try:
            return bool(self.ask("SELECT 1") == 1)
        except psycopg.OperationalError:
            return False


class Pair:
    """Two members, the second of which follows the first."""

    def __init__(self, first: Machine, second: Machine) -> None:
        password = secrets.token_hex(12)
        self.primary, self.standby = Member(first, password), Member(second, password)

    @property
    def url(self) -> str:
        """The address of whichever takes orders."""
        hosts = ",".join(sorted((self.primary.machine.address, self.standby.machine.address)))
        return f"postgresql://tablewire:{self.primary.password}@{hosts}:5432/tablewire"

    def begin(self) -> None:
        """Start a new primary alone."""
        self.primary.initialise()
        self.primary.start()

    def follow(self) -> None:
        """Copy the primary to the standby, and have commits wait for it."""
        self.standby.machine.kill()
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)'")
        self.primary.ask("SELECT pg_reload_conf()")
        assert eventually(self.is_synchronous, within_s=20)

    def is_synchronous(self) -> bool:
        """Whether commits wait for the standby."""
        return bool(self.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1)

    def promote(self) -> None:
        """Make the standby the primary; the other one is not asked."""
        self.primary, self.standby = self.standby, self.primary
        self.primary.ask("SELECT pg_promote()")
