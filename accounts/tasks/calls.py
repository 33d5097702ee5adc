"""Tasks about calls with an Idempotency-Key."""

from typing import Any

from django.utils import timezone

from accounts.models import IdempotentCall
from config.celery import app


@app.task(name="accounts.tasks.purge_calls")
def purge_calls(**_: Any) -> None:
    """Forget the answers to calls of yesterday."""
    IdempotentCall.objects.purge(now=timezone.now())
