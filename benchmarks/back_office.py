"""How long the back office takes to answer over a full-size database, and how many queries it asks.

    uv run manage.py up --restaurants 354000 --state-dir .state        # in another terminal
    uv run --group benchmarks python -m benchmarks.back_office --state-dir .state

Every list that is registered is opened; then its later pages, each filter that it offers, each heading that sorts,
searches for words that are there and that are not, forms of change, and what fields with suggestions suggest. Each
answer is made in this process by the whole product but its web server, so the time is the server's; the median of
three counts. The reference is the list of markets, which has twelve rows: what the frame of a page costs by itself.
"""

import argparse
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.db.models import Model
    from django.test import Client

MAX_MS = 150.0
MAX_QUERIES = 15
ATTEMPTS = 3
MAX_FILTERS = 15
# Of words that are nowhere, in very many rows, and of a letter alone.
SEARCH_TERMS = ("qqzzxqj", "restaurant", "a")
REFERENCE = "/admin/catalogue/market/"
LINK = re.compile(r'href="(\?[^"]+)"')


@dataclass(frozen=True, slots=True)
class PageTiming:
    """A page that was opened: what it is, its status, its median time, and the most queries."""

    what: str
    path: str
    status: int
    ms: float
    queries: int

    @property
    def is_good(self) -> bool:
        """Whether it was answered, within both budgets."""
        return self.status == 200 and self.ms <= MAX_MS and self.queries <= MAX_QUERIES


def open_page(client: "Client", what: str, path: str, *, tries: int = ATTEMPTS) -> PageTiming:
    """Open it as often as it counts."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times, maximum, status = [], 0, 0
    for _ in range(tries):
        with CaptureQueriesContext(connection) as asked:
            began = time.perf_counter()
            response = client.get(path)
            status = response.status_code
            _ = response.content
            times.append((time.perf_counter() - began) * 1000)
        maximum = max(maximum, len(asked))
    return PageTiming(what, path, status, statistics.median(times), maximum)


def filter_links(page: str, start: str, end: str) -> list[str]:
    """The queries that a part of a page leads to."""
    part = page.partition(start)[2].partition(end)[0]
    return list(dict.fromkeys(unescape(found) for found in LINK.findall(part)))


def changelist_path(model: "type[Model]") -> str:
    """Where the list of a model is."""
    from django.urls import reverse

    names = model._meta
    return reverse(f"admin:{names.app_label}_{names.model_name}_changelist")


def admin_page_paths(client: "Client", model: "type[Model]", admin: "ModelAdmin[Any]") -> Iterator[PageTiming]:
    """Every kind of page of one model."""
    from django.urls import reverse

    names, base = model._meta, changelist_path(model)
    first = open_page(client, "list", base)
    yield first
    if first.status != 200:
        return
    page = client.get(base).content.decode()
    for query in filter_links(page, 'id="changelist-filter"', "</nav>")[:MAX_FILTERS]:
        yield open_page(client, "filter", base + query)
    for query in filter_links(page, "<thead>", "</thead>"):
        yield open_page(client, "sorted", base + query)
    for query in filter_links(page, 'class="paginator"', "</nav>")[-1:]:
        yield open_page(client, "last page", base + query)
    if admin.search_fields:
        for words in (*SEARCH_TERMS, *search_terms(model, admin)):
            yield open_page(client, "search", f"{base}?q={words}")
    rows = model._default_manager
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[:40:39])
    for key in keys:
        yield open_page(client, "change", reverse(f"admin:{names.app_label}_{names.model_name}_change", args=[key]))
    for field in admin.autocomplete_fields:
        for words in SEARCH_TERMS[1:]:
            asked = f"app_label={names.app_label}&model_name={names.model_name}&field_name={field}&term={words}"
            yield open_page(client, f"suggest {field}", f"/admin/autocomplete/?{asked}")


def search_terms(model: "type[Model]", admin: "ModelAdmin[Any]") -> Iterator[str]:
    """What one row says in its own fields that are searched."""
    rows = model._default_manager
    row = rows.order_by("pk").first()
    for field in admin.search_fields:
        value = getattr(row, field.lstrip("^=@").partition("__")[0], None)
        if isinstance(value, str) and value:
            yield value.partition(" ")[0]


def main() -> int:
    """Open everything, tell the slowest of each kind, and fail where a budget is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state-dir", type=Path, default=Path(".state"))
    parser.add_argument("--only", default="", help="a part of the models' names")
    parser.add_argument("--all", action="store_true", help="tell every page, not only the slowest of each kind")
    asked = parser.parse_args()
    os.environ["TABLEWIRE_STATE_DIR"] = str(asked.state_dir.absolute())
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from django.apps import apps
    from django.contrib import admin
    from django.test import Client

    from accounts.models import User

    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
    reference = open_page(client, "reference", REFERENCE)
    reference = open_page(client, "reference", REFERENCE)
    table = Table("page", "model", "status", "ms", "ratio", "queries", "address")
    bad = count = 0
    for model in apps.get_models():
        label = model._meta.label
        if not admin.site.is_registered(model) or asked.only.lower() not in label.lower():
            continue
        slowest: dict[str, PageTiming] = {}
        for one in admin_page_paths(client, model, admin.site.get_model_admin(model)):
            count += 1
            bad += not one.is_good
            key = one.path if asked.all or not one.is_good else one.what
            if key not in slowest or slowest[key].ms < one.ms:
                slowest[key] = one
        for one in slowest.values():
            style = "" if one.is_good else "bold red"
            ratio = f"{one.ms / reference.ms:.1f}"
            payload = (one.what, label, str(one.status), f"{one.ms:.0f}", ratio, str(one.queries))
            table.add_row(*payload, one.path[:90], style=style)
    console = Console(width=200)
    console.print(table)
    console.print(
        f"{count} pages; {bad} beyond {MAX_MS:.0f} ms or {MAX_QUERIES} queries; reference {reference.ms:.1f} ms"
    )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
