"""The photos that imported records list: they are stored as work for a worker, which downloads each once."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from catalogue.importers.parsing.parsed_place import ParsedPhoto
from catalogue.importers.reviews_and_offers import RecordContent
from catalogue.models import Photo, PhotoImport, Source
from catalogue.photos import uploads

TEXT_COLUMNS = ("kind", "caption", "alt", "author", "license")


def write_photo_lists(contents: Sequence[RecordContent], *, source: str, now: datetime) -> None:
    """Make the listed photos pending, except those that were listed before, and delete those that no longer are.

    A record deletes only what it has listed itself, and nothing without a list. A changed text changes the photo
    unless staff have edited it. Photos that staff deleted stay deleted. The records have to be saved before; call it
    in a transaction that has locked the restaurants.
    """
    listing = [each for each in contents if each.place.photos is not None]
    if not listing:
        return
    default_license = Source.objects.values_list("license", flat=True).get(key=source)
    restaurants = {each.restaurant for each in listing}
    known = PhotoImport.objects.filter(restaurant__in=restaurants).select_related("photo")
    existing = {(row.restaurant_id, row.url): row for row in known}
    listed: set[Any] = set()
    new: list[PhotoImport] = []
    for each in listing:
        for photo in each.place.photos or ():
            values = list_values(photo, default_license=default_license)
            key = each.restaurant, photo.url
            listed.add(key)
            if key not in existing:
                new.append(
                    build_pending(values, restaurant=each.restaurant, source=source, record=each.record, now=now)
                )
            elif (existing[key].source_id, existing[key].record) == (source, each.record):
                _update_texts(existing[key], values)
    PhotoImport.objects.bulk_create(new, ignore_conflicts=True)
    records = {(each.restaurant, each.record) for each in listing}
    removed = [
        row
        for key, row in existing.items()
        if key not in listed and row.source_id == source and (row.restaurant_id, row.record) in records
    ]
    if removed:
        photos = [row.photo_id for row in removed if row.photo_id]
        PhotoImport.objects.filter(pk__in=[row.pk for row in removed]).delete()
        uploads.delete_photos(Photo.objects.filter(pk__in=photos), now=now)


def list_values(photo: ParsedPhoto, *, default_license: str) -> dict[str, Any]:
    """Return the columns of a listed photo."""
    return {**asdict(photo), "license": photo.license or default_license}


def build_pending(values: dict[str, Any], *, restaurant: UUID, source: str, record: str, now: datetime) -> PhotoImport:
    """Return the unsaved work of downloading a photo with these columns."""
    return PhotoImport(
        restaurant_id=restaurant, source_id=source, record=record, next_try_at=now, created_at=now, **values
    )


def _update_texts(row: PhotoImport, values: dict[str, Any]) -> None:
    changed = {column: values[column] for column in TEXT_COLUMNS if getattr(row, column) != values[column]}
    if not changed:
        return
    if row.photo:
        unedited = {
            column: value for column, value in changed.items() if getattr(row.photo, column) == getattr(row, column)
        }
        if unedited:
            Photo.objects.filter(pk=row.photo.pk).update(**unedited)
    PhotoImport.objects.filter(pk=row.pk).update(**changed)
