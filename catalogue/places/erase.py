"""Erasure of a restaurant, for example on legal request: only its slug and history entries remain."""

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
    PhotoImport,
    Report,
    Restaurant,
    RestaurantClaim,
    Review,
    SourceRecord,
    Version,
)
from catalogue.photos.thumbnails import stored_names
from catalogue.places.resolve_slug import Gone
from framework.images.storage import delete_files

EMPTY_VALUES: dict[str, Any] = {
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
    "menu_url": None,
    "description": None,
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

# The restaurant and all that were merged into it.
MERGED = """
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
    """Empty the restaurant and all that were merged into it, and delete their reviews, photos and other content.

    Their history keeps the dates without content, and the keys of their source records remain, so that no import
    restores them. Booked tables stay booked. The files of photos are deleted after the commit. Raises Gone if it is
    erased already.
    """
    ids = _lock_merged(restaurant.pk)
    publish.set_actor(actor)
    if not Restaurant.objects.filter(pk__in=ids, erased_at=None).update(**EMPTY_VALUES, erased_at=now, updated_at=now):
        raise Gone("This restaurant is erased already.")
    files = stored_names(list(Photo.objects.filter(restaurant__in=ids)))
    for model in (PhotoImport, Photo, Review, Insight, Report, RestaurantClaim):
        model._default_manager.filter(restaurant__in=ids).delete()
    Report.objects.filter(same_as__in=ids).update(same_as=None)
    MatchCandidate.objects.filter(Q(first__in=ids) | Q(second__in=ids)).delete()
    Listing.objects.filter(restaurant__in=ids).delete()
    FlowRule.objects.filter(restaurant__in=ids).delete()
    FlowSlot.objects.filter(restaurant__in=ids, withdrawn_at=None).update(withdrawn_at=now, terms="")
    SourceRecord.objects.filter(restaurant__in=ids).update(digest="", fields=[])
    Version.objects.filter(restaurant__in=ids).update(patch={})
    transaction.on_commit(partial(delete_files, files))
    restaurant.refresh_from_db()


def _lock_merged(restaurant: UUID) -> list[UUID]:
    """Lock the restaurant and all that were merged into it, so that no other can be merged into them."""
    ids = _find_merged(restaurant)
    while True:
        before_lock = transaction.savepoint()
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [ids])
        # A new statement sees mergers that were committed during the wait.
        found = _find_merged(restaurant)
        if found == ids:
            transaction.savepoint_commit(before_lock)
            return ids
        # Release the locks and lock the larger set, in the order of the keys.
        transaction.savepoint_rollback(before_lock)
        ids = found


def _find_merged(restaurant: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(MERGED, [restaurant])
        return sorted(pk for (pk,) in cursor.fetchall())
