"""Retention tasks: stored responses of idempotent calls, and the request log."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.models import ApiCall, ApiCallCount, IdempotentCall


@shared_task(name="accounts.tasks.purge_idempotent_calls")
def purge_idempotent_calls(**_: Any) -> None:
    """Delete the stored responses that are older than a day."""
    IdempotentCall.objects.purge(now=timezone.now())


@shared_task(name="accounts.tasks.purge_request_log")
def purge_request_log(**_: Any) -> None:
    """Delete calls of the request log, and hourly counts, past their retention."""
    now = timezone.now()
    ApiCall.objects.purge(now=now)
    ApiCallCount.objects.purge(now=now)
