"""One run of `manage.py up`: the steps in their order, then looking after the children."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

from django.conf import settings
from django.core.management.base import CommandError
from rich.console import Console

from config import environment as env
from config.celery import QUEUES
from config.dev_stack import (
    OWNER,
    PRICE_FEED,
    Child,
    Server,
    Stack,
    StackError,
    end,
    free_port,
    is_free,
    last_lines,
    leftovers,
    read_json,
    up_file,
    write_private,
)
from config.up import bind_address, summary
from config.up.restart_policy import Watched
from payments.chain import networks, rpc
from payments.chain.networks import NETWORKS
from payments.chain.rpc import RpcUnavailable
from payments.devchain import wallets
from payments.devchain.addresses import NETWORK, UTILITY_TOKEN

REVIEWS_EACH = 20
READY_S = 60.0
LOOK_S = 0.2
GIVE_BACK_S = 15.0
# Of each process of the web server (docs/decisions/0013), and of those at most so many: each thread keeps a connection
# to PostgreSQL, which has 200.
WEB_THREADS = 4
MOST_PROCESSES = 20
# The terminal and a parent process may both pass on one Ctrl-C.
SAME_SIGNAL_S = 0.5


@dataclass(kw_only=True)
class Run:
    """One run of `up`, on `host`, which may be a name. `out` prints a line of its result; progress goes to stderr."""

    host: str
    port: int
    state_dir: Path
    restaurants: int
    seeds: bool
    as_json: bool
    out: Callable[[str], object]
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    address: str = ""
    env: dict[str, str] = field(default_factory=dict)
    demo_wallets: Sequence[wallets.Wallet] | None = None
    known: dict[str, Any] = field(default_factory=dict)
    interrupted: float | None = None
    in_hurry: bool = False

    @property
    def logs(self) -> Path:
        """Where each child writes its log."""
        return self.state_dir / "logs"

    @property
    def last_file(self) -> Path:
        """What the next run keeps of this one's record: keys and passwords are stored nowhere else in clear."""
        return self.state_dir / "up.last.json"

    @property
    def base_url(self) -> str:
        """Where a client on this machine reaches the web server."""
        return f"http://{bind_address.in_url(bind_address.LOOPBACK.get(self.address, self.host))}:{self.port}"

    def say(self, text: str) -> None:
        """Print a line about what is going on."""
        self.console.print(text, markup=False, soft_wrap=True)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Stop what is under way; the second time, stop the children without patience."""
        now = time.monotonic()
        if self.interrupted is None:
            self.interrupted = now
            raise KeyboardInterrupt
        self.in_hurry = self.in_hurry or now - self.interrupted > SAME_SIGNAL_S

    def serve(self) -> None:
        """Start everything, keep it running, and stop it in order when an exception such as KeyboardInterrupt comes.

        Raises StackError or CommandError when a part does not start.
        """
        stack = Stack(
            self.state_dir,
            postgres=not os.environ.get("DATABASE_URL"),
            valkey=not os.environ.get("REDIS_URL"),
            chain=not os.environ.get("RPC_URL"),
            facilitator=not os.environ.get("FACILITATOR_URL"),
            shared_buffers=os.environ.get("POSTGRES_SHARED_BUFFERS") or "256MB",
            hurry=lambda: self.in_hurry,
        )
        # Before anything starts: a mistyped name should cost no time.
        self.address = bind_address.resolve(self.host)
        self._compare_chain()
        with ExitStack() as held:
            with self._step("PostgreSQL, Valkey, chain and facilitator"):
                held.enter_context(stack)
            if stack.leftovers:
                self.say(f"        (ended {stack.leftovers} processes that an earlier run had left)")
            held.callback(self._retire)
            self._retire()
            self._choose_port()
            self.env = self._environment(stack)
            with self._step("migrations"):
                self._manage("migrate", "--no-input")
            worker, web = self._worker(), self._web()
            # They need seconds to import what they are made of, and no rows.
            for child in (worker, web):
                held.callback(child.stop, hurry=lambda: self.in_hurry)
                child.start()
            self._seed()
            with self._step(f"worker and web server on {self.base_url}"):
                self._wait_until_ready(web)
            held.callback(self._say_stopping)
            parts: list[Child | Server] = [*stack.servers, worker, web]
            up = self._record(parts)
            if self.as_json:
                self.out(json.dumps(up))
            else:
                summary.show(
                    up,
                    state_dir=self.state_dir,
                    is_default_dir=self.state_dir == (settings.BASE_DIR / ".state").resolve(),
                    logs=self.logs,
                    reviewed=self._reviewed(),
                )
            self._watch(parts)

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        """Show that a step is under way, on a terminal, and how long it took."""
        started = time.monotonic()
        with self.console.status(name):
            yield
        self.say(f"{time.monotonic() - started:6.1f} s  {name}")

    def _retire(self) -> None:
        """Take the record out of the way; its presence says that somebody serves."""
        if up_file(self.state_dir).exists():
            up_file(self.state_dir).replace(self.last_file)

    def _say_stopping(self) -> None:
        self.say("Stopping web server, worker, facilitator, chain, Valkey, PostgreSQL.")

    def _compare_chain(self) -> None:
        """Ask a chain of the user's own whether it is the one that is sold on. One that is away may come later."""
        if not env.is_set("RPC_URL"):
            return
        try:
            found = int(rpc.call("eth_chainId"), 16)
        except RpcUnavailable:
            self.say("RPC_URL does not answer: nothing can be paid and no tier be read until it does.")
            return
        if found != networks.ours().chain_id:
            raise CommandError(
                f"RPC_URL is chain {found}, but PAYMENT_NETWORK is {settings.PAYMENT_NETWORK}: they have to be one."
            )

    def _choose_port(self) -> None:
        if self.port == 0:
            try:
                self.port = free_port(host=self.address)
            except OSError as error:
                raise CommandError(f"{self.host} is not an address of this machine ({error.strerror}).") from None
        elif not is_free(self.port, host=self.address):
            raise CommandError(
                f"Port {self.port} of {self.host} is taken or not ours: choose another one with --port."
            )

    def _environment(self, stack: Stack) -> dict[str, str]:
        hosts = {*settings.ALLOWED_HOSTS, *bind_address.names(host=self.host, address=self.address)}
        given = {name: value for name, value in os.environ.items() if value}
        unset = {
            "DATABASE_URL": stack.database_url,
            "REDIS_URL": stack.redis_url,
            "BROKER_URL": given.get("REDIS_URL") or stack.redis_url,
            "SECRET_KEY": stack.secret_key,
            "PUBLIC_BASE_URL": self.base_url,
            "ALLOWED_HOSTS": ",".join(sorted(hosts)),
        }
        if stack.chain:
            self.demo_wallets = wallets.demo(stack.chain.password)
            unset |= {
                "RPC_URL": stack.chain.url,
                "FACILITATOR_URL": stack.facilitator_url,
                "PAYMENT_NETWORK": NETWORK,
                "PAY_TO": wallets.derive(stack.chain.password, wallets.MERCHANT).address,
                "TOKEN_ADDRESS": UTILITY_TOKEN,
                "TOKEN_PRICE_FEED": PRICE_FEED,
                # A wallet that was just filled shows its tier at once.
                "TIER_UPGRADE_AGE_S": "0",
            }
        ours = {
            "TABLEWIRE_STATE_DIR": str(self.state_dir),
            OWNER: str(self.state_dir),
            "PYTHONUNBUFFERED": "1",
        }
        return {name: value for name, value in (unset | given | ours).items() if value}

    def _manage(self, *words: str, output: IO[bytes] | int | None = None) -> bytes:
        """Run one of our own commands to its end and return what it printed, if `output` is a pipe; else log it.

        Raises CommandError with the end of the log.
        """
        log = self.logs / f"{words[0]}.log"
        log.unlink(missing_ok=True)
        with log.open("wb") as file:
            command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *words]
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.DEVNULL,
                stdout=file if output is None else output,
                stderr=file if output in (None, subprocess.PIPE) else output,
                env=self.env,
                start_new_session=True,
            )
            try:
                printed, _ = process.communicate()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
                    process.wait()
        if process.returncode:
            raise CommandError(f"`manage.py {words[0]}` failed. {last_lines(log)}".rstrip())
        return printed or b""

    def _seed(self) -> None:
        """Add accounts and keys, and restaurants at the same time. Idempotent; keys of an earlier run stay valid."""
        self.known = read_json(self.last_file) or {}
        if not self.seeds:
            return
        started = time.monotonic()
        with ThreadPoolExecutor() as pool:
            told = pool.submit(self._seed_accounts)
            if self.restaurants:
                reviews = REVIEWS_EACH * self.restaurants
                size = ("--restaurants", str(self.restaurants), "--reviews", str(reviews), "--seed", "1")
                # It draws its own progress.
                self._manage("demo_data", *size, "--if-empty", output=sys.stderr.fileno())
            told.result()
        self.say(f"{time.monotonic() - started:6.1f} s  accounts, keys, restaurants and reviews")

    def _seed_accounts(self) -> None:
        keep = ["--keep", str(self.last_file)] if self.known else []
        self.known |= json.loads(self._manage("seed", "--json", *keep, output=subprocess.PIPE))
        # Now, lest a kill before the first record loses them.
        write_private(self.last_file, json.dumps(self.known))

    def _python(self, name: str, *words: str, grace_s: float, **env: str) -> Child:
        return Child(
            name=name,
            command=[sys.executable, "-m", *words],
            env=self.env | env,
            cwd=settings.BASE_DIR,
            log=self.logs / f"{name}.log",
            grace_s=grace_s,
        )

    def _worker(self) -> Child:
        schedule = str(self.state_dir / "celerybeat-schedule")
        flags = ("--pool", "prefork", "--concurrency", "2", "--loglevel", "info")
        return self._python(
            *("worker", "celery", "-A", "config", "worker", "-B", "-s", schedule, "-Q", ",".join(QUEUES), *flags),
            *("--without-gossip", "--without-mingle"),
            # Tasks may end within the soft shutdown, and those that do not are given back after it.
            grace_s=settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT + GIVE_BACK_S,
            REMAP_SIGTERM="SIGQUIT",
        )

    def _web(self) -> Child:
        processes = min(os.cpu_count() or 1, MOST_PROCESSES)
        return self._python(
            *("web", "granian", "config.wsgi:application", "--interface", "wsgi", "--http", "1", "--no-ws"),
            *("--host", self.address, "--port", str(self.port), "--workers", str(processes), "--backlog", "1024"),
            *("--runtime-mode", "st"),
            *("--respawn-failed-workers", "--respawn-interval", "1", "--workers-kill-timeout", "5"),
            grace_s=30,
            # Its own variable rather than its flag: payments/x402/facilitator_client.py has to know too.
            GRANIAN_BLOCKING_THREADS=str(WEB_THREADS),
        )

    def _wait_until_ready(self, web: Child) -> None:
        until = time.monotonic() + READY_S
        answer = "no answer yet"
        while time.monotonic() < until and web.is_running():
            try:
                status, content = self._get("/readyz")
                if status == http.HTTPStatus.OK:
                    return
                answer = f"{status} {content.decode(errors='replace')}"
            except (OSError, http.client.HTTPException) as error:
                answer = str(error)
            time.sleep(LOOK_S / 4)
        raise CommandError(f"The web server is not ready ({answer}). The end of {web.log}:\n{last_lines(web.log)}")

    def _get(self, path: str) -> tuple[int, bytes]:
        """What our web server answers. Raises OSError or HTTPException."""
        connection = http.client.HTTPConnection(self.base_url.removeprefix("http://"), timeout=5)
        with closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()

    def _reviewed(self) -> str | None:
        """The restaurant with the most reviews, as any client may ask; None when there are no reviews."""
        with suppress(OSError, http.client.HTTPException, ValueError):
            status, content = self._get("/v1/restaurants?limit=1")
            hits = json.loads(content)["data"] if status == http.HTTPStatus.OK else []
            return next((hit["slug"] for hit in hits if hit["review_count"]), None)
        return None

    def _payments(self) -> summary.Payments:
        """What the children were told, by the embedded chain's variables or by those of a chain of one's own."""
        return summary.Payments(
            rpc_url=self.env["RPC_URL"],
            facilitator_url=self.env["FACILITATOR_URL"],
            network=NETWORKS[self.env.get("PAYMENT_NETWORK", settings.PAYMENT_NETWORK)],
            pay_to=self.env["PAY_TO"],
            token=self.env.get("TOKEN_ADDRESS"),
            wallets=self.demo_wallets,
        )

    def _record(self, parts: list[Child | Server]) -> dict[str, Any]:
        """Write up.json, from which every other command, test and script learns where everything is."""
        up = summary.describe(
            base_url=self.base_url,
            database_url=self.env["DATABASE_URL"],
            redis_url=self.env["REDIS_URL"],
            payments=self._payments(),
            known=self.known,
            pids={"up": os.getpid(), **{part.name: part.pid for part in parts}},
        )
        write_private(up_file(self.state_dir), json.dumps(up, indent=1))
        return up

    def _watch(self, parts: list[Child | Server]) -> None:
        """Start again what ends by itself, for ever."""
        watched = [Watched(part=part, started=time.monotonic()) for part in parts]
        while True:
            time.sleep(LOOK_S)
            for one in watched:
                now = time.monotonic()
                if one.part.is_running():
                    one.due = 0.0
                elif one.due == 0.0:
                    pause = one.note_end(now)
                    self.say(
                        f"{one.part.name} ended unexpectedly; starting it again in {pause:.0f} s ({one.part.log})."
                    )
                elif now >= one.due:
                    self._restart(one)
                    self._record(parts)

    def _restart(self, one: Watched) -> None:
        session = one.part.pid
        # What a killed parent has left would still hold its port.
        end(lambda: [left for left in leftovers(self.state_dir) if left.session == session], signal.SIGTERM)
        one.started, one.due = time.monotonic(), 0.0
        try:
            if isinstance(one.part, Server):
                # The other children know its address.
                one.part.start(keep_port=True)
            else:
                one.part.start()
        except StackError as error:
            self.say(str(error))
