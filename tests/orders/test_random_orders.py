"""Totals of random orders over random menus against a reference in minor units that shares no code with pricing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from accounts.models import Venue
from orders import commands
from orders.consistency_checks import checks
from orders.models import ChargeRule, Menu, MenuItem, Modifier
from tests.support import builders

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECIMALS = {"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3}
FULFILMENTS = ("pickup", "delivery", "dine_in")


@dataclass
class Numbers:
    """Amounts as integers: thousandths for prices and percentages, minor units for results."""

    decimals: int
    includes_tax: bool

    def minor(self, amount: Decimal) -> int:
        """The amount in minor units, half up away from zero."""
        thousandths = int(amount * 1000)
        step: int = 10 ** (3 - self.decimals)
        rounded = (abs(thousandths) * 2 + step) // (2 * step)
        return -rounded if thousandths < 0 else rounded

    def part(self, amount: int, percent: Decimal | None, *, of_hundred: bool = False) -> int:
        """The tax in this amount or on it; or, of a hundred, this percentage of it."""
        thousandths = int((percent or 0) * 1000)
        whole = 100_000 if of_hundred or not self.includes_tax else 100_000 + thousandths
        return (amount * thousandths * 2 + whole) // (2 * whole)

    def text(self, amount: int) -> str:
        digits = str(amount).zfill(self.decimals + 1)
        return f"{digits[: -self.decimals]}.{digits[-self.decimals :]}" if self.decimals else digits


def price(rng: Random, decimals: int, most: int = 30) -> Decimal:
    return Decimal(rng.randrange(most * 10**decimals)).scaleb(-decimals)


def percent(rng: Random) -> Decimal:
    return Decimal(rng.choice(["0", "5.5", "7", "10", "19", "22", "8.875"]))


def add_random_menu(venue: Venue, rng: Random, decimals: int) -> Menu:
    menu = builders.menu(venue)
    MenuItem.objects.filter(menu=menu).delete()
    for number in range(6):
        dish = builders.dish(
            menu,
            f"dish-{number}",
            str(price(rng, decimals) + 5),
            tax_percent=percent(rng),
            takeaway_tax_percent=rng.choice([None, percent(rng)]),
        )
        for group in range(rng.randrange(3)):
            prices = {f"d{number}g{group}m{each}": str(price(rng, decimals, 4) - 1) for each in range(3)}
            builders.modifier_group(menu, f"d{number}g{group}", prices, dish, max_choices=rng.randint(1, 2))
    for position in range(rng.randrange(4)):
        is_percent = rng.random() < 0.5
        ChargeRule.objects.create(
            venue=venue,
            type=rng.choice(ChargeRule.Type.values),
            name=f"Charge {position}",
            percent=rng.choice([Decimal(10), Decimal("12.5")]) if is_percent else None,
            amount=None if is_percent else price(rng, decimals, 5) + 1,
            tax_percent=percent(rng),
            fulfilments=rng.sample(FULFILMENTS, rng.randrange(3)),
            free_from=rng.choice([None, price(rng, decimals, 60)]),
            position=position,
        )
    return menu


def random_order(
    rng: Random, dishes: list[MenuItem], modifiers: dict[str, dict[str, list[Modifier]]]
) -> dict[str, Any]:
    """The arguments of an order: lines with modifiers, a fulfilment and perhaps a tip."""
    items = []
    for dish in rng.choices(dishes, k=rng.randint(1, 5)):
        chosen = [
            modifier.ref
            for group in modifiers.get(dish.ref, {}).values()
            for modifier in rng.sample(group, rng.randint(0, group[0].group.max_choices))
        ]
        items.append(
            {
                "menu_item_id": dish.ref,
                "quantity": rng.choice([1, 1, 2, 3, 40]),
                "modifiers": [{"id": ref} for ref in chosen],
            }
        )
    return {"items": items, "fulfilment": {"type": rng.choice(FULFILMENTS)}}


def expected_totals(
    order: dict[str, Any], venue: Venue, dishes: dict[str, MenuItem], deltas: dict[str, Decimal]
) -> dict[str, Any]:
    """The amounts of the record, computed in integers."""
    numbers = Numbers(DECIMALS[venue.currency], venue.prices_include_tax)
    fulfilment = order["fulfilment"]["type"]
    totals, tax = [], 0
    for item in order["items"]:
        dish = dishes[item["menu_item_id"]]
        unit = numbers.minor(dish.price) + sum(numbers.minor(deltas[each["id"]]) for each in item["modifiers"])
        totals.append(unit * item["quantity"])
        takeaway = fulfilment != "dine_in" and dish.takeaway_tax_percent is not None
        rate = dish.takeaway_tax_percent if takeaway else dish.tax_percent
        tax += numbers.part(totals[-1], rate)
    goods, charges = sum(totals), []
    for rule in ChargeRule.objects.filter(venue=venue).order_by("position"):
        if rule.fulfilments and fulfilment not in rule.fulfilments:
            continue
        if rule.free_from is not None and goods >= numbers.minor(rule.free_from):
            continue
        amount = (
            numbers.minor(rule.amount)
            if rule.amount is not None
            else numbers.part(goods, rule.percent, of_hundred=True)
        )
        tax += numbers.part(amount, rule.tax_percent)
        charges.append((rule.name, amount))
    tip = numbers.minor(order.get("tip", Decimal(0)))
    everything = goods + sum(amount for _, amount in charges)
    subtotal = everything - tax if numbers.includes_tax else everything
    return {
        "lines": [numbers.text(total) for total in totals],
        "charges": [(name, numbers.text(amount)) for name, amount in charges if amount],
        "subtotal": numbers.text(subtotal),
        "tax": numbers.text(tax),
        "total": numbers.text(subtotal + tax + tip),
    }


def place_random_orders(seed: int, count: int) -> None:
    """Place orders over one random menu, and compare each with the reference and all with the consistency check."""
    rng = Random(seed)
    currency = rng.choice(list(DECIMALS))
    venue = builders.venue(f"Venue {seed}", currency=currency, prices_include_tax=rng.random() < 0.5)
    menu = add_random_menu(venue, rng, DECIMALS[currency])
    dishes = {dish.ref: dish for dish in menu.items.all()}
    modifiers: dict[str, dict[str, list[Modifier]]] = {}
    for modifier in Modifier.objects.filter(menu=menu).select_related("group").prefetch_related("group__items"):
        for dish in modifier.group.items.all():
            modifiers.setdefault(dish.ref, {}).setdefault(modifier.group.ref, []).append(modifier)
    deltas = dict(menu.modifiers.values_list("ref", "price_delta"))
    for _ in range(count):
        order = random_order(rng, list(dishes.values()), modifiers)
        if order["fulfilment"]["type"] == "delivery":
            order["delivery_address"] = "1 Main St"
        if rng.random() < 0.3:
            order["tip"] = price(rng, DECIMALS[currency], 5)
        record = commands.place_order(
            venue, now=NOON, actor="system", customer_id="cust_1", payment_method="card", **order
        )
        found = {name: record[name] for name in ("subtotal", "tax", "total")} | {
            "lines": [line["line_total"] for line in record["items"]],
            "charges": [(charge["name"], charge["amount"]) for charge in record["charges"]],
        }
        assert found == expected_totals(order, venue, dishes, deltas), (seed, order)
    assert list(checks(NOON)["order_totals"]) == []


@pytest.mark.parametrize("seed", range(3))
def test_random_orders_cost_what_the_reference_says(seed: int) -> None:
    place_random_orders(seed, 20)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 200))
def test_10000_random_orders_cost_what_the_reference_says(seed: int) -> None:
    place_random_orders(seed, 100)
