"""All orders of a venue, one of them, and their table for a spreadsheet."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from orders import commands
from orders.models import Order
from tests.support import builders, users

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def host(venue: Venue) -> Client:
    """Somebody at the door."""
    return users.member(venue, "host", person=users.user("host@example.com"))


def at(venue: Venue, rest: str = "") -> str:
    """The address of the list, or of what is below it."""
    return f"/dashboard/{venue.public_id}/orders{rest}"


def numbers_of(page: Any) -> list[int]:
    """The orders of the list, as it shows them."""
    return [int(number) for number in re.findall(r"</span>(\d+)</a></td>", page.content.decode())]


@pytest.mark.exhaustive
def test_the_list_costs_the_same_queries_for_one_order_and_for_fifty(
    venue: Venue, host: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(51):
        builders.order(venue)
    # Session, user, venue, part; the orders, their lines; the other venues.
    with django_assert_num_queries(7):
        assert len(numbers_of(host.get(at(venue)))) == 50


def test_a_period_is_chosen_with_a_link_that_keeps_the_other_filters(venue: Venue, host: Client) -> None:
    old = builders.order(venue, now=NOON - timedelta(days=1))
    builders.order(venue, now=NOON)
    page = host.get(at(venue), {"status": "pending", "before": old.public_id}).content.decode()
    assert '<a href="?status=pending&amp;first=&amp;last=" aria-current="true">All dates</a>' in page
    link = "status=pending&amp;first=2026-11-20&amp;last=2026-11-20"
    assert f'<a href="?{link}">Yesterday</a>' in page
    chosen = host.get(f"{at(venue)}?{link.replace('&amp;', '&')}")
    assert numbers_of(chosen) == [old.number]
    assert f'<a href="?{link}" aria-current="true">Yesterday</a>' in chosen.content.decode()
    # Only filters that nothing else shows are counted beside "More filters".
    count = 'More filters <span class="badge info">1</span>'
    assert count not in chosen.content.decode()
    assert count in host.get(f"{at(venue)}?customer=cust_7").content.decode()


@pytest.mark.exhaustive
def test_pages_go_on_from_an_order_and_back(venue: Venue, host: Client) -> None:
    for number in range(120):
        builders.order(venue, now=NOON + timedelta(seconds=number // 2))
    pages, address = [], at(venue)
    while True:
        answer = host.get(address)
        pages.append(numbers_of(answer))
        text = answer.content.decode()
        if 'rel="next"' not in text:
            break
        address = at(venue) + text.split('" rel="next"')[0].rsplit('href="', 1)[1]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [number for page in pages for number in page] == list(range(120, 0, -1))
    back = at(venue) + text.split('" rel="prev"')[0].rsplit('href="', 1)[1]
    assert numbers_of(host.get(back)) == pages[1]


@pytest.mark.exhaustive
def test_orders_are_found_by_what_people_remember(venue: Venue, host: Client) -> None:
    builders.menu(venue, tiramisu="6.50")
    pizza = builders.order(venue, now=NOON - timedelta(days=3), customer_id="cust_7")
    cake = builders.order(
        venue, items=[{"menu_item_id": "tiramisu", "quantity": 1, "notes": "two spoons"}], status="completed"
    )
    home = builders.order(venue, delivery_address="Via Appia 9", status="cancelled")
    week = {"first": "2026-11-15", "last": "2026-11-21"}
    for asked, found in (
        ({"status": "cancelled"}, [home]),
        ({"customer": "cust_7"}, [pizza]),
        ({"first": "2026-11-18", "last": "2026-11-18"}, [pizza]),
        ({"first": "2026-11-19"}, [home, cake]),
        ({"number": "2"}, [home]),
        ({"text": "TIRAM", **week}, [cake]),
        ({"text": "spoons", **week}, [cake]),
        ({"text": "appia", **week}, [home]),
        ({"text": "100%", **week}, []),
    ):
        assert numbers_of(host.get(at(venue), asked)) == [order.number for order in found]


def test_few_days_are_summed_up(venue: Venue, host: Client) -> None:
    builders.menu(venue)
    for status in ("pending", "completed", "cancelled"):
        builders.order(venue, status=status)
    text = host.get(at(venue), {"first": "2026-11-21", "last": "2026-11-21"}).content.decode()
    assert [part.split("<")[0] for part in text.split("<dd>")[1:]] == ["3", "1", "1", "1", "€38.00"]
    assert "<dd>" not in host.get(at(venue), {"first": "2020-11-21", "last": "2026-11-21"}).content.decode()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"status": "eaten"}, "Select a valid choice. eaten is not one of the available choices."),
        ({"first": "yesterday"}, "Enter a valid date."),
        ({"first": "2026-11-21", "last": "2026-11-20"}, "The end date is before the start date."),
        ({"number": "1e400"}, "Enter a whole number."),
        ({"number": "9" * 40}, "Ensure this value is less than or equal to 2147483647."),
        ({"customer": "a\0"}, "Null characters are not allowed."),
        (
            {"text": "pizza", "first": "2026-01-01", "last": "2026-11-21"},
            "A text search covers at most 92 days. Choose dates that are closer together.",
        ),
    ],
)
def test_a_filter_that_is_wrong_says_so_at_its_field(
    venue: Venue, host: Client, asked: dict[str, str], words: str
) -> None:
    builders.order(venue)
    for path in ("", ".csv"):
        answer = host.get(at(venue, path), asked)
        assert (answer.status_code, numbers_of(answer)) == (400, [])
        assert words in answer.content.decode()
        assert "No orders" not in answer.content.decode()


def test_text_search_without_dates_covers_the_last_92_days_and_says_so(venue: Venue, host: Client) -> None:
    builders.menu(venue, tiramisu="6.50")
    items = [{"menu_item_id": "tiramisu", "quantity": 1}]
    builders.order(venue, now=NOON - timedelta(days=92), items=items)
    recent = builders.order(venue, now=NOON - timedelta(days=91), items=items)
    answer = host.get(at(venue), {"text": "tiramisu"})
    assert (answer.status_code, numbers_of(answer)) == (200, [recent.number])
    assert "Text search from 22 Aug 2026 to 21 Nov 2026." in answer.content.decode()
    assert recent.public_id in b"".join(host.get(at(venue, ".csv"), {"text": "tiramisu"})).decode()
    # One date alone sets the other one.
    assert len(numbers_of(host.get(at(venue), {"text": "tiramisu", "first": "2026-08-21"}))) == 2
    nothing = host.get(at(venue), {"text": "risotto"}).content.decode()
    assert "No orders match" in nothing
    assert "Text search from 22 Aug 2026 to 21 Nov 2026." in nothing


def test_amounts_have_thousands_separators(venue: Venue, host: Client) -> None:
    builders.menu(venue)
    builders.order(venue, items=[{"menu_item_id": "margherita", "quantity": 200}])
    assert "€1,900.00" in host.get(at(venue)).content.decode()


def test_a_page_that_goes_on_from_nowhere_is_the_first(venue: Venue, host: Client) -> None:
    builders.order(venue)
    for mark in ("ord_\0", "x", "ord_" + "7" * 26):
        assert numbers_of(host.get(at(venue), {"before": mark})) == [1]


def test_the_csv_has_all_filtered_orders_and_no_formula(venue: Venue, host: Client) -> None:
    builders.menu(venue)
    lines = [{"menu_item_id": "margherita", "quantity": 2, "notes": "no basil"}]
    order = builders.order(venue, customer_id="=1+1", delivery_address="@home", items=lines)
    builders.order(venue, status="completed")
    answer = host.get(at(venue, ".csv"), {"status": "pending"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(b"".join(answer).decode()))
    assert row == {
        "order": order.public_id,
        "number": "1",
        "business_date": "2026-11-21",
        "status": "pending",
        "stage": "received",
        "created_at": "2026-11-21T12:00:00+00:00",
        "completed_at": "",
        "cancelled_at": "",
        "cancelled_because": "",
        "customer_id": "'=1+1",
        "payment_method": "card",
        "delivery_address": "'@home",
        "fulfilment": "delivery",
        "table": "",
        "items": "2 x Margherita (no basil)",
        "currency": "EUR",
        "subtotal": "17.27",
        "tax": "1.73",
        "tip": "",
        "total": "19.00",
    }


def test_an_order_shows_its_lines_its_money_and_who_did_what(
    venue: Venue, host: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.menu(venue)
    order = builders.order(venue, metadata={"table": "7"})
    host.post(at(venue, f"/{order.public_id}/move"), {"to": "complete"})
    # Session, user, venue, part; the order, its lines, its events; the other venues; the message that is shown.
    with django_assert_num_queries(8):
        text = host.get(at(venue, f"/{order.public_id}")).content.decode()
    for words in ("Margherita", "€9.50", "€19.00", "€17.27", "€1.73", "Pick-up"):
        assert words in text
    assert "<b>Placed</b>" in text
    assert '<b>Completed</b> <span class="quiet">21 Nov 2026, 13:00:00, by <bdi>host@example.com</bdi></span>' in text
    assert text.index("<b>Completed</b>") < text.index("<b>Placed</b>")


def test_an_order_offers_the_next_step_of_the_board_and_says_when_it_is_due(venue: Venue, host: Client) -> None:
    order = builders.order(venue, now=NOON)
    path = at(venue, f"/{order.public_id}")
    text = host.get(path).content.decode()
    assert re.findall("due[^<]*<", text) == ["due 13:15, in 15 min<"]
    assert 'value="accept">Accept</button>' in text
    assert 'name="to" value="complete" class="quiet">' in text
    host.post(f"{path}/move", {"to": "accept", "version": "1"})
    assert Order.objects.get().kitchen_stage == "accepted"
    # Somebody else has moved it since: it stays as it is.
    host.post(f"{path}/move", {"to": "ready", "version": "1"})
    assert Order.objects.get().kitchen_stage == "accepted"
    with time_machine.travel(NOON + timedelta(minutes=40), tick=False):
        text = host.get(path).content.decode()
    assert 'badge bad">due 13:15, 25 min late</span>' in text
    assert 'value="ready">Mark ready</button>' in text
    commands.change_status(order, Order.Status.COMPLETED, now=NOON, actor="system")
    assert "due 13:15" not in host.get(path).content.decode()


@pytest.mark.parametrize(
    ("stages", "status", "badge"),
    [
        ((), "pending", 'info">New'),
        (("accepted",), "pending", 'info">Accepted'),
        (("accepted", "ready"), "pending", 'good">Ready'),
        (("ready",), "completed", 'soft">Completed'),
        ((), "cancelled", 'bad">Cancelled'),
    ],
)
def test_the_list_and_the_page_of_an_order_say_how_far_it_is(
    venue: Venue, host: Client, stages: tuple[str, ...], status: str, badge: str
) -> None:
    order = builders.order(venue)
    for stage in stages:
        commands.change_stage(order, stage, now=NOON, actor="system")
    if status != "pending":
        commands.change_status(order, status, now=NOON, actor="system")
    for rest in ("", f"/{order.public_id}"):
        assert f'class="badge {badge}</span>' in host.get(at(venue, rest)).content.decode()


def test_an_order_is_completed_reopened_and_cancelled_with_a_reason(venue: Venue, host: Client) -> None:
    order = builders.order(venue)
    address = at(venue, f"/{order.public_id}")
    for to, status in (("complete", "completed"), ("reopen", "pending")):
        assert host.post(f"{address}/move", {"to": to}).headers["Location"] == address
        order.refresh_from_db()
        assert order.status == status
    refused = host.post(f"{address}/cancel", {"reason": "Other", "details": ""})
    assert refused.status_code == 400
    assert "Enter the reason." in refused.content.decode()
    host.post(f"{address}/cancel", {"reason": "Too busy", "details": ""})
    order.refresh_from_db()
    assert (order.status, order.cancelled_because) == ("cancelled", "Too busy")
    text = host.post(f"{address}/move", {"to": "reopen"}, follow=True).content.decode()
    assert "Order 1 is already cancelled, by host@example.com." in text
    assert "Cancelled: <bdi>Too busy</bdi>" in text
    assert host.post(f"{address}/move", {"to": "eat"}).status_code == 404


def test_a_changed_address_is_an_event_and_the_same_address_is_none(venue: Venue, host: Client) -> None:
    order = builders.order(venue)
    address = at(venue, f"/{order.public_id}/address")
    for text in ("Via Appia 9\r\nRoma", "Via Appia 9\r\nRoma"):
        assert host.post(address, {"delivery_address": text}).status_code == 302
    order.refresh_from_db()
    assert (order.delivery_address, order.version) == ("Via Appia 9\nRoma", 2)
    assert Event.objects.filter(subject=order.pk, type="order.updated").count() == 1
    refused = host.post(address, {"delivery_address": "x" * 501})
    assert refused.status_code == 400
    assert "x" * 501 in refused.content.decode()
    assert host.post(address, {"delivery_address": " "}).status_code == 302
    order.refresh_from_db()
    assert order.delivery_address is None


def test_orders_of_another_venue_are_not_there(venue: Venue, other_venue: Venue, host: Client) -> None:
    theirs = builders.order(other_venue, customer_id="theirs")
    assert host.get(at(other_venue)).status_code == 404
    assert "theirs" not in host.get(at(venue)).content.decode()
    for rest in ("", "/ticket", "/cancel"):
        assert host.get(at(venue, f"/{theirs.public_id}{rest}")).status_code == 404
    for rest in ("/move", "/cancel", "/address"):
        assert host.post(at(venue, f"/{theirs.public_id}{rest}"), {"to": "complete"}).status_code == 404
    assert Order.objects.get(pk=theirs.pk).version == 1


@pytest.mark.parametrize("rest", ["", ".csv", "/today", "/new", "/ord_1"])
def test_a_stranger_is_sent_to_sign_in(venue: Venue, client: Client, rest: str) -> None:
    assert client.get(at(venue, rest)).headers["Location"].startswith("/account/login/")
