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


def test_a_phone_shows_results_before_any_search_and_folds_the_filters(visit: Visit, site: Up) -> None:
    page = visit(PHONE, locale="en-GB")
    page.goto("/restaurants")
    page.get_by_role("heading", name="Popular in London").wait_for()
    first = page.locator("#r1").bounding_box()
    assert first
    assert first["y"] + first["height"] < PHONE["height"]
    assert not page.get_by_label("Cuisine").is_visible()
    page.get_by_role("link", name="Milan").click()
    page.get_by_role("heading", name="Restaurants in Milan").wait_for()
    page.locator(".finder .filters > summary").click()
    page.get_by_label("Cuisine").select_option("pizza")
    page.get_by_role("button", name="Search").click()
    # The search stays in the city, which a link leaves.
    page.get_by_role("link", name="All cities").wait_for()
    page.get_by_role("heading", name="Restaurants in Milan").wait_for()
    assert page.locator(".finder .filters > summary").locator(".badge").inner_text() == "1"
    assert not overflows(page)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_city_without_restaurants_leads_to_the_nearest_one(visit: Visit, site: Up, size: "ViewportSize") -> None:
    page = visit(size)
    page.goto("/restaurants?near=rome")
    page.get_by_role("heading", name="No restaurants in Rome yet.").wait_for()
    assert offences(page) == []
    assert not overflows(page)
    page.get_by_role("link", name="Milan 479 km").click()
    page.get_by_role("heading", name="Restaurants in Milan").wait_for()
