"""The search of the dashboard in a browser, and a dashboard that our own staff open."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_in, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_the_slash_key_focuses_the_box_at_a_desk_and_on_a_phone(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit()
    sign_up(page, email="search@example.com", restaurant="Osteria Search")
    page.goto("/dashboard")
    page.wait_for_url("**/dashboard/ven_*")
    home = page.url
    page.get_by_role("button", name="Fill with demo data").click()
    page.wait_for_load_state()
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        page.goto(home)
        page.keyboard.press("/")
        assert (offences(page), overflows(page)) == ([], False)
        page.keyboard.type("pizza/a")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Nothing for").wait_for()
        # Another try needs no opening of the search.
        assert page.locator("main .search input").is_visible() == (size == PHONE)
        page.goto(f"{home}/search?q=an")
        page.get_by_role("link", name="All matches: Orders").wait_for()
        assert (offences(page), overflows(page)) == ([], False)
    other = visit()
    admin: dict[str, Any] = site.record["admin"]
    sign_in(other, email=admin["username"], password=admin["password"], to="/admin/search/?q=Osteria+Search")
    other.get_by_role("link", name="Open dashboard").first.click()
    other.wait_for_url("**/dashboard/ven_*")
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        page.goto(f"{home}/account")
        page.get_by_role("cell", name=admin["username"]).wait_for()
        assert (offences(page), overflows(page)) == ([], False)
