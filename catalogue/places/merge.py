"""Two records that are one place become one: what hangs on the loser moves to the survivor."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from catalogue.history import publish
from catalogue.models import (
    FlowRule,
    FlowSlot,
    FormerSlug,
    Insight,
    Listing,
    MatchCandidate,
    Photo,
    Report,
    Restaurant,
    Review,
    SourceRecord,
)
from catalogue.reviews import aggregates
from framework.errors import InvalidRequest

# Filled together, where the survivor has none of them.
FILLED: tuple[tuple[str, ...], ...] = (
    ("phone", "phone_verified_at"),
    ("website",),
    ("neighborhood",),
    ("line1", "locality", "region", "postal_code"),
    ("latitude", "longitude"),
    ("price_level",),
    ("cuisine_id", "cuisines"),
    ("hours",),
    ("verified_at",),
)
# As they are called among the locked fields.
LOCK_NAMES = {"cuisine_id": "cuisine"}


class CannotMerge(InvalidRequest):
    """These two cannot become one."""


@transaction.atomic
def merge(loser: Restaurant, into: Restaurant, *, actor: str, now: datetime) -> None:
    """Make the loser's slugs lead to the survivor, and give it what the loser has and it lacks.

    Reviews, photos, source records, former slugs and reports move. A listing moves with its rules and slots where the
    survivor has none, else the loser's offers are withdrawn; tables that are booked there stay booked. Locks both rows
    in the order of their keys, so of two mergers in opposite directions the second is refused. About twenty
    statements. Raises CannotMerge.
    """
    rows = {
        row.pk: row for row in Restaurant.objects.select_for_update().filter(pk__in=[loser.pk, into.pk]).order_by("pk")
    }
    if loser.pk == into.pk:
        raise CannotMerge("A restaurant cannot be merged into itself.")
    lost, kept = rows[loser.pk], rows[into.pk]
    for one in (lost, kept):
        if one.merged_into_id or one.erased_at:
            raise CannotMerge(f"`{one.slug}` is merged or erased already.")
    publish.set_actor(actor)
    taken = filled(lost, kept)
    if taken:
        Restaurant.objects.filter(pk=kept.pk).update(**taken, updated_at=now)
    Restaurant.objects.filter(pk=lost.pk).update(merged_into=kept, updated_at=now)
    for moved in (SourceRecord, Review, Photo, FormerSlug):
        moved._default_manager.filter(restaurant=lost).update(restaurant=kept)
    Insight.objects.filter(restaurant=lost).delete()
    _move_offers(lost.pk, kept.pk, now=now)
    _move_reports(lost.pk, kept.pk, now=now)
    _settle_candidates(lost.pk, kept.pk, now=now)
    aggregates.restaurants([kept.pk], now=now)
    for restaurant in (loser, into):
        restaurant.refresh_from_db()


def filled(lost: Restaurant, kept: Restaurant) -> dict[str, Any]:
    """What the survivor takes of the loser: what it lacks, unless staff have said that it lacks it."""
    taken: dict[str, Any] = {}
    locks = set(kept.locked_fields)
    for columns in FILLED:
        names = {LOCK_NAMES.get(column, column) for column in columns}
        is_empty = not any(getattr(kept, column) for column in columns)
        if is_empty and not names & set(kept.locked_fields) and any(getattr(lost, column) for column in columns):
            taken |= {column: getattr(lost, column) for column in columns}
            locks |= names & set(lost.locked_fields)
    others = [name for name in (lost.name, *lost.alt_names) if name not in (kept.name, *kept.alt_names)]
    if others:
        taken["alt_names"] = [*kept.alt_names, *dict.fromkeys(others)]
    for column in ("attributes", "external_ids"):
        told: Mapping[str, Any] = getattr(kept, column)
        if getattr(lost, column).keys() - told.keys():
            taken[column] = {**getattr(lost, column), **told}
    if locks != set(kept.locked_fields):
        taken["locked_fields"] = sorted(locks)
    return taken


def _move_offers(lost: UUID, kept: UUID, *, now: datetime) -> None:
    if not Listing.objects.filter(restaurant=kept).exists():
        for moved in (Listing, FlowRule, FlowSlot):
            moved._default_manager.filter(restaurant=lost).update(restaurant=kept)
        return
    Listing.objects.filter(restaurant=lost).update(is_active=False)
    FlowRule.objects.filter(restaurant=lost).update(active=False)
    FlowSlot.objects.filter(restaurant=lost, withdrawn_at=None, starts_at__gte=now).update(withdrawn_at=now)


def _move_reports(lost: UUID, kept: UUID, *, now: datetime) -> None:
    is_open = Q(state=Report.State.OPEN)
    between = Q(restaurant=lost, same_as=kept) | Q(restaurant=kept, same_as=lost)
    Report.objects.filter(is_open & between, kind=Report.Kind.DUPLICATE).update(
        state=Report.State.APPLIED, decided_at=now
    )
    # One voice counts once.
    said = Report.objects.filter(is_open, restaurant=kept, kind=OuterRef("kind"), reporter=OuterRef("reporter"))
    Report.objects.filter(Exists(said), is_open, restaurant=lost).delete()
    Report.objects.filter(restaurant=lost).update(restaurant=kept)
    Report.objects.filter(same_as=lost).exclude(restaurant=kept).update(same_as=kept)


def _settle_candidates(lost: UUID, kept: UUID, *, now: datetime) -> None:
    """The pair is decided; what was said of the loser and a third one is said of the survivor now."""
    pair = sorted((lost, kept))
    MatchCandidate.objects.filter(first=pair[0], second=pair[1], state=MatchCandidate.State.OPEN).update(
        state=MatchCandidate.State.MERGED, decided_at=now
    )
    rest = MatchCandidate.objects.filter(Q(first=lost) | Q(second=lost)).exclude(first=pair[0], second=pair[1])
    for candidate in rest.exclude(state=MatchCandidate.State.MERGED):
        third = candidate.second_id if candidate.first_id == lost else candidate.first_id
        first, second = sorted((kept, third))
        if MatchCandidate.objects.filter(first=first, second=second).exists():
            candidate.delete()
        else:
            MatchCandidate.objects.filter(pk=candidate.pk).update(first=first, second=second)
