"""The benchmark: our real routes beside what others would write, in one run, in turns.

    uv run --group benchmarks python -m benchmarks [--quick] [--check]

It makes the data of the size that is asked for (once: it stays in .state/benchmarks), starts the product as production
does and the references beside it, and asks each the same, round after round. docs/speed.md says how to read it.
"""

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks import chart, report
from benchmarks.figures import Row, WrongAnswer
from benchmarks.load import Load
from benchmarks.machine import describe_machine
from benchmarks.product import ROOT, Product, ProductNotReady, running
from benchmarks.progress import show_run
from benchmarks.suites import Run, suites
from framework.cli.arguments import count
from framework.state_directory import StackError

QUICK = (2_000, 40_000)
FULL = (354_000, 7_500_000)
# Of a round.
QUICK_S, FULL_S = 0.5, 4
GROWTH = (35_000, 354_000, 3_500_000)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--restaurants", type=count, help=f"default {FULL[0]:,}")
    parser.add_argument("--reviews", type=count, help=f"default {FULL[1]:,}")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK[0]:,} restaurants and short rounds: a minute")
    parser.add_argument("--check", action="store_true", help="exit 1 when a gate is missed, and list open goals")
    parser.add_argument("--state-dir", type=Path, help="of a `manage.py up` that runs, or where one is to be started")
    parser.add_argument("--at", metavar="URL", help="another server of ours on the same state")
    parser.add_argument("--only", metavar="ROWS", help="some rows, by their names: record,search")
    parser.add_argument("--rounds", type=int, help="of each contender (default 5, quick 1)")
    parser.add_argument("--seconds", type=float, help=f"of each round (default {FULL_S}, quick {QUICK_S})")
    parser.add_argument(
        "--concurrency",
        type=positive_integers,
        default=(16,),
        metavar="N[,N]",
        help="connections that ask at once (default 16); of several the first is judged",
    )
    parser.add_argument(
        "--growth",
        type=positive_integers,
        nargs="?",
        const=GROWTH,
        metavar="N[,N]",
        help="the key reads at several sizes too (default 35000,354000,3500000: the last needs 35 GB of disk)",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes of each reference")
    parser.add_argument("--no-wrk", action="store_true", help="ask from here even where wrk is installed")
    parser.add_argument("--proxy", action="store_true", help="ask reads through deploy/haproxy.cfg too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the requests a second there")
    return parser.parse_args()


def positive_integers(text: str) -> tuple[int, ...]:
    """Read whole numbers with commas between them."""
    found = tuple(int(word) for word in text.split(","))
    if min(found) < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return found


def main() -> int:
    """Measure, tell, and judge."""
    arguments = parse_arguments()
    restaurants, reviews = QUICK if arguments.quick else FULL
    restaurants = restaurants if arguments.restaurants is None else arguments.restaurants
    reviews = reviews if arguments.reviews is None else arguments.reviews
    state = arguments.state_dir or ROOT / ".state" / "benchmarks" / f"{restaurants}-{reviews}"
    notes, out = Console(stderr=True), Console(width=None if sys.stdout.isatty() else 150)
    try:
        with running(
            state.resolve(), restaurants=restaurants, reviews=reviews, base_url=arguments.at, say=notes.print
        ) as product:
            machine = describe_machine(product)
            rows, settings, failed = measure_rows(arguments, product, notes)
    except (ProductNotReady, StackError, WrongAnswer) as error:
        notes.print(str(error), style="red", markup=False)
        return 2
    report.print_report(out, rows, machine=machine, settings=settings)
    if arguments.json:
        found = report.to_json(rows, machine=machine, settings=settings)
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    if arguments.svg:
        arguments.svg.write_text(chart.draw_chart(rows))
    passes = report.print_verdicts(out, rows)
    for reason in failed:
        notes.print(f"Not measured: {reason}", style="red", markup=False)
    if failed:
        return 2
    return 1 if arguments.check and not passes else 0


def measure_rows(
    arguments: argparse.Namespace, product: Product, notes: Console
) -> tuple[list[Row], dict[str, object], list[WrongAnswer]]:
    """All rows that are wanted, with a bar on stderr, what the references were set to, and what went wrong.

    A row that cannot be measured takes nothing from the others. Raises WrongAnswer for rows that there are not.
    """
    every = suites()
    known = [name for suite in every.values() for name in suite.rows]
    wanted = frozenset(arguments.only.split(",")) if arguments.only else frozenset(known)
    if "growth" in (arguments.only or "").split(","):
        arguments.growth = arguments.growth or GROWTH
    if unknown := wanted.difference(known):
        raise WrongAnswer(f"No rows: {', '.join(sorted(unknown))}. Known: {', '.join(known)}.")
    load = Load(
        connections=arguments.concurrency[0],
        seconds=arguments.seconds or (QUICK_S if arguments.quick else FULL_S),
        with_wrk=not arguments.no_wrk,
    )
    rows: list[Row] = []
    failed: list[WrongAnswer] = []
    run = Run(
        product=product,
        load=load,
        rounds=arguments.rounds or (1 if arguments.quick else 5),
        arguments=arguments,
        step=lambda text: None,
    )
    run.settings["worker"] = "writes no insights meanwhile; of a new catalogue it does so for hours"
    run.settings["load"] = {"tool": load.tool, "seconds": load.seconds, "rounds": run.rounds}
    chosen = [suite for suite in every.values() if wanted.intersection(suite.rows)]
    again = [suite for suite in chosen if suite.is_by_connections]
    loads = [load, *(replace(load, connections=connections) for connections in arguments.concurrency[1:])]
    turns = [(loads[0], one) for one in chosen] + [(at, one) for at in loads[1:] for one in again]
    with show_run(notes, steps=sum(suite.steps(run, wanted) for _, suite in turns)) as progress:
        for number, (at, suite) in enumerate(turns, start=1):
            name = suite.name if at is load else f"{suite.name} at {at.connections} connections"
            names = [row for row in suite.rows if row in wanted]
            with progress.suite(name, number, len(turns), names):
                try:
                    for found in suite.measure(replace(run, load=at, step=progress.step), wanted):
                        row = found if at is load else found.at(at.connections)
                        progress.row(row)
                        # Those before the one that fails are kept.
                        rows.append(row)
                except WrongAnswer as error:
                    progress.say(f"  not measured: {error}")
                    failed.append(error)
    return rows, run.settings, failed


if __name__ == "__main__":
    sys.exit(main())
