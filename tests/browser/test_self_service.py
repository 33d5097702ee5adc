"""Who is not signed in, in a browser: a guest books, a newcomer reads the landing page, a developer tries the API."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.browser import PHONE, covered, offences, overflows
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


@contextmanager
def site_of_a_restaurant(base: str, page: str) -> Iterator[str]:
    """A restaurant's own site, of another origin, with the booking page in a frame."""
    text = (
        '<!doctype html><html lang="en"><title>Osteria</title><h1>Osteria</h1>'
        f'<iframe src="{base}{page}" title="Book a table" width="100%" height="300"></iframe>'
        f'<script src="{base}/static/reservations/embed.js" async></script>'
    )

    class Own(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode() if self.path == "/" else b"")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        # Browsers take the two names of this machine for two sites.
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def demo(site: Up) -> str:
    """The path of the demo's booking page."""
    text = httpx.get(site.record["base_url"] + "/").text
    return text.partition('href="/book/')[2].partition('"')[0].join(("/book/", ""))


def day(ahead: int) -> str:
    """So many days from now."""
    return (datetime.now(tz=UTC) + timedelta(days=ahead)).date().isoformat()


def test_a_booking_by_keyboard_on_a_phone_in_a_frame_of_another_site(visit: Visit, site: Up) -> None:
    page = visit(PHONE)
    with site_of_a_restaurant(site.record["base_url"], demo(site)) as own:
        page.goto(own)
        frame = page.frame_locator("iframe")
        frame.locator("summary", has_text="Other date").press("Enter")
        frame.get_by_label("Date", exact=True).fill(day(20))
        frame.get_by_label("Date", exact=True).press("Enter")
        frame.get_by_role("button", name="19:30", exact=True).press("Enter")
        name = frame.get_by_label("Your name")
        name.fill("Ada Lovelace")
        frame.get_by_label("Email").fill("ada.phone@example.com")
        page.wait_for_timeout(2100)
        frame.get_by_role("button", name="Book 19:30 for 2").press("Enter")
        frame.get_by_role("heading", name="Your table is booked").wait_for()
        assert page.context.cookies() == []
        assert page.url == own
        inside = page.frames[1]
        height = inside.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
        page.wait_for_function(f"Math.abs(document.querySelector('iframe').height - {height}) <= 1")


def test_a_change_of_party_or_date_applies_at_once_and_is_what_gets_booked(visit: Visit, site: Up) -> None:
    page = visit(PHONE)
    page.goto(f"{demo(site)}?party=2&day={day(16)}&time=20:00")
    page.get_by_label("Your name").fill("Katherine Johnson")
    page.get_by_label("Email").fill("katherine@example.com")
    page.get_by_label("Guests", exact=True).fill("6")
    page.get_by_label("Guests", exact=True).press("Tab")
    page.get_by_role("button", name="Book 20:00 for 6").wait_for()
    assert page.locator("#times").inner_text().endswith("6 guests")
    page.locator("summary", has_text="Other date").click()
    page.get_by_label("Date", exact=True).fill(day(17))
    page.wait_for_url(f"**&day={day(17)}*")
    page.get_by_role("button", name="Book 20:00 for 6").wait_for()
    assert page.get_by_label("Your name").input_value() == "Katherine Johnson"
    assert offences(page) == []
    assert not overflows(page)
    # The tap on the button follows the new number so fast that the page still shows the old one.
    page.evaluate("""() => {
        document.getElementById("party").value = "5";
        [...document.querySelectorAll("form.details button")].at(-1).click();
    }""")
    page.get_by_role("button", name="Book 20:00 for 5").wait_for()
    page.wait_for_timeout(2100)
    page.get_by_role("button", name="Book 20:00 for 5").click()
    page.get_by_role("heading", name="Your table is booked").wait_for()
    assert page.locator("dt:text-is('Guests') + dd").inner_text() == "5"


def test_without_javascript_a_day_or_a_time_carries_the_party_in_the_field(visit: Visit, site: Up) -> None:
    page = visit(PHONE, java_script_enabled=False)
    page.goto(f"{demo(site)}?party=2&day={day(16)}")
    page.get_by_label("Guests", exact=True).fill("6")
    page.locator(f".days button[value='{day(18)}']").click()
    assert page.get_by_label("Guests", exact=True).input_value() == "6"
    assert page.get_by_label("Date", exact=True).input_value() == day(18)
    page.get_by_label("Guests", exact=True).fill("4")
    page.get_by_role("button", name="20:00", exact=True).click()
    assert page.locator("#who").inner_text().endswith("at 20:00, 4 guests")
    page.get_by_role("button", name="Book 20:00 for 4").wait_for()


def test_the_last_table_goes_to_the_api_and_the_guest_takes_another_time(visit: Visit, site: Up) -> None:
    page = visit()
    path, party = demo(site), 8
    page.goto(f"{path}?party={party}&day={day(30)}&time=20:00")
    page.get_by_label("Your name").fill("Grace Hopper")
    page.get_by_label("Email").fill("grace@example.com")
    page.get_by_label("Special requests").fill("A window")
    assert offences(page) == []
    page.wait_for_timeout(2100)
    key = site.record["management"]["menu_api_key"]
    for number in range(12):
        body = {"customer_name": "Rival", "customer_email": f"rival{number}@example.com", "party_size": party}
        answer = httpx.post(
            f"{site.record['base_url']}/api/v1/reservations",
            headers={"Authorization": f"Bearer {key}"},
            json=body | {"date": day(30), "time": "20:00"},
        )
        if answer.status_code == 400:
            assert answer.json()["error"]["code"] == "slot_unavailable"
            break
    page.get_by_role("button", name="Book 20:00 for 8").click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_label("Special requests").input_value() == "A window"
    assert offences(page) == []
    page.get_by_role("button", name="instead").first.click()
    page.get_by_role("heading", name="Your table is booked").wait_for()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="View, change or cancel booking").click()
    opened.value.get_by_role("link", name="Cancel reservation").click()
    opened.value.get_by_role("button", name="Cancel reservation").click()
    opened.value.get_by_text("This reservation is cancelled.").wait_for()


def book_on_the_page(page: "Page", site: Up, *, ahead: int, email: str) -> str:
    """Book 19:30 for two in so many days, and return the address of the guest's page."""
    page.goto(f"{demo(site)}?party=2&day={day(ahead)}&time=19:30")
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("Email").fill(email)
    page.wait_for_timeout(2100)
    page.get_by_role("button", name="Book 19:30 for 2").click()
    return str(page.get_by_role("link", name="View, change or cancel booking").get_attribute("href"))


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_guest_changes_the_reservation_with_and_without_javascript(
    visit: Visit, site: Up, width: int, scripts: bool
) -> None:
    page = visit({"width": width, "height": 800}, java_script_enabled=scripts)
    own = book_on_the_page(page, site, ahead=40 + width // 100, email=f"change{width}{scripts}@example.com")

    def check() -> None:
        # axe-core is a script.
        assert not scripts or (offences(page) == [] and not overflows(page))

    page.goto(own)
    check()
    page.get_by_role("link", name="Change reservation").click()
    check()
    page.get_by_label("Guests", exact=True).fill("4")
    if scripts:
        page.get_by_label("Guests", exact=True).press("Tab")
        page.wait_for_url("**party=4*")
    page.get_by_role("button", name="20:00", exact=True).click()
    check()
    page.get_by_role("button", name="Change to 20:00 for 4").click()
    page.get_by_text("Your change is saved.").wait_for()
    saved = page.get_by_role("status").inner_text()
    assert "Time: 20:00, was 19:30" in saved
    assert "Guests: 4, was 2" in saved
    check()
    page.get_by_role("link", name="Change reservation").click()
    page.get_by_role("textbox", name="Special requests").fill("A window")
    page.get_by_role("button", name="Save requests").click()
    page.get_by_text("The restaurant sees your special requests.").wait_for()
    check()
    with page.expect_download() as download:
        page.get_by_role("link", name="Add to calendar").click()
    assert download.value.suggested_filename == "reservation.ics"
    page.get_by_role("link", name="Cancel reservation").click()
    page.get_by_role("button", name="Cancel reservation").click()
    page.get_by_text("This reservation is cancelled.").wait_for()
    check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_landing_page_makes_real_calls(visit: Visit, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    page.goto("/")
    # An answer is there before the first call.
    assert json.loads(page.locator("#answer").inner_text())["data"]
    page.get_by_role("button", name="Run").click()
    page.get_by_text("200 in").wait_for()
    result = json.loads(page.locator("#answer").inner_text())
    assert result["data"]
    # Coloured as on the server, and cut off until somebody wants all of it.
    assert page.locator("#answer .c-nt").first.inner_text() == '"data"'
    is_cut = "answer => answer.scrollHeight > answer.clientHeight"
    assert page.locator("#answer").evaluate(is_cut)
    page.get_by_role("button", name="Show all").click()
    assert not page.locator("#answer").evaluate(is_cut)
    page.get_by_role("button", name="Show less").click()
    page.get_by_role("link", name="Request a paid field").click()
    page.get_by_text("402 in").wait_for()
    assert offences(page) == []
    assert covered(page) == []
    page.set_viewport_size(PHONE)
    assert not overflows(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_guides_are_read_and_found(visit: Visit, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    page.goto("/docs")
    page.get_by_role("searchbox").first.fill("webhook")
    guides = page.get_by_role("navigation", name="All guides", exact=True)
    # The index lists them itself, so that its menu is folded.
    assert not guides.get_by_role("link", name="Webhooks").is_visible()
    guides.get_by_role("heading", name="Integrator").click()
    guides.get_by_role("link", name="Webhooks").click()
    page.get_by_role("heading", level=1, name="Webhooks").wait_for()
    assert offences(page) == []
    page.goto("/docs/paying")
    assert offences(page) == []
    assert covered(page) == []
    # The contents mark the section that is read.
    read = page.locator(".contents [aria-current=location]")
    assert read.all_inner_texts() == ["The 402 answer"]
    page.locator("#tiers").evaluate("heading => heading.scrollIntoView()")
    read.filter(has_text="Tiers").wait_for()
    # The table of the prices is shown whole.
    assert page.locator(".table-frame").first.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    page.set_viewport_size(PHONE)
    assert not overflows(page)


def test_a_call_is_made_in_the_reference(visit: Visit, site: Up) -> None:
    page = visit()
    for name in ("data", "management"):
        page.goto(f"/docs/api/{name}/try")
        page.get_by_role("button", name="Authorize").first.wait_for()
        assert (name, offences(page, every_impact=True)) == (name, [])
    page.get_by_role("button", name="Authorize").first.click()
    page.locator(".auth-container input").first.fill(site.record["management"]["api_key"])
    page.locator(".auth-btn-wrapper button.authorize").first.click()
    page.locator(".btn-done").first.click()
    listed = page.locator(".opblock-get").filter(has_text="/api/v1/orders").first
    listed.locator(".opblock-summary-control").click()
    listed.get_by_role("button", name="Execute").click()
    listed.locator(".live-responses-table .response-col_status").filter(has_text="200").first.wait_for()


def test_the_reference_is_read_without_another_site_in_light_and_dark(visit: Visit) -> None:
    asked: list[str] = []
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme)
        page.on("request", lambda request: asked.append(request.url))
        for path in ("/docs", "/docs/api/data", "/docs/api/management/orders", "/docs/api/management/webhooks"):
            page.goto(path)
            assert offences(page) == []
        assert [url for url in asked if not url.startswith(page.url.partition("/docs")[0])] == []
        page.goto("/docs/api/data/restaurants")
        for width in (1280, 1024, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert not overflows(page)


def test_the_language_of_the_samples_is_chosen_by_keyboard_and_remembered(visit: Visit) -> None:
    page = visit()
    page.goto("/docs/api/management/orders")
    page.get_by_role("radio", name="curl").first.focus()
    page.keyboard.press("ArrowRight")
    page.locator("#list_orders-python").wait_for()
    assert page.locator("#create_order-python").is_visible()
    assert not page.locator("#create_order-shell").is_visible()
    page.goto("/docs/api/data/markets")
    page.locator("#list_markets-python").wait_for()
