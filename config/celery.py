"""The Celery app: queues by purpose and priority, and the beat schedule."""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tablewire")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# One queue per priority works on every broker. A worker that is given them in this order (-Q) empties the first before
# it looks into the next: on Redis by queue_order_strategy in the settings; other brokers deliver from all of them.
QUEUES = ("dedicated", "priority", "elevated", "standard")

app.conf.task_create_missing_queues = True
app.conf.beat_schedule = {
    "open spans of the next days": {
        "task": "catalogue.tasks.refresh_open_spans",
        # The nights of twelve markets do not fall together: by the hour, each place whose spans have grown short.
        "schedule": crontab(minute="7"),
    },
    "insights that are missing or stale": {
        "task": "catalogue.tasks.refresh_insights",
        "schedule": crontab(minute="37"),
    },
    "exports that wait for a worker": {
        "task": "catalogue.tasks.sweep_exports",
        "schedule": 30.0,
    },
    "payments whose settlement nobody saw the end of": {
        "task": "payments.tasks.reconcile_payments",
        "schedule": 15.0,
    },
    "sessions of wallets that are long over": {
        "task": "payments.tasks.purge_sessions",
        "schedule": crontab(hour="3", minute="23"),
    },
}
