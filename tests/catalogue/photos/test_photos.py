"""Photos: demo cards, thumbnails, lists."""

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
from catalogue.demo.photo_cards import draw_card
from catalogue.models import Photo
from catalogue.photos import thumbnails
from catalogue.serializers.paid_groups import PhotoAnswer, PhotoRecord, PhotosRecord
from framework.images.storage import store_file
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of photos for one test."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


def stored_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def path(photo: Photo, size: str = "small") -> str:
    return f"/photos/{encode('ph', photo.pk)}/{size}.webp"


# Cards
def test_equal_arguments_draw_the_same_card_and_each_argument_changes_it() -> None:
    def draw(seed: int, title: str, footer: str) -> bytes:
        return draw_card(seed, title=title, footer=footer, width=200, height=150).tobytes()

    card = draw(7, "Tiramisù", "Gusto")
    assert draw(7, "Tiramisù", "Gusto") == card
    assert card not in {draw(8, "Tiramisù", "Gusto"), draw(7, "Coffee", "Gusto"), draw(7, "Tiramisù", "Nido")}


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", Photo.Kind.values)
@pytest.mark.parametrize("caption", [None, "Tagliatelle al ragù", "名古屋コーチン", "word " * 60, "w" * 300])
def test_cards_of_every_kind_and_caption_are_small_in_bytes_and_have_many_colours(
    kind: str, caption: str | None
) -> None:
    photo = builders.photo(builders.restaurant(name="x" * 200), kind=kind, caption=caption, width=1600, height=1200)
    large = thumbnails.make_thumbnail(photo, "large")
    assert len(large) <= 40_000
    with Image.open(io.BytesIO(large)) as image:
        assert (image.format, image.size) == ("WEBP", (1200, 900))
        assert len(image.resize((64, 48)).getcolors(64 * 48) or []) > 300


@pytest.mark.parametrize(("width", "height"), [(900, 1600), (1600, 500), (300, 300)])
def test_a_card_keeps_the_aspect_ratio_of_its_photo_and_is_never_enlarged(width: int, height: int) -> None:
    photo = builders.photo(builders.restaurant(), width=width, height=height)
    with Image.open(io.BytesIO(thumbnails.make_thumbnail(photo, "large"))) as image:
        assert image.size == (min(width, 1200), round(height * min(width, 1200) / width))


# Thumbnails
def test_thumbnails_are_public_and_cached_for_a_year(client: Client) -> None:
    photo = builders.photo(builders.restaurant())
    response = client.get(path(photo, "large"))
    assert response.status_code == 200
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["Content-Disposition"] == "inline"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(response.content))
    assert response["ETag"].startswith('"')
    assert "X-RateLimit-Limit" not in response
    with Image.open(io.BytesIO(response.content)) as image:
        assert image.size == (1200, 900)
    with Image.open(io.BytesIO(client.get(path(photo)).content)) as image:
        assert image.size == (400, 300)


def test_a_known_etag_answers_304_and_a_head_request_has_no_body(client: Client) -> None:
    photo = builders.photo(builders.restaurant())
    first = client.get(path(photo))
    known = client.get(path(photo), headers={"if-none-match": first["ETag"]})
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", first["ETag"])
    head = client.head(path(photo))
    assert (head.status_code, head.content) == (200, b"")
    assert (head["Content-Length"], head["ETag"]) == (first["Content-Length"], first["ETag"])
    assert client.get(path(photo), headers={"if-none-match": '"another"'}).status_code == 200


def test_an_unknown_hidden_or_erased_photo_answers_404_in_json(client: Client) -> None:
    place = builders.restaurant()
    hidden = builders.photo(place, is_hidden=True)
    erased = builders.photo(builders.restaurant(erased_at=NOW))
    shown = builders.photo(place)
    urls = [
        path(hidden),
        path(erased),
        path(shown, "huge"),
        path(shown).replace(".webp", ".png"),
        "/photos/ph_00000000000000000000000000/small.webp",
        "/photos/what",
        "/photos/",
        "/photos/../../etc/passwd",
    ]
    for url in urls:
        response = client.get(url)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found"), url
    refused = client.post(path(shown))
    assert (refused.status_code, refused.json()["error"]["code"]) == (405, "method_not_allowed")
    assert refused["Allow"] == "GET, HEAD"


def test_thumbnails_are_made_once_and_hidden_photos_answer_404(client: Client, folder: Path) -> None:
    photo = builders.photo(builders.restaurant())
    first = client.get(path(photo))
    (file,) = stored_files(folder)
    assert file.read_bytes() == first.content
    file.write_bytes(b"stored before")
    assert client.get(path(photo)).content == b"stored before"
    Photo.objects.update(is_hidden=True)
    assert client.get(path(photo)).status_code == 404


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_concurrent_first_requests_all_get_the_whole_thumbnail(folder: Path) -> None:
    photo = builders.photo(builders.restaurant(), width=400, height=300)
    barrier, contents = threading.Barrier(8), []

    def request_thumbnail() -> None:
        try:
            barrier.wait(10)
            contents.append(Client().get(path(photo)).content)
        finally:
            connection.close()

    threads = [threading.Thread(target=request_thumbnail) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(contents) == 8
    assert set(contents) == {thumbnails.make_thumbnail(photo, "small")}
    assert [file.suffix for file in stored_files(folder)] == [".webp"]


def test_a_failed_write_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="full"):
            store_file("some/name.webp", b"bytes")
    assert stored_files(folder) == []
    assert not storages["photos"].exists("some/name.webp")


# Lists
def test_photos_are_listed_newest_first_in_pages() -> None:
    place = builders.restaurant()
    listed = [builders.photo(place, kind="food" if number % 2 else "drink") for number in range(7)]
    builders.photo(place, is_hidden=True)
    builders.photo(builders.restaurant())
    found, cursor = [], None
    while True:
        page = photos.list_photos(place.pk, limit=3, cursor=cursor, now=NOW)
        found += [row["id"] for row in page.rows]
        if not (cursor := page.next_cursor):
            break
        # A photo added between two pages does not shift the later pages.
        builders.photo(place, created_at=NOW)
    assert found == [encode("ph", photo.pk) for photo in reversed(listed)]
    drinks = photos.list_photos(place.pk, kind="drink", now=NOW).rows
    assert [row["kind"] for row in drinks] == ["drink"] * 4


def test_a_photo_has_its_author_license_and_attribution() -> None:
    place = builders.restaurant()
    review = builders.review(place, "Look!")
    photo = builders.photo(place, review=review, author="Ada L.", caption="The soup", width=1600, height=1200)
    (record,) = photos.list_photos(place.pk, now=NOW).rows
    assert record["url"].endswith(path(photo, "large"))
    assert set(record) == set(PhotoRecord().fields)
    assert record["sizes"] == [
        {"name": "small", "url": record["url"].replace("large", "small"), "width": 400, "height": 300},
        {"name": "large", "url": record["url"], "width": 1200, "height": 900},
    ]
    expected = {
        "review_id": encode("rev", review.pk),
        "author": "Ada L.",
        "caption": "The soup",
        "license": "CC0-1.0",
        "source": "demo",
        "attribution": "Ada L., © demo",
        "width": 1600,
        "height": 1200,
    }
    assert {name: record[name] for name in expected} == expected


def test_the_photos_group_has_ten_photos_and_the_url_of_the_next_page() -> None:
    place = builders.restaurant(slug="kodbyens")
    for _ in range(12):
        builders.photo(place)
    record = field_groups.read_record("kodbyens", groups=["photos"], now=NOW)
    assert record.sold == ("photos",)
    group = record.values["photos"]
    assert set(group) == set(PhotosRecord().fields)
    assert (group["count"], len(group["items"])) == (12, 10)
    assert "/v1/restaurants/kodbyens/photos?limit=10&cursor=" in group["next"]
    assert field_groups.read_record("kodbyens", groups=["photos"], now=NOW).values["photos"] == group


def test_a_restaurant_without_photos_has_an_empty_free_list(client: Client) -> None:
    builders.restaurant(slug="bare")
    builders.photo(builders.restaurant())
    assert field_groups.read_record("bare", groups=["photos"], now=NOW).values["photos"] is None
    response = client.get("/v1/restaurants/bare/photos")
    assert response.status_code == 200
    assert set(response.json()) == set(PhotoAnswer().fields)
    assert response.json()["data"] == []


@pytest.mark.django_db(transaction=True)
def test_photos_require_the_pro_tier(client: Client, prices: None) -> None:
    builders.photo(builders.restaurant(slug="shown"))
    response = client.get("/v1/restaurants/shown/photos")
    assert response.status_code == 402
    assert response.json()["tier_required"] == "pro"
    assert client.get("/v1/restaurants/nowhere/photos").status_code == 404


@pytest.mark.parametrize("suffix", ["", "/", "//", "/ph_1", "/ph_1/large.png", "/a%0Ab", "/%00", "/ph_1/large.webp/x"])
def test_errors_below_photos_are_json_with_the_request_id(client: Client, suffix: str) -> None:
    for method, code, status in (("get", "not_found", 404), ("post", "method_not_allowed", 405)):
        response = getattr(client, method)(f"/photos{suffix}")
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (status, code)
        assert error["request_id"] == response["X-Request-Id"]
        assert error["request_id"].startswith("req_")


@pytest.mark.parametrize(
    ("query", "param"), [("kind=cat", "kind"), ("limit=51", "limit"), ("cursor=x", "cursor"), ("size=1", "size")]
)
def test_unknown_parameters_and_values_are_rejected(client: Client, query: str, param: str) -> None:
    builders.restaurant(slug="bare")
    response = client.get(f"/v1/restaurants/bare/photos?{query}")
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
