"""Alerts of members: their choices at a venue, the events to send, and their browsers."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.users import Membership, User
from accounts.models.venues import Venue
from accounts.models.webhooks import Event
from framework.public_ids import new_id


class AlertKind(models.TextChoices):
    """What a member can be alerted of (accounts/alerts/kinds.py)."""

    ORDER_PLACED = "order_placed", _("New order")
    ORDER_PAID = "order_paid", _("Order paid online")
    ORDER_CANCELLED = "order_cancelled", _("Order cancelled")
    RESERVATION_CONFIRMED = "reservation_confirmed", _("New reservation")
    RESERVATION_REQUESTED = "reservation_requested", _("Request to approve")
    RESERVATION_CANCELLED = "reservation_cancelled", _("Reservation cancelled")


class AlertSubscription(models.Model):
    """What a member is alerted of at a venue, by one channel. A worker leases it by moving `next_send_at`."""

    class Channel(models.TextChoices):
        MAIL = "mail"
        PUSH = "push"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Who leaves the team is alerted of nothing more.
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="alert_subscriptions")
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="alert_subscriptions")
    channel = models.CharField(max_length=4, choices=Channel)
    kinds = ArrayField(models.CharField(max_length=32, choices=AlertKind), default=list, blank=True)
    quiet_from = models.TimeField(null=True, blank=True, help_text="In the venue's time zone")
    quiet_until = models.TimeField(null=True, blank=True, help_text="Earlier than the start: on the next day")
    next_send_at = models.DateTimeField(db_default=Now(), editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["membership", "venue", "channel"],
                name="alert_subscription_unique_per_member_venue_and_channel",
            ),
            models.CheckConstraint(
                name="alert_quiet_hours_have_start_and_end",
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | (Q(quiet_from__isnull=False, quiet_until__isnull=False) & ~Q(quiet_from=F("quiet_until"))),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.membership} at {self.venue} by {self.channel}"

    def find_quiet_end(self, *, now: datetime) -> datetime | None:
        """Return when the quiet hours end that `now` is in, None outside of them."""
        if self.quiet_from is None or self.quiet_until is None:
            return None
        zone = ZoneInfo(self.venue.timezone)
        local = now.astimezone(zone)
        starts_today, ends_today = local.time() >= self.quiet_from, local.time() < self.quiet_until
        is_over_midnight = self.quiet_from > self.quiet_until
        if not (starts_today or ends_today if is_over_midnight else starts_today and ends_today):
            return None
        last_day = local.date() if ends_today else local.date() + timedelta(days=1)
        return datetime.combine(last_day, self.quiet_until, tzinfo=zone)


class Alert(models.Model):
    """An event of a subscription. Stored in the transaction of the event, deleted with it."""

    class State(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        DROPPED = "dropped"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="alerts")
    subscription = models.ForeignKey(
        AlertSubscription, on_delete=models.CASCADE, related_name="alerts", db_index=False
    )
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subscription", "event"], name="alert_unique_per_subscription_and_event")
        ]
        indexes = [models.Index(fields=["subscription"], name="alert_pending", condition=Q(state="pending"))]

    def __str__(self) -> str:
        return f"{self.event} to {self.subscription}"


class PushDevice(models.Model):
    """A browser of a user that shows notifications: the address of its push service, and its keys (RFC 8291)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="push_devices")
    endpoint = models.CharField(max_length=1000, unique=True)
    public_key = models.BinaryField(max_length=65)
    auth_secret = models.BinaryField(max_length=16)
    server_key = models.BinaryField(max_length=65, db_default=b"", help_text="Our public key that it subscribed with")
    name = models.CharField(max_length=100, help_text="Browser and system, from its User-Agent")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
