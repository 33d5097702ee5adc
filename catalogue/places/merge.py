"""Merges two restaurants that are the same place: the content of the loser moves to the survivor."""

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
    PhotoImport,
    Report,
    Restaurant,
    RestaurantClaim,
    Review,
    Source,
    SourceRecord,
)
from catalogue.reviews import aggregates
from framework.errors import InvalidRequest

# Groups of columns that the survivor takes over if it has none of the group.
COLUMN_GROUPS: tuple[tuple[str, ...], ...] = (
    ("phone", "phone_verified_at"),
    ("website",),
    ("menu_url",),
    ("description",),
    ("neighborhood",),
    ("line1", "locality", "region", "postal_code"),
    ("latitude", "longitude"),
    ("price_level",),
    ("cuisine_id", "cuisines"),
    ("hours",),
    ("verified_at",),
)
# Names in `locked_fields` that differ from the column.
LOCK_NAMES = {"cuisine_id": "cuisine"}


class CannotMerge(InvalidRequest):
    """These two restaurants cannot be merged."""


@transaction.atomic
def merge(loser: Restaurant, into: Restaurant, *, actor: str, now: datetime) -> None:
    """Redirect the slugs of the loser to the survivor, and fill the survivor's empty fields from the loser.

    Reviews, photos, source records, former slugs and reports move. A listing moves with its rules and slots if the
    survivor has none; otherwise the offers of the loser are withdrawn, and booked tables stay booked. Locks both rows
    in the order of their keys, so the second of two opposite mergers is refused. About twenty statements. Raises
    CannotMerge.
    """
    rows = {
        row.pk: row for row in Restaurant.objects.select_for_update().filter(pk__in=[loser.pk, into.pk]).order_by("pk")
    }
    if loser.pk == into.pk:
        raise CannotMerge("A restaurant cannot be merged into itself.")
    lost, survivor = rows[loser.pk], rows[into.pk]
    for row in (lost, survivor):
        if row.merged_into_id or row.erased_at:
            raise CannotMerge(f"`{row.slug}` is merged or erased already.")
    publish.set_actor(actor)
    if values := _values_to_fill(lost, survivor):
        Restaurant.objects.filter(pk=survivor.pk).update(**values, updated_at=now)
    Restaurant.objects.filter(pk=lost.pk).update(merged_into=survivor, updated_at=now)
    # What the owner of the loser states counts for the survivor where its value was taken over.
    for record in SourceRecord.objects.filter(restaurant=lost, source=Source.OWNER):
        record.fields = [name for name in record.fields if name in values]
        record.save(update_fields=["fields"])
    # Both may list the same photo: the survivor's entry stays.
    listed = PhotoImport.objects.filter(restaurant=survivor).values("url")
    PhotoImport.objects.filter(restaurant=lost, url__in=listed).delete()
    for model in (SourceRecord, Review, Photo, PhotoImport, FormerSlug):
        model._default_manager.filter(restaurant=lost).update(restaurant=survivor)
    Insight.objects.filter(restaurant=lost).delete()
    _end_listings_of_owners(lost.pk)
    _move_offers(lost.pk, survivor.pk, now=now)
    _move_claims(lost.pk, survivor.pk)
    _move_reports(lost.pk, survivor.pk, now=now)
    _settle_candidates(lost.pk, survivor.pk, now=now)
    aggregates.update_restaurants([survivor.pk], now=now)
    for restaurant in (loser, into):
        restaurant.refresh_from_db()


def _values_to_fill(lost: Restaurant, survivor: Restaurant) -> dict[str, Any]:
    """The values of the loser for fields that are empty in the survivor and not locked by staff."""
    values: dict[str, Any] = {}
    locks = set(survivor.locked_fields)
    for columns in COLUMN_GROUPS:
        names = {LOCK_NAMES.get(column, column) for column in columns}
        is_empty = not any(getattr(survivor, column) for column in columns)
        if is_empty and not names & set(survivor.locked_fields) and any(getattr(lost, column) for column in columns):
            values |= {column: getattr(lost, column) for column in columns}
            locks |= names & set(lost.locked_fields)
    others = [name for name in (lost.name, *lost.alt_names) if name not in (survivor.name, *survivor.alt_names)]
    if others:
        values["alt_names"] = [*survivor.alt_names, *dict.fromkeys(others)]
    for column in ("attributes", "external_ids"):
        present: Mapping[str, Any] = getattr(survivor, column)
        if getattr(lost, column).keys() - present.keys():
            values[column] = {**getattr(lost, column), **present}
    if locks != set(survivor.locked_fields):
        values["locked_fields"] = sorted(locks)
    return values


def _end_listings_of_owners(lost: UUID) -> None:
    """Switch off the listing of a venue that was verified as the loser: our staff did not join it to the survivor."""
    verified = RestaurantClaim.objects.filter(restaurant=lost, state=RestaurantClaim.State.VERIFIED)
    owners = verified.exclude(method=RestaurantClaim.Method.LISTING).values("venue")
    Listing.objects.filter(restaurant=lost, venue__in=owners).update(is_active=False)


def _move_offers(lost: UUID, survivor: UUID, *, now: datetime) -> None:
    if not Listing.objects.filter(restaurant=survivor).exists():
        for model in (Listing, FlowRule, FlowSlot):
            model._default_manager.filter(restaurant=lost).update(restaurant=survivor)
        return
    Listing.objects.filter(restaurant=lost).update(is_active=False)
    FlowRule.objects.filter(restaurant=lost).update(active=False)
    FlowSlot.objects.filter(restaurant=lost, withdrawn_at=None, starts_at__gte=now).update(withdrawn_at=now)


def _move_claims(lost: UUID, survivor: UUID) -> None:
    """Move the claims. A verified one, and one that waits for a code, wait for our staff: they are about the loser."""
    claims = RestaurantClaim.objects.filter(restaurant=lost)
    verified = claims.filter(state="verified")
    records = SourceRecord.objects.filter(source=Source.OWNER, record__in=[claim.public_id for claim in verified])
    records.update(digest=SourceRecord.MISSING)
    current = claims.filter(state__in=["code_sent", "verified"])
    current.update(state="open", method="staff", code_hash="", code_expires_at=None, decided_at=None, decided_by=None)
    claims.update(restaurant=survivor)


def _move_reports(lost: UUID, survivor: UUID, *, now: datetime) -> None:
    is_open = Q(state=Report.State.OPEN)
    between = Q(restaurant=lost, same_as=survivor) | Q(restaurant=survivor, same_as=lost)
    Report.objects.filter(is_open & between, kind=Report.Kind.DUPLICATE).update(
        state=Report.State.APPLIED, decided_at=now
    )
    # The same report of one reporter about both counts once.
    same = Report.objects.filter(is_open, restaurant=survivor, kind=OuterRef("kind"), reporter=OuterRef("reporter"))
    Report.objects.filter(Exists(same), is_open, restaurant=lost).delete()
    Report.objects.filter(restaurant=lost).update(restaurant=survivor)
    Report.objects.filter(same_as=lost).exclude(restaurant=survivor).update(same_as=survivor)


def _settle_candidates(lost: UUID, survivor: UUID, *, now: datetime) -> None:
    """Decide the pair, and replace the loser by the survivor in its other pairs."""
    pair = sorted((lost, survivor))
    MatchCandidate.objects.filter(first=pair[0], second=pair[1], state=MatchCandidate.State.OPEN).update(
        state=MatchCandidate.State.MERGED, decided_at=now
    )
    other_pairs = MatchCandidate.objects.filter(Q(first=lost) | Q(second=lost)).exclude(first=pair[0], second=pair[1])
    for candidate in other_pairs.exclude(state=MatchCandidate.State.MERGED):
        third = candidate.second_id if candidate.first_id == lost else candidate.first_id
        first, second = sorted((survivor, third))
        if MatchCandidate.objects.filter(first=first, second=second).exists():
            candidate.delete()
        else:
            MatchCandidate.objects.filter(pk=candidate.pk).update(first=first, second=second)
