"""The storage of photos: originals and thumbnails, written atomically."""

import os
import tempfile
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages


def photo_storage() -> Storage:
    return storages["photos"]


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
