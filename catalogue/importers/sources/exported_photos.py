"""The dataset `photos` of our own exports: JSON lines, a photo each, with the slug of its restaurant.

A worker downloads them from the installation that exported them, in the large size. They are not part of reviews.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, BinaryIO
from uuid import UUID

from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import ParsedPhoto
from catalogue.importers.row_errors import Reject, Row, RowCounts, RowRejected, clean_content
from catalogue.importers.sources import native_jsonl
from catalogue.importers.sources.exported_reviews import find_restaurants
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
class PhotoRowImport:
    """A run over exported photos of restaurants that the catalogue has. `source` is that of the run."""

    clock: Callable[[], datetime]
    source: str = "native"

    def read_rows(self, stream: BinaryIO) -> Iterator[Any]:
        return native_jsonl.read_rows(stream)

    def parse(self, rows: Sequence[Row]) -> tuple[list[ExportedPhoto], RowCounts]:
        """Parse rows and count those that are not imported. No query."""
        counts, found = RowCounts(), []
        for row in rows:
            try:
                found.append(self._read(row))
            except RowRejected as error:
                counts.rejects.append(Reject(row, error.reasons))
        return found, counts

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
            if each.slug not in restaurants:
                reason = f"restaurant: {each.slug!r} is not in the catalogue; import the restaurants first."
                counts.rejects.append(Reject(each.row, (reason,)))
            elif each.source not in licenses:
                reason = f"source: {each.source!r} is not known; add it in the admin."
                counts.rejects.append(Reject(each.row, (reason,)))
            elif each.pk in present or (restaurants[each.slug], each.photo.url) in listed:
                counts.unchanged += 1
            else:
                counts.created += 1
                listed.add((restaurants[each.slug], each.photo.url))
                values = {**asdict(each.photo), "license": each.photo.license or licenses[each.source]}
                new.append(
                    PhotoImport(
                        restaurant_id=restaurants[each.slug],
                        source_id=each.source,
                        record=each.record,
                        next_try_at=now,
                        created_at=now,
                        **values,
                    )
                )
        PhotoImport.objects.bulk_create(new, ignore_conflicts=True)
        return counts

    def _read(self, row: Row) -> ExportedPhoto:
        try:
            line = clean_content(json.loads(row.content))
        except (ValueError, RecursionError) as error:
            raise RowRejected(f"The line is no JSON: {error}.") from error
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
