"""pgbench: how often PostgreSQL alone answers the very statements of our requests, prepared, to as many clients."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

import psycopg

from benchmarks.figures import Figure, WrongAnswer
from benchmarks.product import Product
from config.stack.postgres import binaries

# A script for each request, drawn at random: each client prepares the statements of all of them.
SCRIPTS = 40
RATE = re.compile(r"^tps = ([0-9.]+) ", re.MULTILINE)
FAILED = re.compile(r"^number of failed transactions: ([0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A statement as the product sent it."""

    query: Any
    values: Any


def program() -> str | None:
    """Where pgbench is; None where it is not installed."""
    beside = binaries() / "pgbench"
    return str(beside) if beside.exists() else shutil.which("pgbench")


@contextmanager
def listening() -> Iterator[list[Asked]]:
    """Everything that this process sends to PostgreSQL within the block, by whatever way."""
    heard: list[Asked] = []
    plain = psycopg.Cursor.execute

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        heard.append(Asked(query, params))
        return plain(self, query, params, **options)

    psycopg.Cursor.execute = execute  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        psycopg.Cursor.execute = plain  # type: ignore[method-assign]


def scripts(product: Product, paths: Sequence[str], *, about: str = "catalogue_") -> list[str]:
    """The statements of a request for each path, values written in; those that do not read our rows are left out.

    The product answers in this process, once before to remember what it remembers. Raises WrongAnswer.
    """
    from django.db import connection
    from django.test import Client

    client = Client(headers={"authorization": f"Bearer {product.key}", "host": "127.0.0.1"})
    found = []
    for path in (paths[0], paths[0], *paths):
        with listening() as heard:
            answer = client.get(path)
            if answer.status_code != 200:
                raise WrongAnswer(f"{answer.status_code} for {path} in this process")
        connection.ensure_connection()
        cursor = psycopg.ClientCursor(connection.connection)
        texts = [cursor.mogrify(asked.query, asked.values) for asked in heard]
        # A comment of ours would hide what follows it on the line.
        found.append(";\n".join(" ".join(text.split()) for text in texts if about in text) + ";\n")
    return found[2:]


def measure(
    product: Product, texts: Sequence[str], *, clients: int, seconds: float, variables: Mapping[str, str] | None = None
) -> Figure:
    """One round. `variables` are those of the scripts at their beginning. Raises WrongAnswer when one has failed."""
    where = urlsplit(product.database_url)
    tool = program()
    if tool is None:
        return Figure(note="pgbench is not installed")
    with tempfile.TemporaryDirectory() as place:
        files = []
        for number, text in enumerate(texts):
            file = Path(place) / f"{number}.sql"
            file.write_text(text)
            files += ["-f", str(file)]
        done = subprocess.run(  # noqa: S603  # our own words
            [
                *(tool, "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1))),
                *(word for name, value in (variables or {}).items() for word in ("-D", f"{name}={value}")),
                *("-T", str(max(1, round(seconds))), "-l", "--log-prefix", f"{place}/log", *files),
                *("-h", where.hostname or "", "-p", str(where.port), "-U", where.username or "", where.path[1:]),
            ],
            env={**os.environ, "PGPASSWORD": where.password or ""},
            capture_output=True,
            text=True,
            check=False,
        )
        waits = [int(line.split()[2]) for log in Path(place).glob("log*") for line in log.read_text().splitlines()]
    return parse(done.stdout, waits, said=done.stderr)


def parse(text: str, waits_us: Sequence[int], *, said: str = "") -> Figure:
    """What pgbench printed, and how long each transaction took. Raises WrongAnswer when one failed."""
    rate, failed = RATE.search(text), FAILED.search(text)
    if rate is None or (failed is not None and int(failed[1])):
        raise WrongAnswer(f"pgbench: {(said or text).strip()[-300:]}")
    cuts = quantiles(waits_us, n=100, method="inclusive") if len(waits_us) > 1 else None
    return Figure(
        per_second=float(rate[1]),
        p50_ms=cuts[49] / 1000 if cuts else None,
        p99_ms=cuts[98] / 1000 if cuts else None,
    )
