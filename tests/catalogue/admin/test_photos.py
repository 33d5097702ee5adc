"""Photos that staff upload, hide and delete."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from catalogue.models import Photo, Restaurant, Review
from catalogue.photos import thumbnails, uploads
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db

LIST = "/admin/catalogue/photo/"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of this test's own."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


@pytest.fixture
def desk(client: Client) -> Client:
    """A member of staff at the admin."""
    client.force_login(get_user_model().objects.create_superuser(email="ada@tablewire.test", password="horse"))
    return client


def encoded(picture: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def upload(desk: Client, place: Restaurant, content: bytes, **fields: Any) -> Any:
    given = {
        "restaurant": str(place.pk),
        "upload": SimpleUploadedFile("soup.jpg", content),
        "kind": "food",
        "alt": "A bowl of soup",
        "license": "CC0-1.0",
        "source": builders.source("tablewire").pk,
        **fields,
    }
    return desk.post(f"{LIST}add/", given)


def test_an_uploaded_photo_is_upright_and_says_nothing_of_where_it_was_taken(desk: Client, folder: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[2] = (55.0, 40.0, 25.0)
    picture = Image.new("RGB", (1600, 800), "red")
    content = encoded(picture, exif=exif, comment=b"By Ada")
    assert upload(desk, builders.restaurant(), content).status_code == 302
    photo = Photo.objects.get()
    assert (photo.width, photo.height, photo.art) == (800, 1600, None)
    original = (folder / photo.file).read_bytes()
    with Image.open(io.BytesIO(original)) as stored:
        assert (stored.size, dict(stored.getexif()), "comment" in stored.info) == ((800, 1600), {}, False)
    with Image.open(io.BytesIO(thumbnails.made(photo, "small"))) as small:
        assert (small.format, small.size, dict(small.getexif())) == ("WEBP", (400, 800), {})
    assert f"/photos/{encode('ph', photo.pk)}/small.webp" in desk.get(LIST).content.decode()
    assert desk.get(f"{LIST}{photo.pk}/change/").status_code == 200


def test_what_is_see_through_is_shown_on_white(desk: Client) -> None:
    assert upload(desk, builders.restaurant(), encoded(Image.new("RGBA", (30, 20)), "PNG")).status_code == 302
    with Image.open(io.BytesIO(thumbnails.made(Photo.objects.get(), "large"))) as large:
        assert large.size == (30, 20)
        assert min(band[0] for band in large.getextrema()) >= 250  # type: ignore[index]  # of each colour


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<svg></svg>", "no JPEG, PNG or WebP"),
        (encoded(Image.new("RGB", (64, 64)), "GIF"), "no JPEG, PNG or WebP"),
        (encoded(Image.effect_noise((300, 300), 90).convert("RGB"))[:4000], "broken"),
        (encoded(Image.new("1", (8000, 6251)), "PNG"), "more than 50 megapixels"),
        (encoded(Image.new("1", (20_000, 20_000)), "PNG"), "more than 50 megapixels"),
    ],
    ids=["text", "gif", "truncated", "large", "bomb"],
)
def test_what_is_no_picture_or_too_large_is_refused_and_nothing_stored(
    desk: Client, folder: Path, content: bytes, words: str
) -> None:
    response = upload(desk, builders.restaurant(), content)
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not Photo.objects.exists()
    assert [file for file in folder.rglob("*") if file.is_file()] == []


def test_a_file_of_more_than_15_megabytes_is_refused_unread() -> None:
    with pytest.raises(uploads.BadPicture, match="larger than 15 MB"):
        uploads.read(io.BytesIO(b""), length=15 * 1024 * 1024 + 1)


def test_a_photo_without_words_for_those_who_do_not_see_it_is_refused(desk: Client) -> None:
    response = upload(desk, builders.restaurant(), encoded(Image.new("RGB", (64, 64))), alt="")
    assert "This field is required." in response.content.decode()
    assert not Photo.objects.exists()


def test_hiding_counts_the_photos_of_reviews_anew(desk: Client) -> None:
    place = builders.restaurant()
    review = builders.review(place, "Look!")
    photo = builders.photo(place, review=review)

    def act(action: str) -> tuple[int, Any]:
        desk.post(LIST, {"action": action, "_selected_action": [str(photo.pk)]})
        facets = Restaurant.objects.get(pk=place.pk).review_facets
        return Review.objects.get(pk=review.pk).photo_count, facets["with_photos"]

    assert act("show_again") == (1, 1)
    assert act("hide") == (0, 0)
    assert "hidden" in desk.get(LIST).content.decode()


def test_deleting_a_photo_removes_its_files_once_that_is_certain(
    folder: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    photo = Photo(
        restaurant=builders.restaurant(),
        alt="Soup",
        license="CC0-1.0",
        source=builders.source("tablewire"),
        kind="food",
    )
    uploads.add(photo, Image.new("RGB", (64, 48), "red"), now=NOW)
    for size in thumbnails.SIZES:
        thumbnails.picture(photo, size)
    assert len([file for file in folder.rglob("*") if file.is_file()]) == 3
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        assert uploads.delete(Photo.objects.all(), now=NOW) == 1
    assert len([file for file in folder.rglob("*") if file.is_file()]) == 3
    for callback in callbacks:
        callback()
    assert [file for file in folder.rglob("*") if file.is_file()] == []
    assert not Photo.objects.exists()


def test_a_review_that_staff_mend_is_counted_anew(desk: Client) -> None:
    place = builders.restaurant()
    review = builders.review(place, "Gut.", lang="en")
    page = f"/admin/catalogue/review/{review.pk}/change/"
    given = {"author": "Ada", "lang": "de", "text": "Gut.", "owner_reply": "", "owner_replied_at_0": ""}
    assert desk.post(page, {**given, "owner_replied_at_1": ""}).status_code == 302
    assert Restaurant.objects.get(pk=place.pk).review_facets["by_lang"] == {"de": 1}
