"""The search box of the dashboard finds what the user may see of this venue."""

from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.dashboard import search
from accounts.models import User, Venue
from framework.public_ids import new_id
from orders.models import Order
from tests.catalogue.query_plans import planned
from tests.support import builders, users

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def owner(venue: Venue) -> Client:
    return users.member(venue)


def ask(client: Client, venue: Venue, text: str) -> Any:
    return client.get(f"/dashboard/{venue.public_id}/search", {"q": text})


def order_of(venue: Venue, *, now: datetime = NOON, **contact: str) -> Order:
    return builders.order(venue, now=now, fulfilment={"type": "pickup", "contact": contact})


def found(client: Client, venue: Venue, text: str) -> dict[str, list[str]]:
    """The titles of the results, by kind."""
    answer = ask(client, venue, text)
    assert answer.status_code == 200
    return {group.label: [hit.title for hit in group.hits] for group in answer.context["groups"]}


@pytest.mark.exhaustive
def test_a_text_finds_orders_reservations_guests_dishes_and_pages(venue: Venue, owner: Client) -> None:
    builders.menu(venue, tiramisu="6.50")
    order = order_of(venue, name="Ada Lovelace", phone="+39061234567")
    booked = builders.reservation(venue, customer_phone="+39061234567")
    both = {"Orders": [f"Order {order.number}"], "Reservations": ["Ada Lovelace"], "Guests": ["Ada Lovelace"]}
    for text in ("lovelace", "06 123 45", "0039 06 12"):
        assert found(owner, venue, text) == both
    assert found(owner, venue, "ada@example.com") == {"Reservations": ["Ada Lovelace"], "Guests": ["Ada Lovelace"]}
    assert found(owner, venue, "margh") == {"Orders": [f"Order {order.number}"], "Dishes": ["Margherita"]}
    assert found(owner, venue, "WEBHOOK") == {"Pages": ["Webhooks"]}
    page = ask(owner, venue, "ada love").content.decode()
    assert f'href="/dashboard/{venue.public_id}/orders/{order.public_id}"' in page
    assert f'href="/dashboard/{venue.public_id}/reservations/{booked.public_id}"' in page
    assert f'href="/dashboard/{venue.public_id}/orders?text=ada+love">All matches: Orders</a>' in page
    assert f'href="/dashboard/{venue.public_id}/guests?q=ada+love">All matches: Guests</a>' in page
    for path in ("orders?text=ada+love", "guests?q=ada+love"):
        assert owner.get(f"/dashboard/{venue.public_id}/{path}").status_code == 200


@pytest.mark.exhaustive
def test_an_id_a_code_and_an_order_number_open_their_page(venue: Venue, owner: Client) -> None:
    builders.order(venue, now=NOON - timedelta(days=1))
    order, booked = builders.order(venue), builders.reservation(venue)
    assert order.number == 1
    home = f"/dashboard/{venue.public_id}"
    for text in (order.public_id, f" {order.public_id.upper()} ", "1", "#1"):
        assert ask(owner, venue, text)["Location"] == f"{home}/orders/{order.public_id}"
    for text in (booked.public_id, booked.code, booked.code.lower()):
        assert ask(owner, venue, text)["Location"] == f"{home}/reservations/{booked.public_id}"


@pytest.mark.exhaustive
def test_rows_of_another_venue_are_not_found(venue: Venue, other_venue: Venue, owner: Client) -> None:
    builders.menu(other_venue)
    order = order_of(other_venue, name="Ada Lovelace")
    booked = builders.reservation(other_venue)
    for text in (order.public_id, "#1", booked.public_id, booked.code, "lovelace", "margherita"):
        assert found(owner, venue, text) == {}
    assert ask(owner, other_venue, "lovelace").status_code == 404


@pytest.mark.exhaustive
def test_the_kitchen_finds_only_what_it_may_see(venue: Venue) -> None:
    kitchen = users.member(venue, "kitchen")
    builders.menu(venue)
    order, booked = order_of(venue, name="Ada Lovelace"), builders.reservation(venue)
    for text in (booked.public_id, booked.code):
        assert found(kitchen, venue, text) == {}
    assert found(kitchen, venue, "lovelace") == {"Orders": [f"Order {order.number}"]}
    assert found(kitchen, venue, "webhook") == {}
    # The page of a dish is for those who edit the menu.
    page = ask(kitchen, venue, "margherita")
    assert [hit.url for group in page.context["groups"] for hit in group.hits if group.label == "Dishes"] == [
        f"/dashboard/{venue.public_id}/menu"
    ]


def test_without_a_result_the_page_says_what_was_searched_and_what_one_can_do(venue: Venue, owner: Client) -> None:
    order_of(venue, name="Ada")
    page = ask(owner, venue, "rossi")
    home = f"/dashboard/{venue.public_id}"
    assert page.context["suggestions"] == [
        ("Search older orders for “rossi”", f"{home}/orders?text=rossi"),
        ("New reservation for “rossi”", f"{home}/reservations/new?name=rossi"),
        ("All guests", f"{home}/guests"),
    ]
    assert page.context["searched"] == ["Orders", "Reservations", "Guests", "Dishes", "Pages"]
    form = owner.get(page.context["suggestions"][1][1]).content.decode()
    assert 'name="customer_name" value="rossi"' in form
    # Only what the role may see and do.
    kitchen = ask(users.member(venue, "kitchen"), venue, "rossi")
    assert "New reservation" not in kitchen.content.decode()
    # A search that finds something suggests nothing else.
    assert ask(owner, venue, "ada").context["suggestions"] == []


def test_an_order_is_found_with_its_total_as_other_pages_write_it(venue: Venue, owner: Client) -> None:
    order = order_of(venue, name="Ada")
    Order.objects.filter(pk=order.pk).update(total="85.00", subtotal="85.00", tax="0.00", currency="EUR")
    (hit,) = next(group.hits for group in ask(owner, venue, "ada").context["groups"] if group.label == "Orders")
    assert hit.amount == "€85.00"


@pytest.mark.exhaustive
def test_each_kind_shows_five_and_orders_of_92_days(venue: Venue, owner: Client) -> None:
    for days in (*range(6), 91, 92):
        order_of(venue, now=NOON - timedelta(days=days), name="Ada")
    for day in range(1, 7):
        builders.reservation(venue, starts_at=NOON + timedelta(days=day), tables=[])
    groups = {group.label: group for group in ask(owner, venue, "ada").context["groups"]}
    assert [(hit.details, hit.state, hit.amount) for hit in groups["Orders"].hits] == [
        (f"Ada · 2 \N{MULTIPLICATION SIGN} margherita · {moment}", "New", None)
        for moment in ("13:00", *(f"{day} Nov 2026, 13:00" for day in (20, 19, 18, 17)))
    ]
    assert [hit.details[:6] for hit in groups["Reservations"].hits] == [f"{day} Nov" for day in (27, 26, 25, 24, 23)]
    assert (groups["Orders"].has_more, groups["Reservations"].has_more, groups["Guests"].has_more) == (
        True,
        True,
        False,
    )
    Order.objects.filter(business_date__gte=NOON.date() - timedelta(days=5)).update(contact_name="")
    assert len(found(owner, venue, "ada")["Orders"]) == 1


@pytest.mark.parametrize("text", ["%%", "__", "\\\\", "10%", "';--", "()", "--", "1e400", "9" * 40])
def test_a_special_character_is_an_ordinary_one(venue: Venue, owner: Client, text: str) -> None:
    builders.menu(venue)
    order_of(venue, name="Ada", phone="+39061234567")
    builders.reservation(venue)
    assert found(owner, venue, text) == {}
    assert "Nothing for “" in ask(owner, venue, text).content.decode()


@pytest.mark.parametrize(
    ("text", "words"),
    [("a\x00b", "Null characters are not allowed."), ("x" * 101, "Ensure this value has at most 100 characters")],
)
def test_an_invalid_text_is_refused(venue: Venue, owner: Client, text: str, words: str) -> None:
    answer = ask(owner, venue, text)
    assert answer.status_code == 400
    assert words in answer.content.decode()


@pytest.mark.parametrize("text", ["", " ", "a"])
def test_a_short_text_is_told_what_to_enter(venue: Venue, owner: Client, text: str) -> None:
    assert "Enter at least 2 letters" in ask(owner, venue, text).content.decode()


def test_names_are_shown_as_text(venue: Venue, owner: Client) -> None:
    builders.reservation(venue, customer_name="<b>Ada</b>")
    page = ask(owner, venue, "<b>ada").content.decode()
    assert "<b>" not in page
    assert "&lt;b&gt;Ada" in page


def test_a_search_that_takes_too_long_leaves_the_others(
    venue: Venue, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(*_: Any) -> list[search.Hit]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")
        return []

    monkeypatch.setattr(search, "TIMEOUT_MS", 20)
    monkeypatch.setattr(search, "SOURCES", [search.Source(position=1, label="Slow", find=sleep), *search.SOURCES])
    page = ask(owner, venue, "webhook")
    assert [(group.label, group.is_timed_out) for group in page.context["groups"]] == [
        ("Slow", True),
        ("Pages", False),
    ]
    assert "This search took too long." in page.content.decode()


@pytest.mark.exhaustive
def test_a_search_costs_the_same_queries_for_one_row_and_for_many(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.menu(venue)
    for _ in range(3):
        order_of(venue, name="Ada")
        builders.reservation(venue)
        # Session, user, venue, membership and other venues; for each of the five kinds a savepoint with its timeout,
        # and for those of the database a query.
        with django_assert_num_queries(5 + 5 * 3 + 4):
            ask(owner, venue, "lovelace ada")


@pytest.mark.exhaustive
def test_each_query_reads_by_an_index(venue: Venue, other_venue: Venue) -> None:
    owner = users.member(venue)
    order, booked = builders.order(other_venue), builders.reservation(other_venue)
    line = order.items.get()
    orders: list[Any] = []
    lines: list[Any] = []
    reservations: list[Any] = []
    for number in range(2, 6_000):
        at = NOON - timedelta(hours=number)
        order.pk, order.number, order.created_at, order.business_date = new_id(), number, at, at.date()
        booked.pk, booked.code = new_id(), f"{number:06}"
        order.venue = booked.venue = venue if number % 2 else other_venue
        line.pk, line.order_id = None, order.pk
        orders.append(copy(order))
        lines.append(copy(line))
        reservations.append(copy(booked))
    for rows in (orders, lines, reservations):
        type(rows[0]).objects.bulk_create(rows, batch_size=500)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE orders_order, orders_orderitem, orders_menuitem, reservations_reservation")
    for text in ("lovelace", "#12345678", "ABCDEF"):
        with planned("FROM") as parts:
            assert ask(owner, venue, text).status_code == 200
        scanned = {part["Relation Name"] for part in parts if part["Node Type"] == "Seq Scan"}
        # PostgreSQL may read all lines once where they are few; of many it reads those of the orders.
        assert not scanned & {"orders_order", "reservations_reservation"}


def test_the_box_is_on_each_page_of_the_dashboard(venue: Venue, owner: Client) -> None:
    page = owner.get(f"/dashboard/{venue.public_id}").content.decode()
    assert page.count(f'action="/dashboard/{venue.public_id}/search"') == 2


def test_staff_find_what_their_group_may_see(venue: Venue) -> None:
    order_of(venue, name="Ada Lovelace")
    assert list(found(builders.staff(), venue, "lovelace")) == ["Orders"]
    assert User.objects.get(email="staff@example.com").is_staff
