"""What processes cost, as the kernel counts it: CPU seconds and memory of a server and of its backends."""

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import psycopg

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
LISTENING, ESTABLISHED = "0A", "01"
BACKENDS = "SELECT pid, client_port FROM pg_stat_activity WHERE client_port IS NOT NULL AND pid <> pg_backend_pid()"
SOCKET = re.compile(r"socket:\[([0-9]+)\]")


@dataclass(frozen=True)
class CpuTimes:
    """CPU seconds so far, by process."""

    server: dict[int, float]
    database: dict[int, float]


@dataclass(frozen=True)
class Meter:
    """Reads what the server on a port of this machine costs, and the backends that it is connected to."""

    port: int
    database_url: str

    def processes(self) -> set[int]:
        """Who listens on the port."""
        return processes_with_sockets(
            {inode for inode, local, state in sockets() if state == LISTENING and local == self.port}
        )

    def read(self, server: Collection[int]) -> CpuTimes:
        """What these processes have spent so far; the backends are none where the database is on another machine."""
        held = socket_inodes(server)
        ports = {local for inode, local, state in sockets() if state == ESTABLISHED and inode in held}
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            backends = {pid for pid, port in connection.execute(BACKENDS) if port in ports and is_postgres(pid)}
        return CpuTimes({pid: cpu_s(pid) for pid in server}, {pid: cpu_s(pid) for pid in backends})


def cpu_between(before: dict[int, float], after: dict[int, float]) -> float:
    """CPU seconds between the two; a process that is new has spent all of its own in between."""
    return sum(spent - before.get(pid, 0.0) for pid, spent in after.items())


def sockets() -> Iterable[tuple[int, int, str]]:
    """The TCP sockets of this machine: inode, local port and state."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not Path(table).exists():
            continue
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            yield int(words[9]), int(words[1].rpartition(":")[2], 16), words[3]


def processes_with_sockets(wanted: Collection[int]) -> set[int]:
    """The processes that have one of these sockets open."""
    every = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
    return {pid for pid in every if socket_inodes([pid]) & set(wanted)}


def socket_inodes(pids: Iterable[int]) -> set[int]:
    """The sockets that these processes have open."""
    found = set()
    for pid in pids:
        try:
            for file in Path(f"/proc/{pid}/fd").iterdir():
                if named := SOCKET.fullmatch(str(file.readlink())):
                    found.add(int(named[1]))
        except OSError:
            # It has ended meanwhile, or is another user's.
            continue
    return found


def cpu_s(pid: int) -> float:
    """User and system time of all threads of a process; 0 where it has ended."""
    try:
        # The name in brackets may hold anything.
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) * TICK_S


def resident_mb(pid: int) -> float:
    """Its resident memory in megabytes; 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def is_postgres(pid: int) -> bool:
    """Whether a process of this machine with this number is one of PostgreSQL's."""
    try:
        return "postgres" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
