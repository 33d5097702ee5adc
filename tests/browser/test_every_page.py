"""Every page of ours: accessible in light and dark and in three languages, light to load, still, within its window."""

import gzip
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_in
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

pytestmark = [pytest.mark.stack, pytest.mark.browser]

# Documents, styles, scripts and fonts of a page, without its photos, as the proxy compresses them.
MAX_WEIGHT = 150_000
PUBLIC = [
    "/",
    "/docs",
    "/status",
    "/terms",
    "/privacy",
    "/account/login/",
    "/account/signup/",
    "/account/password/reset/",
]
OURS = ("/dashboard/", "/account/", "/book/", "/order/", "/guest/", "/docs", "/restaurants")
ID = re.compile(r"[a-z]{3,4}_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b|\?.*|(?<=^/docs/).+|(?<=^/restaurants/).+")
# Downloads, documents for programs, the end of the session, and pages of other makers.
NOT_PAGES = re.compile(r"logout|\.(csv|json|pdf|md|svg|eml|ics|xml)(\?|$)|/download|/takeout|/file|/photos/|/try")
SHIFTS = """() => new Promise(resolve => {
    let sum = 0
    const observer = new PerformanceObserver(list => {
        for (const shift of list.getEntries()) if (!shift.hadRecentInput) sum += shift.value
    })
    observer.observe({type: 'layout-shift', buffered: true})
    setTimeout(() => { observer.disconnect(); resolve(sum) }, 300)
})"""


def each_kind(page: "Page", starts: list[str]) -> Iterator[str]:
    """Open one page of each kind that can be reached by links; yield its path while it is open."""
    waiting, kinds = deque(starts), set[str]()
    while waiting:
        path = waiting.popleft()
        kind = ID.sub("*", path)
        if kind in kinds or NOT_PAGES.search(path):
            continue
        kinds.add(kind)
        answer = page.goto(path)
        assert answer is not None
        assert answer.status < 400, path
        if "text/html" not in answer.headers["content-type"]:
            continue
        # Links of a drawing have no address of text.
        links: list[str] = page.eval_on_selector_all(
            "a[href]", "found => found.map(one => new URL(one.getAttribute('href'), document.baseURI).href)"
        )
        for link in links:
            parts = urlsplit(link)
            if parts.netloc == urlsplit(page.url).netloc and parts.path.startswith(OURS):
                waiting.append(parts.path + (f"?{parts.query}" if parts.query else ""))
        yield path


def weigh(loaded: "list[Response]") -> int:
    """The compressed size of what was loaded, without pictures, in bytes."""
    from playwright.sync_api import Error  # of the group `browser` alone

    size = 0
    for one in loaded:
        if one.ok and not one.headers.get("content-type", "").startswith("image/"):
            # The browser has dropped what the page before was still asking for.
            with suppress(Error):
                size += len(gzip.compress(one.body()))
    return size


# What a page of the dashboard does otherwise than the others. Text of charts is measured as it is seen.
HABITS = """() => {
    const found = [], side = document.querySelector(".side")
    // The ticket of an order has no menu.
    if (!side) return found
    const text = document.querySelector("main").cloneNode(true)
    for (const part of text.querySelectorAll("pre, code, script, [hidden]")) part.remove()
    const odd = text.textContent.match(/\\b\\d{4}-\\d\\d-\\d\\d\\b|\\d\\.\\d\\d (EUR|DKK|GBP)\\b/)
    if (odd) found.push(odd[0])
    const venue = document.querySelector(".venue-name")?.textContent
    if (venue && !document.title.endsWith(` · ${venue}`)) found.push(document.title)
    const bottom = Math.max(innerHeight, document.documentElement.scrollHeight)
    if (side.offsetParent && side.getBoundingClientRect().bottom + scrollY < bottom - 1) found.push("end of the menu")
    for (const label of document.querySelectorAll("main svg text")) {
        const size = parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a
        if (label.getClientRects().length && size < 9) { found.push(`${label.textContent}: ${size} px`); break }
    }
    return found
}"""


def starts(site: Up) -> list[str]:
    pages = [urlsplit(url).path for url in site.record["pages"].values()]
    return [*PUBLIC, "/dashboard/", *(path for path in pages if path.startswith(OURS))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR"])
def test_axe_finds_nothing_on_any_page(visit: "Callable[..., Page]", site: Up, locale: str, scheme: str) -> None:
    page = visit(DESK, locale=locale, color_scheme=scheme)
    demo = site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    found = {path: wrong for path in each_kind(page, starts(site)) if (wrong := offences(page, every_impact=True))}
    assert found == {}


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_each_page_is_light_and_still_and_fits_its_window(
    visit: "Callable[..., Page]", site: Up, viewport: dict[str, int]
) -> None:
    page = visit(viewport)
    demo = site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    loaded: list[Response] = []
    page.on("response", lambda response: loaded.append(response))
    seen, heavy, unsteady, too_wide, odd = [], {}, {}, [], {}
    for path in each_kind(page, starts(site)):
        seen.append(path)
        if (shift := page.evaluate(SHIFTS)) > 0:
            unsteady[path] = round(shift, 4)
        if (weight := weigh(loaded)) > MAX_WEIGHT:
            heavy[path] = weight
        loaded.clear()
        if overflows(page):
            too_wide.append(path)
        if path.startswith("/dashboard/ven_") and (habits := page.evaluate(HABITS)):
            odd[path] = habits
    assert (heavy, unsteady, too_wide, odd) == ({}, {}, [], {})
    assert len(seen) > 60, seen
