"""Photos that imports list: downloaded once, by a worker, with their errors shown to staff."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from catalogue import photos
from catalogue.importers.sources import native_jsonl
from catalogue.models import Photo, PhotoImport, Restaurant
from catalogue.photos import downloads, uploads
from catalogue.places.erase import erase
from catalogue.places.merge import merge
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import NOW, counts, import_restaurants, json_lines, rejected
from tests.catalogue.photos.photo_server import PhotoServer, picture, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stored_reference_data", "_photos_from_loopback")]

LINE = {
    "id": "fiskebar",
    "name": "Kødbyens Fiskebar",
    "location": {"lat": 55.6681, "lng": 12.5594},
    "market": "copenhagen",
}
FAILED, DONE, PENDING = "failed", "done", "pending"


@pytest.fixture
def _photos_from_loopback(settings: Settings, tmp_path: Path) -> None:
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path / "photos"}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    settings.WEBHOOKS_TO_LOOPBACK = True


@pytest.fixture
def server() -> Iterator[PhotoServer]:
    with serving() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "supplier.jsonl"


def import_photos(file: Path, *listed: Any, **fields: Any) -> dict[str, int]:
    """Import the line with these photos; return the counts."""
    line = {**LINE, "photos": list(listed), **fields}
    return counts(import_restaurants(json_lines(file, [line]), reader=native_jsonl.READER))


def download(now: datetime = NOW) -> None:
    assert not downloads.download_due(clock=lambda: now, duration_s=20)


def states() -> list[tuple[str, str]]:
    return list(PhotoImport.objects.order_by("pk").values_list("state", "error"))


@pytest.mark.exhaustive
def test_a_listed_photo_is_downloaded_once_however_often_the_file_is_imported(file: Path, server: PhotoServer) -> None:
    listed = {
        "url": server.url("/a.png"),
        "kind": "interior",
        "caption": "The bar",
        "alt": "A long bar",
        "author": "Ada",
        "license": "CC-BY-4.0",
    }
    assert import_photos(file, listed) == {"created": 1}
    assert (states(), Photo.objects.count()) == ([(PENDING, "")], 0)

    download()
    photo = Photo.objects.get()
    assert (photo.kind, photo.caption, photo.alt, photo.author, photo.license, photo.source_id) == (
        "interior",
        "The bar",
        "A long bar",
        "Ada",
        "CC-BY-4.0",
        "native",
    )
    assert (photo.width, photo.height, photo.created_at) == (40, 30, NOW)
    assert photos.load_thumbnail(photo, "small")
    assert states() == [(DONE, "")]

    assert import_photos(file, listed) == {"unchanged": 1}
    assert import_photos(file, listed, price_level=3) == {"changed": 1}
    download(NOW + timedelta(days=1))
    assert (Photo.objects.count(), server.asked) == (1, ["/a.png"])


def test_a_photo_with_a_url_alone_has_the_licence_of_its_source_and_the_name_as_text(
    file: Path, server: PhotoServer
) -> None:
    import_photos(file, {"url": server.url("/b.jpg")})
    download()
    photo = Photo.objects.get()
    assert (photo.kind, photo.caption, photo.alt, photo.author) == ("other", None, "Kødbyens Fiskebar", None)
    assert photo.license == photo.source.license != ""


def test_photos_of_a_record_of_the_api_are_read_back(file: Path, client: Client, server: PhotoServer) -> None:
    """A photo of the dataset `photos` or of GET .../photos, with its other members."""
    place = builders.restaurant()
    builders.photo(place, caption="Oysters")
    (exported,) = photos.list_photos(place.pk, now=NOW).rows
    assert import_photos(
        file, {**exported, "restaurant": "noma", "created_at": "2026-11-21T12:00:00Z", "url": server.url("/a.png")}
    ) == {"created": 1}
    download()
    photo = Photo.objects.get(restaurant__name="Kødbyens Fiskebar")
    assert (photo.caption, photo.kind, photo.alt, photo.license) == (
        exported["caption"],
        exported["kind"],
        exported["alt"],
        exported["license"],
    )


def test_invalid_photos_are_left_out_and_the_restaurant_is_imported(file: Path, settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = False
    good = "https://example.com/a.jpg"
    listed = [
        {"url": good, "kind": "selfie", "size": 3},
        {"url": good},
        {"url": "http://127.0.0.1/a.jpg"},
        {"url": "ftp://example.com/a.jpg"},
        {"caption": "Nothing"},
    ]
    assert import_photos(file, *listed) == {"created": 1, "incomplete": 1}
    assert list(PhotoImport.objects.values_list("url", "kind")) == [(good, "other")]
    assert rejected(file)[0]["reason"] == (
        "photos[0].kind: 'selfie' is none of food, drink, interior, exterior, menu, other."
        " Unknown field `photos[0].size`. Did you mean `photos[0].kind`? Known: photos[0].url, photos[0].caption,"
        " photos[0].kind, photos[0].alt, photos[0].author, photos[0].license."
        f" photos[1].url: {good!r} is given twice."
        " photos[2].url: This IP address is not on the public internet."
        " photos[3].url: A URL starts with https:// or http://."
        " photos[4].url: this is required."
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (404, b"", "The server answered 404."),
        (302, b"", "The server answered 302."),
        (200, b"<html>", "The file is not a JPEG, PNG or WebP image, or it is broken."),
        (200, picture(kind="GIF"), "The file is not a JPEG, PNG or WebP image, or it is broken."),
        (200, picture(8_000, 6_251), "The image has more than 50 megapixels."),
        (200, bytes(15 * 1024**2 + 1), "The file is larger than 15 MB."),
    ],
    ids=["missing", "redirect", "page", "gif", "pixels", "bytes"],
)
def test_a_bad_photo_fails_at_once_and_says_why(
    file: Path, server: PhotoServer, status: int, body: bytes, error: str
) -> None:
    server.answers["/bad"] = status, body
    import_photos(file, {"url": server.url("/bad")}, {"url": server.url("/a.png")})
    download()
    download(NOW + timedelta(days=1))
    assert states() == [(FAILED, error), (DONE, "")]
    assert server.asked == ["/bad", "/a.png"]


def test_a_server_that_is_down_is_asked_five_times_within_eight_hours(file: Path, server: PhotoServer) -> None:
    server.answers["/a.png"] = 503, b""
    import_photos(file, {"url": server.url("/a.png")})
    row = PhotoImport.objects.get()
    waits = []
    now = NOW
    while row.state == PENDING:
        download(now)
        row.refresh_from_db()
        waits.append((row.next_try_at - now) // timedelta(minutes=1))
        now = row.next_try_at
    assert waits[:4] == [1, 10, 60, 360]
    assert (len(server.asked), states()) == (5, [(FAILED, "The server answered 503.")])

    server.answers["/a.png"] = 200, picture()
    assert downloads.retry(PhotoImport.objects.all(), now=now) == 1
    download(now)
    assert (Photo.objects.count(), states()) == (1, [(DONE, "")])


def test_a_photo_that_answers_again_is_stored_at_the_next_try(file: Path, server: PhotoServer) -> None:
    server.answers["/a.png"] = 500, b""
    import_photos(file, {"url": server.url("/a.png")})
    download()
    assert states() == [(PENDING, "The server answered 500.")]
    server.answers["/a.png"] = 200, picture()
    download(NOW + timedelta(seconds=59))
    assert len(server.asked) == 1
    download(NOW + timedelta(seconds=60))
    assert (len(server.asked), Photo.objects.count(), states()) == (2, 1, [(DONE, "")])


def test_an_address_that_is_not_public_is_never_asked(file: Path, server: PhotoServer, settings: Settings) -> None:
    import_photos(file, {"url": server.url("/a.png")})
    settings.WEBHOOKS_TO_LOOPBACK = False
    download()
    assert states() == [(FAILED, "This IP address is not on the public internet.")]
    assert (server.asked, Photo.objects.count()) == ([], 0)


def test_a_photo_that_ends_each_worker_is_tried_five_times(file: Path, server: PhotoServer) -> None:
    import_photos(file, {"url": server.url("/a.png")})
    # As five workers leave it that were killed during their try.
    PhotoImport.objects.update(tries=5)
    download()
    assert (states(), server.asked) == ([(FAILED, "Each try ended a worker.")], [])


def test_an_address_that_got_its_requests_of_this_minute_is_asked_later(
    file: Path, server: PhotoServer, settings: Settings
) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 1
    caches["limits"].clear()
    import_photos(file, {"url": server.url("/a.png")}, {"url": server.url("/b.jpg")})
    download()
    assert states() == [(DONE, ""), (PENDING, "")]
    later = PhotoImport.objects.get(state=PENDING)
    assert (later.tries, NOW < later.next_try_at <= NOW + timedelta(minutes=1)) == (0, True)
    caches["limits"].clear()
    download(later.next_try_at)
    assert (states(), server.asked) == ([(DONE, ""), (DONE, "")], ["/a.png", "/b.jpg"])


@pytest.mark.exhaustive
def test_a_photo_that_is_no_longer_listed_is_deleted_and_one_that_staff_deleted_does_not_return(
    file: Path, server: PhotoServer
) -> None:
    first, second = {"url": server.url("/a.png")}, {"url": server.url("/b.jpg")}
    import_photos(file, first, second)
    download()
    own = builders.photo(Restaurant.objects.get())
    uploads.delete_photos(Photo.objects.filter(photo_import__url=first["url"]), now=NOW)

    import_photos(file, first, second, price_level=2)
    download()
    assert (Photo.objects.count(), len(server.asked)) == (2, 2)
    import_photos(file, first, price_level=1)
    download()
    assert (list(Photo.objects.all()), len(server.asked)) == ([own], 2)
    # Without a list all stay.
    import_photos(file, second)
    download()
    json_lines(file, [LINE])
    import_restaurants(file, reader=native_jsonl.READER)
    assert Photo.objects.count() == 2


def test_a_changed_text_changes_the_photo_unless_staff_edited_it(file: Path, server: PhotoServer) -> None:
    listed = {"url": server.url("/a.png"), "caption": "Bar", "license": "CC-BY-4.0", "author": "Ada"}
    import_photos(file, listed)
    download()
    Photo.objects.update(author="Ada L.")
    import_photos(file, {**listed, "caption": "The bar", "license": "CC-BY-SA-4.0", "author": "Bo"})
    assert list(Photo.objects.values_list("caption", "license", "author")) == [("The bar", "CC-BY-SA-4.0", "Ada L.")]
    assert len(server.asked) == 1


@pytest.mark.exhaustive
def test_a_merger_keeps_one_entry_of_a_photo_and_an_erasure_none(file: Path, server: PhotoServer) -> None:
    listed = {"url": server.url("/a.png")}
    import_photos(file, listed)
    import_photos(file, listed, id="other", name="Another Place", location={"lat": 55.7, "lng": 12.6})
    survivor, lost = Restaurant.objects.order_by("pk")
    merge(lost, survivor, actor="staff:1", now=NOW)
    download()
    assert [photo.restaurant for photo in Photo.objects.all()] == [survivor]

    import_photos(file, listed, {"url": server.url("/b.jpg")})
    survivor.refresh_from_db()
    erase(survivor, actor="staff:1", now=NOW)
    download()
    assert (Photo.objects.count(), PhotoImport.objects.count(), server.asked) == (0, 0, ["/a.png"])


def test_staff_see_errors_and_download_failed_photos_again(
    file: Path, server: PhotoServer, admin_client: Client
) -> None:
    server.answers["/a.png"] = 404, b""
    import_photos(file, {"url": server.url("/a.png")})
    download()
    address = "/admin/catalogue/photoimport/"
    page = admin_client.get(address, {"state__exact": FAILED}).content.decode()
    assert "The server answered 404." in page
    row = PhotoImport.objects.get()
    assert admin_client.get(f"{address}{row.pk}/change/").status_code == 200
    admin_client.post(address, {"action": "download_again", "_selected_action": [row.pk], "confirmed": "yes"})
    row.refresh_from_db()
    assert (row.state, row.tries) == (PENDING, 0)
