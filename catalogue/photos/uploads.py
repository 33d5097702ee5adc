"""Photos that staff upload: judged as pictures, and stored as nothing but their pixels."""

import io
import warnings
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from django.db import transaction
from PIL import Image, ImageOps, UnidentifiedImageError

from catalogue.models import Photo
from catalogue.photos import thumbnails
from catalogue.reviews import aggregates
from framework.errors import InvalidRequest
from framework.public_ids import encode

LARGEST_BYTES = 15 * 1024 * 1024
LARGEST_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "WEBP")
QUALITY = 90


class BadPicture(InvalidRequest):
    """A file that is not stored, and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="file")


def read(file: BinaryIO, *, length: int) -> Image.Image:
    """The picture in a file, upright, its pixels alone: where and with what it was taken stays out.

    Raises BadPicture for what is too large, broken or no picture; its size is judged before it is unpacked.
    """
    if length > LARGEST_BYTES:
        raise BadPicture(f"This file is larger than {LARGEST_BYTES // 1024**2} MB.")
    try:
        with warnings.catch_warnings():
            # Pillow warns from a bound of its own on; ours is judged below, before anything is unpacked.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(file, formats=FORMATS)
        if picture.width * picture.height > LARGEST_PIXELS:
            raise BadPicture(f"This picture has more than {LARGEST_PIXELS // 1_000_000} megapixels.")
        upright = ImageOps.exif_transpose(picture)
        ground = Image.new("RGB", upright.size, "white")
        # What is see-through is shown on white.
        ground.paste(upright.convert("RGB"), mask=upright.convert("RGBA").getchannel("A"))
    except Image.DecompressionBombError as error:
        raise BadPicture(f"This picture has more than {LARGEST_PIXELS // 1_000_000} megapixels.") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadPicture("This is no JPEG, PNG or WebP picture, or it is broken.") from error
    return ground


def add(photo: Photo, picture: Image.Image, *, now: datetime) -> None:
    """Store a new photo with its original. The file is there before the row, so that no row leads nowhere."""
    photo.width, photo.height = picture.size
    photo.file = f"originals/{photo.pk.hex[-2:]}/{encode('ph', photo.pk)}.jpg"
    photo.created_at = now
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY, optimize=True)
    thumbnails.keep(photo.file, file.getvalue())
    try:
        with transaction.atomic():
            photo.save(force_insert=True)
            aggregates.restaurants([photo.restaurant_id], now=now)
    except BaseException:
        thumbnails.remove([photo.file])
        raise


def hide(photos: Any, *, hidden: bool, now: datetime) -> int:
    """Take these photos off the service, or put them back; how many were not so. `photos` is a query set."""
    with transaction.atomic():
        chosen = list(photos.order_by("pk").select_for_update(of=("self",)).values_list("pk", "restaurant_id"))
        changed = Photo.objects.filter(pk__in=[pk for pk, _ in chosen]).exclude(is_hidden=hidden)
        count = changed.update(is_hidden=hidden)
        aggregates.restaurants({restaurant for _, restaurant in chosen}, now=now)
    return count


def delete(photos: Any, *, now: datetime) -> int:
    """Delete these photos; once that is certain, their files."""
    with transaction.atomic():
        chosen = list(photos.order_by("pk").select_for_update(of=("self",)))
        Photo.objects.filter(pk__in=[photo.pk for photo in chosen]).delete()
        aggregates.restaurants({photo.restaurant_id for photo in chosen}, now=now)
        names = [thumbnails.kept_name(photo, size) for photo in chosen for size in thumbnails.SIZES]
        names += [photo.file for photo in chosen if photo.file]
        transaction.on_commit(partial(thumbnails.remove, names))
    return len(chosen)
