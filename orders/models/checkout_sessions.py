"""Checkout sessions: what an agent wants to order for a guest, until it completes them (catalogue.ucp)."""

from datetime import datetime, timedelta
from typing import ClassVar, Self
from uuid import uuid4

from django.db import models
from django.db.models import Q

from accounts.models import Venue
from framework.public_ids import PublicId, decode
from orders.models.orders import Order

PREFIX = "chk"


class CheckoutSessions(models.QuerySet["CheckoutSession"]):
    def with_public_id(self, public_id: str) -> Self:
        """Filter to the session with this public id; none if it is malformed."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()

    def with_venue(self) -> Self:
        """Join what the rules of orders read of the venue."""
        return self.select_related("venue__account", "venue__ordering_settings")

    def past(self, *, now: datetime) -> Self:
        """Filter to those that nobody needs any more."""
        unused = Q(state__in=["open", "canceled"], expires_at__lte=now - CheckoutSession.EXPIRED_RETENTION)
        return self.filter(unused | Q(state="completed", completed_at__lte=now - CheckoutSession.COMPLETED_RETENTION))


class CheckoutSession(models.Model):
    """An order that is not placed yet, its payment, and then the order.

    The id is random, because who knows it may read the contact of the guest and complete the session.
    """

    class State(models.TextChoices):
        """`placed`: the order is placed, and its payment is being settled."""

        OPEN = "open"
        PLACED = "placed"
        COMPLETED = "completed"
        CANCELED = "canceled"

    # The default of the protocol.
    LIFETIME: ClassVar[timedelta] = timedelta(hours=6)
    EXPIRED_RETENTION: ClassVar[timedelta] = timedelta(hours=1)
    # As long as a guest's link to an order.
    COMPLETED_RETENTION: ClassVar[timedelta] = timedelta(days=30)

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="checkout_sessions")
    agent = models.CharField(max_length=500, help_text="The profile URL of the agent, which it may have made up")
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    # {items, buyer, tip, requested_at, instrument}; the order has all but the instrument once it is placed.
    content = models.JSONField(default=dict)
    shown_total = models.DecimalField(
        max_digits=18, decimal_places=3, null=True, help_text="As the agent was last told, without the tip"
    )
    shown_usdc = models.DecimalField(
        max_digits=18, decimal_places=6, null=True, help_text="As the agent was last told, with the tip"
    )
    order = models.OneToOneField(Order, on_delete=models.CASCADE, null=True, related_name="checkout_session")
    completion_digest = models.CharField(
        max_length=64, blank=True, default="", help_text="SHA-256 of the request that completes it, with its key"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)
    canceled_at = models.DateTimeField(null=True)

    objects = CheckoutSessions.as_manager()

    public_id = PublicId(PREFIX)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="checkout_session_has_an_order_once_placed",
                condition=Q(state__in=["open", "canceled"], order__isnull=True)
                | Q(state__in=["placed", "completed"], order__isnull=False),
            ),
            models.CheckConstraint(
                name="checkout_session_times_match_state",
                condition=Q(state__in=["open", "placed"], completed_at__isnull=True, canceled_at__isnull=True)
                | Q(state="completed", completed_at__isnull=False, canceled_at__isnull=True)
                | Q(state="canceled", completed_at__isnull=True, canceled_at__isnull=False),
            ),
        ]
        indexes = [
            # For the retention, and for the erasure of a guest.
            models.Index(fields=["expires_at"], name="checkout_session_by_expiry"),
            models.Index(fields=["updated_at"], name="checkout_session_placed", condition=Q(state="placed")),
        ]

    def __str__(self) -> str:
        # Without the id, which is a secret.
        return f"Checkout of {self.created_at:%Y-%m-%d %H:%M}"

    def has_expired(self, now: datetime) -> bool:
        """Whether it was not completed in time."""
        return self.state == self.State.OPEN and now >= self.expires_at

    def is_over(self, now: datetime) -> bool:
        """Whether it ended without an order."""
        return self.state == self.State.CANCELED or self.has_expired(now)
