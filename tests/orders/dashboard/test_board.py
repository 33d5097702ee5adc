"""The order board: what it shows, what a look costs, and taps of several people at once."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from orders import board, commands
from orders.models import Order, OrderingSettings, OrderItem
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
    """What a board asks every second."""
    return person.get(at(venue, "/columns"), {"seen": seen}, headers=HTMX)


def ages_of(text: str) -> list[tuple[list[str], str]]:
    """The classes of each card to do, and how far its due time is."""
    cards = [part for part in text.split('<li class="')[1:] if 'class="age">' in part]
    return [(part.split('"')[0].split(), part.split('class="age">')[1].split("<")[0]) for part in cards]


def tap(person: Client, venue: Venue, **what: str) -> Any:
    """A button of the board."""
    return person.post(at(venue, "/moves"), what, headers=HTMX)


@pytest.mark.exhaustive
def test_the_board_costs_the_same_queries_for_one_order_and_for_thirty(
    venue: Venue, kitchen: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        builders.order(venue, status=("pending", "completed", "cancelled")[number % 3])
    # Session, user, venue, part; stamp, settings, stations, three columns, the newest, the lines; the other venues.
    with django_assert_num_queries(13):
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
def test_cards_say_how_late_they_are_and_turn_amber_and_red_after_the_minutes_of_the_venue(
    venue: Venue, kitchen: Client
) -> None:
    for minutes in (9, 10, 19, 20, 65, 60 * 50):
        builders.order(venue, now=NOON - timedelta(minutes=minutes))
    text = kitchen.get(at(venue)).content.decode()
    assert ages_of(text) == [
        (["ticket", "late"], "2 days late"),
        (["ticket", "late"], "50 min late"),
        (["ticket", "late"], "5 min late"),
        (["ticket", "warn"], "4 min late"),
        (["ticket", "warn"], "in 5 min"),
        (["ticket"], "in 6 min"),
    ]
    assert re.search(r'id="late-link" href="#card-ord_[a-z0-9]+"><b>3</b> late</a>', text)
    assert "Orders turn amber after 10 minutes and red after 20. Times are in Europe/Rome." in text
    OrderingSettings.objects.create(venue=venue, warn_minutes=15, late_minutes=19)
    text = kitchen.get(at(venue)).content.decode()
    assert [classes[1:] for classes, _ in ages_of(text)] == [["late"]] * 4 + [[], []]
    assert "Orders turn amber after 15 minutes and red after 19. Times are in Europe/Rome." in text


@pytest.mark.exhaustive
def test_orders_are_sorted_by_due_time_and_late_by_the_time_at_which_the_kitchen_must_begin(
    venue: Venue, kitchen: Client
) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=20)
    hour = timedelta(hours=1)
    later = builders.order(venue, now=NOON - hour)
    Order.objects.filter(pk=later.pk).update(requested_at=NOON + hour, promised_at=NOON + 2 * hour)
    requested = builders.order(venue, now=NOON - hour)
    Order.objects.filter(pk=requested.pk).update(requested_at=NOON + timedelta(minutes=5), promised_at=None)
    builders.order(venue, now=NOON - timedelta(minutes=12))
    builders.order(venue, now=NOON - timedelta(minutes=25))
    text = kitchen.get(at(venue)).content.decode()
    assert [part.split("<")[0] for part in text.split("<span>due <b>")[1:]] == ["12:55", "13:05", "13:08", "15:00"]
    assert ages_of(text) == [
        (["ticket", "late"], "5 min late"),
        (["ticket", "warn"], "in 5 min"),
        (["ticket", "warn"], "in 8 min"),
        (["ticket"], "in 2 h 00 min"),
    ]


@pytest.mark.exhaustive
def test_a_station_sees_its_lines_and_without_stations_there_is_no_filter(venue: Venue, kitchen: Client) -> None:
    lines = [{"menu_item_id": dish, "quantity": 1} for dish in ("steak", "beer")]
    orders = [builders.order(venue, items=lines), builders.order(venue, items=lines[1:])]
    assert 'class="stations"' not in kitchen.get(at(venue)).content.decode()
    OrderItem.objects.filter(menu_item_id="steak").update(station="grill & wok")
    text = kitchen.get(at(venue)).content.decode()
    assert f'<a href="{at(venue)}?station=grill%20%26%20wok"><bdi>grill &amp; wok</bdi></a>' in text
    for path in ("", "/columns"):
        text = kitchen.get(at(venue, path), {"station": "grill & wok"}).content.decode()
        assert [order.public_id for order in orders if f'id="card-{order.public_id}"' in text] == [orders[0].public_id]
        assert 'data-waiting="1">' in text
        assert "steak</bdi>" in text
        assert "beer" not in text
    sent = {"accept": f"{orders[0].public_id} 1"}
    answer = kitchen.post(at(venue, "/moves?station=grill+%26+wok"), sent)
    assert answer.headers["Location"] == at(venue, "?station=grill+%26+wok")
    commands.change_status(orders[0], "cancelled", now=NOON, actor="system")
    text = kitchen.get(at(venue), {"station": "grill & wok"}).content.decode()
    assert "Nothing for <bdi>grill &amp; wok</bdi>" in text


@pytest.mark.exhaustive
def test_a_manager_sets_the_minutes_and_amber_comes_before_red(venue: Venue, kitchen: Client) -> None:
    manager, path = users.member(venue, "manager"), at(venue, "/settings")
    assert kitchen.get(path).status_code == 403
    assert f'href="{path}"' not in kitchen.get(at(venue)).content.decode()
    assert f'href="{path}"' in manager.get(at(venue)).content.decode()
    for warn, late, message in (
        (20, 20, "An order is marked before it is late."),
        (0, 20, "An order is marked before it is late."),
        ("", 20, "This field is required."),
        (1, 40000, "Ensure this value is less than or equal to 32767."),
    ):
        refused = manager.post(path, {"warn_minutes": warn, "late_minutes": late})
        assert refused.status_code == 400
        assert message in refused.content.decode()
    assert not OrderingSettings.objects.exists()
    OrderingSettings.objects.create(venue=venue, prep_minutes=30)
    answer = manager.post(path, {"warn_minutes": 5, "late_minutes": 8, "prep_minutes": 1})
    assert answer.headers["Location"] == at(venue)
    assert OrderingSettings.objects.values_list("warn_minutes", "late_minutes", "prep_minutes").get() == (5, 8, 30)


@pytest.mark.exhaustive
def test_of_more_than_a_hundred_orders_the_oldest_are_shown_and_the_others_counted(
    venue: Venue, kitchen: Client
) -> None:
    for number in range(103):
        builders.order(venue, now=NOON - timedelta(seconds=200 - number))
    text = kitchen.get(at(venue)).content.decode()
    assert text.count('class="ticket ') == 100
    assert ">3 more</a>, due later than these" in text
    assert 'data-newest-number="103"' in text


@pytest.mark.exhaustive
def test_a_station_sees_its_order_behind_a_hundred_others_and_how_many_more_it_has(
    venue: Venue, kitchen: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "MAX_PENDING", 3)
    for minutes in range(8, 0, -1):
        builders.order(venue, now=NOON - timedelta(minutes=minutes))
    OrderItem.objects.filter(order__number__gte=5).update(station="bar")
    text = kitchen.get(at(venue)).content.decode()
    assert re.findall(r'data-number="([0-9]+)" data-since', text) == ["1", "2", "3"]
    assert "<bdi>bar</bdi>" in text
    text = kitchen.get(at(venue), {"station": "bar"}).content.decode()
    assert re.findall(r'data-number="([0-9]+)" data-since', text) == ["5", "6", "7"]
    assert 'data-waiting="4">' in text
    assert "and 1 more, due later than these" in text


def test_changed_minutes_of_amber_and_red_reach_an_open_board(venue: Venue, kitchen: Client) -> None:
    builders.order(venue, now=NOON - timedelta(minutes=12))
    seen = stamp_of(kitchen.get(at(venue)))
    for warn, late, classes in ((15, 20, ["ticket"]), (5, 10, ["ticket", "late"])):
        users.member(venue, "manager").post(at(venue, "/settings"), {"warn_minutes": warn, "late_minutes": late})
        answer = look(kitchen, venue, seen)
        assert answer.status_code == 200
        text, seen = answer.content.decode(), stamp_of(answer)
        assert [found for found, _ in ages_of(text)] == [classes]
        assert f"Orders turn amber after {warn} minutes and red after {late}." in text
        assert look(kitchen, venue, seen).status_code == 204


def test_the_board_and_each_station_get_the_ticket_of_an_order_once(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    OrderItem.objects.update(station="grill")
    path, sent = at(venue, "/tickets"), {"order": order.public_id}
    for rest in ("", "?station=grill"):
        assert [kitchen.post(f"{path}{rest}", sent).status_code for _ in range(2)] == [204, 409]
    assert kitchen.post(f"{path}?station=bar", sent).status_code == 404
    assert kitchen.post(f"{path}?station=%00", sent).status_code == 409
    for wrong in ({}, {"order": "ord_\0"}, {"order": "x"}):
        assert kitchen.post(path, wrong).status_code == 404
    order.refresh_from_db()
    assert (order.ticket_claims, order.version) == (["", "grill"], 1)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_eight_boards_that_claim_a_ticket_at_once_one_prints_it() -> None:
    order = builders.order(builders.venue())
    start = Barrier(8)

    def claim(_: int) -> bool:
        try:
            start.wait(timeout=10)
            return order.claim_ticket("")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(claim, range(8))) == [False] * 7 + [True]


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
    assert f'name="accept" value="{key} 1"' in kitchen.get(at(venue)).content.decode()
    accepted = tap(kitchen, venue, accept=f"{key} 1").content.decode()
    assert f"Order {order.number} is accepted." in accepted
    assert f'name="ready" value="{key} 2"' in accepted
    assert f'name="undo" value="{key} received 2" id="undo"' in accepted
    ready = tap(kitchen, venue, ready=f"{key} 2").content.decode()
    assert 'Ready <span class="badge good">1</span>' in ready
    assert 'To do <span class="badge info">0</span>' in ready
    assert f'id="next-{key}"' not in ready
    for version, stage in ((3, "accepted"), (4, "received")):
        undone = tap(kitchen, venue, undo=f"{key} {stage} {version}").content.decode()
        assert f"Order {order.number} is {stage} again." in undone
        order.refresh_from_db()
        assert (order.status, order.stage) == ("pending", stage)
    events = Event.objects.filter(subject=order.pk).order_by("created_at", "id")
    assert [event.record["stage"] for event in events] == ["received", "accepted", "ready", "accepted", "received"]


@pytest.mark.exhaustive
def test_a_stage_that_another_tablet_has_set_is_said_and_an_unknown_one_is_not_found(
    venue: Venue, kitchen: Client
) -> None:
    order = builders.order(venue)
    tap(kitchen, venue, ready=f"{order.public_id} 1")
    for verb in ("accept", "ready"):
        again = tap(kitchen, venue, **{verb: f"{order.public_id} 1"}).content.decode()
        assert f"Order {order.number} is already ready, by kitchen@example.com." in again
    for wrong in ("", " 1", "1", f"{order.public_id}", f"{order.public_id} x", f"{order.public_id} -1"):
        assert tap(kitchen, venue, accept=wrong).status_code == 404
    for wrong in ("handed_over 2", "received", "received x", "received -1", ""):
        assert tap(kitchen, venue, undo=f"{order.public_id} {wrong}").status_code == 404


def test_a_card_that_has_changed_otherwise_is_shown_again_before_it_is_moved(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    commands.change_delivery_address(order, "1 Main St", now=NOON, actor="key:rk_live_abcd")
    answer = tap(kitchen, venue, accept=f"{order.public_id} 1").content.decode()
    assert f"Order {order.number} has changed since: received, by the API. Check it and try again." in answer
    assert f'name="accept" value="{order.public_id} 2"' in answer
    assert Order.objects.get().stage == "received"


def test_undo_reverts_no_later_change_of_others(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    undo = f"{order.public_id} received 2"
    tap(kitchen, venue, accept=f"{order.public_id} 1")
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
    button = f'name="undo" value="{order.public_id} {former} {len(stages) + 1}" class="link">Back to {former}<'
    assert (button in text) == bool(former)
    style = "good" if order.stage == "ready" else "info"
    state = "New" if order.stage == "received" else order.stage.capitalize()
    assert f'<span class="badge {style}">{state}</span>' in text
    assert ("Marked ready" in text) == ("ready" in stages)
    if former:
        kitchen.post(at(venue, "/moves"), {"undo": f"{order.public_id} {former} {order.version}"})
        assert Order.objects.get().stage == former


def test_undo_goes_back_to_the_stage_before_the_tap_whoever_set_it(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    commands.change_stage(order, "preparing", now=NOON, actor="key:rk_live_abcd")
    assert (
        f'value="{order.public_id} preparing 3" id="undo"'
        in tap(kitchen, venue, ready=f"{order.public_id} 2").content.decode()
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


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_tablets_and_the_api_one_sets_each_stage() -> None:
    venue = builders.venue()
    tablets = [users.member(venue, "kitchen"), users.member(venue, "host")]
    api = builders.client(venue)
    start = Barrier(3)

    def press(job: tuple[int, Order, str, str]) -> str:
        who, order, verb, stage = job
        try:
            start.wait(timeout=10)
            if who < 2:
                return str(tap(tablets[who], venue, **{verb: f"{order.public_id} {order.version}"}).content.decode())
            path = f"/api/v1/orders/{order.public_id}/stage"
            headers = {"If-Match": f'"{order.version}"'}
            return str(api.put(path, {"stage": stage}, content_type="application/json", headers=headers).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as threads:
        for _ in range(4):
            order = builders.order(venue)
            for verb, stage in (("accept", "accepted"), ("ready", "ready")):
                answers = list(threads.map(press, [(who, order, verb, stage) for who in range(3)]))
                version = order.version
                order.refresh_from_db()
                assert (order.stage, order.version) == (stage, version + 1)
                moved = [f"Order {order.number} is {stage}.<" in text or text == "200" for text in answers]
                assert sum(moved) == 1
    assert Event.objects.filter(type="order.stage_changed").count() == 8


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
def test_a_printer_is_set_where_the_installation_allows_it(venue: Venue, settings: Any) -> None:
    manager, path = users.member(venue, "manager"), at(venue, "/settings")
    minutes = {"warn_minutes": 5, "late_minutes": 8}
    assert 'name="printer_address"' not in manager.get(path).content.decode()
    assert manager.post(path, minutes | {"printer_address": "192.168.1.9", "printer_port": 9100}).status_code == 302
    assert OrderingSettings.objects.get().printer_address is None
    settings.PRINTER_NETWORKS = [ip_network("192.168.1.0/24")]
    for address, port, message in (
        ("192.168.2.9", 9100, "This installation allows no printer at this address."),
        ("127.0.0.1", 9100, "This installation allows no printer at this address."),
        ("printer.local", 9100, "Enter a valid IPv4 or IPv6 address."),
        ("192.168.1.9", 6379, "A printer&#x27;s port is from 9100 to 9109."),
    ):
        refused = manager.post(path, minutes | {"printer_address": address, "printer_port": port})
        assert refused.status_code == 400
        assert message in refused.content.decode()
    assert manager.post(path, minutes | {"printer_address": "192.168.1.9", "printer_port": 9101}).status_code == 302
    assert OrderingSettings.objects.values_list("printer_address", "printer_port").get() == ("192.168.1.9", 9101)
    assert manager.post(path, minutes | {"printer_address": "", "printer_port": 9100}).status_code == 302
    assert OrderingSettings.objects.get().printer_address is None


def test_card_and_ticket_show_modifiers_table_and_due_time(venue: Venue, kitchen: Client) -> None:
    order = builders.order(venue)
    Order.objects.update(is_dine_in=True, table="T5")
    OrderItem.objects.update(modifiers=[{"name": "Large", "modifiers": [{"name": "<Thin>", "modifiers": []}]}])
    Venue.objects.update(language="de")
    expected = {
        "board": ("able <b><bdi>T5</bdi></b>", "<b>13:15</b>"),
        f"orders/{order.public_id}/ticket": ('<html lang="de">', "Fällig 13:15", "Tisch T5", "IM HAUS", "Drucken"),
    }
    for path, texts in expected.items():
        answer = kitchen.get(f"/dashboard/{venue.public_id}/{path}")
        for text in ("Large, &lt;Thin&gt;</bdi>", *texts):
            assert text in answer.content.decode()
    # The board prints it from a frame.
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]


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
    assert values == ["2", "€38.00"]
    assert "1 open, 1 completed" in text
    # That of yesterday is over the red threshold of the board.
    assert "1 late<" in text
