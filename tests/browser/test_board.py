"""The order board as a kitchen has it: it is open all day, hears of orders by itself, and loses nothing."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import psycopg
import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_up
from tests.support.live_stack import Up, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page, Response, Route, ViewportSize

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
    assert page.evaluate("document.activeElement.ariaLabel") == "Complete order 1"
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
    assert page.evaluate("document.activeElement.ariaLabel") == "Complete order 2"
    page.locator("#past > summary").click()
    page.locator("#gone + ul").get_by_text("the oven is out").wait_for()


def center_of(page: "Page", name: str) -> tuple[float, float]:
    """The middle of the button of this name, for a pointer."""
    box = page.get_by_role("button", name=name, exact=True).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def is_new_board(answer: "Response") -> bool:
    return "/board/columns" in answer.url and answer.status == 200


@pytest.mark.parametrize("verb", ["Accept", "Complete"])
def test_first_tap_after_a_reload_moves_an_order_while_sound_is_on(
    visit: "Callable[..., Page]", site: Up, verb: str
) -> None:
    page = visit(TABLET, has_touch=True)
    key = sign_up(page, email=f"tap-{verb}@example.com", restaurant="Tap")
    place(site, key)
    open_board(page)
    page.get_by_role("button", name="Sound on").click()
    page.get_by_role("button", name="Sound is on").wait_for()
    page.reload()
    page.locator("#sound-hint").wait_for()
    page.touchscreen.tap(*center_of(page, f"{verb} order 1"))
    page.get_by_text("Order 1 is accepted." if verb == "Accept" else "Order 1 was completed.").wait_for()
    page.locator("#sound-hint").wait_for(state="hidden")


def test_a_tap_during_an_update_moves_the_order_and_the_update_follows(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit(TABLET)
    key = sign_up(page, email="during@example.com", restaurant="During")
    place(site, key)
    open_board(page)
    page.get_by_role("button", name="Sound on").click()
    for number, verb, message in (
        (1, "Accept", "is accepted."),
        (2, "Mark ready:", "is ready."),
        (3, "Complete", "was comp"),
    ):
        page.mouse.move(*center_of(page, f"{verb} order 1"))
        with page.expect_response(is_new_board):
            page.mouse.down()
            place(site, key)
        page.mouse.up()
        page.get_by_text(f"Order 1 {message}").wait_for()
        page.get_by_role("button", name=f"Accept order {number + 1}", exact=True).wait_for()
    # By the keyboard too, and without a release the update comes after a while.
    page.get_by_role("button", name="Accept order 2", exact=True).focus()
    with page.expect_response(is_new_board):
        page.keyboard.down(" ")
        place(site, key)
    page.keyboard.up(" ")
    page.get_by_text("Order 2 is accepted.").wait_for()
    page.mouse.down()
    place(site, key)
    page.get_by_role("button", name="Accept order 6", exact=True).wait_for()


def test_a_double_click_moves_an_order_by_one_stage(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    key = sign_up(page, email="double@example.com", restaurant="Double")
    place(site, key)
    open_board(page)
    page.clock.install()
    page.reload()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.mouse.click(*center_of(page, "Accept order 1"))
    page.clock.run_for(10)
    page.get_by_role("button", name="Mark ready: order 1", exact=True).wait_for()
    # The card is another height, but the button is where the pointer is.
    point = center_of(page, "Mark ready: order 1")
    page.mouse.click(*point)
    page.clock.run_for(600)
    page.get_by_text("Order 1 is accepted.").wait_for()
    page.mouse.click(*point)
    page.clock.resume()
    page.get_by_text("Order 1 is ready.").wait_for()


def test_auto_print_prints_each_new_order_once(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    page.add_init_script(
        "window.print = () => { localStorage.prints = `${localStorage.prints ?? ''} ${location.pathname}`; };"
    )
    key = sign_up(page, email="print@example.com", restaurant="Print")

    def prints() -> list[str]:
        paths = page.evaluate("localStorage.prints ?? ''").split()
        return [re.findall("<title>[^0-9<]+([0-9]+)", page.request.get(path).text())[0] for path in paths]

    place(site, key)
    open_board(page)
    page.get_by_role("button", name="Auto-print").click()
    page.get_by_role("button", name="Auto-print is on").wait_for()
    assert prints() == []
    place(site, key)
    place(site, key)
    assert eventually(lambda: prints() == ["2", "3"])
    board = page.url
    page.goto("/dashboard")
    place(site, key)
    page.goto(board)
    assert eventually(lambda: prints() == ["2", "3", "4"])
    page.get_by_role("button", name="Complete order 2", exact=True).click()
    page.get_by_role("button", name="Undo of order 2", exact=True).click()
    page.get_by_text("Order 2 was reopened.").wait_for()
    place(site, key)
    assert eventually(lambda: prints() == ["2", "3", "4", "5"])


def test_of_two_tabs_with_auto_print_one_prints_each_new_order(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    # The ticket is in a frame of the board.
    page.context.add_init_script("window.print = () => { top.prints = (top.prints ?? 0) + 1; };")
    key = sign_up(page, email="tabs@example.com", restaurant="Tabs")
    open_board(page)
    page.get_by_role("button", name="Auto-print").click()
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Auto-print is on").wait_for()
    claims: list[int] = []

    def note(answer: "Response") -> None:
        if "/board/tickets" in answer.url:
            claims.append(answer.status)

    page.context.on("response", note)
    for _ in range(4):
        place(site, key)

    def count_prints() -> int:
        return sum(tab.evaluate("window.prints ?? 0") for tab in (page, other))

    # Each tab has asked for each ticket, and what is claimed is printed.
    assert eventually(lambda: count_prints() == 4 and len(claims) == 8)
    assert sorted(claims) == [204] * 4 + [409] * 4
    assert count_prints() == 4


def test_a_ticket_that_another_board_has_claimed_is_printed_only_if_our_claim_may_have_been_lost(
    visit: "Callable[..., Page]", site: Up
) -> None:
    page = visit()
    page.context.add_init_script("window.print = () => { top.prints = (top.prints ?? 0) + 1; };")
    key = sign_up(page, email="lost@example.com", restaurant="Lost")
    open_board(page)
    board = page.url
    page.goto(f"{board}?station=grill")
    page.get_by_role("button", name="Auto-print").click()
    # Each station remembers its own tickets.
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.endsWith('?station=grill')).length") == 1
    page.goto(board)
    page.get_by_role("button", name="Auto-print is on").wait_for()
    answers: list[int | None] = []

    def answer(route: "Route") -> None:
        status = answers.pop(0) if answers else 409
        if status is None:
            route.abort()
        else:
            route.fulfill(status=status, headers={"Location": "/account/login/"})

    page.route("**/board/tickets*", answer)

    def has_printed(prints: int) -> bool:
        return bool(page.evaluate("window.prints ?? 0") == prints and not answers)

    for first, prints in ((500, 0), (302, 0), (504, 1), (None, 2)):
        answers.extend((first, 409))
        place(site, key)
        assert eventually(partial(has_printed, prints))
    assert has_printed(2)


def test_ages_are_right_on_a_tablet_with_a_wrong_clock(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit(TABLET)
    key = sign_up(page, email="clock@example.com", restaurant="Clock")
    place(site, key)
    for hours in (5, -5):
        page.context.add_init_script(
            f"const real{hours + 5} = Date.now; Date.now = () => real{hours + 5}() + {hours} * 3600000;"
        )
        open_board(page)
        # A swap and a poll each update the ages.
        place(site, key)
        page.locator("#todo-cards .ticket").nth(1 if hours > 0 else 2).wait_for()
        assert set(page.locator("#todo-cards .age").all_inner_texts()) <= {"in 15 min", "in 14 min"}
        assert page.locator("#todo-cards .late").count() == 0


def require_no_holes(page: "Page") -> list["FloatRect"]:
    """Compare the gaps between the cards of each column; return the boxes of all cards."""
    assert eventually(lambda: page.locator(".htmx-request, .htmx-settling").count() == 0)
    boxes = [box for card in page.locator("#todo-cards .ticket").all() if (box := card.bounding_box())]
    for left in {box["x"] for box in boxes}:
        column = sorted((box for box in boxes if box["x"] == left), key=lambda box: box["y"])
        gaps = [below["y"] - above["y"] - above["height"] for above, below in pairwise(column)]
        assert all(abs(gap - 10) <= 1 for gap in gaps)
    return boxes


def test_tablet_shows_twelve_of_sixteen_orders_without_holes_and_remembers_its_drawer(
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
    assert len([box for box in boxes if box["y"] + box["height"] <= 768]) >= 12
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


# Parts of the cards that are wider than their boxes, and numbers and stages of more than one line
CUT = """
    [...document.querySelectorAll("#todo-cards .ticket, #todo-cards .ticket *")].filter((part) =>
        !part.closest(".visually-hidden") && getComputedStyle(part).display !== "inline" && (
            part.scrollWidth > part.clientWidth + 1
            || (part.matches("h3, .age, .ticket-stage") && part.getClientRects()[0].height > 40)
        )
    ).map((part) => part.outerHTML.slice(0, 100))
"""


def test_nothing_is_cut_on_cards_of_old_orders_with_long_texts_at_any_width_in_light_and_dark(
    visit: "Callable[..., Page]", site: Up
) -> None:
    page = visit()
    key = sign_up(page, email="long@example.com", restaurant="Long")
    contact = {"name": "Maximiliana Hohenzollern-Sigmaringen von und zu Taxis"}
    note = "well done, cut in slices, and no chilli at all as the guest is allergic"
    for number in range(12):
        items = [{"menu_item_id": f"Dish-of-a-very-long-name-{dish}", "quantity": 120} for dish in range(1, 3)]
        place(
            site,
            key,
            items=[items[0] | {"notes": note}, items[1]],
            delivery_address="1 Main St, 3rd floor, 00186 Rome" if number % 2 else None,
            fulfilment={"type": "delivery" if number % 2 else "dine_in", "contact": contact}
            | ({} if number % 2 else {"table": "Terrace 12"}),
        )
    open_board(page)
    page.get_by_role("button", name="Accept order 11", exact=True).click()
    page.get_by_text("Order 11 is accepted.").wait_for()
    with psycopg.connect(site.record["database_url"]) as database:
        database.execute(
            "UPDATE orders_order SET created_at = created_at - make_interval(hours => number)"
            " WHERE venue_id IN (SELECT id FROM accounts_venue WHERE name LIKE 'Long%')"
        )
    page.reload()
    page.get_by_text("11 h 0").wait_for()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        for size in (DESK, TABLET, PHONE):
            page.set_viewport_size(size)
            assert page.evaluate(CUT) == [], (theme, size)
            assert not overflows(page)
            assert offences(page) == []


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
