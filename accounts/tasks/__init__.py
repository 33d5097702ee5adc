"""Celery tasks of accounts. Celery finds what is imported here."""

from accounts.tasks.account_deletion import delete_closed_accounts
from accounts.tasks.mail import enqueue_mail, send_letters
from accounts.tasks.retention import purge_calls, purge_request_log
from accounts.tasks.webhooks import (
    deliver_webhooks,
    enqueue_webhook_delivery,
    purge_events,
    retire_webhook_endpoints,
    sweep_webhooks,
)

__all__ = [
    "delete_closed_accounts",
    "deliver_webhooks",
    "enqueue_mail",
    "enqueue_webhook_delivery",
    "purge_calls",
    "purge_events",
    "purge_request_log",
    "retire_webhook_endpoints",
    "send_letters",
    "sweep_webhooks",
]
