"""Thumbnails: the bytes of a photo in each size that is served, made on first request and then stored."""

import io
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from PIL import Image

from catalogue.demo.photo_cards import draw_card
from catalogue.models import Photo
from framework.public_ids import encode

# Maximum width in pixels; no photo is enlarged.
SIZES: Mapping[str, int] = {"small": 400, "large": 1200}
CONTENT_TYPE = "image/webp"
QUALITY = 74
# Part of the stored names: increase it when thumbnails come out differently, so that all are made again.
VERSION = 2


@dataclass(frozen=True, slots=True)
class Thumbnail:
    content: bytes
    etag: str


def photo_storage() -> Storage:
    return storages["photos"]


def thumbnail_dimensions(size: str, *, width: int, height: int) -> tuple[int, int]:
    """Width and height in pixels of a thumbnail, given those of the original."""
    thumbnail_width = min(SIZES[size], width)
    return thumbnail_width, max(1, round(height * thumbnail_width / width))


def thumbnail_name(photo: Photo, size: str) -> str:
    """Name of a thumbnail in the storage."""
    name = encode("ph", photo.pk)
    # The last characters of an id are random, so the folders fill evenly.
    return f"sizes-{VERSION}/{name[-2:]}/{name}-{size}.webp"


def stored_names(photos: list[Photo]) -> list[str]:
    """Names in the storage of the originals and thumbnails of these photos."""
    originals = [photo.file for photo in photos if photo.file]
    return originals + [thumbnail_name(photo, size) for photo in photos for size in SIZES]


def load_thumbnail(photo: Photo, size: str) -> Thumbnail:
    """Return a thumbnail; the first request makes and stores it.

    The first request takes about 25 ms of a core for a card and 80 ms for an upload; later ones read one file.
    Concurrent first requests make the same bytes.
    """
    name = thumbnail_name(photo, size)
    try:
        with photo_storage().open(name) as file:
            content = file.read()
    except FileNotFoundError:
        content = make_thumbnail(photo, size)
        store_file(name, content)
    return Thumbnail(content=content, etag=sha256(content).hexdigest()[:32])


def make_thumbnail(photo: Photo, size: str) -> bytes:
    """Scale the original, or draw the card of a generated photo; WebP without metadata."""
    width, height = thumbnail_dimensions(size, width=photo.width, height=photo.height)
    if photo.card_seed is not None:
        title = photo.caption or photo.get_kind_display()
        image = draw_card(photo.card_seed, title=title, footer=photo.restaurant.name, width=width, height=height)
    else:
        with photo_storage().open(photo.file) as file, Image.open(file) as original:
            image = original.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    output = io.BytesIO()
    image.save(output, "WEBP", quality=QUALITY, method=2)
    return output.getvalue()


def store_file(name: str, content: bytes) -> None:
    """Write a file to the storage atomically: readers see all of it or none."""
    try:
        path = Path(photo_storage().path(name))
    except NotImplementedError:
        # Storages that are not file systems write an object as a whole.
        photo_storage().save(name, ContentFile(content))
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def delete_files(names: list[str]) -> None:
    """Delete files from the storage; missing ones are ignored."""
    for name in names:
        photo_storage().delete(name)
