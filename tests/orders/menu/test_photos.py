"""Photos and allergens of dishes: in the dish form and in the admin, served, replaced and deleted."""

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from accounts.models import Venue
from framework.images import thumbnails
from framework.public_ids import encode, new_id
from orders import tasks
from orders.menu import editing, photos
from orders.models import Allergen, DishPhoto, MenuItem
from tests.support import builders, users
from tests.support.html import form_of

COMMITTED = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of photos for one test."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


@pytest.fixture
def manager(venue: Venue) -> Client:
    return users.member(venue, "manager")


def stored_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def encode_image(image: Image.Image, file_format: str = "JPEG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def picture(colour: str = "red", size: tuple[int, int] = (800, 600)) -> bytes:
    return encode_image(Image.new("RGB", size, colour))


def item_path(item: MenuItem) -> str:
    return f"/dashboard/{item.menu.venue.public_id}/menu/items/{item.pk}"


def dish_form(item: MenuItem, content: bytes | None = None, **fields: Any) -> dict[str, Any]:
    """The form of the dish as a browser sends it."""
    form = {
        "name": item.name,
        "ref": item.ref,
        "category": str(item.category_id),
        "price": "9.50",
        "tax_percent": "10",
        "is_available": "on",
    }
    upload = {} if content is None else {"file": SimpleUploadedFile("dish.jpg", content)}
    return form | upload | fields


def set_photo(item: MenuItem, colour: str = "red") -> UUID:
    """Give the dish a photo with both thumbnails stored, and return the photo's id."""
    editing.replace_photo(item, Image.new("RGB", (800, 600), colour), actor="system", now=timezone.now())
    item.refresh_from_db()
    assert item.photo_id
    for size in thumbnails.SIZES:
        assert photos.load(encode("dish", item.photo_id), size)
    return item.photo_id


# Upload
@pytest.mark.exhaustive
@COMMITTED
def test_an_uploaded_photo_is_served_in_two_sizes_without_metadata(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[2] = (55.0, 40.0, 25.0)
    content = encode_image(Image.new("RGB", (3000, 2000), "red"), exif=exif)
    response = manager.post(item_path(item), dish_form(item, content))
    assert response.status_code == 302, response.context["form"].errors
    item.refresh_from_db()
    assert item.photo_id
    for size, dimensions in (("small", (400, 600)), ("large", (1200, 1800))):
        response = Client().get(f"/photos/{encode('dish', item.photo_id)}/{size}.webp")
        assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
        with Image.open(io.BytesIO(response.content)) as image:
            assert (image.size, dict(image.getexif())) == (dimensions, {})
    path = photos.thumbnail_path(item.photo_id, "small")
    for page in (f"/dashboard/{venue.public_id}/menu", item_path(item), f"/dashboard/{venue.public_id}/menu/preview"):
        assert f'src="{path}"' in manager.get(page).content.decode()


@pytest.mark.exhaustive
@COMMITTED
def test_a_new_dish_has_the_photo_and_allergens_of_its_form(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    form = dish_form(menu.items.get(), picture(), ref="bufala", name="Bufala", allergens=["milk", "gluten"])
    assert manager.post(f"/dashboard/{venue.public_id}/menu/items/new", form).status_code == 302
    item = menu.items.get(ref="bufala")
    assert item.photo_id
    assert sorted(item.allergens) == ["gluten", "milk"]
    for page in ("menu", "menu/preview"):
        assert (
            "cereals containing gluten, milk" in manager.get(f"/dashboard/{venue.public_id}/{page}").content.decode()
        )
    phone = users.member(venue, "manager").get(f"/dashboard/{venue.public_id}/orders/new").content.decode()
    assert 'title="cereals containing gluten, milk">Contains: gluten, milk</span>' in phone


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<svg></svg>", "The file is not a JPEG, PNG or WebP image, or it is broken."),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(4_000), "not a JPEG, PNG or WebP image"),
        (encode_image(Image.effect_noise((300, 300), 90).convert("RGB"))[:4000], "or it is broken."),
        (picture() + bytes(20 * 1024 * 1024), "The file is larger than 15 MB."),
        (encode_image(Image.new("1", (20_000, 20_000)), "PNG"), "The image has more than 50 megapixels."),
        (b"", "The submitted file is empty."),
    ],
    ids=["svg", "heic", "truncated", "20 MB", "bomb", "empty"],
)
def test_an_invalid_photo_is_refused_at_its_field_and_nothing_is_stored(
    manager: Client, venue: Venue, folder: Path, content: bytes, message: str
) -> None:
    item = builders.menu(venue).items.get()
    response = manager.post(item_path(item), dish_form(item, content, name="Regina"))
    assert response.status_code == 400
    assert list(response.context["form"].errors) == ["file"]
    assert message in response.context["form"].errors["file"][0]
    assert message in response.content.decode()
    item.refresh_from_db()
    assert (item.name, item.photo_id, stored_files(folder)) == ("Margherita", None, [])
    assert not DishPhoto.objects.exists()


@COMMITTED
def test_a_replaced_photo_and_a_removed_one_leave_no_file(manager: Client, venue: Venue, folder: Path) -> None:
    item = builders.menu(venue).items.get()
    first = set_photo(item)
    assert len(stored_files(folder)) == 3
    assert manager.post(item_path(item), dish_form(item, picture("blue"))).status_code == 302
    item.refresh_from_db()
    assert item.photo_id not in (None, first)
    assert list(DishPhoto.objects.values_list("pk", flat=True)) == [item.photo_id]
    (file,) = stored_files(folder)
    assert file.name == f"{encode('dish', item.photo_id)}-original.jpg"
    assert manager.get(photos.thumbnail_path(first, "small")).status_code == 404
    assert manager.post(item_path(item), dish_form(item, removes_photo="on")).status_code == 302
    item.refresh_from_db()
    assert item.photo is None
    assert (DishPhoto.objects.count(), stored_files(folder)) == (0, [])


@COMMITTED
def test_of_two_concurrent_uploads_one_photo_stays(venue: Venue, folder: Path) -> None:
    item = builders.menu(venue).items.get()
    barrier = Barrier(2)

    def upload(colour: str) -> None:
        try:
            barrier.wait(10)
            editing.replace_photo(item, Image.new("RGB", (80, 60), colour), actor="system", now=timezone.now())
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(upload, ("red", "blue")))
    item.refresh_from_db()
    assert list(DishPhoto.objects.values_list("pk", flat=True)) == [item.photo_id]
    assert len(stored_files(folder)) == 1


@COMMITTED
def test_saving_a_dish_without_a_file_keeps_its_photo(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    photo = set_photo(item)
    assert manager.post(item_path(item), dish_form(item, name="Regina")).status_code == 302
    item.refresh_from_db()
    assert (item.name, item.photo_id) == ("Regina", photo)


@pytest.mark.exhaustive
def test_only_those_who_edit_the_menu_upload_photos(venue: Venue, other_venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    statuses = {
        role: users.member(venue, role).post(item_path(item), dish_form(item, picture())).status_code
        for role in ("owner", "manager", "host", "kitchen")
    }
    assert statuses == {"owner": 302, "manager": 302, "host": 403, "kitchen": 403}
    assert users.member(other_venue, "manager").post(item_path(item), dish_form(item)).status_code == 404
    assert Client().post(item_path(item), dish_form(item)).status_code == 302


# Deletion
def delete_on_the_dashboard(manager: Client, item: MenuItem) -> None:
    assert manager.post(f"{item_path(item)}/remove").status_code == 302


def delete_by_file(manager: Client, item: MenuItem) -> None:
    content = b"id,name,category,price\nbufala,Bufala,Dishes,9.50\n"
    root = f"/dashboard/{item.menu.venue.public_id}/menu"
    page = manager.post(f"{root}/upload", {"file": SimpleUploadedFile("menu.csv", content)}, follow=True)
    form = {"version": page.context["plan"].version, "removes_missing": "on"}
    assert manager.post(page.redirect_chain[-1][0], form).status_code == 302


def delete_in_the_admin(_: Client, item: MenuItem) -> None:
    assert builders.staff().post(f"/admin/orders/menuitem/{item.pk}/delete/", {"post": "yes"}).status_code == 302


def delete_in_the_admins_list(_: Client, item: MenuItem) -> None:
    form = {"action": "delete_selected", "_selected_action": [str(item.pk)], "post": "yes"}
    assert builders.staff().post("/admin/orders/menuitem/", form).status_code == 302


@pytest.mark.exhaustive
@COMMITTED
@pytest.mark.parametrize(
    "delete", [delete_on_the_dashboard, delete_by_file, delete_in_the_admin, delete_in_the_admins_list]
)
def test_the_photo_of_a_deleted_dish_is_deleted(
    manager: Client, venue: Venue, folder: Path, delete: Callable[[Client, MenuItem], None]
) -> None:
    item = builders.menu(venue).items.get()
    set_photo(item)
    delete(manager, item)
    assert not MenuItem.objects.filter(pk=item.pk).exists()
    assert (DishPhoto.objects.count(), stored_files(folder)) == (0, [])


@COMMITTED
def test_the_photos_of_a_deleted_menu_are_deleted_by_the_hourly_task(venue: Venue, folder: Path) -> None:
    menu = builders.menu(venue)
    set_photo(menu.items.get())
    DishPhoto.objects.update(created_at=timezone.now() - timedelta(hours=2))
    tasks.delete_unused_photos()
    assert len(stored_files(folder)) == 3
    menu.delete()
    tasks.delete_unused_photos()
    assert (DishPhoto.objects.count(), stored_files(folder)) == (0, [])


@COMMITTED
def test_an_interrupted_upload_is_deleted_after_an_hour(folder: Path) -> None:
    now = timezone.now()
    photos.store(Image.new("RGB", (8, 6)), now=now)
    assert (photos.delete_unused(now=now + timedelta(minutes=59)), len(stored_files(folder))) == (0, 1)
    assert (photos.delete_unused(now=now + timedelta(minutes=61)), stored_files(folder)) == (1, [])
    assert not DishPhoto.objects.exists()


@COMMITTED
def test_a_dish_that_is_deleted_during_the_upload_leaves_its_photo_to_the_hourly_task(venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    MenuItem.objects.all().delete()
    editing.replace_photo(item, Image.new("RGB", (8, 6)), actor="system", now=timezone.now())
    assert photos.delete_unused(now=timezone.now() + timedelta(hours=2)) == 1


# Serving
@COMMITTED
def test_a_photo_is_public_and_cached_for_a_year(client: Client, venue: Venue) -> None:
    photo = set_photo(builders.menu(venue).items.get())
    first = client.get(photos.thumbnail_path(photo, "small"))
    assert first.status_code == 200
    assert first["Cache-Control"] == "public, max-age=31536000, immutable"
    assert first["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert first["X-Content-Type-Options"] == "nosniff"
    known = client.get(photos.thumbnail_path(photo, "small"), headers={"if-none-match": first["ETag"]})
    assert (known.status_code, known.content) == (304, b"")


@COMMITTED
def test_the_photo_of_a_closed_account_or_without_its_file_answers_404(
    client: Client, venue: Venue, folder: Path
) -> None:
    photo = set_photo(builders.menu(venue).items.get())
    path = photos.thumbnail_path(photo, "large")
    type(venue.account).objects.update(closed_at=timezone.now())
    assert client.get(path).status_code == 404
    type(venue.account).objects.update(closed_at=None)
    assert client.get(path).status_code == 200
    for file in stored_files(folder):
        file.unlink()
    response = client.get(path)
    assert (response.status_code, response["Cache-Control"]) == (404, "no-store")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["dish_1/small.webp", "dish_", "dish_/", "{id}/small.webp", "{id}/huge.webp", "{id}"])
def test_unknown_photos_answer_404_in_json(client: Client, path: str) -> None:
    response = client.get(f"/photos/{path.format(id=encode('dish', new_id()))}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


# Allergens
@pytest.mark.parametrize(
    ("allergens", "constraint"),
    [
        (["gluten", "water"], "menu_item_allergens_known"),
        (["milk", "gluten", "milk"], "menu_item_allergens_listed_once"),
    ],
)
def test_allergens_are_known_and_listed_once(venue: Venue, allergens: list[str], constraint: str) -> None:
    menu = builders.menu(venue)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        menu.items.update(allergens=allergens)
    menu.items.update(allergens=Allergen.values)
    assert menu.items.get().allergens == [
        *("gluten", "crustaceans", "eggs", "fish", "peanuts", "soybeans", "milk"),
        *("nuts", "celery", "mustard", "sesame", "sulphites", "lupin", "molluscs"),
    ]


def test_allergens_are_changed_and_cleared_by_checkboxes(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    shown = form_of(manager.get(item_path(item)), "menu-row")
    assert manager.post(item_path(item), shown | {"allergens": ["gluten", "milk"]}).status_code == 302
    item.refresh_from_db()
    assert item.allergens == ["gluten", "milk"]
    page = manager.get(item_path(item)).content.decode()
    assert page.count(" checked") == 3
    initial = {"initial-allergens": ["gluten", "milk"]}
    assert manager.post(item_path(item), shown | initial).status_code == 302
    item.refresh_from_db()
    assert item.allergens == []


def test_concurrent_changes_of_allergens_are_reported(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    shown = form_of(manager.get(item_path(item)), "menu-row")
    MenuItem.objects.update(allergens=["nuts"])
    response = manager.post(item_path(item), shown | {"allergens": ["eggs"]})
    assert response.status_code == 400
    assert (
        "Another user has changed this to “Nuts”. Save again to overwrite it."
        in response.context["form"].errors["allergens"]
    )


@pytest.mark.exhaustive
@COMMITTED
def test_the_admin_changes_allergens_and_photo_and_its_list_keeps_them(venue: Venue, folder: Path) -> None:
    item = builders.menu(venue).items.get()
    staff, path = builders.staff(), f"/admin/orders/menuitem/{item.pk}/change/"
    form = form_of(staff.get(path), "menuitem_form")
    form |= {"allergens": ["fish"], "file": SimpleUploadedFile("dish.jpg", picture())}
    assert staff.post(path, form).status_code == 302
    item.refresh_from_db()
    assert item.allergens == ["fish"]
    assert item.photo_id
    assert photos.thumbnail_path(item.photo_id, "small") in staff.get(path).content.decode()
    row = form_of(staff.get("/admin/orders/menuitem/"), "changelist-form")
    assert staff.post("/admin/orders/menuitem/", row | {"form-0-price": "7.00", "_save": "Save"}).status_code == 302
    item.refresh_from_db()
    assert (item.price, item.allergens, bool(item.photo_id)) == (Decimal(7), ["fish"], True)
    form = form_of(staff.get(path), "menuitem_form")
    assert staff.post(path, form | {"removes_photo": "on"}).status_code == 302
    item.refresh_from_db()
    assert item.photo is None
    assert stored_files(folder) == []
