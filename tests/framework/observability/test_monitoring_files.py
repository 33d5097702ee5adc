"""What Grafana and Prometheus read of deploy/observing names series that there are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from payments.observability import counters, ledger_collector

FOLDER = Path(settings.BASE_DIR) / "deploy" / "observing"
SERIES = re.compile(r"\b(?:tablewire|haproxy)_\w+")
# Of labels of ours that expressions group or choose by.
GROUPED = re.compile(r"by \(([\w, ]+)\)")


def expressions() -> list[str]:
    """Every question that the dashboard and the alerts ask."""
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    alerts = (FOLDER / "alerts.yml").read_text()
    return asked + re.findall(r"expr: (?:>-\n)?((?:.|\n)*?)\n {8}(?:for|labels):", alerts)


def ours() -> dict[str, set[str]]:
    """The series that /metrics has, by their names, with the labels of each."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(ledger_collector.render().decode()):
        found[family.name] = {label for sample in family.samples for label in sample.labels}
    for one in (
        counters.CHALLENGES,
        counters.REFUSALS,
        counters.SETTLEMENTS,
        counters.CIRCUIT_OPEN,
        counters.RPC_CALLS,
    ):
        described = next(iter(one.describe()))
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(described.type, [""])
        for ending in endings:
            found[described.name + ending] = set(one._labelnames) | ({"le"} if ending == "_bucket" else set())  # noqa: SLF001  # told nowhere else
    return found


@pytest.mark.django_db
def test_every_series_of_ours_that_is_asked_for_is_one_that_metrics_has() -> None:
    ledger_collector.ledger.cached_until = 0.0
    text = Client().get("/metrics").content.decode()
    asked = {name for one in expressions() for name in SERIES.findall(one) if name.startswith("tablewire_")}
    assert asked - set(ours()) == set()
    assert {name for name in asked if re.sub("_(total|bucket|sum|count)$", "", name) not in text} == set()
    assert len(asked) >= 12


@pytest.mark.django_db
def test_every_question_groups_by_labels_that_its_series_has() -> None:
    labels = ours() | {"tablewire_revenue_usdc": {"products", "tier"}, "tablewire_payments": {"form", "state"}}
    wrong = []
    for one in expressions():
        asked = [name for name in SERIES.findall(one) if name.startswith("tablewire_")]
        grouped = {label.strip() for group in GROUPED.findall(one) for label in group.split(",")}
        if asked and grouped - set[str]().union(*(labels[name] for name in asked)):
            wrong.append(one)
    assert wrong == []


def test_every_alert_says_what_it_is_and_stands_in_the_documents() -> None:
    alerts = (FOLDER / "alerts.yml").read_text()
    named = re.findall(r"alert: (\w+)", alerts)
    page = (Path(settings.BASE_DIR) / "docs" / "observing.md").read_text()
    assert named == re.findall(r"^\| `(Tablewire\w+)`", page, re.MULTILINE)
    assert alerts.count("summary:") == alerts.count("severity:") == len(named) == len(set(named))


def test_no_panel_stands_on_another() -> None:
    panels: list[dict[str, Any]] = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    cells = [
        (x, y)
        for one in (panel["gridPos"] for panel in panels)
        for x in range(one["x"], one["x"] + one["w"])
        for y in range(one["y"], one["y"] + one["h"])
    ]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert max(x for x, _ in cells) < 24
