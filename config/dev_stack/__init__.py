"""The embedded stack: PostgreSQL, Valkey, development chain and facilitator as child processes."""

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from config.dev_stack.chain import Chain
from config.dev_stack.facilitator import Facilitator
from config.dev_stack.postgres import Postgres
from config.dev_stack.processes import OWNER, Child, end, end_leftovers, last_lines, leftovers, never
from config.dev_stack.servers import Server, free_port, is_free
from config.dev_stack.valkey import Valkey
from framework.state_directory import (
    RECORD,
    lock_state_directory,
    read_json,
    secret_key,
    write_private,
)

__all__ = [
    "OWNER",
    "Child",
    "Server",
    "Stack",
    "end",
    "free_port",
    "is_free",
    "last_lines",
    "leftovers",
]


class Stack:
    """The servers on free ports of 127.0.0.1, which run inside the `with` block.

    Data, ports and passwords are stored in `state_dir` (created with 0700) for the next start. One process at a time
    may use a directory. Each server can be left out; without the chain there is no facilitator. `durable=False` is for
    disposable data. `is_forced` is polled while the servers are stopped; True stops them without grace.
    Entering raises StackError when the directory is in use or a server does not start.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        postgres: bool = True,
        valkey: bool = True,
        chain: bool = True,
        facilitator: bool = True,
        durable: bool = True,
        shared_buffers: str = "256MB",
        is_forced: Callable[[], bool] = never,
    ) -> None:
        # Resolved, as /proc shows the working directory of a process.
        self.state_dir = state_dir.resolve()
        self.is_forced = is_forced
        self._enabled = {
            "chain": chain,
            "facilitator": chain and facilitator,
            "postgres": postgres,
            "valkey": valkey,
        }
        self._durable = durable
        self._shared_buffers = shared_buffers
        self._running = ExitStack()
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None
        self.chain: Chain | None = None
        self.facilitator: Facilitator | None = None
        self.leftovers = 0

    def __enter__(self) -> "Stack":
        with ExitStack() as running:
            running.enter_context(lock_state_directory(self.state_dir))
            self.leftovers = end_leftovers(self.state_dir)
            # A signal may come between the start of a child and the assignment of its process.
            running.callback(end_leftovers, self.state_dir)
            running.callback(self.stop)
            self._start()
            self._running = running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    @property
    def servers(self) -> list[Server]:
        """The enabled servers, in the order in which they start."""
        # PostgreSQL is the last: on a first start it initialises its data first, while the others start.
        every = (self.chain, self.facilitator, self.valkey, self.postgres)
        return [server for server in every if server is not None]

    @property
    def database_url(self) -> str | None:
        """The URL of PostgreSQL; None when it was left out."""
        return self.postgres.url if self.postgres else None

    @property
    def redis_url(self) -> str | None:
        """The URL of Valkey; None when it was left out."""
        return self.valkey.url if self.valkey else None

    @property
    def rpc_url(self) -> str | None:
        """The URL of the chain's node; None when it was left out."""
        return self.chain.url if self.chain else None

    @property
    def facilitator_url(self) -> str | None:
        """The URL of the facilitator; None when it was left out."""
        return self.facilitator.url if self.facilitator else None

    @property
    def pids(self) -> dict[str, int | None]:
        """The process ids by server name; None for one that was left out."""
        started = {server.name: server.pid for server in self.servers}
        return {name: started.get(name) for name in self._enabled}

    @property
    def secret_key(self) -> str:
        """The state directory's SECRET_KEY."""
        return secret_key(self.state_dir)

    def stop(self) -> None:
        """Stop facilitator, chain, Valkey, then PostgreSQL, and wait until each has ended."""
        for server in (self.facilitator, self.chain, self.valkey, self.postgres):
            if server is not None:
                server.stop(is_forced=self.is_forced)

    def _start(self) -> None:
        logs = self.state_dir / "logs"
        logs.mkdir(mode=0o700, exist_ok=True)
        record = self.state_dir / RECORD
        known = read_json(record) or {}
        for name in self._enabled:
            known.setdefault(name, {"port": free_port(), "password": secrets.token_urlsafe(24)})
        # Before the first start: the data directory is initialised with this password.
        write_private(record, json.dumps(known))
        self._make_servers(logs, known)
        # All of them are started before the first is waited for.
        for server in self.servers:
            server.begin()
        for server in self.servers:
            # The facilitator already has the chain's URL.
            server.wait(keep_port=server is self.chain)
        ports = {server.name: server.port for server in self.servers}
        write_private(
            record, json.dumps({name: known[name] | {"port": ports.get(name, known[name]["port"])} for name in known})
        )

    def _make_servers(self, logs: Path, known: Mapping[str, Any]) -> None:
        """Set the attributes of the enabled servers, none started."""
        if self._enabled["chain"]:
            self.chain = Chain(home=self.state_dir / "chain", log=logs / "chain.log", **known["chain"])
        if self._enabled["facilitator"] and self.chain:
            self.facilitator = Facilitator(
                home=self.state_dir / "facilitator",
                log=logs / "facilitator.log",
                chain=self.chain,
                **known["facilitator"],
            )
        if self._enabled["valkey"]:
            self.valkey = Valkey(home=self.state_dir / "valkey", log=logs / "valkey.log", **known["valkey"])
        if self._enabled["postgres"]:
            self.postgres = Postgres(
                home=self.state_dir / "postgres",
                log=logs / "postgres.log",
                durable=self._durable,
                shared_buffers=self._shared_buffers,
                **known["postgres"],
            )
