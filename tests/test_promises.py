"""The page of promises names tests that exist, and says truly how each is run."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

TREE = Path(settings.BASE_DIR)
# What is not run with all others.
MARKERS = {"stack", "exhaustive", "outside", "chaos", "deep", "browser", "cluster"}
NAMED = [
    (reference, marker or "suite")
    for reference, marker in re.findall(
        r"`(tests/[\w/]+\.py::\w+)`(?: \((\w+)\))?", (TREE / "docs" / "promises.md").read_text()
    )
]


@cache
def functions(path: str) -> dict[str, ast.FunctionDef]:
    """The tests of a module by their names."""
    body = ast.parse((TREE / path).read_text()).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def marks(path: str) -> set[str]:
    """What a whole module is marked with."""
    body = ast.parse((TREE / path).read_text()).body
    payload = (
        ast.unparse(node.value) for node in body if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node)
    )
    return MARKERS & {mark for text in payload for mark in re.findall(r"mark\.(\w+)", text)}


def ways_to_run(path: str, test: ast.FunctionDef) -> set[str]:
    """The markers by which some of its cases are run; "suite" where some need none."""
    decorators = [ast.unparse(decorator) for decorator in test.decorator_list]
    own = marks(path) | MARKERS & {mark for text in decorators for mark in re.findall(r"^pytest\.mark\.(\w+)", text)}
    of_cases = MARKERS & {mark for text in decorators for mark in re.findall(r"marks=pytest\.mark\.(\w+)", text)}
    return own or of_cases | {"suite"}


def test_the_page_names_a_test_for_each_of_nine_promises_and_twenty_figures() -> None:
    promises, _, figures = (TREE / "docs" / "promises.md").read_text().partition("## Figures")
    rows = [
        [line for line in part.splitlines() if line.startswith("| ") and not line.startswith(("| We", "| Check"))]
        for part in (promises, figures)
    ]
    assert len(rows[0]) == 9
    assert len(rows[1]) >= 20
    assert [line for line in rows[0] + rows[1] if "`tests/" not in line] == []


@pytest.mark.parametrize(("reference", "way"), sorted(set(NAMED)))
def test_each_test_on_the_page_of_promises_exists_and_is_run_as_it_says(reference: str, way: str) -> None:
    path, _, name = reference.partition("::")
    assert (TREE / path).is_file(), path
    assert name in functions(path), f"{path} has no {name}"
    assert way in ways_to_run(path, functions(path)[name])
