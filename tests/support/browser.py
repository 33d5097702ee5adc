"""Chromium for tests: pages at a desk and on a phone, which fail on whatever the browser complains of."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.live_stack import Up, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

DESK: "ViewportSize" = {"width": 1280, "height": 900}
PHONE: "ViewportSize" = {"width": 390, "height": 800}
TABLET: "ViewportSize" = {"width": 768, "height": 1024}
PASSWORD = "correct horse battery staple"  # of people whom tests invent


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """The browser of this machine: CHROMIUM, or what is found on the PATH."""
    playwright = pytest.importorskip("playwright.sync_api", reason="uv run --group browser")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("there is no chromium here: apt-get install chromium")
    # Playwright's synchronous API keeps an event loop running in this thread, in which Django would refuse queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with playwright.sync_playwright() as running_one:
        browser = running_one.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A seeded run of the whole product that journeys share: each brings customers of its own."""
    with running(
        tmp_path_factory.mktemp("site") / "state", "--restaurants", "60", WEBHOOKS_TO_LOOPBACK="true", LOG_LEVEL="INFO"
    ) as up:
        yield up


@pytest.fixture
def visit(chromium: "Browser", site: Up) -> Iterator[Callable[..., "Page"]]:
    """`visit()` is a new person with a browser of their own, at the landing page's address; `visit(PHONE)` on a phone.

    At the end no page may have complained: of a script's error, or of what the content security policy has stopped.
    """
    complaints: list[str] = []
    with ExitStack() as opened:

        def enter(viewport: "ViewportSize | None" = None, **options: Any) -> "Page":
            context = chromium.new_context(
                base_url=site.record["base_url"], viewport=viewport or DESK, **{"locale": "en-GB"} | options
            )
            opened.callback(context.close)
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
            page.on("console", lambda output: note(page, output.type, output.text))
            return page

        def note(page: "Page", kind: str, text: str) -> None:
            # Chromium also writes down each answer of 4xx, which tests ask for on purpose.
            if kind == "error" and "Failed to load resource" not in text:
                complaints.append(f"{page.url}: {text}")

        yield enter
    assert complaints == []


def sign_up(page: "Page", *, email: str, restaurant: str, zone: str = "Europe/Rome") -> str:
    """Join as the owner of a restaurant; the first key, which the page shows once."""
    page.goto("/account/signup/")
    page.get_by_label("Restaurant").fill(restaurant)
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_text("Time zone and currency").click()
    page.get_by_label("Time zone").fill(zone)
    page.get_by_role("button", name="Create account").click()
    return page.locator("#first-key").inner_text().strip()


def sign_in(page: "Page", *, email: str, password: str = PASSWORD, to: str = "/dashboard") -> None:
    """Sign in by mail address and password, in any language."""
    page.goto(f"/account/login/?next={to}")
    page.locator("[name=login]").fill(email)
    page.locator("[name=password]").fill(password)
    page.locator("[name=password]").press("Enter")
    page.wait_for_url(lambda address: "/account/login" not in address)


def offences(page: "Page", *, every_impact: bool = False) -> list[str]:
    """What axe-core finds serious or critical, or at all, on the page as it is now: rule and element."""
    from axe_playwright_python.sync_playwright import Axe  # of the group `browser` alone

    # It would copy the style sheets into the page, to see if they lock a phone's turning; the policy forbids that.
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found
        if every_impact or rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def overflows(page: "Page") -> bool:
    """Whether the page is wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


# The texts that a button to copy them covers, by their ids.
COVERED = """() => [...document.querySelectorAll("[data-copy]")].filter((button) => {
    const text = document.createRange(), spot = button.getBoundingClientRect()
    text.selectNodeContents(document.getElementById(button.dataset.copy))
    return [...text.getClientRects()].some((line) => line.width > 1 && line.left < spot.right
        && line.right > spot.left && line.top < spot.bottom && line.bottom > spot.top)
}).map((button) => button.dataset.copy)"""


def covered(page: "Page") -> list[str]:
    """The texts, by their ids, of which a button to copy them hides a part, at a desk and on a phone."""
    found: list[str] = []
    before = page.viewport_size
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        found += page.evaluate(COVERED)
    page.set_viewport_size(before or DESK)
    return found
