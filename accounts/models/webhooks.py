"""Events of venues and accounts, webhook endpoints, and deliveries."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.models.users import Account
from accounts.models.venues import Venue
from framework.db.row_history import track_history
from framework.public_ids import PublicId, new_id


class EventType(models.TextChoices):
    """Event types: `resource.verb`."""

    ORDER_CREATED = "order.created"
    ORDER_UPDATED = "order.updated"
    ORDER_STAGE_CHANGED = "order.stage_changed"
    ORDER_COMPLETED = "order.completed"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_REOPENED = "order.reopened"
    RESERVATION_CREATED = "reservation.created"
    RESERVATION_UPDATED = "reservation.updated"
    RESERVATION_CONFIRMED = "reservation.confirmed"
    RESERVATION_CANCELLED = "reservation.cancelled"
    MENU_UPDATED = "menu.updated"
    MENU_ITEM_SOLD_OUT = "menu.item_sold_out"
    EXPORT_FINISHED = "export.finished"
    WEBHOOK_PING = "webhook.ping"


class Event(models.Model):
    """A change at a venue or in an account, stored in the transaction of the change.

    The audit trail, the webhooks and the activity list of the dashboard read this table. `record` is the whole record
    as the API returned it at that time. `actor` is `key:rk_live_abcd`, `app:<name>`, `staff:<email address>`, `guest`
    or `system`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(
        Venue, on_delete=models.CASCADE, null=True, blank=True, related_name="events", db_index=False
    )
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="events",
        db_index=False,
        help_text="Instead of the venue, for events of no venue, such as exports",
    )
    type = models.CharField(max_length=32, choices=EventType)
    subject = models.UUIDField(null=True, blank=True, help_text="Primary key of the order, reservation or export")
    actor = models.CharField(max_length=300)
    record = models.JSONField()
    created_at = models.DateTimeField()

    public_id = PublicId("evt")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="event_has_venue_or_account",
                condition=Q(venue__isnull=False, account__isnull=True) | Q(venue__isnull=True, account__isnull=False),
            )
        ]
        indexes = [
            models.Index(fields=["venue", "-created_at", "-id"], name="event_newest_of_venue"),
            models.Index(
                fields=["account", "-created_at", "-id"],
                name="event_newest_of_account",
                condition=Q(account__isnull=False),
            ),
            models.Index(
                fields=["subject", "created_at"], name="event_of_subject", condition=Q(subject__isnull=False)
            ),
            models.Index(fields=["created_at"], name="event_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.public_id}"


@track_history(exclude=("secret", "old_secret", "is_slow", "failing_since", "postponed_until"))
class WebhookEndpoint(models.Model):
    """A URL of a customer that receives events."""

    class DisabledReason(models.TextChoices):
        STAFF = "staff", gettext_lazy("disabled manually")
        GONE = "gone", gettext_lazy("the server answered 410")
        FAILING = "failing", gettext_lazy("failed for five days")
        APP_ENDED = "app_ended", gettext_lazy("the access of its app ended")

    class Status(models.TextChoices):
        ENABLED = "enabled"
        DISABLED = "disabled"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="webhook_endpoints")
    # Triggers disable the endpoint when the grant is revoked or deleted (disable_endpoints_of_grant.sql).
    grant = models.ForeignKey(
        "accounts.OAuthGrant",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="webhook_endpoints",
        help_text="What its app was granted; empty for an endpoint of the restaurant itself",
    )
    url = models.URLField(max_length=500)
    description = models.CharField(max_length=200, blank=True, default="")
    types = ArrayField(
        models.CharField(max_length=32, choices=EventType), default=list, blank=True, help_text="Empty: all events"
    )
    secret = models.BinaryField(editable=False, help_text="Encrypted")
    old_secret = models.BinaryField(
        null=True, blank=True, editable=False, help_text="Encrypted; still valid for a while after a rotation"
    )
    old_secret_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    is_slow = models.BooleanField(default=False, db_default=False, editable=False)
    postponed_until = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When its address may get requests again"
    )
    disabled_at = models.DateTimeField(null=True, blank=True, editable=False)
    disabled_reason = models.CharField(max_length=10, choices=DisabledReason, null=True, blank=True, editable=False)

    public_id = PublicId("whk")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="webhook_endpoint_disabled_has_reason",
                condition=Q(disabled_at__isnull=True, disabled_reason__isnull=True)
                | Q(disabled_at__isnull=False, disabled_reason__isnull=False),
            ),
            models.CheckConstraint(
                name="webhook_old_secret_has_expiry",
                condition=Q(old_secret__isnull=True, old_secret_until__isnull=True)
                | Q(old_secret__isnull=False, old_secret_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def status(self) -> str:
        return self.Status.ENABLED if self.disabled_at is None else self.Status.DISABLED


class WebhookDelivery(models.Model):
    """The delivery of an event to an endpoint. A worker leases it by `leased_until`; failures are retried."""

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("delivery", "Pending")
        DELIVERED = "delivered", pgettext_lazy("delivery", "Delivered")
        FAILED = "failed", pgettext_lazy("delivery", "Failed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="HTTP status of the last response")
    last_response = models.CharField(
        max_length=1024, blank=True, default="", help_text="First 1 kB of the last response"
    )
    last_error = models.CharField(max_length=300, blank=True, default="", help_text="Why the last attempt failed")
    delivered_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["event", "endpoint"], name="webhook_delivery_unique_per_event_and_endpoint"
            ),
            models.CheckConstraint(
                name="webhook_delivery_pending_has_next_attempt",
                condition=Q(state="pending", next_attempt_at__isnull=False)
                | (~Q(state="pending") & Q(next_attempt_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="webhook_delivery_delivered_has_time",
                condition=Q(state="delivered", delivered_at__isnull=False)
                | (~Q(state="delivered") & Q(delivered_at__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(fields=["endpoint", "-created_at", "-id"], name="delivery_newest_of_endpoint"),
            models.Index(fields=["next_attempt_at"], name="delivery_due", condition=Q(state="pending")),
            models.Index(
                fields=["endpoint", "next_attempt_at"], name="delivery_due_of_endpoint", condition=Q(state="pending")
            ),
            models.Index(
                fields=["endpoint"],
                name="delivery_leased_of_endpoint",
                condition=Q(state="pending", leased_until__isnull=False),
            ),
            models.Index(
                # Rows from before `failed_at` existed: approximately then.
                F("endpoint"),
                Coalesce("failed_at", "last_attempt_at", "created_at"),
                name="delivery_failed_of_endpoint",
                condition=Q(state="failed"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.endpoint}"
