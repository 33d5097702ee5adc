"""The page on which guests order: by the rules of the API, without cookies and scripts, in the guest's language."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.db import connection
from django.test import Client

from accounts.models import Venue
from orders import commands
from orders.models import Fulfilment, Menu, MenuCategory, MenuItem, Order, OrderingSettings
from orders.ordering_page import links, online_orders
from orders.ordering_page.hours import Hours
from tests.support import builders
from tests.support.query_counts import costing

NOW = datetime(2031, 5, 5, 16, 0, tzinfo=UTC)  # 18:00 at the venue
XSS = "<script>alert('x')</script>"


class Fields(HTMLParser):
    """The fields of the forms of a page with their values, as a browser sends them without a button."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self.area = self.select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a field."""
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "input" and (given.get("type") not in ("radio", "checkbox") or "checked" in given):
            self.values.setdefault(name, []).append(value)
        if tag == "textarea":
            self.area = name
            self.values[name] = [""]
        if tag == "select":
            self.select = name
        if tag == "option" and ("selected" in given or self.select not in self.values):
            self.values[self.select] = [value]

    def handle_data(self, data: str) -> None:
        """Collect the text of a text area."""
        if self.area:
            self.values[self.area] = [data]

    def handle_endtag(self, tag: str) -> None:
        """Leave a text area."""
        if tag == "textarea":
            self.area = ""


def pizzeria(**fields: Any) -> Menu:
    """A menu of a venue with an open page: a pizza with sizes and extras, a menu with a drink, and water."""
    venue = builders.venue("Pizzeria", timezone="Europe/Rome", currency="EUR")
    OrderingSettings.objects.create(venue=venue, **({"is_page_open": True} | fields))
    menu = builders.menu(venue, acqua="3.00", menu="14.00")
    pizza = menu.items.get(ref="margherita")
    pizza.allergens, pizza.diets = ["gluten", "milk"], ["vegetarian"]
    pizza.translations = {"da": {"name": "Pizza med tomat", "description": "Tomat og mozzarella"}}
    pizza.save()
    size = menu.modifier_groups.create(ref="size", name="Size", min_choices=1, translations={"da": {"name": "Str"}})
    size.modifiers.create(menu=menu, ref="small", name="Small", is_default=True)
    size.modifiers.create(
        menu=menu, ref="large", name="Large", price_delta="3.00", translations={"da": {"name": "Stor"}}
    )
    extras = menu.modifier_groups.create(ref="extras", name="Extras", max_choices=2)
    for position, ref in enumerate(("olives", "cheese", "ham")):
        extras.modifiers.create(menu=menu, ref=ref, name=ref.title(), price_delta="1.50", position=position)
    for position, group in enumerate((size, extras)):
        pizza.item_modifier_groups.create(menu=menu, group=group, position=position)
    ice = menu.modifier_groups.create(ref="ice", name="Ice", min_choices=1)
    ice.modifiers.create(menu=menu, ref="with-ice", name="With ice")
    ice.modifiers.create(menu=menu, ref="no-ice", name="No ice", is_default=True, position=1)
    drink = menu.modifier_groups.create(ref="drink", name="Drink", min_choices=1)
    drink.modifiers.create(menu=menu, ref="cola", name="Cola", nested_group=ice)
    drink.modifiers.create(menu=menu, ref="juice", name="Juice", position=1)
    menu.items.get(ref="menu").item_modifier_groups.create(menu=menu, group=drink)
    return menu


@pytest.fixture
def menu(db: None) -> Menu:
    return pizzeria()


class Guest:
    """A guest who reads the page and presses its buttons."""

    def __init__(self, menu: Menu, query: str = "", *, at: datetime = NOW, language: str = "en") -> None:
        self.client = Client(enforce_csrf_checks=True, headers={"accept-language": language})
        self.path = f"/order/{menu.venue.public_id}"
        self.at = at
        self.get(self.path + query)

    def get(self, path: str) -> None:
        """Open an address."""
        with time_machine.travel(self.at, tick=False):
            self.response = self.client.get(path)

    def press(self, button: str, **changes: Any) -> Any:
        """Change fields and press a button, three seconds later."""
        self.at += timedelta(seconds=3)
        values = Fields(self.response.content.decode()).values | changes
        with time_machine.travel(self.at, tick=False):
            self.response = self.client.post(self.path, values | {"do": button})
        return self.response

    def follow(self) -> None:
        """Follow the redirect after the order."""
        assert self.response.status_code == 302, self.words
        self.get(self.response["Location"])

    @property
    def words(self) -> str:
        """The text of the page without its markup."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.response.content.decode())).split())


def entered(**changes: Any) -> dict[str, Any]:
    return {"name": "Ada Lovelace", "phone": "06 1234 5678"} | changes


def at_checkout(menu: Menu, query: str = "", **options: Any) -> Guest:
    """A guest with a water in the basket at the checkout."""
    guest = Guest(menu, query, **options)
    guest.press("add:acqua")
    guest.press("checkout")
    return guest


def test_a_guest_at_a_table_orders_dishes_with_extras_and_sees_the_order(menu: Menu) -> None:
    guest = Guest(menu, "?table=7")
    assert "Order at table 7 of Pizzeria" in guest.words
    assert "Your order Your dishes appear here." in guest.words
    assert "Contains: gluten, milk" in guest.words
    guest.press("open:margherita")
    assert "Size Choose 1." in guest.words
    guest.press("choose:margherita", **{"group-size": "large", "group-extras": ["olives", "cheese"]}, quantity="2")
    basket = "Margherita Large, Olives, Cheese €31.00"
    assert f"{basket} Added: Margherita. View order: 2 dishes, €31.00" in guest.words
    guest.press("open:menu")
    guest.press("choose:menu", **{"group-drink": "cola", "nested-cola": "with-ice"}, notes="No straw")
    guest.press("checkout")
    assert "Large, Olives, Cheese" in guest.words
    assert "Cola, With ice No straw" in guest.words
    guest.press("place", **entered(tip="10"))
    guest.follow()
    assert "Order 1 The restaurant has received your order. Expected at 18:15" in guest.words
    assert "At table 7. You pay at the restaurant: Cash." in guest.words
    assert "Tip €4.50 Total €49.50" in guest.words
    assert guest.client.cookies == {}
    order = Order.objects.with_items().get()
    assert (order.channel, order.fulfilment, order.table) == ("page", Fulfilment.DINE_IN, "7")
    assert (order.contact_name, order.contact_phone) == ("Ada Lovelace", "+390612345678")
    assert (order.total, order.tip, order.payment_method) == (Decimal("49.5"), Decimal("4.5"), "cash")
    first, second = order.items.all()
    assert [each["id"] for each in first.modifiers] == ["large", "olives", "cheese"]
    assert [each["id"] for each in second.modifiers[0]["modifiers"]] == ["with-ice"]
    assert second.notes == "No straw"


def test_the_page_is_in_danish_for_those_who_read_danish(menu: Menu) -> None:
    guest = Guest(menu, language="da-DK,en;q=0.5")
    assert guest.response["Content-Language"] == "da"
    assert "Pizza med tomat Tomat og mozzarella 9,50 € vegetarisk Indeholder: gluten, mælk" in guest.words
    assert "Til afhentning, klar om cirka 15 minutter" in guest.words
    guest.press("open:margherita")
    assert "Stor +3,00 €" in guest.words
    guest.press("choose:margherita", **{"group-size": "large"})
    guest.press("checkout")
    guest.press("place", name="", phone="06 1234 5678")
    assert guest.response.status_code == 400
    assert "Dette felt er påkrævet." in guest.words
    guest.press("place", name="Ada")
    guest.follow()
    assert "Bestilling 1 Restauranten har modtaget din bestilling. Ventes klar kl. 18.15" in guest.words
    assert "Pizza med tomat Stor 12,50 €" in guest.words
    # The kitchen reads the names of the menu.
    assert Order.objects.get().items.get().name == "Margherita"


@pytest.mark.exhaustive
def test_a_guest_chooses_the_language_and_keeps_the_basket(menu: Menu) -> None:
    guest = Guest(menu, "?lang=da", language="en")
    assert "Bestil hos" in guest.words
    guest.press("add:acqua")
    assert "Lagt i kurven: Acqua." in guest.words
    guest.press("checkout", lang=["da", "en"])
    assert "As soon as possible, about 18:16" in guest.words
    assert Guest(menu, language="fi").response["Content-Language"] == "en"


def test_the_staff_see_english_after_a_danish_guest(menu: Menu) -> None:
    Guest(menu, "?lang=da")
    MenuItem.objects.filter(ref="acqua").update(is_available=False)
    response = builders.client(menu.venue).post(
        "/api/v1/orders", builders.order_body(items=[{"menu_item_id": "acqua", "quantity": 1}]), "application/json"
    )
    assert builders.problems_of(response) == [("items[0].menu_item_id", "`acqua` is not available.")]


def by_id(texts: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The texts with their plural forms."""
    return {as_tuple(text.id): as_tuple(text.string) for text in texts if text.id}


def as_tuple(forms: Any) -> tuple[str, ...]:
    return (forms,) if isinstance(forms, str) else tuple(forms)


def test_all_texts_are_translated_and_compiled() -> None:
    folder = Path(settings.BASE_DIR) / "locale" / "da" / "LC_MESSAGES"
    with (folder / "django.po").open("rb") as source, (folder / "django.mo").open("rb") as compiled:
        texts, loaded = read_po(source, locale="da"), read_mo(compiled)
    assert [text.id for text in texts if text.id and (text.fuzzy or not text.string)] == []
    # uv run pybabel compile -D django -d locale
    assert by_id(loaded) == by_id(texts)


def test_choices_are_checked_at_their_group(menu: Menu) -> None:
    guest = Guest(menu)
    guest.press("open:margherita")
    guest.press("choose:margherita", **{"group-extras": ["olives", "cheese", "ham"]}, quantity="0", notes="Well done")
    assert guest.response.status_code == 400
    assert guest.words.count("Choose up to 2.") == 2
    assert "Enter a number from 1 to 99." in guest.words
    assert Fields(guest.response.content.decode()).values["notes"] == ["Well done"]
    guest.press("choose:margherita", **{"group-extras": ["ham"]}, quantity="1")
    assert "View order: 1 dish, €11.00" in guest.words


def test_a_dish_that_is_sold_out_cannot_be_added_and_is_named_at_its_line(menu: Menu) -> None:
    guest, other = at_checkout(menu), Guest(menu)
    MenuItem.objects.filter(ref="acqua").update(sold_out_on=date(2031, 5, 5))
    other.press("add:acqua")
    assert (other.response.status_code, "This dish is not available." in other.words) == (409, True)
    assert "Sold out today" in other.words
    guest.press("place", **entered(tip="5"))
    assert guest.response.status_code == 409
    assert "Please remove this dish: sold out today." in guest.words
    assert Fields(guest.response.content.decode()).values["name"] == ["Ada Lovelace"]
    assert Fields(guest.response.content.decode()).values["tip"] == ["5"]
    assert not Order.objects.exists()


def test_a_changed_price_is_shown_before_the_order_is_placed(menu: Menu) -> None:
    guest = at_checkout(menu)
    MenuItem.objects.filter(ref="acqua").update(price="4.00")
    guest.press("place", **entered())
    assert guest.response.status_code == 409
    assert "The price of your order has changed." in guest.words
    guest.press("place")
    guest.follow()
    assert "Total €4.00" in guest.words


@pytest.mark.exhaustive
def test_a_form_that_is_submitted_again_places_one_order(menu: Menu) -> None:
    guest = at_checkout(menu)
    form = guest.response
    first = guest.press("place", **entered())["Location"]
    guest.response = form
    # The price has changed meanwhile, but not that of this order.
    MenuItem.objects.update(price="8.00", is_available=False)
    assert guest.press("place", **entered())["Location"] == first
    MenuItem.objects.update(is_available=True)
    guest.response = form
    guest.press("place", **entered(name="Grace Hopper"))
    assert guest.response.status_code == 409
    assert "This form has already placed an order." in guest.words
    guest.press("place")
    assert Order.objects.count() == 2


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_four_equal_submissions_at_once_one_places_an_order() -> None:
    guest = at_checkout(pizzeria())
    values = Fields(guest.response.content.decode()).values | entered() | {"do": "place"}
    barrier = Barrier(4)

    def send() -> str:
        barrier.wait()
        try:
            return str(Client().post(guest.path, values)["Location"])
        finally:
            connection.close()

    with time_machine.travel(NOW + timedelta(minutes=1), tick=False), ThreadPoolExecutor(4) as pool:
        addresses = {future.result() for future in [pool.submit(send) for _ in range(4)]}
    assert len(addresses) == 1
    assert Order.objects.count() == 1


@pytest.mark.exhaustive
def test_a_later_time_is_chosen_among_those_that_are_free(db: None) -> None:
    menu = pizzeria(orders_per_slot=1)
    guest = at_checkout(menu)
    times = re.findall(r'<option value="(2031[^"]+)"', guest.response.content.decode())
    assert times[0] == "2031-05-05T18:30:00+02:00"
    other = at_checkout(menu)
    other.press("place", **entered(phone="06 8765 4321", when=times[0]))
    guest.press("place", **entered(when=times[0]))
    assert guest.response.status_code == 409
    assert "The kitchen cannot take more orders for this time. Choose another time." in guest.words
    assert times[0] not in guest.response.content.decode()
    guest.press("place", when=times[1])
    guest.follow()
    assert "Expected at 18:45" in guest.words


@pytest.mark.parametrize("when", ["2031-05-05T17:00:00+02:00", "2031-05-05T18:30:00", "soon", "2033-05-05T18:30:00Z"])
def test_a_time_that_is_not_offered_is_refused_at_its_field(menu: Menu, when: str) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered(when=when))
    assert guest.response.status_code in (400, 409)
    assert "Choose a" in guest.words
    assert not Order.objects.exists()


@pytest.mark.exhaustive
def test_a_phone_has_at_most_five_open_orders(menu: Menu) -> None:
    for _ in range(online_orders.MAX_OPEN):
        at_checkout(menu).press("place", **entered())
    guest = at_checkout(menu)
    guest.press("place", **entered())
    assert guest.response.status_code == 409
    assert "You have 5 open orders" in guest.words
    commands.change_status(Order.objects.earliest("number"), "completed", now=NOW, actor="system")
    assert guest.press("place").status_code == 302


def test_an_address_places_a_limited_number_of_orders(menu: Menu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_orders, "MAX_PER_HOUR", 1)
    assert at_checkout(menu).press("place", **entered()).status_code == 302
    guest = at_checkout(menu)
    assert guest.press("place", **entered(phone="06 8765 4321")).status_code == 429
    assert "Too many orders came from your connection." in guest.words


def test_refused_orders_do_not_count_to_the_limit_of_an_address(menu: Menu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_orders, "MAX_PER_HOUR", 1)
    guest = at_checkout(menu)
    form = guest.response
    MenuItem.objects.update(is_available=False)
    for _ in range(3):
        guest.response = form
        assert guest.press("place", **entered()).status_code == 409
    MenuItem.objects.update(is_available=True)
    guest.response = form
    assert guest.press("place", **entered()).status_code == 302
    # Nor does a form that is submitted again.
    guest.response = form
    assert guest.press("place", **entered()).status_code == 302
    assert at_checkout(menu).press("place", **entered()).status_code == 429


def test_refused_orders_have_a_higher_limit_of_their_own(menu: Menu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_orders, "MAX_ATTEMPTS_PER_HOUR", 2)
    guest = at_checkout(menu)
    MenuItem.objects.update(is_available=False)
    assert [guest.press("place", **entered()).status_code for _ in range(3)] == [409, 409, 429]
    assert "Too many orders came from your connection." in guest.words


# Hours, pauses and the orders that wait
def closed_until(opening: str, menu: Menu, **fields: Any) -> None:
    builders.period(menu.venue, first=opening, last="22:00", **fields)


def test_outside_of_its_hours_the_page_says_when_it_opens_and_takes_orders_for_later(menu: Menu) -> None:
    closed_until("19:00", menu)
    guest = Guest(menu, "?table=7")
    assert "Closed now. You can order for pick-up from 19:00." in guest.words
    assert 'value="add:acqua"' in guest.response.content.decode()
    guest.press("add:acqua")
    guest.press("checkout")
    assert "At the table" not in guest.words
    times = re.findall(r'<option value="(2031[^"]+)"', guest.response.content.decode())
    assert (times[0], times[-1]) == ("2031-05-05T19:00:00+02:00", "2031-05-05T22:00:00+02:00")
    guest.press("place", **entered())
    assert (guest.response.status_code, Order.objects.exists()) == (400, False)
    assert "Choose a time." in guest.words
    guest.press("place", when=times[0])
    guest.follow()
    assert "Expected at 19:00" in guest.words


@pytest.mark.parametrize("when", ["2031-05-05T18:45:00+02:00", "2031-05-05T22:30:00+02:00"])
def test_a_time_outside_of_the_hours_is_refused_at_its_field(menu: Menu, when: str) -> None:
    closed_until("19:00", menu)
    guest = at_checkout(menu)
    guest.press("place", **entered(when=when))
    assert (guest.response.status_code, Order.objects.exists()) == (409, False)
    assert "The kitchen cannot take more orders for this time. Choose another time." in guest.words


def test_within_its_hours_the_page_takes_orders_until_a_day_from_now(menu: Menu) -> None:
    closed_until("12:00", menu)
    guest = at_checkout(menu, "?table=7")
    assert "closed" not in guest.words
    assert "Expected at 18:16" in guest.words
    assert "Tue, May 6, 12:00" in guest.words
    assert guest.press("place", **entered()).status_code == 302


def times_of(guest: Guest) -> list[str]:
    return re.findall(r'<option value="(2031[^"]+)"', guest.response.content.decode())


@pytest.mark.exhaustive
def test_guests_at_a_table_order_until_the_end_of_the_longest_stay_and_pick_up_ends_before(menu: Menu) -> None:
    builders.period(menu.venue, first="12:00", last="17:00", turn_more_min=150)
    at_table = at_checkout(menu, "?table=7", at=NOW + timedelta(hours=1, minutes=29))
    assert "closed" not in at_table.words
    assert "Expected at 19:45" in at_table.words
    assert at_table.press("place", **entered()).status_code == 302
    pickup = at_checkout(menu, at=NOW)
    assert "Closed now. You can order for pick-up from Tue, May 6, 12:00." in pickup.words
    assert pickup.press("place", **entered()).status_code == 400
    assert "At the table" not in at_checkout(menu, "?table=7", at=NOW + timedelta(hours=1, minutes=30)).words


@pytest.mark.exhaustive
def test_no_order_is_promised_for_a_kitchen_that_has_closed(db: None) -> None:
    menu = pizzeria(orders_per_slot=1)
    builders.period(
        menu.venue, first="12:00", last="18:00", turn_2_min=15, turn_4_min=15, turn_6_min=15, turn_more_min=15
    )
    # Open until 18:15, so the last order is ready at 18:30.
    guests = [at_checkout(menu, query) for query in ("", "", "?table=7")]
    assert "As soon as possible, about 18:16" in guests[0].words
    for _ in range(2):
        builders.order(menu.venue, items=[{"menu_item_id": "acqua", "quantity": 1}], now=NOW)
    assert Order.objects.latest("promised_at").promised_at == NOW + timedelta(minutes=30)
    for guest, words in zip(
        guests[1:], ("for this time. Choose another time.", "at the moment. Please try again later."), strict=True
    ):
        guest.press("place", **entered())
        assert (guest.response.status_code, Order.objects.count()) == (409, 2)
        assert words in guest.words
    assert "As soon as possible" not in at_checkout(menu).words


@pytest.mark.exhaustive
def test_a_dish_that_is_served_later_is_ordered_for_then(menu: Menu) -> None:
    MenuCategory.objects.update(served_from=time(20), served_until=time(21))
    guest = at_checkout(menu)
    assert "Please remove this dish" not in guest.words
    assert "As soon as possible" not in guest.words
    times = times_of(guest)
    assert (times[0], times[-1]) == ("2031-05-05T20:00:00+02:00", "2031-05-05T20:45:00+02:00")
    assert guest.press("place", **entered()).status_code == 400
    assert "Choose a time." in guest.words
    guest.press("place", when="2031-05-05T19:00:00+02:00")
    assert guest.response.status_code == 409
    assert "Please remove this dish: served from 20:00 to 21:00." in guest.words
    assert guest.press("place", when=times[0]).status_code == 302
    at_table = Guest(menu, "?table=7")
    assert at_table.press("add:acqua").status_code == 409


def test_a_dish_that_is_sold_out_until_a_moment_is_ordered_for_later(menu: Menu) -> None:
    MenuItem.objects.update(sold_out_until=NOW + timedelta(hours=1))
    guest = Guest(menu)
    assert "Sold out until 19:00" in guest.words
    guest.press("add:acqua")
    guest.press("checkout")
    assert times_of(guest)[0] == "2031-05-05T19:00:00+02:00"


def test_each_time_that_is_offered_is_accepted(menu: Menu) -> None:
    OrderingSettings.objects.update(prep_minutes=120)
    closed_until("12:00", menu)
    guest = at_checkout(menu)
    assert times_of(guest)[-1] == "2031-05-06T18:00:00+02:00"
    assert guest.press("place", **entered(when=times_of(guest)[-1])).status_code == 302


def test_a_day_ahead_is_24_hours_also_when_the_clock_is_put_back() -> None:
    rome = ZoneInfo("Europe/Rome")
    now, next_day = datetime(2031, 10, 25, 12, tzinfo=rome), datetime(2031, 10, 26, tzinfo=rome)
    hours = Hours([(now, now + timedelta(days=2))])
    assert hours.includes_later(next_day.replace(hour=11), now=now)
    assert not hours.includes_later(next_day.replace(hour=12), now=now)


def test_an_order_that_was_forgotten_on_another_day_does_not_wait(db: None) -> None:
    menu = pizzeria(max_waiting_orders=1)
    builders.order(
        menu.venue, items=[{"menu_item_id": "acqua", "quantity": 1}], channel="page", now=NOW - timedelta(days=1)
    )
    assert at_checkout(menu).press("place", **entered()).status_code == 302
    assert at_checkout(menu).press("place", **entered()).status_code == 409


def test_a_venue_without_service_on_this_day_names_the_next(menu: Menu) -> None:
    # 2031-05-05 is a Monday.
    closed_until("18:00", menu, weekdays=[4])
    guest = Guest(menu, language="da")
    assert "Restauranten har lukket nu og åbner igen: fre. 9. maj, 18.00." in guest.words
    guest.press("add:acqua")
    guest.press("checkout")
    guest.press("place", **entered())
    assert (guest.response.status_code, Order.objects.exists()) == (400, False)


def test_the_api_takes_orders_outside_of_the_hours_of_the_page(menu: Menu) -> None:
    closed_until("19:00", menu)
    with time_machine.travel(NOW, tick=False):
        body = builders.order_body(items=[{"menu_item_id": "acqua", "quantity": 1}])
        answer = builders.client(menu.venue).post("/api/v1/orders", body, "application/json")
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("until", "message"),
    [
        (NOW + timedelta(minutes=30), "The restaurant takes no online orders until 18:30."),
        (None, "The restaurant takes no online orders at the moment."),
    ],
)
def test_a_paused_page_shows_the_menu_and_takes_no_orders(menu: Menu, until: datetime | None, message: str) -> None:
    guest = at_checkout(menu)
    OrderingSettings.objects.update(paused_at=NOW, paused_until=until)
    guest.press("place", **entered())
    assert (guest.response.status_code, Order.objects.exists()) == (409, False)
    assert message in guest.words
    paused = Guest(menu)
    assert message in paused.words
    assert 'value="add:' not in paused.response.content.decode()
    later = at_checkout(menu, at=NOW + timedelta(minutes=31))
    assert later.press("place", **entered()).status_code == (302 if until else 409)


def test_the_page_takes_no_more_orders_than_may_wait(db: None) -> None:
    menu = pizzeria(max_waiting_orders=1)
    # Orders over the API do not count.
    builders.order(menu.venue, items=[{"menu_item_id": "acqua", "quantity": 1}])
    assert at_checkout(menu).press("place", **entered()).status_code == 302
    guest = at_checkout(menu)
    guest.press("place", **entered())
    assert guest.response.status_code == 409
    assert "Many orders wait in the kitchen. Please try again in a few minutes" in guest.words
    commands.change_stage(Order.objects.get(channel="page"), "accepted", now=guest.at, actor="system")
    assert guest.press("place").status_code == 302


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_four_orders_at_once_no_more_are_taken_than_may_wait() -> None:
    menu = pizzeria(max_waiting_orders=2)
    guests = [at_checkout(menu) for _ in range(4)]
    forms = [
        Fields(guest.response.content.decode()).values | entered(phone=f"06 1234 567{nth}") | {"do": "place"}
        for nth, guest in enumerate(guests)
    ]
    barrier = Barrier(4)

    def send(values: Any) -> int:
        barrier.wait()
        try:
            return int(Client().post(guests[0].path, values).status_code)
        finally:
            connection.close()

    with time_machine.travel(NOW + timedelta(minutes=1), tick=False), ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(send, forms))
    assert statuses == [302, 302, 409, 409]


def test_a_price_that_changes_while_the_order_is_placed_is_shown_first(
    menu: Menu, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = at_checkout(menu)
    place_order = commands.place_order

    def changed_before(*args: Any, **options: Any) -> Any:
        MenuItem.objects.update(price="4.00")
        return place_order(*args, **options)

    monkeypatch.setattr(commands, "place_order", changed_before)
    guest.press("place", **entered())
    assert (guest.response.status_code, Order.objects.exists()) == (409, False)
    assert "The price of your order has changed." in guest.words
    monkeypatch.undo()
    assert guest.press("place").status_code == 302


@pytest.mark.parametrize("quoted", ["", "free", "-3.00", "NaN", "None"])
def test_a_total_that_was_never_shown_is_refused(menu: Menu, quoted: str) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered(quoted=quoted))
    assert (guest.response.status_code, Order.objects.exists()) == (409, False)


# A line of the basket
def test_the_choices_of_a_line_are_changed_in_the_basket(menu: Menu) -> None:
    guest = Guest(menu)
    guest.press("open:menu")
    guest.press("choose:menu", **{"group-drink": "cola", "nested-cola": "with-ice"}, notes="No straw", quantity="2")
    guest.press("add:acqua")
    guest.press("checkout")
    guest.press("edit:0")
    values = Fields(guest.response.content.decode()).values
    assert (values["group-drink"], values["nested-cola"]) == (["cola"], ["with-ice"])
    assert (values["notes"], values["quantity"]) == (["No straw"], ["2"])
    # In another language it is still this line.
    guest.press("", lang="da")
    assert "Gem" in guest.words
    guest.press("choose:menu", **{"group-drink": "juice"}, notes="", quantity="3")
    assert "Juice" in guest.words
    assert "Cola" not in guest.words
    guest.press("place", **entered())
    first, second = Order.objects.get().items.order_by("position")
    assert (first.quantity, first.notes, [each["id"] for each in first.modifiers]) == (3, "", ["juice"])
    assert (second.menu_item_id, second.quantity) == ("acqua", 1)


@pytest.mark.exhaustive
def test_choices_that_a_guest_has_removed_stay_removed_in_an_edited_line(menu: Menu) -> None:
    extras = menu.modifier_groups.get(ref="extras")
    extras.modifiers.filter(ref="olives").update(is_default=True)
    menu.items.get(ref="acqua").item_modifier_groups.create(menu=menu, group=extras)
    guest = Guest(menu)
    guest.press("open:acqua")
    assert Fields(guest.response.content.decode()).values["group-extras"] == ["olives"]
    guest.press("choose:acqua", **{"group-extras": []})
    guest.press("checkout")
    guest.press("edit:0")
    assert "group-extras" not in Fields(guest.response.content.decode()).values
    guest.press("choose:acqua")
    assert guest.press("place", **entered()).status_code == 302
    assert Order.objects.get().items.get().modifiers == []


@pytest.mark.parametrize("line", ["1", "7", "x", "-1"])
def test_a_line_that_is_not_in_the_basket_is_not_changed(menu: Menu, line: str) -> None:
    guest = at_checkout(menu)
    guest.press(f"edit:{line}")
    assert "Your order" in guest.words
    guest.press("menu")
    guest.press("choose:acqua", line=line)
    assert "View order: 2 dishes" in guest.words


def test_the_time_of_an_order_for_tomorrow_has_its_date(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered())
    Order.objects.update(promised_at=NOW + timedelta(days=1))
    guest.follow()
    assert "Expected at Tue, May 6, 18:00" in guest.words


def test_the_link_of_an_order_expires_thirty_days_after_its_end(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered())
    guest.follow()
    path = guest.response.wsgi_request.get_full_path()
    commands.change_status(Order.objects.get(), "completed", now=NOW, actor="system")
    guest.at = NOW + timedelta(days=30)
    guest.get(path)
    assert "Enjoy your meal!" in guest.words
    guest.at += timedelta(seconds=1)
    guest.get(path)
    assert guest.response.status_code == 410
    assert "This link has expired Your order was finished more than 30 days ago." in guest.words


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phone": "12"}, "This is not a phone number."),
        ({"website": "https://spam.example"}, "Please check your order."),
        ({"fulfilment": "dine_in"}, "Enter the number of your table."),
        ({"fulfilment": "delivery"}, "Select a valid choice."),
        ({"payment": "voucher"}, "Select a valid choice."),
        ({"tip": "90"}, "Select a valid choice."),
        ({"form": "forged"}, "This page has expired."),
        ({"name": "a" * 201}, "Ensure this value has at most 200 characters"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_placed(menu: Menu, changes: dict[str, str], message: str) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered(**changes))
    assert guest.response.status_code in (400, 409)
    assert message in guest.words
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    "basket",
    ["", "[", "{}", "[1]", '[{"menu_item_id": "acqua"}]', "[" * 5000, "9" * 200_000, '[{"quantity": 1e400}]', "\x00"],
)
def test_a_basket_that_is_not_of_this_page_is_empty(menu: Menu, basket: str) -> None:
    guest = Guest(menu)
    assert guest.press("checkout", basket=basket).status_code == 200
    assert "Your dishes appear here." in guest.words


@pytest.mark.parametrize(
    "button", ["open:nothing", "add:nothing", "increase:9", "remove:x", "unknown", "place", "add:margherita\x00", ":"]
)
def test_an_unknown_button_leads_to_the_menu(menu: Menu, button: str) -> None:
    guest = Guest(menu)
    assert guest.press(button).status_code in (200, 409)
    assert "Margherita" in guest.words


@pytest.mark.exhaustive
def test_a_line_is_changed_and_the_last_one_removed(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("increase:0", name="Ada")
    assert "Order for €6.00" in guest.words
    guest.press("menu")
    guest.press("add:acqua")
    guest.press("checkout")
    assert "Order for €9.00" in guest.words
    assert Fields(guest.response.content.decode()).values["name"] == ["Ada"]
    guest.press("decrease:0")
    guest.press("remove:0")
    assert "Order at Pizzeria" in guest.words


def test_the_guest_chooses_among_what_the_venue_offers(db: None) -> None:
    menu = pizzeria(page_fulfilments=["pickup"])
    menu.venue.payment_methods = ["card", "online"]
    menu.venue.save()
    guest = at_checkout(menu, "?table=7")
    text = guest.response.content.decode()
    assert re.findall(r'name="(?:fulfilment|payment)" value="(\w+)"', text) == ["pickup", "card"]
    assert 'name="table" type' not in text


@pytest.mark.exhaustive
def test_the_page_of_the_order_follows_the_kitchen(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered())
    guest.follow()
    assert guest.response["Refresh"] == "10"
    assert guest.response["Cache-Control"] == "no-store, private"
    path = guest.response.wsgi_request.get_full_path()
    order = Order.objects.get()
    for stage, words in (
        ("accepted", "Your order is being prepared."),
        ("ready", "Your order is ready. Please pick it up."),
        ("handed_over", "Enjoy your meal!"),
    ):
        commands.change_stage(Order.objects.get(), stage, now=guest.at, actor="system")
        guest.get(path)
        assert words in guest.words
    assert "Refresh" not in guest.response
    guest.get(path + "&refresh=off")
    water = [{"menu_item_id": "acqua", "quantity": 1}]
    other = builders.order(menu.venue, items=water, status="cancelled", now=guest.at)
    guest.get(f"{guest.path}/placed/{links.token_of(other.public_id)}")
    assert "This order is cancelled. Please ask the restaurant." in guest.words
    for token in (order.public_id, links.token_of(order.public_id)[:-1], "x"):
        guest.get(f"{guest.path}/placed/{token}")
        assert guest.response.status_code == 404
    stranger = builders.venue("Other")
    guest.get(f"/order/{stranger.public_id}/placed/{links.token_of(order.public_id)}")
    assert guest.response.status_code == 404


def test_the_page_asks_less_often_the_longer_nothing_has_happened(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered())
    guest.follow()
    path = guest.response.wsgi_request.get_full_path()
    for minutes, seconds in ((5, "30"), (60, "120")):
        with time_machine.travel(guest.at + timedelta(minutes=minutes), tick=False):
            assert Client().get(path)["Refresh"] == seconds
    with time_machine.travel(guest.at, tick=False):
        stopped = Client().get(path + "&refresh=off")
    assert "Refresh" not in stopped
    assert "Reload by itself" in stopped.content.decode()


@pytest.mark.parametrize("reason", ["closed", "no settings", "no menu", "unpublished", "empty", "account"])
def test_a_page_that_takes_no_orders_says_so(menu: Menu, reason: str) -> None:
    venue = menu.venue
    if reason == "closed":
        OrderingSettings.objects.update(is_page_open=False)
    elif reason == "no settings":
        OrderingSettings.objects.all().delete()
    elif reason == "no menu":
        menu.delete()
    elif reason == "unpublished":
        Menu.objects.update(is_published=False)
    elif reason == "empty":
        for row in MenuItem.objects.all():
            row.delete()
    else:
        venue.account.closed_at = NOW
        venue.account.save()
    response = Client().get(f"/order/{venue.public_id}")
    assert response.status_code == 404
    assert "Online orders are closed" in response.content.decode()
    for unknown in ("ven_01jd5k3v8rf8hb2m0c9t6w4y7z", "x"):
        assert Client().get(f"/order/{unknown}").status_code == 404


def test_texts_of_others_are_shown_as_text(menu: Menu) -> None:
    MenuItem.objects.filter(ref="acqua").update(name=XSS, description=XSS)
    guest = at_checkout(menu, f"?table={XSS}")
    guest.press("place", **entered(name=XSS, fulfilment="dine_in"))
    guest.follow()
    assert "<script" not in guest.response.content.decode()
    assert XSS in guest.words
    assert "script-src" not in guest.response["Content-Security-Policy"]


def test_the_menu_and_the_checkout_cost_a_few_queries(menu: Menu) -> None:
    with costing(8):
        guest = Guest(menu)
    with costing(12):
        guest.press("add:acqua")
    with costing(8):
        guest.press("checkout")


@pytest.mark.parametrize("when", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_at_the_end_of_the_calendar_is_refused_at_its_field(menu: Menu, when: str) -> None:
    guest = at_checkout(menu)
    guest.press("place", **entered(when=when))
    assert (guest.response.status_code, Order.objects.exists()) == (400, False)
    assert "Choose a time." in guest.words


def test_the_total_contains_the_chosen_tip(menu: Menu) -> None:
    guest = at_checkout(menu)
    guest.press("checkout", tip="10")
    assert "Tip €0.30 Total €3.30" in guest.words
    assert "Order for €3.30" in guest.words


def test_a_note_with_a_control_character_is_refused_and_the_basket_stays(menu: Menu) -> None:
    guest = Guest(menu)
    guest.press("add:acqua")
    guest.press("open:margherita")
    guest.press("choose:margherita", **{"group-size": "large"}, notes="no\vbasil")
    assert guest.response.status_code == 400
    assert "This note has characters that cannot be used." in guest.words
    guest.press("menu")
    assert "1 dish" in guest.words


@pytest.mark.parametrize(("currency", "price", "shown"), [("HUF", "10.55", "10.55"), ("JPY", "950", "¥950")])
def test_amounts_have_the_decimals_that_are_charged(db: None, currency: str, price: str, shown: str) -> None:
    menu = pizzeria()
    menu.modifiers.all().delete()
    menu.items.all().delete()
    Venue.objects.update(currency=currency)
    builders.dish(menu, "soup", price)
    assert shown in Guest(menu).words


def test_a_page_with_only_delivery_in_its_settings_still_opens(menu: Menu) -> None:
    OrderingSettings.objects.update(page_fulfilments=["delivery"])
    assert at_checkout(menu).response.status_code == 200


@pytest.mark.parametrize("charset", ["hex", "utf-7", "no-such"])
def test_a_request_in_another_charset_is_read_as_utf_8(menu: Menu, charset: str) -> None:
    response = Client().get(
        f"/order/{menu.venue.public_id}?table=%2B2AA-", content_type=f"text/plain; charset={charset}"
    )
    assert response.status_code == 200
    assert "+2AA-" in response.content.decode()
