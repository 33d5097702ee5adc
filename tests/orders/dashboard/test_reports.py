"""Sales reports: exact sums of random orders, the page with its periods and comparisons, and its files."""

import csv
import io
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from orders import reports
from orders.dashboard.reports import describe_change
from orders.models import MenuItem, Order, OrderItem
from orders.reports import Period
from tests.support import builders, users

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DISHES = ("margherita", "diavola", "tiramisu", "acqua", "espresso")


@pytest.fixture(autouse=True)
def _noon() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def owner(venue: Venue) -> Client:
    return users.member(venue)


def at(venue: Venue, rest: str = "") -> str:
    """The address of the report, or of one of its files."""
    return f"/dashboard/{venue.public_id}/reports/sales{rest}"


def table_of(owner: Client, venue: Venue, by: str, **dates: str) -> list[dict[str, str]]:
    """The lines of a file."""
    answer = owner.get(at(venue, f"-by-{by}.csv"), dates)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(answer).decode())))


def tiles_of(page: Any) -> dict[str, tuple[str, ...]]:
    """Value and notes of each tile of the page, by its label."""
    found = {}
    for tile in page.content.decode().split('<li class="tile">')[1:]:
        label, *texts = (part.split("<")[0] for part in tile.split("</li>")[0].split('">')[1:])
        found[label] = tuple(texts)
    return found


def add_random_orders(venue: Venue, count: int, *, seed: int, first: datetime, days: int) -> None:
    """Orders of all statuses, with and without amounts, of two currencies, at any second."""
    rng, zone, numbers = Random(seed), ZoneInfo(venue.timezone), Counter[date]()
    for _ in range(count):
        moment = first + timedelta(seconds=rng.randrange(days * 86400))
        day, status = moment.astimezone(zone).date(), rng.choice(["completed"] * 6 + ["cancelled", "pending"])
        numbers[day] += 1
        lines = [
            OrderItem(
                position=position,
                menu_item_id=ref,
                quantity=rng.randint(1, 4),
                line_total=None,
            )
            for position, ref in enumerate(rng.sample(DISHES, k=rng.randint(1, 4)))
        ]
        order = Order(
            venue=venue,
            number=numbers[day],
            business_date=day,
            status=status,
            customer_id="cust_1",
            payment_method="card",
            currency=rng.choice(["EUR"] * 9 + ["USD"]),
            created_at=moment,
            updated_at=moment,
        )
        if status != "pending":
            setattr(order, f"{status}_at", moment)
        if rng.random() < 0.9:
            for line in lines:
                line.unit_price, line.name = Decimal(rng.randint(100, 3000)) / 100, line.menu_item_id.title()
                line.line_total = line.unit_price * line.quantity
            order.total = sum((line.line_total or Decimal(0) for line in lines), Decimal(0))
            order.tax = (order.total / 11).quantize(Decimal("0.01"))
            order.subtotal = order.total - order.tax
            order.tip = rng.choice([None, Decimal("2.50")])
            order.total += order.tip or 0
        order.save(force_insert=True)
        for line in lines:
            line.order = order
        OrderItem.objects.bulk_create(lines)


def expected(orders: list[Order]) -> dict[str, Any]:
    """The sums of orders, by one loop."""
    sums: dict[str, Any] = {"orders": 0, "priced": 0, "cancelled": 0, "pending": 0}
    amounts = dict.fromkeys(("total", "net", "tax", "tips"), Decimal(0))
    for order in orders:
        if order.status != "completed":
            sums[order.status] += 1
            continue
        sums["orders"] += 1
        if order.currency == "EUR" and order.total is not None:
            assert order.subtotal is not None
            assert order.tax is not None
            sums["priced"] += 1
            amounts["total"] += order.total - (order.tip or 0)
            amounts["tips"] += order.tip or 0
            amounts["net"] += order.subtotal
            amounts["tax"] += order.tax
    return sums | {"amounts": amounts}


def to_dict(sums: reports.Sums) -> dict[str, Any]:
    return {name: getattr(sums, name) for name in ("orders", "priced", "cancelled", "pending", "amounts")}


@pytest.mark.exhaustive
@pytest.mark.parametrize("zone", ["Europe/Rome", "America/St_Johns", "Pacific/Auckland"])
def test_sums_are_those_of_a_loop_over_random_orders(other_venue: Venue, zone: str) -> None:
    venue = builders.venue(timezone=zone)
    # The clocks change in the period, in Rome and St. John's.
    add_random_orders(venue, 400, seed=7, first=datetime(2026, 10, 10, tzinfo=UTC), days=40)
    add_random_orders(other_venue, 40, seed=8, first=datetime(2026, 10, 10, tzinfo=UTC), days=40)
    period = Period(date(2026, 10, 15), date(2026, 11, 13))
    at_venue = ZoneInfo(zone)
    of_period = [
        order
        for order in Order.objects.filter(venue=venue).prefetch_related("items")
        if period.first <= order.created_at.astimezone(at_venue).date() <= period.last
    ]
    assert 200 < len(of_period) < 400

    days = reports.sum_by_day(venue, period)
    assert list(days) == [period.first + timedelta(days=number) for number in range(30)]
    for day, sums in days.items():
        assert to_dict(sums) == expected(
            [order for order in of_period if order.created_at.astimezone(at_venue).date() == day]
        )
    for hour, sums in reports.sum_by_hour(venue, period).items():
        assert to_dict(sums) == expected(
            [order for order in of_period if order.created_at.astimezone(at_venue).hour == hour]
        )
    weekdays = reports.sum_by_weekday(days)
    # The thirty days begin on a Thursday.
    assert {weekday: count for weekday, (_, count) in weekdays.items()} == {0: 4, 1: 4, 2: 4, 3: 5, 4: 5, 5: 4, 6: 4}
    for weekday, (sums, _) in weekdays.items():
        assert to_dict(sums) == expected(
            [order for order in of_period if order.created_at.astimezone(at_venue).weekday() == weekday]
        )
    assert to_dict(reports.add(days.values())) == expected(of_period)

    quantities, amounts = Counter[str](), dict.fromkeys(DISHES, Decimal(0))
    for order in of_period:
        for line in order.items.all() if order.status == "completed" else ():
            quantities[line.menu_item_id] += line.quantity
            if order.currency == "EUR":
                amounts[line.menu_item_id] += line.line_total or Decimal(0)
    dishes = list(reports.list_dishes(venue, period))
    assert {dish.menu_item_id: dish.quantity for dish in dishes} == quantities
    assert {dish.menu_item_id: dish.amount for dish in dishes} == amounts
    by_amount = sorted(DISHES, key=lambda ref: -amounts[ref])
    assert [dish.quantity for dish in dishes] == sorted(quantities.values(), reverse=True)
    assert [dish.menu_item_id for dish in sorted(dishes, key=lambda dish: dish.by_amount)] == by_amount
    first = list(reports.list_dishes(venue, period, ranks=1))
    assert {dish.menu_item_id for dish in first} == {dishes[0].menu_item_id, by_amount[0]}


@pytest.mark.exhaustive
def test_the_report_and_its_files_have_a_fixed_number_of_queries(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for seed, count in enumerate((1, 60)):
        Order.objects.filter(venue=venue).delete()
        add_random_orders(venue, count, seed=seed, first=NOON - timedelta(days=29), days=29)
        # Session, user, venue, membership; the first date, days, hours, dishes; the other venues.
        with django_assert_num_queries(9):
            assert owner.get(at(venue)).status_code == 200
        for by in ("day", "hour", "weekday", "dish"):
            with django_assert_num_queries(5):
                b"".join(owner.get(at(venue, f"-by-{by}.csv")))


def test_only_completed_orders_are_sales(venue: Venue, owner: Client) -> None:
    builders.menu(venue, tiramisu="6.50")
    builders.order(venue, status="completed")
    builders.order(venue, status="completed", items=[{"menu_item_id": "tiramisu", "quantity": 1}])
    builders.order(venue, status="cancelled")
    builders.order(venue)
    page = owner.get(at(venue), {"first": "2026-10-23"})
    assert tiles_of(page) == {
        "Sales": ("€25.50",),
        "Completed orders": ("2",),
        "Average order": ("€12.75",),
        "Cancelled orders": ("1", "25.0% of 4 orders"),
    }
    text = page.content.decode()
    assert '<th scope="row">Net</th><td class="number">€23.18</td></tr>' in text
    assert '<th scope="row">Tax</th><td class="number">€2.32</td></tr>' in text
    assert "1 order is still to do and not in the sales." in text
    assert "Not compared with the period before: the first order is from 21 Nov 2026" in text
    assert "<title>Sat 21 Nov: €25.50</title>" in text
    assert "<title>13:00: €25.50</title>" in text
    # The hours before the first order and after the last one are not drawn.
    assert "<title>12:00: " not in text
    assert "<title>14:00: " not in text
    # Of five Saturdays.
    assert "<title>Saturday: €5.10</title>" in text
    assert "The highest bar is Sat 21 Nov: €25.50." in text


def test_sales_are_compared_with_the_period_before(venue: Venue, owner: Client) -> None:
    builders.menu(venue)
    for days_ago, status, quantity in (
        *((20, "completed", 1), (8, "completed", 4), (7, "completed", 1), (7, "cancelled", 1)),
        *((6, "completed", 2), (0, "completed", 2), (0, "completed", 2), (0, "cancelled", 9)),
    ):
        items = [{"menu_item_id": "margherita", "quantity": quantity}]
        builders.order(venue, status=status, now=NOON - timedelta(days=days_ago), items=items)
    page = owner.get(at(venue), {"first": "2026-11-15", "last": "2026-11-21"})
    assert tiles_of(page) == {
        "Sales": ("€57.00", "Up 20% from €47.50"),
        "Completed orders": ("3", "Up 50% from 2"),
        "Average order": ("€19.00", "Down 20% from €23.75"),
        "Cancelled orders": ("1", "25.0% of 4 orders; 33.3% of 3 before"),
    }
    text = page.content.decode()
    assert '<th scope="row">Tax</th><td class="number">€5.19</td><td class="number">€4.31</td></tr>' in text
    assert "Compared with 8 Nov 2026 to 14 Nov 2026." in text
    one_day = tiles_of(owner.get(at(venue), {"first": "2026-11-21"}))
    assert one_day["Completed orders"] == ("2", "0 before")


def test_a_period_without_one_before_has_averages_of_the_days_since_the_first_order(
    venue: Venue, owner: Client
) -> None:
    builders.menu(venue)
    for days_ago in (3, 0, 0):
        builders.order(venue, status="completed", now=NOON - timedelta(days=days_ago))
    tiles = tiles_of(owner.get(at(venue)))
    assert (tiles["Sales"], tiles["Completed orders"]) == (("€57.00", "€14.25 a day"), ("3", "0.8 a day"))


@pytest.mark.parametrize(
    ("value", "former", "words"),
    [
        (120, 100, "Up 20% from X"),
        (Decimal("0.5"), 100, "Down 100% from X"),
        (100, 100, "Unchanged from X"),
        (1001, 1000, "Nearly unchanged from X"),
        (0, 7, "Down 100% from X"),
    ],
)
def test_a_change_is_a_sentence(value: Any, former: Any, words: str) -> None:
    assert describe_change(value, former, "X") == words


def test_a_venue_without_a_menu_counts_orders_without_amounts(venue: Venue, owner: Client) -> None:
    for _ in range(2):
        builders.order(venue, status="completed")
    page = owner.get(at(venue))
    assert tiles_of(page) == {
        "Sales": ("no amounts",),
        "Completed orders": ("2",),
        "Average order": ("no amounts",),
        "Cancelled orders": ("0", "0.0% of 2 orders"),
    }
    text = page.content.decode()
    assert "2 of 2 completed orders have no amounts, because no menu was published." in text
    assert "<title>Sat 21 Nov: 2 orders</title>" in text
    assert "<caption>By quantity</caption>" in text
    assert "<caption>By amount</caption>" not in text
    line = table_of(owner, venue, "day", first="2026-11-21")[0]
    assert line == {
        "day": "2026-11-21",
        "days": "1",
        "orders": "2",
        "orders_without_amounts": "2",
        "cancelled": "0",
        "currency": "EUR",
        "total": "",
        "net": "",
        "tax": "",
        "tips": "",
        "average": "",
    }


def test_amounts_of_another_currency_are_not_added(venue: Venue, owner: Client) -> None:
    builders.menu(venue)
    for _ in range(2):
        order = builders.order(venue, status="completed")
    Order.objects.filter(pk=order.pk).update(currency="JPY")
    page = owner.get(at(venue))
    assert tiles_of(page)["Sales"][0] == "€19.00"
    assert "1 of 2 completed orders have no amounts: they count as orders only." in page.content.decode()


def test_orders_count_on_the_day_and_in_the_hour_of_the_venue(venue: Venue, owner: Client) -> None:
    builders.menu(venue)
    builders.order(venue, status="completed", now=datetime(2026, 11, 19, 23, 30, tzinfo=UTC))
    days = {line["day"]: line["orders"] for line in table_of(owner, venue, "day", first="2026-11-18")}
    assert days == {"2026-11-18": "0", "2026-11-19": "0", "2026-11-20": "1", "2026-11-21": "0"}
    hours = {line["hour"]: line["total"] for line in table_of(owner, venue, "hour", first="2026-11-18")}
    assert hours == {f"{hour:02}:00": "0.00" for hour in range(24)} | {"00:00": "19.00"}
    weekdays = table_of(owner, venue, "weekday", first="2026-11-12")
    assert [(line["weekday"], line["days"], line["orders"]) for line in weekdays] == [
        *(("Monday", "1", "0"), ("Tuesday", "1", "0"), ("Wednesday", "1", "0"), ("Thursday", "2", "0")),
        *(("Friday", "2", "1"), ("Saturday", "2", "0"), ("Sunday", "1", "0")),
    ]


def test_a_file_of_dishes_has_their_present_names_and_no_formula(venue: Venue, owner: Client) -> None:
    menu = builders.menu(venue, tiramisu="6.50")
    for items in ([("margherita", 2), ("tiramisu", 1)], [("tiramisu", 3)]):
        lines = [{"menu_item_id": ref, "quantity": quantity} for ref, quantity in items]
        builders.order(venue, status="completed", items=lines)
    MenuItem.objects.filter(ref="margherita").update(name="=Pizza")
    menu.items.filter(ref="tiramisu").delete()
    answer = owner.get(at(venue, "-by-dish.csv"), {"first": "2026-11-01", "last": "2026-11-21"})
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="sales-by-dish-2026-11-01-to-2026-11-21.csv"'
    )
    assert b"".join(answer).decode().splitlines() == [
        "dish,menu_item_id,quantity,currency,amount",
        "Tiramisu,tiramisu,4,EUR,26.00",
        "'=Pizza,margherita,2,EUR,19.00",
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"first": "2026-11-32"}, "Enter a valid date."),
        ({"last": "a\0"}, "Enter a valid date."),
        ({"first": "2026-11-21", "last": "2026-11-20"}, "The end date is before the start date."),
        ({"last": "2026-11-22"}, "The end date is in the future."),
        ({"first": "2025-11-20", "last": "2026-11-21"}, "A report covers at most 366 days."),
        ({"first": "0001-01-01", "last": "0001-01-02"}, "Reports start in 2000."),
        ({"last": "0001-01-01"}, "Reports start in 2000."),
    ],
)
def test_a_wrong_period_is_refused_and_stays_in_the_form(
    venue: Venue, owner: Client, asked: dict[str, str], words: str
) -> None:
    builders.order(venue)
    for rest in ("", "-by-day.csv", "-by-dish.csv"):
        answer = owner.get(at(venue, rest), asked)
        text = answer.content.decode()
        assert (answer.status_code, tiles_of(answer)) == (400, {})
        assert words in text
        for value in asked.values():
            assert f'value="{value}"' in text


def test_one_date_sets_the_other_and_presets_are_links(venue: Venue, owner: Client) -> None:
    for asked, first, last in (
        ({}, "2026-11-15", "2026-11-21"),
        ({"first": "2026-11-01"}, "2026-11-01", "2026-11-21"),
        ({"last": "2026-09-30"}, "2026-09-24", "2026-09-30"),
        ({"first": "2025-11-21", "last": "2026-11-21"}, "2025-11-21", "2026-11-21"),
        ({"first": "2000-01-01", "last": "2000-01-01"}, "2000-01-01", "2000-01-01"),
    ):
        text = owner.get(at(venue), asked).content.decode()
        assert f'name="first" value="{first}"' in text
        assert f'name="last" value="{last}"' in text
    text = owner.get(at(venue)).content.decode()
    for first, current, name in (
        *(("2026-11-15", ' aria-current="true"', "7 days"), ("2026-10-23", "", "30 days")),
        *(("2026-08-24", "", "90 days"), ("2026-11-01", "", "This month")),
    ):
        assert f'?first={first}&amp;last=2026-11-21"{current}>{name}</a>' in text


def test_a_new_venue_and_an_empty_period_say_what_to_do(venue: Venue, owner: Client) -> None:
    text = owner.get(at(venue)).content.decode()
    assert "No orders yet" in text
    assert f"/dashboard/{venue.public_id}/orders/new" in text
    builders.order(venue, status="completed", now=NOON - timedelta(days=60))
    text = owner.get(at(venue)).content.decode()
    assert "No orders in this period" in text
    assert '<a href="?first=2026-09-22">22 Sep 2026</a>' in text


@pytest.mark.exhaustive
def test_owners_and_managers_see_sales_and_other_members_do_not(venue: Venue, other_venue: Venue) -> None:
    for role, status in (("owner", 200), ("manager", 200), ("host", 403), ("kitchen", 403)):
        member = users.member(venue, role)
        for rest in ("", "-by-day.csv", "-by-dish.csv"):
            assert member.get(at(venue, rest)).status_code == status
        links = member.get(f"/dashboard/{venue.public_id}").content.decode()
        assert (f'href="{at(venue)}"' in links) == (status == 200)
        assert member.get(at(other_venue)).status_code == 404


@pytest.mark.parametrize("rest", ["", "-by-day.csv"])
def test_a_signed_out_user_is_sent_to_sign_in(venue: Venue, client: Client, rest: str) -> None:
    assert client.get(at(venue, rest)).headers["Location"].startswith("/account/login/")
