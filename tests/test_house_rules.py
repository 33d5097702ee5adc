"""The rules of the house, held by machine."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from framework.errors import HTTP_STATUS, ErrorCode

ROOT = Path(settings.BASE_DIR)
PACKAGES = ("accounts", "catalogue", "config", "framework", "orders", "payments", "reservations", "tests")
DRAWERS = {"utils", "helpers", "services", "selectors", "core", "common", "misc", "managers", "mixins"}


def modules() -> Iterator[Path]:
    """Our Python files, without the generated ones."""
    for package in PACKAGES:
        yield from (file for file in (ROOT / package).rglob("*.py") if "migrations" not in file.parts)


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in modules()}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_module_is_a_drawer() -> None:
    assert [str(file.relative_to(ROOT)) for file in modules() if DRAWERS & {file.stem, *file.parent.parts}] == []


def test_every_module_says_what_it_is_for() -> None:
    wordless = [str(file.relative_to(ROOT)) for file in modules() if file.name != "__init__.py"]
    assert [name for name in wordless if not re.match(r'(#!.*\n)?r?"""', (ROOT / name).read_text())] == []


def test_parts_of_a_module_are_headed_without_rules() -> None:
    ruled = re.compile(r"^\s*#.*[-=]{20}", re.MULTILINE)
    found = [file for file in [*modules(), *(ROOT / "benchmarks").glob("*.py")] if ruled.search(file.read_text())]
    assert found == []


def test_no_page_carries_a_style_of_its_own_which_the_policy_would_strip() -> None:
    styled = re.compile(r"""\sstyle=["']|["']style["']: """)
    pages = [*(ROOT / "templates").rglob("*.html"), *modules()]
    assert [page.relative_to(ROOT) for page in pages if styled.search(page.read_text())] == []


def test_no_folder_has_more_than_15_modules() -> None:
    counts = Counter(str(file.parent.relative_to(ROOT)) for file in modules() if file.name != "__init__.py")
    # One test module for each module; one command for each module.
    homogeneous = {folder for folder in counts if folder.endswith("management/commands") or folder.startswith("tests")}
    assert {folder: count for folder, count in counts.items() if count > 15 and folder not in homogeneous} == {}


def test_every_top_level_package_stands_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    placed = {package.strip() for layer in contracts[0]["layers"] for package in layer.split("|")}
    assert placed == set(PACKAGES) - {"tests"}


def test_every_environment_variable_is_documented() -> None:
    readers = (ROOT / "config" / "settings.py", ROOT / "config" / "management" / "run.py")
    text = "\n".join(file.read_text() for file in readers)
    read = set(re.findall(r'env(?:iron)?(?:\.\w+)?\(\s*"([A-Z_]+)"', text))
    assert len(read) > 10
    documented = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert read == documented


def test_every_error_code_has_a_status_and_is_documented() -> None:
    assert set(HTTP_STATUS) == set(ErrorCode)
    documented = set(re.findall(r"^\| `([a-z_]+)`", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE))
    assert documented == {code.value for code in ErrorCode}


def test_every_error_code_is_produced_by_a_test() -> None:
    tests = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py") if file != Path(__file__))
    assert [code.value for code in ErrorCode if f'"{code.value}"' not in tests] == []


def test_the_openapi_documents_are_in_date() -> None:
    call_command("openapi", check=True)


def test_the_layers_hold() -> None:
    found = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout


def test_every_decision_has_reasons_trade_offs_and_a_condition_to_revisit() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(file.name[:4]) for file in decisions] == list(range(1, len(decisions) + 1))
    for file in decisions:
        text = file.read_text()
        assert text.startswith("# "), file.name
        for part in ("## Why", "## Trade-offs", "## Revisit if"):
            assert part in text, f"{file.name} lacks {part}"


def test_the_readme_leads_to_every_page_of_the_docs() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f"(docs/{page.name})" not in readme] == []
