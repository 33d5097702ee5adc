"""The guests of a venue: their reservations, matched by contact data, and the notes of staff.

Reservations with the same email address, in any case, or the same phone number belong to one guest; staff may merge
guests. Only guests with notes have a GuestProfile.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Lower
from django.db.models.lookups import In
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.signed_tokens import KeyedHash
from reservations.models import GuestContact, GuestProfile, Reservation

# Of one guest: limits the matching if a hotel gives one number for all its guests.
MAX_CONTACTS = 50
MAX_MATCHING_ROUNDS = 8
MAX_TAGS = 20
# Upcoming bookings of one contact.
MAX_UPCOMING = 3
# Hashes of this purpose are stored, so it keeps its first name.
CONTACT_HASH = KeyedHash("catalogue.offers.contact")
# By venue: serializes changes of profiles and contacts.
GUESTS_LOCK = AdvisoryLock("guests of a venue")
IS_NO_SHOW = Q(arrival=Reservation.Arrival.NO_SHOW)
# A reservation that staff have not marked counts as a visit from so long after its time: until then the party may
# still come, and restaurants that mark no arrivals have visits too.
UNMARKED_IS_VISIT_AFTER = timedelta(hours=12)


class AlreadyMerged(InvalidRequest):
    """The two are the same guest."""


class SharedContact(InvalidRequest):
    """The guests share an email address or a phone number, so they cannot be separated."""


class NoteChanged(ApiError):
    """The note has changed since the caller read it."""

    code = ErrorCode.VERSION_CONFLICT


class NoContactData(InvalidRequest):
    """The reservation has neither an email address nor a phone number, so its guest cannot be identified."""


@dataclass(frozen=True, slots=True)
class Guest:
    """One guest of a venue: all contacts, and the profiles, first the one into which the others were merged."""

    venue: Venue
    contacts: frozenset[str]
    profiles: Sequence[GuestProfile] = field(default=())

    @property
    def profile(self) -> GuestProfile | None:
        return self.profiles[0] if self.profiles else None

    @property
    def sorted_contacts(self) -> list[str]:
        return sorted(self.contacts)

    @property
    def reservations(self) -> QuerySet[Reservation]:
        return Reservation.objects.filter(filter_contacts(self.contacts), venue=self.venue)

    def statistics(self, *, now: datetime) -> dict[str, Any]:
        """Count visits (see `is_past_visit`), their covers, no-shows and cancellations. One query."""
        past_visit, upcoming = is_past_visit(now=now), ~Q(status="cancelled") & Q(starts_at__gt=now)
        return self.reservations.order_by().aggregate(
            visits=Count("pk", filter=past_visit),
            covers=Sum("party_size", filter=past_visit, default=0),
            no_shows=Count("pk", filter=IS_NO_SHOW),
            cancellations=Count("pk", filter=Q(status=Reservation.Status.CANCELLED)),
            last_visit=Max("starts_at", filter=past_visit),
            next_visit=Min("starts_at", filter=upcoming),
        )


def is_past_visit(*, now: datetime) -> Q:
    """Condition on reservations: the party has come, or nobody has marked within 12 hours whether it has."""
    came = Q(arrival__isnull=False) & ~IS_NO_SHOW & Q(starts_at__lte=now)
    unmarked = Q(arrival__isnull=True, starts_at__lte=now - UNMARKED_IS_VISIT_AFTER)
    return Q(status=Reservation.Status.CONFIRMED) & (came | unmarked)


def normalize_contacts(customer_email: str | None, customer_phone: str | None) -> set[str]:
    """Return the contacts that identify a guest: the lower-case email address and the number."""
    return {contact for contact in ((customer_email or "").lower(), customer_phone) if contact}


def hash_contact(*, customer_email: str | None, customer_phone: str | None) -> str:
    """Return a keyed hash of the email address, or else of the number; a suffix like `+news` is ignored."""
    if customer_email:
        name, _at, domain = customer_email.casefold().rpartition("@")
        contact = f"{name.partition('+')[0] or name}@{domain}"
    else:
        contact = customer_phone or ""
    return CONTACT_HASH.hexdigest(contact)


def filter_contacts(contacts: Collection[str]) -> Q:
    """Condition on reservations: one of these contacts. Uses an index for each kind."""
    phones = [contact for contact in contacts if contact.startswith("+")]
    emails = [contact for contact in contacts if not contact.startswith("+")]
    return Q(In(Lower("customer_email"), emails)) | Q(customer_phone__in=phones)


def guest_of_reservation(reservation: Reservation) -> Guest:
    """Return the guest of the reservation. About three queries for each matching round. Raises NoContactData."""
    contacts = normalize_contacts(reservation.customer_email, reservation.customer_phone)
    if not contacts:
        raise NoContactData(_("This reservation has no contact data."))
    return find_guest(reservation.venue, contacts)


def summarize_guest(reservation: Reservation, *, now: datetime) -> dict[str, Any] | None:
    """Return visits, no-shows, the last visit and the note of those with the contact data of the reservation.

    One query: contacts that other reservations or merges connect do not count. None without contact data.
    """
    contacts = normalize_contacts(reservation.customer_email, reservation.customer_phone)
    if not contacts:
        return None
    profiles = GuestProfile.objects.filter(venue=reservation.venue, contacts__address__in=contacts).order_by("pk")
    note = profiles.annotate(text=Coalesce(F("merged_into__note"), F("note"))).values("text")[:1]
    past_visit = is_past_visit(now=now)
    return (
        Guest(reservation.venue, frozenset(contacts))
        .reservations.order_by()
        .aggregate(
            visits=Count("pk", filter=past_visit),
            no_shows=Count("pk", filter=IS_NO_SHOW),
            last_visit=Max("starts_at", filter=past_visit & ~Q(pk=reservation.pk)),
            note=Max(Subquery(note)),
        )
    )


def find_guest(venue: Venue, contacts: Iterable[str]) -> Guest:
    """Return the guest with one of these contacts, with all contacts that are connected to them."""
    known = set(contacts)
    profiles: list[GuestProfile] = []
    for _round in range(MAX_MATCHING_ROUNDS):
        before = len(known)
        profiles = list_profiles(venue, known)
        known |= set(GuestContact.objects.filter(profile__in=profiles).values_list("address", flat=True))
        rows = Reservation.objects.filter(filter_contacts(known), venue=venue).order_by()
        pairs = rows.values_list(Lower("customer_email"), "customer_phone").distinct()[: 2 * MAX_CONTACTS]
        for email, phone in pairs:
            known |= normalize_contacts(email, phone)
        if len(known) == before or len(known) >= MAX_CONTACTS:
            break
    return Guest(venue, frozenset(known), profiles)


def list_profiles(venue: Venue, contacts: Collection[str]) -> list[GuestProfile]:
    """Return the profiles with these contacts and all that are merged with them, first the merge target."""
    own = GuestProfile.objects.filter(venue=venue, contacts__address__in=list(contacts))
    targets = {profile.merged_into_id or profile.pk for profile in own}
    merged = GuestProfile.objects.filter(Q(pk__in=targets) | Q(merged_into__in=targets), venue=venue).order_by("pk")
    return sorted(merged, key=lambda profile: (profile.merged_into_id is not None, profile.pk))


def save_note(guest: Guest, *, text: str, tags: Sequence[str], seen: datetime | None, now: datetime) -> GuestProfile:
    """Store the staff's note. `seen` is `updated_at` of the note that the caller read, None without one.

    Raises NoteChanged; then nothing is changed.
    """
    with transaction.atomic():
        profile = ensure_profile(guest, now=now)
        if profile.updated_at not in (seen, now) or (seen is None and profile.updated_at != now):
            raise NoteChanged(_("Another user has changed this note. Check it and try again."), param="note")
        profile.note, profile.tags, profile.updated_at = text, list(tags)[:MAX_TAGS], now
        profile.save()
    return profile


def ensure_profile(guest: Guest, *, now: datetime) -> GuestProfile:
    """Return the guest's profile with all contacts, and create what is missing.

    Call it inside a transaction: the lock of the venue's guests is held until its end.
    """
    GUESTS_LOCK.acquire(guest.venue.pk)
    profiles = list_profiles(guest.venue, guest.contacts)
    profile = profiles[0] if profiles else GuestProfile.objects.create(venue=guest.venue, updated_at=now)
    stored = GuestContact.objects.filter(venue=guest.venue, address__in=guest.contacts)
    missing = guest.contacts - set(stored.values_list("address", flat=True))
    GuestContact.objects.bulk_create(
        GuestContact(venue=guest.venue, profile=profile, address=address) for address in sorted(missing)
    )
    return profile


def merge(guest: Guest, other: Guest, *, now: datetime) -> GuestProfile:
    """Make two guests one, with the notes of both; `split` separates them again. Raises AlreadyMerged."""
    with transaction.atomic():
        target, source = ensure_profile(guest, now=now), ensure_profile(other, now=now)
        if target.pk == source.pk:
            raise AlreadyMerged(_("These guests are already merged."))
        GuestProfile.objects.filter(Q(pk=source.pk) | Q(merged_into=source)).update(merged_into=target)
        target.note = "\n".join(text for text in (target.note, source.note) if text)[:2000]
        target.tags = list(dict.fromkeys([*target.tags, *source.tags]))[:MAX_TAGS]
        target.updated_at = now
        target.save()
    return target


def split(profile: GuestProfile, *, now: datetime) -> None:
    """Separate a merged guest; the merged note stays with the other. Raises SharedContact; then nothing is changed."""
    with transaction.atomic():
        GUESTS_LOCK.acquire(profile.venue_id)
        GuestProfile.objects.filter(pk=profile.pk).update(merged_into=None, updated_at=now)
        contacts = list(profile.contacts.values_list("address", flat=True))
        if len(find_guest(profile.venue, contacts).profiles) > 1:
            message = _("These guests share an email address or phone number, so they cannot be separated.")
            raise SharedContact(message)
