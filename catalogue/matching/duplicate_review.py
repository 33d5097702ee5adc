"""Decisions of staff about candidate pairs: merge, or mark as distinct."""

from datetime import datetime

from django.db import transaction

from catalogue import places
from catalogue.models import MatchCandidate, Restaurant
from framework.errors import InvalidRequest


class PairAlreadyDecided(InvalidRequest):
    """Another user has decided this pair."""


def order_pair(pair: MatchCandidate) -> tuple[Restaurant, Restaurant]:
    """The loser and the survivor of a merge. The survivor has more reviews, or is older."""
    loser, survivor = sorted(
        (pair.first, pair.second), key=lambda row: (row.review_count, -row.created_at.timestamp())
    )
    return loser, survivor


def merge_pair(pair: MatchCandidate, *, by: int, now: datetime) -> Restaurant:
    """Merge the pair and return the survivor. `by` is the key of the user.

    Raises PairAlreadyDecided, and places.CannotMerge if one of the two is merged or erased.
    """
    with transaction.atomic():
        _decide(pair, MatchCandidate.State.MERGED, by=by, now=now)
        loser, survivor = order_pair(pair)
        places.merge(loser, survivor, actor=f"staff:{by}", now=now)
    return survivor


def mark_distinct(pair: MatchCandidate, *, by: int, now: datetime) -> None:
    """Mark the pair as two different restaurants. `by` is the key of the user. Raises PairAlreadyDecided."""
    _decide(pair, MatchCandidate.State.DISTINCT, by=by, now=now)


def _decide(pair: MatchCandidate, state: MatchCandidate.State, *, by: int, now: datetime) -> None:
    open_pair = MatchCandidate.objects.filter(pk=pair.pk, state=MatchCandidate.State.OPEN)
    if not open_pair.update(state=state, decided_at=now, decided_by_id=by):
        raise PairAlreadyDecided("Somebody has decided this pair already.")
