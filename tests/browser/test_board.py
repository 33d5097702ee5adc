"""The order board as a kitchen has it: it is open all day, hears of orders by itself, and loses nothing."""

import json
from collections.abc import Callable
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page, ViewportSize

pytestmark = [pytest.mark.stack, pytest.mark.browser]

TABLET: "ViewportSize" = {"width": 1024, "height": 768}
# Counts the tones that the page plays.
LISTENING = """
    window.tones = 0;
    const made = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () { window.tones += 1; return made.call(this); };
"""


def place(site: Up, key: str, **changes: Any) -> None:
    """An order by the API."""
    body = {"customer_id": "cust_1", "items": [{"menu_item_id": "pizza", "quantity": 2}], "payment_method": "card"}
    call = Request(  # noqa: S310  # our own address
        f"{site.record['base_url']}/api/v1/orders",
        json.dumps(body | changes).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urlopen(call, timeout=10) as answer:  # noqa: S310
        assert answer.status == 201


def open_board(page: "Page") -> None:
    """The board of the sandbox, which the dashboard opens after sign-up and which the first key is of."""
    page.goto("/dashboard")
    page.get_by_role("link", name="Order board").first.click()
    page.get_by_role("heading", name="Order board").wait_for()


def test_an_order_comes_by_itself_is_heard_completed_taken_back_and_completed(
    visit: "Callable[..., Page]", site: Up
) -> None:
    page = visit()
    page.add_init_script(LISTENING)
    key = sign_up(page, email="board@example.com", restaurant="Board")
    open_board(page)
    page.get_by_role("button", name="Sound on").click()
    page.get_by_role("button", name="Sound is on").wait_for()
    before = page.evaluate("window.tones")
    start = monotonic()
    place(site, key)
    page.locator("#todo-cards .ticket").wait_for()
    assert monotonic() - start < 5
    assert page.evaluate("window.tones") > before
    assert page.title().startswith("(1) Orders")
    assert page.locator("#new-orders").inner_text() == "New order: 1, pick-up"
    page.get_by_role("button", name="Complete order 1").click()
    page.get_by_text("Order 1 was completed.").wait_for()
    assert not page.title().startswith("(")
    page.get_by_role("button", name="Undo of order 1").click()
    page.get_by_text("Order 1 was reopened.").wait_for()
    assert page.evaluate("document.activeElement.textContent").strip() == "Complete order 1"
    page.keyboard.press("Enter")
    page.get_by_text("Order 1 was completed.").wait_for()
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        assert offences(page) == []
        assert not overflows(page)


def test_a_dialog_stays_open_with_its_words_while_orders_come(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    key = sign_up(page, email="dialog@example.com", restaurant="Dialog")
    place(site, key)
    open_board(page)
    page.get_by_role("link", name="Cancel order 1").click()
    page.get_by_label("Other").check()
    page.get_by_label("Details").fill("the oven is out")
    place(site, key)
    page.locator("#todo-cards .ticket").nth(1).wait_for(state="attached")
    assert page.locator("#cancel-dialog").is_visible()
    assert page.get_by_label("Details").input_value() == "the oven is out"
    assert page.evaluate("document.activeElement.name") == "details"
    assert offences(page) == []
    page.get_by_role("button", name="Cancel order").click()
    page.get_by_text("Order 1 was cancelled.").wait_for()
    assert not page.locator("#cancel-dialog").is_visible()
    assert page.evaluate("document.activeElement.textContent").strip() == "Complete order 2"
    page.locator("#past > summary").click()
    page.locator("#gone + ul").get_by_text("the oven is out").wait_for()


def test_first_tap_after_a_reload_completes_an_order_while_sound_is_on(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit(TABLET, has_touch=True)
    key = sign_up(page, email="tap@example.com", restaurant="Tap")
    place(site, key)
    open_board(page)
    page.get_by_role("button", name="Sound on").click()
    page.get_by_role("button", name="Sound is on").wait_for()
    page.reload()
    page.locator("#sound-hint").wait_for()
    button = page.get_by_role("button", name="Complete order 1")
    box = button.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    # A tap takes some time, in which the page must not move.
    page.mouse.move(x, y)
    page.mouse.down()
    page.wait_for_timeout(300)
    assert button.bounding_box() == box
    page.mouse.up()
    page.get_by_text("Order 1 was completed.").wait_for()
    assert not page.locator("#sound-hint").is_visible()


def require_no_holes(page: "Page") -> list["FloatRect"]:
    """Compare the gaps between the cards of each column; return the boxes of all cards."""
    page.wait_for_function("!document.querySelector('.htmx-request, .htmx-settling')")
    boxes = [box for card in page.locator("#todo-cards .ticket").all() if (box := card.bounding_box())]
    for left in {box["x"] for box in boxes}:
        column = sorted((box for box in boxes if box["x"] == left), key=lambda box: box["y"])
        gaps = [below["y"] - above["y"] - above["height"] for above, below in pairwise(column)]
        assert all(abs(gap - 12) <= 1 for gap in gaps)
    return boxes


def test_tablet_shows_six_of_sixteen_orders_without_holes_and_remembers_its_drawer(
    visit: "Callable[..., Page]", site: Up
) -> None:
    page = visit(TABLET)
    key = sign_up(page, email="tablet@example.com", restaurant="Tablet")
    for number in range(16):
        dishes = [{"menu_item_id": f"dish-{dish}", "quantity": 1} for dish in range(1 + number % 3)]
        place(site, key, items=dishes, delivery_address="1 Main St" if number % 2 else None)
    open_board(page)
    cards = page.locator("#todo-cards .ticket")
    assert cards.count() == 16
    boxes = require_no_holes(page)
    assert len([box for box in boxes if box["y"] + box["height"] <= 768]) >= 6
    page.get_by_role("button", name="Accept order 3", exact=True).click()
    page.get_by_text("Order 3 is accepted.").wait_for()
    assert [box["height"] for box in require_no_holes(page)][:2] == [box["height"] for box in boxes][:2]
    page.get_by_role("button", name="Undo of order 3", exact=True).click()
    page.get_by_text("Order 3 is received again.").wait_for()
    assert not page.locator("#done").is_visible()
    page.locator("#past > summary").click()
    page.get_by_role("button", name="Complete order 1", exact=True).click()
    page.locator("#past").get_by_role("button", name="Reopen order 1", exact=True).wait_for()
    page.reload()
    assert page.locator("#done").is_visible()
    page.locator("#past > summary").click()
    page.reload()
    assert not page.locator("#done").is_visible()
    # The message with Undo covers no button of a card.
    page.get_by_role("button", name="Complete order 2", exact=True).click()
    toast = page.locator(".toast")
    toast.wait_for()
    edge = toast.bounding_box()
    top = page.locator("#columns").bounding_box()
    assert edge
    assert top
    assert edge["y"] + edge["height"] <= top["y"]
    for size in (TABLET, PHONE):
        page.set_viewport_size(size)
        assert offences(page) == []
        assert not overflows(page)


def test_a_board_that_has_lost_its_connection_or_its_person_says_so(chromium: "Browser", site: Up) -> None:
    # The browser and htmx complain of each request that does not get through, as they should.
    context = chromium.new_context(base_url=site.record["base_url"], viewport=DESK)
    page = context.new_page()
    sign_up(page, email="away@example.com", restaurant="Away")
    open_board(page)
    page.locator("#poll").wait_for(state="attached")
    context.set_offline(True)
    page.get_by_text("Not connected. Last update: ").wait_for()
    context.set_offline(False)
    page.locator("#connection").wait_for(state="hidden")
    context.clear_cookies()
    page.get_by_text("You are signed out. This page no longer updates.").wait_for()
    assert page.get_by_role("link", name="Sign in again").get_attribute("href").startswith("/account/login/")  # type: ignore[union-attr]
    context.close()
