"""Forgets a restaurant, as the law may ask: nothing stays but the slug, which says that it is gone."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from catalogue.history import publish
from catalogue.models import (
    FlowRule,
    FlowSlot,
    Insight,
    Listing,
    MatchCandidate,
    Photo,
    Report,
    Restaurant,
    Review,
    SourceRecord,
    Version,
)
from catalogue.photos import thumbnails
from catalogue.places.resolve_slug import Gone

EMPTY: dict[str, Any] = {
    "name": "",
    "alt_names": [],
    "status": Restaurant.Status.PERMANENTLY_CLOSED,
    "neighborhood": None,
    "line1": None,
    "locality": None,
    "region": None,
    "postal_code": None,
    "latitude": None,
    "longitude": None,
    "phone": None,
    "phone_verified_at": None,
    "website": None,
    "rating": None,
    "review_count": 0,
    "star_counts": [],
    "review_facets": {},
    "price_level": None,
    "cuisine": None,
    "cuisines": [],
    "hours": None,
    "attributes": {},
    "external_ids": {},
    "verified_at": None,
    "locked_fields": [],
}

# The restaurant, and all that were merged into it: they told of the same place.
SAME_PLACE = """
WITH RECURSIVE same AS (
    SELECT id FROM catalogue_restaurant WHERE id = %s
    UNION
    SELECT merged.id FROM same JOIN catalogue_restaurant AS merged ON merged.merged_into_id = same.id
)
SELECT id FROM same
"""
LOCK = "SELECT FROM catalogue_restaurant WHERE id = ANY (%s) ORDER BY id FOR UPDATE"


@transaction.atomic
def erase(restaurant: Restaurant, *, actor: str, now: datetime) -> None:
    """Empty the restaurant and all that were merged into it, and delete what guests and sources said of them.

    That they were there, and when that ended, stays in their history, and the keys of their source records, so that no
    import brings them back. Tables that are booked at their offers stay booked. The files of photos go after the
    commit. Raises Gone where it is erased already.
    """
    ids = _locked(restaurant.pk)
    publish.set_actor(actor)
    if not Restaurant.objects.filter(pk__in=ids, erased_at=None).update(**EMPTY, erased_at=now, updated_at=now):
        raise Gone("This restaurant is erased already.")
    files = thumbnails.stored_names(list(Photo.objects.filter(restaurant__in=ids)))
    for model in (Photo, Review, Insight, Report):
        model._default_manager.filter(restaurant__in=ids).delete()
    Report.objects.filter(same_as__in=ids).update(same_as=None)
    MatchCandidate.objects.filter(Q(first__in=ids) | Q(second__in=ids)).delete()
    Listing.objects.filter(restaurant__in=ids).delete()
    FlowRule.objects.filter(restaurant__in=ids).delete()
    FlowSlot.objects.filter(restaurant__in=ids, withdrawn_at=None).update(withdrawn_at=now, terms="")
    SourceRecord.objects.filter(restaurant__in=ids).update(digest="", fields=[])
    Version.objects.filter(restaurant__in=ids).update(patch={})
    transaction.on_commit(partial(thumbnails.delete_files, files))
    restaurant.refresh_from_db()


def _locked(restaurant: UUID) -> list[UUID]:
    """The restaurant and all that were merged into it, locked, so that no other is merged into them."""
    ids = _same_place(restaurant)
    while True:
        found_before = transaction.savepoint()
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [ids])
        # Only a statement that begins now sees what was merged while we waited.
        found = _same_place(restaurant)
        if found == ids:
            transaction.savepoint_commit(found_before)
            return ids
        # Let go of them all, for they are locked in the order of their keys.
        transaction.savepoint_rollback(found_before)
        ids = found


def _same_place(restaurant: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(SAME_PLACE, [restaurant])
        return sorted(pk for (pk,) in cursor.fetchall())
