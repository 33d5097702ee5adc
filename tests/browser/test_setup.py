"""Setting a restaurant up in the browser: webhooks that arrive, and a menu from a file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.accounts.webhook_receivers import receiving
from tests.browser.test_board import place
from tests.support.browser import PHONE, covered, offences, overflows, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


def home(page: "Page") -> str:
    """Where the venue's pages are."""
    page.goto("/dashboard")
    page.wait_for_url("**/dashboard/ven_*")
    return page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_venue_gives_its_booking_page_a_color_a_logo_and_a_photo(visit: Visit, tmp_path: Path, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    sign_up(page, email=f"look.{scheme}@example.com", restaurant="Osteria Bella")
    page.goto(f"{home(page)}/settings/booking")
    save = page.get_by_role("button", name="Save changes")
    # There is nothing to save before something has been changed.
    assert save.is_disabled()
    page.get_by_label("Online booking").check()
    page.get_by_role("button", name="Save changes").click()
    page.get_by_role("link", name="Appearance").click()
    assert offences(page) == []
    for name, size in (("Logo", (300, 100)), ("Photo", (1200, 800))):
        Image.new("RGB", size, "#8b0000").save(tmp_path / f"{name}.png")
        page.get_by_label(name, exact=True).set_input_files(tmp_path / f"{name}.png")
    page.get_by_label("Color").fill("#ffd400")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("#ffd400 is too light for text").wait_for()
    page.get_by_alt_text("Current logo").wait_for()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert offences(page) == []
        assert not overflows(page)
    page.get_by_role("link", name="booking page", exact=True).click()
    page.get_by_role("heading", name="Osteria Bella").wait_for()
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for kind in ("logo", "cover"):
            loaded = page.locator(f".branding .{kind}").evaluate("image => image.complete && image.naturalWidth > 0")
            assert loaded, kind
        ground = page.locator("button.quiet").first.evaluate("button => getComputedStyle(button).color")
        assert ground == ("rgb(125, 104, 0)" if scheme == "light" else "rgb(255, 212, 0)")
        assert offences(page) == []
        assert not overflows(page)


def test_a_test_event_arrives_and_is_shown_without_reloading(visit: "Callable[..., Page]") -> None:
    page = visit()
    sign_up(page, email="hooks@example.com", restaurant="Osteria Hook")
    webhooks = f"{home(page)}/webhooks"
    with receiving() as receiver:
        page.goto(webhooks)
        page.get_by_role("link", name="Add endpoint").first.click()
        page.get_by_role("textbox", name="URL").fill(receiver.url.replace("127.0.0.1", "localhost"))
        page.get_by_role("button", name="Add", exact=True).click()
        secret = page.locator("#secret").inner_text()
        page.evaluate("window.stays = true")
        page.get_by_role("button", name="Send a test event").click()
        page.locator("#deliveries .badge.good", has_text="delivered").wait_for()
        assert receiver.received[0].verified(secret)["type"] == "webhook.ping"
        assert offences(page) == []
        page.locator("#deliveries a").first.click()
        page.get_by_text('"webhook_endpoint"').wait_for()
        assert offences(page) == []
        page.set_viewport_size(PHONE)
        assert not overflows(page)


def test_what_is_asked_first_is_asked_without_javascript_too(visit: "Callable[..., Page]") -> None:
    page = visit(java_script_enabled=False)
    sign_up(page, email="plain@example.com", restaurant="Osteria Plain")
    page.goto(f"{home(page)}/webhooks/new")
    page.get_by_role("textbox", name="URL").fill("https://hooks.example.com/tablewire")
    page.get_by_role("button", name="Add", exact=True).click()
    assert not page.get_by_role("button", name="Disable").is_visible()
    page.get_by_role("link", name="Disable").click()
    page.get_by_role("button", name="Disable").click()
    page.get_by_text("The endpoint is disabled. Pending deliveries are marked as failed").wait_for()


def test_a_menu_is_uploaded_previewed_and_applied(visit: "Callable[..., Page]", tmp_path: Path) -> None:
    page = visit()
    sign_up(page, email="menu@example.com", restaurant="Osteria Menu")
    menu = f"{home(page)}/menu"
    file = tmp_path / "menu.csv"
    file.write_text(
        "id,name,category,price,tax_percent\nmargherita,Margherita,Pizza,9.50,10\n"
        "xss,<img src=x onerror=alert(1)>,Pizza,1,10\n",
        "utf-8",
    )
    page.goto(menu)
    page.get_by_role("link", name="Upload a file").first.click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Preview changes").click()
    assert page.get_by_text("<img src=x onerror=alert(1)>").first.is_visible()
    assert offences(page) == []
    page.get_by_role("button", name="Apply").click()
    assert page.get_by_text("Applied: 2 added, 0 changed, 0 deleted.").is_visible()
    assert offences(page) == []
    page.evaluate("window.stays = true")
    page.get_by_role("switch", name="Available: Margherita", checked=True).click()
    page.get_by_text("sold out today", exact=True).wait_for()
    # The button that was pressed still has the focus, and the page is the same one.
    assert page.evaluate("[document.activeElement.ariaLabel, window.stays]") == ["Available: Margherita", True]
    assert page.get_by_role("switch", name="Available: Margherita", checked=False).is_visible()
    # So has the button that moves a dish, in the panel with the other actions, which stays open.
    page.get_by_label("More about Margherita").press("Enter")
    page.get_by_role("button", name="Move Margherita down").press("Enter")
    page.get_by_text("Margherita was moved down.").wait_for(state="attached")
    assert page.evaluate("document.activeElement.ariaLabel") == "Move Margherita down"
    assert offences(page) == []
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.ariaLabel") == "More about Margherita"
    page.set_viewport_size(PHONE)
    assert not overflows(page)


def test_sizes_stock_and_a_translation_are_written_without_javascript(visit: "Callable[..., Page]") -> None:
    page = visit(java_script_enabled=False)
    sign_up(page, email="sizes@example.com", restaurant="Osteria Sizes")
    menu = f"{home(page)}/menu"
    page.goto(f"{menu}/categories/new")
    page.get_by_label("Name").first.fill("Pizza")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Manage menu", exact=True).click()
    page.get_by_role("link", name="Modifier groups").click()
    page.get_by_role("link", name="Add a group").click()
    page.get_by_label("Name").first.fill("Size")
    page.get_by_label("Choose at least").fill("1")
    for number, (name, price) in enumerate((("Regular", "0"), ("Large", "3,50"))):
        row = page.locator("fieldset.modifier").nth(number)
        row.get_by_label("Name").fill(name)
        row.get_by_label("Price").fill(price)
    page.locator("fieldset.modifier").first.get_by_label("Chosen by default").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved: Size.").wait_for()
    page.goto(f"{menu}/items/new")
    page.get_by_label("Name").first.fill("Margherita")
    page.get_by_label("Price").fill("9,50")
    for title in ("Allergens and diets", "Modifier groups", "Kitchen and stock", "Translations"):
        page.locator(".folds summary", has_text=title).click()
    page.get_by_label("Vegetarian").check()
    page.get_by_role("checkbox", name="Size").check()
    page.get_by_label("Station").fill("pizza")
    page.locator(".translation").first.get_by_label("Description").fill("Tomat, mozzarella")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("More about Margherita").click()
    page.get_by_role("textbox", name="Portions left of Margherita").fill("3")
    page.get_by_role("button", name="Set portions left of Margherita").click()
    page.get_by_text("Margherita: 3 left.").wait_for()
    page.get_by_text("Manage menu", exact=True).click()
    page.get_by_role("link", name="Modifier groups").click()
    page.get_by_role("link", name="Size").click()
    addresses = [menu, f"{menu}/groups", page.url]
    page.goto(menu)
    page.get_by_role("link", name="Margherita").click()
    addresses.append(page.url)
    looking = visit(storage_state=page.context.storage_state())
    for address in addresses:
        looking.goto(address)
        for width in (1280, 1024, 390):
            looking.set_viewport_size({"width": width, "height": 800})
            assert offences(looking) == []
            assert not overflows(looking), (address, width)


def test_tables_and_hours_are_set_up(visit: "Callable[..., Page]") -> None:
    page = visit()
    sign_up(page, email="tables@example.com", restaurant="Osteria Tables")
    settings = f"{home(page)}/settings"
    page.goto(f"{settings}/tables")
    # Before the first table, the form for many is open, and stands apart from the text about none.
    form, empty = page.locator(".add-tables").bounding_box(), page.locator(".empty").bounding_box()
    assert form
    assert empty
    assert empty["y"] - form["y"] - form["height"] >= 8
    page.get_by_role("textbox", name="Tables").fill("T1-T12")
    page.get_by_role("button", name="Add tables").click()
    assert page.get_by_text("12 tables added.").is_visible()
    assert offences(page) == []
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Hours").click()
    page.get_by_role("link", name="Add a service period").first.click()
    page.get_by_role("textbox", name="Name").fill("Dinner")
    # A new period has every day.
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Saturday", "Sunday"):
        page.get_by_label(day).uncheck()
    page.get_by_label("First seating").fill("19:00")
    page.get_by_label("Last seating").fill("22:30")
    page.get_by_role("button", name="Save").click()
    assert page.locator("rect.period").count() == 1
    assert offences(page) == []
    for path in ("", "/tables", "/hours"):
        page.goto(f"{settings}{path}")
        page.set_viewport_size(PHONE)
        assert not overflows(page)


def test_saved_settings_are_answered_where_the_page_opens(visit: "Callable[..., Page]") -> None:
    page = visit()
    sign_up(page, email="answer@example.com", restaurant="Osteria Answer")
    page.goto(f"{home(page)}/settings/booking")
    page.locator("#guests").get_by_label("Online booking").check()
    page.get_by_role("button", name="Save changes").click()
    message = page.get_by_role("status").filter(has_text="Booking page: saved.")
    message.wait_for()
    page.wait_for_timeout(500)
    box = message.bounding_box()
    top = page.locator("#guests-title").bounding_box()
    assert box
    assert top
    assert 0 <= box["y"] < top["y"] < 900
    assert offences(page) == []
    # The addresses of the booking page and of its frame are read whole beside their buttons.
    assert page.locator("[data-copy]").count() == 2
    assert covered(page) == []


def test_no_table_of_the_dashboard_hides_its_actions_at_1280_pixels(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    key = sign_up(page, email="wide-tables@example.com", restaurant="Osteria of the wide tables")
    for _ in range(2):
        place(site, key, customer_id="customer-with-a-rather-long-name-of-64-characters", delivery_address="1 Main St")
    venue = home(page)
    page.goto(f"{venue}/keys")
    page.locator(".keys summary").first.click()
    assert page.get_by_role("link", name="Revoke").first.is_visible()
    links = page.locator(".side nav a").evaluate_all("links => links.map((link) => link.href)")
    for link in dict.fromkeys([*links, f"{venue}/settings/tables", f"{venue}/settings/hours"]):
        page.goto(link)
        hidden = page.locator(".table-frame").evaluate_all(
            "frames => frames.filter((frame) => frame.scrollWidth > frame.clientWidth).length"
        )
        assert (link, hidden) == (link, 0)
