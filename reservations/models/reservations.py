"""Table reservations of a venue."""

import secrets
from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Lower, Upper
from django.utils.text import Truncator

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode
from framework.public_ids import encode, new_id

PREFIX = "res"
# Without the letters and digits that are mistaken for each other on the phone.
CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 6


def new_code() -> str:
    """A short name for a reservation that a guest can say: K7QX2M."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


# They turn the direction of what is written behind them, to the end of the line.
TURNS = {turn: f"[U+{turn:04X}]" for turn in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def legible(name: str) -> str:
    """A guest's name as staff read it in a line: cut, and with the marks that would turn what is behind it."""
    return Truncator(name.translate(TURNS)).chars(40)


# What staff look for a guest by; the index of trigrams holds just this.
GUEST = Upper(
    Concat(
        "customer_name", Value("\n"), "customer_email", Value("\n"), "customer_phone", output_field=models.TextField()
    )
)


class IllegalMove(ApiError):
    """The reservation is cancelled, which is final, or asked to go back to pending."""

    code = ErrorCode.INVALID_TRANSITION


class Reservations(models.QuerySet["Reservation"]):
    """Questions to the reservations."""

    def of(self, venue: Venue) -> Self:
        """Keep the reservations of one venue."""
        return self.filter(venue=venue)

    def soonest_first(self) -> Self:
        """Order by when the guests come."""
        return self.order_by("starts_at", "id")


class Reservation(models.Model):
    """A party that is coming, or wants to."""

    class Status(models.TextChoices):
        CONFIRMED = "confirmed"
        PENDING = "pending"
        CANCELLED = "cancelled"

    class PendingReason(models.TextChoices):
        MANUAL = "manual", "staff confirm each reservation"
        LARGE_PARTY = "large_party", "large party"
        WAITLIST = "waitlist", "no table is free"
        PROOF = "proof", "not confirmed by email yet"

    class Arrival(models.TextChoices):
        ARRIVED = "arrived"
        SEATED = "seated"
        FINISHED = "finished"
        NO_SHOW = "no_show", "no-show"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.PROTECT, related_name="reservations", db_index=False)
    code = models.CharField(max_length=CODE_LENGTH, default=new_code, editable=False)
    status = models.CharField(max_length=10, choices=Status)
    pending_reason = models.CharField(max_length=20, choices=PendingReason, null=True, blank=True)
    customer_name = models.CharField(max_length=200)
    customer_email = models.EmailField(null=True, blank=True)
    customer_phone = models.CharField(
        max_length=16, null=True, blank=True, help_text="In international format, with a plus"
    )
    date = models.DateField(help_text="In the venue's time zone")
    time = models.TimeField(help_text="In the venue's time zone")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    party_size = models.PositiveSmallIntegerField()
    tables = ArrayField(
        models.CharField(max_length=20),
        default=list,
        blank=True,
        help_text="Table names; if the venue has tables, the seatings contain the same tables",
    )
    special_requests = models.TextField(max_length=2000, blank=True, default="")
    metadata = models.JSONField(default=dict, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True, blank=True)
    arrival = models.CharField(
        max_length=10, choices=Arrival, null=True, blank=True, help_text="Arrival state recorded by staff"
    )
    offered_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Until when a table is held for this party on the waiting list",
    )
    prove_by = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Until when the table is held for a guest who has to confirm by email",
    )
    offers = models.PositiveSmallIntegerField(default=0, editable=False, help_text="Number of offers")

    is_walk_in = models.BooleanField(
        "walk-in", default=False, db_default=False, editable=False, help_text="Came without a reservation"
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the guest's data was erased"
    )

    objects = Reservations.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "code"], name="reservation_code_once_in_a_venue"),
            models.CheckConstraint(name="reservation_party_size_in_1_to_500", condition=Q(party_size__range=(1, 500))),
            models.CheckConstraint(name="reservation_ends_after_it_starts", condition=Q(ends_at__gt=F("starts_at"))),
            models.CheckConstraint(
                name="reservation_has_a_contact",
                condition=Q(customer_email__isnull=False)
                | Q(customer_phone__isnull=False)
                | Q(is_walk_in=True)
                | Q(erased_at__isnull=False),
            ),
            models.CheckConstraint(
                name="reservation_says_why_it_is_pending",
                condition=Q(status="pending", pending_reason__isnull=False)
                | (~Q(status="pending") & Q(pending_reason__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_says_when_it_was_cancelled",
                condition=Q(status="cancelled", cancelled_at__isnull=False)
                | (~Q(status="cancelled") & Q(cancelled_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_arrives_when_confirmed",
                condition=Q(arrival__isnull=True) | Q(status="confirmed"),
            ),
            models.CheckConstraint(
                name="reservation_is_offered_a_table_on_the_waiting_list",
                condition=Q(offered_until__isnull=True) | Q(status="pending", pending_reason="waitlist"),
            ),
            models.CheckConstraint(
                name="reservation_says_until_when_it_waits_for_proof",
                condition=Q(prove_by__isnull=False, pending_reason="proof")
                | (Q(prove_by__isnull=True) & (Q(pending_reason__isnull=True) | ~Q(pending_reason="proof"))),
            ),
        ]
        indexes = [
            models.Index(fields=["venue", "starts_at", "id"], name="reservation_soonest_of_venue"),
            models.Index(fields=["venue", "date", "starts_at", "id"], name="reservation_of_venue_and_day"),
            models.Index(
                fields=["venue", "starts_at", "created_at"],
                name="reservation_waiting",
                condition=Q(status="pending", pending_reason="waitlist"),
            ),
            models.Index(fields=["prove_by"], name="reservation_unproven", condition=Q(prove_by__isnull=False)),
            models.Index("venue", Lower("customer_email"), name="reservation_of_guest_by_mail"),
            models.Index(fields=["venue", "customer_phone"], name="reservation_of_guest_by_phone"),
            GinIndex("venue", OpClass(GUEST, name="gin_trgm_ops"), name="reservation_by_guest_trigrams"),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {legible(self.customer_name)}, party of {self.party_size}"

    @property
    def public_id(self) -> str:
        """`res_` and 26 letters."""
        return encode(PREFIX, self.pk)

    @property
    def needs_contact(self) -> bool:
        """Whether it must say how its guest is reached."""
        return not self.is_walk_in and self.erased_at is None

    def move_to(self, status: str, *, now: datetime) -> bool:
        """Confirm or cancel, and say whether that changed it; to stay where it is changes nothing.

        Reservations are moved by reservations.booking.commands.move, which minds tables, events and mail too.

        One conditional UPDATE, so of two concurrent moves exactly one wins. Raises IllegalMove.
        """
        allowed = {
            self.Status.CONFIRMED: [self.Status.PENDING],
            self.Status.CANCELLED: [self.Status.PENDING, self.Status.CONFIRMED],
        }.get(self.Status(status), [])
        moved = Reservation.objects.filter(pk=self.pk, status__in=allowed).update(
            status=status,
            pending_reason=None,
            offered_until=None,
            prove_by=None,
            arrival=None if status == self.Status.CANCELLED else F("arrival"),
            cancelled_at=now if status == self.Status.CANCELLED else None,
            version=F("version") + 1,
            updated_at=now,
        )
        self.refresh_from_db(
            fields=[
                *("status", "pending_reason", "offered_until", "prove_by", "arrival"),
                *("version", "updated_at", "cancelled_at"),
            ]
        )
        if not moved and self.status != status:
            raise IllegalMove(f"This reservation is {self.status} and cannot become {status}.", param="status")
        return bool(moved)
