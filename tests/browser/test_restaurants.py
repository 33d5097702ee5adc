"""A guest finds a restaurant on the map and opens its page, at a desk and on a phone, in two languages."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("size", "locale", "more"), [(DESK, "en-GB", "Opening hours"), (PHONE, "da-DK", "Åbningstider")]
)
def test_a_guest_finds_a_restaurant_by_card_and_by_pin(
    visit: Visit, site: Up, scheme: str, size: "ViewportSize", locale: str, more: str
) -> None:
    page = visit(size, locale=locale, color_scheme=scheme)
    page.goto("/restaurants?near=Tivoli")
    assert not overflows(page)
    assert offences(page) == []
    name = page.locator("#r1 h3 a").inner_text()
    page.locator("#m1").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#r1")
    page.locator("#r1 .number").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#m1")
    path = page.locator("#r1 h3 a").get_attribute("href")
    page.goto(str(path))
    page.get_by_role("heading", name=more).wait_for()
    assert page.locator("h1").inner_text() == name
    assert not overflows(page)
    assert offences(page) == []
    assert page.context.cookies() == []
