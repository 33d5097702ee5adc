"""Calls that have one effect however often they are sent (Idempotency-Key)."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q

from framework.public_ids import new_id

PIECE = 5_000


class IdempotentCalls(models.QuerySet["IdempotentCall"]):
    """Questions to the calls."""

    def purge(self, *, now: datetime) -> int:
        """Delete what is too old to be answered again; return how many calls that were.

        In pieces, each a statement of its own, so that also the calls of a month are deleted within its timeout.
        """
        old = self.filter(created_at__lte=now - IdempotentCall.KEPT).order_by("created_at")
        deleted, piece = 0, PIECE
        while piece == PIECE:
            piece, _ = IdempotentCall.objects.filter(pk__in=old.values("pk")[:PIECE]).delete()
            deleted += piece
        return deleted


class IdempotentCall(models.Model):
    """What a call with an Idempotency-Key was answered, stored in the transaction of its effect.

    `scope` is whose key it is: the hex of a key family, a wallet, or a hashed address. The answer is null only within
    the transaction that is making it.
    """

    # Seed 000 names no time; a day is what callers know from others.
    KEPT: ClassVar[timedelta] = timedelta(hours=24)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    operation = models.CharField(max_length=255, help_text="Method and path")
    body_sha256 = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField()

    objects = IdempotentCalls.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "key"], name="idempotency_key_once_in_a_scope"),
            models.CheckConstraint(
                name="idempotent_call_has_a_whole_answer",
                condition=Q(status__isnull=True, body__isnull=True) | Q(status__isnull=False, body__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_call_by_age")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
