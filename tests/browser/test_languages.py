"""Guests book and order in their language on a phone, and pages that are written from right to left fit as well."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.utils import translation
from django.utils.translation import gettext, ngettext

from tests.browser.test_self_service import day, demo
from tests.support.browser import DESK, PHONE, offences, overflows
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]
both = pytest.mark.parametrize(
    ("locale", "clock"), [pytest.param("da-DK", "19.30", id="Danish"), pytest.param("ja-JP", "19:30", id="Japanese")]
)
# What begins left of the window, except in a line that is scrolled sideways.
CUT_OFF = """() => [...document.querySelectorAll("main *")].filter((one) => {
    if (one.getBoundingClientRect().left >= 0) return false
    while ((one = one.parentElement)) if (getComputedStyle(one).overflowX === "auto") return false
    return true
}).map((one) => one.outerHTML.slice(0, 200))"""


def check(page: "Page", language: str) -> None:
    """The page is in the language, accessible, and not wider than its window."""
    assert page.locator("html").get_attribute("lang") == language
    assert offences(page, every_impact=True) == []
    assert not overflows(page)


@both
def test_a_guest_books_changes_and_cancels_in_the_own_language(
    visit: Visit, site: Up, locale: str, clock: str
) -> None:
    page, language = visit(PHONE, locale=locale), locale[:2]
    with translation.override(language):
        page.goto(f"{demo(site)}?party=2&day={day(18)}&time=19:30")
        check(page, language)
        page.get_by_label(gettext("Your name")).fill("Ada Lovelace")
        page.get_by_label(gettext("Email")).fill(f"ada.{language}@example.com")
        page.wait_for_timeout(2100)
        book = gettext("Book %(time)s for %(party)s") % {"time": clock, "party": 2}
        page.get_by_role("button", name=book).click()
        page.get_by_role("heading", name=gettext("Your table is booked")).wait_for()
        check(page, language)
        own_page = page.locator("a[href*='/guest/'][target=_blank]").get_attribute("href")
        assert own_page is not None
        page.goto(own_page)
        check(page, language)
        page.get_by_role("link", name=gettext("Change reservation")).click()
        check(page, language)
        page.go_back()
        page.get_by_role("link", name=gettext("Cancel reservation")).click()
        check(page, language)
        page.get_by_role("button", name=gettext("Cancel reservation")).click()
        page.wait_for_load_state()
        check(page, language)


@both
def test_a_guest_orders_in_the_own_language(visit: Visit, site: Up, locale: str, clock: str) -> None:
    with psycopg.connect(site.record["database_url"]) as database:
        # The demo restaurant takes orders whenever the test runs.
        database.execute("UPDATE reservations_serviceperiod SET last_seating = '07:15' WHERE name = 'Dinner'")
    page, language = visit(PHONE, locale=locale), locale[:2]
    with translation.override(language):
        page.goto(site.record["pages"]["ordering_page"] + "?table=7")
        check(page, language)
        page.locator("button[value='open:tiramisu']").click()
        page.get_by_role("heading", name="Tiramisù").wait_for()
        check(page, language)
        page.locator("button[value^='choose:']:visible").last.click()
        basket = ngettext("View order: %(count)s dish", "View order: %(count)s dishes", 1) % {"count": 1}
        page.get_by_role("button", name=basket).click()
        page.get_by_label(gettext("Your name")).fill("Ada Lovelace")
        page.get_by_label(gettext("Phone")).fill("+4533002144")
        check(page, language)
        page.wait_for_timeout(2100)
        page.locator("button[value=place]:visible").click()
        page.get_by_text(gettext("The restaurant has received your order.")).wait_for()
        check(page, language)


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_pages_of_guests_fit_their_window_from_right_to_left(visit: Visit, site: Up, viewport: dict[str, int]) -> None:
    page = visit(viewport)
    for path in (f"{demo(site)}?party=2&day={day(18)}&time=19:30", site.record["pages"]["ordering_page"]):
        page.goto(path)
        at_left = page.locator("h1").first.evaluate("one => one.getBoundingClientRect().left")
        page.evaluate("document.documentElement.dir = 'rtl'")
        assert not overflows(page), path
        assert page.evaluate(CUT_OFF) == [], path
        mirrored = page.locator("h1").first.evaluate("one => innerWidth - one.getBoundingClientRect().right")
        assert abs(mirrored - at_left) <= 20, path
        assert offences(page) == []
