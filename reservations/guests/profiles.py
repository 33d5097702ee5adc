"""The guests of a venue: who they are by their reservations, what staff note of them, and how two become one.

Reservations are the truth. Whoever shares a mail address, in whatever case, or a phone number is one guest; staff may
join two more. A row of Visitor is there for those alone of whom something was noted.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Lower
from django.db.models.lookups import In

from accounts.models import Venue
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from reservations.models import Contact, Reservation, Visitor

# Of one guest. A number that a hotel gives for all its guests does not make them one without end.
MOST_CONTACTS = 50
ROUNDS = 8
MOST_TAGS = 20
# By venue: held by what reads who is one guest, and changes it.
GUESTS_LOCK = AdvisoryLock("guests of a venue")
CAME = Q(status=Reservation.Status.CONFIRMED) & (Q(arrival__isnull=True) | ~Q(arrival=Reservation.Arrival.NO_SHOW))


class AlreadyOne(InvalidRequest):
    """The two are the same guest."""


class StillOne(ApiError):
    """They share a contact, and are the same guest by that."""

    code = ErrorCode.INVALID_REQUEST


class NoteChanged(ApiError):
    """Somebody else has written the note meanwhile."""

    code = ErrorCode.VERSION_CONFLICT


class NoContactKnown(InvalidRequest):
    """A party of which neither a mail address nor a number is known is no guest that could come again."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What a guest has been to the venue, in numbers."""

    visits: int
    covers: int
    no_shows: int
    cancellations: int
    last_visit: datetime | None
    next_visit: datetime | None


@dataclass(frozen=True, slots=True)
class Guest:
    """One guest of a venue: all contacts, and the rows of what staff have noted, the one that counts first."""

    venue: Venue
    contacts: frozenset[str]
    visitors: Sequence[Visitor] = field(default=())

    @property
    def visitor(self) -> Visitor | None:
        """What the staff have noted."""
        return self.visitors[0] if self.visitors else None

    @property
    def listed(self) -> list[str]:
        """The contacts in order, numbers first."""
        return sorted(self.contacts)

    @property
    def reservations(self) -> QuerySet[Reservation]:
        """All that are theirs."""
        return Reservation.objects.of(self.venue).filter(matching(self.contacts))

    def tally(self, *, now: datetime) -> Tally:
        """Count their visits: who is confirmed, whose time has come, and who has not stayed away. One query."""
        came, upcoming = CAME & Q(starts_at__lte=now), ~Q(status="cancelled") & Q(starts_at__gt=now)
        counted = self.reservations.order_by().aggregate(
            visits=Count("pk", filter=came),
            covers=Sum("party_size", filter=came, default=0),
            no_shows=Count("pk", filter=Q(arrival=Reservation.Arrival.NO_SHOW)),
            cancellations=Count("pk", filter=Q(status=Reservation.Status.CANCELLED)),
            last_visit=Max("starts_at", filter=came),
            next_visit=Min("starts_at", filter=upcoming),
        )
        return Tally(**counted)


def contacts_of(customer_email: str | None, customer_phone: str | None) -> set[str]:
    """By what a guest is known: the mail address in small letters, and the number."""
    return {contact for contact in ((customer_email or "").lower(), customer_phone) if contact}


def matching(contacts: Collection[str]) -> Q:
    """Of reservations: those of a guest with these contacts. By an index for each kind."""
    phones = [contact for contact in contacts if contact.startswith("+")]
    mails = [contact for contact in contacts if not contact.startswith("+")]
    return Q(In(Lower("customer_email"), mails)) | Q(customer_phone__in=phones)


def guest_of(reservation: Reservation) -> Guest:
    """The guest who made it. Some three queries, and as many more for each contact found through another.

    Raises NoContactKnown.
    """
    contacts = contacts_of(reservation.customer_email, reservation.customer_phone)
    if not contacts:
        raise NoContactKnown("This reservation has no contact data.")
    return known_by(reservation.venue, contacts)


def known_by(venue: Venue, contacts: Iterable[str]) -> Guest:
    """The guest with one of these contacts, and all contacts that belong to them."""
    known = set(contacts)
    visitors: list[Visitor] = []
    for _ in range(ROUNDS):
        before = len(known)
        visitors = family(venue, known)
        known |= set(Contact.objects.filter(visitor__in=visitors).values_list("address", flat=True))
        rows = Reservation.objects.of(venue).filter(matching(known)).order_by()
        pairs = rows.values_list(Lower("customer_email"), "customer_phone").distinct()[: 2 * MOST_CONTACTS]
        for mail, phone in pairs:
            known |= contacts_of(mail, phone)
        if len(known) == before or len(known) >= MOST_CONTACTS:
            break
    return Guest(venue, frozenset(known), visitors)


def family(venue: Venue, contacts: Collection[str]) -> list[Visitor]:
    """The rows of who has these contacts, and of all who are merged with them; the one that counts first."""
    own = Visitor.objects.filter(venue=venue, contacts__address__in=list(contacts))
    roots = {visitor.merged_into_id or visitor.pk for visitor in own}
    together = Visitor.objects.filter(Q(pk__in=roots) | Q(merged_into__in=roots), venue=venue).order_by("pk")
    return sorted(together, key=lambda visitor: (visitor.merged_into_id is not None, visitor.pk))


def note(guest: Guest, *, text: str, tags: Sequence[str], seen: datetime | None, now: datetime) -> Visitor:
    """Write down what staff know of the guest. `seen` is when the note that they saw was written, None for none.

    Raises NoteChanged; then nothing is changed.
    """
    with transaction.atomic():
        visitor = row_of(guest, now=now)
        if visitor.updated_at not in (seen, now) or (seen is None and visitor.updated_at != now):
            raise NoteChanged("Another user has changed this note. Check it and try again.", param="note")
        visitor.note, visitor.tags, visitor.updated_at = text, list(tags)[:MOST_TAGS], now
        visitor.save()
    return visitor


def row_of(guest: Guest, *, now: datetime) -> Visitor:
    """The guest's row, which is made where there is none yet, with all contacts. Call it inside a transaction.

    Until that ends no other guest of the venue gets a row, or is merged.
    """
    GUESTS_LOCK.acquire(guest.venue.pk)
    there = family(guest.venue, guest.contacts)
    visitor = there[0] if there else Visitor.objects.create(venue=guest.venue, updated_at=now)
    taken = set(
        Contact.objects.filter(venue=guest.venue, address__in=guest.contacts).values_list("address", flat=True)
    )
    Contact.objects.bulk_create(
        Contact(venue=guest.venue, visitor=visitor, address=address) for address in sorted(guest.contacts - taken)
    )
    return visitor


def merge(guest: Guest, other: Guest, *, now: datetime) -> Visitor:
    """Make two guests one: reservations of both are theirs, and so are both notes. `split` takes it back.

    Raises AlreadyOne.
    """
    with transaction.atomic():
        into, away = row_of(guest, now=now), row_of(other, now=now)
        if into.pk == away.pk:
            raise AlreadyOne("These guests are already merged.")
        Visitor.objects.filter(Q(pk=away.pk) | Q(merged_into=away)).update(merged_into=into)
        into.note = "\n".join(text for text in (into.note, away.note) if text)[:2000]
        into.tags = list(dict.fromkeys([*into.tags, *away.tags]))[:MOST_TAGS]
        into.updated_at = now
        into.save()
    return into


def split(visitor: Visitor, *, now: datetime) -> None:
    """Take a merged guest out again. What was written since then stays with the other.

    Raises StillOne where they have been seen together under one contact; then nothing is changed.
    """
    with transaction.atomic():
        GUESTS_LOCK.acquire(visitor.venue_id)
        Visitor.objects.filter(pk=visitor.pk).update(merged_into=None, updated_at=now)
        its = list(visitor.contacts.values_list("address", flat=True))
        if len(known_by(visitor.venue, its).visitors) > 1:
            raise StillOne("These guests share an email address or phone number, so they cannot be separated.")
