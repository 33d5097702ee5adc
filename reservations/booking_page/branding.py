"""The look of a venue's pages for guests: its colour, and the files of its logo and photo."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from PIL import Image

from accounts.models import Venue
from framework.images.photo_files import PhotoFiles
from framework.images.thumbnails import Thumbnail
from framework.images.uploads import encode_original
from framework.public_ids import decode
from framework.style_policy import allow_style
from reservations.booking_page.colors import make_palettes
from reservations.models import Branding, BrandingImage

FILES = PhotoFiles(prefix="img", folder="branding")
# An image that no branding has after this time is not being uploaded any more.
MAX_UPLOAD_TIME = timedelta(hours=1)
IMAGES = ("logo", "photo")


def find_branding(venue: Venue) -> Branding | None:
    """Return the branding of a venue. No query if the venue was loaded with it, else one."""
    return getattr(venue, "branding", None)


def image_url(image: UUID, size: str) -> str:
    """Return the absolute URL of an image, for email."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + FILES.thumbnail_path(image, size)


def make_css(branding: Branding | None) -> str:
    """Return the style sheet that sets the colour, for a <style> element; empty for ours."""
    if branding is None or not branding.color:
        return ""
    light, dark = make_palettes(branding.color)
    return f":root{{{light.css}}}@media (prefers-color-scheme:dark){{:root{{{dark.css}}}}}"


def allow_branding(policy: str, branding: Branding | None) -> str:
    """Return the content security policy of a page that also allows the style sheet, by its hash."""
    return allow_style(policy, make_css(branding))


def load_image(public_id: str, size: str) -> Thumbnail | None:
    """Return a thumbnail of an image; None if no venue of an open account has it. One query."""
    pk = decode(FILES.prefix, public_id)
    has_image = Q(logo=pk) | Q(photo=pk)
    if not pk or not Branding.objects.filter(has_image, venue__account__closed_at=None).exists():
        return None
    return FILES.load(pk, size)


def set_image(venue: Venue, name: str, image: Image.Image | None, *, now: datetime) -> None:
    """Store the image as the venue's `logo` or `photo`, or remove that, and delete the former one after the commit.

    Call it outside a transaction: after a crash the committed row is what tells that there may be a file.
    """
    stored = None
    if image is not None:
        stored = BrandingImage.objects.create(created_at=now)
        FILES.store(stored.pk, encode_original(image))
    with transaction.atomic():
        Branding.objects.get_or_create(venue=venue)
        branding = Branding.objects.select_for_update().get(venue=venue)
        former = getattr(branding, f"{name}_id")
        setattr(branding, name, stored)
        branding.save(update_fields=[name])
        transaction.on_commit(partial(delete_images, [former] if former else []))


def delete_images(images: Iterable[UUID]) -> None:
    """Delete those images that no venue has: the files, then the row, so that an interrupted call can be repeated."""
    for image in BrandingImage.objects.filter(pk__in=list(images), logo_of=None, photo_of=None):
        FILES.delete(image.pk)
        image.delete()


def delete_unused_images(*, now: datetime) -> int:
    """Delete the images of deleted venues and of interrupted uploads; return how many."""
    unused = BrandingImage.objects.filter(logo_of=None, photo_of=None, created_at__lt=now - MAX_UPLOAD_TIME)
    images = list(unused.values_list("pk", flat=True))
    delete_images(images)
    return len(images)
