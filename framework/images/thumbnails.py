"""Thumbnails: the bytes of a photo in each size that is served, made on first request and then stored."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from PIL import Image

from framework.images.storage import photo_storage, store_file

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


def thumbnail_dimensions(size: str, *, width: int, height: int) -> tuple[int, int]:
    """Width and height in pixels of a thumbnail, given those of the original."""
    thumbnail_width = min(SIZES[size], width)
    return thumbnail_width, max(1, round(height * thumbnail_width / width))


def load_or_make(name: str, make: Callable[[], bytes]) -> Thumbnail:
    """Return the stored thumbnail `name`; the first request makes and stores it.

    The first request takes about 25 ms of a core for a card and 80 ms for an upload; later ones read one file.
    Concurrent first requests make the same bytes.
    """
    try:
        with photo_storage().open(name) as file:
            content = file.read()
    except FileNotFoundError:
        content = make()
        store_file(name, content)
    return Thumbnail(content=content, etag=sha256(content).hexdigest()[:32])


def scale_original(name: str, size: str) -> bytes:
    """Return the stored original `name` as a thumbnail. Raises FileNotFoundError."""
    with photo_storage().open(name) as file, Image.open(file) as original:
        dimensions = thumbnail_dimensions(size, width=original.width, height=original.height)
        return encode(original.convert("RGB").resize(dimensions, Image.Resampling.LANCZOS))


def encode(image: Image.Image) -> bytes:
    """Return the image as WebP without metadata."""
    output = io.BytesIO()
    image.save(output, "WEBP", quality=QUALITY, method=2)
    return output.getvalue()
