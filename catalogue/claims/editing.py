"""What a venue writes to the record of its claimed restaurant: fields, photos, replies to reviews, and offers.

Each write locks the restaurant first, as imports and claims do, and checks the claim under the lock. The fields are
those of a source record of Source.OWNER, so that imports leave them alone; versions name the venue as the actor.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from PIL import Image

from accounts import sandbox_clock
from catalogue import reference_data
from catalogue.claims.commands import OWNER_DIGEST
from catalogue.history import publish
from catalogue.models import FlowRule, Listing, Photo, Restaurant, RestaurantClaim, Review, Source, SourceRecord
from catalogue.photos import uploads
from catalogue.reviews import aggregates
from framework.errors import InvalidRequest, NotFound

MAX_PHOTOS = 50
MAX_RULES = 50
# Photos and texts of a restaurant about itself.
LICENSE = "LicenseRef-Proprietary"


class NotClaimed(NotFound):
    """The venue has no verified claim of the restaurant any more."""


class FieldLocked(InvalidRequest):
    """Our staff have locked this field or reply."""


class RestaurantChanged(InvalidRequest):
    """Another user or an import has changed the restaurant since its form was opened."""


@contextmanager
def editing(claim: RestaurantClaim) -> Iterator[Restaurant]:
    """A transaction with the claimed restaurant, locked. Raises NotClaimed."""
    with transaction.atomic():
        restaurant = Restaurant.objects.select_for_update(no_key=True, of=("self",)).get(pk=claim.restaurant_id)
        # A new statement sees a claim that ended during the wait.
        claims = RestaurantClaim.objects.filter(pk=claim.pk, restaurant=restaurant)
        if not claims.filter(state=RestaurantClaim.State.VERIFIED).exists():
            raise NotClaimed("Your claim of this restaurant has ended.")
        publish.set_actor(f"owner:{claim.venue.public_id}")
        yield restaurant


def update_fields(
    claim: RestaurantClaim, values: Mapping[str, Any], *, shown_version: int | None = None, now: datetime
) -> set[str]:
    """Write these columns as the owner's; return those that changed. About nine statements.

    Raises NotClaimed, FieldLocked, and RestaurantChanged if the row is not of `shown_version` any more.
    """
    with editing(claim) as restaurant:
        changed = {name for name, value in values.items() if getattr(restaurant, name) != value}
        if changed and shown_version not in (None, restaurant.version):
            raise RestaurantChanged("The listing has changed since you opened this page. Check it and save again.")
        if locked := sorted(changed & set(restaurant.locked_fields)):
            raise FieldLocked("Our staff have set this field. Ask them to change it.", param=locked[0])
        if not changed:
            return changed
        for name in changed:
            setattr(restaurant, name, values[name])
        columns = {*changed, "updated_at"}
        if "phone" in changed:
            restaurant.phone_verified_at = None
            columns.add("phone_verified_at")
        restaurant.updated_at = now
        restaurant.save(update_fields=columns)
        _own_fields(claim, changed, now=now)
        return changed


def _own_fields(claim: RestaurantClaim, names: set[str], *, now: datetime) -> None:
    """Attribute the fields to the owner's record, and to no other."""
    records = SourceRecord.objects.select_for_update().filter(restaurant=claim.restaurant_id).order_by("pk")
    own = None
    for record in records:
        if (record.source_id, record.record) == (Source.OWNER, claim.public_id):
            own = record
        elif names.intersection(record.fields):
            record.fields = [name for name in record.fields if name not in names]
            record.save(update_fields=["fields"])
    if own is None:
        own = SourceRecord(restaurant_id=claim.restaurant_id, source=_load_source(), record=claim.public_id)
    own.digest, own.updated_at = OWNER_DIGEST, now
    own.fields = sorted({*own.fields, *names})
    own.save()


def _load_source() -> Source:
    row = next(row for row in reference_data.read_csv("sources") if row["key"] == Source.OWNER)
    return Source.objects.get_or_create(key=Source.OWNER, defaults=row)[0]


def add_photo(
    claim: RestaurantClaim, image: Image.Image, *, kind: str, alt: str, caption: str | None, now: datetime
) -> Photo:
    """Store a photo of the restaurant's own. Raises NotClaimed, InvalidRequest.

    The image is encoded and stored before the restaurant is locked.
    """
    photo = Photo(
        restaurant_id=claim.restaurant_id,
        kind=kind,
        alt=alt,
        caption=caption,
        author=claim.venue.name[:120],
        license=LICENSE,
        source=_load_source(),
    )
    with uploads.stored_original(photo, image, now=now), editing(claim) as restaurant:
        if list_photos(restaurant).count() >= MAX_PHOTOS:
            raise InvalidRequest(f"There are {MAX_PHOTOS} photos. Delete one first.", param="file")
        uploads.save_photo(photo, now=now)
    return photo


def list_photos(restaurant: Restaurant) -> Any:
    """The photos of the restaurant's own, newest first, hidden ones too."""
    return Photo.objects.filter(restaurant=restaurant, source=Source.OWNER).order_by("-created_at", "-id")


def delete_photo(claim: RestaurantClaim, photo: UUID, *, now: datetime) -> None:
    """Delete a photo of the restaurant's own, unless our staff have hidden it. Raises NotClaimed, NotFound."""
    with editing(claim) as restaurant:
        if not uploads.delete_photos(list_photos(restaurant).filter(pk=photo, is_hidden=False), now=now):
            raise NotFound("This photo no longer exists, or our staff have hidden it.")


def reply_to_review(claim: RestaurantClaim, review: UUID, text: str, *, now: datetime) -> None:
    """Write the owner's reply to a review, or remove it with an empty text; imports then leave it alone.

    Raises NotClaimed, NotFound, FieldLocked.
    """
    with editing(claim) as restaurant:
        reviews = Review.objects.filter(pk=review, restaurant=restaurant)
        written = reviews.filter(reply_locked=False).update(
            owner_reply=text or None, owner_replied_at=now if text else None, keeps_reply=True
        )
        if not written and reviews.exists():
            raise FieldLocked("Our staff have set this reply. Ask them to change it.")
        if not written:
            raise NotFound("This review no longer exists.")
        aggregates.update_restaurants([restaurant.pk], now=now)


def set_bookable(claim: RestaurantClaim, *, is_active: bool, now: datetime) -> None:
    """Join the restaurant to the venue, so that apps and assistants book its tables and offers; or switch that off.

    Raises NotClaimed, InvalidRequest.
    """
    with editing(claim) as restaurant:
        if is_active and claim.venue.timezone != restaurant.market.timezone:
            raise InvalidRequest(
                f"The time zone of your venue is {claim.venue.timezone}, that of the restaurant is"
                f" {restaurant.market.timezone}. Correct it in the settings first."
            )
        if is_active and sandbox_clock.has_clock(claim.venue):
            raise InvalidRequest(sandbox_clock.NOT_FOLLOWED)
        try:
            with transaction.atomic():
                if is_active:
                    # What earlier claims have left.
                    others = Listing.objects.filter(Q(restaurant=restaurant) | Q(venue=claim.venue), is_active=False)
                    others.exclude(restaurant=restaurant, venue=claim.venue).delete()
                Listing.objects.update_or_create(
                    restaurant=restaurant,
                    venue=claim.venue,
                    defaults={"is_active": is_active},
                    create_defaults={"is_active": is_active, "created_at": now},
                )
        except IntegrityError as error:
            raise InvalidRequest("Our staff have joined one of them to another. Ask them.") from error


def save_rule(claim: RestaurantClaim, rule: FlowRule) -> None:
    """Store a discount of the restaurant's own. Raises NotClaimed, InvalidRequest."""
    with editing(claim) as restaurant:
        if rule._state.adding and list_rules(restaurant).count() >= MAX_RULES:
            raise InvalidRequest(f"There are {MAX_RULES} offers. Delete one first.")
        rule.restaurant = restaurant
        rule.save()


def list_rules(restaurant: Restaurant) -> Any:
    """The discounts that the restaurant or our staff have entered: imports leave them alone."""
    return FlowRule.objects.filter(restaurant=restaurant, source_record=None).order_by("time", "pk")


def delete_rule(claim: RestaurantClaim, rule: int) -> None:
    """Delete a discount; its bookings stay. Raises NotClaimed, NotFound."""
    with editing(claim) as restaurant:
        if not list_rules(restaurant).filter(pk=rule).delete()[0]:
            raise NotFound("This offer no longer exists.")
