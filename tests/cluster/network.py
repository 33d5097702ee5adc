"""Machines made of network namespaces on one bridge: each has its own address, cable and servers."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from config.dev_stack.processes import Child
from tests.cluster import pgbouncer

BRIDGE, PROBE = "twbr0", f"twp{os.getpid()}"
NET = "10.213.77"
LOCK = Path("/run/lock/tablewire-cluster")
PROGRAMS = {
    "ip": "iproute2",
    "haproxy": "haproxy",
    "rabbitmq-server": "rabbitmq-server",
    "rabbitmqctl": "rabbitmq-server",
}


def missing() -> str:
    """Why these tests cannot run here; "" when they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    packages = sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
    if packages:
        return f"missing: apt-get install {' '.join(packages)}"
    made = subprocess.run(["ip", "link", "add", PROBE, "type", "bridge"], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no bridge can be made here: {made.stderr.strip()}"
    ip("link", "del", PROBE)
    return pgbouncer.missing()


def ip(*words: str, check: bool = True) -> None:
    """Run ip."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


@dataclass
class Machine:
    """A namespace with an address."""

    name: str
    address: str
    folder: Path
    children: list[Child] = field(default_factory=list)

    @property
    def space(self) -> str:
        """The name of the namespace."""
        return f"tw-{self.name}"

    @property
    def within(self) -> list[str]:
        """The words before a command that is to run here."""
        return ["ip", "netns", "exec", self.space]

    def start(self, name: str, *command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Child:
        """A server on this machine, started."""
        child = Child(
            name=name,
            command=[*self.within, *command],
            env={**(os.environ if env is None else env)},
            cwd=cwd or self.folder,
            log=self.folder / f"{self.name}-{name}.log",
        )
        child.start()
        self.children.append(child)
        return child

    def run(self, *command: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """What a command says that ends."""
        done = subprocess.run(
            [*self.within, *command],
            env={**(os.environ if env is None else env)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
        return done.stdout

    def cut(self) -> None:
        """Pull the cable."""
        ip("link", "set", f"v-{self.name}", "down")

    def mend(self) -> None:
        """Put it in again."""
        ip("link", "set", f"v-{self.name}", "up")

    def pids(self) -> list[int]:
        """All processes that run here."""
        output = subprocess.run(
            ["ip", "netns", "pids", self.space], capture_output=True, text=True, check=False
        ).stdout
        return [int(word) for word in output.split()]

    def kill(self) -> None:
        """kill -9 of all that runs here."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for child in self.children:
            child.stop()
        self.children.clear()


class Site:
    """The machines, the bridge between them, and this process at its end with an address too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machines: dict[str, Machine] = {}

    def machine(self, name: str) -> Machine:
        """A new machine; every other one is known to it by its name."""
        made = Machine(name, f"{NET}.{len(self.machines) + 11}", self.folder)
        ip("netns", "add", made.space)
        self.machines[name] = made
        ip("link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", made.space)
        ip("link", "set", f"v-{name}", "master", BRIDGE, "up")
        ip("-n", made.space, "addr", "add", f"{made.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", made.space, "link", "set", device, "up")
        return made

    def name_all(self, **aliases: str) -> None:
        """Write a file of hosts for each machine; an alias is another name for all whose names begin so."""
        lines = ["127.0.0.1 localhost"]
        lines += [f"{one.address} {one.name}" for one in self.machines.values()]
        for alias, start in aliases.items():
            lines += [f"{one.address} {alias}" for one in self.machines.values() if one.name.startswith(start)]
        for one in self.machines.values():
            folder = Path("/etc/netns") / one.space
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "hosts").write_text("\n".join(lines) + "\n")

    def tear_down(self) -> None:
        """End all that runs there, and take the machines away."""
        for one in self.machines.values():
            one.kill()
        for one in self.machines.values():
            until = time.monotonic() + 5
            while one.pids() and time.monotonic() < until:
                one.kill()
                time.sleep(0.1)
            # With its namespace alone the cable would go some time later, and be in the way of the next of its name.
            ip("link", "del", f"v-{one.name}", check=False)
            ip("netns", "del", one.space, check=False)
            shutil.rmtree(Path("/etc/netns") / one.space, ignore_errors=True)
        ip("link", "del", BRIDGE, check=False)


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Machines that are gone after the block, whatever happened in it, and so are those that an earlier run has left.

    One run at a time has them on this machine; another waits.
    """
    with LOCK.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with _made(folder) as made:
            yield made


@contextmanager
def _made(folder: Path) -> Iterator[Site]:
    made = Site(folder)
    output = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        if line.startswith("tw-"):
            made.machines[line.split()[0]] = Machine(line.split()[0].removeprefix("tw-"), "", folder)
    made.tear_down()
    made.machines.clear()
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(parent.stat().st_mode | 0o055)
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{NET}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        yield made
    finally:
        made.tear_down()
