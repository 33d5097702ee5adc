"""A guest orders at a table on a phone without scripts, in Danish, and reads there what the kitchen does."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.browser import PHONE, offences, overflows
from tests.support.live_stack import Up, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


@pytest.mark.parametrize("has_scripts", [False, True])
def test_a_guest_at_a_table_orders_in_danish_and_learns_that_the_order_is_ready(
    visit: Visit, site: Up, has_scripts: bool
) -> None:
    page = visit(PHONE, java_script_enabled=has_scripts, locale="da-DK")

    def looks_right() -> bool:
        # axe is a script.
        return not overflows(page) and not (has_scripts and offences(page))

    page.goto(site.record["pages"]["ordering_page"] + "?table=7")
    page.get_by_text("Bestil ved bord 7 hos").wait_for()
    assert page.locator("html").get_attribute("lang") == "da"
    assert looks_right()
    for dish in ("Pizza Margherita", "Tiramisù"):
        page.get_by_role("button", name=f": {dish}").press("Enter")
        page.get_by_role("heading", name=dish).wait_for()
        assert looks_right()
        extra = page.get_by_role("checkbox").first
        if extra.count():
            extra.check()
        page.get_by_label("Note til køkkenet").fill("uden nødder")
        page.locator("button:visible", has_text="Læg i kurven").last.press("Enter")
    page.get_by_role("button", name="Se bestilling: 2 retter").press("Enter")
    assert page.get_by_label("Bord", exact=True).input_value() == "7"
    page.get_by_label("Dit navn").fill("Ada Lovelace")
    page.locator("button:visible", has_text="Bestil for").press("Enter")
    page.get_by_text("Dette felt er påkrævet.").wait_for()
    assert page.get_by_label("Dit navn").input_value() == "Ada Lovelace"
    page.get_by_label("Telefon").fill("+4533002144")
    assert looks_right()
    page.wait_for_timeout(2100)
    page.locator("button:visible", has_text="Bestil for").press("Enter")
    page.get_by_text("Restauranten har modtaget din bestilling.").wait_for()
    assert page.get_by_text("uden nødder").count() == 2
    assert page.context.cookies() == []
    assert looks_right()

    with httpx.Client(
        base_url=site.record["management"]["base_url"],
        headers={"Authorization": f"Bearer {site.record['management']['menu_api_key']}"},
    ) as api:
        order = api.get("/orders", params={"limit": 1}).json()["data"][0]
        assert (order["channel"], order["fulfilment"]["table"]) == ("page", "7")
        assert api.put(f"/orders/{order['id']}/stage", json={"stage": "ready"}).status_code == 200
    # The page reloads itself.
    assert eventually(
        lambda: page.get_by_text("Din bestilling er klar og kommer til dit bord.").count() == 1, within_s=60
    )
