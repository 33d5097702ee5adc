"""Venues choose the color, logo and photo of their booking page; every text on it can be read."""

import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from accounts.models import Venue
from reservations import tasks
from reservations.booking_page import branding, colors
from reservations.mail import templates
from reservations.models import Branding, BrandingImage
from reservations.self_service import links
from tests.support import builders, users
from tests.support.query_counts import costing

COMMITTED = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """A storage of images for one test."""
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    return tmp_path


@pytest.fixture
def osteria(venue: Venue) -> Venue:
    """A venue of one table that guests may book online."""
    Venue.objects.filter(pk=venue.pk).update(is_bookable_online=True)
    builders.table(venue)
    builders.period(venue)
    return venue


@pytest.fixture
def manager(osteria: Venue) -> Client:
    return users.member(osteria, "manager")


def picture(color: str = "red", size: tuple[int, int] = (900, 300)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue()


def path(venue: Venue) -> str:
    return f"/dashboard/{venue.public_id}/settings/appearance"


def save(client: Client, venue: Venue, *, color: str = "#1f5f4a", **fields: Any) -> Any:
    """Send the form as a browser does; bytes are an upload."""
    files = {name: SimpleUploadedFile("x.png", value) for name, value in fields.items() if isinstance(value, bytes)}
    return client.post(path(venue), {"color": color} | fields | files)


def book_page(venue: Venue) -> str:
    return f"/book/{venue.public_id}"


def policy_allows(answer: Any) -> bool:
    """Whether the content security policy allows the style sheet in the page, and there is one."""
    css = re.search("<style>(.*)</style>", answer.content.decode())
    policy = answer["Content-Security-Policy"]
    return bool(css) and policy == branding.allow_branding(
        re.sub(" 'sha256-[^']*'", "", policy), Branding.objects.get()
    )


# The color
@pytest.mark.parametrize(
    ("color", "light", "dark"),
    [
        # Our own, and one that is dark enough, are used as they are on light pages.
        ("#1f5f4a", "#1f5f4a", "#749c8f"),
        ("#8b0000", "#8b0000", "#c68282"),
        # Yellow is darkened there, and used as it is on dark pages.
        ("#ffd400", "#7d6800", "#ffd400"),
        ("#ffffff", "#696969", "#ffffff"),
        ("#000000", "#000000", "#949494"),
    ],
)
def test_a_color_is_darkened_or_lightened_as_far_as_needed(color: str, light: str, dark: str) -> None:
    assert [palette.act for palette in colors.make_palettes(color)] == [light, dark]


@pytest.mark.parametrize("step", [85, pytest.param(17, marks=pytest.mark.exhaustive)])
def test_every_color_gives_texts_of_at_least_4_5_to_1(step: int) -> None:
    values = range(0, 256, step)
    for color in (f"#{red:02x}{green:02x}{blue:02x}" for red in values for green in values for blue in values):
        light, dark = colors.make_palettes(color)
        for palette, grounds in ((light, colors.LIGHT_GROUNDS), (dark, colors.DARK_GROUNDS)):
            for ground in (*grounds, palette.act_soft, palette.on_act):
                assert colors.contrast(palette.act, ground) >= 4.5, (color, palette, ground)


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    css = Path("reservations/static/reservations/book.css").read_text()
    roots = re.findall(r":root \{(.*?)\}", css)
    for root, grounds in zip(roots, (colors.LIGHT_GROUNDS, colors.DARK_GROUNDS), strict=True):
        values = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", root))
        full = [
            value if len(value) == 7 else "#" + "".join(2 * digit for digit in value[1:]) for value in values.values()
        ]
        named = dict(zip(values, full, strict=True))
        assert (named["paper"], named["card"], named["note"]) == grounds
    assert f"--act: {colors.OUR_COLOR}" in css


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("#000000", "#ffffff", 21), ("#777777", "#ffffff", 4.48), ("#ffffff", "#ffffff", 1)]
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert colors.contrast(one, other) == pytest.approx(ratio, abs=0.005)


def test_a_color_that_is_too_light_is_adjusted_with_a_sentence(manager: Client, osteria: Venue) -> None:
    answer = save(manager, osteria, color="#FFD400")
    assert builders.messages_of(answer) == ["Saved."]
    sentence = (
        "#ffd400 is too light for text: its contrast is 1.2 to 1, and 4.5 to 1 is needed (WCAG 2.2 AA). Your pages use"
        " #7d6800 instead."
    )
    assert sentence in manager.get(path(osteria)).content.decode()
    page = manager.get(book_page(osteria))
    assert "--act:#7d6800;--on-act:#ffffff" in page.content.decode()
    assert policy_allows(page)
    save(manager, osteria, color="#8b0000")
    assert "is too light for text" not in manager.get(path(osteria)).content.decode()


def test_our_color_is_no_color_of_the_venue(manager: Client, osteria: Venue) -> None:
    save(manager, osteria, color="#8b0000")
    save(manager, osteria, color="#1f5f4a")
    assert Branding.objects.get().color == ""
    page = manager.get(book_page(osteria))
    assert "<style>" not in page.content.decode()
    assert "sha256" not in page["Content-Security-Policy"]


@pytest.mark.parametrize("color", ["", "red", "#12345", "#12345g", "</style><script>alert(1)</script>", "#1f5f4a;}"])
def test_what_is_no_color_is_refused(manager: Client, osteria: Venue, color: str) -> None:
    assert save(manager, osteria, color=color).status_code == 400
    assert not Branding.objects.exists()


def test_the_database_refuses_what_is_no_color(osteria: Venue) -> None:
    with pytest.raises(IntegrityError, match="branding_color_is_hexadecimal"):
        Branding.objects.create(venue=osteria, color="red")


# Logo and photo
@pytest.mark.exhaustive
@COMMITTED
def test_logo_and_photo_are_on_the_pages_of_guests_and_the_logo_in_emails(
    manager: Client, osteria: Venue, client: Client
) -> None:
    save(manager, osteria, color="#8b0000", logo=picture("blue"), photo=picture())
    look = Branding.objects.get()
    assert look.logo_id
    assert look.photo_id
    logo = branding.FILES.thumbnail_path(look.logo_id, "small")
    photo = branding.FILES.thumbnail_path(look.photo_id, "large")
    reservation = builders.reservation(osteria, status="confirmed", starts_at=timezone.now() + timedelta(days=2))
    guest = f"/guest/{links.token_of(reservation)}"
    for page in (book_page(osteria), guest, f"{guest}/change", f"{guest}/cancel"):
        answer = client.get(page)
        assert f'src="{logo}"' in answer.content.decode(), page
        assert f'src="{photo}"' in answer.content.decode(), page
        assert policy_allows(answer), page
        assert "img-src 'self'" in answer["Content-Security-Policy"]
    for served in (logo, photo):
        assert client.get(served)["Content-Type"] == "image/webp"
    html = str(templates.build_mail(reservation.guest_mails.get()).alternatives[0][0])
    assert re.search(rf'<img src="https?://[^"]+{logo}" alt="Trattoria" height="56">', html)


@COMMITTED
def test_a_new_logo_replaces_the_former_one_whose_files_are_deleted(
    manager: Client, osteria: Venue, folder: Path
) -> None:
    save(manager, osteria, logo=picture("blue"))
    former = Branding.objects.get().logo_id
    assert former
    address = branding.FILES.thumbnail_path(former, "small")
    assert manager.get(address).status_code == 200
    save(manager, osteria, logo=picture("green"))
    assert manager.get(address).status_code == 404
    assert [image.pk for image in BrandingImage.objects.all()] == [Branding.objects.get().logo_id]
    assert len([file for file in folder.rglob("*") if file.is_file()]) == 1
    save(manager, osteria, removes_logo="on")
    assert not BrandingImage.objects.exists()
    assert [file for file in folder.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("content", [b"not an image", b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"])
def test_a_file_that_is_no_image_is_refused_and_changes_nothing(
    manager: Client, osteria: Venue, content: bytes
) -> None:
    answer = save(manager, osteria, color="#8b0000", photo=content)
    assert answer.status_code == 400
    assert "The file is not a JPEG, PNG or WebP image, or it is broken." in answer.content.decode()
    assert not Branding.objects.exists()


@COMMITTED
def test_images_of_interrupted_uploads_and_deleted_venues_are_deleted_after_an_hour(
    manager: Client, osteria: Venue, folder: Path
) -> None:
    save(manager, osteria, photo=picture())
    Branding.objects.all().delete()
    BrandingImage.objects.update(created_at=timezone.now() - timedelta(minutes=59))
    tasks.delete_unused_images()
    assert BrandingImage.objects.count() == 1
    BrandingImage.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    tasks.delete_unused_images()
    assert not BrandingImage.objects.exists()
    assert [file for file in folder.rglob("*") if file.is_file()] == []


def test_a_venue_without_branding_has_our_look(osteria: Venue, client: Client) -> None:
    page = client.get(book_page(osteria))
    assert "<img" not in page.content.decode()
    assert "<style>" not in page.content.decode()


def test_a_closed_account_has_no_images(manager: Client, osteria: Venue) -> None:
    save(manager, osteria, logo=picture())
    look = Branding.objects.get()
    assert look.logo_id
    address = branding.FILES.thumbnail_path(look.logo_id, "small")
    assert manager.get(address).status_code == 200
    osteria.account.closed_at = timezone.now()
    osteria.account.save()
    assert manager.get(address).status_code == 404


def test_the_look_costs_no_query_of_the_booking_page(osteria: Venue, client: Client) -> None:
    with costing(8):
        client.get(book_page(osteria))
    Branding.objects.create(venue=osteria, color="#8b0000")
    with costing(8):
        client.get(book_page(osteria))


def test_a_host_cannot_change_the_look(osteria: Venue) -> None:
    assert users.member(osteria, "host").get(path(osteria)).status_code == 403
