"""The embedded stack: PostgreSQL, Valkey, development chain and facilitator as child processes."""

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from config.dev_stack.postgres import Postgres
from config.dev_stack.processes import end_leftovers, never
from config.dev_stack.servers import Server, free_port
from config.dev_stack.valkey import Valkey
from config.dev_stack.wsgi_servers import Chain, Facilitator
from framework.state_directory import RECORD, lock_state_directory, read_json, secret_key, write_private
from payments.devchain import wallets
from payments.devchain.addresses import NETWORK, PRICE_FEED, UTILITY_TOKEN


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
        self._enabled = {"chain": chain, "facilitator": chain and facilitator, "postgres": postgres, "valkey": valkey}
        self._postgres_options: dict[str, Any] = {"durable": durable, "shared_buffers": shared_buffers}
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

    def environment(self) -> dict[str, str]:
        """The environment variables by which Tablewire uses these servers, and the directory's SECRET_KEY."""
        variables = {"SECRET_KEY": secret_key(self.state_dir)}
        if self.postgres:
            variables["DATABASE_URL"] = self.postgres.url
        if self.valkey:
            variables |= {"REDIS_URL": self.valkey.url, "BROKER_URL": self.valkey.url}
        if self.chain:
            variables |= {
                "RPC_URL": self.chain.url,
                "PAYMENT_NETWORK": NETWORK,
                "PAY_TO": wallets.derive_wallet(self.chain.password, wallets.MERCHANT).address,
                "TOKEN_ADDRESS": UTILITY_TOKEN,
                "TOKEN_PRICE_FEED": PRICE_FEED,
                # A wallet that was just funded has its tier at once.
                "TIER_UPGRADE_AGE_S": "0",
            }
        if self.facilitator:
            variables["FACILITATOR_URL"] = self.facilitator.url
        return variables

    def stop(self) -> None:
        """Stop facilitator, chain, Valkey, then PostgreSQL, and wait until each has ended."""
        for server in (self.facilitator, self.chain, self.valkey, self.postgres):
            if server is not None:
                server.stop(is_forced=self.is_forced)

    def _start(self) -> None:
        (self.state_dir / "logs").mkdir(mode=0o700, exist_ok=True)
        record = self.state_dir / RECORD
        known = read_json(record) or {}
        for name in self._enabled:
            known.setdefault(name, {"port": free_port(), "password": secrets.token_urlsafe(24)})
        # Before the first start: the data directory is initialised with this password.
        write_private(record, json.dumps(known))
        self._make_servers(known)
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

    def _make_servers(self, known: Mapping[str, Any]) -> None:
        """Set the attributes of the enabled servers, none started."""

        def options(name: str) -> dict[str, Any]:
            return {"home": self.state_dir / name, "log": self.state_dir / "logs" / f"{name}.log", **known[name]}

        if self._enabled["chain"]:
            self.chain = Chain(**options("chain"))
        if self._enabled["facilitator"] and self.chain:
            self.facilitator = Facilitator(chain=self.chain, **options("facilitator"))
        if self._enabled["valkey"]:
            self.valkey = Valkey(**options("valkey"))
        if self._enabled["postgres"]:
            self.postgres = Postgres(**self._postgres_options, **options("postgres"))
