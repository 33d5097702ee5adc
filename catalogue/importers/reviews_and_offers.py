"""What a source states about guests: their reviews, and the discounts that are meant for them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Q

from catalogue.importers.parsing.parsed_place import Place, ReviewLine
from catalogue.models import FlowRule, Restaurant, Review, SourceRecord
from catalogue.reviews import aggregates

REVIEW_COLUMNS = (
    "stars",
    "text",
    "lang",
    "author",
    "visited_on",
    "helpful_count",
    "owner_reply",
    "owner_replied_at",
    "created_at",
)
RULE_COLUMNS = ("weekdays", "time", "percent", "active")
# The root of the ids of reviews that are imported.
REVIEWS = UUID("5b0f2c0e-6f0d-4c57-9a3e-0d6c1f1d7a41")


@dataclass(frozen=True, slots=True)
class Statement:
    """What one record of a source states of its restaurant."""

    restaurant: UUID
    record: str
    place: Place


def write(statements: Sequence[Statement], *, source: str, now: datetime) -> set[UUID]:
    """Make reviews and rules what the records state; the restaurants whose own differed.

    A record takes back what it stated itself, never what another record of the same restaurant did, and where it does
    not speak of them it leaves them alone. Reviews of other sources and discounts of staff stay. The records have to
    be stored; call it in a transaction.
    """
    records = _records_of({each.restaurant for each in statements}, source=source)
    reviewed = _write_reviews(
        [each for each in statements if each.place.reviews is not None], source=source, records=records
    )
    aggregates.update_restaurants(reviewed, now=now)
    return reviewed | _write_rules([each for each in statements if each.place.flow_rules is not None], records=records)


def _records_of(restaurants: set[UUID], *, source: str) -> dict[UUID, dict[str, int]]:
    records: dict[UUID, dict[str, int]] = defaultdict(dict)
    held = SourceRecord.objects.filter(restaurant__in=restaurants, source=source)
    for pk, restaurant, record in held.values_list("pk", "restaurant", "record"):
        records[restaurant][record] = pk
    return records


def _write_reviews(
    stated: Sequence[Statement], *, source: str, records: Mapping[UUID, Mapping[str, int]]
) -> set[UUID]:
    if not stated:
        return set()
    lines = [(each, line) for each in stated for line in each.place.reviews or ()]
    held = Review.objects.in_bulk(_id(source, each.record, line) for each, line in lines)
    of_restaurants = Review.objects.filter(restaurant__in={each.restaurant for each in stated}, source=source)
    records_stated = {each.record for each in stated}
    held |= {review.pk: review for review in of_restaurants.filter(Q(record=None) | Q(record__in=records_stated))}
    former = _former_ids({each.restaurant for each in stated}, source=source)
    wanted: dict[UUID, Review] = {}
    for each, line in lines:
        pk = _id(source, each.record, line)
        if pk not in held:
            is_alone = len(records[each.restaurant]) == 1
            candidates = (held.get(uuid5(place, f"{source}:{line.record}")) for place in former[each.restaurant])
            pk = next((old.pk for old in candidates if old and _is_of(old, each, line, is_alone=is_alone)), pk)
        wanted[pk] = _review(pk, each, line, source=source)
    stating = {(each.restaurant, each.record) for each in stated}
    alone = {each.restaurant for each in stated if len(records[each.restaurant]) == 1}
    gone = [
        review
        for pk, review in held.items()
        if pk not in wanted
        and (
            (review.restaurant_id, review.record) in stating
            or (review.record is None and review.restaurant_id in alone)
        )
    ]
    new = [review for pk, review in wanted.items() if pk not in held or _words(review) != _words(held[pk])]
    Review.objects.filter(pk__in=[review.pk for review in gone]).delete()
    Review.objects.bulk_create(
        new,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["restaurant", "record", *REVIEW_COLUMNS],
        batch_size=1000,
    )
    left = {held[review.pk].restaurant_id for review in new if review.pk in held}
    return left | {review.restaurant_id for review in (*gone, *new)}


def _id(source: str, record: str, line: ReviewLine) -> UUID:
    """The same review has the same id in every import, whichever restaurant it is of: what cites it stays true."""
    return uuid5(uuid5(REVIEWS, f"{source}:{record}"), line.record)


def _former_ids(restaurants: set[UUID], *, source: str) -> dict[UUID, list[UUID]]:
    """Ids of reviews once came from their restaurant: each of these, and those that were merged into it."""
    former = {pk: [pk] for pk in restaurants}
    unnamed = Review.objects.filter(restaurant__in=restaurants, source=source, record=None)
    asked = set(unnamed.values_list("restaurant", flat=True).distinct())
    for merged in Restaurant.objects.filter(merged_into__in=asked):
        if merged.merged_into_id is not None:
            former[merged.merged_into_id].append(merged.pk)
    return former


def _is_of(held: Review, stated: Statement, line: ReviewLine, *, is_alone: bool) -> bool:
    """Whether a review of before records were kept is this line: two records may have called theirs the same."""
    if held.record is not None:
        return held.record == stated.record
    return is_alone or (held.author, held.created_at) == (line.author, line.created_at)


def _review(pk: UUID, stated: Statement, line: ReviewLine, *, source: str) -> Review:
    return Review(
        id=pk,
        restaurant_id=stated.restaurant,
        source_id=source,
        record=stated.record,
        **{column: getattr(line, column) for column in REVIEW_COLUMNS},
    )


def _words(review: Review) -> list[Any]:
    return [review.restaurant_id, review.record, *(getattr(review, column) for column in REVIEW_COLUMNS)]


def _write_rules(stated: Sequence[Statement], *, records: Mapping[UUID, Mapping[str, int]]) -> set[UUID]:
    """A rule that is stated as before stays the row it was, with what staff added to it."""
    if not stated:
        return set()
    by_record: dict[int | None, list[FlowRule]] = defaultdict(list)
    for rule in FlowRule.objects.filter(restaurant__in={each.restaurant for each in stated}).order_by("pk"):
        by_record[rule.source_record_id].append(rule)
    gone: list[FlowRule] = []
    new: list[FlowRule] = []
    for each in stated:
        pk = records[each.restaurant][each.record]
        wanted = Counter((rule.weekdays, rule.time, rule.percent, rule.active) for rule in each.place.flow_rules or ())
        gone += _without(wanted, [rule for rule in by_record[pk] if rule.restaurant_id == each.restaurant])
        # What staff offer already is not offered twice.
        _without(wanted, [rule for rule in by_record[None] if rule.restaurant_id == each.restaurant])
        new += [
            FlowRule(restaurant_id=each.restaurant, source_record_id=pk, **dict(zip(RULE_COLUMNS, rule, strict=True)))
            for rule in wanted.elements()
        ]
    FlowRule.objects.filter(pk__in=[rule.pk for rule in gone]).delete()
    FlowRule.objects.bulk_create(new)
    return {rule.restaurant_id for rule in (*gone, *new)}


def _without(wanted: Counter[tuple[Any, ...]], held: Iterable[FlowRule]) -> list[FlowRule]:
    """Take what is held off what is wanted; the rules that nobody wants."""
    unwanted = []
    for rule in held:
        words = (tuple(rule.weekdays), rule.time, rule.percent, rule.active)
        if wanted[words] > 0:
            wanted[words] -= 1
        else:
            unwanted.append(rule)
    return unwanted
