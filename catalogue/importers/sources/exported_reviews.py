"""The dataset `reviews` of our own exports: JSON lines, a review each, with the slug of its restaurant.

Reviews keep their ids and sources. Photos are not part of the file's rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import ParsedReview
from catalogue.importers.reviews_and_offers import REVIEW_COLUMNS
from catalogue.importers.row_errors import Reject, Row, RowCounts, RowRejected
from catalogue.importers.sources import native_jsonl
from catalogue.importers.sources.exported_rows import ExportedRowImport, find_restaurants, find_unknown
from catalogue.models import Review, Source
from catalogue.reviews import aggregates
from framework.public_ids import decode

DERIVED_FIELDS = ("photos", "restaurant", "source", "rating")


@dataclass(frozen=True, slots=True)
class ExportedReview:
    row: Row
    pk: UUID
    slug: str
    source: str
    review: ParsedReview

    @property
    def columns(self) -> dict[str, Any]:
        return {name: getattr(self.review, name) for name in REVIEW_COLUMNS}


@dataclass(slots=True)
class ReviewImport(ExportedRowImport[ExportedReview]):
    """A run over exported reviews."""

    def upsert(self, parsed: Sequence[ExportedReview]) -> RowCounts:
        """Write parsed reviews. Call it in batch_transaction. Six statements and those of the aggregates."""
        restaurants = find_restaurants({each.slug for each in parsed})
        sources = set(Source.objects.values_list("key", flat=True))
        stored = Review.objects.filter(pk__in=[each.pk for each in parsed])
        existing = {review.pk: review for review in stored.select_for_update().order_by("pk")}
        counts = RowCounts()
        new: dict[UUID, Review] = {}
        for each in parsed:
            if (reason := self._find_problem(each, restaurants, sources, existing)) is not None:
                counts.rejects.append(Reject(each.row, (reason,)))
                continue
            review = Review(id=each.pk, restaurant_id=restaurants[each.slug], source_id=each.source, **each.columns)
            old = existing.get(each.pk)
            if old is None:
                counts.created += 1
            elif all(getattr(old, name) == value for name, value in each.columns.items()):
                counts.unchanged += 1
                continue
            else:
                counts.changed += 1
            new[each.pk] = review
        Review.objects.bulk_create(
            new.values(),
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=REVIEW_COLUMNS,
            batch_size=1000,
        )
        aggregates.update_restaurants({review.restaurant_id for review in new.values()}, now=self.clock())
        return counts

    def _find_problem(
        self, each: ExportedReview, restaurants: dict[str, UUID], sources: set[str], existing: dict[UUID, Review]
    ) -> str | None:
        if reason := find_unknown(each.slug, each.source, restaurants=restaurants, sources=sources):
            return reason
        old = existing.get(each.pk)
        if old and (old.restaurant_id, old.source_id) != (restaurants[each.slug], each.source):
            return "id: this review is stored for another restaurant or source."
        return None

    def _read(self, row: Row, line: Any) -> ExportedReview:
        form = JsonObject(line)
        pk = decode("rev", str(form.value("id")))
        slug, source = form.text("restaurant", max_length=120), form.text("source", max_length=40)
        if pk is None:
            raise RowRejected("id: this is no id of a review (rev_...).")
        content = {name: value for name, value in line.items() if name not in DERIVED_FIELDS}
        # The exact stars, of which `stars` is rounded.
        inner = JsonObject({**content, "stars": line.get("rating", line.get("stars"))})
        review = native_jsonl.parse_review(inner, on=self.clock().date())
        if review is None or inner.problems:
            raise RowRejected(*inner.problems)
        # As it was stored: an unknown language is not detected anew.
        return ExportedReview(row, pk, slug, source, replace(review, lang=line.get("lang") or ""))
