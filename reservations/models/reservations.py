"""Table reservations of a venue."""

import secrets
from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Lower, Upper
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode
from framework.public_ids import PublicId, new_id

PREFIX = "res"
# Without letters and digits that sound or look alike.
CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 6


def generate_code() -> str:
    """Return a random code that a guest can spell: K7QX2M."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


# Characters that change the direction of the text after them.
BIDI_CONTROLS = {
    code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def printable_name(name: str) -> str:
    """Return the name for one line of text: at most 40 characters, bidirectional controls escaped."""
    return Truncator(name.translate(BIDI_CONTROLS)).chars(40)


# The text that the guest search matches; indexed by trigrams.
GUEST_SEARCH_TEXT = Upper(
    Concat(
        "customer_name", Value("\n"), "customer_email", Value("\n"), "customer_phone", output_field=models.TextField()
    )
)


class InvalidTransition(ApiError):
    """The reservation cannot change from its status to the requested one."""

    code = ErrorCode.INVALID_TRANSITION


class Reservation(models.Model):
    """A reservation or a request for one."""

    class Status(models.TextChoices):
        CONFIRMED = "confirmed", pgettext_lazy("reservation", "Confirmed")
        PENDING = "pending", pgettext_lazy("reservation", "Pending")
        CANCELLED = "cancelled", pgettext_lazy("reservation", "Cancelled")

    class PendingReason(models.TextChoices):
        MANUAL = "manual", gettext_lazy("staff confirm each reservation")
        LARGE_PARTY = "large_party", gettext_lazy("large party")
        WAITLIST = "waitlist", gettext_lazy("no table is free")
        EMAIL_CONFIRMATION = "email_confirmation", gettext_lazy("not confirmed by email yet")

    class Arrival(models.TextChoices):
        ARRIVED = "arrived", pgettext_lazy("party", "Arrived")
        SEATED = "seated", pgettext_lazy("party", "Seated")
        FINISHED = "finished", pgettext_lazy("party", "Finished")
        NO_SHOW = "no_show", gettext_lazy("no-show")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.PROTECT, related_name="reservations", db_index=False)
    code = models.CharField(max_length=CODE_LENGTH, default=generate_code, editable=False)
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
    area = models.ForeignKey(
        "reservations.Area",
        on_delete=models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        db_index=False,
        db_constraint=False,
        help_text="Where the guest wants to sit; only tables of this area are assigned automatically",
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
        help_text="End of the current offer of a table to this party on the waiting list",
    )
    confirm_by = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Deadline for the guest to confirm by email; the table is held until then",
    )
    offer_count = models.PositiveSmallIntegerField(default=0, editable=False)
    quoted_minutes = models.SmallIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="The wait that staff quoted to a party on the waiting list, in minutes from its creation on",
    )

    is_walk_in = models.BooleanField(
        "walk-in", default=False, db_default=False, editable=False, help_text="Came without a reservation"
    )
    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The language of the guest's page and mail; empty: the venue's",
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the guest's data was erased"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "code"], name="reservation_code_unique_per_venue"),
            models.CheckConstraint(name="reservation_party_size_in_1_to_500", condition=Q(party_size__range=(1, 500))),
            models.CheckConstraint(name="reservation_ends_after_it_starts", condition=Q(ends_at__gt=F("starts_at"))),
            models.CheckConstraint(
                name="reservation_has_contact",
                condition=Q(customer_email__isnull=False)
                | Q(customer_phone__isnull=False)
                | Q(is_walk_in=True)
                | Q(erased_at__isnull=False),
            ),
            models.CheckConstraint(
                name="reservation_pending_reason_if_pending",
                condition=Q(status="pending", pending_reason__isnull=False)
                | (~Q(status="pending") & Q(pending_reason__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_cancelled_at_if_cancelled",
                condition=Q(status="cancelled", cancelled_at__isnull=False)
                | (~Q(status="cancelled") & Q(cancelled_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_arrival_only_if_confirmed",
                condition=Q(arrival__isnull=True) | Q(status="confirmed"),
            ),
            models.CheckConstraint(
                name="reservation_offer_only_if_waitlisted",
                condition=Q(offered_until__isnull=True) | Q(status="pending", pending_reason="waitlist"),
            ),
            models.CheckConstraint(
                name="reservation_confirm_by_if_email_confirmation",
                condition=Q(confirm_by__isnull=False, pending_reason="email_confirmation")
                | (
                    Q(confirm_by__isnull=True)
                    & (Q(pending_reason__isnull=True) | ~Q(pending_reason="email_confirmation"))
                ),
            ),
        ]
        indexes = [
            models.Index(fields=["venue", "starts_at", "id"], name="reservation_by_venue_start"),
            models.Index(fields=["venue", "date", "starts_at", "id"], name="reservation_by_venue_date"),
            models.Index(fields=["venue", "updated_at"], name="reservation_last_updated"),
            models.Index(
                fields=["venue", "starts_at", "created_at"],
                name="reservation_waitlisted",
                condition=Q(status="pending", pending_reason="waitlist"),
            ),
            models.Index(fields=["confirm_by"], name="reservation_unconfirmed", condition=Q(confirm_by__isnull=False)),
            models.Index("venue", Lower("customer_email"), name="reservation_by_email"),
            models.Index(fields=["venue", "customer_phone"], name="reservation_by_phone"),
            GinIndex("venue", OpClass(GUEST_SEARCH_TEXT, name="gin_trgm_ops"), name="reservation_by_guest_trigram"),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {printable_name(self.customer_name)}, party of {self.party_size}"

    public_id = PublicId(PREFIX)

    @property
    def quoted_until(self) -> datetime | None:
        """Until when the party on the waiting list expects to wait; None if staff quoted no time."""
        return None if self.quoted_minutes is None else self.created_at + timedelta(minutes=self.quoted_minutes)

    @property
    def needs_contact(self) -> bool:
        """Whether an email address or a phone number is required."""
        return not self.is_walk_in and self.erased_at is None

    def save_version(self, *fields: str, now: datetime) -> None:
        """Store these fields of a locked row as its next version."""
        self.version += 1
        self.updated_at = now
        self.save(force_update=True, update_fields=[*fields, "version", "updated_at"])

    def move_to(self, status: str, *, now: datetime) -> bool:
        """Confirm or cancel with one conditional UPDATE; return whether the status changed. Raises InvalidTransition.

        Call reservations.booking.commands.set_status instead: it also assigns tables and records events and mail.
        """
        allowed = {
            self.Status.CONFIRMED: [self.Status.PENDING],
            self.Status.CANCELLED: [self.Status.PENDING, self.Status.CONFIRMED],
        }.get(self.Status(status), [])
        moved = Reservation.objects.filter(pk=self.pk, status__in=allowed).update(
            status=status,
            pending_reason=None,
            offered_until=None,
            confirm_by=None,
            arrival=None if status == self.Status.CANCELLED else F("arrival"),
            cancelled_at=now if status == self.Status.CANCELLED else None,
            version=F("version") + 1,
            updated_at=now,
        )
        self.refresh_from_db(
            fields=[
                *("status", "pending_reason", "offered_until", "confirm_by", "arrival"),
                *("version", "updated_at", "cancelled_at"),
            ]
        )
        if not moved and self.status != status:
            message = _("This reservation is %(status)s and cannot become %(wanted)s.")
            labels = {"status": self.get_status_display().lower(), "wanted": self.Status(status).label.lower()}
            raise InvalidTransition(message % labels, param="status")
        return bool(moved)


# Expected guests: confirmed, or pending with tables that are held for them.
IS_EXPECTED = Q(status=Reservation.Status.CONFIRMED) | (Q(status=Reservation.Status.PENDING) & ~Q(tables=[]))
