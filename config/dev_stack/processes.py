"""Child processes of the embedded stack: starting and stopping them, and stopping those that a killed run left."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# The environment variable that has the state directory; a later run recognises its leftover processes by it.
OWNER = "TABLEWIRE_UP"
POLL_S = 0.02


def bytecode_variables(state_dir: Path) -> dict[str, str]:
    """Variables by which child processes share the bytecode of their imports in the state directory.

    Where PYTHONDONTWRITEBYTECODE is set, as in many container images, each process would compile 900 modules again,
    which takes longer than all else that it does at its start. Nothing is written beside the sources.
    """
    if not os.environ.get("PYTHONDONTWRITEBYTECODE") or os.environ.get("PYTHONPYCACHEPREFIX"):
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(state_dir / "bytecode")}


def never() -> bool:
    """Return False: a stop that is never forced."""
    return False


libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def _set_death_signal(number: signal.Signals) -> Callable[[], None]:
    """Return a function by which a new process has the kernel signal it when its parent ends, killed or not."""
    pr_set_pdeathsig = 1

    def set_death_signal() -> None:
        if libc is not None:
            libc.prctl(pr_set_pdeathsig, number)

    return set_death_signal


@dataclass(kw_only=True)
class Child:
    """One child process with its log file; it may be started again after it has ended.

    It gets `stop_signal` to end, also when this process is killed, `force_signal` after `grace_s` seconds or when the
    stop is forced, and SIGKILL five seconds later.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM
    force_signal: signal.Signals = signal.SIGKILL
    grace_s: float = 10
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def pid(self) -> int | None:
        return None if self.process is None else self.process.pid

    def start(self) -> None:
        """Start the process in its own session, so that Ctrl-C in a terminal reaches only this process."""
        self.log.parent.mkdir(mode=0o700, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.cwd,
                env=self.env,
                start_new_session=True,
                preexec_fn=_set_death_signal(self.stop_signal),
            )

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, *, is_forced: Callable[[], bool] = never) -> None:
        """Stop the process and wait until it has ended. `is_forced` is polled; True sends `force_signal` at once."""
        if self.process is None:
            return
        steps = [(self.stop_signal, self.grace_s), (self.force_signal, 5.0), (signal.SIGKILL, 5.0)]
        for step, (number, grace_s) in enumerate(steps):
            if not self.is_running():
                return
            if number == signal.SIGKILL:
                # Its own children too, which a killed parent cannot stop.
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
            deadline = time.monotonic() + grace_s
            while self.is_running() and time.monotonic() < deadline and (step > 0 or not is_forced()):
                time.sleep(POLL_S)


def last_lines(log: Path, *, since: int = 0, lines: int = 12) -> str:
    """The last lines of a log, from byte `since` on."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.rstrip().splitlines()[-lines:])


@dataclass(frozen=True)
class Leftover:
    """A process that an earlier run on the same state directory left."""

    pid: int
    parent: int
    session: int
    cwd: Path
    title: str


def leftovers(state_dir: Path) -> list[Leftover]:
    """Find the running processes that belong to the state directory, except this one.

    A process belongs to it when its environment has OWNER with the directory's path, or when it is a data server whose
    working directory is in it. Stored process ids are not used: they may belong to other processes by now. Reads
    /proc; on other systems there are none.
    """
    home = str(state_dir.resolve())
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            _, parent, _, session, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            cwd = str((entry / "cwd").readlink())
            program = (entry / "exe").readlink().name
            title = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            owner = f"{OWNER}={home}".encode() in (entry / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            # It has ended, is a zombie, or belongs to another user.
            continue
        server = program in ("postgres", "valkey-server") and cwd.startswith(f"{home}/")
        if (server or owner) and int(entry.name) != os.getpid():
            found.append(
                Leftover(pid=int(entry.name), parent=int(parent), session=int(session), cwd=Path(cwd), title=title)
            )
    return found


def end_leftovers(state_dir: Path) -> int:
    """Stop leftover processes, Valkey and PostgreSQL last; return their number. The directory must be locked."""
    home = state_dir.resolve()
    valkey, postgres = home / "valkey", home / "postgres"
    count = len(leftovers(home))
    end(lambda: [process for process in leftovers(home) if process.cwd not in (valkey, postgres)], signal.SIGTERM)
    end(lambda: [process for process in leftovers(home) if process.cwd == valkey], signal.SIGTERM)
    end(lambda: [process for process in leftovers(home) if process.cwd == postgres], signal.SIGINT)
    return count


def end(find: Callable[[], list[Leftover]], stop_signal: signal.Signals, *, grace_s: float = 10) -> None:
    """Stop the processes that `find` returns, kill them after `grace_s` seconds, and wait until it returns none."""
    for number, timeout_s in ((stop_signal, grace_s), (signal.SIGKILL, 5.0)):
        found = find()
        pids = {process.pid for process in found}
        for process in found:
            # Parents stop their own children, and PostgreSQL's orphaned backends end by themselves.
            is_child = process.parent in pids or process.title.startswith("postgres: ")
            if number == signal.SIGKILL or not is_child:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, number)
        deadline = time.monotonic() + timeout_s
        while find() and time.monotonic() < deadline:
            time.sleep(POLL_S)
