"""What people write is text on every page, whatever it looks like."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests.support import builders
from tests.support.browser import sign_in
from tests.support.live_stack import Up, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Each is text on every page: what would set `pwned` where somebody forgot to escape, by the place where that was.
PAYLOADS = (
    "<script>pwned=1</script>",
    '"><script>pwned=1</script>',
    "'><script>pwned=1</script>",
    "</script><script>pwned=1</script>",
    "</textarea><script>pwned=1</script>",
    "</title><script>pwned=1</script>",
    "</style><script>pwned=1</script>",
    "--><script>pwned=1</script>",
    "]]><script>pwned=1</script>",
    "<ScRiPt>pwned=1</sCrIpT>",
    "<script src=data:,pwned=1></script>",
    "<<script>pwned=1//<</script>",
    "<img src=x onerror=pwned=1>",
    "\"'><img src=x onerror=pwned=1>",
    "<img/src=x/onerror=pwned=1>",
    "<image src=x onerror=pwned=1>",
    "<svg onload=pwned=1>",
    "<svg/onload=pwned=1//",
    "<svg><script>pwned=1</script></svg>",
    "<svg><a xlink:href=javascript:pwned=1><text>a</text></a></svg>",
    "<svg><animate onbegin=pwned=1 attributeName=x dur=1s>",
    "<math href=javascript:pwned=1>a</math>",
    "<math><mtext><table><mglyph><style><img src=x onerror=pwned=1>",
    "<body onload=pwned=1>",
    "<input autofocus onfocus=pwned=1>",
    '" autofocus onfocus=pwned=1 x="',
    "' autofocus onfocus=pwned=1 x='",
    "` onmouseover=pwned=1 `",
    "<details open ontoggle=pwned=1>",
    "<video><source onerror=pwned=1></video>",
    "<audio src=x onerror=pwned=1>",
    "<marquee onstart=pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<iframe src=javascript:parent.pwned=1>",
    "<object data=javascript:pwned=1>",
    "<embed src=javascript:pwned=1>",
    "<a href=javascript:pwned=1>a</a>",
    "<a href=jav&#x0A;ascript:pwned=1>a</a>",
    "javascript:pwned=1",
    "data:text/html,<script>pwned=1</script>",
    "<form action=javascript:pwned=1><button>a</button></form>",
    "<base href=/pwned/>",
    "<meta http-equiv=refresh content=0;url=javascript:pwned=1>",
    "<link rel=stylesheet href=data:text/css,pwned>",
    "<style>@import'data:text/css,pwned';</style>",
    "<p style=background:url(data:,pwned)>",
    "{{7*7}}{% now 'pwned' %}${pwned=1}#{pwned=1}",
    "';pwned=1;//\\\";pwned=1;//",
    "\\u003cscript\\u003epwned=1\\u003c/script\\u003e",
    "&lt;script&gt;pwned=1&lt;/script&gt;",
)
TOGETHER = 10
# Beside a payload stands what tells rows apart that must differ.
APART = 6
# What a payload has become: an attribute, an address or an element, not text. A form may hide `attributes` by a field.
MADE = """() => typeof pwned !== 'undefined' || [...document.querySelectorAll('*')].some(one =>
    one.getAttributeNames().some(name => one.getAttribute(name).includes('pwned') && (
        /^on|^style$|^srcdoc$/i.test(name)
        || /^(src|href|xlink:href|action|formaction|data)$/i.test(name)
        && /^\\s*(javascript|data):/i.test(one.getAttribute(name))))
    || (one.matches('script:not([type="application/json"]), style') && one.textContent.includes('pwned'))
    || (one.matches('base, link, meta[http-equiv]') && one.outerHTML.includes('pwned')))"""
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
    "reservations_guestprofile": ("note",),
    "reservations_reservation": ("customer_name", "special_requests"),
    "catalogue_restaurant": ("name", "neighborhood", "line1", "locality"),
    "catalogue_review": ("text", "author", "owner_reply"),
    "catalogue_landmark": ("name",),
}
# Pages of one kind are alike: so many of each are opened, and one for each payload alone.
OF_A_KIND = 2
OF_A_KIND_IN_THE_BACK_OFFICE = 1
OFFICE = re.compile("^/admin/($|(accounts|orders|reservations)/|catalogue/(restaurant|review|landmark|photo)/)")
IDS = re.compile(r"[a-z]{3}_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b|\?.*")
LEAVES = re.compile("logout|/delete|/add/|/static|\\.csv|\\.json|takeout|/file|/download")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A run of its own with rows of all that people write."""
    with running(tmp_path_factory.mktemp("payloads") / "state", "--restaurants", "30") as up:
        management = up.record["management"]
        with httpx.Client(
            base_url=management["base_url"], headers={"Authorization": f"Bearer {management['menu_api_key']}"}
        ) as api:
            menu = [{"menu_item_id": "margherita", "quantity": 1, "notes": "notes"}]
            for address in ("address", None):
                body = builders.order_body(customer_id="ada", items=menu, delivery_address=address)
                api.post("/orders", json=body | {"metadata": {"from": PAYLOADS[0]}})
            api.post("/orders", json={"customer_id": PAYLOADS[0]})
            guest = {"customer_name": "Ada", "customer_phone": "+15550100999", "special_requests": "wishes"}
            for day in range(1, 5):
                date = f"2030-01-0{day}"
                api.post("/reservations", json=guest | {"date": date, "time": "20:00", "party_size": 2 + day * 2})
        yield up


def overwrite(up: Up, payloads: Sequence[str]) -> None:
    """Write these into all rows: all of them where a text may be so long, else those that fit in turn."""
    with psycopg.connect(up.record["database_url"], autocommit=True) as database:
        for number, (table, column) in enumerate((table, its) for table, every in WRITTEN.items() for its in every):
            found = database.execute(
                "SELECT coalesce(character_maximum_length, 10000) FROM information_schema.columns"
                " WHERE table_name = %s AND column_name = %s",
                [table, column],
            ).fetchone()
            assert found is not None, (table, column)
            limit = found[0] - APART
            whole = " ".join(payloads)
            texts = [whole] if len(whole) <= limit else [one for one in payloads if len(one) <= limit]
            chosen = f"(%s::text[])[1 + (abs(hashtext(ctid::text)::bigint) + {number}) %% cardinality(%s::text[])]"
            statement = f"UPDATE {table} SET {column} = {chosen} || substr(md5(ctid::text), 1, {APART})"  # noqa: S608  # names of our own
            if texts:
                with suppress(psycopg.errors.CheckViolation):
                    database.execute(statement, [texts, texts])


def groups() -> Iterator[Any]:
    """The payloads, ten at a time."""
    for first in range(0, len(PAYLOADS), TOGETHER):
        yield pytest.param(PAYLOADS[first : first + TOGETHER], id=f"from-{first}")


@pytest.mark.stack
@pytest.mark.browser
@pytest.mark.parametrize("payloads", list(groups()))
def test_no_page_executes_stored_input(written: Up, chromium: "Browser", payloads: Sequence[str]) -> None:
    seen, shown = walked(written, chromium, payloads)
    # Of that many kinds of pages, those that show what people write are many.
    assert len(seen) > 60, seen
    assert len(shown) > 25, shown


@pytest.mark.deep
@pytest.mark.parametrize("payload", PAYLOADS)
def test_each_payload_is_text_wherever_it_fits(written: Up, chromium: "Browser", payload: str) -> None:
    _, shown = walked(written, chromium, [payload], of_a_kind=1)
    assert len(shown) > 20, shown


def test_fifty_payloads_are_tried() -> None:
    assert len(set(PAYLOADS)) == 50
    assert all("pwned" in one for one in PAYLOADS)


def walked(
    up: Up, chromium: "Browser", payloads: Sequence[str], *, of_a_kind: int = OF_A_KIND
) -> tuple[list[str], list[str]]:
    """The pages that were opened, and those on which a payload can be read; that none did anything is asserted."""
    overwrite(up, payloads)
    context = chromium.new_context(base_url=up.record["base_url"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("dialog", lambda dialog: complaints.append(f"{page.url}: {dialog.message}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("console", lambda page_text: complaints.extend(reported(page.url, page_text.text)))
    admin = up.record["admin"]
    sign_in(page, email=admin["username"], password=admin["password"])
    seen = list(walk(page, lambda: complaints.extend(ran(page)), of_a_kind=of_a_kind))
    assert complaints == []
    # What this would have seen: Chromium makes an element of it and says that the policy forbids to run it.
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=pwned=1>')")
    assert ran(page)
    page.wait_for_timeout(200)
    assert any("Content Security Policy" in one for one in complaints), complaints
    context.close()
    return [path for path, _ in seen], [path for path, has_it in seen if has_it]


def reported(url: str, page_text: str) -> list[str]:
    """What Chromium says where a page does what its policy forbids."""
    return [f"{url}: {page_text}"] if "Content Security Policy" in page_text else []


def ran(page: "Page") -> list[str]:
    """What was run, or made into elements."""
    return [f"{page.url}: it is no text"] if page.evaluate(MADE) else []


def walk(page: "Page", look: Callable[[], None], *, of_a_kind: int) -> Iterator[tuple[str, bool]]:
    """Open every kind of page that can be come to by links; each, and whether the payload can be read there."""
    waiting, kinds, known = deque(["/dashboard/", "/admin/"]), dict[str, int](), set[str]()
    while waiting:
        path = waiting.popleft()
        kind = IDS.sub("*", path)
        limit = OF_A_KIND_IN_THE_BACK_OFFICE if path.startswith("/admin/") else of_a_kind
        if path in known or kinds.get(kind, 0) >= limit or LEAVES.search(path):
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
                ("/dashboard/", "/admin/", "/book/", "/order/")
            ):
                waiting.append(parts.path + (f"?{parts.query}" if parts.query else ""))
        yield path, "pwned" in page.inner_text("body")
