"""Developers' journeys: a key from its making to its end, and calls that show in the log by themselves."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.browser import PHONE, covered, offences, overflows, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_a_key_is_made_copied_replaced_and_revoked(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    sign_up(page, email="keys@example.com", restaurant="Keys & Co")
    page.goto("/dashboard")
    page.get_by_role("link", name="API keys").click()
    assert offences(page) == []
    page.get_by_role("link", name="Create API key").first.click()
    page.get_by_label("Name").fill("<b>Till</b>")
    page.get_by_label("Expires").select_option("In 90 days")
    assert offences(page) == []
    page.get_by_role("button", name="Create API key").click()
    first = page.locator("#new-key").inner_text().strip()
    page.get_by_role("button", name="Copy").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == first
    assert page.get_by_role("button", name="Copied").is_visible()
    assert offences(page) == []
    assert covered(page) == []
    orders = site.record["base_url"] + "/api/v1/orders"

    def status(key: str) -> int:
        return httpx.get(orders, headers={"Authorization": f"Bearer {key}"}).status_code

    assert status(first) == 200
    page.reload()
    assert page.get_by_role("heading", name="This key was already shown").is_visible()
    assert first not in page.content()

    page.get_by_role("link", name="All API keys").click()
    page.locator("summary", has_text="Actions: <b>Till</b>").click()
    page.get_by_role("link", name="Rotate <b>Till</b>").click()
    page.get_by_label("No longer: it stops working now").check()
    page.get_by_role("button", name="Create new key").click()
    second = page.locator("#new-key").inner_text().strip()
    page.wait_for_timeout(1000)
    assert (status(first), status(second)) == (401, 200)

    page.get_by_role("link", name="All API keys").click()
    page.locator("summary", has_text="Actions: <b>Till</b>").first.click()
    page.get_by_role("link", name="Revoke <b>Till</b>").first.click()
    assert offences(page) == []
    page.get_by_role("button", name="Revoke key").click()
    assert page.get_by_text("was revoked. Requests with it now fail with 401.").is_visible()
    page.wait_for_timeout(1000)
    assert status(second) == 401


def test_times_of_the_request_log_show_with_a_custom_range(visit: Callable[..., "Page"]) -> None:
    page = visit()
    sign_up(page, email="range@example.com", restaurant="Range")
    page.goto("/dashboard")
    page.get_by_role("link", name="Requests").first.click()
    page.locator("#id_range").wait_for()
    assert not page.locator("#id_since").is_visible()
    page.locator("#id_range").select_option("custom")
    assert page.locator("#id_since").is_visible()
    assert (offences(page), overflows(page)) == ([], False)


@pytest.fixture
def calling(site: Up) -> Iterator[Callable[[str], httpx.Client]]:
    """`calling(key)` is the program of whoever has that key."""
    with ExitStack() as opened:
        yield lambda key: opened.enter_context(
            httpx.Client(base_url=site.record["base_url"], headers={"Authorization": f"Bearer {key}"})
        )


def test_a_call_shows_in_the_log_by_itself_within_two_seconds(
    visit: Callable[..., "Page"], calling: Callable[[str], httpx.Client]
) -> None:
    page = visit()
    key = sign_up(page, email="log@example.com", restaurant="Log Book")
    caller = calling(key)
    page.goto(page.url.rsplit("/", 1)[0] + "/requests" if page.url.endswith("/welcome") else page.url + "/requests")
    assert page.get_by_role("heading", name="No requests yet").is_visible()
    assert offences(page) == []
    made = caller.post("/api/v1/orders", json={"customer_id": "<i>Lovelace</i>"})
    page.locator(f"#{made.headers['X-Request-Id']}").wait_for(timeout=2000)
    find = page.get_by_label("Request id")
    find.focus()
    again = caller.get("/api/v1/orders")
    page.locator(f"#{again.headers['X-Request-Id']}").wait_for(timeout=2000)
    assert find.evaluate("field => field === document.activeElement")
    assert not overflows(page)
    assert offences(page) == []
    page.locator(f"#{made.headers['X-Request-Id']}").click()
    page.locator("bdi", has_text='"customer_id": "[masked]"').wait_for()
    assert "Lovelace" not in page.content()
    assert offences(page) == []


def test_the_overview_tells_of_calls_and_orders_on_a_phone_too(
    visit: Callable[..., "Page"], calling: Callable[[str], httpx.Client]
) -> None:
    page = visit(PHONE)
    key = sign_up(page, email="overview@example.com", restaurant="View")
    caller = calling(key)
    page.goto(page.url.removesuffix("/welcome"))
    assert page.get_by_role("link", name="Make an API call with your key").is_visible()
    order = {
        "customer_id": "c",
        "items": [{"menu_item_id": "margherita", "quantity": 1}],
        "payment_method": "cash",
    }
    assert caller.post("/api/v1/orders", json=order).status_code == 201
    page.wait_for_timeout(1500)
    page.reload()
    assert page.get_by_text("Order 1 was placed").is_visible()
    assert page.get_by_role("link", name="Make an API call with your key").count() == 0
    assert not overflows(page)
    assert offences(page) == []
    page.goto(f"{page.url}/usage")
    assert page.get_by_text("1 of 1000").is_visible()
    assert page.get_by_role("heading", name="Calls in the last 24 hours").is_visible()
    assert not overflows(page)
    assert offences(page) == []
