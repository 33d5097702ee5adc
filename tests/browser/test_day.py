"""The day of reservations as a host works in it: by mouse, by keyboard, and with somebody else at the other desk."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tests.support.browser import DESK, PHONE, TABLET, offences, overflows, sign_in, sign_up
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Position

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
        page.get_by_role("spinbutton", name="Guests").fill("2")
        page.get_by_text("the best free one").click()
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
    other.get_by_text("1 party has left or did not come").click()
    other.locator("tr.finished", has_text="Ada").wait_for()
    # They stay unfolded when the sheet changes.
    block(page, "Grace", "T2").get_by_role("link").click()
    page.get_by_role("dialog").get_by_role("button", name="Seat", exact=True).click()
    other.locator("tr.seated", has_text="Grace").wait_for()
    assert other.locator("tr.finished", has_text="Ada").is_visible()
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        assert offences(page) == []
        assert not overflows(page)


def test_the_line_of_now_crosses_all_parties_without_a_table_and_the_grid_is_whole(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit()
    day = open_day(page, name="now", hour=hour, zone=zone)
    for guest in ("Linus", "Alan"):
        page.goto(f"{day}/new")
        page.get_by_label("Name").fill(guest)
        page.get_by_label("Email").fill(f"{guest.lower()}.now@example.com")
        page.get_by_label("Time").fill(f"{hour:02}:00")
        page.get_by_label("Guests", exact=True).fill("2")
        page.get_by_label("Confirm now").uncheck()
        page.get_by_role("button", name="Create reservation").click()
        page.get_by_text(f"The reservation of {guest}").wait_for()
    page.goto(f"{day}?view=grid")
    line, lane, party = (
        page.locator(f".unseated {part}").first.bounding_box() for part in (".now", ".lane", ".block")
    )
    assert line
    assert lane
    assert party
    assert lane["height"] > 1.5 * party["height"]
    assert abs(line["height"] - lane["height"]) <= 1
    # The last table is not cut by a frame that scrolls.
    assert page.evaluate("(frame => frame.scrollHeight <= frame.clientHeight)(document.getElementById('frame'))")


def place(page: "Page", table: str, *, at: str) -> "Position":
    """Where this time begins in the row of a table, a little to the right of it."""
    lane = page.locator(f'.lane[data-table="{table}"]')
    lane.scroll_into_view_if_needed()
    hour = page.locator(".hours .hour", has_text=f"{at[:2]}:00").bounding_box()
    row, frame = lane.bounding_box(), page.locator("#frame").bounding_box()
    assert hour
    assert row
    assert frame
    # The frame scrolls sideways: bring the hour next to the column of the tables.
    page.evaluate("x => document.getElementById('frame').scrollBy(x, 0)", hour["x"] - frame["x"] - 160)
    hour, row = page.locator(".hours .hour", has_text=f"{at[:2]}:00").bounding_box(), lane.bounding_box()
    assert hour
    assert row
    minutes = int(at[3:]) + 2
    return {"x": hour["x"] - row["x"] + hour["width"] * minutes / 60, "y": row["height"] / 2}


def test_a_tap_on_an_empty_place_opens_the_form_with_its_table_and_time(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit(TABLET, has_touch=True)
    day = open_day(page, name="tap", hour=hour, zone=zone)
    page.goto(f"{day}?view=grid")
    page.locator('.lane[data-table="T3"]').tap(position=place(page, "T3", at=f"{hour:02}:15"))
    page.get_by_role("heading", name="New reservation").wait_for()
    assert page.get_by_label("Time").input_value() == f"{hour:02}:15"
    assert page.get_by_label("T3", exact=True).is_checked()
    assert offences(page) == []
    page.get_by_label("Name").fill("Linus")
    page.get_by_label("Phone").fill("+15550100999")
    page.get_by_role("spinbutton", name="Guests").fill("2")
    page.get_by_role("button", name="Create reservation").click()
    page.get_by_text("The reservation of Linus was confirmed at T3.").wait_for()


def test_a_party_is_moved_by_two_taps_and_opened_by_a_second_tap_on_it(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit(TABLET, has_touch=True)
    day = open_day(page, name="taps", hour=hour, zone=zone)
    page.goto(f"{day}?view=grid")
    block(page, "Ada", "T1").get_by_role("link").tap()
    page.get_by_role("status").get_by_text("Ada: tap the new place.").wait_for()
    assert offences(page) == []
    # A refresh of the sheet does not let go of the party.
    page.evaluate("htmx.trigger(document.body, 'sheet-changed')")
    page.locator(".block.picked", has_text="Ada").wait_for()
    page.locator('.lane[data-table="T4"]').tap(position=place(page, "T4", at=f"{hour:02}:30"))
    page.get_by_text(f"Ada was moved to {hour:02}:30").wait_for()
    block(page, "Ada", "T4").wait_for()
    block(page, "Ada", "T4").get_by_role("link").tap()
    block(page, "Ada", "T4").get_by_role("link").tap()
    page.get_by_role("dialog").get_by_role("heading", name="Ada").wait_for()


def test_a_party_is_moved_by_the_arrow_keys_and_keeps_the_focus(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit()
    open_day(page, name="keys", hour=hour, zone=zone)
    block(page, "Ada", "T1").get_by_role("link").press("m")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.get_by_text(f"Ada: {hour:02}:15 at T3. Press Enter to move, or Escape.").wait_for()
    assert offences(page) == []
    page.keyboard.press("Enter")
    page.get_by_text(f"Ada was moved to {hour:02}:15").wait_for()
    block(page, "Ada", "T3").wait_for()
    page.wait_for_function("document.activeElement.closest('.block')?.textContent.includes('Ada')")
    page.keyboard.press("m")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert block(page, "Ada", "T3").count() == 1


def test_the_message_of_a_move_stays_in_view_and_offers_undo_and_no_email(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit({"width": 1280, "height": 500})
    open_day(page, name="toast", hour=hour, zone=zone)
    drag(page, "Ada", table="T1", to="T3")
    toast = page.locator("#status-message .toast")
    toast.get_by_text(f"Ada was moved to {hour:02}:00").wait_for()
    page.evaluate("scrollTo(0, 0)")
    for _ in range(2):
        box = toast.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 500
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert offences(page) == []
    toast.get_by_role("button", name="Undo").click()
    page.get_by_text(f"Ada was moved back to {hour:02}:00").wait_for()
    block(page, "Ada", "T1").wait_for()


@pytest.mark.parametrize(("width", "has_touch"), [(390, True), (1280, False)])
def test_a_cancellation_is_undone_from_its_message(visit: Visit, width: int, has_touch: bool) -> None:
    zone, hour = working_hour()
    page = visit({"width": width, "height": 600}, has_touch=has_touch)
    day = open_day(page, name=f"undo{width}", hour=hour, zone=zone)
    for back in ("day", "reservation"):
        page.goto(f"{day}?view=list")
        page.get_by_role("link", name="Ada", exact=True).click()
        page.get_by_role("heading", name="Ada").wait_for()
        page.goto(f"{page.url}/cancel{'?back=day' if back == 'day' else ''}")
        assert offences(page) == []
        page.get_by_role("button", name="Cancel the reservation").click()
        toast = page.locator("#status-message .toast")
        toast.get_by_text("The reservation of Ada was cancelled.").wait_for()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        box = toast.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 600
        assert offences(page) == []
        assert not overflows(page)
        toast.get_by_role("button", name="Undo").click()
        page.get_by_text("The reservation of Ada is restored at T1.").wait_for()
        assert page.url.startswith(f"{day}?day=" if back == "day" else f"{day}/res_")


def test_a_phone_opens_at_the_parties_with_whole_names(visit: Visit, site: Up) -> None:
    page, demo = visit(PHONE, has_touch=True), site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    page.goto(f"/dashboard/{demo['venue']}/reservations")
    rows = page.locator(".list-view > .table-frame .day-lines tbody tr")
    assert rows.count() >= 10
    assert not overflows(page)
    assert offences(page) == []
    first = rows.first.bounding_box()
    assert first
    assert first["y"] < 320
    boxes = [row.bounding_box() for row in rows.all()]
    assert len([box for box in boxes if box and box["y"] + box["height"] <= PHONE["height"]]) >= 6
    cut = "links => links.filter((link) => link.scrollWidth > link.clientWidth || link.getClientRects().length > 1)"
    assert page.locator(".day-lines .guest a").evaluate_all(cut) == []
    # The step does not cover the state.
    for row in rows.all()[:8]:
        state, step = row.locator(".state .badge").bounding_box(), row.locator(".next").bounding_box()
        assert state
        assert step
        assert state["x"] + state["width"] <= step["x"]
    # The choice of a date and of the view is one tap away.
    page.locator(".day-tools > summary").click()
    page.locator(".day-tools .more > summary").click()
    page.get_by_role("link", name="Waiting list").first.wait_for()
    assert offences(page) == []
    assert not overflows(page)


def test_the_free_times_follow_the_party_and_a_typed_time_replaces_a_listed_one(visit: Visit, site: Up) -> None:
    page, demo = visit(PHONE, has_touch=True), site.record["dashboard"]
    sign_in(page, email=demo["email"], password=demo["password"])
    page.goto(f"/dashboard/{demo['venue']}/reservations/new")
    listed = page.locator("#times [open] .slots label")
    assert listed.count() >= 4
    box = listed.first.bounding_box()
    assert box
    assert box["y"] + box["height"] < PHONE["height"]
    assert offences(page) == []
    assert not overflows(page)
    listed.first.click()
    chosen = page.locator("#times input:checked")
    time = chosen.input_value()
    # The times fold, and the form says what it will create.
    assert listed.count() == 0
    summary = page.locator("#summary").inner_text()
    assert (summary.startswith("2 guests, "), time in summary) == (True, True), summary
    with page.expect_response(lambda response: "/new/times?" in response.url):
        page.get_by_role("spinbutton", name="Guests").fill("7")
        page.get_by_role("spinbutton", name="Guests").blur()
    page.wait_for_function("time => document.querySelector('#times input:checked')?.value === time", arg=time)
    page.get_by_label("Another time").fill("18:07")
    assert chosen.count() == 0
    listed.first.click()
    assert page.get_by_label("Another time").input_value() == ""
    assert chosen.input_value() == time


def test_a_known_guest_is_found_by_the_number_while_a_reservation_is_entered(visit: Visit) -> None:
    zone, hour = working_hour()
    page = visit()
    day = open_day(page, name="known", hour=hour, zone=zone)
    page.goto(f"{day}/new")
    page.get_by_label("Name").press_sequentially("grac")
    page.get_by_role("button", name="Grace").click()
    assert page.get_by_label("Name").input_value() == "Grace"
    assert page.get_by_label("Email").input_value() == "grace.known@example.com"
    assert page.evaluate("document.activeElement.id") == "id_special_requests"
    page.get_by_label("Name").press_sequentially("x")
    page.set_viewport_size(PHONE)
    page.get_by_label("Name").fill("ada")
    page.get_by_role("button", name="Ada").wait_for()
    assert offences(page) == []
    assert not overflows(page)
    page.keyboard.press("Escape")
    assert page.get_by_role("button", name="Ada").count() == 0
    # A national number: Ada's is of the venue's country.
    page.get_by_label("Name").fill("Linus")
    page.get_by_label("Phone").fill("+15550100999")
    page.get_by_label("Time").fill(f"{hour:02}:30")
    page.get_by_role("spinbutton", name="Guests").fill("2")
    page.get_by_role("button", name="Create reservation").click()
    page.get_by_text("The reservation of Linus was confirmed").wait_for()
    page.goto(f"{day}/new")
    page.get_by_label("Phone").press_sequentially("0100999")
    page.get_by_role("button", name="Linus").click()
    assert page.get_by_label("Name").input_value() == "Linus"
