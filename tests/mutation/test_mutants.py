"""Each mutant is caught by the test that is named for it: `uv run --group dev pytest -n 0 -v -m deep tests/mutation`.

They live in a copy of the tree, never in the tree itself; each run there has servers of its own.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.conf import settings

from tests.mutation.mutants import MUTANTS, Mutant
from tests.support.live_stack import REPLACEMENTS

TREE = Path(settings.BASE_DIR)
WITHIN_S = 240


def named(reference: str) -> bool:
    """Whether there is a test function of this `path::name`."""
    path, _, case = reference.partition("::")
    functions = (node for node in ast.parse((TREE / path).read_text()).body if isinstance(node, ast.FunctionDef))
    return case.partition("[")[0] in {function.name for function in functions}


def test_there_are_twelve_mutants_and_each_fits_the_tree_and_has_its_test() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == 12
    assert len({mutant.applied(TREE) for mutant in MUTANTS}) == 12
    assert [mutant.test for mutant in MUTANTS if not named(mutant.test)] == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was committed last: nothing that is half done stands in it."""
    folder = tmp_path_factory.mktemp("mutants") / "tree"
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "archive", "--output", archive, "HEAD"], cwd=TREE, check=True)
    shutil.unpack_archive(archive, folder, filter="data")
    return folder


def run(tree: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run these tests in the copy; how pytest has ended, and its last words."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    # Some start the product.
    command += ["-m", "not deep"]
    own = {*REPLACEMENTS, "DJANGO_SETTINGS_MODULE", "TABLEWIRE_STATE_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        [*command, "--tb=line", *tests],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-25:])


@pytest.mark.deep
def test_without_a_mutant_all_of_their_tests_pass(copy: Path) -> None:
    code, words = run(copy, sorted({mutant.test for mutant in MUTANTS}))
    assert code == 0, words


@pytest.mark.deep
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_test_that_is_named_for_it(copy: Path, mutant: Mutant) -> None:
    file = copy / mutant.path
    sound = file.read_text()
    file.write_text(mutant.applied(copy))
    try:
        code, words = run(copy, [mutant.test])
    finally:
        file.write_text(sound)
    # What cannot even be started is not caught: 1 is for tests that ran, and of those one has failed.
    assert code == 1, words
    assert re.search(r"^[1-9][0-9]* failed", words, re.MULTILINE), words
