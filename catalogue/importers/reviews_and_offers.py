"""Reviews and discounts of imported restaurants."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Q

from catalogue.importers.parsing.parsed_place import ParsedPlace, ParsedReview, ParsedRule
from catalogue.models import FlowRule, Restaurant, Review, SourceRecord
from catalogue.reviews import aggregates

REVIEW_COLUMNS = tuple(column.name for column in fields(ParsedReview) if column.name != "record")
REPLY_COLUMNS = ("owner_reply", "owner_replied_at")
# The namespace of the ids of imported reviews.
REVIEW_NAMESPACE = UUID("5b0f2c0e-6f0d-4c57-9a3e-0d6c1f1d7a41")


@dataclass(frozen=True, slots=True)
class RecordContent:
    restaurant: UUID
    place: ParsedPlace

    @property
    def record(self) -> str:
        return self.place.record


def write_reviews_and_rules(contents: Sequence[RecordContent], *, source: str, now: datetime) -> set[UUID]:
    """Update the reviews and offer rules of these records; return the restaurants that have changed.

    A record deletes only what it has created itself, and nothing if it does not list reviews or rules. Reviews of
    other sources and discounts of staff stay. The records have to be saved before; call it in a transaction.
    """
    records = _load_records({each.restaurant for each in contents}, source=source)
    reviewed = _write_reviews(
        [each for each in contents if each.place.reviews is not None], source=source, records=records
    )
    aggregates.update_restaurants(reviewed, now=now)
    return reviewed | _write_rules([each for each in contents if each.place.flow_rules is not None], records=records)


def _load_records(restaurants: set[UUID], *, source: str) -> dict[UUID, dict[str, int]]:
    records: dict[UUID, dict[str, int]] = defaultdict(dict)
    existing = SourceRecord.objects.filter(restaurant__in=restaurants, source=source)
    for pk, restaurant, record in existing.values_list("pk", "restaurant", "record"):
        records[restaurant][record] = pk
    return records


def _write_reviews(
    contents: Sequence[RecordContent], *, source: str, records: Mapping[UUID, Mapping[str, int]]
) -> set[UUID]:
    if not contents:
        return set()
    lines = [(each, line) for each in contents for line in each.place.reviews or ()]
    existing = Review.objects.in_bulk(_review_id(source, each.record, line) for each, line in lines)
    of_restaurants = Review.objects.filter(restaurant__in={each.restaurant for each in contents}, source=source)
    record_ids = {each.record for each in contents}
    existing |= {review.pk: review for review in of_restaurants.filter(Q(record=None) | Q(record__in=record_ids))}
    former = _load_merged_ids({each.restaurant for each in contents}, source=source)
    reviews: dict[UUID, Review] = {}
    for each, line in lines:
        pk = _review_id(source, each.record, line)
        if pk not in existing:
            is_alone = len(records[each.restaurant]) == 1
            candidates = (existing.get(uuid5(place, f"{source}:{line.record}")) for place in former[each.restaurant])
            pk = next(
                (old.pk for old in candidates if old and _is_same_review(old, each, line, is_alone=is_alone)), pk
            )
        reviews[pk] = Review(
            id=pk,
            restaurant_id=each.restaurant,
            source_id=source,
            record=each.record,
            **{column: getattr(line, column) for column in REVIEW_COLUMNS},
        )
        if pk in existing and existing[pk].keeps_reply:
            for column in REPLY_COLUMNS:
                setattr(reviews[pk], column, getattr(existing[pk], column))
    listed = {(each.restaurant, each.record) for each in contents}
    alone = {each.restaurant for each in contents if len(records[each.restaurant]) == 1}
    removed = [
        review
        for pk, review in existing.items()
        if pk not in reviews
        and (
            (review.restaurant_id, review.record) in listed
            or (review.record is None and review.restaurant_id in alone)
        )
    ]
    new = [
        review
        for pk, review in reviews.items()
        if pk not in existing or _review_values(review) != _review_values(existing[pk])
    ]
    Review.objects.filter(pk__in=[review.pk for review in removed]).delete()
    Review.objects.bulk_create(
        new,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["restaurant", "record", *REVIEW_COLUMNS],
        batch_size=1000,
    )
    previous = {existing[review.pk].restaurant_id for review in new if review.pk in existing}
    return previous | {review.restaurant_id for review in (*removed, *new)}


def _review_id(source: str, record: str, line: ParsedReview) -> UUID:
    """The same review has the same id in every import, whatever its restaurant, so that citations stay valid."""
    return uuid5(uuid5(REVIEW_NAMESPACE, f"{source}:{record}"), line.record)


def _load_merged_ids(restaurants: set[UUID], *, source: str) -> dict[UUID, list[UUID]]:
    """Return by restaurant its own id and those merged into it: ids of older reviews derive from them."""
    former = {pk: [pk] for pk in restaurants}
    unnamed = Review.objects.filter(restaurant__in=restaurants, source=source, record=None)
    restaurants_with_unnamed = set(unnamed.values_list("restaurant", flat=True).distinct())
    for merged in Restaurant.objects.filter(merged_into__in=restaurants_with_unnamed):
        if merged.merged_into_id is not None:
            former[merged.merged_into_id].append(merged.pk)
    return former


def _is_same_review(existing: Review, content: RecordContent, line: ParsedReview, *, is_alone: bool) -> bool:
    """Whether a review without a record is this one: two records may use the same review id."""
    if existing.record is not None:
        return existing.record == content.record
    return is_alone or (existing.author, existing.created_at) == (line.author, line.created_at)


def _review_values(review: Review) -> list[Any]:
    return [review.restaurant_id, review.record, *(getattr(review, column) for column in REVIEW_COLUMNS)]


def _write_rules(contents: Sequence[RecordContent], *, records: Mapping[UUID, Mapping[str, int]]) -> set[UUID]:
    """An unchanged rule keeps its row, with the changes of staff."""
    if not contents:
        return set()
    by_record: dict[int | None, list[FlowRule]] = defaultdict(list)
    for rule in FlowRule.objects.filter(restaurant__in={each.restaurant for each in contents}).order_by("pk"):
        by_record[rule.source_record_id].append(rule)
    removed: list[FlowRule] = []
    new: list[FlowRule] = []
    for each in contents:
        pk = records[each.restaurant][each.record]
        missing = Counter(each.place.flow_rules or ())
        removed += _subtract_rules(missing, [rule for rule in by_record[pk] if rule.restaurant_id == each.restaurant])
        # A discount of staff is not created twice.
        _subtract_rules(missing, [rule for rule in by_record[None] if rule.restaurant_id == each.restaurant])
        new += [
            FlowRule(restaurant_id=each.restaurant, source_record_id=pk, **asdict(rule)) for rule in missing.elements()
        ]
    FlowRule.objects.filter(pk__in=[rule.pk for rule in removed]).delete()
    FlowRule.objects.bulk_create(new)
    return {rule.restaurant_id for rule in (*removed, *new)}


def _subtract_rules(missing: Counter[ParsedRule], existing: Iterable[FlowRule]) -> list[FlowRule]:
    """Remove existing rules from the missing ones; return those that the record does not list."""
    unwanted = []
    for rule in existing:
        key = ParsedRule(weekdays=tuple(rule.weekdays), time=rule.time, percent=rule.percent, active=rule.active)
        if missing[key] > 0:
            missing[key] -= 1
        else:
            unwanted.append(rule)
    return unwanted
