"""What a source states about guests: their reviews, and the discounts that are meant for them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid5

from catalogue import recount
from catalogue.importers.place import Place, ReviewLine
from catalogue.models import FlowRule, Restaurant, Review

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


def write(places: Sequence[tuple[Restaurant, Place]], *, source: str) -> set[UUID]:
    """Make reviews and rules what the places state; the restaurants whose own differed.

    A place that does not speak of them leaves them alone. Reviews of other sources stay. Call it in a transaction.
    """
    reviewed = _write_reviews(
        {restaurant.pk: place.reviews for restaurant, place in places if place.reviews is not None}, source=source
    )
    recount.restaurants(reviewed)
    return reviewed | _write_rules(
        {restaurant.pk: place for restaurant, place in places if place.flow_rules is not None}
    )


def _write_reviews(stated: dict[UUID, tuple[ReviewLine, ...]], *, source: str) -> set[UUID]:
    wanted = {
        review.pk: review
        for restaurant, lines in stated.items()
        for review in (_review(restaurant, line, source=source) for line in lines)
    }
    held = {review.pk: review for review in Review.objects.filter(restaurant__in=list(stated), source=source)}
    gone = [review for pk, review in held.items() if pk not in wanted]
    new = [review for pk, review in wanted.items() if pk not in held or _words(review) != _words(held[pk])]
    Review.objects.filter(pk__in=[review.pk for review in gone]).delete()
    Review.objects.bulk_create(
        new, update_conflicts=True, unique_fields=["id"], update_fields=REVIEW_COLUMNS, batch_size=1000
    )
    return {review.restaurant_id for review in (*gone, *new)}


def _review(restaurant: UUID, line: ReviewLine, *, source: str) -> Review:
    return Review(
        # The same review has the same id in every import, so that what cites it stays true.
        id=uuid5(restaurant, f"{source}:{line.record}"),
        restaurant_id=restaurant,
        source_id=source,
        **{column: getattr(line, column) for column in REVIEW_COLUMNS},
    )


def _words(review: Review) -> list[Any]:
    return [getattr(review, column) for column in REVIEW_COLUMNS]


def _write_rules(stated: dict[UUID, Place]) -> set[UUID]:
    held: dict[UUID, list[tuple[Any, ...]]] = {restaurant: [] for restaurant in stated}
    for rule in FlowRule.objects.filter(restaurant__in=list(stated)):
        held[rule.restaurant_id].append((tuple(rule.weekdays), rule.time, rule.percent, rule.active))
    wanted = {
        restaurant: [(rule.weekdays, rule.time, rule.percent, rule.active) for rule in place.flow_rules or ()]
        for restaurant, place in stated.items()
    }
    differing = {restaurant for restaurant in stated if sorted(held[restaurant]) != sorted(wanted[restaurant])}
    FlowRule.objects.filter(restaurant__in=differing).delete()
    FlowRule.objects.bulk_create(
        FlowRule(restaurant_id=restaurant, **dict(zip(RULE_COLUMNS, rule, strict=True)))
        for restaurant in differing
        for rule in wanted[restaurant]
    )
    return differing
