"""Offers: time-based discounts by weekly rules, the slots generated from them, and their bookings."""

from datetime import datetime
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from catalogue.models.restaurants import Restaurant, SourceRecord
from framework.public_ids import PublicId, new_id
from payments.models import Payment
from reservations.models import AgreedTerms, Reservation


class Listing(models.Model):
    """Links a restaurant of the catalogue to a venue, whose reservations include the bookings of its offers."""

    restaurant = models.OneToOneField(Restaurant, on_delete=models.CASCADE, related_name="listing")
    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, related_name="listing")
    is_active = models.BooleanField("active", default=True, help_text="Whether offers are shown and can be booked")
    by_staff = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Made by our staff, which proves a claim; else by the owner of the restaurant",
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.restaurant_id}: {self.venue_id}"


class FlowRule(models.Model):
    """A weekly discount: 30 percent from 17:30 to 18:30, Monday to Thursday, for eight guests."""

    class AppliesTo(models.TextChoices):
        FOOD = "food"
        TOTAL = "total"

    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="flow_rules")
    weekdays = ArrayField(models.IntegerField(), help_text="0 is Monday")
    time = models.TimeField(help_text="First slot, in the restaurant's time zone")
    until = models.TimeField(null=True, blank=True, help_text="Last slot; empty: one slot a day")
    every_minutes = models.PositiveSmallIntegerField(
        "interval in minutes", default=30, db_default=30, help_text="Minutes between slots"
    )
    percent = models.PositiveSmallIntegerField()
    seats = models.PositiveSmallIntegerField(default=8, db_default=8, help_text="Guests per slot")
    party_min = models.PositiveSmallIntegerField(default=1, db_default=1)
    party_max = models.PositiveSmallIntegerField(default=8, db_default=8)
    applies_to = models.CharField(max_length=10, choices=AppliesTo, default=AppliesTo.FOOD, db_default="food")
    book_before_minutes = models.PositiveSmallIntegerField(
        default=30, db_default=30, help_text="Minutes before the slot until which it can be booked"
    )
    bookable_days = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Days before the slot from which it can be booked; empty: no limit"
    )
    except_dates = ArrayField(
        models.DateField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Days without this discount, separated by commas: 2026-12-24, 2026-12-31",
    )
    terms = models.CharField(max_length=500, blank=True, default="", db_default="")
    active = models.BooleanField(default=True)
    source_record = models.ForeignKey(
        SourceRecord,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="flow_rules",
        help_text="Source of the rule; empty: staff",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="flow_rule_percent_in_1_to_90", condition=Q(percent__range=(1, 90))),
            models.CheckConstraint(
                name="flow_rule_weekdays_in_0_to_6",
                condition=Q(weekdays__contained_by=[0, 1, 2, 3, 4, 5, 6], weekdays__len__gte=1),
            ),
            models.CheckConstraint(
                name="flow_rule_end_after_start",
                condition=Q(until__isnull=True) | Q(until__gte=F("time")),
                violation_error_message="The last slot is not before the first.",
            ),
            models.CheckConstraint(
                name="flow_rule_steps_of_5_minutes_to_a_day",
                condition=Q(every_minutes__range=(5, 1440)),
                violation_error_message="From slot to slot it is 5 to 1440 minutes.",
            ),
            models.CheckConstraint(
                name="flow_rule_party_within_seats",
                condition=Q(party_min__gte=1, party_max__gte=F("party_min"), seats__gte=F("party_max")),
                violation_error_message="A party is of 1 to so many guests as the slot has seats.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.percent} % at {self.time:%H:%M}"


class FlowSlot(models.Model):
    """A discount at one time. It copies the terms of the rule, because guests may have booked it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    rule = models.ForeignKey(FlowRule, on_delete=models.SET_NULL, null=True, related_name="slots")
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, db_index=False, related_name="flow_slots")
    starts_at = models.DateTimeField()
    date = models.DateField(help_text="In the restaurant's time zone, as `time`")
    time = models.TimeField()
    percent = models.PositiveSmallIntegerField()
    applies_to = models.CharField(max_length=10, choices=FlowRule.AppliesTo)
    party_min = models.PositiveSmallIntegerField()
    party_max = models.PositiveSmallIntegerField()
    seats = models.PositiveSmallIntegerField()
    seats_left = models.SmallIntegerField()
    bookable_from = models.DateTimeField(null=True)
    book_before = models.DateTimeField()
    terms = models.CharField(max_length=500, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    is_barred = models.BooleanField(
        default=False, db_default=False, help_text="Withdrawn by staff: rules do not restore it"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule", "starts_at"], name="unique_slot_start"),
            models.CheckConstraint(
                name="slot_seats_left_within_seats", condition=Q(seats_left__gte=0, seats_left__lte=F("seats"))
            ),
            models.CheckConstraint(name="flow_slot_percent_in_1_to_90", condition=Q(percent__range=(1, 90))),
        ]
        indexes = [
            models.Index(fields=["restaurant", "starts_at"], name="slot_next_of_restaurant"),
            models.Index(
                fields=["starts_at"], name="slot_on_sale", condition=Q(withdrawn_at__isnull=True, seats_left__gt=0)
            ),
            models.Index(fields=["starts_at"], name="slot_booked", condition=Q(seats_left__lt=F("seats"))),
        ]

    def __str__(self) -> str:
        return f"{self.percent} % on {self.date} at {self.time:%H:%M}"

    def status_at(self, now: datetime) -> str:
        """Its state in the words of the API, but for what its restaurant, its listing and a larger party add."""
        if self.withdrawn_at:
            return "withdrawn"
        if min(self.book_before, self.starts_at) <= now:
            return "expired"
        if self.seats_left < self.party_min:
            return "sold_out"
        return "scheduled" if self.bookable_from and self.bookable_from > now else "available"

    public_id = PublicId("fo")


class FlowBooking(models.Model):
    """A table that was booked by the data API: its reservation, and at an offer the slot and the seats it uses."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slot = models.ForeignKey(FlowSlot, on_delete=models.PROTECT, related_name="bookings", null=True)
    reservation = models.OneToOneField(Reservation, on_delete=models.CASCADE, related_name="flow_booking")
    seats = models.PositiveSmallIntegerField()
    contact = models.CharField(
        max_length=64, help_text="Hash of the guest's email address, or without one of the number; limits count it"
    )
    phone_contact = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Hash of the number beside an email address; limits count it too",
    )
    owner = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Wallet or account that booked it, and may see and change it; empty: the holder of its token only",
    )
    created_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True, blank=True, help_text="When the seats were released")

    class Meta:
        indexes = [
            models.Index(fields=["contact", "created_at"], name="flow_booking_of_contact"),
            models.Index(
                fields=["phone_contact", "created_at"],
                name="flow_booking_of_phone",
                condition=~Q(phone_contact=""),
            ),
            models.Index(fields=["owner", "id"], name="flow_booking_of_owner", condition=~Q(owner="")),
            models.Index(fields=["slot"], name="flow_booking_holding", condition=Q(released_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.seats} at {self.slot_id or self.reservation_id}"

    public_id = PublicId("fb")

    @property
    def restaurant(self) -> Restaurant:
        """The restaurant of the offer, or of the venue. Loaded by `with_restaurant`."""
        return self.slot.restaurant if self.slot else self.reservation.venue.listing.restaurant


class Deposit(models.Model):
    """The payment of the deposit of a booking. What becomes of it is in the agreed terms of the reservation."""

    class Status(models.TextChoices):
        HELD = "held"
        REFUND_DUE = "refund_due"
        REFUNDED = "refunded"
        KEPT = "kept"

    booking = models.OneToOneField(FlowBooking, on_delete=models.CASCADE, primary_key=True, related_name="deposit")
    payment = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"deposit of {self.booking_id}"

    @property
    def amount_usdc(self) -> Decimal:
        return self.payment.amount_usdc

    @property
    def status(self) -> str:
        """What becomes of the money. Needs the payment and the agreed terms loaded."""
        if self.payment.state == Payment.State.REFUNDED:
            return Deposit.Status.REFUNDED
        decided = self.booking.reservation.agreed_terms.deposit_state
        if self.payment.state == Payment.State.REFUND_DUE or decided == AgreedTerms.DepositState.RETURNED:
            return Deposit.Status.REFUND_DUE
        return Deposit.Status.KEPT if decided == AgreedTerms.DepositState.KEPT else Deposit.Status.HELD
