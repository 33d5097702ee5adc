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
from framework.images.thumbnails import SIZES
from framework.images.uploads import InvalidImage, read_image
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db

LIST = "/admin/catalogue/photo/"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of photos for one test."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


def stored_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


@pytest.fixture
def staff(client: Client) -> Client:
    """A member of staff, signed in to the admin."""
    client.force_login(get_user_model().objects.create_superuser(email="ada@tablewire.test", password="horse"))
    return client


def encode_image(image: Image.Image, file_format: str = "JPEG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def upload(staff: Client, place: Restaurant, content: bytes, **fields: Any) -> Any:
    fields = {
        "restaurant": str(place.pk),
        "upload": SimpleUploadedFile("soup.jpg", content),
        "kind": "food",
        "alt": "A bowl of soup",
        "license": "CC0-1.0",
        "source": builders.source("tablewire").pk,
        **fields,
    }
    return staff.post(f"{LIST}add/", fields)


@pytest.mark.exhaustive
def test_an_upload_is_rotated_upright_and_loses_its_metadata(staff: Client, folder: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[2] = (55.0, 40.0, 25.0)
    content = encode_image(Image.new("RGB", (1600, 800), "red"), exif=exif, comment=b"By Ada")
    assert upload(staff, builders.restaurant(), content).status_code == 302
    photo = Photo.objects.get()
    assert (photo.width, photo.height, photo.card_seed) == (800, 1600, None)
    original = (folder / photo.file).read_bytes()
    with Image.open(io.BytesIO(original)) as stored:
        assert (stored.size, dict(stored.getexif()), "comment" in stored.info) == ((800, 1600), {}, False)
    with Image.open(io.BytesIO(thumbnails.make_thumbnail(photo, "small"))) as small:
        assert (small.format, small.size, dict(small.getexif())) == ("WEBP", (400, 800), {})
    assert f"/photos/{encode('ph', photo.pk)}/small.webp" in staff.get(LIST).content.decode()
    assert staff.get(f"{LIST}{photo.pk}/change/").status_code == 200


def test_transparent_pixels_become_white(staff: Client) -> None:
    assert upload(staff, builders.restaurant(), encode_image(Image.new("RGBA", (30, 20)), "PNG")).status_code == 302
    with Image.open(io.BytesIO(thumbnails.make_thumbnail(Photo.objects.get(), "large"))) as large:
        assert large.size == (30, 20)
        assert min(band[0] for band in large.getextrema()) >= 250  # type: ignore[index]  # of each colour


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<svg></svg>", "not a JPEG, PNG or WebP"),
        (encode_image(Image.new("RGB", (64, 64)), "GIF"), "not a JPEG, PNG or WebP"),
        (encode_image(Image.effect_noise((300, 300), 90).convert("RGB"))[:4000], "broken"),
        (encode_image(Image.new("1", (8000, 6251)), "PNG"), "more than 50 megapixels"),
        (encode_image(Image.new("1", (20_000, 20_000)), "PNG"), "more than 50 megapixels"),
    ],
    ids=["text", "gif", "truncated", "large", "bomb"],
)
def test_an_invalid_or_oversized_image_is_rejected_and_nothing_is_stored(
    staff: Client, folder: Path, content: bytes, message: str
) -> None:
    response = upload(staff, builders.restaurant(), content)
    assert response.status_code == 200
    assert message in response.content.decode()
    assert not Photo.objects.exists()
    assert stored_files(folder) == []


def test_a_file_above_15_megabytes_is_rejected_unread() -> None:
    with pytest.raises(InvalidImage, match="larger than 15 MB"):
        read_image(io.BytesIO(b""), length=15 * 1024 * 1024 + 1)


def test_an_upload_without_alternative_text_is_rejected(staff: Client) -> None:
    response = upload(staff, builders.restaurant(), encode_image(Image.new("RGB", (64, 64))), alt="")
    assert "This field is required." in response.content.decode()
    assert not Photo.objects.exists()


@pytest.mark.exhaustive
def test_hiding_a_photo_recounts_those_of_its_review(staff: Client) -> None:
    place = builders.restaurant()
    review = builders.review(place, "Look!")
    photo = builders.photo(place, review=review)

    def act(action: str) -> tuple[int, Any]:
        staff.post(LIST, {"action": action, "_selected_action": [str(photo.pk)], "confirmed": "yes"})
        facets = Restaurant.objects.get(pk=place.pk).review_facets
        return Review.objects.get(pk=review.pk).photo_count, facets["with_photos"]

    assert act("show_again") == (1, 1)
    assert act("hide") == (0, 0)
    assert "hidden" in staff.get(LIST).content.decode()


def test_deleting_a_photo_deletes_its_files_after_the_commit(
    folder: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    photo = Photo(
        restaurant=builders.restaurant(),
        alt="Soup",
        license="CC0-1.0",
        source=builders.source("tablewire"),
        kind="food",
    )
    uploads.add_photo(photo, Image.new("RGB", (64, 48), "red"), now=NOW)
    for size in SIZES:
        thumbnails.load_thumbnail(photo, size)
    assert len(stored_files(folder)) == 3
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        assert uploads.delete_photos(Photo.objects.all(), now=NOW) == 1
    assert len(stored_files(folder)) == 3
    for callback in callbacks:
        callback()
    assert stored_files(folder) == []
    assert not Photo.objects.exists()


def test_editing_the_language_of_a_review_updates_the_facets(staff: Client) -> None:
    place = builders.restaurant()
    review = builders.review(place, "Gut.", lang="en")
    page = f"/admin/catalogue/review/{review.pk}/change/"
    fields = {"author": "Ada", "lang": "de", "text": "Gut.", "owner_reply": "", "owner_replied_at_0": ""}
    assert staff.post(page, {**fields, "owner_replied_at_1": ""}).status_code == 302
    assert Restaurant.objects.get(pk=place.pk).review_facets["by_lang"] == {"de": 1}
