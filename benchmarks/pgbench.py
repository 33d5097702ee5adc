"""pgbench: how often PostgreSQL alone answers the very statements of our requests, prepared, to as many clients."""

import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from psycopg.adapt import PyFormat, Transformer

from benchmarks.figures import Figure, WrongAnswer
from benchmarks.product import Product
from config.dev_stack.postgres import binaries

# Statements in a transaction, whose values are drawn at once: a draw for each would be as many trips again.
STATEMENTS_PER_SCRIPT = 10
# PostgreSQL has 200 connections, and the servers hold some: more clients than these would only wait.
MAX_CLIENTS = 100
RATE = re.compile(r"^tps = ([0-9.]+) ", re.MULTILINE)
FAILED = re.compile(r"^number of failed transactions: ([0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class CapturedQuery:
    """A statement as the product sent it."""

    query: Any
    values: Any


def find_pgbench() -> str | None:
    """Where pgbench is; None where it is not installed."""
    beside = binaries() / "pgbench"
    return str(beside) if beside.exists() else shutil.which("pgbench")


@contextmanager
def capture_queries() -> Iterator[list[CapturedQuery]]:
    """Everything that this process sends to PostgreSQL within the block, by whatever way."""
    heard: list[CapturedQuery] = []
    plain = psycopg.Cursor.execute

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        heard.append(CapturedQuery(query, params))
        return plain(self, query, params, **options)

    psycopg.Cursor.execute = execute  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        psycopg.Cursor.execute = plain  # type: ignore[method-assign]


@dataclass(frozen=True)
class Script:
    """What each client does in one transaction: so many statements, behind one that draws their values."""

    text: str
    statements: int = 1
    variables: Mapping[str, str] = field(default_factory=dict)


def script(product: Product, name: str, paths: Sequence[str], *, about: str = "catalogue_") -> Script:
    """The statement of a request for one of the paths, with values that are drawn as ours are: from all of them.

    A plan is made for any values, as ours is; written into the text, some could be worked out beforehand. The product
    answers in this process, once before to remember what it remembers; the values are kept in `reference.drawn_NAME`.
    Raises WrongAnswer where the paths are not all answered by the same statement.
    """
    query, drawn = queries_of_paths(product, paths, about=about)
    # Of few paths each is drawn several times.
    drawn *= math.ceil(STATEMENTS_PER_SCRIPT / len(drawn))
    names = [name for name, value in drawn[0].items() if value is not None and value != ""]
    fixed = [name for name in names if len({to_sql_literal(values[name]) for values in drawn}) == 1]
    varying = [name for name in names if name not in fixed]
    columns = [f"{name}_{number}" for number in range(STATEMENTS_PER_SCRIPT) for name in varying]
    rows = [
        [to_sql_literal(values[name]) for values in drawn[start : start + STATEMENTS_PER_SCRIPT] for name in varying]
        for start in range(0, len(drawn) - STATEMENTS_PER_SCRIPT + 1, STATEMENTS_PER_SCRIPT)
    ]
    table = sql.Identifier("reference", f"drawn_{name}")
    with psycopg.connect(product.database_url) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
        made = sql.SQL("").join(sql.SQL(", {} text").format(sql.Identifier(column)) for column in columns)
        connection.execute(sql.SQL("CREATE TABLE {} (n integer PRIMARY KEY{})").format(table, made))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for number, row in enumerate(rows):
                copy.write_row([number, *row])
    draw = f"\\set n random(0, {len(rows) - 1})\nSELECT * FROM reference.drawn_{name} WHERE n = :n \\gset\n"
    texts = [
        render_query(query, drawn[0], {name: f":{name}_{number}" for name in varying})
        for number in range(STATEMENTS_PER_SCRIPT)
    ]
    return Script(
        draw + "".join(texts), STATEMENTS_PER_SCRIPT, {name: to_sql_literal(drawn[0][name]) for name in fixed}
    )


def queries_of_paths(product: Product, paths: Sequence[str], *, about: str) -> tuple[str, list[Mapping[str, Any]]]:
    """The one statement that reads our rows to answer all these paths, and its values for each. Raises WrongAnswer."""
    from django.test import Client

    client = Client(headers={"authorization": f"Bearer {product.key}", "host": "127.0.0.1"})
    found: list[CapturedQuery] = []
    for path in (paths[0], paths[0], *paths):
        with capture_queries() as heard:
            answer = client.get(path)
        if answer.status_code != 200:
            raise WrongAnswer(f"{answer.status_code} for {path} in this process")
        # What has no values asks nothing of this path: the sources' names, where a process does not remember them.
        of_ours = [one for one in heard if one.values and about in str(one.query)]
        if len(of_ours) == 1:
            found += of_ours
    texts = {str(one.query) for one in found[-len(paths) :]}
    if len(found) < len(paths) or len(texts) != 1:
        raise WrongAnswer(f"{len(texts)} statements answer {len(paths)} paths like {paths[0]}, not one each")
    return texts.pop(), [one.values for one in found[-len(paths) :]]


def render_query(query: str, values: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """A statement as pgbench reads it: on one line, with variables in place of parameters, of the types they have."""
    names = {}
    for name, value in values.items():
        payload = psycopg.adapters.types.get(get_dumper(value).oid) if value is not None else None
        cast = f"::{payload.regtype}" if payload else ""
        names[name] = "NULL" if value is None else "''" if value == "" else columns.get(name, f":{name}") + cast
    return " ".join((query % names).split()) + ";\n"


def get_dumper(value: Any) -> Any:
    """What psycopg writes a value with."""
    return Transformer().get_dumper(value, PyFormat.TEXT)


def to_sql_literal(value: Any) -> str:
    """A value as it is sent in text."""
    return bytes(get_dumper(value).dump(value) or b"").decode()


def measure(product: Product, scripts: Sequence[Script], *, clients: int, seconds: float) -> Figure:
    """One round of scripts with as many statements each. Raises WrongAnswer when one has failed."""
    where, clients = urlsplit(product.database_url), min(clients, MAX_CLIENTS)
    tool = find_pgbench()
    if tool is None:
        return Figure(note="pgbench is not installed")
    with tempfile.TemporaryDirectory() as place:
        files = []
        for number, one in enumerate(scripts):
            file = Path(place) / f"{number}.sql"
            file.write_text(one.text)
            files += [
                "-f",
                str(file),
                *(word for name, value in one.variables.items() for word in ("-D", f"{name}={value}")),
            ]
        done = subprocess.run(  # noqa: S603  # our own words
            [
                *(tool, "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1))),
                *("-T", str(max(1, round(seconds))), "-l", "--log-prefix", f"{place}/log", *files),
                *("-h", where.hostname or "", "-p", str(where.port), "-U", where.username or "", where.path[1:]),
            ],
            # Each statement is planned once, as ours are, and not five times more for the values of the first calls.
            env={
                **os.environ,
                "PGPASSWORD": where.password or "",
                "PGOPTIONS": "-c plan_cache_mode=force_generic_plan",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        waits = [int(line.split()[2]) for log in Path(place).glob("log*") for line in log.read_text().splitlines()]
    return parse_pgbench_output(done.stdout, waits, statements=scripts[0].statements, output=done.stderr)


def parse_pgbench_output(text: str, waits_us: Sequence[int], *, statements: int = 1, output: str = "") -> Figure:
    """What pgbench printed, and how long each transaction of so many statements took; how long the slowest of many in
    one took nobody knows. Raises WrongAnswer when one has failed.
    """
    rate, failed = RATE.search(text), FAILED.search(text)
    if rate is None or (failed is not None and int(failed[1])):
        raise WrongAnswer(f"pgbench: {(output or text).strip()[-300:]}")
    cuts = quantiles(waits_us, n=100, method="inclusive") if len(waits_us) > 1 else None
    return Figure(
        per_second=float(rate[1]) * statements,
        p50_ms=cuts[49] / 1000 / statements if cuts else None,
        p99_ms=cuts[98] / 1000 if cuts and statements == 1 else None,
    )
