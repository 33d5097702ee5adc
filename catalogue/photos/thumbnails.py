"""The bytes of a photo in the two sizes that are served: made once, then kept in the storage."""

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

from catalogue.models import Photo
from catalogue.painting import paint
from framework.public_ids import encode

# Pixels across; nothing is made larger than it is.
SIZES: Mapping[str, int] = {"small": 400, "large": 1200}
CONTENT_TYPE = "image/webp"
# A picture that comes out larger is written again with fewer details.
LARGEST_PAINTED = 40_000
QUALITIES = (74, 58, 44)
# Of what this program paints: a new one paints all anew.
EDITION = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of one size, and the hash that names them."""

    content: bytes
    etag: str


def storage() -> Storage:
    """Where photos are kept."""
    return storages["photos"]


def measures(size: str, *, width: int, height: int) -> tuple[int, int]:
    """The width and height in a size, in pixels, of a photo that has these."""
    narrowed = min(SIZES[size], width)
    return narrowed, max(1, round(height * narrowed / width))


def kept_name(photo: Photo, size: str) -> str:
    """What the bytes of a size are called in the storage."""
    name = encode("ph", photo.pk)
    # The last letters are random, so that folders fill evenly.
    return f"sizes-{EDITION}/{name[-2:]}/{name}-{size}.webp"


def picture(photo: Photo, size: str) -> Picture:
    """The bytes of a size; made and kept where nobody has asked for them yet.

    About 80 ms of a core the first time, one file read afterwards. Two who ask at once make the same bytes.
    """
    name = kept_name(photo, size)
    try:
        with storage().open(name) as file:
            content = file.read()
    except FileNotFoundError:
        content = made(photo, size)
        keep(name, content)
    return Picture(content=content, etag=sha256(content).hexdigest()[:32])


def made(photo: Photo, size: str) -> bytes:
    """The bytes of a size, made from the original, or painted."""
    width, height = measures(size, width=photo.width, height=photo.height)
    if photo.art is not None:
        painted = paint(photo.art, kind=photo.kind, width=width, height=height)
        versions = (written(painted, quality) for quality in QUALITIES)
        return next(
            (content for content in versions if len(content) <= LARGEST_PAINTED), written(painted, QUALITIES[-1])
        )
    with storage().open(photo.file) as file, Image.open(file) as original:
        return written(original.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), QUALITIES[0])


def written(picture: Image.Image, quality: int) -> bytes:
    """A picture as WebP, without anything but its pixels."""
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=quality, method=2)
    return file.getvalue()


def keep(name: str, content: bytes) -> None:
    """Put a whole file into the storage: written under another name first, so that nobody reads half of it."""
    try:
        path = Path(storage().path(name))
    except NotImplementedError:
        # What is no file system stores an object as a whole or not at all.
        storage().save(name, ContentFile(content))
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def remove(names: list[str]) -> None:
    """Take files out of the storage; those that are not there are no matter."""
    for name in names:
        storage().delete(name)
