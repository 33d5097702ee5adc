"""Pairs of restaurants that may be one place, as staff decide them."""

from datetime import datetime

from django.db import transaction

from catalogue import places
from catalogue.models import MatchCandidate, Restaurant
from framework.errors import InvalidRequest

UNDECIDED = MatchCandidate.State.OPEN


class Decided(InvalidRequest):
    """Somebody was quicker."""


def in_order(pair: MatchCandidate) -> tuple[Restaurant, Restaurant]:
    """The one that goes and the one that stays: it has more reviews, or of equally many it is the older."""
    loser, survivor = sorted(
        (pair.first, pair.second), key=lambda each: (each.review_count, -each.created_at.timestamp())
    )
    return loser, survivor


def same(pair: MatchCandidate, *, by: int, now: datetime) -> Restaurant:
    """Make one restaurant of the two; the survivor, as `in_order` tells.

    `by` is the key of who decides; of two who decide at once the first wins. Raises Decided, and
    identity.CannotMerge when one of the two is gone.
    """
    with transaction.atomic():
        _decide(pair, MatchCandidate.State.MERGED, by=by, now=now)
        loser, survivor = in_order(pair)
        places.merge(loser, survivor, actor=f"staff:{by}", now=now)
    return survivor


def distinct(pair: MatchCandidate, *, by: int, now: datetime) -> None:
    """They are two places, and nobody is asked again. `by` is the key of who decides. Raises Decided."""
    _decide(pair, MatchCandidate.State.DISTINCT, by=by, now=now)


def _decide(pair: MatchCandidate, state: MatchCandidate.State, *, by: int, now: datetime) -> None:
    mine = MatchCandidate.objects.filter(pk=pair.pk, state=UNDECIDED)
    if not mine.update(state=state, decided_at=now, decided_by_id=by):
        raise Decided("Somebody has decided this pair already.")
