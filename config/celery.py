"""The Celery app: queues by purpose and priority, and the beat schedule."""

import gc
import os
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import celeryd_after_setup, worker_init
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Arrow's own pool keeps pages for its next writes, of which a part of an export has none: with 50,000 reviews a
# process had up to 99 MB of its own, and 72 with the system's in four fifths of the processor's time.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

app = Celery("tablewire")
# Without it other threads than the importing one send shared tasks to an unconfigured app.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A caller waits for a statement, and a task does not: it may work on very many rows.
STATEMENT_TIMEOUT_S = 60


@worker_init.connect
def be_patient(**_: Any) -> None:
    """Give the statements of this worker, and of the processes that it forks, a minute."""
    connection_created.connect(_be_patient)


def _be_patient(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = '{STATEMENT_TIMEOUT_S}s'")


@celeryd_after_setup.connect
def share(**_: Any) -> None:
    """Before this worker forks: a collection would write to all that is loaded, and each process then have its own."""
    gc.collect()
    gc.freeze()


# One queue per priority works on every broker. A worker that is given them in this order (-Q) empties the first before
# it looks into the next: on Redis by queue_order_strategy in the settings; other brokers deliver from all of them.
# Webhooks come first, as they never hold more than one process: others find their pump at work and leave at once.
QUEUES = ("webhooks", "dedicated", "priority", "elevated", "standard")

app.conf.task_create_missing_queues = True
app.conf.beat_schedule = {
    "refresh-open-spans": {
        "task": "catalogue.tasks.refresh_open_intervals",
        # Markets are in different time zones: each hour the restaurants whose spans end soon.
        "schedule": crontab(minute="7"),
    },
    "generate-offer-slots": {
        "task": "catalogue.tasks.generate_slots",
        "schedule": crontab(minute="17"),
    },
    "release-cancelled-offer-seats": {
        "task": "catalogue.tasks.release_seats",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "recount-reviews": {
        "task": "catalogue.tasks.recount_reviews",
        "schedule": crontab(hour="2", minute="11"),
    },
    "add-holidays": {
        "task": "catalogue.tasks.add_holidays",
        "schedule": crontab(hour="1", minute="41"),
    },
    "refresh-ranks": {
        "task": "catalogue.tasks.refresh_ranks",
        "schedule": crontab(minute="*/10"),
    },
    "repair-read-model": {
        "task": "catalogue.tasks.repair_read_model",
        "schedule": crontab(hour="4", minute="31"),
    },
    "publish-changes": {
        "task": "catalogue.tasks.publish_changes",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "refresh-requested-insights": {
        "task": "catalogue.tasks.refresh_insights",
        "schedule": crontab(minute="37"),
        "kwargs": {"demanded": True},
    },
    # Each run continues until nothing is due, so a lost message costs an hour.
    "refresh-insights": {
        "task": "catalogue.tasks.refresh_insights",
        "schedule": crontab(hour="1-5", minute="47"),
    },
    "enqueue-stalled-exports": {
        "task": "catalogue.tasks.enqueue_stalled_exports",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "clean-up-exports": {
        "task": "catalogue.tasks.clean_up_exports",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "delete-expired-removals": {
        "task": "catalogue.tasks.delete_expired_removals",
        "schedule": crontab(hour="3", minute="21"),
    },
    "reconcile open payments": {
        "task": "payments.tasks.reconcile_payments",
        "schedule": 15.0,
    },
    "confirm refunds on the chain": {
        "task": "payments.tasks.confirm_refunds",
        "schedule": crontab(minute="*/5"),
        "options": {"expires": 300},
    },
    "purge wallet sessions": {
        "task": "payments.tasks.purge_sessions",
        "schedule": crontab(hour="3", minute="23"),
    },
    "audit the ledger against the chain": {
        "task": "payments.tasks.audit_payments",
        "schedule": crontab(hour="5", minute="7"),
    },
    "purge payment data": {
        "task": "payments.tasks.purge_payments",
        "schedule": crontab(hour="3", minute="47"),
    },
    "answers to calls with an Idempotency-Key of yesterday": {
        "task": "accounts.tasks.purge_idempotent_calls",
        "schedule": crontab(minute="53"),
    },
    "accounts that were closed 30 days ago": {
        "task": "accounts.tasks.delete_closed_accounts",
        "schedule": crontab(hour="2-4", minute="57"),
    },
    "mail to users whose message was lost, or that is tried again": {
        "task": "accounts.tasks.send_outgoing_mail",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "the request log of a month ago": {
        "task": "accounts.tasks.purge_request_log",
        "schedule": crontab(hour="3", minute="13"),
    },
    "webhooks that are due": {
        "task": "accounts.tasks.sweep_webhooks",
        "schedule": 10.0,
        # One that no worker has heard when the next comes is one too many.
        "options": {"expires": 10, "queue": "webhooks"},
    },
    "endpoints of webhooks that fail for days": {
        "task": "accounts.tasks.disable_failing_webhook_endpoints",
        "schedule": crontab(minute="*/10"),
    },
    "events that were kept for long enough": {
        "task": "accounts.tasks.purge_events",
        "schedule": crontab(minute="43"),
    },
    "send due mail to guests": {
        "task": "reservations.tasks.send_guest_mail",
        "schedule": 60.0,
    },
    "process waiting lists": {
        "task": "reservations.tasks.process_waiting_lists",
        "schedule": 60.0,
    },
    "cancel unconfirmed online bookings": {
        "task": "reservations.tasks.cancel_unconfirmed_bookings",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    # A run stops after a minute; the next one continues.
    "erase guests after their retention": {
        "task": "reservations.tasks.erase_expired_guests",
        "schedule": crontab(hour="1-5", minute="53"),
    },
    "queue reminders to guests": {
        "task": "reservations.tasks.queue_reminders",
        "schedule": crontab(minute="*/5"),
    },
}
