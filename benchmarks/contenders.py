"""Who is measured: servers on this machine, ours and those of the references."""

import http.client
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.figures import Figure, WrongAnswer
from benchmarks.load import Load, LoadResult
from benchmarks.process_stats import Meter, cpu_between, resident_mb
from benchmarks.product import ROOT, Product
from config.dev_stack.processes import Child, last_lines
from config.dev_stack.servers import free_port
from config.dev_stack.wsgi_servers import is_alive
from config.up.supervisor import WEB_THREADS

HOST = "127.0.0.1"
START_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A server that answers as ours does, on a port of this machine. `settings` are told beside the table."""

    name: str
    port: int
    database_url: str
    headers: Mapping[str, str]
    settings: Mapping[str, object] = field(default_factory=dict)
    child: Child | None = None

    def wait(self) -> None:
        """Wait until it answers: references are started before any is waited for. Raises WrongAnswer."""
        until = time.monotonic() + START_S
        while self.child is not None and not is_alive(self.port, timeout_s=5):
            if time.monotonic() > until or not self.child.is_running():
                raise WrongAnswer(
                    f"{self.name} did not start. The end of {self.child.log}:\n{last_lines(self.child.log)}"
                )
            time.sleep(0.05)

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def get(self, path: str) -> bytes:
        """The body of an answer. Raises WrongAnswer unless it is 200."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request("GET", path, headers=dict(self.headers))
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise WrongAnswer(f"{self.name}: {response.status} for {path}: {body[:300].decode(errors='replace')}")
        return body

    def measure(self, load: Load, paths: Sequence[str]) -> Figure:
        """One round: the load, and what it cost. Raises WrongAnswer when anything was not 200."""
        return self.cost(lambda: load.run(self.base_url, paths, self.headers), what=paths[0])

    def cost(self, ask: Callable[[], LoadResult], *, what: str) -> Figure:
        """The same of any load that `ask` is. Raises WrongAnswer when an answer was wrong."""
        meter = Meter(self.port, self.database_url)
        server = meter.processes()
        before = meter.read(server)
        loaded = ask().check(f"{self.name}, {what}")
        after = meter.read(server)
        database_cpu_s = cpu_between(before.database, after.database) if after.database else None
        return Figure(
            per_second=loaded.per_second,
            p50_ms=loaded.p50_ms,
            p99_ms=loaded.p99_ms,
            cpu_ms=1000 * cpu_between(before.server, after.server) / loaded.requests,
            database_cpu_ms=None if database_cpu_s is None else 1000 * database_cpu_s / loaded.requests,
            memory_mb=max((resident_mb(pid) for pid in server), default=None),
        )

    def warm_up(self, load: Load, paths: Sequence[str]) -> None:
        """Have it remember what it remembers. Raises WrongAnswer."""
        load.warm_up_load.run(self.base_url, paths, self.headers).check(f"{self.name}, {paths[0]}")


def our_server(product: Product) -> Contender:
    """The product's own web server."""
    workers = len(Meter(product.port, product.database_url).processes())
    return Contender(
        name="ours",
        port=product.port,
        database_url=product.database_url,
        headers=product.headers,
        settings={"server": "as `manage.py up` starts it", "processes": workers},
    )


@contextmanager
def fastapi(product: Product, application: str, *, name: str, workers: int) -> Iterator[Contender]:
    """A FastAPI reference behind uvicorn, with uvloop and httptools and without a log of its requests."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "uvicorn", application, "--host", HOST, "--port", str(port)),
        *("--workers", str(workers), "--loop", "uvloop", "--http", "httptools", "--no-access-log"),
        *("--log-level", "warning", "--backlog", "1024"),
    ]
    settings = {
        "server": "uvicorn --loop uvloop --http httptools --no-access-log",
        "processes": workers,
        "database": "asyncpg, 10 connections a process, statements cached, generic plans, no reset at release",
        "limit": "redis.asyncio with hiredis, SET NX EX + INCR in one round trip on a kept connection",
        "JSON": "orjson, no response models",
    }
    with serve(product, command, port=port, name=name, settings=settings) as contender:
        yield contender


@contextmanager
def textbook(product: Product, *, name: str, workers: int) -> Iterator[Contender]:
    """The textbook DRF reference behind granian, with our own flags."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "granian", "benchmarks.references.textbook.wsgi:application", "--interface", "wsgi"),
        *("--http", "1", "--no-ws", "--host", HOST, "--port", str(port), "--workers", str(workers)),
        *("--backlog", "1024", "--runtime-mode", "st"),
    ]
    settings = {
        "server": "granian, flags and threads as ours",
        "processes": workers,
        "database": "Django's ORM on psycopg 3, persistent connections, prepared from the 2nd use",
        "limit": "django-ratelimit on Django's RedisCache",
        "JSON": "ModelSerializer and JSONRenderer of Django REST framework",
    }
    env = {"GRANIAN_BLOCKING_THREADS": str(WEB_THREADS)}
    with serve(product, command, port=port, name=name, settings=settings, env=env) as contender:
        yield contender


@contextmanager
def serve(
    product: Product,
    command: Sequence[str],
    *,
    port: int,
    name: str,
    settings: Mapping[str, object],
    env: Mapping[str, str] | None = None,
) -> Iterator[Contender]:
    """A server of this command, which finds the data by REFERENCE_*, begun; it ends with the block."""
    log = product.state_dir / "logs" / f"reference-{name.replace(' ', '-').replace(',', '')}.log"
    variables = {
        "REFERENCE_DATABASE_URL": product.database_url,
        "REFERENCE_REDIS_URL": product.redis_url,
        "REFERENCE_PUBLIC_URL": product.up["base_url"],
    }
    own = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    child = Child(name=name, command=command, env=own | variables | dict(env or {}), cwd=ROOT, log=log)
    try:
        child.start()
        yield Contender(
            name=name,
            port=port,
            database_url=product.database_url,
            headers=product.headers,
            settings=settings,
            child=child,
        )
    finally:
        child.stop()
