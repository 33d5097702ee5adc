"""A guest orders at a table on a phone without scripts, in Danish, and reads there what the kitchen does."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest
from PIL import Image

from tests.support.browser import PHONE, offences, overflows, sign_in
from tests.support.live_stack import Up, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


@pytest.fixture(autouse=True)
def open_at_night(site: Up) -> None:
    """The demo restaurant takes orders whenever the test runs."""
    with psycopg.connect(site.record["database_url"]) as database:
        database.execute("UPDATE reservations_serviceperiod SET last_seating = '07:15' WHERE name = 'Dinner'")


def read_code(page: "Page", selector: str) -> str:
    """The text of the QR code that the page shows."""
    # Only in the group `browser`.
    import zxingcpp

    code = zxingcpp.read_barcode(Image.open(BytesIO(page.locator(selector).first.screenshot())).convert("L"))
    assert code is not None
    return str(code.text)


def test_the_code_of_a_table_opens_the_page_for_that_table(visit: Visit, site: Up) -> None:
    page, demo = visit(), site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    page.goto(f"/dashboard/{demo['venue']}/settings/ordering/qr-codes?tables=Bar 7")
    guest = visit(PHONE, locale="da-DK")
    guest.goto(read_code(page, "li svg"))
    guest.get_by_text("Bestil ved bord Bar 7 hos").wait_for()


def test_a_guest_pays_in_usdc_without_scripts_by_what_the_page_shows(visit: Visit, site: Up) -> None:
    staff, demo = visit(), site.record["dashboard"]
    sign_in(staff, email=demo["email"], password=demo["password"])
    staff.goto(f"/dashboard/{demo['venue']}/settings/ordering")
    staff.get_by_label("Guests can pay in USDC after the order").check()
    staff.get_by_label("Price of one USDC").fill("1.1")
    staff.get_by_role("button", name="Save").click()
    staff.get_by_text("Saved.").wait_for()
    assert offences(staff) == []

    guest = visit(PHONE, java_script_enabled=False, locale="da-DK")
    guest.goto(site.record["pages"]["ordering_page"])
    guest.get_by_role("button", name="Tiramisù", exact=True).click()
    guest.locator("button:visible", has_text="Læg i kurven").last.click()
    guest.get_by_role("button", name="Se bestilling: 1 ret").click()
    guest.get_by_label("Dit navn").fill("Ada Lovelace")
    guest.get_by_label("Telefon").fill("+4533002145")
    guest.wait_for_timeout(2100)
    guest.locator("button:visible", has_text="Bestil for").click()
    guest.get_by_role("link", name="USDC nu").click()
    guest.get_by_role("heading", name="i USDC").wait_for()
    assert not overflows(guest)
    link = read_code(guest, "figure svg")
    assert guest.get_by_role("link", name="Åbn i min wallet").get_attribute("href") == link
    assert re.fullmatch(r"ethereum:0x[0-9a-fA-F]{40}@84532/transfer\?address=0x[0-9a-fA-F]{40}&uint256=[0-9]+", link)
    guest.get_by_label("Transaktionens hash").fill("0x" + "ab" * 32)
    guest.get_by_role("button", name="Jeg har betalt").click()
    guest.get_by_text("Netværket viser ikke transaktionen endnu.").wait_for()
    assert not overflows(guest)


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
        page.get_by_role("button", name=dish, exact=True).press("Enter")
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
