"""Deletion of closed accounts."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.lifecycle import closure


@shared_task(name="accounts.tasks.delete_closed_accounts")
def delete_closed_accounts(**_: Any) -> None:
    """Delete the accounts that were closed 30 days ago; the next run continues an interrupted one."""
    closure.delete_closed_accounts(now=timezone.now())
