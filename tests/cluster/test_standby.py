"""The scripts by which compose.yaml makes a primary and its standby, run as they are on two machines."""

import os
import pwd
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.dev_stack.postgres import binaries
from config.dev_stack.processes import Child, last_lines
from tests.cluster import network
from tests.cluster.network import NET, Machine
from tests.cluster.replication import SHIPPED, SMALL
from tests.support.live_stack import eventually

pytestmark = pytest.mark.cluster

# Where the image of PostgreSQL is told its settings.
SETTINGS = Path("/etc/postgresql")
BEHIND_SETTINGS = ("sh", "-c", f'mount --bind "$1" {SETTINGS}; shift; exec "$@"', "sh")
STANDBY_STATE = "SELECT application_name, sync_state FROM pg_stat_replication"


def missing() -> str:
    """Why these scripts cannot run here; "" when they can."""
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return "missing: apt-get install postgresql-common"
    if shutil.which("gosu") is None:
        return "missing: apt-get install gosu"
    return "" if SETTINGS.is_dir() else f"there is no {SETTINGS}"


class Container:
    """What the image of PostgreSQL would be, on a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.data, self.settings = machine.folder / f"data-{machine.name}", machine.folder / f"etc-{machine.name}"
        self.settings.mkdir()
        (self.settings / "postgresql.conf").write_text(f"include '{SHIPPED}'\n{SMALL}")
        self.password = {"POSTGRES_PASSWORD": secrets.token_hex(8), "REPLICATION_PASSWORD": secrets.token_hex(8)}

    @property
    def environment(self) -> dict[str, str]:
        """What compose.yaml tells it, and how psql finds the server without a socket."""
        return {
            **self.password,
            "PATH": f"{binaries()}:{os.environ['PATH']}",
            "POSTGRES_USER": "tablewire",
            "POSTGRES_DB": "postgres",
            "PGDATA": str(self.data),
            "PGHOST": "127.0.0.1",
            "PGPASSWORD": self.password["POSTGRES_PASSWORD"],
        }

    def start(self, *command: str) -> Child:
        """Its program, with its settings where it looks for them."""
        return self.machine.start("postgres", *BEHIND_SETTINGS, str(self.settings), *command, env=self.environment)

    def serve(self) -> Child:
        """A server, which answers."""
        child = self.start("gosu", "postgres", "postgres", "-c", f"config_file={SETTINGS}/postgresql.conf")
        assert eventually(self.answers), last_lines(child.log, lines=30)
        return child

    def initialise(self) -> None:
        """What the image does at its first start, with the shipped script among what it runs then."""
        given = self.machine.folder / "password"
        given.write_text(self.password["POSTGRES_PASSWORD"])
        self.machine.run("install", "-d", "-o", "postgres", "-m", "0700", str(self.data))
        words = (
            "initdb",
            "-U",
            "tablewire",
            "--pwfile",
            str(given),
            "--auth=scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
        )
        self.machine.run("gosu", "postgres", *words, env=self.environment)
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {NET}.0/24 scram-sha-256\n")
        self.serve()
        self.machine.run("bash", str(SHIPPED.with_name("replication.sh")), env=self.environment)
        self.machine.kill()
        # Killed, it holds its files for a moment.
        assert eventually(lambda: not self.machine.pids())
        (self.data / "postmaster.pid").unlink()

    def connected(self) -> psycopg.Connection:
        """As the application comes."""
        address = f"host={self.machine.address} user=tablewire dbname=postgres connect_timeout=2"
        return psycopg.connect(address, password=self.password["POSTGRES_PASSWORD"], autocommit=True)

    def answers(self) -> bool:
        """Whether it can be asked."""
        try:
            self.connected().close()
        except psycopg.OperationalError:
            return False
        return True


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Container, Container]]:
    """Two machines with the names that compose.yaml gives them, and one set of passwords."""
    if reason := network.missing() or missing():
        pytest.skip(reason)
    with network.site(tmp_path) as site:
        primary, standby = (Container(site.machine(name)) for name in ("postgres", "standby"))
        standby.password = primary.password
        site.name_all()
        yield primary, standby


def test_the_shipped_scripts_make_a_standby_that_commits_wait_for_and_that_takes_the_primarys_place(
    pair: tuple[Container, Container],
) -> None:
    primary, standby = pair
    script = ("bash", str(SHIPPED.with_name("standby.sh")))
    # It waits for a primary that is not there yet.
    log = standby.start(*script).log
    primary.initialise()
    primary.serve()
    with primary.connected() as database:
        is_followed = eventually(
            lambda: database.execute(STANDBY_STATE).fetchall() == [("standby", "sync")], within_s=60
        )
        assert is_followed, last_lines(log, lines=30)
        database.execute("CREATE TABLE told AS SELECT 'kept' AS word")
    primary.machine.kill()
    with standby.connected() as database:
        database.execute("SELECT pg_promote()")
        assert database.execute("SELECT word FROM told").fetchall() == [("kept",)]
        # There is nobody for whom it would wait.
        database.execute("UPDATE told SET word = 'written'")
    standby.machine.kill()
    assert eventually(lambda: not standby.machine.pids())
    (standby.data / "postmaster.pid").unlink()
    standby.start(*script)
    assert eventually(standby.answers, within_s=30)
    with standby.connected() as database:
        assert database.execute("SELECT word, pg_is_in_recovery() FROM told").fetchall() == [("written", False)]
