"""What people write is text on every page, whatever it looks like."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests import make
from tests.browsing import sign_in
from tests.running import Up, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PAYLOAD = "\"'><img src=x onerror=pwned=1><script>pwned=1</script>{{7*7}}"
SHORT = "<b onclick=a>"
# What people write: in which columns it is kept.
WRITTEN = {
    "accounts_user": ("first_name", "last_name"),
    "accounts_account": ("name",),
    "accounts_venue": ("name", "address", "phone"),
    "accounts_apikey": ("name",),
    "accounts_apicall": ("path", "query", "user_agent", "body", "answer"),
    "accounts_event": ("actor",),
    "accounts_webhookendpoint": ("description",),
    "orders_order": ("customer_id", "delivery_address"),
    "orders_orderitem": ("name", "notes", "menu_item_id"),
    "orders_menucategory": ("name",),
    "orders_menuitem": ("name", "description", "ref"),
    "reservations_area": ("name",),
    "reservations_table": ("name",),
    "reservations_serviceperiod": ("name",),
    "reservations_closure": ("reason",),
    "reservations_visitor": ("note",),
    "reservations_reservation": ("customer_name", "special_requests"),
    "catalogue_restaurant": ("name", "neighborhood", "line1", "locality"),
    "catalogue_review": ("text", "author", "owner_reply"),
    "catalogue_landmark": ("name",),
}
# Pages of one kind are alike: so many of each are opened.
OF_A_KIND = 2
OF_A_KIND_IN_THE_BACK_OFFICE = 1
OFFICE = re.compile("^/admin/($|(accounts|orders|reservations)/|catalogue/(restaurant|review|landmark|photo)/)")
IDS = re.compile(r"[a-z]{3}_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b|\?.*")
LEAVES = re.compile("logout|/delete|/add/|/static|\\.csv|\\.json|takeout|/file")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A run of its own in which all that people write is a payload."""
    with running(tmp_path_factory.mktemp("payloads") / "state", "--restaurants", "30") as up:
        told = up.said["management"]
        with httpx.Client(
            base_url=told["base_url"], headers={"Authorization": f"Bearer {told['menu_api_key']}"}
        ) as api:
            menu = [{"menu_item_id": "margherita", "quantity": 1, "notes": PAYLOAD}]
            for address in (PAYLOAD, None):
                body = make.order_body(customer_id=PAYLOAD[:64], items=menu, delivery_address=address)
                api.post("/orders", json=body | {"metadata": {"from": PAYLOAD}})
            api.post("/orders", json={"customer_id": PAYLOAD})
            guest = {"customer_name": PAYLOAD, "customer_phone": "+15550100999", "special_requests": PAYLOAD}
            for day in range(1, 5):
                date = f"2030-01-0{day}"
                api.post("/reservations", json=guest | {"date": date, "time": "20:00", "party_size": 2 + day * 2})
        with psycopg.connect(up.said["database_url"], autocommit=True) as database:
            for table, columns in WRITTEN.items():
                for column in columns:
                    overwrite(database, table, column)
        yield up


def overwrite(database: "psycopg.Connection[Any]", table: str, column: str) -> None:
    """Write the payload into every row, and beside it what tells rows apart that must differ."""
    found = database.execute(
        "SELECT coalesce(character_maximum_length, 1000) FROM information_schema.columns"
        " WHERE table_name = %s AND column_name = %s",
        [table, column],
    ).fetchone()
    assert found is not None, (table, column)
    text = PAYLOAD if found[0] >= len(PAYLOAD) + 8 else SHORT
    told = f"UPDATE {table} SET {column} = %s || substr(md5(ctid::text), 1, 6)"  # noqa: S608  # names of our own
    with suppress(psycopg.errors.CheckViolation):
        database.execute(told, [text])


def test_no_page_runs_what_somebody_has_written(written: Up, chromium: "Browser") -> None:
    context = chromium.new_context(base_url=written.said["base_url"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("dialog", lambda dialog: complaints.append(f"{page.url}: {dialog.message}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    admin = written.said["admin"]
    sign_in(page, email=admin["username"], password=admin["password"])
    seen = list(walk(page, lambda: complaints.extend(ran(page))))
    assert complaints == []
    shown = [path for path, has_it in seen if has_it]
    context.close()
    # Of that many kinds of pages, those that show what people write are many.
    assert len(seen) > 60, seen
    assert len(shown) > 25, shown


def ran(page: "Page") -> list[str]:
    """What was run, or made into elements."""
    is_run = page.evaluate("typeof pwned !== 'undefined' || !!document.querySelector('[onerror], [onclick]')")
    return [f"{page.url}: it ran"] if is_run else []


def walk(page: "Page", look: Callable[[], None]) -> Iterator[tuple[str, bool]]:
    """Open every kind of page that can be come to by links; each, and whether the payload can be read there."""
    waiting, kinds, known = deque(["/dashboard/", "/admin/"]), dict[str, int](), set[str]()
    while waiting:
        path = waiting.popleft()
        kind = IDS.sub("*", path)
        most = OF_A_KIND_IN_THE_BACK_OFFICE if path.startswith("/admin/") else OF_A_KIND
        if path in known or kinds.get(kind, 0) >= most or LEAVES.search(path):
            continue
        if path.startswith("/admin/") and not OFFICE.match(path):
            continue
        known.add(path)
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = page.goto(path)
        assert answer is not None
        assert answer.status < 500, path
        look()
        links: list[str] = page.eval_on_selector_all("a[href]", "found => found.map(one => one.href)")
        for link in links:
            parts = urlsplit(link)
            if parts.netloc == urlsplit(page.url).netloc and parts.path.startswith(
                ("/dashboard/", "/admin/", "/book/")
            ):
                waiting.append(parts.path + (f"?{parts.query}" if parts.query else ""))
        yield path, "onerror=pwned" in page.inner_text("body")
