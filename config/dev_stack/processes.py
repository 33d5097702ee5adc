"""Child processes of the embedded stack: how they start, how they stop, and what a killed run left of them."""

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

# Children carry the state directory under this name; by it a later run knows them as its own.
OWNER = "TABLEWIRE_UP"
POLL_S = 0.02


class StackError(Exception):
    """The embedded stack cannot run; the message says why and what to do."""


def never() -> bool:
    """Whether the one who stops a child has lost patience: no."""
    return False


libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def _death_signal(number: signal.Signals) -> Callable[[], None]:
    """What a new process calls to have the kernel send it the signal when its parent is gone, killed or not."""
    pr_set_pdeathsig = 1

    def ask() -> None:
        if libc is not None:
            libc.prctl(pr_set_pdeathsig, number)

    return ask


@dataclass(kw_only=True)
class Child:
    """One child process with its log file; it may be started again after it has ended.

    `stop_signal` asks it to end, also when this process is killed; `hurry_signal` tells it to. What is left after
    `grace_s` seconds is killed.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM
    hurry_signal: signal.Signals = signal.SIGKILL
    grace_s: float = 10
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def pid(self) -> int | None:
        """The process id of the latest start; None before the first."""
        return None if self.process is None else self.process.pid

    def start(self) -> None:
        """Start the process in a session of its own, so that a terminal's Ctrl-C reaches only its parent."""
        self.log.parent.mkdir(mode=0o700, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - commands are lists of our own words
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.cwd,
                env=self.env,
                start_new_session=True,
                preexec_fn=_death_signal(self.stop_signal),
            )

    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def stop(self, *, hurry: Callable[[], bool] = never) -> None:
        """Stop the process and wait until it is gone. `hurry` is asked again and again; True ends the patience."""
        if self.process is None:
            return
        steps = [(self.stop_signal, self.grace_s), (self.hurry_signal, 5.0), (signal.SIGKILL, 5.0)]
        for number, (step, grace_s) in enumerate(steps):
            self._signal(step)
            until = time.monotonic() + grace_s
            while self.is_running() and time.monotonic() < until and (number > 0 or not hurry()):
                time.sleep(POLL_S)
            if not self.is_running():
                return

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        if number == signal.SIGKILL:
            # Its own children too, which a killed parent cannot stop.
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)


def last_lines(log: Path, *, since: int = 0, lines: int = 12) -> str:
    """The end of a log as text, of what was written after byte `since`."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.rstrip().splitlines()[-lines:])


@dataclass(frozen=True)
class Leftover:
    """A process of an earlier run on the same state directory."""

    pid: int
    parent: int
    session: int
    cwd: Path
    title: str


def leftovers(state_dir: Path) -> list[Leftover]:
    """Find the living processes that belong to the state directory, this one excepted.

    A process belongs to it when it carries OWNER with the directory's path, or is a data server at work in one of its
    data directories; never by a remembered number, which may be a stranger's by now. Reads /proc: empty elsewhere.
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
            # Gone meanwhile, a zombie, or somebody else's.
            continue
        server = program in ("postgres", "valkey-server") and cwd.startswith(f"{home}/")
        if (server or owner) and int(entry.name) != os.getpid():
            found.append(
                Leftover(pid=int(entry.name), parent=int(parent), session=int(session), cwd=Path(cwd), title=title)
            )
    return found


def end_leftovers(state_dir: Path) -> int:
    """Stop what an earlier run left alive: programs first, then Valkey, then PostgreSQL. Says how many processes.

    Call while holding the directory's lock.
    """
    home = state_dir.resolve()
    valkey, postgres = home / "valkey", home / "postgres"
    count = len(leftovers(home))
    end(lambda: [one for one in leftovers(home) if one.cwd not in (valkey, postgres)], signal.SIGTERM)
    end(lambda: [one for one in leftovers(home) if one.cwd == valkey], signal.SIGTERM)
    end(lambda: [one for one in leftovers(home) if one.cwd == postgres], signal.SIGINT)
    return count


def end(find: Callable[[], list[Leftover]], polite: signal.Signals, *, grace_s: float = 10) -> None:
    """Ask what `find` finds to end, kill what still runs after `grace_s` seconds, and wait until it finds nothing."""
    for number, patience_s in ((polite, grace_s), (signal.SIGKILL, 5.0)):
        present = find()
        pids = {one.pid for one in present}
        for one in present:
            # Parents stop their own children; PostgreSQL's orphans end by themselves when they notice.
            is_child = one.parent in pids or one.title.startswith("postgres: ")
            if number == signal.SIGKILL or not is_child:
                with suppress(ProcessLookupError):
                    os.kill(one.pid, number)
        until = time.monotonic() + patience_s
        while find() and time.monotonic() < until:
            time.sleep(POLL_S)
