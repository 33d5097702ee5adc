"""Photos that staff upload: validated, stored without metadata, hidden and deleted."""

import io
import warnings
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from django.db import transaction
from PIL import Image, ImageOps, UnidentifiedImageError

from catalogue.models import Photo
from catalogue.photos.thumbnails import delete_files, store_file, stored_names
from catalogue.reviews import aggregates
from framework.errors import InvalidRequest
from framework.public_ids import encode

MAX_BYTES = 15 * 1024 * 1024
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "WEBP")
QUALITY = 90


class InvalidImage(InvalidRequest):
    """The uploaded file is too large, broken or not an image of an accepted format."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="file")


def read_image(file: BinaryIO, *, length: int) -> Image.Image:
    """Decode an upload of `length` bytes: upright, on white, without metadata such as camera and location.

    The number of pixels is checked before they are decoded. Raises InvalidImage.
    """
    if length > MAX_BYTES:
        raise InvalidImage(f"The file is larger than {MAX_BYTES // 1024**2} MB.")
    too_many_pixels = InvalidImage(f"The image has more than {MAX_PIXELS // 1_000_000} megapixels.")
    try:
        with warnings.catch_warnings():
            # Pillow warns about images above its own limit; ours is checked below, before decoding.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(file, formats=FORMATS)
        if image.width * image.height > MAX_PIXELS:
            raise too_many_pixels
        upright = ImageOps.exif_transpose(image)
        flattened = Image.new("RGB", upright.size, "white")
        flattened.paste(upright.convert("RGB"), mask=upright.convert("RGBA").getchannel("A"))
    except Image.DecompressionBombError as error:
        raise too_many_pixels from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise InvalidImage("The file is not a JPEG, PNG or WebP image, or it is broken.") from error
    return flattened


def add_photo(photo: Photo, image: Image.Image, *, now: datetime) -> None:
    """Store a new photo with its original. The file is written before the row, so no row lacks its file."""
    photo.width, photo.height = image.size
    photo.file = f"originals/{photo.pk.hex[-2:]}/{encode('ph', photo.pk)}.jpg"
    photo.created_at = now
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    store_file(photo.file, file.getvalue())
    try:
        with transaction.atomic():
            photo.save(force_insert=True)
            aggregates.update_restaurants([photo.restaurant_id], now=now)
    except BaseException:
        delete_files([photo.file])
        raise


def set_hidden(photos: Any, *, hidden: bool, now: datetime) -> int:
    """Hide the photos of a query set, or show them again. Returns how many changed."""
    with transaction.atomic():
        locked = list(photos.order_by("pk").select_for_update(of=("self",)).values_list("pk", "restaurant_id"))
        changed = Photo.objects.filter(pk__in=[pk for pk, _ in locked]).exclude(is_hidden=hidden)
        count = changed.update(is_hidden=hidden)
        aggregates.update_restaurants({restaurant for _, restaurant in locked}, now=now)
    return count


def delete_photos(photos: Any, *, now: datetime) -> int:
    """Delete the photos of a query set, and their files after the commit. Returns how many."""
    with transaction.atomic():
        locked = list(photos.order_by("pk").select_for_update(of=("self",)))
        Photo.objects.filter(pk__in=[photo.pk for photo in locked]).delete()
        aggregates.update_restaurants({photo.restaurant_id for photo in locked}, now=now)
        transaction.on_commit(partial(delete_files, stored_names(locked)))
    return len(locked)
