"""Photos of dishes: stored, served in two sizes, replaced and deleted."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from PIL import Image

from framework.images.photo_files import PhotoFiles
from framework.images.thumbnails import Thumbnail
from framework.images.uploads import encode_original
from framework.public_ids import decode
from orders.models import DishPhoto, MenuItem

FILES = PhotoFiles(prefix="dish", folder="dishes")
# A photo that has no dish after this time is not being uploaded any more.
MAX_UPLOAD_TIME = timedelta(hours=1)


def thumbnail_path(photo: UUID, size: str) -> str:
    return FILES.thumbnail_path(photo, size)


def load(public_id: str, size: str) -> Thumbnail | None:
    """Return a thumbnail of a dish's photo; the first request makes and stores it.

    None if no dish has the photo, if its account is closed, or if its file is missing. One query.
    """
    pk = decode(FILES.prefix, public_id)
    if not pk or not MenuItem.objects.filter(photo=pk, menu__venue__account__closed_at=None).exists():
        return None
    return FILES.load(pk, size)


def store(image: Image.Image, *, now: datetime) -> DishPhoto:
    """Store a photo that no dish has yet, outside a transaction."""
    return store_original(encode_original(image), now=now)


def store_original(content: bytes, *, now: datetime) -> DishPhoto:
    """Store a photo in the form of encode_original. Unless it is given to a dish, delete_unused deletes it.

    Call it outside a transaction: after a crash the committed row is what tells that there may be a file.
    """
    photo = DishPhoto.objects.create(created_at=now)
    FILES.store(photo.pk, content)
    return photo


def set_photo(item: MenuItem, photo: DishPhoto | None) -> bool:
    """Give the dish this photo, or none, and delete the previous one after the commit; False for a deleted dish."""
    with transaction.atomic():
        rows = MenuItem.objects.filter(pk=item.pk)
        discard_on_commit(rows.select_for_update().values_list("photo", flat=True))
        return bool(rows.update(photo=photo))


def discard_on_commit(photos: Iterable[UUID | None]) -> None:
    """Delete photos whose dishes are deleted, or have another photo, when the current transaction commits."""
    transaction.on_commit(partial(delete, [pk for pk in photos if pk]))


def delete(photos: Iterable[UUID]) -> None:
    """Delete those photos that no dish has: the files, then the row, so that an interrupted call can be repeated."""
    for photo in DishPhoto.objects.filter(pk__in=list(photos), item=None):
        FILES.delete(photo.pk)
        photo.delete()


def delete_unused(*, now: datetime) -> int:
    """Delete the photos of deleted menus and venues, and of interrupted uploads; return how many."""
    unused = DishPhoto.objects.filter(item=None, created_at__lt=now - MAX_UPLOAD_TIME).values_list("pk", flat=True)
    photos = list(unused)
    delete(photos)
    return len(photos)
