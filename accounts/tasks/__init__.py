"""Celery tasks of accounts. Celery finds what is imported here."""

from accounts.tasks.account_deletion import delete_closed_accounts
from accounts.tasks.mail import enqueue_mail, send_outgoing_mail
from accounts.tasks.retention import purge_idempotent_calls, purge_request_log
from accounts.tasks.webhooks import (
    deliver_webhooks,
    disable_failing_webhook_endpoints,
    enqueue_webhook_delivery,
    purge_events,
    sweep_webhooks,
)

__all__ = [
    "delete_closed_accounts",
    "deliver_webhooks",
    "disable_failing_webhook_endpoints",
    "enqueue_mail",
    "enqueue_webhook_delivery",
    "purge_events",
    "purge_idempotent_calls",
    "purge_request_log",
    "send_outgoing_mail",
    "sweep_webhooks",
]
