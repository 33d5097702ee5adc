"""Every way to write a menu stores the same events, in the order of the changes."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import Event, Venue
from orders.menu import photos, stock
from orders.models import MenuItem, MenuUpload
from tests.orders.api.test_menu_writing import dish, document, events, put
from tests.support import builders, users
from tests.support.html import form_of
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db
Write = Callable[[Client, Venue, dict[str, Any]], None]


def put_menu(api: Client, venue: Venue, changes: dict[str, Any]) -> None:
    read = api.get("/api/v1/menu").json()
    read["categories"][0]["items"][0] |= changes
    assert put(api, read).status_code == 200


def upload_file(api: Client, venue: Venue, changes: dict[str, Any]) -> None:
    manager = users.member(venue, "manager")
    root = f"/dashboard/{venue.public_id}/menu"
    text = f"id,name,category,price,stock\nmargherita,Margherita,Dishes,9.50,{changes['stock']}\n"
    file = SimpleUploadedFile("menu.csv", text.encode())
    preview = manager.post(f"{root}/upload", {"file": file}, follow=True)
    version = preview.context["plan"].version
    assert manager.post(f"{root}/upload/{MenuUpload.objects.get().pk}", {"version": version}).status_code == 302


def save_form(api: Client, venue: Venue, changes: dict[str, Any]) -> None:
    manager = users.member(venue, "manager")
    path = f"/dashboard/{venue.public_id}/menu/items/{MenuItem.objects.get().pk}"
    assert manager.post(path, form_of(manager.get(path), "menu-row") | changes).status_code == 302


def save_in_admin(api: Client, venue: Venue, changes: dict[str, Any]) -> None:
    staff = builders.staff()
    path = f"/admin/orders/menuitem/{MenuItem.objects.get().pk}/change/"
    assert staff.post(path, form_of(staff.get(path), "menuitem_form") | changes).status_code == 302


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", [put_menu, upload_file, save_form, save_in_admin])
def test_a_stock_of_0_makes_a_dish_sold_out_whoever_writes_it(api: Client, venue: Venue, write: Write) -> None:
    builders.menu(venue)
    write(api, venue, {"stock": 0})
    assert events(venue) == [("menu.item_sold_out", "margherita"), ("menu.updated", 1)]
    record = Event.objects.get(type="menu.item_sold_out").record
    assert (record["is_sold_out"], record["stock"], record["sold_out_until"]) == (True, 0, None)


def test_fifty_dishes_that_become_sold_out_are_fifty_events_of_one_statement(venue: Venue) -> None:
    menu = builders.menu(venue)
    for number in range(49):
        builders.dish(menu, f"dish-{number}", "5.00")
    now = timezone.now()
    menu.items.update(stock=0)
    with costing(2):
        stock.record_sold_out(menu.items.all(), actor="system", now=now)
    rows = Event.objects.filter(type="menu.item_sold_out", venue=venue, actor="system", created_at=now)
    assert set(rows.values_list("subject", flat=True)) == set(menu.items.values_list("pk", flat=True))
    assert all(row.record["stock"] == 0 for row in rows)
    with costing(2):
        stock.record_sold_out(menu.items.filter(ref="margherita"), actor="system", now=now)


def test_a_dish_that_was_sold_out_before_a_new_menu_is_no_event(api: Client, venue: Venue) -> None:
    builders.menu(venue).items.update(stock=0)
    put(api, document(dish("Pizza", id="margherita", stock=0)))
    assert events(venue) == [("menu.updated", 1)]


def test_a_cancelled_order_that_brings_a_dish_back_is_an_update_of_the_menu(api: Client, venue: Venue) -> None:
    builders.menu(venue).items.update(stock=2)
    orders = []
    for quantity in (1, 1):
        items = [{"menu_item_id": "margherita", "quantity": quantity}]
        body = builders.order_body(items=items)
        orders.append(api.post("/api/v1/orders", body, content_type="application/json").json()["id"])
    assert events(venue) == [("menu.item_sold_out", "margherita")]
    for order in orders:
        path = f"/api/v1/orders/{order}/status"
        assert api.put(path, {"status": "cancelled"}, content_type="application/json").status_code == 200
    assert events(venue) == [("menu.item_sold_out", "margherita"), ("menu.updated", 1)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", [save_form, save_in_admin])
def test_the_event_of_a_photo_follows_the_photo(
    api: Client,
    venue: Venue,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    builders.menu(venue)
    content = BytesIO()
    Image.new("RGB", (40, 30)).save(content, "PNG")
    seen: list[Any] = []
    set_photo = photos.set_photo

    def note(item: MenuItem, photo: Any) -> bool:
        is_set = set_photo(item, photo)
        seen.append(events(venue))
        return is_set

    monkeypatch.setattr(photos, "set_photo", note)
    with django_capture_on_commit_callbacks(execute=True):
        write(api, venue, {"file": SimpleUploadedFile("a.png", content.getvalue())})
    assert MenuItem.objects.get().photo_id is not None
    assert (seen, events(venue)) == ([[]], [("menu.updated", 1)])
