"""Photos: painted or stored, cut to two sizes, listed, served and uploaded."""

import io
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.db import connection
from django.test import Client
from PIL import Image
from pytest_django import Settings

from catalogue import field_groups, photos
from catalogue.models import Photo
from catalogue.painting import SCENES, paint
from catalogue.photos import thumbnails
from catalogue.serializers.photos import PhotoAnswer, PhotoRecord, PhotosRecord
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of this test's own."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


def address(photo: Photo, size: str = "small") -> str:
    return f"/photos/{encode('ph', photo.pk)}/{size}.webp"


# Painting
@pytest.mark.parametrize("kind", sorted(SCENES))
def test_a_number_paints_the_same_picture_again_and_another_paints_another(kind: str) -> None:
    one, again, other = (paint(art, kind=kind, width=200, height=150).tobytes() for art in (7, 7, 8))
    assert one == again
    assert one != other


@pytest.mark.parametrize("kind", sorted(SCENES))
def test_every_scene_is_small_in_bytes_and_of_many_colours(kind: str) -> None:
    place = builders.restaurant()
    for art in range(3):
        large = thumbnails.made(builders.photo(place, art=art, kind=kind, width=1600, height=1200), "large")
        assert len(large) <= 40_000
        with Image.open(io.BytesIO(large)) as picture:
            assert (picture.format, picture.size) == ("WEBP", (1200, 900))
            assert len(picture.resize((64, 48)).getcolors(64 * 48) or []) > 300


@pytest.mark.parametrize(("width", "height"), [(900, 1600), (1600, 500), (300, 300)])
def test_a_painting_has_the_shape_of_its_photo_and_is_never_larger(width: int, height: int) -> None:
    photo = builders.photo(builders.restaurant(), width=width, height=height)
    with Image.open(io.BytesIO(thumbnails.made(photo, "large"))) as picture:
        assert picture.size == (min(width, 1200), round(height * min(width, 1200) / width))


# Bytes
def test_the_bytes_are_served_to_everybody_and_kept_for_ever(client: Client) -> None:
    photo = builders.photo(builders.restaurant())
    response = client.get(address(photo, "large"))
    assert response.status_code == 200
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["Content-Disposition"] == "inline"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(response.content))
    assert response["ETag"].startswith('"')
    assert "X-RateLimit-Limit" not in response
    with Image.open(io.BytesIO(response.content)) as picture:
        assert picture.size == (1200, 900)
    with Image.open(io.BytesIO(client.get(address(photo)).content)) as picture:
        assert picture.size == (400, 300)


def test_who_has_the_bytes_gets_304_and_who_asks_for_the_head_none(client: Client) -> None:
    photo = builders.photo(builders.restaurant())
    first = client.get(address(photo))
    known = client.get(address(photo), headers={"if-none-match": first["ETag"]})
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", first["ETag"])
    head = client.head(address(photo))
    assert (head.status_code, head.content) == (200, b"")
    assert (head["Content-Length"], head["ETag"]) == (first["Content-Length"], first["ETag"])
    assert client.get(address(photo), headers={"if-none-match": '"another"'}).status_code == 200


def test_a_photo_that_is_unknown_or_hidden_is_404_in_json(client: Client) -> None:
    place = builders.restaurant()
    hidden = builders.photo(place, is_hidden=True)
    erased = builders.photo(builders.restaurant(erased_at=NOW))
    shown = builders.photo(place)
    paths = [
        address(hidden),
        address(erased),
        address(shown, "huge"),
        address(shown).replace(".webp", ".png"),
        "/photos/ph_00000000000000000000000000/small.webp",
        "/photos/what",
        "/photos/",
        "/photos/../../etc/passwd",
    ]
    for path in paths:
        response = client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found"), path
    refused = client.post(address(shown))
    assert (refused.status_code, refused.json()["error"]["code"]) == (405, "method_not_allowed")
    assert refused["Allow"] == "GET, HEAD"


def test_bytes_are_made_once_and_hiding_takes_them_off(client: Client, folder: Path) -> None:
    photo = builders.photo(builders.restaurant())
    first = client.get(address(photo))
    (kept,) = [file for file in folder.rglob("*") if file.is_file()]
    assert kept.read_bytes() == first.content
    kept.write_bytes(b"what was kept")
    assert client.get(address(photo)).content == b"what was kept"
    Photo.objects.update(is_hidden=True)
    assert client.get(address(photo)).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_of_many_who_ask_at_once_each_gets_the_whole_picture(folder: Path) -> None:
    photo = builders.photo(builders.restaurant(), width=400, height=300)
    begin, answers = threading.Barrier(8), []

    def ask() -> None:
        try:
            begin.wait(10)
            answers.append(Client().get(address(photo)).content)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert set(answers) == {thumbnails.made(photo, "small")}
    assert [file.suffix for file in folder.rglob("*") if file.is_file()] == [".webp"]


def test_a_file_that_breaks_off_is_never_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(self: Path, target: Path) -> Path:
        raise OSError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", breaks)
        with pytest.raises(OSError, match="full"):
            thumbnails.keep("some/name.webp", b"bytes")
    assert [file for file in folder.rglob("*") if file.is_file()] == []
    assert not storages["photos"].exists("some/name.webp")


# Listing
def test_photos_are_listed_newest_first_page_by_page() -> None:
    place = builders.restaurant()
    made = [builders.photo(place, kind="food" if number % 2 else "drink") for number in range(7)]
    builders.photo(place, is_hidden=True)
    builders.photo(builders.restaurant())
    found, cursor = [], None
    while True:
        page = photos.page(place.pk, limit=3, cursor=cursor, now=NOW)
        found += [row["id"] for row in page.rows]
        if not (cursor := page.next_cursor):
            break
        # What comes meanwhile does not move what was there.
        builders.photo(place, created_at=NOW)
    assert found == [encode("ph", photo.pk) for photo in reversed(made)]
    drinks = photos.page(place.pk, kind="drink", now=NOW).rows
    assert [row["kind"] for row in drinks] == ["drink"] * 4


def test_a_photo_says_who_made_it_and_on_what_terms() -> None:
    place = builders.restaurant()
    review = builders.review(place, "Look!")
    photo = builders.photo(place, review=review, author="Ada L.", caption="The soup", width=1600, height=1200)
    (record,) = photos.page(place.pk, now=NOW).rows
    base = f"http://127.0.0.1:8000/photos/{encode('ph', photo.pk)}"
    assert record["url"].endswith(address(photo, "large"))
    assert set(record) == set(PhotoRecord().fields)
    assert record["sizes"] == [
        {"name": "small", "url": record["url"].replace("large", "small"), "width": 400, "height": 300},
        {"name": "large", "url": record["url"], "width": 1200, "height": 900},
    ]
    assert base.rpartition("/")[2] in record["url"]
    said = ("review_id", "author", "caption", "license", "source", "attribution", "width", "height")
    assert [record[name] for name in said] == [
        encode("rev", review.pk),
        "Ada L.",
        "The soup",
        "CC0-1.0",
        "demo",
        "Ada L., © demo",
        1600,
        1200,
    ]


def test_the_group_holds_ten_and_leads_to_the_others() -> None:
    place = builders.restaurant(slug="kodbyens")
    for _ in range(12):
        builders.photo(place)
    record = field_groups.record("kodbyens", groups=["photos"], now=NOW)
    assert record.sold == ("photos",)
    group = record.values["photos"]
    assert set(group) == set(PhotosRecord().fields)
    assert (group["count"], len(group["items"])) == (12, 10)
    assert "/v1/restaurants/kodbyens/photos?limit=10&cursor=" in group["next"]
    again = field_groups.record("kodbyens", groups=["photos"], now=NOW).values["photos"]
    assert again == group


def test_a_restaurant_without_photos_has_none_to_sell(client: Client) -> None:
    builders.restaurant(slug="bare")
    builders.photo(builders.restaurant())
    assert field_groups.record("bare", groups=["photos"], now=NOW).values["photos"] is None
    response = client.get("/v1/restaurants/bare/photos")
    assert response.status_code == 200
    assert set(response.json()) == set(PhotoAnswer().fields)
    assert response.json()["data"] == []


@pytest.mark.django_db(transaction=True)
def test_photos_are_sold_from_pro_on(client: Client, prices: None) -> None:
    builders.photo(builders.restaurant(slug="shown"))
    response = client.get("/v1/restaurants/shown/photos")
    assert response.status_code == 402
    assert response.json()["tier_required"] == "pro"
    assert client.get("/v1/restaurants/nowhere/photos").status_code == 404


@pytest.mark.parametrize("path", ["", "/", "//", "/ph_1", "/ph_1/large.png", "/a%0Ab", "/%00", "/ph_1/large.webp/x"])
def test_what_is_no_photo_is_said_in_json_with_the_name_of_the_request(client: Client, path: str) -> None:
    for method, code, status in (("get", "not_found", 404), ("post", "method_not_allowed", 405)):
        response = getattr(client, method)(f"/photos{path}")
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (status, code)
        assert error["request_id"] == response["X-Request-Id"]
        assert error["request_id"].startswith("req_")


@pytest.mark.parametrize(
    ("query", "param"), [("kind=cat", "kind"), ("limit=51", "limit"), ("cursor=x", "cursor"), ("size=1", "size")]
)
def test_photos_refuse_what_they_do_not_know(client: Client, query: str, param: str) -> None:
    builders.restaurant(slug="bare")
    response = client.get(f"/v1/restaurants/bare/photos?{query}")
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
