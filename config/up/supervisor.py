"""One run of `manage.py up`: start everything, then restart what ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import CommandError
from rich.console import Console

from config import environment as env
from config.dev_stack import Stack
from config.dev_stack.processes import OWNER, Child, bytecode_variables, end, last_lines, leftovers
from config.dev_stack.servers import Server, fetch, free_port, is_free
from config.public_address import is_public
from config.up import bind_address, summary
from framework.cli.progress import timed_step
from framework.state_directory import StackError, read_json, up_record_path, write_private
from payments.devchain import wallets

READY_TIMEOUT_S = 60.0
POLL_S = 0.2
REQUEUE_S = 15.0
# Threads of each process of the web server (docs/decisions/0013), and its processes: each thread has a connection to
# PostgreSQL, which allows 200.
WEB_THREADS = 4
MAX_WEB_PROCESSES = 20
# A terminal and a parent process may both deliver the same Ctrl-C.
DUPLICATE_SIGNAL_S = 0.5
# The delay doubles with each failure; a process that has run for a while is restarted at once.
MAX_DELAY_S = 30.0
STABLE_AFTER_S = 60.0


@dataclass
class Watched:
    """A process that is started again when it ends. Moments are of time.monotonic()."""

    process: Child | Server
    started_at: float
    failures: int = 0
    restart_at: float | None = None

    def schedule_restart(self, now: float) -> float:
        self.failures = 0 if now - self.started_at > STABLE_AFTER_S else self.failures
        delay_s = min(MAX_DELAY_S, 2.0 ** (self.failures - 1)) if self.failures else 0.0
        self.failures += 1
        self.restart_at = now + delay_s
        return delay_s


@dataclass(kw_only=True)
class Run:
    """One run of `up` on `host`, a name or an address. `out` prints the result; progress goes to stderr."""

    host: str
    port: int
    state_dir: Path
    restaurants: int
    seeds: bool
    as_json: bool
    opens_browser: bool
    out: Callable[[str], object]
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    address: str = ""
    env: dict[str, str] = field(default_factory=dict)
    demo_wallets: Sequence[wallets.Wallet] | None = None
    known: dict[str, Any] = field(default_factory=dict)
    interrupted_at: float | None = None
    is_forced: bool = False

    @property
    def logs(self) -> Path:
        return self.state_dir / "logs"

    @property
    def last_file(self) -> Path:
        """The record of the previous run: keys and passwords are not stored in plain text anywhere else."""
        return self.state_dir / "up.last.json"

    @property
    def migrating_file(self) -> Path:
        """It exists until the database is migrated: the web server (config/up/web.py) waits for its end."""
        return self.state_dir / "migrating"

    @property
    def base_url(self) -> str:
        """The URL by which clients on this machine reach the web server."""
        return f"http://{bind_address.url_host(bind_address.LOOPBACK.get(self.address, self.host))}:{self.port}"

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the run; a second signal stops the children without grace."""
        now = time.monotonic()
        if self.interrupted_at is None:
            self.interrupted_at = now
            raise KeyboardInterrupt
        self.is_forced = self.is_forced or now - self.interrupted_at > DUPLICATE_SIGNAL_S

    def serve(self) -> None:
        """Start everything, restart what ends, and stop all on an exception. Raises StackError or CommandError."""
        stack = Stack(
            self.state_dir,
            postgres=not os.environ.get("DATABASE_URL"),
            valkey=not os.environ.get("REDIS_URL"),
            chain=not os.environ.get("RPC_URL"),
            facilitator=not os.environ.get("FACILITATOR_URL"),
            shared_buffers=os.environ.get("POSTGRES_SHARED_BUFFERS") or "256MB",
            is_forced=lambda: self.is_forced,
        )
        # Before anything is started, so that wrong values fail at once.
        self.address = bind_address.resolve(self.host)
        self._check_chain()
        with ExitStack() as running:
            running.enter_context(stack.reserved())
            if stack.leftovers:
                self.say(f"        (stopped {stack.leftovers} processes of an earlier run)")
            running.callback(self._withdraw_record)
            self._withdraw_record()
            self._choose_port()
            self.env = self._environment(stack)
            worker, web = self._worker(), self._web()

            def start(child: Child) -> None:
                running.callback(child.stop, is_forced=lambda: self.is_forced)
                child.start()

            self.migrating_file.touch()
            self.known = read_json(self.last_file) or {}
            # It imports for seconds before it needs a server.
            start(web)
            with timed_step(self.console, "PostgreSQL and Valkey"):
                stack.start(stack.data_servers)
            try:
                self._prepare_database(web)
            except CommandError:
                # Such as a full disk, on which PostgreSQL ends.
                for server in stack.data_servers:
                    server.require_running()
                raise
            with timed_step(self.console, f"web server on {self.base_url}, chain, facilitator and worker"):
                self._wait_until_ready(web)
                stack.start(stack.payment_servers)
                start(worker)
            running.callback(self.say, "Stopping web server, worker, facilitator, chain, Valkey, PostgreSQL.")
            processes: list[Child | Server] = [*stack.servers, worker, web]
            up = self._write_record(processes)
            if self.as_json:
                self.out(json.dumps(up))
            else:
                summary.print_panel(
                    up,
                    state_dir=self.state_dir,
                    is_default_dir=self.state_dir == (settings.BASE_DIR / ".state").resolve(),
                    logs=self.logs,
                    reviewed=self._reviewed_slug(),
                )
            if self.opens_browser and not summary.open_browser(up["pages"]["landing"]):
                self.say("No browser was found. Open the landing page yourself.")
            self._watch(processes)

    def _withdraw_record(self) -> None:
        """Rename the record: it exists only while `up` runs."""
        if up_record_path(self.state_dir).exists():
            up_record_path(self.state_dir).replace(self.last_file)

    def _check_chain(self) -> None:
        """Check that RPC_URL is a node of PAYMENT_NETWORK; one that does not answer may be started later."""
        if not env.is_set("RPC_URL"):
            return
        from payments.chain import networks, rpc

        try:
            chain_id = int(rpc.call("eth_chainId"), 16)
        except rpc.RpcUnavailable:
            self.say("RPC_URL does not answer: payments and tiers do not work until it does.")
            return
        if chain_id != networks.payment_network().chain_id:
            raise CommandError(
                f"RPC_URL is chain {chain_id}, but PAYMENT_NETWORK is {settings.PAYMENT_NETWORK}: use one network."
            )

    def _choose_port(self) -> None:
        if self.port == 0:
            try:
                self.port = free_port(host=self.address)
            except OSError as error:
                raise CommandError(f"{self.host} is not an address of this machine ({error.strerror}).") from None
        elif not is_free(self.port, host=self.address):
            raise CommandError(
                f"Port {self.port} of {self.host} is in use or not permitted: choose another one with --port."
            )

    def _environment(self, stack: Stack) -> dict[str, str]:
        hosts = {*settings.ALLOWED_HOSTS, *bind_address.allowed_hosts(host=self.host, address=self.address)}
        if stack.chain:
            self.demo_wallets = wallets.derive_demo_wallets(stack.chain.password)
        defaults = {**stack.environment(), "PUBLIC_BASE_URL": self.base_url, "ALLOWED_HOSTS": ",".join(sorted(hosts))}
        if not is_public():
            defaults |= {"MAILBOX_DIR": str(self.state_dir / "mail"), "UCP_ENABLED": "true"}
        configured = {name: value for name, value in os.environ.items() if value}
        fixed = {"TABLEWIRE_STATE_DIR": str(self.state_dir), OWNER: str(self.state_dir), "PYTHONUNBUFFERED": "1"}
        return defaults | configured | bytecode_variables(self.state_dir) | fixed

    def _prepare_database(self, web: Child) -> None:
        """Migrate, and seed unless --no-seed. Idempotent; keys of an earlier run stay valid.

        The web server serves as soon as the tables are there. Raises CommandError if it fails.
        """
        command = [sys.executable, "-m", "config.up.schema"]
        # An error of the database is reported by the migration.
        if not subprocess.run(command, env=self.env, stderr=subprocess.DEVNULL, check=False).returncode:  # noqa: S603 - our own command
            self.migrating_file.unlink()
            # The other processes import for seconds, too: if all began at once, the web server would be ready last.
            self._wait_until_ready(web)
        keep = ("--keep", str(self.last_file)) if self.known else ()
        seed = ("seed", "--json", "--migrate", "--restaurants", str(self.restaurants), *keep)
        with self._manage(*(seed if self.seeds else ("migrate", "--no-input", "--verbosity", "0"))) as lines:
            for line in lines:
                result = json.loads(line)
                if result.get("migrated"):
                    self.migrating_file.unlink(missing_ok=True)
                else:
                    self.known |= result
                    # At once, so that a kill before the first record does not lose them.
                    write_private(self.last_file, json.dumps(self.known))
        self.migrating_file.unlink(missing_ok=True)

    @contextmanager
    def _manage(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Run a command of manage.py, which shows its own progress on stderr, and yield its output.

        Raises CommandError if it fails.
        """
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=self.env,
            start_new_session=True,
        )
        try:
            yield cast("IO[bytes]", process.stdout)
            process.wait()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
        if process.returncode:
            raise CommandError(f"`manage.py {arguments[0]}` failed.")

    def _python(self, name: str, *arguments: str, grace_s: float, **env: str) -> Child:
        return Child(
            name=name,
            command=[sys.executable, "-m", *arguments],
            env=self.env | env,
            cwd=settings.BASE_DIR,
            log=self.logs / f"{name}.log",
            grace_s=grace_s,
        )

    def _worker(self) -> Child:
        schedule, queues = str(self.state_dir / "celerybeat-schedule"), ",".join(settings.TASK_QUEUES)
        flags = ("--pool", "prefork", "--concurrency", "2", "--loglevel", "info")
        return self._python(
            *("worker", "celery", "-A", "config", "worker", "-B", "-s", schedule, "-Q", queues, *flags),
            *("--without-gossip", "--without-mingle"),
            # Tasks may end during the soft shutdown; those that do not are requeued after it.
            grace_s=settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT + REQUEUE_S,
            REMAP_SIGTERM="SIGQUIT",
        )

    def _web(self) -> Child:
        processes = min(os.cpu_count() or 1, MAX_WEB_PROCESSES)
        return self._python(
            *("web", "granian", "config.up.web:application", "--interface", "wsgi", "--http", "1", "--no-ws"),
            *("--host", self.address, "--port", str(self.port), "--workers", str(processes), "--backlog", "1024"),
            *("--runtime-mode", "st"),
            *("--respawn-failed-workers", "--respawn-interval", "1", "--workers-kill-timeout", "5"),
            grace_s=30,
            # A variable rather than a flag: payments/x402/facilitator_client.py reads it too.
            GRANIAN_BLOCKING_THREADS=str(WEB_THREADS),
            TABLEWIRE_MIGRATING=str(self.migrating_file),
        )

    def _wait_until_ready(self, web: Child) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        answer = "no answer yet"
        while time.monotonic() < deadline and web.is_running():
            try:
                status, body = self._get("/readyz")
                if status == 200:
                    return
                answer = f"{status} {body.decode(errors='replace')}"
            except OSError as error:
                answer = str(error)
            time.sleep(POLL_S / 4)
        raise CommandError(f"The web server is not ready ({answer}). The end of {web.log}:\n{last_lines(web.log)}")

    def _get(self, path: str) -> tuple[int, bytes]:
        return fetch(f"{self.base_url}{path}", timeout_s=5)

    def _reviewed_slug(self) -> str | None:
        """The slug of a restaurant that has reviews, from the public API, or None."""
        with suppress(OSError, ValueError):
            status, body = self._get("/v1/restaurants?limit=1")
            hits = json.loads(body)["data"] if status == 200 else []
            return next((hit["slug"] for hit in hits if hit["review_count"]), None)
        return None

    def _write_record(self, processes: list[Child | Server]) -> dict[str, Any]:
        """Write up.json, which other commands, tests and scripts read."""
        up = summary.build_record(
            base_url=self.base_url,
            env=self.env,
            wallets=self.demo_wallets,
            known=self.known,
            pids={"up": os.getpid(), **{process.name: process.pid for process in processes}},
        )
        write_private(up_record_path(self.state_dir), json.dumps(up, indent=1))
        return up

    def _watch(self, processes: list[Child | Server]) -> None:
        watched = [Watched(process=process, started_at=time.monotonic()) for process in processes]
        is_recorded = True
        while True:
            time.sleep(POLL_S)
            if not is_recorded:
                # The disk was full; it is written as soon as there is room.
                with suppress(OSError):
                    self._write_record(processes)
                    is_recorded = True
            for entry in watched:
                now = time.monotonic()
                if entry.process.is_running():
                    entry.restart_at = None
                elif entry.restart_at is None:
                    delay_s = entry.schedule_restart(now)
                    name, log = entry.process.name, entry.process.log
                    self.say(f"{name} ended unexpectedly; starting it again in {delay_s:.0f} s ({log}).")
                elif now >= entry.restart_at:
                    self._restart(entry)
                    is_recorded = False

    def _restart(self, entry: Watched) -> None:
        session = entry.process.pid
        # Children of a killed process would still have its port open.
        end(lambda: [left for left in leftovers(self.state_dir) if left.session == session], signal.SIGTERM)
        entry.started_at, entry.restart_at = time.monotonic(), None
        try:
            if isinstance(entry.process, Server):
                # The other processes have its URL.
                entry.process.start()
            else:
                entry.process.start()
        except StackError as error:
            self.say(str(error))
        except OSError as error:
            # Such as a full disk: a server writes its configuration.
            self.say(f"{entry.process.name} cannot be started: {error.strerror}.")
