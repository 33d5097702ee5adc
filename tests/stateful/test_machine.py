"""The product and the model of it never differ, however orders and reservations are moved."""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from orders.models import Menu, MenuCategory, MenuItem, Order
from reservations.models import Closure, Reservation
from tests.stateful.machine import ProductMachine, Side
from tests.stateful.model import Book, Dish, House, Place
from tests.support import builders

SHORT = settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    # The same runs on every machine; what fails is printed as a program that can be pasted into a test.
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)

MOVE_ORDER = Order.change_status
MOVE_RESERVATION = Reservation.move_to


@pytest.fixture
def sides(db: None) -> list[Side]:
    """Two venues under two clocks: one with a menu and tables, one with neither."""
    house = builders.venue("Trattoria", timezone="Europe/Rome", currency="EUR", auto_confirm_max_party=4)
    pizza, late = Dish("Margherita", Decimal("9.50"), 10), Dish("Tiramisù", Decimal("6.05"), 10, (time(18), time(1)))
    water = Dish("Acqua", Decimal("2.25"), 22)
    menu = Menu.objects.create(venue=house, is_published=True)
    for position, (ref, dish) in enumerate((("margherita", pizza), ("acqua", water), ("tiramisu", late))):
        served_from, served_until = dish.served or (None, None)
        category = MenuCategory.objects.create(
            menu=menu, name=ref, position=position, served_from=served_from, served_until=served_until
        )
        MenuItem.objects.create(
            menu=menu, category=category, ref=ref, name=dish.name, price=dish.price, tax_percent=dish.tax_percent
        )
    small = builders.table(house, "T1", seats_min=1, seats_max=2)
    large = builders.table(house, "T2", seats_min=2, seats_max=4)
    builders.combination(house, small, large, seats_min=5, seats_max=6)
    weekdays = (1, 2, 3, 4, 5, 6)
    builders.period(house, first="19:00", last="02:30", weekdays=weekdays, slot_min=30)
    closed = (date(2026, 10, 27), date(2026, 11, 24))
    for day in closed:
        Closure.objects.create(venue=house, first_date=day, last_date=day)
    other = builders.venue("Diner", timezone="America/New_York", currency="USD")
    models = (
        House(
            house.timezone,
            house.currency,
            dishes={"margherita": pizza, "acqua": water, "tiramisu": late},
            places=(Place(("T1",), 1, 2), Place(("T2",), 2, 4), Place(("T1", "T2"), 5, 6)),
            auto_confirm_max_party=4,
            first_seating=time(19),
            last_seating=time(2, 30),
            slot_min=30,
            weekdays=weekdays,
            closed=closed,
        ),
        Book(other.timezone, other.currency),
    )
    return [
        Side(venue=venue, api=builders.client(venue, allowance=10**9), model=model)
        for venue, model in zip((house, other), models, strict=True)
    ]


def run(sides: list[Side], profile: settings) -> None:
    """Run the machine on these venues; fails with the shortest program found on which product and model differ."""

    class MachineOfSides(ProductMachine):
        def __init__(self) -> None:
            super().__init__(sides)

    run_state_machine_as_test(MachineOfSides, settings=profile)


@pytest.mark.stack
def test_product_and_model_never_differ(sides: list[Side]) -> None:
    run(sides, SHORT)


@pytest.mark.deep
def test_product_and_model_never_differ_in_500_long_runs(sides: list[Side]) -> None:
    run(sides, settings(SHORT, max_examples=500, stateful_step_count=50, derandomize=False))


def move_order_anyhow(order: Order, status: str, *, now: datetime, **more: Any) -> bool:
    """The rule with a hole: what is completed can be cancelled, and the other way round."""
    if "pending" in (order.status, status) or order.status == status:
        return MOVE_ORDER(order, status, now=now, **more)
    moments = {"completed_at": None, "cancelled_at": None, f"{status}_at": now}
    Order.objects.filter(pk=order.pk).update(status=status, version=order.version + 1, updated_at=now, **moments)
    order.refresh_from_db()
    return True


def move_reservation_anyhow(reservation: Reservation, status: str, *, now: datetime) -> bool:
    """The rule with a hole: what is cancelled can be confirmed."""
    if (reservation.status, status) != ("cancelled", "confirmed"):
        return MOVE_RESERVATION(reservation, status, now=now)
    Reservation.objects.filter(pk=reservation.pk).update(
        status=status, cancelled_at=None, version=reservation.version + 1, updated_at=now
    )
    reservation.refresh_from_db()
    return True


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("model", "hole"),
    [(Order, move_order_anyhow), (Reservation, move_reservation_anyhow)],
    ids=["order", "reservation"],
)
def test_the_machine_detects_final_states_that_are_not_final(
    sides: list[Side], monkeypatch: pytest.MonkeyPatch, model: type, hole: Callable[..., bool]
) -> None:
    monkeypatch.setattr(model, "change_status" if model is Order else "move_to", hole)
    # Only found, not made shorter.
    with pytest.raises(AssertionError, match="invalid_transition"):
        run(sides, settings(SHORT, phases=[Phase.generate]))
