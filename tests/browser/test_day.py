"""The day of reservations as a host works in it: by mouse, by keyboard, and with somebody else at the other desk."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_in, sign_up

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
Visit = Callable[..., "Page"]


def working_hour() -> tuple[str, int]:
    """A time zone in which it is neither night nor near it, and the hour there."""
    hours = {zone: datetime.now(ZoneInfo(zone)).hour for zone in ("Europe/Rome", "Asia/Tokyo", "America/Los_Angeles")}
    return next((zone, hour) for zone, hour in hours.items() if 9 <= hour < 18)


def open_day(page: "Page", *, name: str, hour: int, zone: str) -> str:
    """Join, put four tables in, and write Ada down at T1 and Grace at T2; the address of the day."""
    sign_up(page, email=f"{name}@example.com", restaurant=f"Osteria {name}", zone=zone)
    page.goto("/dashboard")
    page.wait_for_url("**/dashboard/ven_*")
    home = page.url
    page.goto(f"{home}/settings/tables")
    page.get_by_role("textbox", name="Tables").fill("T1-T4")
    page.get_by_role("button", name="Add tables").click()
    page.get_by_text("4 tables added.").wait_for()
    for guest, table in (("Ada", "T1"), ("Grace", "T2")):
        page.goto(f"{home}/reservations/new")
        page.get_by_label("Name").fill(guest)
        page.get_by_label("Email").fill(f"{guest.lower()}.{name}@example.com")
        page.get_by_label("Time").fill(f"{hour:02}:00")
        page.get_by_label("Guests").fill("2")
        page.get_by_label(table, exact=True).check()
        page.get_by_role("button", name="Create reservation").click()
        page.get_by_text(f"The reservation of {guest} was confirmed at {table}.").wait_for()
    page.goto(f"{home}/reservations")
    return page.url


def block(page: "Page", guest: str, table: str) -> "Locator":
    """A party in the row of a table."""
    return page.locator(f'.lane[data-table="{table}"] .block', has_text=guest)


def drag(page: "Page", guest: str, *, table: str, to: str) -> None:
    """Take a party by the mouse and let it go in another row, at the same time."""
    start = block(page, guest, table).bounding_box()
    goal = page.locator(f'.lane[data-table="{to}"]').bounding_box()
    assert start
    assert goal
    x, y = start["x"] + 20, start["y"] + start["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 2, goal["y"] + goal["height"] / 2, steps=6)
    page.mouse.move(x, goal["y"] + goal["height"] / 2)
    page.mouse.up()


def test_a_party_is_dragged_refused_and_moved_by_keyboard(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit()
    open_day(page, name="drag", hour=hour, zone=zone)
    drag(page, "Ada", table="T1", to="T3")
    page.get_by_text(f"Ada was moved to {hour:02}:00").wait_for()
    block(page, "Ada", "T3").wait_for()
    page.reload()
    block(page, "Ada", "T3").wait_for()
    assert block(page, "Ada", "T1").count() == 0
    # What a rule refuses goes back to where it was, and says why.
    before = block(page, "Ada", "T3").bounding_box()
    drag(page, "Ada", table="T3", to="T2")
    page.get_by_role("alert").get_by_text("Already booked at that time: T2.").wait_for()
    page.wait_for_timeout(500)
    after = block(page, "Ada", "T3").bounding_box()
    assert before
    assert after
    assert (round(after["x"]), after["width"]) == (round(before["x"]), before["width"])
    assert block(page, "Ada", "T2").count() == 0
    # By keyboard: the panel, its form, and back.
    block(page, "Ada", "T3").get_by_role("link").press("Enter")
    page.get_by_role("dialog").get_by_role("heading", name="Ada").wait_for()
    assert offences(page) == []
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement.id.startsWith('b-res_')")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("link", name="Move").press("Enter")
    page.get_by_role("heading", name="Move Ada").wait_for()
    page.get_by_role("radio", name="T4").press("Space")
    assert offences(page) == []
    page.get_by_role("button", name="Move here").press("Enter")
    block(page, "Ada", "T4").wait_for()
    page.get_by_role("button", name="Undo").press("Enter")
    block(page, "Ada", "T3").wait_for()


def test_a_party_arrives_is_seated_and_leaves_and_the_other_desk_sees_it(visit: Visit) -> None:
    zone, hour = working_hour()
    page, other = visit(), visit(PHONE)
    day = open_day(page, name="desks", hour=hour, zone=zone)
    sign_in(other, email="desks@example.com")
    other.goto(day)
    other.get_by_role("button", name="Arrived: Grace").click()
    other.get_by_text("Grace has arrived.").wait_for()
    page.locator('.lane[data-table="T2"] .block.arrived', has_text="Grace").wait_for()
    for step, page_text, stage in (
        ("Arrived", "Ada has arrived.", "arrived"),
        ("Seat", "Ada is seated.", "seated"),
        ("Finish", "Ada has left. The table is free.", "finished"),
    ):
        block(page, "Ada", "T1").get_by_role("link").click()
        page.get_by_role("dialog").get_by_role("button", name=step, exact=True).click()
        page.get_by_text(page_text).wait_for()
        page.locator(f'.lane[data-table="T1"] .block.{stage}', has_text="Ada").wait_for()
    other.locator("tr.finished", has_text="Ada").wait_for()
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        assert offences(page) == []
        assert not overflows(page)
