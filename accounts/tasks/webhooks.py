"""Webhooks on their way, endpoints that fail for days, and events that have been kept for long enough."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.webhooks import auto_disable, delivery_queue, dispatcher, retention
from framework.tasks import dispatch

# As often as the beat rings for the sweep (config/celery.py).
SWEEP_S = 10
# Of their own (config/celery.py): nothing else waits behind them, nor they behind anything.
QUEUE = "webhooks"


@shared_task(name="accounts.tasks.deliver_webhooks")
def deliver_webhooks(**_: Any) -> None:
    """Deliver what is due, and ring again if there is more than one task takes."""
    if dispatcher.run(clock=timezone.now):
        ring_for_webhooks()


@shared_task(name="accounts.tasks.sweep_webhooks")
def sweep_webhooks(**_: Any) -> None:
    """Give up what nobody would try, then deliver what is due: retries, and what no bell was heard for."""
    delivery_queue.tidy(now=timezone.now())
    deliver_webhooks()


@shared_task(name="accounts.tasks.retire_webhook_endpoints")
def retire_webhook_endpoints(**_: Any) -> None:
    """Switch off what has failed for days."""
    auto_disable.sweep(now=timezone.now())


@shared_task(name="accounts.tasks.purge_events")
def purge_events(**_: Any) -> None:
    """Delete events that have been kept for long enough."""
    retention.sweep(now=timezone.now())


def ring_for_webhooks() -> None:
    """Ask a worker to deliver what is due; call it after the commit. The sweep comes by in any case."""
    dispatch.ring(deliver_webhooks, otherwise="webhooks wait for the next sweep", queue=QUEUE, expires_s=SWEEP_S)
