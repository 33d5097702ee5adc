"""The embedded stack: PostgreSQL and Valkey as child processes that live in one state directory."""

import json
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from config.stack.chain import PRICE_FEED
from config.stack.postgres import Postgres
from config.stack.processes import OWNER, Child, StackError, end, end_leftovers, last_lines, leftovers, never
from config.stack.servers import Server, free_port, is_free
from config.stack.state import RECORD, locked, read_json, read_up, secret_key, up_file, write_private
from config.stack.valkey import Valkey

__all__ = [
    "OWNER",
    "PRICE_FEED",
    "Child",
    "Server",
    "Stack",
    "StackError",
    "end",
    "free_port",
    "is_free",
    "last_lines",
    "leftovers",
    "read_json",
    "read_up",
    "up_file",
    "write_private",
]


class Stack:
    """PostgreSQL and Valkey on free ports of 127.0.0.1, running inside the `with` block.

    The data, ports and passwords stay in `state_dir` (made with 0700) and serve the next start too. One process at a
    time may use a directory. Either server can be left out. `durable=False` is for data that nobody will miss.
    Raises StackError on entering when the directory is in use or a server does not start.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        postgres: bool = True,
        valkey: bool = True,
        durable: bool = True,
        shared_buffers: str = "256MB",
        hurry: Callable[[], bool] = never,
    ) -> None:
        # Resolved, for so the kernel names the directory in which a process works.
        self.state_dir = state_dir.resolve()
        self.hurry = hurry
        self._wants = {"postgres": postgres, "valkey": valkey}
        self._durable = durable
        self._shared_buffers = shared_buffers
        self._held = ExitStack()
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None
        self.leftovers = 0

    def __enter__(self) -> "Stack":
        with ExitStack() as held:
            held.enter_context(locked(self.state_dir))
            self.leftovers = end_leftovers(self.state_dir)
            # Also what a signal that came between a child's start and its noting down has left.
            held.callback(end_leftovers, self.state_dir)
            held.callback(self.stop)
            self._start()
            self._held = held.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    @property
    def servers(self) -> list[Server]:
        """Those that run here, in the order in which they start."""
        return [server for server in (self.postgres, self.valkey) if server is not None]

    @property
    def database_url(self) -> str | None:
        """The address of the embedded PostgreSQL; None when it was left out."""
        return self.postgres.url if self.postgres else None

    @property
    def redis_url(self) -> str | None:
        """The address of the embedded Valkey; None when it was left out."""
        return self.valkey.url if self.valkey else None

    @property
    def pids(self) -> dict[str, int | None]:
        """The process ids by the names `postgres` and `valkey`; None for one that was left out."""
        return {
            "postgres": self.postgres.pid if self.postgres else None,
            "valkey": self.valkey.pid if self.valkey else None,
        }

    @property
    def secret_key(self) -> str:
        """The state directory's own SECRET_KEY."""
        return secret_key(self.state_dir)

    def stop(self) -> None:
        """Stop Valkey, then PostgreSQL, and wait until both are gone."""
        for server in reversed(self.servers):
            server.stop(hurry=self.hurry)

    def _start(self) -> None:
        logs = self.state_dir / "logs"
        logs.mkdir(mode=0o700, exist_ok=True)
        record = self.state_dir / RECORD
        known = read_json(record) or {}
        for name in self._wants:
            known.setdefault(name, {"port": free_port(), "password": secrets.token_urlsafe(24)})
        # Before the first start: the data directory is made with this password and opens with no other.
        write_private(record, json.dumps(known))
        if self._wants["postgres"]:
            self.postgres = Postgres(
                home=self.state_dir / "postgres",
                log=logs / "postgres.log",
                durable=self._durable,
                shared_buffers=self._shared_buffers,
                **known["postgres"],
            )
        if self._wants["valkey"]:
            self.valkey = Valkey(home=self.state_dir / "valkey", log=logs / "valkey.log", **known["valkey"])
        for server in self.servers:
            server.start()
        ports = {
            name: server.port for name, server in (("postgres", self.postgres), ("valkey", self.valkey)) if server
        }
        write_private(
            record, json.dumps({name: known[name] | {"port": ports.get(name, known[name]["port"])} for name in known})
        )
