"""The order board: what it shows, what a look costs, and taps of several people at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from orders import commands
from orders.models import Order
from tests.support import builders, users

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HTMX = {"hx-request": "true"}
REASON = {"reason": "Sold out", "details": "no more basil"}


@pytest.fixture(autouse=True)
def noon() -> Any:
    """The clock, which stands still."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def kitchen(venue: Venue) -> Client:
    """The tablet in the kitchen."""
    return users.member(venue, "kitchen", person=users.user("kitchen@example.com"))


def at(venue: Venue, rest: str = "") -> str:
    """The address of the board, or of what belongs to it."""
    return f"/dashboard/{venue.public_id}/board{rest}"


def stamp_of(page: Any) -> str:
    """What the page would send as `seen`."""
    text: str = page.content.decode()
    return text.split('id="seen" name="seen" value="')[1].split('"')[0]


def look(person: Client, venue: Venue, seen: str) -> Any:
    """What a board asks every two seconds."""
    return person.get(at(venue, "/columns"), {"seen": seen}, headers=HTMX)


def tap(person: Client, venue: Venue, **what: str) -> Any:
    """A button of the board."""
    return person.post(at(venue, "/moves"), what, headers=HTMX)


@pytest.mark.exhaustive
def test_the_board_costs_the_same_queries_for_one_order_and_for_thirty(
    venue: Venue, kitchen: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        builders.order(venue, status=("pending", "completed", "cancelled")[number % 3])
    # Session, user, venue, part; stamp, three columns, the newest, the lines; the other venues.
    with django_assert_num_queries(11):
        assert kitchen.get(at(venue)).status_code == 200


def test_a_look_at_an_unchanged_board_is_204_and_three_queries(
    venue: Venue, kitchen: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.order(venue)
    seen = stamp_of(kitchen.get(at(venue)))
    with django_assert_num_queries(3):
        answer = look(kitchen, venue, seen)
    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.exhaustive
def test_a_look_shows_what_the_api_the_back_office_and_another_tablet_have_changed(
    venue: Venue, kitchen: Client
) -> None:
    seen = stamp_of(kitchen.get(at(venue)))
    public_id = (
        builders.client(venue)
        .post("/api/v1/orders", builders.order_body(), content_type="application/json")
        .json()["id"]
    )
    order = Order.objects.get()
    for change in (
        lambda: None,
        lambda: commands.change_delivery_address(order, "1 Main St", now=NOON, actor="staff:admin@example.com"),
        lambda: tap(users.member(venue, "host"), venue, complete=public_id),
        lambda: commands.reopen_order(order, now=NOON, actor="staff:admin@example.com"),
    ):
        change()
        answer = look(kitchen, venue, seen)
        assert answer.status_code == 200
        seen = stamp_of(answer)
        assert look(kitchen, venue, seen).status_code == 204


@pytest.mark.exhaustive
def test_a_change_that_is_committed_late_is_seen_though_others_are_newer(venue: Venue, kitchen: Client) -> None:
    builders.order(venue)
    seen = stamp_of(kitchen.get(at(venue)))
    builders.order(venue, now=NOON - timedelta(seconds=3), customer_id="late")
    answer = look(kitchen, venue, seen)
    assert answer.status_code == 200
    assert "late" in answer.content.decode()


@pytest.mark.exhaustive
def test_board_is_empty_after_midnight_of_the_venue(venue: Venue, kitchen: Client, noon: Any) -> None:
    builders.order(venue, status="completed")
    seen = stamp_of(kitchen.get(at(venue)))
    noon.move_to(datetime(2026, 11, 21, 22, 59, 59, tzinfo=UTC))
    assert look(kitchen, venue, seen).status_code == 204
    noon.move_to(datetime(2026, 11, 21, 23, 0, tzinfo=UTC))
    answer = look(kitchen, venue, seen)
    assert "Orders completed today appear here. You can reopen them." in answer.content.decode()


@pytest.mark.exhaustive
def test_cards_say_how_long_they_have_waited_and_turn_amber_after_10_and_red_after_20_minutes(
    venue: Venue, kitchen: Client
) -> None:
    for minutes in (9, 10, 19, 20, 65, 60 * 50):
        builders.order(venue, now=NOON - timedelta(minutes=minutes))
    text = kitchen.get(at(venue)).content.decode()
    cards = [part for part in text.split('<li class="')[1:] if part.startswith("ticket")]
    shown = [(part.split('"')[0].split(), part.split('class="age">')[1].split("<")[0]) for part in cards]
    assert shown == [
        (["ticket", "very-late"], "2 days"),
        (["ticket", "very-late"], "1 h 05 min"),
        (["ticket", "very-late"], "20 min"),
        (["ticket", "late"], "19 min"),
        (["ticket", "late"], "10 min"),
        (["ticket"], "9 min"),
    ]
    assert "Orders turn amber after 10 minutes and red after 20. Times are in Europe/Rome." in text


@pytest.mark.exhaustive
def test_of_more_than_a_hundred_orders_the_oldest_are_shown_and_the_others_counted(
    venue: Venue, kitchen: Client
) -> None:
    for number in range(103):
        builders.order(venue, now=NOON - timedelta(seconds=200 - number))
    text = kitchen.get(at(venue)).content.decode()
    assert text.count('class="ticket ') == 100
    assert ">3 more</a>, newer than these" in text
    assert 'data-newest-number="103"' in text


def test_a_tap_completes_and_another_takes_it_back(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    done = tap(kitchen, venue, complete=order.public_id).content.decode()
    assert f"Order {order.number} was completed." in done
    assert f'name="reopen" value="{order.public_id}" id="undo"' in done
    order.refresh_from_db()
    assert (order.status, order.completed_at) == ("completed", NOON)
    back = tap(kitchen, venue, reopen=order.public_id).content.decode()
    assert f"Order {order.number} was reopened." in back
    assert 'id="undo"' not in back
    order.refresh_from_db()
    assert order.status == "pending"
    result = Event.objects.filter(subject=order.pk).order_by("created_at", "id").values_list("type", "actor")
    assert list(result) == [
        ("order.created", "system"),
        ("order.completed", "staff:kitchen@example.com"),
        ("order.reopened", "staff:kitchen@example.com"),
    ]


def test_a_tap_accepts_an_order_the_next_makes_it_ready_and_each_is_taken_back(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    key = order.public_id
    assert f'name="accept" value="{key}"' in kitchen.get(at(venue)).content.decode()
    accepted = tap(kitchen, venue, accept=key).content.decode()
    assert f"Order {order.number} is accepted." in accepted
    assert f'name="ready" value="{key}"' in accepted
    assert f'name="undo" value="{key} received 2" id="undo"' in accepted
    ready = tap(kitchen, venue, ready=key).content.decode()
    assert '<p class="ticket-stage ready">Ready</p>' in ready
    assert f'id="next-{key}"' not in ready
    for version, stage in ((3, "accepted"), (4, "received")):
        undone = tap(kitchen, venue, undo=f"{key} {stage} {version}").content.decode()
        assert f"Order {order.number} is {stage} again." in undone
        order.refresh_from_db()
        assert (order.status, order.stage) == ("pending", stage)
    events = Event.objects.filter(subject=order.pk).order_by("created_at", "id")
    assert [event.record["stage"] for event in events] == ["received", "accepted", "ready", "accepted", "received"]


def test_a_stage_that_another_tablet_has_set_is_said_and_an_unknown_one_is_not_found(
    venue: Venue, kitchen: Client
) -> None:
    order = builders.order(venue)
    tap(kitchen, venue, ready=order.public_id)
    again = tap(kitchen, venue, accept=order.public_id).content.decode()
    assert f"Order {order.number} is already ready, by kitchen@example.com." in again
    for wrong in ("handed_over 2", "received", "received x", "received -1", ""):
        assert tap(kitchen, venue, undo=f"{order.public_id} {wrong}").status_code == 404


def test_undo_reverts_no_later_change_of_others(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    undo = f"{order.public_id} received 2"
    tap(kitchen, venue, accept=order.public_id)
    commands.change_stage(Order.objects.get(), "ready", now=NOON, actor="key:rk_live_abcd")
    answer = tap(kitchen, venue, undo=undo).content.decode()
    assert f"Not undone: order {order.number} is ready, by the API." in answer
    assert Order.objects.get().stage == "ready"


@pytest.mark.parametrize(
    ("stages", "former"),
    [((), None), (("accepted",), "received"), (("ready",), "received"), (("preparing", "ready"), "preparing")],
)
def test_the_page_of_an_order_moves_it_back_to_its_former_stage(
    venue: Venue, kitchen: Client, stages: tuple[str, ...], former: str | None
) -> None:
    order = builders.order(venue)
    for stage in stages:
        commands.change_stage(order, stage, now=NOON, actor="system")
    text = kitchen.get(f"/dashboard/{venue.public_id}/orders/{order.public_id}").content.decode()
    button = f'name="undo" value="{order.public_id} {former} {len(stages) + 1}" class="quiet">Back to {former}<'
    assert (button in text) == bool(former)
    assert f'<span class="badge">{order.stage}</span>' in text
    if former:
        kitchen.post(at(venue, "/moves"), {"undo": f"{order.public_id} {former} {order.version}"})
        assert Order.objects.get().stage == former


def test_undo_goes_back_to_the_stage_before_the_tap_whoever_set_it(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    commands.change_stage(order, "preparing", now=NOON, actor="key:rk_live_abcd")
    assert (
        f'value="{order.public_id} preparing 3" id="undo"'
        in tap(kitchen, venue, ready=order.public_id).content.decode()
    )


@pytest.mark.exhaustive
def test_cancellation_reason_of_staff_is_not_in_the_api(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    for wrong, words in (
        ({}, "Select a reason."),
        ({"reason": "Other", "details": " "}, "Enter the reason."),
        ({"reason": "Rain"}, "Select a valid choice. Rain is not one of the available choices."),
        ({"reason": "Sold out", "details": "a\0b"}, "Null characters are not allowed."),
    ):
        refused = tap(kitchen, venue, cancel=order.public_id, **wrong)
        assert (refused.status_code, refused.content.decode()) == (400, words)
    order.refresh_from_db()
    assert (order.status, order.version) == ("pending", 1)
    text = tap(kitchen, venue, cancel=order.public_id, **REASON).content.decode()
    assert f"Order {order.number} was cancelled." in text
    assert "Sold out: no more basil" in text
    order.refresh_from_db()
    assert (order.status, order.cancelled_because) == ("cancelled", "Sold out: no more basil")
    body = builders.client(venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert "basil" not in str(body) + str(Event.objects.latest("id").record)


@pytest.mark.exhaustive
def test_a_card_that_another_tablet_has_moved_says_so(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    commands.change_status(order, "completed", now=NOON, actor="staff:ada@example.com")
    for what in ({"complete": order.public_id}, {"cancel": order.public_id, **REASON}):
        answer = tap(kitchen, venue, **what)
        assert answer.status_code == 200
        assert f"Order {order.number} is already completed, by ada@example.com." in answer.content.decode()
    order.refresh_from_db()
    assert (order.status, order.version, order.cancelled_because) == ("completed", 2, "")


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_taps_one_moves_the_order_and_the_other_gets_a_message() -> None:
    venue = builders.venue()
    tablets = [users.member(venue, "kitchen"), users.member(venue, "host")]
    start = Barrier(2)

    def press(job: tuple[Client, dict[str, str]]) -> str:
        tablet, what = job
        try:
            start.wait(timeout=10)
            return str(tap(tablet, venue, **what).content.decode())
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for _ in range(4):
            order = builders.order(venue)
            taps: list[dict[str, str]] = [{"complete": order.public_id}, {"cancel": order.public_id, **REASON}]
            texts = list(threads.map(press, zip(tablets, taps, strict=True)))
            order.refresh_from_db()
            assert order.version == 2
            assert sum(f"Order {order.number} was {order.status}.<" in text for text in texts) == 1
            assert sum(f"Order {order.number} is already {order.status}, by " in text for text in texts) == 1


def test_without_a_script_a_tap_leads_back_to_the_board_with_words(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    answer = kitchen.post(at(venue, "/moves"), {"complete": order.public_id}, follow=True)
    assert answer.redirect_chain == [(at(venue), 302)]
    assert f"Order {order.number} was completed." in answer.content.decode()


@pytest.mark.exhaustive
def test_what_customers_write_shows_as_text(venue: Venue, kitchen: Client) -> None:
    attack = "<script>alert(1)</script>"
    order = builders.order(
        venue,
        customer_id=attack,
        delivery_address=attack,
        items=[{"menu_item_id": attack, "quantity": 1, "notes": attack}],
    )
    tap(kitchen, venue, cancel=builders.order(venue).public_id, reason="Other", details=attack)
    for path in ("board", f"orders/{order.public_id}", f"orders/{order.public_id}/ticket", "orders"):
        text = kitchen.get(f"/dashboard/{venue.public_id}/{path}").content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ["owner", "manager", "host", "kitchen"])
def test_everybody_at_work_at_the_venue_sees_the_board(venue: Venue, role: str) -> None:
    person = users.member(venue, role)
    assert person.get(at(venue)).status_code == 200
    assert tap(person, venue, complete=builders.order(venue).public_id).status_code == 200


@pytest.mark.exhaustive
def test_the_board_of_another_venue_is_not_there(venue: Venue, other_venue: Venue, kitchen: Client) -> None:
    theirs = builders.order(other_venue)
    stranger = users.member(other_venue, "owner")
    seen = stamp_of(stranger.get(at(other_venue)))
    assert kitchen.get(at(other_venue)).status_code == 404
    assert look(kitchen, other_venue, seen).status_code == 404
    assert tap(kitchen, other_venue, complete=theirs.public_id).status_code == 404
    assert tap(kitchen, venue, complete=theirs.public_id).status_code == 404
    assert tap(kitchen, venue, complete="ord_\0").status_code == 404
    assert tap(kitchen, venue, eat=theirs.public_id).status_code == 404
    theirs.refresh_from_db()
    assert (theirs.status, theirs.version) == ("pending", 1)


def test_a_part_in_another_venue_of_the_account_shows_no_board(venue: Venue) -> None:
    bar = Venue.objects.create(account=venue.account, name="Bar", timezone="Europe/Rome")
    seen = stamp_of(users.member(venue, "owner").get(at(venue)))
    barkeeper = users.member(venue, "kitchen", [bar])
    assert look(barkeeper, venue, seen).status_code == 404
    assert barkeeper.get(at(bar)).status_code == 200


def test_our_own_staff_are_asked_no_more_often(venue: Venue) -> None:
    staff = builders.staff()
    seen = stamp_of(staff.get(at(venue)))
    assert look(staff, venue, seen).status_code == 204


def test_board_tells_a_signed_out_user(venue: Venue, client: Client) -> None:
    assert look(client, venue, "x").status_code == 401
    assert client.get(at(venue)).headers["Location"].startswith("/account/login/")


def test_the_tiles_of_the_overview_count_as_the_board_and_sum_up_today_without_cancelled_orders(
    venue: Venue, kitchen: Client
) -> None:
    builders.menu(venue)
    for status in ("pending", "completed", "cancelled"):
        builders.order(venue, status=status)
    builders.order(venue, now=NOON - timedelta(days=1))
    text = kitchen.get(f"/dashboard/{venue.public_id}/orders/today").content.decode()
    values = [part.split("<")[0] for part in text.split('class="value">')[1:]]
    assert values == ["2", "1", "1", "38.00 EUR"]
