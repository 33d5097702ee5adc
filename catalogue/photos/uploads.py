"""Photos that staff upload: stored, hidden and deleted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from PIL import Image

from catalogue.models import Photo
from catalogue.photos.thumbnails import stored_names
from catalogue.reviews import aggregates
from framework.images.storage import delete_files, store_file
from framework.images.uploads import encode_original
from framework.public_ids import encode


def add_photo(photo: Photo, image: Image.Image, *, now: datetime) -> None:
    """Store a new photo with its original. The file is written before the row, so no row lacks its file."""
    with stored_original(photo, image, now=now), transaction.atomic():
        save_photo(photo, now=now)


@contextmanager
def stored_original(photo: Photo, image: Image.Image, *, now: datetime) -> Iterator[None]:
    """Encode and store the original of a photo, which the caller then saves; delete the file if that fails."""
    photo.width, photo.height = image.size
    photo.file = f"originals/{photo.pk.hex[-2:]}/{encode('ph', photo.pk)}.jpg"
    photo.created_at = now
    store_file(photo.file, encode_original(image))
    try:
        yield
    except BaseException:
        delete_files([photo.file])
        raise


def save_photo(photo: Photo, *, now: datetime) -> None:
    """Store the row of a photo whose file is stored. The caller has a transaction."""
    photo.save(force_insert=True)
    aggregates.update_restaurants([photo.restaurant_id], now=now)


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
