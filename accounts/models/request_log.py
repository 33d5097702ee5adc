"""The request log: what was asked of the management API with a venue's keys, for a month."""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q

from accounts.models.api_keys import ApiKey
from accounts.models.venues import Venue
from framework.public_ids import encode

PIECE = 5_000


class ApiCalls(models.QuerySet["ApiCall"]):
    """Questions to the log."""

    def before(self, call: "ApiCall") -> Self:
        """Keep what comes after this call in `newest_first`."""
        return self.filter(Q(created_at__lt=call.created_at) | Q(pk__lt=call.pk), created_at__lte=call.created_at)

    def newest_first(self) -> Self:
        """Order as the log is read."""
        return self.order_by("-created_at", "-id")

    def purge(self, *, now: datetime) -> int:
        """Delete what is older than ApiCall.KEPT; return how many calls that were. In pieces, each a statement."""
        old = self.filter(created_at__lte=now - ApiCall.KEPT).order_by("created_at")
        deleted, piece = 0, PIECE
        while piece == PIECE:
            piece, _ = ApiCall.objects.filter(pk__in=old.values("pk")[:PIECE]).delete()
            deleted += piece
        return deleted


class ApiHours(models.QuerySet["ApiHour"]):
    """Questions to the counts."""

    def purge(self, *, now: datetime) -> int:
        """Delete what is older than ApiHour.KEPT; return how many hours that were. In pieces, each a statement."""
        old = self.filter(hour__lte=now - ApiHour.KEPT).order_by("hour")
        deleted, piece = 0, PIECE
        while piece == PIECE:
            piece, _ = ApiHour.objects.filter(pk__in=old.values("pk")[:PIECE]).delete()
            deleted += piece
        return deleted


class ApiCall(models.Model):
    """One call: what it asked and what it was answered, without secrets and personal data.

    Written by the web processes some moments after the call (accounts/request_log/writer.py). No constraint ties it
    to venue and key: one that is deleted meanwhile must not keep a batch of others from being written.
    """

    KEPT: ClassVar[timedelta] = timedelta(days=30)

    id = models.UUIDField(primary_key=True, help_text="The X-Request-Id of the response")
    venue = models.ForeignKey(
        Venue, on_delete=models.CASCADE, related_name="api_calls", db_index=False, db_constraint=False
    )
    key = models.ForeignKey(
        ApiKey, on_delete=models.CASCADE, related_name="api_calls", db_index=False, db_constraint=False
    )
    method = models.CharField(max_length=10)
    path = models.CharField(max_length=500)
    query = models.CharField(max_length=1000, blank=True, default="", help_text="Without personal data")
    status = models.PositiveSmallIntegerField()
    error_code = models.CharField(max_length=40, blank=True, default="")
    duration_ms = models.PositiveIntegerField()
    address = models.GenericIPAddressField(null=True, blank=True)
    user_agent = models.CharField(max_length=200, blank=True, default="")
    body = models.TextField(blank=True, default="", help_text="Only of failed requests (4xx), masked")
    answer = models.TextField(blank=True, default="", help_text="Only of failed requests (4xx)")
    created_at = models.DateTimeField()

    objects = ApiCalls.as_manager()

    class Meta:
        verbose_name = "API call"
        indexes = [
            models.Index(fields=["venue", "-created_at", "-id"], name="api_call_newest_of_venue"),
            models.Index(
                fields=["venue", "-created_at", "-id"], name="api_call_failed_of_venue", condition=Q(status__gte=400)
            ),
            models.Index(
                fields=["venue", "-created_at", "-id"], name="api_call_broken_of_venue", condition=Q(status__gte=500)
            ),
            models.Index(fields=["key", "-created_at", "-id"], name="api_call_newest_of_key"),
            models.Index(fields=["created_at"], name="api_call_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"

    @property
    def public_id(self) -> str:
        """`req_` and 26 letters, as the caller was told."""
        return encode("req", self.pk)


class ApiHour(models.Model):
    """How many calls a venue's keys made in an hour: what charts read, where counting the log would take long."""

    KEPT: ClassVar[timedelta] = timedelta(days=400)

    venue = models.ForeignKey(
        Venue, on_delete=models.CASCADE, related_name="api_hours", db_index=False, db_constraint=False
    )
    hour = models.DateTimeField(help_text="Start of the hour, in UTC")
    calls = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0, help_text="Answered with 4xx")
    broken = models.PositiveIntegerField(default=0, help_text="Answered with 5xx")

    objects = ApiHours.as_manager()

    class Meta:
        verbose_name = "API hour"
        constraints = [models.UniqueConstraint(fields=["venue", "hour"], name="one_api_hour_per_venue_and_hour")]
        indexes = [models.Index(fields=["hour"], name="api_hour_by_age")]

    def __str__(self) -> str:
        return f"{self.calls} at {self.hour:%Y-%m-%d %H}"
