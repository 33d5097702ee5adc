"""From the panel of `up` to all that a newcomer wants to see, without a terminal."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import DESK, PHONE, overflows
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_eight_clicks_from_the_panel_show_the_living_demo(
    visit: "Callable[..., Page]", site: Up, viewport: dict[str, int]
) -> None:
    page, demo, pages = visit(viewport), site.record["dashboard"], site.record["pages"]
    shown = {}

    def look(name: str) -> None:
        assert not overflows(page), name
        shown[name] = page.locator("main").inner_text()

    # Six links of the panel, the button of the sign-in, and the menu, which a phone opens first: nine.
    page.goto(demo["url"])
    page.get_by_label("Email").fill(demo["email"])
    page.get_by_label("Password").fill(demo["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/dashboard/ven_*")
    look("overview")
    for name in ("reservations", "booking_page", "ordering_page", "mailbox", "order_board"):
        page.goto(pages[name])
        look(name)
    if viewport == PHONE:
        page.get_by_label("Open the menu").click()
        page.get_by_role("link", name="Menu", exact=True).last.click()
    else:
        page.get_by_role("link", name="Menu", exact=True).click()
    page.wait_for_url("**/menu")
    look("menu")

    assert "Demo Osteria" in shown["overview"]
    assert shown["order_board"].count("Complete") >= 5
    assert "covers in" in shown["reservations"]
    assert "guests" in shown["booking_page"]
    assert "Pizza Margherita" in shown["ordering_page"]
    assert "Mailbox" in shown["mailbox"]
    assert "Pizza Margherita" in shown["menu"]
