"""House rules: layers, documented settings and error codes, generated documents."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command

from framework.errors import ErrorCode

ROOT = Path(settings.BASE_DIR)
PACKAGES = ("accounts", "catalogue", "config", "framework", "orders", "payments", "reservations", "tests")


def modules() -> Iterator[Path]:
    """Our Python files, without migrations."""
    for package in PACKAGES:
        yield from (file for file in (ROOT / package).rglob("*.py") if "migrations" not in file.parts)


@pytest.mark.exhaustive
def test_pages_have_no_inline_styles() -> None:
    inline_style = re.compile(r"""\sstyle=["']|["']style["']: """)
    pages = [*(ROOT / "templates").rglob("*.html"), *modules()]
    assert [page.relative_to(ROOT) for page in pages if inline_style.search(page.read_text())] == []


def test_every_package_is_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {package.strip() for layer in contracts[0]["layers"] for package in layer.split("|")}
    assert layered == set(PACKAGES) - {"tests"}


def test_every_environment_variable_is_documented() -> None:
    readers = [*(ROOT / "config" / "settings").glob("*.py"), ROOT / "config" / "up" / "supervisor.py"]
    text = "\n".join(file.read_text() for file in readers)
    read = set(re.findall(r'env(?:iron)?(?:\.\w+)?\(\s*"([A-Z_]+)"', text))
    assert len(read) > 10
    documented = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert read == documented


def test_every_error_code_is_documented() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)`", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE))
    assert documented == {code.value for code in ErrorCode}


def test_every_error_code_is_produced_by_a_test() -> None:
    tests = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py") if file != Path(__file__))
    assert [code.value for code in ErrorCode if f'"{code.value}"' not in tests] == []


@pytest.mark.exhaustive
def test_openapi_documents_are_current() -> None:
    call_command("openapi", check=True)


@pytest.mark.exhaustive
def test_imports_respect_the_layers() -> None:
    found = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout


def test_every_decision_record_has_its_sections() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(file.name[:4]) for file in decisions] == list(range(1, len(decisions) + 1))
    for file in decisions:
        text = file.read_text()
        assert text.startswith("# "), file.name
        for part in ("## Why", "## Trade-offs", "## Revisit if"):
            assert part in text, f"{file.name} lacks {part}"


def test_readme_links_to_every_docs_page() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f"(docs/{page.name})" not in readme] == []


def test_templates_use_existing_static_files() -> None:
    used = {
        name
        for page in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r"""\{% static ['"]([^'"]+)['"]""", page.read_text())
    }
    assert len(used) > 20
    assert [name for name in sorted(used) if finders.find(name) is None] == []
