"""The request log of the management API, and the number of calls per hour."""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q

from accounts.models.api_keys import ApiKey
from accounts.models.venues import Venue
from framework.public_ids import PublicId


class ApiCalls(models.QuerySet["ApiCall"]):
    """Queries for the request log."""

    def before(self, call: "ApiCall") -> Self:
        """Filter to the calls that follow this one in `newest_first`."""
        return self.filter(Q(created_at__lt=call.created_at) | Q(pk__lt=call.pk), created_at__lte=call.created_at)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class ApiCall(models.Model):
    """A call with its response, without secrets and personal data.

    A thread of the web process writes it shortly after the call (accounts/request_log/writer.py). There is no foreign
    key constraint to venue and key: a deletion in between must not make a whole batch fail.
    """

    RETENTION: ClassVar[timedelta] = timedelta(days=30)

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
    body = models.TextField(blank=True, default="", help_text="Only of failed requests (4xx), redacted")
    answer = models.TextField(blank=True, default="", help_text="Only of failed requests (4xx)")
    created_at = models.DateTimeField()

    objects = ApiCalls.as_manager()

    public_id = PublicId("req")

    class Meta:
        verbose_name = "API call"
        indexes = [
            models.Index(fields=["venue", "-created_at", "-id"], name="api_call_newest_of_venue"),
            models.Index(
                fields=["venue", "-created_at", "-id"], name="api_call_failed_of_venue", condition=Q(status__gte=400)
            ),
            models.Index(
                fields=["venue", "-created_at", "-id"],
                name="api_call_server_error_of_venue",
                condition=Q(status__gte=500),
            ),
            models.Index(fields=["key", "-created_at", "-id"], name="api_call_newest_of_key"),
            models.Index(fields=["created_at"], name="api_call_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"

    @property
    def has_unstored_body(self) -> bool:
        """Whether the request had a body that was not stored."""
        return self.method in ("POST", "PUT", "PATCH") and not self.body


class ApiCallCount(models.Model):
    """The number of calls of a venue in an hour. Charts read it, because counting the log would be slow."""

    RETENTION: ClassVar[timedelta] = timedelta(days=400)

    venue = models.ForeignKey(
        Venue, on_delete=models.CASCADE, related_name="api_call_counts", db_index=False, db_constraint=False
    )
    hour = models.DateTimeField(help_text="Start of the hour, in UTC")
    calls = models.PositiveIntegerField(default=0)
    client_errors = models.PositiveIntegerField(default=0, help_text="Answered with 4xx")
    server_errors = models.PositiveIntegerField(default=0, help_text="Answered with 5xx")

    class Meta:
        verbose_name = "API call count"
        constraints = [
            models.UniqueConstraint(fields=["venue", "hour"], name="api_call_count_unique_per_venue_and_hour")
        ]
        indexes = [models.Index(fields=["hour"], name="api_call_count_by_age")]

    def __str__(self) -> str:
        return f"{self.calls} at {self.hour:%Y-%m-%d %H}"
