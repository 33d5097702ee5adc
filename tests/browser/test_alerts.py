"""Alerts in a browser: the page fits and is accessible, a push is shown, and a form outlives its session."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import DESK, PASSWORD, PHONE, TABLET, offences, overflows, sign_up
from tests.support.live_stack import Up, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_a_member_chooses_alerts_and_a_push_is_shown(visit: "Callable[..., Page]", site: Up) -> None:
    page = visit(permissions=["notifications"])
    sign_up(page, email="alerts@example.com", restaurant="Alert Inn")
    page.goto("/dashboard")
    overview = page.url
    page.goto(f"{overview}/alerts")
    page.get_by_role("checkbox", name="New order Email").check()
    page.get_by_label("From").fill("22:00")
    page.get_by_label("Until").fill("07:00")
    for size in (DESK, TABLET, PHONE):
        page.set_viewport_size(size)
        assert not overflows(page)
        assert offences(page) == []
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Alerts saved.").wait_for()
    assert page.get_by_role("checkbox", name="New order Email").is_checked()
    assert page.get_by_role("checkbox", name="New order Browser").count() == 0
    assert page.get_by_role("button", name="Turn on in this browser").is_visible()

    # What a push service does: there is none here.
    devtools = page.context.new_cdp_session(page)
    registrations: list[str] = []
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(each["registrationId"] for each in event["registrations"]),
    )
    devtools.send("ServiceWorker.enable")
    assert eventually(lambda: bool(page.evaluate("1") and registrations))
    message = {"title": "Alert Inn", "body": "New order 1", "url": overview}
    devtools.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": site.record["base_url"], "registrationId": registrations[0], "data": json.dumps(message)},
    )
    shown = """async () => {
        const worker = await navigator.serviceWorker.getRegistration("/static/accounts/");
        return (await worker.getNotifications()).map(({ title, body, data }) => [title, body, data]);
    }"""
    assert eventually(lambda: page.evaluate(shown) == [["Alert Inn", "New order 1", overview]])


def test_what_was_typed_is_saved_after_a_sign_in_in_another_tab(visit: "Callable[..., Page]") -> None:
    page = visit()
    sign_up(page, email="typed@example.com", restaurant="Typed Inn")
    page.goto("/dashboard/you")
    page.get_by_label("First name").fill("Ada")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Please submit again").wait_for()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in").click()
    other = opened.value
    other.get_by_label("Email").fill("typed@example.com")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in", exact=True).click()
    other.wait_for_url(lambda address: "/account/login" not in address)
    page.get_by_role("button", name="Submit again").click()
    page.get_by_text("saved.").wait_for()
    assert page.get_by_label("First name").input_value() == "Ada"
