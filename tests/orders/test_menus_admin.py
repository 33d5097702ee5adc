"""Menus in the back office: written, published, and taken off for today."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from orders.models import Menu, MenuCategory, MenuItem
from tests import make

MENUS = "/admin/orders/menu/"
DISHES = "/admin/orders/menuitem/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def categories(*rows: dict[str, str], initial: int = 0) -> dict[str, str]:
    """The inline rows of a menu's form."""
    form = {"categories-TOTAL_FORMS": str(len(rows)), "categories-INITIAL_FORMS": str(initial)}
    for number, row in enumerate(rows):
        form |= {f"categories-{number}-{name}": text for name, text in ({"position": "0"} | row).items()}
    return form


def dish(menu: Menu, category: MenuCategory, **changes: str) -> dict[str, str]:
    """The form of an item."""
    return {
        "menu": str(menu.pk),
        "category": str(category.pk),
        "ref": "tiramisu",
        "name": "Tiramisù",
        "price": "6.50",
        "tax_percent": "10",
        "is_available": "on",
        "position": "0",
    } | changes


def action(staff: Client, name: str, *items: MenuItem) -> list[str]:
    """Run an action of the list of dishes, and return what is said."""
    with time_machine.travel(NOON, tick=False):
        response = staff.post(DISHES, {"action": name, "_selected_action": [str(item.pk) for item in items]})
    assert response.status_code == 302
    return make.messages_of(response)


def errors_of(response: Any) -> dict[str, list[str]]:
    """What a form was refused for."""
    assert response.status_code == 200
    return dict(response.context["adminform"].errors)


def test_a_menu_is_written_with_its_categories_and_then_its_dishes(staff: Client, venue: Venue) -> None:
    rows = categories({"name": "Pizze"}, {"name": "Lunch", "served_from": "11:00", "served_until": "15:00"})
    assert staff.post(f"{MENUS}add/", {"venue": str(venue.pk)} | rows).status_code == 302
    menu = Menu.objects.get()
    assert not menu.is_published
    assert list(menu.categories.order_by("name").values_list("name", "served_from", "served_until")) == [
        ("Lunch", time(11), time(15)),
        ("Pizze", None, None),
    ]
    page = staff.get(f"{MENUS}{menu.pk}/change/").content.decode()
    assert f'href="{DISHES}?menu__id__exact={menu.pk}">0 on the menu' in page
    assert f'href="{DISHES}add/?menu={menu.pk}"' in page
    form = staff.get(f"{DISHES}add/?menu={menu.pk}").content.decode()
    assert form.count(f'<option value="{menu.pk}" selected>') == 1
    pizze = menu.categories.get(name="Pizze")
    assert staff.post(f"{DISHES}add/?menu={menu.pk}", dish(menu, pizze)).status_code == 302
    item = MenuItem.objects.get()
    assert (item.menu, item.category, item.ref, item.price, item.tax_percent) == (
        menu,
        pizze,
        "tiramisu",
        Decimal("6.50"),
        Decimal(10),
    )


def test_publishing_is_an_action_and_orders_follow(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    for name, said, published, total in (
        ("withdraw", "1 withdrawn.", False, None),
        ("publish", "1 published.", True, Decimal("19.00")),
    ):
        response = staff.post(MENUS, {"action": name, "_selected_action": [str(menu.pk)]})
        assert make.messages_of(response)[-1] == said
        menu.refresh_from_db()
        assert (menu.is_published, make.order(venue).total) == (published, total)


def test_hours_of_a_category_come_in_pairs(staff: Client, venue: Venue) -> None:
    rows = categories({"name": "Lunch", "served_from": "11:00"})
    response = staff.post(f"{MENUS}add/", {"venue": str(venue.pk)} | rows)
    assert response.status_code == 200
    assert "Give both times, and not the same, or neither." in response.content.decode()
    assert not Menu.objects.exists()


def test_a_dish_is_added_from_the_page_of_its_menu(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    for query in ("", "?menu=nonsense"):
        response = staff.get(f"{DISHES}add/{query}")
        if query:
            assert "<option" not in response.content.decode()
        else:
            assert response["Location"] == MENUS
            assert make.messages_of(response) == ["Choose the menu that the dish is to be on."]
    # As the button of the filtered list does.
    page = staff.get(f"{DISHES}add/?_changelist_filters=menu__id__exact%3D{menu.pk}").content.decode()
    assert f'<option value="{menu.pk}" selected>' in page


def test_only_categories_of_its_own_menu_can_be_chosen(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu, other = make.menu(venue), make.menu(other_venue)
    ours, theirs = menu.categories.get(), other.categories.get()
    item = menu.items.get()
    for path in (f"{DISHES}add/?menu={menu.pk}", f"{DISHES}{item.pk}/change/"):
        page = staff.get(path).content.decode()
        assert str(ours.pk) in page
        assert str(theirs.pk) not in page
        assert errors_of(staff.post(path, dish(menu, theirs)))["category"] == [
            "Select a valid choice. That choice is not one of the available choices."
        ]
    assert MenuItem.objects.filter(category=theirs).get().menu == other
    assert MenuItem.objects.count() == 2


def test_a_price_that_the_currency_cannot_pay_is_refused(staff: Client) -> None:
    for currency, price, said in (
        ("EUR", "6.505", "A price in EUR has at most 2 decimals."),
        ("JPY", "6.5", "A price in JPY has at most 0 decimals."),
    ):
        menu = make.menu(make.venue(currency, currency=currency), margherita="9")
        path = f"{DISHES}{menu.items.get().pk}/change/"
        assert errors_of(staff.post(path, dish(menu, menu.categories.get(), price=price))) == {"price": [said]}
        assert menu.items.get().price == 9


def test_an_id_is_once_on_a_menu(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    response = staff.post(f"{DISHES}add/?menu={menu.pk}", dish(menu, menu.categories.get(), ref="margherita"))
    assert response.status_code == 200
    assert menu.items.count() == 1


def test_prices_and_availability_are_edited_in_the_list(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue, water="2.00")
    path = f"{DISHES}?menu__id__exact={menu.pk}&q=margherita"
    assert 'value="9.50"' in staff.get(path).content.decode()
    item = menu.items.get(ref="margherita")
    row = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(item.pk), "_save": "Save"}
    assert staff.post(path, row | {"form-0-price": "10.5"}).status_code == 302
    item.refresh_from_db()
    assert (item.price, item.is_available) == (Decimal("10.5"), False)
    refused = staff.post(path, row | {"form-0-price": "10.505", "form-0-is_available": "on"})
    assert "A price in EUR has at most 2 decimals." in refused.content.decode()
    item.refresh_from_db()
    assert (item.price, item.is_available) == (Decimal("10.5"), False)


def test_the_list_shows_one_menu_or_what_is_searched(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu = make.menu(venue, water="2.00")
    make.menu(other_venue, wine="5.00")
    for query, number in (
        ("", "4 menu items"),
        (f"menu__id__exact={menu.pk}", "2 menu items"),
        ("q=bistro", "2 menu items"),
        ("q=wine", "1 menu item"),
    ):
        assert number in staff.get(f"{DISHES}?{query}").content.decode()


def test_sold_out_today_and_back_on_the_menu(staff: Client, venue: Venue) -> None:
    item = make.menu(venue).items.get()
    assert action(staff, "sell_out", item) == ["1 sold out today."]
    assert MenuItem.objects.get().sold_out_on == date(2026, 11, 21)
    MenuItem.objects.update(is_available=False)
    assert action(staff, "bring_back", item)[-1] == "1 back on the menu."
    assert MenuItem.objects.filter(sold_out_on=None, is_available=True).count() == 1


def test_a_dish_stays_on_its_menu(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu, other = make.menu(venue), make.menu(other_venue)
    item = menu.items.get()
    form = dish(menu, menu.categories.get(), name="Regina") | {"menu": str(other.pk)}
    assert staff.post(f"{DISHES}{item.pk}/change/", form).status_code == 302
    item.refresh_from_db()
    assert (item.menu, item.name) == (menu, "Regina")


def test_the_lists_cost_the_same_for_one_and_for_many(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 20):
        for _ in range(number):
            make.menu(make.venue(), water="2.00")
        # Session, user, the count, the rows.
        with django_assert_num_queries(4):
            assert staff.get(MENUS).status_code == 200
        with django_assert_num_queries(4):
            assert staff.get(DISHES).status_code == 200


def test_a_menu_can_be_deleted_with_all_that_is_on_it(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    order = make.order(venue)
    assert staff.post(f"{MENUS}{menu.pk}/delete/", {"post": "yes"}).status_code == 302
    assert (Menu.objects.count(), MenuItem.objects.count(), MenuCategory.objects.count()) == (0, 0, 0)
    order.refresh_from_db()
    assert order.total == Decimal("19.00")


def test_a_category_that_has_dishes_is_not_removed(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    category = menu.categories.get()
    row = {"id": str(category.pk), "menu": str(menu.pk), "name": "Dishes", "DELETE": "on"}
    form = {"is_published": "on"} | categories(row, initial=1)
    response = staff.post(f"{MENUS}{menu.pk}/change/", form)
    assert response.status_code == 200
    assert "would require deleting the following protected related objects" in response.content.decode()
    menu.items.all().delete()
    assert staff.post(f"{MENUS}{menu.pk}/change/", form).status_code == 302
    assert not menu.categories.exists()


@pytest.mark.parametrize("is_new", [True, False])
def test_who_saves_a_dish_and_adds_another_stays_on_its_menu(staff: Client, venue: Venue, is_new: bool) -> None:
    menu = make.menu(venue)
    path = f"{DISHES}add/?menu={menu.pk}" if is_new else f"{DISHES}{menu.items.get().pk}/change/"
    response = staff.post(path, dish(menu, menu.categories.get(), _addanother="Save and add another"))
    assert (response.status_code, response["Location"]) == (302, f"{DISHES}add/?menu={menu.pk}")
    assert "You may add another menu item below." in make.messages_of(response)[0]


def test_the_list_of_one_menu_does_not_repeat_its_venue(staff: Client, venue: Venue) -> None:
    menu = make.menu(venue)
    assert "column-venue" in staff.get(DISHES).content.decode()
    page = staff.get(f"{DISHES}?menu__id__exact={menu.pk}").content.decode()
    assert "column-venue" not in page
    assert "10\N{NO-BREAK SPACE}%" in page


def test_payment_labels_of_a_venue_are_what_the_api_takes(staff: Client, venue: Venue) -> None:
    path = f"/admin/accounts/venue/{venue.pk}/change/"
    form = {
        "account": str(venue.account_id),
        "name": "Trattoria",
        "timezone": "Europe/Rome",
        "currency": "EUR",
        "max_days_ahead": "365",
        "auto_confirm_max_party": "8",
        "when_full": "refuse",
        "prices_include_tax": "on",
    }
    for labels in ("cash,Card", "cash,credit card", "1cash", "cash,,card"):
        assert "payment_methods" in errors_of(staff.post(path, form | {"payment_methods": labels}))
    venue.refresh_from_db()
    assert venue.payment_methods == []
    assert staff.post(path, form | {"payment_methods": "cash, bank_transfer"}).status_code == 302
    venue.refresh_from_db()
    assert venue.payment_methods == ["cash", "bank_transfer"]
