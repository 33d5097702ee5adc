"""Tasks about calls: those with an Idempotency-Key, and the request log."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.models import ApiCall, ApiHour, IdempotentCall


@shared_task(name="accounts.tasks.purge_calls")
def purge_calls(**_: Any) -> None:
    """Forget the answers to calls of yesterday."""
    IdempotentCall.objects.purge(now=timezone.now())


@shared_task(name="accounts.tasks.purge_request_log")
def purge_request_log(**_: Any) -> None:
    """Delete lines of the request log, and counts of its hours, that were kept for long enough."""
    now = timezone.now()
    ApiCall.objects.purge(now=now)
    ApiHour.objects.purge(now=now)
