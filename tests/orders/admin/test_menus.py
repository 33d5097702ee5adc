"""Menus in the back office: written, published, and taken off for today."""

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from psycopg.errors import CheckViolation
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, User, Venue
from orders.models import ChargeRule, Menu, MenuCategory, MenuItem, OrderingSettings
from orders.models.menus import ITEM_SEARCH_TEXT
from tests.support import builders
from tests.support.html import form_of

MENUS = "/admin/orders/menu/"
DISHES = "/admin/orders/menuitem/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


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
        keys = [str(item.pk) for item in items]
        response = staff.post(DISHES, {"action": name, "_selected_action": keys, "confirmed": "yes"})
    assert response.status_code == 302
    return builders.messages_of(response)


def errors_of(response: Any) -> dict[str, list[str]]:
    """What a form was refused for."""
    assert response.status_code == 200
    return dict(response.context["adminform"].errors)


@pytest.mark.exhaustive
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
    menu = builders.menu(venue)
    for name, message, published, total in (
        ("unpublish", "1 unpublished.", False, None),
        ("publish", "1 published.", True, Decimal("19.00")),
    ):
        response = staff.post(MENUS, {"action": name, "_selected_action": [str(menu.pk)], "confirmed": "yes"})
        assert builders.messages_of(response)[-1] == message
        menu.refresh_from_db()
        assert (menu.is_published, builders.order(venue).total) == (published, total)


def test_hours_of_a_category_come_in_pairs(staff: Client, venue: Venue) -> None:
    rows = categories({"name": "Lunch", "served_from": "11:00"})
    response = staff.post(f"{MENUS}add/", {"venue": str(venue.pk)} | rows)
    assert response.status_code == 200
    assert "Enter two different times, or none." in response.content.decode()
    assert not Menu.objects.exists()


def test_a_dish_is_added_from_the_page_of_its_menu(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for query in ("", "?menu=nonsense"):
        response = staff.get(f"{DISHES}add/{query}")
        if query:
            assert "<option" not in response.content.decode()
        else:
            assert response["Location"] == MENUS
            assert builders.messages_of(response) == ["Choose the menu that the dish is to be on."]
    # As the button of the filtered list does.
    page = staff.get(f"{DISHES}add/?_changelist_filters=menu__id__exact%3D{menu.pk}").content.decode()
    assert f'<option value="{menu.pk}" selected>' in page


@pytest.mark.exhaustive
def test_only_categories_of_its_own_menu_can_be_chosen(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu, other = builders.menu(venue), builders.menu(other_venue)
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


@pytest.mark.exhaustive
def test_a_price_that_the_currency_cannot_pay_is_refused(staff: Client) -> None:
    for currency, price, message in (
        ("EUR", "6.505", "A price in EUR has at most 2 decimals."),
        ("JPY", "6.5", "A price in JPY has at most 0 decimals."),
    ):
        menu = builders.menu(builders.venue(currency, currency=currency), margherita="9")
        path = f"{DISHES}{menu.items.get().pk}/change/"
        assert errors_of(staff.post(path, dish(menu, menu.categories.get(), price=price))) == {"price": [message]}
        assert menu.items.get().price == 9


def test_an_id_is_once_on_a_menu(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    response = staff.post(f"{DISHES}add/?menu={menu.pk}", dish(menu, menu.categories.get(), ref="margherita"))
    assert response.status_code == 200
    assert menu.items.count() == 1


def test_prices_and_availability_are_edited_in_the_list(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue, water="2.00")
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


@pytest.mark.exhaustive
def test_the_list_shows_one_menu_or_what_is_searched(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu = builders.menu(venue, water="2.00")
    builders.menu(other_venue, wine="5.00")
    for query, number in (
        ("", "4 menu items"),
        (f"menu__id__exact={menu.pk}", "2 menu items"),
        ("q=bistro", "2 menu items"),
        ("q=wine", "1 menu item"),
    ):
        assert number in staff.get(f"{DISHES}?{query}").content.decode()


def test_sold_out_today_and_back_on_the_menu(staff: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    assert action(staff, "sell_out", item) == ["1 sold out today."]
    assert MenuItem.objects.get().sold_out_on == date(2026, 11, 21)
    MenuItem.objects.update(is_available=False)
    assert action(staff, "make_available", item)[-1] == "1 available again."
    assert MenuItem.objects.filter(sold_out_on=None, is_available=True).count() == 1


def test_a_dish_stays_on_its_menu(staff: Client, venue: Venue, other_venue: Venue) -> None:
    menu, other = builders.menu(venue), builders.menu(other_venue)
    item = menu.items.get()
    form = dish(menu, menu.categories.get(), name="Regina") | {"menu": str(other.pk)}
    assert staff.post(f"{DISHES}{item.pk}/change/", form).status_code == 302
    item.refresh_from_db()
    assert (item.menu, item.name) == (menu, "Regina")


@pytest.mark.exhaustive
def test_the_lists_cost_the_same_for_one_and_for_many(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 20):
        for _ in range(number):
            builders.menu(builders.venue(), water="2.00")
        # Session, user, the count, the rows, saved filters.
        with django_assert_num_queries(5):
            assert staff.get(MENUS).status_code == 200
        # Also the estimate, the list's own time limit, and the savepoint of the test around it.
        with django_assert_num_queries(9):
            assert staff.get(DISHES).status_code == 200


def test_a_menu_can_be_deleted_with_all_that_is_on_it(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    order = builders.order(venue)
    assert staff.post(f"{MENUS}{menu.pk}/delete/", {"post": "yes"}).status_code == 302
    assert (Menu.objects.count(), MenuItem.objects.count(), MenuCategory.objects.count()) == (0, 0, 0)
    order.refresh_from_db()
    assert order.total == Decimal("19.00")


def test_a_category_that_has_dishes_is_not_removed(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
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
    menu = builders.menu(venue)
    path = f"{DISHES}add/?menu={menu.pk}" if is_new else f"{DISHES}{menu.items.get().pk}/change/"
    response = staff.post(path, dish(menu, menu.categories.get(), _addanother="Save and add another"))
    assert (response.status_code, response["Location"]) == (302, f"{DISHES}add/?menu={menu.pk}")
    assert "You may add another menu item below." in builders.messages_of(response)[0]


def test_the_list_of_one_menu_does_not_repeat_its_venue(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    assert "column-venue" in staff.get(DISHES).content.decode()
    page = staff.get(f"{DISHES}?menu__id__exact={menu.pk}").content.decode()
    assert "column-venue" not in page
    assert "10\N{NO-BREAK SPACE}%" in page


@pytest.mark.exhaustive
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


# Forms that are older than their rows
@pytest.mark.exhaustive
def test_saving_the_form_of_a_dish_undoes_nothing_that_came_between(staff: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    path = f"{DISHES}{item.pk}/change/"
    form = form_of(staff.get(path), "menuitem_form")
    MenuItem.objects.update(sold_out_on=date(2026, 11, 21), is_available=False, price=12)
    assert staff.post(path, form | {"description": "With basil"}).status_code == 302
    item.refresh_from_db()
    assert (item.description, item.sold_out_on, item.is_available, item.price) == (
        "With basil",
        date(2026, 11, 21),
        False,
        Decimal(12),
    )


def test_saving_a_list_of_dishes_undoes_nothing_that_came_between(staff: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    form = form_of(staff.get(DISHES), "changelist-form") | {"_save": "Save"}
    MenuItem.objects.update(price=12, is_available=False)
    # Nothing was changed in the list that was open; then the price alone.
    for change, price in (({}, Decimal(12)), ({"form-0-price": "7.00"}, Decimal(7))):
        response = staff.post(DISHES, form | change)
        assert builders.messages_of(response) == (["1 menu item was changed successfully."] if change else [])
        item.refresh_from_db()
        assert (item.price, item.is_available) == (price, False)


def test_saving_a_menu_undoes_nothing_that_came_between(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    path = f"{MENUS}{menu.pk}/change/"
    form = form_of(staff.get(path), "menu_form")
    menu.categories.update(served_from=time(11), served_until=time(15), position=7)
    Menu.objects.update(is_published=False)
    assert staff.post(path, form | {"categories-0-name": "Lunch"}).status_code == 302
    category = menu.categories.get()
    assert (category.name, category.position, category.served_from) == ("Lunch", 7, time(11))
    assert not Menu.objects.get().is_published


def test_what_was_changed_back_to_what_is_stored_is_no_surprise(staff: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    path = f"{DISHES}{item.pk}/change/"
    form = form_of(staff.get(path), "menuitem_form")
    MenuItem.objects.update(name="Regina")
    # The later of two who change the same field wins.
    assert staff.post(path, form | {"name": "Bufala"}).status_code == 302
    item.refresh_from_db()
    assert item.name == "Bufala"


def test_a_dish_that_is_renamed_to_an_id_in_use_is_refused_in_the_form(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue, water="2.00")
    path = f"{DISHES}{menu.items.get(ref='water').pk}/change/"
    response = staff.post(path, form_of(staff.get(path), "menuitem_form") | {"ref": "margherita"})
    assert errors_of(response) == {"__all__": ["Menu item with this Menu and Menu item id already exists."]}
    assert menu.items.filter(ref="water").count() == 1


# Rights and money
def test_who_may_only_look_at_menus_is_led_nowhere(venue: Venue) -> None:
    menu = builders.menu(venue)
    user = User.objects.create_user("host@example.com", is_staff=True)
    host = Client()
    host.force_login(user)
    for rights, links in (
        ({"view_menu"}, set()),
        ({"view_menu", "view_menuitem"}, {f"{DISHES}?menu__id__exact={menu.pk}"}),
        (
            {"view_menu", "view_menuitem", "add_menuitem"},
            {f"{DISHES}?menu__id__exact={menu.pk}", f"{DISHES}add/?menu={menu.pk}"},
        ),
    ):
        user.user_permissions.set(Permission.objects.filter(codename__in=rights))
        page = host.get(MENUS).content.decode()
        assert "1 on the menu" in page
        assert set(re.findall(rf'href="({DISHES}[^"]*(?:menu=|exact=)[^"]*)"', page)) == links


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["venue_form", "account_form"])
def test_a_venue_keeps_its_currency_while_its_menu_has_dishes(staff: Client, venue: Venue, form: str) -> None:
    menu = builders.menu(venue)
    inline = "" if form == "venue_form" else "venues-0-"
    path = f"/admin/accounts/{form[:-5]}/{venue.account_id if inline else venue.pk}/change/"
    fields = form_of(staff.get(path), form) | {f"{inline}currency": "JPY", f"{inline}name": "Another"}
    refused = staff.post(path, fields)
    message = "The menu prices are in EUR. Remove the dishes before you change the currency."
    assert refused.status_code == 200
    assert message in refused.content.decode()
    venue.refresh_from_db()
    assert (venue.currency, venue.name) == ("EUR", "Trattoria")
    menu.items.all().delete()
    assert staff.post(path, fields).status_code == 302
    venue.refresh_from_db()
    assert (venue.currency, venue.name) == ("JPY", "Another")


def test_the_database_keeps_the_currency_of_priced_dishes(venue: Venue) -> None:
    menu = builders.menu(venue)
    Venue.objects.update(currency="EUR")
    with transaction.atomic(), pytest.raises(IntegrityError) as refused, transaction.atomic():
        Venue.objects.update(currency="JPY")
    cause = refused.value.__cause__
    assert isinstance(cause, CheckViolation)
    assert cause.diag.constraint_name == "venue_keeps_its_currency_while_its_menu_has_dishes"
    menu.items.all().delete()
    Venue.objects.update(currency="JPY")
    assert Venue.objects.get().currency == "JPY"


@pytest.mark.exhaustive
def test_a_group_is_written_with_its_modifiers_and_each_change_is_an_event(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    groups = "/admin/orders/modifiergroup/"
    group = {"menu": str(menu.pk), "ref": "size", "name": "Size", "min_choices": "0", "max_choices": "1"}
    group |= {"translations": '{"da": {"name": "Str"}}', "modifiers-TOTAL_FORMS": "1", "modifiers-INITIAL_FORMS": "0"}
    row = {"ref": "large", "name": "Large", "price_delta": "3.00", "position": "0", "translations": "{}"}
    group |= {f"modifiers-0-{name}": value for name, value in row.items()}
    bad = group | {"modifiers-0-price_delta": "0.005", "translations": '{"danish": {}}'}
    refused = staff.post(f"{groups}add/", bad)
    assert errors_of(refused)["translations"] == ["danish: A language is a tag such as `da` or `de-AT`."]
    assert "An amount in EUR has at most 2 decimals." in refused.content.decode()
    assert staff.post(f"{groups}add/", group).status_code == 302
    made = menu.modifier_groups.get()
    assert [(each.ref, each.price_delta, each.menu_id) for each in made.modifiers.all()] == [
        ("large", Decimal(3), menu.pk)
    ]
    assert f'value="{menu.items.get().pk}"' in staff.get(f"{groups}{made.pk}/change/").content.decode()
    assert staff.post(f"{groups}{made.pk}/delete/", {"post": "yes"}).status_code == 302
    chosen = {"action": "unpublish", "_selected_action": [str(menu.pk)], "confirmed": "yes"}
    assert staff.post(MENUS, chosen).status_code == 302
    action(staff, "sell_out", menu.items.get())
    events = Event.objects.filter(venue=venue).order_by("id").values_list("type", "actor")
    assert list(events) == [
        *[("menu.updated", "staff:staff@example.com")] * 3,
        ("menu.item_sold_out", "staff:staff@example.com"),
    ]


@pytest.mark.exhaustive
def test_how_a_venue_takes_orders_and_what_it_charges_is_written(staff: Client, venue: Venue) -> None:
    times = {"prep_minutes": "20", "slot_minutes": "15", "warn_minutes": "10", "late_minutes": "20"}
    sent = {"venue": str(venue.pk), "page_fulfilments": ["pickup"]} | times
    assert (
        "A slot is 5, 10, 15, 20, 30 or 60 minutes long."
        in staff.post("/admin/orders/orderingsettings/add/", sent | {"slot_minutes": "7"}).content.decode()
    )
    assert staff.post("/admin/orders/orderingsettings/add/", sent).status_code == 302
    assert OrderingSettings.objects.get(venue=venue).page_fulfilments == ["pickup"]
    rule = {"venue": str(venue.pk), "type": "fee", "name": "Bag", "tax_percent": "10", "position": "0"}
    page = staff.post("/admin/orders/chargerule/add/", rule).content.decode()
    assert "Enter either a percentage up to 100 or an amount." in page
    assert staff.post("/admin/orders/chargerule/add/", rule | {"amount": "0.50"}).status_code == 302
    assert ChargeRule.objects.get(venue=venue).name == "Bag"


def test_the_admin_checks_the_rules_of_groups_with_the_menu_locked(staff: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    group = builders.modifier_group(menu, "size", {"large": "3.00", "small": "0"})
    other = builders.modifier_group(menu, "sauce", {"mild": "0"})
    other.modifiers.update(nested_group=group)
    path = f"/admin/orders/modifiergroup/{group.pk}/change/"
    page = form_of(staff.get(path), "modifiergroup_form")
    for changes, message in (
        ({"min_choices": "3", "max_choices": "3"}, "3 must be chosen, and there are 2."),
        (
            {"modifiers-0-is_default": "on", "modifiers-1-is_default": "on"},
            "2 are chosen by default; none or 0 to 1 can be.",
        ),
        (
            {"modifiers-0-nested_group": str(other.pk)},
            "A modifier cannot ask for a group whose modifiers ask for another.",
        ),
    ):
        with CaptureQueriesContext(connection) as captured:
            refused = staff.post(path, page | changes)
        assert message in refused.content.decode()
        assert any('FROM "orders_menu"' in each["sql"] and "FOR UPDATE" in each["sql"] for each in captured)
    assert not Event.objects.exists()
    assert staff.post(path, page | {"modifiers-0-is_default": "on"}).status_code == 302
    assert Event.objects.count() == 1


def test_changes_in_the_list_are_one_event_of_each_menu(staff: Client, venue: Venue, other_venue: Venue) -> None:
    builders.menu(venue, water="2.00", cola="3.00")
    builders.menu(other_venue)
    form = form_of(staff.get(DISHES), "changelist-form") | {"_save": "Save"}
    changes = {name: "7.00" for name in form if re.fullmatch(r"form-\d+-price", name)}
    assert len(changes) == 4
    assert staff.post(DISHES, form | changes).status_code == 302
    events = Event.objects.values_list("venue", "type")
    assert sorted(events, key=str) == sorted([(venue.pk, "menu.updated"), (other_venue.pk, "menu.updated")], key=str)


@pytest.mark.exhaustive
def test_dishes_are_found_by_three_letters_of_their_name_id_or_venue_with_an_index(
    staff: Client, venue: Venue
) -> None:
    menu = builders.menu(venue, water="2.00")
    menu.items.filter(ref="margherita").update(name="Crème brûlée")
    builders.menu(builders.venue("Another"))

    def found(term: str) -> list[tuple[str, str]]:
        rows = staff.get(DISHES, {"q": term}).context["cl"].result_list
        return [(row.name, row.menu.venue.name) for row in rows]

    assert found("CREME BRU") == [("Crème brûlée", "Trattoria")]
    assert found("wate") == found("Wat")
    assert {venue for _, venue in found("another")} == {"Another"}
    assert found("cr") == []
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        # Alone: joined to few rows, the dishes of a menu are fewer than those of the text.
        plan = MenuItem.objects.alias(searched=ITEM_SEARCH_TEXT).filter(searched__contains="creme").explain()
    assert "menu_item_by_trigrams" in plan
