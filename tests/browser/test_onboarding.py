"""Joining in a real browser: from the sign-up page to the first order, and back in by a passkey."""

import re
import shlex
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.support.browser import PASSWORD, PHONE, covered, offences, overflows, sign_in, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_the_first_order_is_a_minute_away(visit: Callable[..., "Page"]) -> None:
    page = visit()
    began = time.monotonic()
    key = sign_up(page, email="first@example.com", restaurant="First <b>bite</b>", zone="Europe/Rome")
    line = page.locator("#first-call").inner_text()
    page_text = subprocess.run(shlex.split(line), capture_output=True, text=True, check=True).stdout
    took_s = time.monotonic() - began
    assert page_text.startswith("HTTP/1.1 201")
    assert took_s < 60
    assert key.startswith("rk_test_")
    assert offences(page) == []
    assert covered(page) == []
    page.reload()
    assert page.locator("#first-key").count() == 0


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_the_first_order_and_a_confirmed_address_need_no_terminal(
    visit: Callable[..., "Page"], screen: dict[str, object]
) -> None:
    email = f"clicks{len(screen)}@example.com"
    page = visit(screen)
    sign_up(page, email=email, restaurant="Clicks")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Send this order for me").click()
    board = opened.value
    board.get_by_text("margherita").first.wait_for()
    # The key is still on the first page.
    assert page.locator("#first-key").count() == 1
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the mailbox").first.click()
    mailbox = opened.value
    mailbox.get_by_label("Recipient").fill(email)
    mailbox.get_by_role("button", name="Search").click()
    mailbox.get_by_role("link", name="confirm your email address").click()
    assert offences(mailbox) == []
    assert not overflows(mailbox)
    mailbox.get_by_role("link", name="/account/confirm-email/").click()
    mailbox.get_by_role("button", name="Confirm").click()
    mailbox.get_by_text(f"You have confirmed {email}.").wait_for()
    mailbox.goto("/mailbox")
    assert offences(mailbox) == []
    assert not overflows(mailbox)


def test_the_browser_says_which_zone_it_is_in_and_keeps_another_that_was_typed(visit: Callable[..., "Page"]) -> None:
    page = visit(PHONE, timezone_id="Asia/Tokyo")
    page.goto("/account/signup/")
    assert page.get_by_label("Time zone").input_value() == "Asia/Tokyo"
    assert page.locator(".chosen").inner_text() == "Asia/Tokyo, JPY"
    page.get_by_text("Time zone and currency").click()
    page.get_by_label("Currency").select_option("USD")
    assert page.locator(".chosen").inner_text() == "Asia/Tokyo, USD"
    page.get_by_label("Password").fill("a long one")
    page.get_by_role("button", name="Show").click()
    assert page.get_by_label("Password").get_attribute("type") == "text"
    assert offences(page) == []
    assert not overflows(page)
    page.get_by_label("Restaurant").fill("Da Ugo")
    page.get_by_label("Email").fill("zone@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Time zone").fill("Atlantis")
    page.get_by_role("button", name="Create account").click()
    page.get_by_text("There is no time zone Atlantis.").wait_for()
    assert page.get_by_label("Time zone").input_value() == "Atlantis"


def test_the_password_can_be_shown_at_the_sign_in(visit: Callable[..., "Page"]) -> None:
    page = visit(PHONE)
    page.goto("/account/login/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Show").click()
    assert page.get_by_label("Password").get_attribute("type") == "text"
    assert page.locator("[placeholder]").count() == 0
    assert offences(page) == []
    assert not overflows(page)


def test_a_passkey_signs_one_in(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit()
    sign_up(page, email="first-key@example.com", restaurant="Keys")
    # As if the mailed link had been followed: a passkey needs an address that is confirmed.
    with psycopg.connect(site.record["database_url"]) as database:
        database.execute("UPDATE account_emailaddress SET verified = true WHERE email = 'first-key@example.com'")
    page.context.clear_cookies()
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    device.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    # Passkeys work on https or on localhost, not at an address of numbers.
    home = re.sub(r"127\.0\.0\.1", "localhost", page.url.partition("/dashboard")[0])
    page.goto(f"{home}/account/login/?next=/account/2fa/webauthn/add/")
    page.get_by_label("Email").fill("first-key@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/account/2fa/**")
    page.get_by_text("The passkey was added.").wait_for()
    assert offences(page) == []
    page.context.clear_cookies()
    page.goto(f"{home}/account/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/dashboard/ven_*")


def test_the_pages_about_team_and_account_have_nothing_against_them(visit: Callable[..., "Page"]) -> None:
    page = visit(PHONE)
    sign_up(page, email="tidy@example.com", restaurant="Tidy")
    venue = page.url.rpartition("/welcome")[0]
    for path in (f"{venue}/team", f"{venue}/account", "/dashboard/you", "/account/2fa/", "/account/sessions/"):
        page.goto(path)
        assert (path, offences(page), overflows(page)) == (path, [], False)
    other = visit()
    sign_in(other, email="tidy@example.com")
    other.goto("/account/email/")
    assert offences(other) == []
