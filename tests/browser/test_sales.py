"""The sales report of the demo restaurant."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_in
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_sales_of_the_demo_are_charts_with_tables_and_files(
    visit: "Callable[..., Page]", site: Up, viewport: dict[str, int]
) -> None:
    page, demo = visit(viewport), site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    page.goto(f"/dashboard/{demo['venue']}/reports/sales")
    assert page.locator("svg[role=img]").count() == 3
    # Thirty days with sales, but for the first minutes of today.
    assert page.locator("section:has(#by-day) g").count() == 30
    for summary in page.get_by_text("As a table").all():
        summary.click()
    assert page.locator("section:has(#by-day) tbody tr").count() >= 29
    assert not overflows(page)
    assert (
        page.locator(".table-frame").evaluate_all(
            "frames => frames.filter((frame) => frame.scrollWidth > frame.clientWidth).length"
        )
        == 0
    )
    assert offences(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="All dishes as CSV").click()
    assert download.value.suggested_filename.startswith("sales-by-dish-")
    page.get_by_role("link", name="7 days").click()
    page.get_by_text("Compared with").wait_for()
    if viewport == PHONE:
        page.get_by_text("Other dates").click()
    page.get_by_label("From").fill("2026-01-02")
    page.get_by_label("To").fill("2026-01-01")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("The end date is before the start date.").wait_for()
    assert page.get_by_label("From").input_value() == "2026-01-02"
    assert offences(page) == []
