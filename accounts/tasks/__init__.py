"""Celery tasks of accounts. Celery finds what is imported here."""

from accounts.tasks.account_deletion import delete_closed_accounts
from accounts.tasks.mail import ring_for_letters, send_letters
from accounts.tasks.retention import purge_calls, purge_request_log
from accounts.tasks.webhooks import (
    deliver_webhooks,
    purge_events,
    retire_webhook_endpoints,
    ring_for_webhooks,
    sweep_webhooks,
)

__all__ = [
    "delete_closed_accounts",
    "deliver_webhooks",
    "purge_calls",
    "purge_events",
    "purge_request_log",
    "retire_webhook_endpoints",
    "ring_for_letters",
    "ring_for_webhooks",
    "send_letters",
    "sweep_webhooks",
]
