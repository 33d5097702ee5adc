"""Celery tasks of accounts: mail, webhooks, and retention. config/celery.py says how often they run."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts import mail_outbox, sandbox_clock
from accounts.alerts import delivery as alert_delivery
from accounts.lifecycle import closure
from accounts.models import ApiCall, ApiCallCount, IdempotentCall
from accounts.oauth import access, registration
from accounts.webhooks import auto_disable, delivery_queue, dispatcher, event_retention
from framework.db.batched_delete import delete_in_batches
from framework.resilience.deadline import Deadline
from framework.tasks.dispatch import enqueue

# How often the tasks run that find what was not enqueued (config/celery.py).
MAIL_SWEEP_S = 30
WEBHOOK_SWEEP_S = 10
SANDBOX_CLOCKS_INTERVAL_S = 10
# Of one task. The clock that it works for may take sandbox_clock.MAX_RUN_S more.
SANDBOX_CLOCKS_S = 40.0
# A queue of its own (config/celery.py), so that deliveries and other tasks do not delay each other.
WEBHOOK_QUEUE = "webhooks"


@shared_task(name="accounts.tasks.send_outgoing_mail")
def send_outgoing_mail(**_: Any) -> None:
    """Send the mail that is due: new mail and retries."""
    mail_outbox.send_due()


def enqueue_mail() -> None:
    """Enqueue the task that sends the mail. Call it after the commit."""
    enqueue(send_outgoing_mail, expires_s=MAIL_SWEEP_S)


@shared_task(name="accounts.tasks.deliver_webhooks")
def deliver_webhooks(**_: Any) -> None:
    """Deliver what is due, and enqueue another task if deliveries remain."""
    if dispatcher.run(clock=timezone.now):
        enqueue_webhook_delivery()
    if sandbox_clock.has_due_webhooks():
        enqueue(run_sandbox_clocks, expires_s=SANDBOX_CLOCKS_INTERVAL_S)


def enqueue_webhook_delivery() -> None:
    """Enqueue the delivery task. Call it after the commit."""
    enqueue(deliver_webhooks, queue=WEBHOOK_QUEUE, expires_s=WEBHOOK_SWEEP_S)


@shared_task(name="accounts.tasks.sweep_webhooks")
def sweep_webhooks(**_: Any) -> None:
    """Fail abandoned deliveries, then deliver what is due: retries, and deliveries whose task was lost."""
    delivery_queue.requeue_ahead(now=timezone.now())
    delivery_queue.fail_abandoned(now=timezone.now())
    deliver_webhooks()


@shared_task(name="accounts.tasks.send_alerts")
def send_alerts(**_: Any) -> None:
    """Send the alerts that are due: of new events, and of quiet hours that are over."""
    alert_delivery.send_due(clock=timezone.now)


@shared_task(name="accounts.tasks.disable_failing_webhook_endpoints")
def disable_failing_webhook_endpoints(**_: Any) -> None:
    """Disable the endpoints that have failed for days."""
    auto_disable.disable_failing_endpoints(now=timezone.now())


@shared_task(name="accounts.tasks.delete_closed_accounts")
def delete_closed_accounts(**_: Any) -> None:
    """Delete the accounts that were closed 30 days ago; the next run continues an interrupted one."""
    closure.delete_closed_accounts(now=timezone.now())


@shared_task(name="accounts.tasks.purge_idempotent_calls")
def purge_idempotent_calls(**_: Any) -> None:
    """Delete the stored responses past their retention."""
    expired = IdempotentCall.objects.filter(created_at__lte=timezone.now() - IdempotentCall.RETENTION)
    delete_in_batches(expired.order_by("created_at"))


@shared_task(name="accounts.tasks.purge_request_log")
def purge_request_log(**_: Any) -> None:
    """Delete calls of the request log, and hourly counts, past their retention."""
    now = timezone.now()
    delete_in_batches(ApiCall.objects.filter(created_at__lte=now - ApiCall.RETENTION).order_by("created_at"))
    delete_in_batches(ApiCallCount.objects.filter(hour__lte=now - ApiCallCount.RETENTION).order_by("hour"))


@shared_task(name="accounts.tasks.purge_oauth")
def purge_oauth(**_: Any) -> None:
    """Delete codes, tokens and grants some time after their end, and apps that nobody has used."""
    now = timezone.now()
    access.purge_expired(now=now)
    registration.purge_unused_apps(now=now)


@shared_task(name="accounts.tasks.purge_events")
def purge_events(**_: Any) -> None:
    event_retention.purge_events(now=timezone.now())


@shared_task(name="accounts.tasks.run_sandbox_clocks")
def run_sandbox_clocks(**_: Any) -> None:
    """Do what is due by the clocks of sandboxes. The next run continues an interrupted one."""
    deadline = Deadline.after(SANDBOX_CLOCKS_S)
    for venue in sandbox_clock.find_with_due_work():
        if deadline.remaining_s == 0:
            break
        try:
            sandbox_clock.run_due(venue)
        except sandbox_clock.ClockAdvancing:
            continue
