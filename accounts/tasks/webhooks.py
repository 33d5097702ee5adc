"""Webhook tasks: delivery, retries, automatic disabling, and retention of events."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.webhooks import auto_disable, delivery_queue, dispatcher, retention
from framework.tasks.dispatch import enqueue

# How often the sweep runs (config/celery.py).
SWEEP_S = 10
# A queue of its own (config/celery.py), so that deliveries and other tasks do not delay each other.
QUEUE = "webhooks"


@shared_task(name="accounts.tasks.deliver_webhooks")
def deliver_webhooks(**_: Any) -> None:
    """Deliver what is due, and enqueue another task if deliveries remain."""
    if dispatcher.run(clock=timezone.now):
        enqueue_webhook_delivery()


@shared_task(name="accounts.tasks.sweep_webhooks")
def sweep_webhooks(**_: Any) -> None:
    """Fail abandoned deliveries, then deliver what is due: retries, and deliveries whose task was lost."""
    delivery_queue.fail_abandoned(now=timezone.now())
    deliver_webhooks()


@shared_task(name="accounts.tasks.disable_failing_webhook_endpoints")
def disable_failing_webhook_endpoints(**_: Any) -> None:
    """Disable the endpoints that have failed for days."""
    auto_disable.disable_failing_endpoints(now=timezone.now())


@shared_task(name="accounts.tasks.purge_events")
def purge_events(**_: Any) -> None:
    """Delete events past their retention."""
    retention.purge_events(now=timezone.now())


def enqueue_webhook_delivery() -> None:
    """Enqueue the delivery task. Call it after the commit."""
    enqueue(deliver_webhooks, queue=QUEUE, expires_s=SWEEP_S)
