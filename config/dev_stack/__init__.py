"""The embedded stack: PostgreSQL, Valkey, development chain and facilitator as child processes."""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from config.dev_stack.postgres import Postgres
from config.dev_stack.processes import end_leftovers, never
from config.dev_stack.servers import Server, free_port, is_free
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
            running.enter_context(self.reserved())
            self.start(self.servers)
            self._running = running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Hold the directory, with ports and passwords chosen and nothing started. At the end, stop what runs.

        Programs that need only `environment` can be started before `start`.
        """
        with lock_state_directory(self.state_dir):
            self.leftovers = end_leftovers(self.state_dir)
            try:
                self._make_servers()
                yield
            finally:
                self.stop()
                # A signal may come between the start of a child and the assignment of its process.
                end_leftovers(self.state_dir)

    def start(self, servers: Sequence[Server]) -> None:
        """Start these servers, each before the first is waited for."""
        for server in servers:
            server.begin()
        for server in servers:
            server.wait()

    @property
    def servers(self) -> list[Server]:
        """The enabled servers, in the order in which they start."""
        return [*self.payment_servers, *self.data_servers]

    @property
    def payment_servers(self) -> list[Server]:
        """The chain and the facilitator: only payments need them."""
        return [server for server in (self.chain, self.facilitator) if server is not None]

    @property
    def data_servers(self) -> list[Server]:
        """Valkey and PostgreSQL, which is the last: on a first start it initialises its data before it starts."""
        return [server for server in (self.valkey, self.postgres) if server is not None]

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

    def _make_servers(self) -> None:
        """Set the attributes of the enabled servers, none started, on ports that are free, and store the ports."""
        (self.state_dir / "logs").mkdir(mode=0o700, exist_ok=True)
        record = self.state_dir / RECORD
        known = read_json(record) or {}
        for name in self._enabled:
            options = known.setdefault(name, {"port": free_port(), "password": secrets.token_urlsafe(24)})
            if self._enabled[name] and not is_free(options["port"]):
                options["port"] = free_port()
        # Before the first start: the data directory is initialised with this password.
        write_private(record, json.dumps(known))

        def options_of(name: str) -> dict[str, Any]:
            return {"home": self.state_dir / name, "log": self.state_dir / "logs" / f"{name}.log", **known[name]}

        if self._enabled["chain"]:
            self.chain = Chain(**options_of("chain"))
        if self._enabled["facilitator"] and self.chain:
            self.facilitator = Facilitator(chain=self.chain, **options_of("facilitator"))
        if self._enabled["valkey"]:
            self.valkey = Valkey(**options_of("valkey"))
        if self._enabled["postgres"]:
            self.postgres = Postgres(**self._postgres_options, **options_of("postgres"))
