"""Stored responses of requests with an Idempotency-Key."""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q

from framework.public_ids import new_id


class IdempotentCall(models.Model):
    """The response to a call with an Idempotency-Key, stored in the transaction of its effect.

    `scope` is the owner of the key: the hex of a key family, a wallet, or a hashed address. The response is null only
    inside the transaction that creates it.
    """

    # Seed 000 names no duration; 24 hours is what other APIs offer.
    RETENTION: ClassVar[timedelta] = timedelta(hours=24)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    operation = models.CharField(max_length=255, help_text="Method and path")
    body_sha256 = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "key"], name="idempotency_key_unique_per_scope"),
            models.CheckConstraint(
                name="idempotent_call_has_status_and_body_or_neither",
                condition=Q(status__isnull=True, body__isnull=True) | Q(status__isnull=False, body__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_call_by_age")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
