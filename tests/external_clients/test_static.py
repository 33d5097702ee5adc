"""What reads our code and our migrations without running them: each rule finds what it is there for."""

import json
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

ROOT = Path(settings.BASE_DIR)
SEMGREP = "semgrep==1.182.0"
SQUAWK = "squawk-cli==2.70.0"
CHECK_JSONSCHEMA = "check-jsonschema==0.39.0"
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(shutil.which("uvx") is None, reason="uvx, which fetches the programs, is not there"),
]
# For each rule what it must find, and where; and what is next to it and right.
PLANTED = {
    "html-is-escaped": ("catalogue/admin/x.py", "mark_safe(row.name)", "format_html('<b>{}</b>', row.name)"),
    "templates-escape": ("templates/x.html", "{{ row.name|safe }}", "{{ row.name }}"),
    "sql-has-parameters": (
        "orders/x.py",
        "cursor.execute(f'SELECT {request.GET}')",
        "cursor.execute('SELECT %s', [name])",
    ),
    "the-network-has-an-end": (
        "payments/x.py",
        "http.client.HTTPConnection(host)",
        "http.client.HTTPConnection(host, timeout=2)",
    ),
    "rows-are-found-by-their-owner": (
        "orders/api/viewsets.py",
        "Order.objects.get(pk=key)",
        "Order.objects.of(venue).get(pk=key)",
    ),
    "money-is-exact": ("orders/x.py", "float(order.total)", "Decimal(order.total)"),
    "nothing-happens-by-signals": (
        "orders/x.py",
        "from django.db.models.signals import post_save",
        "from django.db.models import F",
    ),
    "secrets-are-compared-in-constant-time": (
        "config/x.py",
        "shown == settings.METRICS_TOKEN",
        "hmac.compare_digest(shown, settings.METRICS_TOKEN)",
    ),
}


def scan(folder: Path, *paths: str) -> list[tuple[str, str, int]]:
    """What semgrep finds by our rules: which, in which file, in which line."""
    command = ["uvx", "--from", SEMGREP, "semgrep", "scan", "--config", str(ROOT / ".ci" / "semgrep.yaml")]
    done = subprocess.run(
        [*command, "--metrics", "off", "--disable-version-check", "--no-git-ignore", "--json", *paths],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert report["errors"] == [], report["errors"]
    return sorted((one["check_id"].rpartition(".")[2], one["path"], one["start"]["line"]) for one in report["results"])


def test_each_rule_finds_its_defect_and_nothing_beside_it(tmp_path: Path) -> None:
    rules = (ROOT / ".ci" / "semgrep.yaml").read_text()
    assert rules.count("  - id: ") == len(PLANTED)
    files: dict[str, list[str]] = {}
    expected = []
    for rule, (path, wrong, right) in PLANTED.items():
        lines = files.setdefault(path, [])
        if path.endswith(".py") and not lines:
            lines += ["import http.client", "from django.utils.safestring import mark_safe"]
        expected.append((rule, path, len(lines) + 1))
        lines += [wrong, right]
    for path, lines in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("\n".join(lines) + "\n")
    assert scan(tmp_path, ".") == sorted(expected)


def test_our_code_breaks_none_of_the_rules() -> None:
    assert (
        scan(ROOT, "accounts", "catalogue", "config", "framework", "orders", "payments", "reservations", "templates")
        == []
    )


def squawk(folder: Path, text: str) -> str:
    """What squawk says of SQL; "" where it finds nothing."""
    file = folder / "migration.sql"
    file.write_text(text)
    command = ["uvx", "--from", SQUAWK, "squawk", "--config", str(ROOT / ".ci" / "squawk.toml"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


# What is made concurrently cannot even be written down inside a transaction.
@pytest.mark.django_db(transaction=True)
def test_no_new_migration_stops_the_product_while_it_runs(tmp_path: Path) -> None:
    """Every migration but those of .ci/migrations, as the SQL that PostgreSQL runs."""
    known = set((ROOT / ".ci" / "migrations").read_text().split())
    apps = {"accounts", "catalogue", "orders", "payments", "reservations"}
    there = {(app, name) for app, name in MigrationLoader(connection).disk_migrations if app in apps}
    assert known <= {f"{app}.{name}" for app, name in there}
    report = {}
    for app, name in sorted(there):
        if f"{app}.{name}" in known:
            continue
        written = StringIO()
        call_command("sqlmigrate", app, name, stdout=written)
        if found := squawk(tmp_path, written.getvalue()):
            report[f"{app}.{name}"] = found
    assert report == {}, "\n".join(report.values())


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("CREATE INDEX slow ON orders_order (total);", "require-concurrent-index-creation"),
        ("ALTER TABLE orders_order ADD COLUMN note text NOT NULL;", "adding-required-field"),
        ("ALTER TABLE orders_order RENAME COLUMN note TO words;", "renaming-column"),
        ("ALTER TABLE orders_order ALTER COLUMN note TYPE bigint USING note::bigint;", "changing-column-type"),
        ("ALTER TABLE orders_order ALTER COLUMN note SET NOT NULL;", "adding-not-nullable-field"),
        ("ALTER TABLE orders_order ADD CONSTRAINT is_good CHECK (total > 0);", "constraint-missing-not-valid"),
    ],
)
def test_a_change_that_blocks_the_table_is_reported(tmp_path: Path, statement: str, rule: str) -> None:
    assert rule in squawk(tmp_path, f"SET lock_timeout = '3s'; SET statement_timeout = '5s';\n{statement}\n")


def test_a_change_without_a_long_lock_is_not_reported(tmp_path: Path) -> None:
    good = "SET lock_timeout = '3s'; SET statement_timeout = '5s';\nALTER TABLE orders_order ADD COLUMN note text;\n"
    assert squawk(tmp_path, good) == ""


def against_the_compose_specification(file: Path) -> subprocess.CompletedProcess[str]:
    """What the schema of the Compose Specification says of a file."""
    command = ["uvx", CHECK_JSONSCHEMA, "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_compose_file_is_one_of_the_compose_specification(tmp_path: Path) -> None:
    shipped = ROOT / "deploy" / "compose.yaml"
    report = against_the_compose_specification(shipped)
    assert report.returncode == 0, report.stdout + report.stderr
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(shipped.read_text().replace("cap_drop: [ALL]", "cap_drop: ALL"))
    assert against_the_compose_specification(wrong).returncode == 1
