"""The demo's menu: there after `manage.py seed`, and as people have made it afterwards."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import Venue
from catalogue.models import Holiday
from orders import seed
from orders.models import Menu, MenuItem
from reservations.models import Combination, ServicePeriod, Table
from tests.support import builders


def test_a_seeded_menu_has_four_categories_and_two_rates_of_tax(venue: Venue) -> None:
    seed.load(venue)
    menu = Menu.objects.get()
    assert menu.is_published
    assert list(menu.categories.order_by("position").values_list("name", flat=True)) == [
        "Antipasti",
        "Primi e pizze",
        "Dolci",
        "Da bere",
    ]
    assert menu.items.count() == 21
    assert sorted(set(menu.items.values_list("tax_percent", flat=True))) == [10, 22]
    for item in menu.items.all():
        item.full_clean()


def test_seeding_a_menu_again_leaves_it_as_people_have_made_it(venue: Venue) -> None:
    seed.load(venue)
    MenuItem.objects.filter(ref="margherita").update(price=11)
    MenuItem.objects.filter(ref="marinara").delete()
    Menu.objects.update(is_published=False)
    seed.load(venue)
    assert not Menu.objects.get().is_published
    assert MenuItem.objects.get(ref="margherita").price == 11
    assert MenuItem.objects.count() == 20


@pytest.mark.django_db
def test_the_seed_gives_one_venue_a_menu_and_tables_and_a_key_that_stays(tmp_path: Any) -> None:
    first, second = (StringIO() for _ in range(2))
    call_command("seed", json=True, stdout=first)
    output = json.loads(first.getvalue())
    (tmp_path / "up.json").write_text(first.getvalue())
    call_command("seed", json=True, keep=tmp_path / "up.json", stdout=second)
    assert json.loads(second.getvalue()) == output
    assert list(output["management"]) == [
        "api_key",
        "wide_api_key",
        "other_api_key",
        "wide_other_api_key",
        "menu_api_key",
    ]
    # A fresh product knows the public holidays at once.
    assert Holiday.objects.values("market").distinct().count() == 12
    venue = Venue.objects.get(name="Demo Osteria")
    assert (venue.timezone, venue.currency, venue.is_sandbox) == ("Europe/Rome", "EUR", True)
    for model, number in ((Menu, 1), (Table, 10), (Combination, 2), (ServicePeriod, 2)):
        assert model.objects.count() == model.objects.filter(venue=venue).count() == number
    api = builders.client_with(output["management"]["menu_api_key"])
    assert (
        api.post("/api/v1/orders", builders.order_body(), content_type="application/json").json()["total"] == "19.00"
    )
