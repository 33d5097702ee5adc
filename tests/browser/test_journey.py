"""The whole way of an order: a newcomer's key, the board, and the shop's own server that hears of it."""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from tests.accounts.webhook_receivers import receiving
from tests.browser.test_board import open_board, place
from tests.support.browser import sign_up
from tests.support.live_stack import Up, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_the_first_order_is_shown_completed_and_sent_to_a_webhook(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit()
    start = monotonic()
    key = sign_up(page, email="whole@example.com", restaurant="Whole Way")
    place(site, key)
    # Sign-up to the first 201, by hands that type at once.
    assert monotonic() - start < 60
    open_board(page)
    board = page.url
    page.locator("#todo-cards .ticket").wait_for()
    with receiving() as receiver:
        page.goto(board.replace("/board", "/webhooks/new"))
        page.get_by_role("textbox", name="URL").fill(receiver.url.replace("127.0.0.1", "localhost"))
        page.get_by_role("button", name="Add", exact=True).click()
        secret = page.locator("#secret").inner_text()
        page.goto(board)
        place(site, key)
        page.get_by_role("button", name="Complete order 2").click()
        page.get_by_text("Order 2 was completed.").wait_for()
        assert eventually(lambda: len(receiver.received) == 2)
    events = [one.verified(secret) for one in receiver.received]
    assert sorted((event["type"], event["data"]["number"]) for event in events) == [
        ("order.completed", 2),
        ("order.created", 2),
    ]
