"""Accounts that were closed."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.lifecycle import closure


@shared_task(name="accounts.tasks.delete_closed_accounts")
def delete_closed_accounts(**_: Any) -> None:
    """Delete what was closed 30 days ago; the next run goes on where this one is stopped."""
    closure.sweep(now=timezone.now())
