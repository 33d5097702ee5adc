"""The read rows: a record, a search, a page of reviews; ours beside what others would write."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
import psycopg.sql

from benchmarks import pgbench, proxy
from benchmarks.contenders import Contender, fastapi, our_server, textbook
from benchmarks.figures import Bound, Figure, Row, WrongAnswer
from benchmarks.product import ROOT, Product
from benchmarks.suites import Run

# Their names in the table.
ROWS, CARDS, TEXTBOOK, PGBENCH = "FastAPI, own tables", "FastAPI, our read model", "textbook DRF", "pgbench"
# Of a small catalogue a twentieth, or drawing them took longer than asking for them; of a tiny one some.
MIN_COUNT, SAMPLES, SHARE = 10, 2_000, 20
# So many answers of each are compared before anything is measured.
QUICK_COMPARED, COMPARED = 5, 15
# By the id's hash: the same ones in each run, from everywhere.
SLUGS = """
SELECT slug FROM catalogue_record WHERE status = 'open' ORDER BY hashtext(restaurant_id::text) LIMIT %s
"""
PLACES = """
SELECT round(latitude::numeric + 0.0003, 6) || ',' || round(longitude::numeric + 0.0002, 6) FROM catalogue_searchrow
WHERE latitude IS NOT NULL AND open_intervals @> now() ORDER BY hashtext(restaurant_id::text) LIMIT %s
"""
REVIEWED = """
SELECT slug FROM catalogue_restaurant WHERE review_count > 20 AND status = 'open' AND merged_into_id IS NULL
ORDER BY hashtext(id::text) LIMIT %s
"""
OPENING = ROOT / "benchmarks" / "references" / "opening.sql"
# What the table of opening periods was made from; made anew when the worker has worked out another day.
SOURCE_STATE = "SELECT max(intervals_until)::text || ' ' || count(*) FROM catalogue_searchrow"
BUILT_STATE = "SELECT obj_description(to_regclass('reference.opening'))"


@dataclass(frozen=True, kw_only=True)
class Read:
    """A read: how its paths are made of samples, what of an answer has to be the same everywhere, and its bounds."""

    name: str
    what: str
    sample: str
    path: Callable[[str], str]
    content: Callable[[dict[str, Any]], Any]
    bounds: Sequence[Bound]


def bounds(**by: tuple[float, float]) -> list[Bound]:
    """Gate and goal by reference."""
    names = {"rows": ROWS, "cards": CARDS, "textbook": TEXTBOOK, "pgbench": PGBENCH}
    return [Bound(of=names[name], gate=gate, goal=goal) for name, (gate, goal) in by.items()]


def hit_ids(found: Sequence[Mapping[str, Any]]) -> Any:
    """The distances in their order, and who is at each of them, but for the last, at which a page may end.

    Textbooks order by the plane: of two in one metre, north and south of the point, either may come first.
    """
    metres = [hit["distance_m"] for hit in found]
    return metres, sorted((hit["distance_m"], hit["slug"]) for hit in found if hit["distance_m"] < metres[-1])


READS = (
    Read(
        name="record",
        what="GET /v1/restaurants/{slug}",
        sample=SLUGS,
        path=lambda slug: f"/v1/restaurants/{slug}",
        content=lambda output: [
            output[name] for name in ("id", "name", "rating", "review_count", "cuisines", "location")
        ],
        bounds=[
            *bounds(rows=(0.7, 1.0), cards=(0.55, 0.8), textbook=(4, 6), pgbench=(0.09, 0.15)),
            Bound(of="CPU of a request", goal=0.31, is_cpu=True),
        ],
    ),
    Read(
        name="search",
        what="GET /v1/restaurants?ll=&open=now, 20 hits",
        sample=PLACES,
        path=lambda place: f"/v1/restaurants?ll={place}&open=now",
        content=lambda output: hit_ids(output["data"]),
        bounds=bounds(rows=(1.1, 1.5), cards=(0.55, 0.8), textbook=(6, 10), pgbench=(0.20, 0.35)),
    ),
    Read(
        name="reviews",
        what="GET /v1/restaurants/{slug}/reviews, newest 20",
        sample=REVIEWED,
        path=lambda slug: f"/v1/restaurants/{slug}/reviews?sort=newest",
        content=lambda output: ([review["id"] for review in output["data"]], output["summary"]["count"]),
        bounds=bounds(rows=(0.55, 0.9), cards=(0.55, 0.8), textbook=(3, 4), pgbench=(0.15, 0.25)),
    ),
)


class Reads:
    """Ours and the references in turn, round by round; the median of each."""

    name = "reads"
    rows = tuple(read.name for read in READS)
    is_by_connections = True

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """A warm-up and the rounds, of each contender."""
        behind = len(proxy.proxy_variants(run))
        return sum(read.name in wanted for read in READS) * (4 + behind + (5 + behind) * run.rounds)

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The rows. Raises WrongAnswer when a reference answers something else than we do."""
        build_opening_table(run.product, say=run.step)
        with ExitStack() as held:
            contenders = [our_server(run.product), *(held.enter_context(one) for one in references(run))]
            contenders += held.enter_context(proxy.contenders(run))
            for one in contenders:
                one.wait()
            run.settings["reads"] = {one.name: dict(one.settings) for one in contenders} | {
                PGBENCH: {
                    "program": "pgbench" if pgbench.find_pgbench() else "not installed, left out",
                    "statements": f"ours, -M prepared, generic plans, {pgbench.STATEMENTS_PER_SCRIPT} values a script",
                }
            }
            for read in READS:
                if read.name in wanted:
                    paths = paths_of(read, run.product)
                    few = paths[: QUICK_COMPARED if run.arguments.quick else COMPARED]
                    check_same_content(read, few, [one for one in contenders if one.name != proxy.COMPRESSED])
                    script = pgbench.script(run.product, read.name, paths)
                    figures = run_rounds(run, read.name, contenders, paths, [script])
                    yield Row.create(read.name, read.what, figures, read.bounds)


def references(run: Run) -> Iterator[Any]:
    """Those of the reads, not started yet."""
    workers = run.arguments.workers
    yield fastapi(run.product, "benchmarks.references.rows:app", name=ROWS, workers=workers)
    yield fastapi(run.product, "benchmarks.references.cards:app", name=CARDS, workers=workers)
    yield textbook(run.product, name=TEXTBOOK, workers=workers)


def run_rounds(
    run: Run, name: str, contenders: Sequence[Contender], paths: Sequence[str], scripts: Sequence[pgbench.Script] = ()
) -> dict[str, Figure]:
    """The median of the rounds of each contender, and of pgbench where there are `scripts` for it."""
    load = run.load
    turns: dict[str, Callable[[], Figure]] = {one.name: partial(one.measure, load, paths) for one in contenders}
    if scripts:
        turns[PGBENCH] = partial(pgbench.measure, run.product, scripts, clients=load.connections, seconds=load.seconds)
    for contender in contenders:
        run.step(f"{name}: {contender.name}, warming up")
        contender.warm_up(load, paths)
    return run.run_in_turns(name, turns)


def paths_of(read: Read, product: Product) -> list[str]:
    """What is asked for. Raises WrongAnswer where the data holds none."""
    with psycopg.connect(product.database_url) as connection:
        maximum = min(SAMPLES, max(MIN_COUNT, product.restaurants // SHARE))
        found = [read.path(value) for (value,) in connection.execute(read.sample, [maximum])]
    if not found:
        raise WrongAnswer(f"{read.name}: there is nothing to ask for in this data.")
    return found


def check_same_content(read: Read, paths: Sequence[str], contenders: Sequence[Contender]) -> None:
    """Have everyone answer the same. Raises WrongAnswer where one does not, after a second try.

    Between two answers a restaurant may have opened.
    """
    first, *others = contenders
    for path in paths:
        for other in others:
            if content_of(read, first, path) != content_of(read, other, path):
                expected, found = content_of(read, first, path), content_of(read, other, path)
                if expected != found:
                    raise WrongAnswer(f"{other.name} answers {path} with {found}, and {first.name} with {expected}.")


def content_of(read: Read, contender: Contender, path: str) -> Any:
    """What has to be the same."""
    output: Mapping[str, Any] = json.loads(contender.get(path))
    return read.content(dict(output))


def build_opening_table(product: Product, *, say: Callable[[str], object]) -> None:
    """Make the table that the references have and we have not, unless it is of this data already."""
    with psycopg.connect(product.database_url, autocommit=True) as connection:
        made_from = (connection.execute(SOURCE_STATE).fetchone() or ("",))[0]
        if (connection.execute(BUILT_STATE).fetchone() or (None,))[0] != made_from:
            say("making the references' table of opening periods")
            # One by one: VACUUM takes no transaction.
            for statement in OPENING.read_text().split(";\n"):
                if statement.strip():
                    connection.execute(statement.encode())
            comment = psycopg.sql.SQL("COMMENT ON TABLE reference.opening IS {}").format(made_from)
            connection.execute(comment)
