"""The dataset `photos` of our own exports: JSON lines, a photo each, with the slug of its restaurant.

A worker downloads them from the installation that exported them, in the large size. They are not part of reviews.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import ParsedPhoto
from catalogue.importers.photo_lists import build_pending, list_values
from catalogue.importers.row_errors import Reject, Row, RowCounts, RowRejected
from catalogue.importers.sources import native_jsonl
from catalogue.importers.sources.exported_rows import ExportedRowImport, find_restaurants, find_unknown
from catalogue.models import Photo, PhotoImport, Source
from framework.public_ids import decode


@dataclass(frozen=True, slots=True)
class ExportedPhoto:
    row: Row
    record: str
    pk: UUID
    slug: str
    source: str
    photo: ParsedPhoto


@dataclass(slots=True)
class PhotoRowImport(ExportedRowImport[ExportedPhoto]):
    """A run over exported photos."""

    def upsert(self, parsed: Sequence[ExportedPhoto]) -> RowCounts:
        """Make new photos pending. Call it in batch_transaction. Six statements."""
        restaurants = find_restaurants({each.slug for each in parsed})
        licenses = dict(Source.objects.values_list("key", "license"))
        # Photos of this installation itself.
        present = set(Photo.objects.filter(pk__in=[each.pk for each in parsed]).values_list("pk", flat=True))
        known = PhotoImport.objects.filter(restaurant__in=restaurants.values())
        listed = set(known.values_list("restaurant", "url"))
        counts, now = RowCounts(), self.clock()
        new: list[PhotoImport] = []
        for each in parsed:
            if reason := find_unknown(each.slug, each.source, restaurants=restaurants, sources=licenses):
                counts.rejects.append(Reject(each.row, (reason,)))
            elif each.pk in present or (restaurants[each.slug], each.photo.url) in listed:
                counts.unchanged += 1
            else:
                counts.created += 1
                listed.add((restaurants[each.slug], each.photo.url))
                values = list_values(each.photo, default_license=licenses[each.source])
                place = restaurants[each.slug]
                new.append(build_pending(values, restaurant=place, source=each.source, record=each.record, now=now))
        PhotoImport.objects.bulk_create(new, ignore_conflicts=True)
        return counts

    def _read(self, row: Row, line: Any) -> ExportedPhoto:
        form = JsonObject(line)
        record = str(form.value("id"))
        pk = decode("ph", record)
        if pk is None:
            raise RowRejected("id: this is no id of a photo (ph_...).")
        slug, source = form.text("restaurant", max_length=120), form.text("source", max_length=40)
        photo = native_jsonl.parse_photo(form, place=slug)
        if form.problems:
            raise RowRejected(*form.problems)
        return ExportedPhoto(row, record, pk, slug, source, photo)
